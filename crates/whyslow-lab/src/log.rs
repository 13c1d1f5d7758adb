//! The emulator's log of a run: one record a packet, complete counts, and lateness.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// Delivered (see [`Impairments`] for how).
    Passed,
    /// Drawn or listed for loss.
    Lost,
    /// The queue was full.
    QueueFull,
    /// CoDel or RED dropped it.
    Aqm,
    /// The policer's bucket was empty.
    Policed,
    /// Larger than the link's MTU.
    TooBig,
    /// Still in the link when the emulator was stopped.
    Unfinished,
}

/// Impairments of a packet: a set of bits, written to JSON as a list of names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Impairments(u8);

impl Impairments {
    /// Arrives twice.
    pub const DUPLICATED: Self = Self(1);
    /// One bit is flipped; the receiver's checksum fails.
    pub const CORRUPTED: Self = Self(2);
    /// Held back.
    pub const REORDERED: Self = Self(4);
    /// Marked Congestion Experienced (RFC 3168).
    pub const MARKED: Self = Self(8);

    const NAMES: [(Self, &'static str); 4] = [
        (Self::DUPLICATED, "duplicated"),
        (Self::CORRUPTED, "corrupted"),
        (Self::REORDERED, "reordered"),
        (Self::MARKED, "marked"),
    ];

    /// All bits of `other` are set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Nothing was done.
    pub fn is_empty(&self) -> bool {
        self.0 == 0
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl Serialize for Impairments {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(Self::NAMES.iter().filter(|(bit, _)| self.has(*bit)).map(|(_, name)| name))
    }
}

impl<'de> Deserialize<'de> for Impairments {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut all = Self::default();
        for name in Vec::<String>::deserialize(deserializer)? {
            let known = Self::NAMES.iter().find(|(_, known)| *known == name);
            all.add(known.ok_or_else(|| serde::de::Error::custom(format!("a packet was {name:?}")))?.0);
        }
        Ok(all)
    }
}

/// TCP flags as they are on the wire (RFC 9293 section 3.1): bit 0 is FIN, 1 SYN, 2 RST, 3 PSH, 4
/// ACK.
pub type TcpFlags = u8;

/// The header fields that the emulator reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    /// Ethernet frame, without FCS, in bytes.
    pub wire_bytes: u32,
    /// IP packet, in bytes.
    pub ip_bytes: u32,
    /// TCP or UDP source port, 0 for others.
    pub source_port: u16,
    /// TCP or UDP destination port, 0 for others.
    pub destination_port: u16,
    /// TCP sequence number, as on the wire.
    pub seq: u32,
    /// TCP acknowledgement number, as on the wire.
    pub ack: u32,
    /// TCP payload, in bytes.
    pub payload_bytes: u32,
    /// TCP flags; 0 when it is not TCP.
    pub flags: TcpFlags,
    /// ECN-capable (RFC 3168 section 5).
    #[serde(skip)]
    pub ecn_capable: bool,
}

/// One packet's way through a link. Times are nanoseconds since the emulator was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// When the kernel gave it to the emulator's port.
    pub in_ns: u64,
    /// When it should leave, or when it was dropped.
    pub due_ns: u64,
    /// When it was sent on the other port; equal to `due_ns` for a dropped packet.
    pub out_ns: u64,
    /// Its fate.
    pub fate: Fate,
    /// Its impairments.
    #[serde(default, skip_serializing_if = "Impairments::is_empty")]
    pub touched: Impairments,
    /// Bytes of frames that waited when it arrived.
    pub queue_bytes: u32,
    /// Packets that waited when it arrived.
    pub queue_packets: u32,
    /// The packet itself.
    #[serde(flatten)]
    pub meta: Meta,
}

/// Totals of a direction. `arrived = passed + all drops + unfinished` always holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Packets that reached the link.
    pub arrived: u64,
    /// Bytes of frames that reached the link.
    pub arrived_bytes: u64,
    /// Delivered (a duplicated packet counts once).
    pub passed: u64,
    /// Bytes of frames delivered, copies not counted.
    pub passed_bytes: u64,
    /// Lost by the loss model.
    pub lost: u64,
    /// Dropped by a full queue.
    pub queue_full: u64,
    /// Dropped by CoDel or RED.
    pub aqm: u64,
    /// Dropped by the policer.
    pub policed: u64,
    /// Dropped for their size.
    pub too_big: u64,
    /// In the link when it was stopped.
    pub unfinished: u64,
    /// Delivered twice.
    pub duplicated: u64,
    /// Delivered with a flipped bit.
    pub corrupted: u64,
    /// Held back.
    pub reordered: u64,
    /// Marked Congestion Experienced.
    pub marked: u64,
    /// Dropped packets that carried TCP payload.
    pub dropped_data: u64,
}

impl Counts {
    /// All packets that the link dropped.
    pub fn dropped(&self) -> u64 {
        self.lost + self.queue_full + self.aqm + self.policed + self.too_big
    }

