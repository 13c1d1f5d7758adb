//! What a run retransmitted, segment by segment, and why. The analysis is judged by this.
//!
//! Joins the emulator's log (every packet's sequence numbers, times and fate) with the kernel's
//! trace, by connection and time. A retransmission is spurious if earlier copies of all its bytes
//! reached the receiver, at whatever time. Where the log or the trace is incomplete, or two
//! mechanisms sent within a moment of each other, the reason is unknown. SYNs are left out, and so
//! are paths with a proxy, whose two legs number bytes separately.

use crate::log::{Direction, Fate, Impairments, Record};
use crate::trace::{Event, Trace, Why};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

/// A packet reaches the emulator so soon after the kernel has sent it (and was traced sending it),
/// at most, nanoseconds: the emulator may have to wait for a processor.
const TOGETHER: u64 = 20_000_000;
/// One of two mechanisms within that time must be this much nearer, nanoseconds.
const NEARER: u64 = 100_000;
/// A copy is answered within this time, nanoseconds.
const ANSWERED: u64 = 20_000_000;
/// Packets so near to a copy's arrival may each be its answer, nanoseconds.
const AT_ONCE: u64 = 100_000;
const FIN: u8 = 1;
const SYN: u8 = 2;

/// A segment on the wire that carries bytes which were sent before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireRetransmission {
    /// The connection.
    pub client_port: u16,
    /// Its direction.
    pub direction: Direction,
    /// Its first byte, counted from the SYN.
    pub seq: u32,
    /// Sequence space that it takes: payload, and one for a FIN.
    pub space: u32,
    /// When it left the sender, nanoseconds since the Unix epoch.
    pub sent: u64,
    /// When it reached the receiver; `None` if the link dropped it.
    pub arrived: Option<u64>,
    /// Earlier copies of all its bytes reached the receiver.
    pub needless: bool,
    /// It was needless, and the receiver reported it to the sender: D-SACK was in force, the copy
    /// arrived, and so did its ACK.
    pub reported: bool,
    /// No earlier copy of any of its bytes ever came to the receiver's end.
    pub first_to_arrive: bool,
    /// The link delivered it twice: the receiver reports a copy, and it is unknown whether it means
    /// this one or an earlier.
    pub doubled: bool,
    /// The reason for which the kernel sent it; `None` if unknown.
    pub why: Option<Why>,
}

/// The retransmissions of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownRetransmissions {
    /// All retransmissions, in the order of sending.
    pub segments: Vec<WireRetransmission>,
    /// Segments that the two kernels count as retransmitted, SYNs aside: from another source than
    /// the log.
    pub counted: u64,
}

/// The parts of `truth.json` that are needed here.
#[derive(Deserialize)]
struct RecordedRun {
    epoch_ns: u64,
    links: Vec<RecordedLink>,
    hosts: BTreeMap<String, RecordedHost>,
    // Runs of earlier versions were not traced.
    resends: Option<Trace>,
}

#[derive(Deserialize)]
struct RecordedLink {
    direction: Direction,
    unrecorded: u64,
    records: Vec<Record>,
}

#[derive(Deserialize)]
struct RecordedHost {
    sysctls: BTreeMap<String, String>,
    counters: BTreeMap<String, u64>,
}

