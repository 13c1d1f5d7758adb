//! Data of large transfers, to compare them with others that ran at the same time.
//!
//! A list of bounded length: the transfers that carried most, whatever their connections and the
//! order in which these ended.

use crate::estimate::INFLATED_RTT;
use crate::rules::TransferView;
use borsh::{BorshDeserialize, BorshSerialize};
use std::net::IpAddr;
use whyslow_analysis::{End, Frame, Near};
use whyslow_units::{Nanos, Time};

/// Maximum number of flows that are kept. Follows from the bound on work: pairs of them are
/// compared.
pub const MAX_FLOWS: usize = 256;
/// Minimum number of points of a flow's curve, as of a steady rate (`STEADY_BINS`). Half and twice
/// change none of 2,061 captures.
const MIN_POINTS: usize = 8;
/// A queue is seen by round trips that are longer than [`INFLATED_RTT`] of the minimum if by more
/// than the first (twice `MIN_SEEN`), or by the second (as for `bufferbloat`). Follows from both.
const LONGER: (Nanos, Nanos) = (Nanos::from_millis(2), Nanos::from_millis(30));
/// Minimum number of round trips that show whether a queue grew: a median with one on each side.
/// Half and twice change none of 2,061 captures.
const MIN_TRIPS: usize = 3;
/// No queue grew if the longer round trips exceed the minimum by at most this share, or by less
/// than clocks and schedulers add. Half and twice change none of 2,061 captures.
const FLAT: f64 = 0.1;

/// A large transfer.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Flow {
    /// The connection's id, and the start of its transfer, as in
    /// [`Transfer`](whyslow_analysis::Transfer).
    pub connection: u64,
    pub start: Nanos,
    pub from: End,
    pub sender: IpAddr,
    pub receiver: IpAddr,
    pub near: Near,
    pub bytes: u64,
    pub mss: u64,
    /// Typical round trip, a queue included, …
    pub rtt: Nanos,
    /// … and the excess of the longer ones over the minimum: the delay that its queue adds for
    /// others.
    pub delay: Nanos,
    /// Round trips were longer than the path needs, or packets were marked.
    pub queued: bool,
    /// Round trips were the path's minimum, so that no queue grew.
    pub flat: bool,
    /// It kept to one rate by itself.
    pub steady: bool,
    /// Segments that were retransmitted because they were lost.
    pub lost: u64,
    pub frames: (Frame, Frame),
    /// Delivered bytes over time: time from the capture's first packet, and bytes since the first
    /// point.
    pub curve: Vec<(Nanos, u64)>,
}

impl Flow {
    /// Whether a transfer has enough data to be compared.
    fn is_large(view: &TransferView<'_>) -> bool {
        let facts = view.facts;
        let is_known = !(facts.timeless || !facts.elided.is_empty() || facts.capture_defects.one_direction);
        view.transfer.delivered.len() >= MIN_POINTS && is_known && view.context.rtt.is_some()
    }

    /// Flow of the connection `id`. Times count from `first`.
    fn of(view: &TransferView<'_>, id: u64, first: Time) -> Option<Self> {
        let (facts, transfer) = (view.facts, view.transfer);
        let curve = &transfer.delivered;
        let least = view.context.rtt?;
        let mut trips: Vec<Nanos> = (0..transfer.rounds.len())
            .filter_map(|index| view.round_trip(index))
            .filter(|&trip| trip >= least)
            .collect();
        trips.sort_unstable();
        let at = |tenth: usize| trips.get(trips.len() * tenth / 10).copied();
        let rtt = at(5).unwrap_or(least);
        let delay = at(9).map_or(Nanos::ZERO, |trip| trip - least);
        let marked = transfer.ecn_echoes > 0 || transfer.marked > 0;
        let kinds = &transfer.retransmitted;
        let sender = facts.endpoints[view.sender].0;
        Some(Self {
            connection: id,
            start: transfer.start - first,
            from: if view.sender == facts.client { End::Client } else { End::Server },
            sender,
            receiver: facts.endpoints[!view.sender].0,
            near: facts.vantage.near,
            bytes: transfer.bytes(),
            mss: view.context.mss,
            rtt,
            delay,
            queued: marked || rtt > least.scale(INFLATED_RTT).max(least + LONGER.0).min(least + LONGER.1),
            flat: !marked
                && !view.context.hides_queue()
                && trips.len() >= MIN_TRIPS
                && delay <= least.scale(FLAT).max(LONGER.0),
            steady: view.attribution.shape.steady.is_some(),
            lost: kinds.fast + kinds.timeout + kinds.tail_probe,
            frames: transfer.frames,
            curve: curve.iter().map(|&(time, bytes)| (time - first, bytes)).collect(),
        })
    }

