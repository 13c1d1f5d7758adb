//! Decides which explainer owns which shards of the flow table, and rebalances them if one
//! explainer has more to do.
//!
//! Explainers do not communicate: all see the same packets, count them alike, and reach the same
//! decision at the same packet.

use whyslow_analysis::types::ConnectionShard;
use whyslow_core::flow::{SHARDS, shard_of};

/// Packets before the first rebalance, and the longest interval; each interval is twice the one
/// before, because a balanced state mostly stays so.
const REBALANCE_INTERVAL: (u64, u64) = (1 << 13, 1 << 18);
/// Shards move if one explainer exceeds another by this part of a fair share.
const IMBALANCE: u64 = 16;

/// The shards of one explainer, and the owners of the others.
#[derive(Clone, Debug)]
pub(super) struct ShardOwners {
    own: usize,
    count: usize,
    /// The share of the connections that these explainers follow.
    share: ConnectionShard,
    /// Own shards, one bit each.
    parts: u64,
    /// Owner of each shard; for a shard outside the share, the number after the last explainer's.
    owners: [usize; SHARDS],
    /// Packets of each shard since the last rebalance.
    loads: [u64; SHARDS],
    due: u64,
    interval: u64,
}

const _: () = assert!(SHARDS == u64::BITS as usize);

impl Default for ShardOwners {
    fn default() -> Self {
        Self::new(0, 1, ConnectionShard::ALL)
    }
}

/// A shard that moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ShardMove {
    pub(super) part: usize,
    pub(super) from: usize,
    pub(super) to: usize,
}

impl ShardOwners {
    /// The shards of explainer `own` of `count`.
    pub(super) fn new(own: usize, count: usize, share: ConnectionShard) -> Self {
        let owner = |part: usize| if share.has(part) { part / share.of() % count } else { count };
        let owners = std::array::from_fn(owner);
        let mut shares = Self {
            own,
            count,
            share,
            parts: 0,
            owners,
            loads: [0; SHARDS],
            due: REBALANCE_INTERVAL.0,
            interval: REBALANCE_INTERVAL.0,
        };
        shares.note_own();
        shares
    }

    fn note_own(&mut self) {
        let own = (0..SHARDS).filter(|&part| self.owners[part] == self.own);
        self.parts = own.fold(0, |parts, part| parts | 1 << part);
    }

    /// The same explainers follow only this share of the connections.
    pub(super) fn follow(&mut self, share: ConnectionShard) {
        *self = Self::new(self.own, self.count, share);
    }

    /// Returns the connections to follow.
    pub(super) fn share(&self) -> ConnectionShard {
        self.share
    }

    /// Returns whether it counts packets that belong to no connection.
    pub(super) fn is_first(&self) -> bool {
        self.own == 0 && self.share.number() == 0
    }

    /// Returns its index.
    pub(super) fn own(&self) -> usize {
        self.own
    }

    /// Makes every call rebalance.
    #[cfg(test)]
    pub(super) fn rebalance_always(&mut self) {
        (self.due, self.interval) = (0, 0);
    }

    /// Counts a packet with this hash. Returns whether this explainer owns its connection.
    #[inline(always)]
    pub(super) fn owns(&mut self, hash: u64) -> bool {
        let part = shard_of(hash);
        self.count(part);
        self.parts >> part & 1 != 0
    }

    /// Counts a packet of this shard.
    #[inline(always)]
    pub(super) fn count(&mut self, part: usize) {
        self.loads[part % SHARDS] += 1;
    }

    /// Rebalances after this many packets, if it is due and the load was uneven. All explainers get
    /// the same moves at the same packet.
    pub(super) fn rebalance(&mut self, packets: u64) -> Vec<ShardMove> {
        if packets < self.due || self.count == 1 {
            return Vec::new();
        }
        self.interval = (2 * self.interval).min(REBALANCE_INTERVAL.1);
        self.due = packets + self.interval;
        let before = self.owners;
        self.balance();
        self.loads = [0; SHARDS];
        self.note_own();
        let moved = (0..SHARDS).filter(|&part| self.owners[part] != before[part]);
        moved.map(|part| ShardMove { part, from: before[part], to: self.owners[part] }).collect()
    }

