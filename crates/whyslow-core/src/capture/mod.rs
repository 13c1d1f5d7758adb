//! `capture`: converts bytes, pushed in any split, to packets.
//!
//! Supports container formats (pcap, pcapng, tcpdump's text, qlog, condensed captures), and ignores
//! the contents of packets.
//! The packets do not depend on the split of the bytes. A truncated or damaged record ends the
//! capture or is skipped, with a counted [`Problem`]. Memory is bounded by one record. A text
//! capture gives packets as well: its reader writes the IP and TCP headers that a line describes,
//! so that all later stages have only one kind of input.
//!
//! ```
//! use whyslow_core::capture::{CaptureError, Packet, Reader, Sink};
//!
//! /// Counts bytes on the wire.
//! #[derive(Default)]
//! struct Count(u64);
//!
//! impl Sink for Count {
//!     fn packet(&mut self, packet: &Packet<'_>) {
//!         self.0 += u64::from(packet.original_len);
//!     }
//! }
//!
//! # fn main() -> Result<(), CaptureError> {
//! let (mut reader, mut count) = (Reader::new(), Count::default());
//! reader.push(include_bytes!("../../../../samples/loss-client.pcap"), &mut count)?;
//! let summary = reader.finish(&mut count)?;
//! assert_eq!(summary.format, "pcap");
//! assert!(summary.packets > 100 && count.0 > 100_000);
//! # Ok(())
//! # }
//! ```

mod bytes;
pub mod condensed;
mod detect;
mod ledger;
mod pcap;
mod pcapng;
pub(crate) mod qlog;
mod reader;
mod records;
pub mod text;

#[cfg(test)]
pub(crate) mod build;

pub use condensed::{CONDENSED_VERSION, CaptureOrigin, MAX_ROW};
pub use reader::Reader;

use std::borrow::Cow;
use std::net::IpAddr;
use whyslow_units::{Nanos, Time};

/// A captured packet, borrowed from the pushed bytes.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// 1-based number in its file, as in Wireshark.
    pub frame: u64,
    /// Capture time; since the epoch with [`Clock::Absolute`].
    pub time: Time,
    /// Link type of `data`.
    pub link: LinkType,
    /// The captured bytes, from the first byte of the link layer.
    pub data: &'a [u8],
    /// Length on the wire in bytes; at least `data.len()`.
    pub original_len: u32,
}

/// A link-layer header type: the LINKTYPE_ value of a capture file
/// (<https://www.tcpdump.org/linktypes.html>).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LinkType(pub u16);

impl LinkType {
    /// LINKTYPE_ETHERNET.
    pub const ETHERNET: Self = Self(1);
}

/// Meaning of a capture's times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Clock {
    /// Since the epoch, UTC.
    #[default]
    Absolute,
    /// A text with times of day but no date, or times since its first packet: only differences are
    /// valid.
    Relative,
    /// A text without times (`tcpdump -t`), a capture with only whole seconds, or times with an
    /// unknown base: times are not used.
    None,
}

/// A problem of the capture that must be reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Short name: a public one (`short-snaplen`), or the reader's own (`torn-record`).
    pub slug: Cow<'static, str>,
    /// Number of occurrences.
    pub count: u64,
    /// Description, with the first position (byte offset or frame).
    pub detail: String,
}

/// Summary of a capture, after it was read completely.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// `pcap`, `pcapng`, `tcpdump text`, `qlog`; `unread` if it could not be read, `condensed` for
    /// a truncated condensed capture.
    pub format: &'static str,
    /// All declared link types, in order of appearance.
    pub link_types: Vec<LinkType>,
    /// Number of packets passed to the sink.
    pub packets: u64,
    /// Earliest time; `None` without packets or times.
    pub first_time: Option<Time>,
    /// Latest time.
    pub last_time: Option<Time>,
    /// Meaning of the times.
    pub clock: Clock,
    /// Skipped, truncated and unusual data, by kind.
    pub problems: Vec<Problem>,
    /// Echo requests in a text.
    pub pings: Vec<Ping>,
    /// Name lookups in a text.
    pub lookups: Vec<Lookup>,
}

/// Echo requests from one host to another, and the replies. Hosts are written as in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ping {
    /// The host that sent the requests; `None` in ping's own output.
    pub from: Option<String>,
    /// The destination.
    pub to: String,
    /// Number of requests; `None` if the text omits some.
    pub sent: Option<u64>,
    /// Number of answered requests.
    pub received: Option<u64>,
    /// Minimum, mean and maximum round trip.
    pub round_trips: Option<[Nanos; 3]>,
}

/// A name lookup. Hosts are written as in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lookup {
    /// The host that sent the query.
    pub client: String,
    /// The server that answered, otherwise the last one that was asked.
    pub server: String,
    /// The name.
    pub name: String,
    /// Type of the record: `A`, `AAAA`.
    pub kind: String,
    /// Time of the first query.
    pub start: Time,
    /// Time from there to the response; `None` without one, or without times.
    pub took: Option<Nanos>,
    /// Number of queries.
    pub queries: u64,
    /// Number of records in the response; `None` without one.
    pub answers: Option<u64>,
    /// The error, if any: `NXDomain`, `ServFail`.
    pub refusal: Option<String>,
}

/// Why bytes could not be read as a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CaptureError {
    /// Byte offset of the error in the input.
    pub offset: u64,
    /// The error and its remedy.
    pub message: String,
}

impl std::fmt::Display for CaptureError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "byte {}: {}", self.offset, self.message)
    }
}

impl std::error::Error for CaptureError {}

/// Receives the contents of a capture, in file order.
pub trait Sink {
    /// A packet.
    fn packet(&mut self, packet: &Packet<'_>);
    /// The following packets come from text; `clock` is the meaning of their times. Called before
    /// the first packet.
    fn text(&mut self, clock: Clock) {
        let _ = clock;
    }
    /// The following packets were condensed. Called before everything else.
    fn condensed(&mut self, origin: &CaptureOrigin) {
        let _ = origin;
    }
    /// Packets are missing in a text between two others with these times: of a connection between
    /// these ends, or of any.
    fn left_out(&mut self, of: Option<[(IpAddr, u16); 2]>, from: Time, until: Time) {
        let _ = (of, from, until);
    }
    /// The capture names an address (pcapng name resolution block, or a host name in tcpdump's
    /// text). `stand_in`: the capture has only the name, and the address is a placeholder.
    fn host_name(&mut self, address: IpAddr, name: &str, stand_in: bool) {
        let _ = (address, name, stand_in);
    }
    /// The capture contains TLS secrets (a pcapng decryption secrets block) as lines of a key log,
    /// before the packet with this frame number.
    fn key_log(&mut self, lines: &[u8], next_frame: u64) {
        let _ = (lines, next_frame);
    }
}
