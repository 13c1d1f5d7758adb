//! [`ShardExchange`]: where explainers on different threads hand parts of the connections over.
//!
//! All stop at the same places between blocks and know who gives what to whom. Whoever gives does
//! not wait; whoever is given something waits until it is there. It promises that nobody waits for
//! ever: the one that is least far waits for none but those that are as far, which give before they
//! wait; and when one leaves before the end, nobody waits any more.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use whyslow_core::explain::{Explainer, Handover, MovedShard};

#[derive(Default)]
pub(crate) struct ShardExchange {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// With the ticket of whoever may take it: a part that goes on from there may be awaited
    /// already.
    parcels: BTreeMap<Handover, MovedShard>,
    abandoned: bool,
}

impl ShardExchange {
    /// Gives what an explainer has to give here, and waits for what it is given. Says whether all
    /// of it came.
    pub(crate) fn rebalance(&self, explainer: &mut Explainer) -> bool {
        let deal = explainer.rebalance();
        if !deal.outgoing.is_empty() {
            self.lock().parcels.extend(deal.outgoing);
            self.changed.notify_all();
        }
        deal.incoming.into_iter().all(|ticket| {
            let parcel = self.take(ticket);
            parcel.map(|parcel| explainer.accept_shard(ticket, parcel)).is_some()
        })
    }

    fn take(&self, ticket: Handover) -> Option<MovedShard> {
        let mut state = self.lock();
        loop {
            if let Some(parcel) = state.parcels.remove(&ticket) {
                return Some(parcel);
            }
            if state.abandoned {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// One of them leaves before the end.
    pub(crate) fn abandon(&self) {
        self.lock().abandoned = true;
        self.changed.notify_all();
    }

    /// Nothing is left half done under the lock, whoever panics.
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
    use whyslow_core::explain::Fragment;

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
        assert!(exchange.lock().parcels.is_empty());
    }

    /// A part goes on from whoever was given it, and those it goes on to may be far ahead.
    #[test]
    fn a_part_that_goes_on_waits_for_whoever_is_late() {
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
    fn who_leaves_leaves_nobody_waiting() {
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
        // Parts go one way here: who gives them does not wait.
        assert!(came.contains(&false), "{came:?}");
    }
}
