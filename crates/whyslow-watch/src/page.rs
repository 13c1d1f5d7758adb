//! [`Page`]: reports on a page that is updated live.

use super::batch::{Batch, Counts, Order};
use super::choice::Choice;
use super::feed::Until;
use super::lines;
use super::record::Record;
use super::tally::{Table, Tally};
use anyhow::Context;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use whyslow_analysis::{Connection, Problem};
use whyslow_io::Scratch;
use whyslow_serve::live::{
    EndedTransfer, HeldPackets, Live, LiveState, LiveUpdate, LossTables, NamedLoss, Rates, SharedFinding,
};
use whyslow_serve::{Server, Stopper};
use whyslow_units::{Nanos, Time, iso_8601};

/// Minimum time between two updates of the page.
const EVERY: Duration = Duration::from_millis(200);
/// Rates are those of this time, on the clock of the packets.
const OF_LATE: Nanos = Nanos::from_millis(5_000);
/// Time limit for a copy of packets.
const PATIENCE: Duration = Duration::from_secs(10);
/// Findings of connections together, and notes, of which the newest are shown.
const FEW: usize = 20;

/// The page, and the reports that it has not received.
pub(super) struct Page {
    live: Arc<Live>,
    server: JoinHandle<()>,
    stopper: Stopper,
    url: String,
    top: usize,
    pending: Vec<EndedTransfer>,
    updated: Option<Instant>,
    samples: VecDeque<(Time, Counts, u64)>,
    together: VecDeque<SharedFinding>,
    notes: VecDeque<String>,
    failure: Option<String>,
}

impl Page {
    /// Serves a page with the title `name` on this port of 127.0.0.1; 0 is any free one.
    ///
    /// # Errors
    /// When the port cannot be had, or the program was built without the page.
    pub(super) fn open(port: u16, name: String, orders: Sender<Order>, top: usize) -> anyhow::Result<Self> {
        let server = Server::bind(port, Scratch::default())?;
        let supply = move |connection: &Connection, process: Option<&str>| packets(&orders, connection, process);
        let live = Arc::new(Live::new(name, Box::new(supply)));
        server.follow(Arc::clone(&live));
        let (stopper, url) = (server.stopper(), server.url());
        let server = thread::Builder::new().name("page".to_owned()).spawn(move || server.run()).context("--view")?;
        let (pending, samples, together, notes) = (Vec::new(), VecDeque::new(), VecDeque::new(), VecDeque::new());
        Ok(Self { live, server, stopper, url, top, pending, updated: None, samples, together, notes, failure: None })
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Adds the reports of a batch; `tally` has the sums.
    pub(super) fn add(&mut self, batch: &Batch, choice: &Choice, tally: &mut Tally, problems: &[Problem]) {
        let shown = batch.records.iter().filter(|record| choice.concerns(record) && choice.lists(record));
        self.pending.extend(shown.map(ended));
        let time = lines::clock(batch.now);
        let found = batch.together.iter().map(|finding| SharedFinding::new(time.clone(), finding.clone()));
        self.together.extend(found);
        self.notes.extend(batch.notes.iter().cloned());
        newest(&mut self.together);
        newest(&mut self.notes);
        self.failure = self.failure.take().or(batch.failed.as_ref().map(|error| format!("{error:#}")));
        if batch.done || self.updated.is_none_or(|updated| updated.elapsed() >= EVERY) {
            self.updated = Some(Instant::now());
            let state = self.state(batch, tally, problems);
            self.live.update(LiveUpdate { transfers: std::mem::take(&mut self.pending), state });
        }
    }

    fn state(&mut self, batch: &Batch, tally: &mut Tally, problems: &[Problem]) -> LiveState {
        let Counts { packets, bytes, connections, drops, unlisted, .. } = batch.counts;
        let has_begun = packets > 0;
        LiveState {
            is_over: batch.done,
            failure: self.failure.clone(),
            first_time: has_begun.then(|| iso_8601(batch.first)),
            elapsed_s: if has_begun { (batch.now - batch.first).or_zero() } else { Nanos::ZERO },
            packets,
            bytes,
            connections,
            dropped_by_ring: drops.ring,
            dropped_by_interface: drops.interface,
            cut_packets: drops.cut,
            transfers: tally.transfers,
            transfers_with_cause: tally.slow,
            transfers_not_listed: unlisted,
            rates: self.rates(batch, tally.transfers),
            minute: tables(&tally.minute(batch.now), self.top),
            total: tables(&tally.total, self.top),
            together: self.together.iter().cloned().collect(),
            notes: self.notes.iter().cloned().collect(),
            problems: problems.to_vec(),
        }
    }

    /// The latest rates, a second.
    fn rates(&mut self, batch: &Batch, transfers: u64) -> Rates {
        self.samples.push_back((batch.now, batch.counts, transfers));
        while self.samples.get(1).is_some_and(|(time, ..)| *time + OF_LATE <= batch.now) {
            self.samples.pop_front();
        }
        let Some((time, counts, before)) = self.samples.front() else { return Rates::default() };
        let seconds = (batch.now - *time).as_secs_f64();
        if seconds <= 0.0 {
            return Rates::default();
        }
        let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
        Rates {
            packets: rate(batch.counts.packets, counts.packets),
            bits: 8.0 * rate(batch.counts.bytes, counts.bytes),
            transfers: rate(transfers, *before),
        }
    }

    /// Stays until it is ended.
    pub(super) fn stay(&self, until: &Until) {
        while !until.stop.load(Ordering::Relaxed) && !self.server.is_finished() {
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// No browser can see it any more.
    pub(super) fn close(self) {
        self.stopper.stop();
        let _ = self.server.join();
    }
}

fn newest<T>(list: &mut VecDeque<T>) {
    list.drain(..list.len().saturating_sub(FEW));
}

fn ended(record: &Record) -> EndedTransfer {
    EndedTransfer {
        connection: record.connection.clone(),
        process: record.holders.process().map(str::to_owned),
        revised: record.revised,
        took: record.took(),
        lost: record.lost(),
    }
}

fn tables(table: &Table, top: usize) -> LossTables {
    let causes = table.worst_causes(top).into_iter();
    let servers = table.worst_servers(top).into_iter();
    LossTables {
        causes: causes
            .map(|(name, loss)| NamedLoss { name, seconds: loss.seconds, transfers: loss.transfers })
            .collect(),
        servers: servers
            .map(|(name, loss)| NamedLoss { name: name.to_owned(), seconds: loss.seconds, transfers: loss.transfers })
            .collect(),
    }
}

/// Copies of a connection's packets, from the thread that has them.
fn packets(orders: &Sender<Order>, connection: &Connection, process: Option<&str>) -> Result<HeldPackets, String> {
    let (reply, packets) = channel();
    let order = Order::Packets(Box::new(connection.clone()), process.map(str::to_owned), reply);
    orders.send(order).map_err(|_| "the watch has ended")?;
    packets.recv_timeout(PATIENCE).map_err(|_| "whoever has the packets does not answer")?
}