/// Reads the retransmissions of the run in this folder; `None` if its log cannot show them.
///
/// # Errors
/// When `truth.json` cannot be read.
pub fn read(folder: &Path) -> io::Result<Option<KnownRetransmissions>> {
    let run: RecordedRun = serde_json::from_reader(BufReader::new(File::open(folder.join("truth.json"))?))?;
    if run.links.len() != 2 || run.links.iter().any(|link| link.unrecorded > 0) {
        return Ok(None);
    }
    let mut known = KnownRetransmissions::default();
    let on = |host: &RecordedHost, name: &str| host.sysctls.get(name).is_some_and(|value| value != "0");
    let reports = |host: &RecordedHost| on(host, "net.ipv4.tcp_dsack") && refused(&host.counters) == 0;
    let sack = run.hosts.values().all(|host| on(host, "net.ipv4.tcp_sack"));
    for link in &run.links {
        let host = if link.direction == Direction::Up { "client" } else { "server" };
        let mut resent = sent_again(&link.records, link.direction, run.epoch_ns);
        let peer = if host == "client" { "server" } else { "client" };
        if let Some(back) = run.links.iter().find(|other| other.direction != link.direction)
            && sack
            && run.hosts.get(peer).is_some_and(reports)
        {
            note_reports(&mut resent, &back.records, run.epoch_ns);
        }
        let counters = run.hosts.get(host).map(|host| &host.counters);
        let counted = |name: &str| counters.and_then(|counters| counters.get(name)).copied().unwrap_or(0);
        known.counted += counted("Tcp:RetransSegs").saturating_sub(counted("TcpExt:TCPSynRetrans"));
        let traced = run.resends.as_ref().filter(|trace| trace.missing.is_none());
        match traced {
            // With events missing a neighbour in time may be another segment's.
            Some(trace) if trace.lost == 0 => explain(&mut resent, &trace.events),
            Some(_) => {}
            None => {
                let only = counters.and_then(only_kind);
                resent.iter_mut().for_each(|segment| segment.why = only);
            }
        }
        known.segments.extend(resent);
    }
    known.segments.sort_by_key(|segment| segment.sent);
    Ok(Some(known))
}

/// Segments that arrived whole and that the host's TCP refused: then it is unknown which copy it
/// had. Reordered ones are refused for their old timestamps (PAWS, RFC 7323 section 5) if a segment
/// that overtook them was accepted.
fn refused(counters: &BTreeMap<String, u64>) -> u64 {
    let names =
        ["PAWSEstab", "BeyondWindow", "OfoPruned", "RcvPruned", "TCPOFODrop", "TCPRcvQDrop", "TCPZeroWindowDrop"];
    names.iter().filter_map(|name| counters.get(&format!("TcpExt:{name}"))).sum()
}

/// If the host's counters show one mechanism only, it made all of them. Timeouts of SYNs count
/// among the others.
fn only_kind(counters: &BTreeMap<String, u64>) -> Option<Why> {
    let of = |name: &str| counters.get(name).copied();
    let timer = of("TcpExt:TCPTimeouts")? + of("TcpExt:TCPSlowStartRetrans")?;
    let (fast, probes) = (of("TcpExt:TCPFastRetrans")?, of("TcpExt:TCPLossProbes")?);
    match (fast > 0, timer > 0, probes > 0) {
        (true, false, false) => Some(Why::Fast),
        (false, true, false) => Some(Why::Timeout),
        (false, false, true) => Some(Why::TailProbe),
        _ => None,
    }
}

/// Byte ranges, apart from each other.
#[derive(Default)]
struct Bytes(BTreeMap<u32, u32>);

impl Bytes {
    fn insert(&mut self, mut start: u32, mut end: u32) {
        let touching: Vec<u32> =
            self.0.range(..=end).rev().take_while(|(_, to)| **to >= start).map(|(from, _)| *from).collect();
        for from in touching {
            if let Some(to) = self.0.remove(&from) {
                (start, end) = (start.min(from), end.max(to));
            }
        }
        self.0.insert(start, end);
    }

    fn touches(&self, start: u32, end: u32) -> bool {
        self.0.range(..end).next_back().is_some_and(|(_, to)| *to > start)
    }

    fn hold(&self, start: u32, end: u32) -> bool {
        self.0.range(..=start).next_back().is_some_and(|(_, to)| *to >= end)
    }
}

/// One direction of a connection, as far as its log was read.
#[derive(Default)]
struct Flow {
    syn: u32,
    sent: Bytes,
    /// Came to the receiver's end, …
    came: Bytes,
    /// … and whole, so that its TCP took them.
    taken: Bytes,
}

