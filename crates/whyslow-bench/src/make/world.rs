//! [`play`]: many connections in the order of time.

use super::Time;
use super::connection::{Connection, PassingPacket};
use super::plan::Plan;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PlayStats {
    pub(super) most_at_once: u64,
    /// Segments retransmitted, and never mind on which side of the capture point they were lost.
    pub(super) resent: u64,
}

/// Plays plans, which come in the order of their beginnings, until all are done or `see` has
/// enough.
pub(super) fn play(
    plans: impl Iterator<Item = Plan>,
    seed: u64,
    mut see: impl FnMut(&PassingPacket<'_>) -> ControlFlow<()>,
) -> PlayStats {
    let mut plans = plans.peekable();
    let mut open: Vec<Option<Box<Connection>>> = Vec::new();
    let mut free: Vec<usize> = Vec::new();
    let mut due: BinaryHeap<Reverse<(Time, u32, usize)>> = BinaryHeap::new();
    let mut played = PlayStats::default();
    loop {
        let next = due.peek().map(|Reverse((at, ..))| *at);
        if let Some(plan) = plans.next_if(|plan| next.is_none_or(|next| plan.start <= next)) {
            let place = free.pop().unwrap_or_else(|| {
                open.push(None);
                open.len() - 1
            });
            due.push(Reverse((plan.start, plan.number, place)));
            open[place] = Some(Box::new(Connection::new(plan, seed)));
            played.most_at_once = played.most_at_once.max((open.len() - free.len()) as u64);
            continue;
        }
        let Some(Reverse((now, number, place))) = due.pop() else { break };
        let Some(connection) = &mut open[place] else { continue };
        let mut enough = ControlFlow::Continue(());
        connection.step(now, &mut |seen| {
            if enough.is_continue() {
                enough = see(seen);
            }
        });
        match connection.next() {
            Some(next) if enough.is_continue() => due.push(Reverse((next, number, place))),
            _ => {
                played.resent += connection.resent();
                open[place] = None;
                free.push(place);
            }
        }
        if enough.is_break() {
            break;
        }
    }
    played.resent += open.iter().flatten().map(|connection| connection.resent()).sum::<u64>();
    played
}