    /// While one explainer has too much, it gives a shard to the one with the least: the shard that
    /// leaves the two most equal.
    fn balance(&mut self) {
        // The last sum is of shards that others follow.
        let mut sums = vec![0; self.count + 1];
        (0..SHARDS).for_each(|part| sums[self.owners[part]] += self.loads[part]);
        let fair = sums[..self.count].iter().sum::<u64>() / self.count as u64;
        for _ in 0..SHARDS {
            let by_sum = |&one: &usize| sums[one];
            let (most, least) = ((0..self.count).max_by_key(by_sum), (0..self.count).min_by_key(by_sum));
            let Some((most, least)) = most.zip(least) else { return };
            let gap = sums[most] - sums[least];
            let may_go = |&part: &usize| self.owners[part] == most && (1..gap).contains(&self.loads[part]);
            // The first stays where it is: all of QUIC is in it, and its reader does not move.
            let parts = (1..SHARDS).filter(may_go).min_by_key(|&part| gap.abs_diff(2 * self.loads[part]));
            let Some(part) = parts.filter(|_| gap > fair / IMBALANCE) else { return };
            self.owners[part] = least;
            sums[most] -= self.loads[part];
            sums[least] += self.loads[part];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A hash of this part.
    fn hash(part: usize) -> u64 {
        (part as u64) << 40
    }

    /// Number of packets for each of `shares`; `loads`: parts, and packets of each.
    fn fall_to(shares: &mut [ShardOwners], loads: &[(usize, u64)]) -> Vec<u64> {
        let mut sums = vec![0; shares.len()];
        for &(part, packets) in loads {
            for _ in 0..packets {
                let taken: Vec<_> = shares.iter_mut().map(|shares| shares.owns(hash(part))).collect();
                assert_eq!(taken.iter().filter(|taken| **taken).count(), 1, "each falls to one");
                (0..sums.len()).for_each(|one| sums[one] += u64::from(taken[one]));
            }
        }
        sums
    }

    #[test]
    fn overloaded_explainer_gives_shards_away() {
        let mut shares: Vec<_> = (0..2).map(|own| ShardOwners::new(own, 2, ConnectionShard::ALL)).collect();
        // All even parts fall to the first.
        let loads = [(0, 900), (2, 700), (4, 400), (6, 300), (1, 100)];
        assert_eq!(fall_to(&mut shares, &loads), [2300, 100]);
        assert!(shares[0].rebalance(REBALANCE_INTERVAL.0 - 1).is_empty(), "too soon");
        let moves: Vec<_> = shares.iter_mut().map(|shares| shares.rebalance(REBALANCE_INTERVAL.0)).collect();
        assert_eq!(moves[0], moves[1]);
        assert!(!moves[0].is_empty());
        assert_eq!(fall_to(&mut shares, &loads), [1200, 1200]);
        // An explainer with one busy shard has no shard to give away.
        assert!(shares[0].rebalance(REBALANCE_INTERVAL.0 + 2 * REBALANCE_INTERVAL.0).is_empty());
        let mut alone: Vec<_> = (0..2).map(|own| ShardOwners::new(own, 2, ConnectionShard::ALL)).collect();
        fall_to(&mut alone, &[(8, 1000)]);
        assert!(alone.iter_mut().all(|shares| shares.rebalance(REBALANCE_INTERVAL.0).is_empty()));
    }

    #[test]
    fn shard_outside_the_share_has_no_owner() {
        let share = ConnectionShard::new(1, 3).unwrap_or_default();
        let mut owners: Vec<_> = (0..2).map(|own| ShardOwners::new(own, 2, share)).collect();
        for _ in 0..3 {
            for part in 0..SHARDS {
                let taken = owners.iter_mut().filter_map(|one| one.owns(hash(part)).then_some(())).count();
                assert_eq!(taken, usize::from(part % 3 == 1), "{part}");
            }
            owners[0].loads[4] += 1_000;
            owners[1].loads[4] += 1_000;
            owners.iter_mut().for_each(|one| one.rebalance_always());
            let moves: Vec<_> = owners.iter_mut().map(|one| one.rebalance(1)).collect();
            assert!(moves[0] == moves[1] && moves[0].iter().all(|moved| moved.part % 3 == 1), "{moves:?}");
        }
        assert!(owners.iter().all(|one| !one.is_first()));
    }

    proptest! {
        #[test]
        fn all_explainers_agree_and_no_load_grows(
            count in 1usize..9,
            loads in prop::collection::vec((0..SHARDS, 0u64..300), 0..80),
        ) {
            let mut shares: Vec<_> = (0..count).map(|own| ShardOwners::new(own, count, ConnectionShard::ALL)).collect();
            let before = fall_to(&mut shares, &loads);
            let moves: Vec<_> = shares.iter_mut().map(|shares| shares.rebalance(REBALANCE_INTERVAL.0)).collect();
            prop_assert!(moves.iter().all(|of_one| *of_one == moves[0]));
            let after = fall_to(&mut shares, &loads);
            prop_assert_eq!(before.iter().sum::<u64>(), after.iter().sum::<u64>());
            prop_assert!(after.iter().max() <= before.iter().max());
        }
    }
}