/// `records` in the order of sending.
fn sent_again(records: &[Record], direction: Direction, epoch: u64) -> Vec<WireRetransmission> {
    let mut flows: HashMap<u16, Flow> = HashMap::new();
    let mut resent = Vec::new();
    for record in records {
        let packet = &record.meta;
        let up = direction == Direction::Up;
        let client_port = if up { packet.source_port } else { packet.destination_port };
        if packet.flags & SYN != 0 {
            let flow = flows.entry(client_port).or_default();
            if flow.syn != packet.seq {
                *flow = Flow { syn: packet.seq, ..Flow::default() };
            }
            continue;
        }
        let space = packet.payload_bytes + u32::from(packet.flags & FIN);
        let Some(flow) = flows.get_mut(&client_port).filter(|_| space > 0) else { continue };
        let seq = packet.seq.wrapping_sub(flow.syn);
        let Some(end) = seq.checked_add(space) else { continue };
        if flow.sent.touches(seq, end) {
            resent.push(WireRetransmission {
                client_port,
                direction,
                seq,
                space,
                sent: epoch + record.in_ns,
                arrived: (record.fate == Fate::Passed).then_some(epoch + record.out_ns),
                needless: flow.taken.hold(seq, end),
                reported: false,
                first_to_arrive: !flow.came.touches(seq, end),
                doubled: record.touched.has(Impairments::DUPLICATED),
                why: None,
            });
        }
        flow.sent.insert(seq, end);
        if record.fate == Fate::Passed {
            flow.came.insert(seq, end);
            if !record.touched.has(Impairments::CORRUPTED) {
                flow.taken.insert(seq, end);
            }
        }
    }
    resent
}

/// The needless copies that were reported to the sender. `back`: the packets that the receivers
/// sent, in order. A copy is answered at once (RFC 2883 section 4), so the next packet the other
/// way is its report.
fn note_reports(resent: &mut [WireRetransmission], back: &[Record], epoch: u64) {
    for segment in resent.iter_mut().filter(|segment| segment.needless) {
        let Some(arrived) = segment.arrived.and_then(|arrived| arrived.checked_sub(epoch)) else { continue };
        let up = segment.direction == Direction::Up;
        let is_its = |packet: &Record| {
            segment.client_port == if up { packet.meta.destination_port } else { packet.meta.source_port }
        };
        // The emulator notes the copy's arrival a moment after it, sometimes later than the answer.
        let from = back.partition_point(|packet| packet.in_ns + AT_ONCE < arrived);
        let mut answers = back.get(from..).unwrap_or_default().iter().filter(|packet| is_its(packet)).peekable();
        let Some(first) = answers.next_if(|packet| packet.in_ns < arrived + ANSWERED) else { continue };
        let came = |packet: &Record| packet.fate == Fate::Passed && !packet.touched.has(Impairments::CORRUPTED);
        segment.reported = came(first) && answers.take_while(|packet| packet.in_ns < arrived + AT_ONCE).all(came);
    }
}

/// Gives each segment the mechanism that was traced for it. Both are in the order of sending: as
/// many events as segments belong together one by one. Where one event stands for several segments
/// (a large piece, cut on its way out) the times decide.
fn explain(resent: &mut [WireRetransmission], events: &[Event]) {
    let ports: BTreeSet<u16> = resent.iter().map(|segment| segment.client_port).collect();
    for port in ports {
        let mut segments: Vec<&mut WireRetransmission> =
            resent.iter_mut().filter(|segment| segment.client_port == port).collect();
        let up = segments.first().is_some_and(|segment| segment.direction == Direction::Up);
        let is_its = |event: &&Event| {
            let (client_port, source) =
                if up { (event.source_port, "10.77.0.1") } else { (event.destination_port, "10.77.0.2") };
            client_port == port && event.source == source
        };
        let events: Vec<&Event> = events.iter().filter(is_its).collect();
        let one_by_one = events.len() == segments.len();
        for (index, segment) in segments.iter_mut().enumerate() {
            let own = events.get(index).filter(|_| one_by_one);
            segment.why = match own {
                Some(event) => (event.t.abs_diff(segment.sent) <= TOGETHER).then_some(event.why),
                None => by_time(&events, segment.sent),
            };
        }
    }
}

/// The mechanism at work at this time, if no other was at nearly the same.
fn by_time(events: &[&Event], sent: u64) -> Option<Why> {
    let near = |but: Option<Why>| {
        let others = events.iter().filter(|event| but.is_none_or(|but| event.why != but));
        others.map(|event| (event.t.abs_diff(sent), event.why)).min_by_key(|(distance, _)| *distance)
    };
    let (distance, why) = near(None).filter(|(distance, _)| *distance <= TOGETHER)?;
    near(Some(why)).is_none_or(|(other, _)| other >= distance + NEARER).then_some(why)
}

#[cfg(test)]
mod tests;
