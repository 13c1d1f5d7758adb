//! The same pipeline for packets that do not end: each transfer is reported once, soon after it has
//! ended, on connections that go on as well.
//!
//! The report on a transfer equals the analysis of all packets up to then; its report of a
//! connection at its end, the analysis of the whole capture. Later packets of an open connection
//! (for example, with a shorter round trip) do not change an earlier report. A transfer that
//! continues after a silence longer than any of TCP's own is reported again, and marked as such.
//! Memory is bounded: an open connection keeps its last transfers, and a closed one is dropped.
//!
//! There is no clock: [`LiveExplainer::collect`] is given the time.

mod parts;
mod window;

use super::Explainer;
use super::open_connection::OpenConnection;
use super::top_connections::ConnectionSize;
use crate::assemble::ListedTransfers;
use crate::conclude;
use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use whyslow_analysis::types::Side;
use whyslow_analysis::{Connection, End, Finding, MAX_TRANSFERS, Problem, ProblemDetail};
use whyslow_core::capture::{Clock, Packet, Sink};
use whyslow_core::flow::{ConnectionId, FlowEntry, HashedKey};
use whyslow_core::tcp::facts::Facts;
use whyslow_core::wire::HashSeed;
use whyslow_units::{Nanos, Time};
use window::Window;

pub use super::joined::{JoinedConnection, JoinedEnd};

/// Packets of several queues may come this much out of order.
const OUT_OF_ORDER: Nanos = Nanos::from_millis(1_000);
/// Steps that the model may simulate for each second that passed (two a segment): a twentieth of a
/// processor.
const WORK_PER_SECOND: f64 = 2_000_000.0;
/// Maximum number of connections that are reported at once.
const MAX_CONNECTIONS_PER_PART: usize = 256;
/// A connection that goes on is checked no more often.
const CHECK_INTERVAL: Nanos = Nanos::from_millis(1_000);
/// Maximum number of stretches in which packets were dropped that are remembered.
const MAX_DROPS: usize = 64;

/// Explains packets that do not end.
///
/// ```
/// use whyslow_core::capture::{CaptureError, Reader};
/// use whyslow_diagnosis::explain::live::{EndedTransfers, LiveExplainer};
///
/// # fn main() -> Result<(), CaptureError> {
/// let (mut reader, mut explainer) = (Reader::new(), LiveExplainer::new());
/// explainer.begin_capture("loss.pcap");
/// // One that goes on after it was given comes again, as grown.
/// let count = |given: &EndedTransfers| {
///     given.connection.transfers.len() - given.grown.iter().filter(|grown| **grown).count()
/// };
/// let mut transfers = 0;
/// for piece in include_bytes!("../../../../samples/loss-client.pcap").chunks(65_536) {
///     reader.push(piece, &mut explainer)?;
///     let ended = explainer.collect(explainer.newest()).connections;
///     transfers += ended.iter().map(count).sum::<usize>();
/// }
/// transfers += explainer.finish().connections.iter().map(count).sum::<usize>();
/// // The request, and its answer.
/// assert_eq!(transfers, 2);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct LiveExplainer {
    explainer: Explainer,
    reported: HashMap<ConnectionId, Reported>,
    /// Connections that are still in the table and are over.
    over: usize,
    /// Connections that may have to be reported although no packet comes.
    waiting: HashMap<ConnectionId, (HashedKey, Time)>,
    /// Reports that are due; and connections that have left the table, with the time up to which
    /// they had no packets. Both wait for their report.
    due: VecDeque<(ConnectionId, HashedKey)>,
    closed: VecDeque<(Box<FlowEntry<OpenConnection>>, Time)>,
    /// Segments that the model may simulate for the reports of connections that are due.
    work: u64,
    /// Connections that were reported.
    numbers: u64,
    newest: Time,
    /// Up to when packets were checked.
    checked: Time,
    window: Window,
    drops: Vec<Drops>,
}

/// State of a connection's reports.
#[derive(Clone, Copy, Debug, Default)]
struct Reported {
    number: u64,
    /// By sending side: up to this sequence number.
    until: [u64; 2],
    /// When the last transfer of the client, and of the server, began.
    last_start: [Option<Nanos>; 2],
    /// Transfers that were dropped, for each side.
    forgotten: [u64; 2],
    /// When it was last checked.
    checked: Option<Time>,
    /// Whether no more packets come.
    over: bool,
}

