//! Passes packets from a source to the explainer, and its reports to an output.

use super::batch::{Batch, Order};
use super::intake::Intake;
use super::keep::Keeper;
use super::source::{Reads, Source};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};
use whyslow_diagnosis::explain::live::Ended;
use whyslow_units::{Nanos, Time};

/// Interval of the batches for outputs.
const TICK: Duration = Duration::from_millis(250);
/// And how often it is looked whether something has ended, on the clock of the packets.
const LOOK: Nanos = Nanos::from_millis(250);

/// When it ends.
#[derive(Clone, Debug)]
pub(crate) struct Until {
    pub stop: Arc<AtomicBool>,
    pub at: Option<Instant>,
}

impl Until {
    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.at.is_some_and(|at| Instant::now() >= at)
    }
}

/// Packets come from the source, and batches go out, until it ends.
pub(super) fn run(
    mut intake: Intake,
    mut source: Source,
    until: &Until,
    out: &SyncSender<Batch>,
    orders: &Receiver<Order>,
) {
    let (mut next, mut looked, mut failed) = (Instant::now(), Time::MIN, None);
    loop {
        let before = intake.counts.packets;
        let reads = source.read(&mut intake).unwrap_or_else(|error| {
            failed = Some(error);
            Reads::End
        });
        intake.note_arrival(before);
        if reads == Reads::End || until.is_over() {
            break;
        }
        while let Ok(order) = orders.try_recv() {
            let first = intake.explainer.first_time().unwrap_or_default();
            if let Some(note) = intake.keeper.execute(order, first) {
                intake.note(note);
            }
        }
        // While old packets are read their own clock counts.
        let now = if reads == Reads::More { intake.explainer.newest() } else { intake.now() };
        let due = Instant::now() >= next;
        if due || now - looked >= LOOK {
            looked = now;
            let mut more = true;
            while more {
                let ended: Ended = intake.explainer.collect(now);
                more = ended.more;
                let is_news = due || !ended.connections.is_empty() || !ended.findings.is_empty();
                if is_news && out.send(intake.batch(ended, now)).is_err() {
                    return;
                }
            }
        }
        if due {
            next = Instant::now() + TICK;
        }
    }
    let finished = source.finish(&mut intake);
    let (mut last, keeper) = intake.finish(|batch| out.send(batch).is_ok());
    last.failed = failed.or(finished.err());
    let first = last.first;
    if out.send(last).is_ok() {
        execute_until_stopped(&keeper, first, until, orders);
    }
}

/// Packets in memory stay available as long as an output may ask for them.
fn execute_until_stopped(keeper: &Keeper, first: Time, until: &Until, orders: &Receiver<Order>) {
    while !until.stop.load(Ordering::Relaxed) {
        match orders.recv_timeout(TICK) {
            Ok(order) => drop(keeper.execute(order, first)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}
