//! pcap: a file header, then records with a header of 16 bytes and the packet.
//!
//! Supports the microsecond, nanosecond, Ixia and modified (Kuznetzov, 24-byte record headers)
//! variants in both byte orders, the swapped length fields of versions before 2.4, and AIX's
//! variant (<https://www.tcpdump.org/manpages/pcap-savefile.5.html>, draft-ietf-opsawg-pcap).
//! Ignores the FCS length in the link type field, because bytes after an IP datagram are not used.
//!
//! Frame numbers are those of Wireshark: a truncated last record gives no packet. Where Wireshark
//! stops at a damaged record, this reader searches for the next plausible one and continues
//! numbering.

use super::bytes::Order;
use super::ledger::{CaptureLedger, CapturedRecord};
use super::records::{Progress, Records};
use super::{CaptureError, LinkType, Sink, Summary};

/// The variant, from a file's magic number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Variant {
    order: Order,
    nanoseconds: bool,
    /// Length of the file header in bytes.
    file_header: usize,
    /// Bytes of a record's header beyond the usual 16: interface index, protocol and packet type,
    /// which are not used.
    extra: u8,
}

const FILE_HEADER: usize = 24;
const RECORD_HEADER: usize = 16;

impl Variant {
    /// The variant with this magic number, in either byte order.
    pub(super) fn from_magic(magic: [u8; 4]) -> Option<Self> {
        [Order::Little, Order::Big].into_iter().find_map(|order| {
            let (nanoseconds, file_header, extra) = match order.u32(magic) {
                0xa1b2_c3d4 => (false, FILE_HEADER, 0),
                0xa1b2_3c4d => (true, FILE_HEADER, 0),
                0xa1b2_cd34 => (false, FILE_HEADER, 8),
                // Ixia's hardware and software captures: the file header ends with the length of
                // all records.
                0x1c00_01ac => (true, FILE_HEADER + 4, 0),
                0x1c00_01ab => (false, FILE_HEADER + 4, 0),
                _ => return None,
            };
            Some(Self { order, nanoseconds, file_header, extra })
        })
    }
}

/// Order of a record's length fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lengths {
    /// Captured, original.
    Usual,
    /// Original, captured: before version 2.3, and DG/UX.
    Swapped,
    /// Version 2.3, whose writers differ: the smaller one is the captured length.
    Either,
}

impl Lengths {
    /// Returns captured and original length.
    #[cold]
    fn of(self, first: u32, second: u32) -> (u32, u32) {
        match self {
            Self::Usual => (first, second),
            Self::Swapped => (second, first),
            Self::Either => (first.min(second), first.max(second)),
        }
    }
}

/// How to interpret the fields of a record's header.
#[derive(Clone, Copy, Debug)]
struct Fields {
    order: Order,
    lengths: Lengths,
    /// Unit of the fraction of a second in ns, and number of units per second.
    unit: u32,
    per_second: u32,
}

impl Fields {
    fn new(order: Order, lengths: Lengths, nanoseconds: bool) -> Self {
        let (unit, per_second) = if nanoseconds { (1, 1_000_000_000) } else { (1_000, 1_000_000) };
        Self { order, lengths, unit, per_second }
    }

    /// Whether they have the usual form.
    fn are_usual(self) -> bool {
        (self.order, self.lengths) == (Order::Little, Lengths::Usual)
    }

    /// `USUAL`: [`are_usual`](Self::are_usual), so that no field needs a check.
    #[inline(always)]
    fn header<const USUAL: bool>(self, bytes: &[u8; RECORD_HEADER]) -> Header {
        let order = if USUAL { Order::Little } else { self.order };
        let (fields, _) = bytes.as_chunks::<4>();
        let [seconds, fraction, first, second] =
            [0, 1, 2, 3].map(|at| fields.get(at).map_or(0, |field| order.u32(*field)));
        let (captured, original) = match self.lengths {
            _ if USUAL => (first, second),
            Lengths::Usual => (first, second),
            lengths => lengths.of(first, second),
        };
        // Cannot overflow: 2^32 s and 2^32 µs together are less than 2^63 ns.
        let time = i64::from(seconds) * 1_000_000_000 + i64::from(fraction) * i64::from(self.unit);
        Header { time, fraction_ok: fraction < self.per_second, captured, original }
    }
}

/// Reads the records of a pcap file.
#[derive(Debug)]
pub(super) struct PcapReader {
    variant: Variant,
    ledger: CaptureLedger,
    /// Offset of the next byte in the file.
    offset: u64,
    /// Whether the file header was read.
    begun: bool,
    link: LinkType,
    /// The declared snapshot length; 0 means unlimited.
    snaplen: u32,
    fields: Fields,
    /// Time of the previous record, ns.
    previous: Option<i64>,
    /// Offset of a damaged record, until a plausible one is found.
    lost: Option<u64>,
}

