//! [`ShardExchange`]: where explainers on different threads hand over shards of connections.
//!
//! All explainers stop at the same places between blocks and agree on the exchange of shards. The
//! giver does not wait; the receiver waits until its shard is there. There is no deadlock: the
//! explainer that is furthest behind waits only for those at the same place, and they give before
//! they wait. When one leaves early, the others stop waiting.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use whyslow_diagnosis::explain::{Explainer, Handover, MovedShard};

#[derive(Default)]
pub(crate) struct ShardExchange {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// By receiver: a shard that is passed on again may already be awaited.
    shards: BTreeMap<Handover, MovedShard>,
    abandoned: bool,
}

impl ShardExchange {
    /// Gives an explainer's shards away and waits for those that it is given. Returns whether all
    /// of them came.
    pub(crate) fn rebalance(&self, explainer: &mut Explainer) -> bool {
        let moves = explainer.rebalance();
        if !moves.outgoing.is_empty() {
            self.lock().shards.extend(moves.outgoing);
            self.changed.notify_all();
        }
        moves.incoming.into_iter().all(|handover| {
            let shard = self.take(handover);
            shard.map(|shard| explainer.accept_shard(handover, shard)).is_some()
        })
    }

    fn take(&self, handover: Handover) -> Option<MovedShard> {
        let mut state = self.lock();
        loop {
            if let Some(shard) = state.shards.remove(&handover) {
                return Some(shard);
            }
            if state.abandoned {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// An explainer leaves early.
    pub(crate) fn abandon(&self) {
        self.lock().abandoned = true;
        self.changed.notify_all();
    }

    /// A panic leaves no half-finished change under this lock.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker_pool::tests::capture;
    use std::thread;
    use std::time::Duration;
    use whyslow_core::capture::Reader;
    use whyslow_diagnosis::explain::Fragment;

    /// Two explainers, after packets most of which fell to one of them.
    fn uneven() -> [Explainer; 2] {
        let file = capture(10_000);
        <[Explainer; 2]>::try_from(Explainer::sharing(2))
            .unwrap_or_else(|_| unreachable!("as many as were asked for"))
            .map(|mut explainer| {
                explainer.begin_capture("");
                assert!(Reader::new().push(&file, &mut explainer).is_ok());
                explainer
            })
    }

    #[test]
    fn what_one_gives_the_other_is_given() {
        let [mut one, mut other] = uneven();
        let exchange = ShardExchange::default();
        let came = thread::scope(|scope| {
            let waits = scope.spawn(|| exchange.rebalance(&mut other));
            thread::yield_now();
            let came = exchange.rebalance(&mut one);
            [came, waits.join().is_ok_and(|came| came)]
        });
        assert_eq!(came, [true; 2]);
        assert!(exchange.lock().shards.is_empty());
    }

    /// A shard is handed on by the explainer that received it, and the next one may be far ahead.
    #[test]
    fn a_shard_that_is_handed_on_waits_for_a_late_explainer() {
        let file = capture(130_000);
        let explained = |count: usize, late: usize| {
            let exchange = ShardExchange::default();
            let mut explainers = Explainer::sharing(count);
            thread::scope(|scope| {
                for (own, explainer) in explainers.iter_mut().enumerate() {
                    let (file, exchange) = (&file, &exchange);
                    scope.spawn(move || {
                        if own == late {
                            thread::sleep(Duration::from_millis(100));
                        }
                        explainer.begin_capture("");
                        let mut reader = Reader::new();
                        for piece in file.chunks(100_000) {
                            assert!(reader.push(piece, explainer).is_ok());
                            assert!(exchange.rebalance(explainer));
                        }
                    });
                }
            });
            let fragments = explainers.into_iter().map(Explainer::into_fragment).collect();
            format!("{:?}", Fragment::merge_all(fragments).finish().0)
        };
        let alone = explained(1, 1);
        for late in 0..5 {
            assert!(explained(5, late) == alone, "{late} was late");
        }
    }

    #[test]
    fn a_shard_that_leaves_ends_the_wait() {
        let came: Vec<_> = uneven()
            .into_iter()
            .map(|mut explainer| {
                let exchange = ShardExchange::default();
                thread::scope(|scope| {
                    let waits = scope.spawn(|| exchange.rebalance(&mut explainer));
                    thread::yield_now();
                    exchange.abandon();
                    waits.join().is_ok_and(|came| came)
                })
            })
            .collect();
        // Shards go one way here: the giver does not wait.
        assert!(came.contains(&false), "{came:?}");
    }
}