/// A stretch in which packets were dropped on this machine.
#[derive(Clone, Copy, Debug)]
struct Drops {
    from: Time,
    until: Time,
    packets: u64,
}

/// Connections and transfers that ended since the last call.
#[derive(Debug, Default)]
pub struct Ended {
    /// Connections with transfers that have ended, each at most once, in the order in which they
    /// were found.
    pub connections: Vec<EndedTransfers>,
    /// Findings over the connections of a past minute; by their ids.
    pub findings: Vec<Finding>,
    /// Transfers that have ended and are not among these, because one connection had too many.
    pub unlisted: u64,
    /// There is more to report already: ask again before more packets are read.
    pub more: bool,
}

/// Transfers of a connection that have ended.
#[derive(Debug)]
pub struct EndedTransfers {
    /// The connection as of now, with no other transfers; `id` stays the same. Findings over its
    /// transfers come with the last ones.
    pub connection: Connection,
    /// The first transfers of the client, and of the server, were reported before and went on.
    pub grown: [bool; 2],
    /// Whether the connection is over, so that this is its last part.
    pub over: bool,
}

impl Default for LiveExplainer {
    fn default() -> Self {
        Self::new()
    }
}

impl LiveExplainer {
    /// Creates one of all connections.
    pub fn new() -> Self {
        Self {
            explainer: Explainer { leaving: Some(Vec::new()), ..Explainer::new() },
            reported: HashMap::new(),
            over: 0,
            waiting: HashMap::new(),
            due: VecDeque::new(),
            closed: VecDeque::new(),
            work: 0,
            numbers: 0,
            newest: Time::MIN,
            checked: Time::MIN,
            window: Window::default(),
            drops: Vec::new(),
        }
    }

    /// Sets the path's largest rate, as [`Explainer::set_path_rate`].
    pub fn set_path_rate(&mut self, rate: Option<f64>) {
        self.explainer.set_path_rate(rate);
    }

    /// Sets the seed of the table of connections, as [`Explainer::set_hash_seed`].
    pub fn set_hash_seed(&mut self, seed: HashSeed) {
        self.explainer.set_hash_seed(seed);
    }

    /// Begins a capture, which continues those before it.
    pub fn begin_capture(&mut self, path: &str) {
        self.explainer.begin_capture(path);
    }

    /// Takes the data of a connection that was open before its first packet is read; it then does
    /// not lack a handshake.
    pub fn join(&mut self, joined: JoinedConnection) {
        self.explainer.joined.add(joined);
    }

    /// Packets were dropped on this machine between these times, before they came here.
    pub fn note_drops(&mut self, packets: u64, from: Time, until: Time) {
        if let Some(last) = self.drops.last_mut().filter(|last| from <= last.until + OUT_OF_ORDER) {
            last.until = last.until.max(until);
            last.packets += packets;
        } else {
            if self.drops.len() >= MAX_DROPS {
                self.drops.remove(0);
            }
            self.drops.push(Drops { from, until, packets });
        }
    }

    /// The time of the newest packet.
    pub fn newest(&self) -> Time {
        self.newest
    }

    /// The time of the first packet, from which times count.
    pub fn first_time(&self) -> Option<Time> {
        self.explainer.first_time
    }

    /// Segments so far.
    pub fn segments(&self) -> u64 {
        self.explainer.segments + self.explainer.captures.iter().map(|capture| capture.tcp_packets).sum::<u64>()
    }

    /// Open connections: those that were closed, as of the last [`collect`](Self::collect), do not
    /// count.
    pub fn open_connections(&self) -> usize {
        self.explainer.table.count().saturating_sub(self.over)
    }

    /// Problems of packets that could not be read.
    pub fn problems(&self) -> Vec<Problem> {
        self.explainer.captures.iter().flat_map(|capture| capture.problems(self.explainer.first_time)).collect()
    }