/// A record's header.
#[derive(Clone, Copy, Debug)]
struct Header {
    /// Nanoseconds since the epoch.
    time: i64,
    /// Whether the fraction is less than a second.
    fraction_ok: bool,
    captured: u32,
    original: u32,
}

/// If consecutive records are this far apart, the header is suspect.
const DAY: i64 = 86_400_000_000_000;
/// Value for the time before the first record.
const NO_TIME: i64 = i64::MIN;

/// Result of a detailed check of a record's header.
enum HeaderVerdict {
    Fine,
    Damaged,
    /// This many bytes are needed to decide.
    Need(usize),
}

/// Whether a position may be a record, during the search for the next plausible one.
enum Candidate {
    Record,
    No,
    Need(usize),
}

impl PcapReader {
    /// Creates a reader at the start of the file.
    pub(super) fn new(variant: Variant) -> Self {
        Self {
            variant,
            ledger: CaptureLedger::default(),
            offset: 0,
            begun: false,
            link: LinkType(0),
            snaplen: 0,
            fields: Fields::new(variant.order, Lengths::Usual, variant.nanoseconds),
            previous: None,
            lost: None,
        }
    }

    /// The summary of the capture.
    pub(super) fn summary(self) -> Result<Summary, CaptureError> {
        Ok(self.ledger.summary("pcap", self.lost))
    }

    /// Reads the file header; wrong values in it never make the records unreadable.
    fn begin(&mut self, header: &[u8; FILE_HEADER]) {
        let order = self.variant.order;
        let (major, minor) = (order.u16([header[4], header[5]]), order.u16([header[6], header[7]]));
        self.snaplen = order.u32([header[16], header[17], header[18], header[19]]);
        let network = order.u32([header[20], header[21], header[22], header[23]]);
        // The upper half of the field contains the FCS length, and bits that must be 0.
        self.link = LinkType(network as u16);
        let lengths = match (major, minor) {
            (2, 0..=2) | (543, _) => Lengths::Swapped,
            (2, 3) => Lengths::Either,
            _ => Lengths::Usual,
        };
        if (major, minor) == (2, 2) && !self.variant.nanoseconds && self.variant.extra == 0 {
            // AIX writes interface types (RFC 1573) that no other writer of that time used, and
            // nanoseconds.
            let aix = match self.link.0 {
                6 => Some(1),
                9 => Some(6),
                15 => Some(10),
                24 => Some(0),
                _ => None,
            };
            if let Some(link) = aix {
                self.link = LinkType(link);
                self.variant.nanoseconds = true;
            }
        }
        self.fields = Fields::new(order, lengths, self.variant.nanoseconds);
        if !(major == 2 && minor <= 4 || (major, minor) == (543, 0)) {
            self.ledger
                .note("odd-header", || format!("the file header says version {major}.{minor}: read as if it were 2.4"));
        }
        if network & 0x03ff_0000 != 0 {
            let link = self.link.0;
            self.ledger.note("odd-header", || {
                format!(
                    "the file header's link type field is {network:#010x}, with bits that must be 0: read as {link}"
                )
            });
        }
        self.ledger.link(self.link);
        self.begun = true;
    }

    fn header(&self, bytes: &[u8; RECORD_HEADER]) -> Header {
        self.fields.header::<false>(bytes)
    }

    /// Whether records have the usual form: short headers with usual fields, and Ethernet packets.
    fn is_usual(&self) -> bool {
        self.variant.extra == 0 && self.fields.are_usual() && self.link == LinkType::ETHERNET
    }

    /// The longest plausible record: the limit of libpcap and Wireshark for the link type.
    fn longest(&self) -> u32 {
        longest_packet(self.link)
    }

    /// Offset of a record's packet from the record's start.
    #[inline(always)]
    fn before(&self) -> usize {
        RECORD_HEADER + usize::from(self.variant.extra)
    }

    fn limit(&self) -> u32 {
        if self.snaplen == 0 { u32::MAX } else { self.snaplen }
    }