    /// From the first point of its curve to the last.
    pub fn span(&self) -> (Nanos, Nanos) {
        let at = |point: Option<&(Nanos, u64)>| point.map_or(Nanos::ZERO, |point| point.0);
        (at(self.curve.first()), at(self.curve.last()))
    }

    /// Bytes that had arrived by then, on a straight line between the points.
    pub fn by(&self, time: Nanos) -> f64 {
        let behind = self.curve.partition_point(|point| point.0 <= time);
        match (behind.checked_sub(1).and_then(|before| self.curve.get(before)), self.curve.get(behind)) {
            (None, _) => 0.0,
            (Some(last), None) => last.1 as f64,
            (Some(&(t0, b0)), Some(&(t1, b1))) => {
                let share = (time - t0).0 as f64 / (t1 - t0).0.max(1) as f64;
                b0 as f64 + share * b1.saturating_sub(b0) as f64
            }
        }
    }

    /// It made a queue that others may have stood in, if not all the time: one that overflowed.
    pub fn makes_queue(&self) -> bool {
        self.delay > Nanos::ZERO && (self.queued || (!self.flat && self.lost > 0))
    }

    /// Bits that arrived between the two.
    pub fn bits(&self, from: Nanos, to: Nanos) -> f64 {
        (self.by(to) - self.by(from)) * 8.0
    }
}

/// The largest transfers.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
pub struct LargestFlows {
    /// The largest first.
    kept: Vec<Flow>,
    /// How many were offered.
    offered: u64,
}

impl LargestFlows {
    /// Adds a transfer of the connection `id`, if it is one of the largest. Times count from
    /// `first`.
    pub(crate) fn offer(&mut self, view: &TransferView<'_>, id: u64, first: Time) {
        if !Flow::is_large(view) {
            return;
        }
        self.offered += 1;
        let (bytes, start) = (view.transfer.bytes(), view.transfer.start - first);
        let wanted = self.kept.len() < MAX_FLOWS
            || self.kept.last().is_some_and(|last| rank(last) > (rank_of(bytes), id, start));
        if wanted && let Some(flow) = Flow::of(view, id, first) {
            self.put(flow);
        }
    }

    /// The kept ones do not depend on the order of the connections.
    fn put(&mut self, new: Flow) {
        let at = self.kept.partition_point(|kept| rank(kept) < rank(&new));
        self.kept.insert(at, new);
        self.kept.truncate(MAX_FLOWS);
    }

    /// Takes over the flows of another one, of other connections.
    pub(crate) fn merge(&mut self, other: Self) {
        other.kept.into_iter().for_each(|flow| self.put(flow));
        self.offered += other.offered;
    }

    /// Gives the connections other ids, and drops those that get none.
    pub(crate) fn renumber(&mut self, id: impl Fn(u64) -> Option<u64>) {
        self.kept.retain_mut(|flow| id(flow.connection).map(|id| flow.connection = id).is_some());
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Flow> {
        self.kept.iter()
    }

    /// How many were too many to be kept: they carried less than any that was.
    pub(crate) fn let_go(&self) -> u64 {
        self.offered.saturating_sub(MAX_FLOWS as u64)
    }

    #[cfg(test)]
    pub(crate) fn of(flows: Vec<Flow>) -> Self {
        let mut all = Self { offered: flows.len() as u64, ..Self::default() };
        flows.into_iter().for_each(|flow| all.put(flow));
        all
    }
}

type Rank = (std::cmp::Reverse<u64>, u64, Nanos);

fn rank_of(bytes: u64) -> std::cmp::Reverse<u64> {
    std::cmp::Reverse(bytes)
}

fn rank(flow: &Flow) -> Rank {
    (rank_of(flow.bytes), flow.connection, flow.start)
}
