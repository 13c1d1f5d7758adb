//! The part of [`QuicConnection`] for packets that a key log decrypts.

use super::connection::{Place, QuicConnection, WINDOW_SCALE};
use super::header::Long;
use super::opened::{Emission, OpenedConnection};
use super::sent::Sent;
use crate::tls::KeyRing;
use crate::wire::{Flags, Options, Segment};
use whyslow_analysis::types::{End, Frame, StreamBytes, Undecrypted};

impl QuicConnection {
    /// Searches for the secrets of the connection, once its hello is complete.
    pub(super) fn find_keys(&mut self, keys: Option<&KeyRing>, frame: Frame) {
        let (Some(ring), Some(random), None) = (keys, &self.random, &self.opened) else { return };
        if self.is_unreadable {
            return;
        }
        let secrets = ring.of_quic(random, frame);
        self.lacks_keys = secrets.is_none();
        let Some(secrets) = secrets else { return };
        let opened = OpenedConnection::new(secrets, self.facts.version, &self.dcid, &self.facts);
        self.opened = Some(Box::new(opened));
    }

    /// Whether segments are derived from decrypted packets.
    pub(super) fn is_opened(&self) -> bool {
        self.opened.as_ref().is_some_and(|opened| opened.has_opened())
    }

    /// Processes a packet with a long header; returns whether it was a decrypted 0-RTT packet.
    pub(super) fn open_long(&mut self, long: &Long<'_>, at: Place) -> bool {
        let Some(mut opened) = self.opened.take() else { return false };
        if at.from == End::Server {
            opened.set_version(long.version, &self.dcid);
        }
        let before = opened.facts.early_packets;
        let emission = opened.long(long, at.from, at.time);
        let is_early = opened.facts.early_packets > before;
        let streams = opened.take_pending();
        self.opened = Some(opened);
        if let Some(emission) = emission {
            self.emit(at, emission, streams);
        }
        is_early
    }

    /// Processes packets with short headers; returns whether they were decrypted, or could have
    /// been if they were completely captured.
    pub(super) fn open_short(&mut self, packets: &[u8], at: Place, is_cut: bool) -> bool {
        let Some(mut opened) = self.opened.take() else { return false };
        if !opened.is_ready() {
            self.opened = Some(opened);
            return false;
        }
        let id = self.id_length(at.from);
        let mut emissions = Vec::new();
        let is_open = opened.short(packets, (at.from, id), at.time, &mut |emission, streams| {
            emissions.push((emission, std::mem::take(streams)));
        });
        if !is_open && !opened.has_opened() {
            // Without the first packet, the following ones cannot be decrypted either.
            opened.stop(if is_cut { Undecrypted::PacketsCut } else { Undecrypted::WrongKeys });
            self.is_unreadable = true;
            self.stopped = Some(opened.decryption());
            return false;
        }
        if self.facts.chosen_alpn != opened.alpn {
            self.facts.chosen_alpn.clone_from(&opened.alpn);
        }
        self.opened = Some(opened);
        self.establish(at);
        for (emission, streams) in emissions {
            self.emit(at, emission, streams);
        }
        true
    }

    pub(super) fn emit(&mut self, at: Place, emission: Emission, mut streams: Vec<StreamBytes>) {
        let Emission { places, ack, sack, window, id, .. } = emission;
        let scaled = |window: u64| u16::try_from(window.div_ceil(1 << WINDOW_SCALE)).unwrap_or(u16::MAX);
        let window = window.map_or(u16::MAX, scaled);
        let count = places.len().max(1);
        let next = self.next_place(at.from);
        for nth in 0..count {
            let (start, end) = places.get(nth).copied().unwrap_or((next, next));
            let options = Options { sack, ..Options::default() };
            let segment = Segment {
                window,
                ip_id: (nth == 0).then_some(id),
                options: if nth == 0 { options } else { Options::default() },
                ..self.segment(at, Flags::ACK, (1 + start, end - start), 1 + ack)
            };
            let streams = std::mem::take(&mut streams);
            self.push(Sent { segment, time: at.time, frame: at.frame, from: at.from, streams });
        }
    }

    /// The sequence number of an end's next byte.
    fn next_place(&self, from: End) -> u64 {
        self.opened.as_ref().map_or(0, |opened| opened.next_place(from))
    }
}
