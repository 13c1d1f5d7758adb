//! State of a capture in the explainers, and its part of the analysis.

use super::top_connections::Omitted;
use borsh::io::{self, Read, Write};
use borsh::{BorshDeserialize, BorshSerialize};
use std::collections::BTreeMap;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Capture, Lookup, Ping, PingRtt, Problem, ProblemDetail, QUIC, Rewritten, UnmatchedIcmp};
use whyslow_core::capture::condensed::{RowCount, summary_of, write_summary};
use whyslow_core::capture::{self, Clock, Summary};
use whyslow_core::tcp::BadChecksums;
use whyslow_core::tcp::elided::ElisionMarks;
use whyslow_core::wire::{ChecksumSample, Skip, link_type_name};
use whyslow_units::{Nanos, Time};

/// Summary of one capture.
#[derive(Debug, Default)]
pub(super) struct CaptureState {
    path: String,
    pub(super) tcp_packets: u64,
    /// Packets that are not segments: their number, and the first one's frame.
    pub(super) skipped: BTreeMap<Skip, (u64, u64)>,
    /// Skipped packets that other explainers have counted.
    skipped_elsewhere: BTreeMap<NamedSkip, (u64, u64)>,
    pub(super) summary: Option<Summary>,
    /// ICMP errors about segments of no connection that is open then.
    pub(super) of_no_connection: UnmatchedErrors,
    /// ICMP errors about segments that were not in flight on their connection.
    pub(super) not_in_flight: UnmatchedErrors,
    /// Whether the capture's checksums are usable.
    pub(super) checksum_sample: ChecksumSample,
    /// Number of connections whose wrong checksums are not evidence.
    meaningless: MeaninglessChecksums,
    /// Packets that opened a connection of their own because they were damaged.
    strays: u64,
    /// It is a text, with such times.
    pub(super) text: Option<Clock>,
    /// The places of left-out packets.
    pub(super) elision_marks: ElisionMarks,
}

/// Wrong checksums that do not show damage.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
struct MeaninglessChecksums {
    segments: u64,
    connections: u64,
    /// Connections all of whose sums are off by the same amount.
    rewritten: u64,
}

/// ICMP errors without an effect: their number, and the first one's frame.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
pub(super) struct UnmatchedErrors(Option<(u64, u64)>);

impl UnmatchedErrors {
    pub(super) fn note(&mut self, frame: u64) {
        self.0.get_or_insert((0, frame)).0 += 1;
    }

    fn merge(&mut self, more: Self) {
        if let Some((count, frame)) = more.0 {
            let (all, first) = self.0.get_or_insert((0, frame));
            *all += count;
            *first = frame.min(*first);
        }
    }

    /// As a problem of the capture.
    fn to_problem(self, reason: UnmatchedIcmp) -> Option<Problem> {
        let (count, first) = self.0?;
        Some(Problem::new("icmp-unmatched", count, ProblemDetail::IcmpUnmatched { reason, first }))
    }
}

/// All have seen the same captures, and counted their own packets.
pub(super) fn merge_captures(all: &mut Vec<CaptureState>, more: Vec<CaptureState>) {
    if all.is_empty() {
        *all = more;
        return;
    }
    for (capture, more) in all.iter_mut().zip(more) {
        capture.tcp_packets += more.tcp_packets;
        capture.merge_summary(more.summary);
        merge_skipped(&mut capture.skipped_elsewhere, more.skipped_elsewhere);
        capture.strays += more.strays;
        capture.of_no_connection.merge(more.of_no_connection);
        capture.not_in_flight.merge(more.not_in_flight);
        capture.meaningless.segments += more.meaningless.segments;
        capture.meaningless.connections += more.meaningless.connections;
        capture.meaningless.rewritten += more.meaningless.rewritten;
        merge_skipped(&mut capture.skipped, more.skipped);
    }
}

fn merge_skipped<K: Ord>(all: &mut BTreeMap<K, (u64, u64)>, more: impl IntoIterator<Item = (K, (u64, u64))>) {
    for (skip, (count, frame)) in more {
        let entry = all.entry(skip).or_insert((0, frame));
        entry.0 += count;
        entry.1 = entry.1.min(frame);
    }
}

impl CaptureState {
    pub(super) fn new(path: &str) -> Self {
        Self { path: path.to_owned(), ..Self::default() }
    }

    /// Renames the capture to the name that the condensed capture gives.
    pub(super) fn rename(&mut self, path: &str) {
        path.clone_into(&mut self.path);
    }