    /// The inner loop: passes on the complete records in `bytes`, up to the first damaged one.
    /// Returns the number of consumed bytes, and of those needed next; 0 if a damaged record
    /// follows. `USUAL`: [`is_usual`](Self::is_usual).
    fn records<const USUAL: bool, S: Sink>(&mut self, bytes: &[u8], end: bool, sink: &mut S) -> Progress {
        let (fields, snaplen, limit) = (self.fields, self.snaplen, self.limit());
        let (link, before) = if USUAL { (LinkType::ETHERNET, RECORD_HEADER) } else { (self.link, self.before()) };
        // Without a limit of its own, a record of unusual length is checked in detail as well.
        let usual = limit.min(self.longest());
        let mut previous = self.previous.unwrap_or(NO_TIME);
        let mut rest = bytes;
        let need = loop {
            let Some(header) = rest.first_chunk() else { break RECORD_HEADER };
            let Header { time, fraction_ok, captured, mut original } = fields.header::<USUAL>(header);
            // The first record, and one that goes back in time, are unusual as well.
            let gone = time.wrapping_sub(previous);
            if !fraction_ok || captured > usual || captured > original || gone as u64 > DAY as u64 {
                let at = self.offset + (bytes.len() - rest.len()) as u64;
                self.previous = (previous != NO_TIME).then_some(previous);
                match self.look_closer(rest, end, at) {
                    HeaderVerdict::Fine => original = original.max(captured),
                    HeaderVerdict::Damaged => break 0,
                    HeaderVerdict::Need(need) => break need,
                }
            }
            let whole = before + captured as usize;
            let Some((record, after)) = rest.split_at_checked(whole) else { break whole };
            previous = time;
            let data = record.get(before..).unwrap_or_default();
            self.ledger.packet(sink, time, CapturedRecord { link, data, original_len: original, snaplen });
            rest = after;
        };
        if previous != NO_TIME {
            self.ledger.time(previous);
            self.previous = Some(previous);
        }
        Progress { consumed: bytes.len() - rest.len(), need }
    }

    /// Checks the unusual record at the start of `rest` in detail. It is accepted if another header
    /// follows, because then its length is right.
    #[cold]
    #[inline(never)]
    fn look_closer(&mut self, rest: &[u8], end: bool, at: u64) -> HeaderVerdict {
        let Some(header) = rest.first_chunk().map(|header| self.header(header)) else { return HeaderVerdict::Fine };
        if header.captured > self.longest() {
            return HeaderVerdict::Damaged;
        }
        let next = self.before() + header.captured as usize;
        match rest.get(next..) {
            // Incomplete: nothing may be recorded yet, because it will be checked again. At the end
            // it counts as truncated.
            None if end => return HeaderVerdict::Fine,
            None => return HeaderVerdict::Need(next),
            Some(_) if !self.is_doubtful(&header, self.previous) => {}
            Some(record_after) => match record_after.first_chunk() {
                Some(header_after) if self.cannot_follow(&header, &self.header(header_after)) => {
                    return HeaderVerdict::Damaged;
                }
                None if !end => return HeaderVerdict::Need(next + RECORD_HEADER),
                _ => {}
            },
        }
        let frame = self.ledger.next_frame();
        let Header { captured, original, fraction_ok, time } = header;
        if captured > original {
            self.ledger.note("odd-length", || {
                format!("frame {frame} at byte {at} claims {captured} captured bytes of a packet of {original}")
            });
        }
        if !fraction_ok {
            self.ledger.note("odd-time", || {
                format!("the time of frame {frame} at byte {at} has a fraction of more than a second")
            });
        }
        if let Some(previous) = self.previous {
            self.ledger.compare_times(previous, time);
            self.ledger.time(previous);
        }
        self.ledger.time(time);
        HeaderVerdict::Fine
    }

    /// Whether a header may be wrong: it contradicts itself, the file's header or the previous
    /// time.
    fn is_doubtful(&self, header: &Header, previous: Option<i64>) -> bool {
        !header.fraction_ok
            || header.captured > header.original
            || header.captured > self.limit()
            || previous.is_some_and(|previous| header.time.abs_diff(previous) > DAY as u64)
    }

    /// Whether `after` cannot be the header after a suspect one. Packet bytes read as a header
    /// hardly ever pass, even zeros.
    fn cannot_follow(&self, header: &Header, after: &Header) -> bool {
        let zeros = (after.time, after.captured, after.original) == (0, 0, 0);
        after.captured > self.longest()
            || header.fraction_ok && !after.fraction_ok
            || zeros && header.time != 0 && header.captured > 0
    }

    /// Searches for the next plausible record in `bytes`. Returns the number of bytes before it, or
    /// of those that cannot contain one.
    fn search(&self, bytes: &[u8], end: bool) -> (usize, Option<usize>) {
        let mut at = 0;
        while let Some(rest) = bytes.get(at..)
            && rest.len() >= RECORD_HEADER
        {
            match self.candidate(rest, end) {
                Candidate::Record => return (at, None),
                Candidate::No => at += 1,
                Candidate::Need(need) => return (at, Some(need)),
            }
        }
        (if end { bytes.len() } else { at }, Some(RECORD_HEADER))
    }

