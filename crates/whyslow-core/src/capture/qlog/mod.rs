//! qlog → packets: the log of a QUIC endpoint (draft-ietf-quic-qlog-main-schema, 0.3 and later), as
//! JSON, JSON-SEQ or lines of JSON.
//!
//! Each event that says what a packet holds comes out as a packet of the link type
//! [`LINK`](record::LINK), which the stage `quic` reads as if it had opened it. The ends have
//! addresses for documentation, as most logs name none. It promises that the packets do not depend
//! on how the log was split over the pushes, that memory is bounded by one event, and that what
//! cannot be read is counted.

mod events;
mod frames;
pub(crate) mod record;
mod split;
#[cfg(test)]
mod tests;

use super::ledger::{CaptureLedger, CapturedRecord};
use super::{CaptureError, Clock, Sink, Summary};
use events::{Log, Out};
use serde_json::Value;
use split::{Found, Splitter};
use std::net::{IpAddr, Ipv4Addr};

/// The ends (RFC 5737).
const CLIENT: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const SERVER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);
/// The client's port of the first connection.
const FIRST_PORT: u16 = 50_000;

/// Whether these first bytes begin a qlog; and whether its records are objects of their own.
pub(super) fn detect(head: &[u8]) -> Option<bool> {
    let is_sequence = head.first() == Some(&0x1e);
    let start = head.iter().position(|byte| !byte.is_ascii_whitespace() && *byte != 0x1e)?;
    let is_object = head.get(start) == Some(&b'{');
    let holds = |word: &[u8]| head.windows(word.len()).any(|part| part == word);
    let is_qlog = holds(b"\"qlog_version\"") || holds(b"\"qlog_format\"") || holds(b"urn:ietf:params:qlog");
    (is_object && is_qlog).then(|| is_sequence || holds(b"JSON-SEQ") || holds(b"json-seq") || holds(b"NDJSON"))
}

/// Reads a qlog, pushed in any split.
#[derive(Debug)]
pub(super) struct QlogReader {
    splitter: Splitter,
    log: Log,
    ledger: CaptureLedger,
    /// Events in all, and those that say something of packets.
    events: u64,
    packets: u64,
    announced: bool,
    data: Vec<u8>,
}

impl QlogReader {
    pub(super) fn new(is_sequence: bool) -> Self {
        Self {
            splitter: Splitter::new(is_sequence),
            log: Log::default(),
            ledger: CaptureLedger::default(),
            events: 0,
            packets: 0,
            announced: false,
            data: Vec::new(),
        }
    }

    pub(super) fn push<S: Sink>(&mut self, bytes: &[u8], sink: &mut S) {
        let mut splitter = std::mem::take(&mut self.splitter);
        splitter.push(bytes, &mut |found| self.take(found, sink));
        self.splitter = splitter;
    }

    pub(super) fn finish<S: Sink>(mut self, sink: &mut S) -> Result<Summary, CaptureError> {
        let mut log = std::mem::take(&mut self.log);
        log.finish(&mut |out| self.give(&out, sink));
        if !self.splitter.is_at_end() {
            self.ledger.note("torn-record", || "the log ends within an event or a list: it was cut".to_owned());
        }
        if self.packets == 0 {
            let message = format!(
                "this qlog has no event of a packet (packet_sent, packet_received) among its {} objects; logs of \
                 version 0.3 and later are read, with packets and their frames",
                self.events
            );
            return Err(CaptureError { offset: self.splitter.offset, message });
        }
        let mut summary = self.ledger.summary("qlog", None);
        if log.is_relative() {
            summary.clock = Clock::Relative;
        }
        Ok(summary)
    }

    fn take<S: Sink>(&mut self, found: Found<'_>, sink: &mut S) {
        let bytes = match found {
            Found::Trace => {
                let mut log = std::mem::take(&mut self.log);
                log.begin_trace(&mut |out| self.give(&out, sink));
                self.log = log;
                return;
            }
            Found::TooLong => {
                self.ledger.note("damaged-record", || "an event is longer than 1 MiB, and is left out".to_owned());
                return;
            }
            Found::Object(bytes) => bytes,
        };
        self.events += 1;
        let Ok(value) = serde_json::from_slice::<Value>(bytes) else {
            let event = self.events;
            self.ledger.note("damaged-record", || format!("object {event} of the log is no JSON, and is left out"));
            return;
        };
        let mut log = std::mem::take(&mut self.log);
        let unread = log.take(&value, &mut |out| self.give(&out, sink));
        self.log = log;
        if unread > 0 {
            let event = self.events;
            let detail = || format!("frames that lack a field, first in object {event} of the log");
            self.ledger.note_many("damaged-record", unread, detail);
        }
    }

    fn give<S: Sink>(&mut self, out: &Out<'_>, sink: &mut S) {
        if !std::mem::replace(&mut self.announced, true) {
            self.ledger.link(record::LINK);
            sink.host_name(IpAddr::V4(CLIENT), "client", true);
            sink.host_name(IpAddr::V4(SERVER), "server", true);
        }
        let ends = [(CLIENT, FIRST_PORT.saturating_add(out.connection)), (SERVER, record::SERVER_PORT)];
        let [from, to] = if out.from_client { ends } else { [ends[1], ends[0]] };
        let mut data = std::mem::take(&mut self.data);
        data.clear();
        data.extend([0x45, 0, 0, 0, 0, 0, 0x40, 0, 0, 17, 0, 0]);
        data.extend(from.0.octets());
        data.extend(to.0.octets());
        data.extend(from.1.to_be_bytes());
        data.extend(to.1.to_be_bytes());
        data.extend([0; 4]);
        out.record.write(&mut data);
        let total = u16::try_from(data.len()).unwrap_or(u16::MAX);
        write_at(&mut data, 2, total);
        write_at(&mut data, 24, total.saturating_sub(20));
        self.packets += u64::from(matches!(out.record, record::Record::Packet { .. }));
        self.ledger.time(out.time.0);
        let original_len = data.len() as u32;
        let snaplen = original_len;
        self.ledger.packet(sink, out.time.0, CapturedRecord { link: record::LINK, data: &data, original_len, snaplen });
        self.data = data;
    }
}

fn write_at(data: &mut [u8], at: usize, value: u16) {
    if let Some(place) = data.get_mut(at..at + 2) {
        place.copy_from_slice(&value.to_be_bytes());
    }
}