    /// Writes the capture's problems, once everything was read.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        let summary = self.summary.as_ref().map(|summary| write_summary(summary, RowCount::default()));
        borsh::to_writer(&mut *out, &(&self.path, self.tcp_packets, self.strays, self.named_skips(), summary))?;
        borsh::to_writer(&mut *out, &(self.of_no_connection, self.not_in_flight, self.meaningless))
    }

    /// Reads it.
    ///
    /// # Errors
    /// When it cannot be read, or is nothing of the kind.
    pub(super) fn read_from(input: &mut impl Read) -> io::Result<Self> {
        let (path, tcp_packets, strays) = <(String, u64, u64)>::deserialize_reader(input)?;
        let skipped_elsewhere = BTreeMap::deserialize_reader(input)?;
        let row = Option::<Vec<u8>>::deserialize_reader(input)?;
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "the summary of a capture is damaged");
        let summary = |row: Vec<u8>| summary_of(&row).ok_or_else(damaged);
        let summary = row.map(summary).transpose()?;
        let (of_no_connection, not_in_flight, meaningless) = BorshDeserialize::deserialize_reader(input)?;
        let read = Self { path, tcp_packets, strays, skipped_elsewhere, summary, ..Self::default() };
        Ok(Self { of_no_connection, not_in_flight, meaningless, ..read })
    }

    /// Notes the wrong checksums of a connection that began in this capture. Returns whether the
    /// connection is only the product of a damaged packet.
    pub(super) fn note_wrong_sums(&mut self, wrong: BadChecksums) -> bool {
        let is_stray = if wrong.header {
            self.checksum_sample.headers_reliable()
        } else {
            self.checksum_sample.segments_reliable()
        };
        if wrong.all && is_stray {
            self.strays += wrong.segments;
            return true;
        }
        if !wrong.mean_damage {
            self.meaningless.segments += wrong.segments;
            self.meaningless.connections += 1;
            self.meaningless.rewritten += u64::from(wrong.rewritten);
        }
        false
    }

    /// Packets that should have been read and were not, those that others have counted included.
    fn named_skips(&self) -> BTreeMap<NamedSkip, (u64, u64)> {
        let mut all = self.skipped_elsewhere.clone();
        merge_skipped(&mut all, self.skipped.iter().filter_map(|(&skip, &count)| Some((NamedSkip::of(skip)?, count))));
        all
    }

    /// All have read the same summary, if they have read all of it.
    fn merge_summary(&mut self, other: Option<Summary>) {
        match (&mut self.summary, other) {
            (Some(own), Some(other)) => {
                own.packets = own.packets.max(other.packets);
                let new_ones = other.problems.into_iter().filter(|problem| !own.problems.contains(problem));
                let new_ones: Vec<_> = new_ones.collect();
                own.problems.extend(new_ones);
            }
            (own @ None, other) => *own = other,
            (Some(_), None) => {}
        }
    }

    fn checksums(&self) -> impl Iterator<Item = Problem> + use<> {
        let MeaninglessChecksums { segments, connections, rewritten } = self.meaningless;
        let rewritten = if 2 * rewritten > connections { Rewritten::Addresses } else { Rewritten::Packets };
        let detail = ProblemDetail::MeaninglessChecksums { connections, rewritten };
        let meaningless = (segments > 0).then(|| Problem::new(Cause::BadChecksums.slug(), segments, detail));
        let strays = self.strays;
        let strays = (strays > 0).then(|| Problem::new("damaged-packets", strays, ProblemDetail::DamagedPackets));
        meaningless.into_iter().chain(strays)
    }

    /// `first_time`: the time of the first packet of all, from which times count.
    pub(super) fn into_capture(self, evicted: u64, omitted: Omitted, first_time: Option<Time>) -> Capture {
        let mut problems = self.problems(first_time);
        problems.extend(bounds_reached(evicted, omitted));
        let summary = self.summary.unwrap_or_default();
        let pings = summary.pings.iter().map(ping).collect();
        let lookups =
            summary.lookups.iter().map(|one| lookup(one, first_time.unwrap_or_default(), summary.clock)).collect();
        let duration = summary.first_time.zip(summary.last_time).map(|(first, last)| last - first);
        Capture {
            path: self.path,
            format: summary.format.into(),
            link_types: summary.link_types.iter().map(|link| link_type_name(*link).into_owned()).collect(),
            packets: summary.packets,
            tcp_packets: self.tcp_packets,
            first_time: summary.first_time.filter(|_| summary.clock == Clock::Absolute).map(whyslow_units::iso_8601),
            duration_s: duration.filter(|_| summary.clock != Clock::None),
            problems,
            pings,
            lookups,
        }
    }

    /// Problems that its reader noted, and those that its packets show.
    pub(super) fn problems(&self, first_time: Option<Time>) -> Vec<Problem> {
        let summary = self.summary.as_ref();
        let mut problems: Vec<Problem> = summary
            .iter()
            .flat_map(|summary| &summary.problems)
            .map(|problem| Problem::new(&problem.slug, problem.count, problem.detail.clone()))
            .collect();
        problems.extend(self.named_skips().into_iter().map(|(skip, (count, frame))| {
            Problem::new(&skip.slug, count, format!("{} (first in frame {frame})", skip.what))
        }));
        problems.extend(self.of_no_connection.to_problem(UnmatchedIcmp::NoConnection));
        problems.extend(self.not_in_flight.to_problem(UnmatchedIcmp::NotInFlight));
        problems.extend(self.checksums());
        let is_listed = problems.iter().any(|problem| problem.slug == Cause::ClockStep.slug());
        problems.extend(self.starts_early(first_time).filter(|_| !is_listed));
        problems
    }

    /// Problem of packets that are older than the first one.
    fn starts_early(&self, first_time: Option<Time>) -> Option<Problem> {
        let summary = self.summary.as_ref()?;
        let early =
            first_time.zip(summary.first_time).map_or(Nanos::ZERO, |(first, earliest)| (first - earliest).or_zero());
        let detail = ProblemDetail::NotInOrder { earlier_s: early };
        let is_early = early > Nanos::ZERO && summary.clock != Clock::None;
        is_early.then(|| Problem::new(Cause::ClockStep.slug(), 1, detail))
    }
}

