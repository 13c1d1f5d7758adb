//! `capture`: bytes pushed in any split → packets.
//!
//! Knows the container formats (pcap, pcapng, tcpdump's text, condensed captures) and nothing of
//! what is in a packet.
//! It promises that the packets do not depend on how the bytes were split over the pushes, that a
//! torn or damaged record ends or is skipped with a counted [`Problem`], and that memory stays
//! bounded by one record. A text capture comes out as packets as well: the reader writes the IP and
//! TCP headers that the line describes, so that all later stages have one input.
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
pub(crate) mod condensed;
mod detect;
mod ledger;
mod pcap;
mod pcapng;
mod reader;
mod records;
pub mod text;

#[cfg(test)]
pub(crate) mod build;

pub use condensed::{CONDENSED_VERSION, CaptureOrigin, MAX_ROW};
pub use reader::Reader;

use crate::units::{Nanos, Time};
use std::borrow::Cow;
use std::net::IpAddr;

/// One captured packet, borrowed from the bytes that were pushed.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// 1-based number within its file, counted as Wireshark counts.
    pub frame: u64,
    /// When it was captured, since the epoch where [`Clock::Absolute`].
    pub time: Time,
    /// What `data` starts with.
    pub link: LinkType,
    /// The captured bytes, from the link layer's first.
    pub data: &'a [u8],
    /// The packet's length on the wire in bytes; never less than `data.len()`.
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

/// How far a capture's times can be trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Clock {
    /// Since the epoch, UTC.
    #[default]
    Absolute,
    /// A text capture with times of day but no date, or times since its first packet: only
    /// differences mean something.
    Relative,
    /// A text capture without times (`tcpdump -t`), a capture with whole seconds only, or one whose
    /// times have an unknown origin: nothing is concluded from times.
    None,
}

/// Something about the capture itself that the reader must say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// A short name: one of the public vocabulary (`short-snaplen`), or the reader's own
    /// (`torn-record`).
    pub slug: Cow<'static, str>,
    /// How often.
    pub count: u64,
    /// In plain words: what, and where it was met first (byte offset or frame).
    pub detail: String,
}

/// What a capture says about itself, once it was read to its end.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// `pcap`, `pcapng`, `tcpdump text`; `unread` of one that could not be read, `condensed` of a
    /// torn condensed one.
    pub format: &'static str,
    /// Every link type declared, in order of appearance.
    pub link_types: Vec<LinkType>,
    /// Packets given to the sink.
    pub packets: u64,
    /// The earliest time seen; none without packets, or without times.
    pub first_time: Option<Time>,
    /// The latest time seen.
    pub last_time: Option<Time>,
    /// What the times mean.
    pub clock: Clock,
    /// What was skipped, cut or odd, by kind.
    pub problems: Vec<Problem>,
    /// Echo requests that a text tells of.
    pub pings: Vec<Ping>,
    /// Names that were resolved, as a text tells.
    pub lookups: Vec<Lookup>,
}

/// Echo requests from one host to another, and what came back. Hosts are as the text writes them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ping {
    /// Who asked; none where ping's own words do not say.
    pub from: Option<String>,
    /// Who was asked.
    pub to: String,
    /// Requests; none where the text leaves some out.
    pub sent: Option<u64>,
    /// Of those, the answered ones.
    pub received: Option<u64>,
    /// Least, mean and most round trip.
    pub round_trips: Option<[Nanos; 3]>,
}

/// A name that somebody asked for. Hosts are as the text writes them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lookup {
    /// Who asked.
    pub client: String,
    /// Who answered, or else was asked last.
    pub server: String,
    /// The name.
    pub name: String,
    /// The record's type: `A`, `AAAA`.
    pub kind: String,
    /// The first query.
    pub start: Time,
    /// From there to the answer; none without one, or without times.
    pub took: Option<Nanos>,
    /// How often it was asked for.
    pub queries: u64,
    /// Records in the answer; none without one.
    pub answers: Option<u64>,
    /// Why there is none: `NXDomain`, `ServFail`.
    pub refusal: Option<String>,
}

/// Why bytes could not be read as a capture at all.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CaptureError {
    /// Byte offset in the input where it went wrong.
    pub offset: u64,
    /// What was wrong, and what to do, in plain words.
    pub message: String,
}

impl std::fmt::Display for CaptureError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "byte {}: {}", self.offset, self.message)
    }
}

impl std::error::Error for CaptureError {}

/// Takes what a capture holds, in file order.
pub trait Sink {
    /// A packet.
    fn packet(&mut self, packet: &Packet<'_>);
    /// The packets that follow are made of text, with times that mean so much. Comes before the
    /// first one.
    fn text(&mut self, clock: Clock) {
        let _ = clock;
    }
    /// The packets that follow were condensed; comes before everything else.
    fn condensed(&mut self, origin: &CaptureOrigin) {
        let _ = origin;
    }
    /// Of a text: packets were left out between two others that came at these times; of a
    /// conversation between these ends, or of any.
    fn left_out(&mut self, of: Option<[(IpAddr, u16); 2]>, from: Time, until: Time) {
        let _ = (of, from, until);
    }
    /// The capture names an address (pcapng name resolution block, or a host name in tcpdump's
    /// text). When `stand_in` is set the capture shows only the name, and the address was made up
    /// to stand for it.
    fn host_name(&mut self, address: IpAddr, name: &str, stand_in: bool) {
        let _ = (address, name, stand_in);
    }
    /// The capture holds secrets of TLS connections (a pcapng decryption secrets block), as the
    /// lines of a key log, before the packet with this frame number.
    fn key_log(&mut self, lines: &[u8], next_frame: u64) {
        let _ = (lines, next_frame);
    }
}
