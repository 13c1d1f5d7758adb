#![allow(clippy::unwrap_used)]

use super::super::wait_promises::tests::finding;
use super::*;
use crate::compare::tests::{connection, transfer};
use crate::whatif::tests::{STEPS, slow_start};
use std::iter;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Actor, Finding, LimitingFactor, Remedy, SendingAction};
use whyslow_units::Nanos;

fn ms(millis: i64) -> Nanos {
    Nanos::from_millis(millis)
}

fn transfer_with_two_findings() -> Transfer {
    let mut transfer = transfer(100, LimitingFactor::SlowStart, &[10_000, 20_000, 40_000, 80_000, 5_000], None);
    let raise = SendingAction::RaiseInitialWindow { from: None, to: 32, cap: None, ipv6: false };
    let remedies = [raise, SendingAction::KeepWindowWhenIdle].map(|action| Remedy::new(Actor::Sender, action));
    let causes = [Cause::SlowStart, Cause::RestartAfterIdle];
    let found = causes.into_iter().zip(remedies);
    transfer.findings =
        found.map(|(cause, remedy)| Finding { remedies: vec![remedy], ..finding(cause, 300) }).collect();
    transfer.model_skipped = true;
    transfer
}

#[test]
fn slowest_transfers_are_modelled_first_for_any_parallelism() {
    let predict = |play: &dyn Fn(&mut ReplayQueue<'_>)| {
        let mut replays = Replays::default();
        let mut connections: Vec<Connection> =
            (1..=4).map(|id| connection(id, 100, vec![transfer_with_two_findings()])).collect();
        for (id, lost) in [(1, 100), (2, 400), (3, 300), (4, 200)] {
            replays.keep(ms(lost), id, connections[0].transfers[0].start_s, slow_start());
        }
        // For two of the four, and a part of the third.
        play_models(8 * STEPS, &replays, &mut connections, play);
        let transfers = connections.iter().map(|connection| &connection.transfers[0]);
        transfers.map(|it| (it.model_s, it.findings[0].predicted(), it.model_skipped)).collect::<Vec<_>>()
    };
    // `count` replays are taken before the first is put back; the last taken is put back first.
    let at_once = |count: usize| {
        predict(&|plays| {
            loop {
                let taken: Vec<_> = iter::from_fn(|| plays.take()).take(count).collect();
                taken.iter().rev().for_each(|play| plays.put(play, play.play()));
                if taken.is_empty() {
                    break;
                }
            }
        })
    };
    let (whole, cut) = ((Some(ms(500)), Some(ms(300)), false), (Some(ms(500)), Some(ms(300)), true));
    assert_eq!(at_once(1), [(None, None, true), whole, whole, cut]);
    for count in 2..6 {
        assert_eq!(at_once(count), at_once(1), "{count} at once");
    }
    // The first one takes as long as all the others together.
    let one_is_slow = predict(&|plays| {
        let first = plays.take().unwrap();
        while let Some(play) = plays.take() {
            plays.put(&play, play.play());
        }
        plays.put(&first, first.play());
    });
    assert_eq!(one_is_slow, at_once(1));
}