/// Connections that the bounds on memory and on the list have left out.
fn bounds_reached(evicted: u64, Omitted { count, bytes }: Omitted) -> impl Iterator<Item = Problem> {
    let let_go = ProblemDetail::ConnectionsLetGo;
    let evicted = (evicted > 0).then(|| Problem::new("connections-let-go", evicted, let_go));
    let not_listed = ProblemDetail::ConnectionsNotListed { bytes };
    let omitted = (count > 0).then(|| Problem::new("connections-not-listed", count, not_listed));
    evicted.into_iter().chain(omitted)
}

fn ping(ping: &capture::Ping) -> Ping {
    let counts = ping.sent.zip(ping.received).filter(|&(sent, _)| sent > 0);
    let milliseconds = |time: Nanos| (time.as_millis_f64() * 1000.0).round() / 1000.0;
    Ping {
        from: ping.from.clone(),
        to: ping.to.clone(),
        sent: ping.sent,
        received: ping.received,
        loss: counts.map(|(sent, received)| sent.saturating_sub(received) as f64 / sent as f64),
        rtt_ms: ping.round_trips.map(|times| {
            let [min, avg, max] = times.map(milliseconds);
            PingRtt { min, avg, max }
        }),
    }
}

fn lookup(lookup: &capture::Lookup, first: Time, clock: Clock) -> Lookup {
    Lookup {
        client: lookup.client.clone(),
        server: lookup.server.clone(),
        name: lookup.name.clone(),
        kind: lookup.kind.clone(),
        start_s: (clock != Clock::None).then(|| lookup.start - first),
        duration_s: lookup.took,
        queries: lookup.queries,
        answers: lookup.answers,
        refusal: lookup.refusal.clone(),
    }
}

/// Packets that should have been read and were not: why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, BorshSerialize, BorshDeserialize)]
struct NamedSkip {
    /// The order in which they are listed.
    order: (u8, u16),
    what: String,
    slug: String,
}

impl NamedSkip {
    fn of(skip: Skip) -> Option<Self> {
        let slug = problem_slug(skip)?.to_owned();
        let order = match skip {
            Skip::LinkType(value) => (0, value),
            Skip::IcmpCut => (1, 0),
            Skip::Fragment => (2, 0),
            Skip::Cut => (3, 0),
            Skip::Quic(_) => (5, 0),
            _ => (4, 0),
        };
        Some(Self { order, what: skip.to_string(), slug })
    }
}

/// Other protocols are not a problem; packets that whyslow should have read and could not are.
fn problem_slug(skip: Skip) -> Option<&'static str> {
    match skip {
        Skip::LinkType(_) => Some("unknown-link-type"),
        Skip::Fragment => Some("ip-fragment"),
        Skip::Cut => Some("cut-headers"),
        Skip::Malformed(_) => Some("malformed-packet"),
        Skip::IcmpCut => Some("icmp-unmatched"),
        Skip::Quic(_) => Some(QUIC),
        _ => None,
    }
}