    /// Reports the connections and transfers that have ended by `now`, on the clock of the packets:
    /// only a part of them if there are many ([`Ended::more`]).
    pub fn collect(&mut self, now: Time) -> Ended {
        let now = now.max(self.newest);
        if self.explainer.first_time.is_none() {
            return Ended::default();
        }
        // A part uses the results of the one before it.
        if self.due.is_empty() && self.closed.is_empty() {
            self.explainer.advance_time(now);
            self.take_closed();
            self.find_due(now);
            let since = self.checked.max(self.explainer.first_time.unwrap_or(now));
            let elapsed = if self.checked == Time::MIN { 1.0 } else { (now - since).as_secs_f64() };
            self.checked = now;
            self.work = (elapsed * WORK_PER_SECOND) as u64;
        }
        let mut ended = Ended::default();
        self.report_closed(&mut ended);
        while ended.connections.len() < MAX_CONNECTIONS_PER_PART
            && let Some((id, key)) = self.due.pop_front()
        {
            self.report_open(id, &key, now, &mut ended);
        }
        self.complete(&mut ended, 0);
        if !ended.more && self.window.is_over(now) {
            ended.findings = self.window.finish(std::mem::take(&mut self.explainer.kept.flows), now);
        }
        ended
    }

    /// Reports the rest: no more packets come.
    pub fn finish(self) -> Ended {
        let mut all = Ended::default();
        self.finish_in_parts(|part| {
            all.connections.extend(part.connections);
            all.findings.extend(part.findings);
            all.unlisted += part.unlisted;
        });
        all
    }

    /// Finds connections that may have something to report.
    fn find_due(&mut self, now: Time) {
        let Self { explainer, reported, waiting, checked, .. } = self;
        let since = *checked - OUT_OF_ORDER;
        explainer.table.for_each_since(since, |key, entry| {
            let reported = reported.get(&entry.id).copied().unwrap_or_default();
            let Some(tcp) = entry.value.opened() else { return };
            match tcp.next_report_at(reported.until).filter(|_| !reported.over) {
                // Endless connections are checked periodically.
                Some(at) => {
                    let checked = reported.checked.map_or(at, |checked| at.max(checked + CHECK_INTERVAL));
                    waiting.insert(entry.id, (key, if at < checked && tcp.is_crowded() { at } else { checked }))
                }
                None => waiting.remove(&entry.id),
            };
        });
        let mut due: Vec<_> = waiting.extract_if(|_, (_, at)| *at <= now).map(|(id, (key, _))| (id, key)).collect();
        due.sort_unstable_by_key(|&(id, _)| id);
        self.due = due.into();
    }

    /// Reports a connection in the table.
    fn report_open(&mut self, id: ConnectionId, key: &HashedKey, now: Time, ended: &mut Ended) {
        let Some(found) = self.explainer.table.find(key).filter(|found| found.id() == id) else { return };
        let reported = self.reported.get(&id).copied().unwrap_or_default();
        let open = found.value();
        let capture = open.capture();
        let tcp = open.tcp();
        let over = tcp.is_over(now);
        let copy = tcp.snapshot(key.key.to_endpoints(), now);
        let listed = Side::BOTH.map(|side| ListedTransfers { after: reported.until[side], until: copy.ended[side] });
        // Data that is not a message now may still become one.
        let until = Side::BOTH.map(|side| {
            let messages = copy.facts.directions[side].transfers.iter().rev();
            let last = messages.filter(|one| copy.facts.is_listed(side, one)).find(|one| listed[side].holds(one));
            last.map_or(reported.until[side], |last| last.seq.1)
        });
        ended.unlisted += newly_forgotten(&copy.facts, &reported);
        let forgotten = tcp.forget_transfers(until);
        if let Some(again) = copy.again.filter(|_| !over) {
            self.waiting.insert(id, (*key, again.max(now + Nanos(1))));
        }
        let pending = Pending { capture, reported, facts: copy.facts, listed, until: now, over };
        self.over += usize::from(over && !reported.over);
        let reported = self.report(pending, ended);
        self.reported.insert(id, Reported { until, forgotten, checked: Some(now), over, ..reported });
    }

