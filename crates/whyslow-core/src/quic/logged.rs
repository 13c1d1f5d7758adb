//! The segments that a [`QuicConnection`] makes of an endpoint's log.

use super::connection::QuicConnection;
use super::frames::{Frame as QuicFrame, Frames};
use super::header::V1;
use super::opened::OpenedConnection;
use crate::capture::qlog::record::{Record, SERVER_PORT, Space};
use crate::tls::QuicSecrets;
use crate::wire::Datagram;
use whyslow_analysis::types::{End, Frame};
use whyslow_units::Time;

impl QuicConnection {
    /// Of a log; the datagram shows its ends.
    pub(super) fn logged(datagram: &Datagram, time: Time) -> Self {
        let is_up = datagram.to.1 == SERVER_PORT;
        let ends = if is_up { [datagram.from, datagram.to] } else { [datagram.to, datagram.from] };
        let mut connection = Self::new(ends, V1, &[], time);
        let opened = OpenedConnection::new(QuicSecrets::default(), V1, &[], &connection.facts);
        connection.opened = Some(Box::new(opened.logged()));
        connection.facts.logged = true;
        connection
    }

    /// Takes what the log says.
    pub(super) fn take_record(&mut self, said: &Record<'_>, datagram: &Datagram, (time, frame): (Time, Frame)) {
        let at = self.place(datagram, (time, frame));
        let Some(mut opened) = self.opened.take() else { return };
        let mut emission = None;
        match said {
            Record::Parameters { is_client: true, offered } => {
                opened.offer(End::Client, offered);
                self.facts.client = *offered;
            }
            Record::Parameters { is_client: false, offered } => {
                opened.offer(End::Server, offered);
                opened.facts.server = Some(*offered);
            }
            Record::Alpn(name) => {
                opened.set_application(name);
                self.facts.alpn = vec![(*name).to_owned()];
                self.facts.chosen_alpn = Some((*name).to_owned());
            }
            Record::Retry => self.on_retry(),
            Record::Headers { stream, frame } => opened.headers(at.from, *stream, frame, time),
            Record::Packet { space, number, frames } => {
                let is_hello = |one: QuicFrame<'_>| matches!(one, QuicFrame::Crypto { offset: 0, .. });
                let opens = *space == Space::Initial && Frames::new(frames).any(is_hello);
                self.on_handshake(at, opens);
                if *space == Space::Application {
                    opened.facts.packets[at.from.index()] += 1;
                    emission = opened.plain(at.from, *number, frames, time);
                }
            }
        }
        let streams = if emission.is_some() { opened.take_pending() } else { Vec::new() };
        self.opened = Some(opened);
        if let Some(emission) = emission {
            self.emit(at, emission, streams);
        }
    }
}