    /// A plausible record is not suspect, and another one follows, or the end.
    fn candidate(&self, rest: &[u8], end: bool) -> Candidate {
        let credible = |at: usize, previous: Option<i64>| {
            let header = self.header(rest.get(at..)?.first_chunk()?);
            let usual = 1..=self.longest().min(LONGEST);
            Some((usual.contains(&header.captured) && !self.is_doubtful(&header, previous)).then_some(header))
        };
        let Some(Some(header)) = credible(0, self.previous) else { return Candidate::No };
        let next = self.before() + header.captured as usize;
        match credible(next, Some(header.time)) {
            Some(Some(_)) => Candidate::Record,
            Some(None) => Candidate::No,
            None if !end => Candidate::Need(next + RECORD_HEADER),
            None if rest.len() == next => Candidate::Record,
            None => Candidate::No,
        }
    }

    fn read_in_order<S: Sink>(&mut self, bytes: &[u8], end: bool, sink: &mut S) -> Progress {
        let mut consumed = 0;
        loop {
            let rest = bytes.get(consumed..).unwrap_or_default();
            if self.lost.is_some() {
                let (skipped, need) = self.search(rest, end);
                self.ledger.skip(skipped);
                self.offset += skipped as u64;
                consumed += skipped;
                if let Some(need) = need {
                    return Progress { consumed, need };
                }
                self.lost = None;
                continue;
            }
            let Progress { consumed: given, need } = match self.is_usual() {
                true => self.records::<true, S>(rest, end, sink),
                false => self.records::<false, S>(rest, end, sink),
            };
            self.offset += given as u64;
            consumed += given;
            let rest = rest.get(given..).unwrap_or_default();
            if need > 0 && (!end || rest.is_empty()) {
                return Progress { consumed, need };
            }
            let torn = need > 0 && self.search(rest.get(1..).unwrap_or_default(), true).1.is_some();
            if torn {
                self.note_torn(rest.len(), need);
                self.offset += rest.len() as u64;
                return Progress { consumed: bytes.len(), need: RECORD_HEADER };
            }
            self.note_damaged(rest);
            // The damaged record's first byte cannot begin a plausible one.
            self.lost = Some(self.offset);
            self.ledger.skip(1);
            self.offset += 1;
            consumed += 1;
        }
    }

    fn note_torn(&mut self, length: usize, need: usize) {
        let offset = self.offset;
        self.ledger.note("torn-record", || {
            format!("the capture ends inside the record at byte {offset}: {length} of {need} bytes are there")
        });
    }

    fn note_damaged(&mut self, rest: &[u8]) {
        let (offset, frame) = (self.offset, self.ledger.next_frame());
        let claim = rest.first_chunk().map_or(0, |header| self.header(header).captured);
        self.ledger.note("damaged-record", || {
            format!(
                "the record at byte {offset} cannot be right (its header claims {claim} captured bytes): frames are \
                 numbered on from {frame} with the next credible one, where other tools stop"
            )
        });
    }
}

impl Records for PcapReader {
    fn read<S: Sink>(&mut self, bytes: &[u8], end: bool, sink: &mut S) -> Result<Progress, CaptureError> {
        let mut header_len = 0;
        if !self.begun {
            header_len = self.variant.file_header;
            match bytes.get(..header_len).and_then(|header| header.first_chunk()) {
                Some(header) => self.begin(header),
                None if end => {
                    let message = format!(
                        "the capture ends inside its file header, after {} of {header_len} bytes: no packet is in it",
                        bytes.len()
                    );
                    return Err(CaptureError { offset: bytes.len() as u64, message });
                }
                None => return Ok(Progress { consumed: 0, need: header_len }),
            }
            self.offset = header_len as u64;
        }
        let bytes = bytes.get(header_len..).unwrap_or_default();
        let progress = self.read_in_order(bytes, end, sink);
        Ok(Progress { consumed: header_len + progress.consumed, ..progress })
    }
}

/// The longest packet of most link types, bytes.
const LONGEST: u32 = 262_144;

/// The longest plausible packet of a link type, bytes: the limit of libpcap and Wireshark.
pub(super) fn longest_packet(link: LinkType) -> u32 {
    match link.0 {
        // D-Bus and USBPcap messages, and EBHSCR, may be longer than network packets.
        231 | 249 => 128 << 20,
        279 => 8 << 20,
        _ => LONGEST,
    }
}

#[cfg(test)]
mod tests;