    fn add(&mut self, record: &Record) {
        let bytes = u64::from(record.meta.wire_bytes);
        self.arrived += 1;
        self.arrived_bytes += bytes;
        match record.fate {
            Fate::Passed => {
                self.passed += 1;
                self.passed_bytes += bytes;
                self.duplicated += u64::from(record.touched.has(Impairments::DUPLICATED));
                self.corrupted += u64::from(record.touched.has(Impairments::CORRUPTED));
                self.reordered += u64::from(record.touched.has(Impairments::REORDERED));
                self.marked += u64::from(record.touched.has(Impairments::MARKED));
            }
            Fate::Lost => self.lost += 1,
            Fate::QueueFull => self.queue_full += 1,
            Fate::Aqm => self.aqm += 1,
            Fate::Policed => self.policed += 1,
            Fate::TooBig => self.too_big += 1,
            Fate::Unfinished => self.unfinished += 1,
        }
        if !matches!(record.fate, Fate::Passed | Fate::Unfinished) && record.meta.payload_bytes > 0 {
            self.dropped_data += 1;
        }
    }
}

/// Records of one direction, bounded; the counts go on when the records are full.
#[derive(Debug)]
pub struct Log {
    records: Vec<Record>,
    limit: usize,
    unrecorded: u64,
    counts: Counts,
    lateness: Lateness,
}

/// The default limit of records: about 130 MB.
pub const DEFAULT_LIMIT: usize = 2_000_000;

impl Log {
    /// An empty log of at most `limit` records.
    pub fn new(limit: usize) -> Self {
        Self { records: Vec::new(), limit, unrecorded: 0, counts: Counts::default(), lateness: Lateness::default() }
    }

    /// Records a packet.
    pub fn add(&mut self, record: Record) {
        self.counts.add(&record);
        if record.fate == Fate::Passed {
            self.lateness.add(record.out_ns.saturating_sub(record.due_ns));
        }
        if self.records.len() < self.limit {
            self.records.push(record);
        } else {
            self.unrecorded += 1;
        }
    }

    /// Totals so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Ends the log: records in order of arrival.
    pub fn finish(mut self, link: usize, direction: Direction) -> LinkLog {
        self.records.sort_by_key(|record| record.in_ns);
        LinkLog {
            link,
            direction,
            counts: self.counts,
            lateness: self.lateness.summary(),
            unrecorded: self.unrecorded,
            records: self.records,
        }
    }
}

/// Which way packets go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Towards the server.
    Up,
    /// Towards the client.
    Down,
}

/// The log of one direction of one link after a run.
#[derive(Clone, Debug, Serialize)]
pub struct LinkLog {
    /// Index in [`crate::net::config::PathConfig::links`].
    pub link: usize,
    /// Which way.
    pub direction: Direction,
    /// Totals.
    pub counts: Counts,
    /// How late packets left.
    pub lateness: LatenessSummary,
    /// Packets that were counted but not recorded, since the log was full.
    pub unrecorded: u64,
    /// One for each packet, in order of arrival.
    pub records: Vec<Record>,
}

/// How late packets left, against the moment when they were due.
#[derive(Debug)]
pub struct Lateness(Histogram<u32>);

impl Default for Lateness {
    fn default() -> Self {
        // 1 ns to 10 s; two significant digits distinguish 33 µs and 34 µs.
        match Histogram::new_with_bounds(1, 10_000_000_000, 2) {
            Ok(histogram) => Self(histogram),
            Err(error) => unreachable!("constant bounds: {error}"),
        }
    }
}

impl Lateness {
    /// Counts one packet.
    pub fn add(&mut self, late_ns: u64) {
        self.0.saturating_record(late_ns);
    }

    /// The values of the histogram.
    pub fn summary(&self) -> LatenessSummary {
        LatenessSummary {
            packets: self.0.len(),
            p50_ns: self.0.value_at_quantile(0.5),
            p99_ns: self.0.value_at_quantile(0.99),
            max_ns: self.0.max(),
        }
    }
}

/// Quantiles of the lateness, to two digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LatenessSummary {
    /// Delivered packets.
    pub packets: u64,
    /// Half of them were at most this late.
    pub p50_ns: u64,
    /// 99 % of them were at most this late.
    pub p99_ns: u64,
    /// The latest.
    pub max_ns: u64,
}

impl LatenessSummary {
    /// The rule for trust: p99 within 5 % of the one-way delay or 0.5 ms, whichever is more, unless
    /// the scenario sets its own tolerance.
    pub fn is_trustworthy(&self, one_way_delay_ns: u64, tolerance_ns: Option<u64>) -> bool {
        self.p99_ns <= tolerance_ns.unwrap_or((one_way_delay_ns / 20).max(500_000))
    }
}

#[cfg(test)]
mod tests;