    /// Adds a connection with its new transfers. Returns the reported ones.
    fn report(&mut self, pending: Pending, ended: &mut Ended) -> Reported {
        let Pending { capture, mut reported, facts, listed, until, over } = pending;
        let is_new = |side: Side| {
            let transfers = facts.directions[side].transfers.iter();
            transfers.filter(|transfer| listed[side].holds(transfer) && facts.is_listed(side, transfer)).count()
        };
        let new: usize = Side::BOTH.map(is_new).iter().sum();
        if new == 0 && !over {
            return reported;
        }
        if reported.number == 0 {
            self.numbers += 1;
            reported.number = self.numbers;
        }
        let id = ConnectionId(reported.number);
        let size = ConnectionSize { id, until, active: Nanos::ZERO, bytes: 0 };
        let account = self.explainer.accounting().account_for(size, capture, facts, listed);
        let mut connection = account.connection;
        ended.unlisted += new.saturating_sub(MAX_TRANSFERS) as u64;
        if !over {
            connection.findings.clear();
        }
        if connection.transfers.is_empty() && connection.findings.is_empty() {
            return reported;
        }
        if self.explainer.captures.len() < 2 {
            conclude::forget_files(std::slice::from_mut(&mut connection), &mut []);
        }
        connection.problems.extend(self.drops_during(&connection));
        self.window.note_summary(account.summary);
        let grown = [End::Client, End::Server].map(|end| {
            let mut of_it = connection.transfers.iter().filter(|transfer| transfer.from == end).map(|one| one.start_s);
            let last = &mut reported.last_start[end as usize];
            let grown = of_it.clone().next().is_some_and(|first| last.is_some_and(|last| first <= last));
            *last = of_it.next_back().max(*last);
            grown
        });
        ended.connections.push(EndedTransfers { connection, grown, over });
        reported
    }

    /// Problem of these transfers because packets were dropped here.
    fn drops_during(&self, connection: &Connection) -> Option<Problem> {
        let first = self.explainer.first_time?;
        let starts = connection.transfers.iter().map(|transfer| first + transfer.start_s);
        let ends = connection.transfers.iter().map(|transfer| first + transfer.start_s + transfer.duration_s);
        let (start, end) = (starts.min()?, ends.max()?);
        let during = self.drops.iter().filter(|drops| drops.until >= start && drops.from <= end);
        let packets: u64 = during.map(|drops| drops.packets).sum();
        (packets > 0).then(|| Problem::new("dropped-by-capture", packets, ProblemDetail::DroppedMeanwhile))
    }

    /// Lets the model play.
    fn predict(&mut self, ended: &mut Ended, work: u64) {
        let replays = std::mem::take(&mut self.explainer.kept.replays);
        let mut connections: Vec<Connection> = Vec::with_capacity(ended.connections.len());
        let mut marks = Vec::with_capacity(ended.connections.len());
        for EndedTransfers { connection, grown, over } in std::mem::take(&mut ended.connections) {
            connections.push(connection);
            marks.push((grown, over));
        }
        conclude::play_models(work.min(conclude::MAX_WORK), &replays, &mut connections, |plays| {
            while let Some(play) = plays.take() {
                plays.put(&play, play.play());
            }
        });
        conclude::finish(&mut connections, &mut [], self.explainer.path_rate);
        let marked = connections.into_iter().zip(marks);
        ended.connections =
            marked.map(|(connection, (grown, over))| EndedTransfers { connection, grown, over }).collect();
    }
}

/// Transfers that were dropped before they could be reported.
fn newly_forgotten(facts: &Facts, reported: &Reported) -> u64 {
    let forgotten = |side: Side| facts.directions[side].transfers_forgotten().saturating_sub(reported.forgotten[side]);
    Side::BOTH.map(forgotten).iter().sum()
}

/// A connection that may have something to report.
struct Pending {
    /// The capture in which it began.
    capture: usize,
    reported: Reported,
    facts: Facts,
    listed: [ListedTransfers; 2],
    /// No packets of it came up to this time.
    until: Time,
    over: bool,
}

impl Sink for LiveExplainer {
    #[inline(always)]
    fn packet(&mut self, packet: &Packet<'_>) {
        self.newest = self.newest.max(packet.time);
        self.explainer.packet(packet);
    }

    fn text(&mut self, clock: Clock) {
        self.explainer.text(clock);
    }

    fn left_out(&mut self, of: Option<[(IpAddr, u16); 2]>, from: Time, until: Time) {
        self.explainer.left_out(of, from, until);
    }

    fn key_log(&mut self, lines: &[u8], next_frame: u64) {
        self.explainer.key_log(lines, next_frame);
    }

    fn host_name(&mut self, address: IpAddr, name: &str, stand_in: bool) {
        self.explainer.host_name(address, name, stand_in);
    }
}

#[cfg(test)]
mod tests;
