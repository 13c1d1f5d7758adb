//! What each cause cost over all connections, as the core ranks them.

pub use whyslow_diagnosis::ranking::*;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::example;
    use std::cmp::Reverse;
    use whyslow_analysis::{Analysis, Cause, Finding};
    use whyslow_units::Nanos;

    #[test]
    fn causes_are_ranked_by_the_time_that_they_cost() {
        let analysis = example::many();
        let causes = by_cause(&analysis);
        assert!(causes.is_sorted_by_key(|cost| Reverse(cost.seconds)));
        let whole: Nanos = causes.iter().map(|cost| cost.seconds).sum();
        let of_connections: Nanos = analysis.connections.iter().map(cost).sum();
        assert_eq!(whole, of_connections + analysis.findings[0].cost_s);
        for cause in &causes {
            assert!(cause.connections.is_sorted_by_key(|&(id, seconds)| (Reverse(seconds), id)));
        }
        let spanning = causes.iter().find(|cost| cost.cause == Cause::NewConnectionEachTime);
        assert_eq!(spanning.map(|cost| cost.connections.len()), Some(40));
    }

    #[test]
    fn what_passed_at_the_same_time_counts_once() {
        let mut analysis = example::many();
        analysis.findings.clear();
        let seconds = |analysis: &Analysis| {
            let causes = by_cause(analysis);
            let [loss] = &causes.iter().filter(|cost| cost.cause == Cause::Loss).collect::<Vec<_>>()[..] else {
                panic!()
            };
            let each: Nanos = loss.connections.iter().map(|(_, seconds)| *seconds).sum();
            (loss.seconds, each, total_cost(analysis).elapsed(), total_cost(analysis).total())
        };
        let (apart, sum, elapsed, total) = seconds(&analysis);
        assert_eq!((apart, elapsed), (sum, total), "one after the other");
        analysis.connections.iter_mut().flat_map(|one| &mut one.transfers).for_each(|one| one.start_s = Nanos::ZERO);
        let all = analysis.connections.iter().flat_map(|one| &one.transfers);
        let longest = all.map(|one| one.duration_s).max().unwrap_or_default();
        let (together, sum_now, elapsed, total_now) = seconds(&analysis);
        assert_eq!((sum, total), (sum_now, total_now));
        assert!(together < apart && together <= longest + Nanos::from_millis(100), "{together:?}");
        assert!(elapsed < total && elapsed <= longest + Nanos::from_millis(100), "{elapsed:?}");
    }

    #[test]
    fn connection_loses_no_more_than_it_lasts_and_no_less_than_to_one_cause() {
        let mut analysis = example::analysis(vec![example::many().connections.remove(0)]);
        let one = &mut analysis.connections[0];
        let mut own = one.transfers[0].findings[0].clone();
        (own.cause, own.cost_s) = (Cause::NagleDelayedAck, one.duration_s.scale(0.9));
        one.findings = vec![own.clone(), Finding { cause: Cause::TurnTaking, ..own }];
        let (whole, lost) = (one.duration_s, cost(one));
        assert!(lost <= whole && findings(one).map(|found| found.cost_s).sum::<Nanos>() > whole, "{lost:?}");
        let total = total_cost(&analysis);
        assert!(by_cause(&analysis).iter().all(|cost| cost.seconds <= total.elapsed()), "{total:?}");
    }

    #[test]
    fn a_connection_in_two_captures_costs_its_time_once() {
        let mut both = example::both_ends();
        // The other capture's clock is an hour off, so that nothing passes at the same time.
        let other = &mut both.connections[1];
        other.start_s += Nanos::from_millis(3_600_000);
        other.transfers.iter_mut().for_each(|one| one.start_s += Nanos::from_millis(3_600_000));
        let [alone, twice] = [by_cause(&example::slow_start()), by_cause(&both)];
        let once = by_cause(&without_duplicates(&both));
        assert_eq!((once.len(), twice.len()), (alone.len(), alone.len()));
        for ((alone, twice), once) in alone.iter().zip(&twice).zip(&once) {
            assert_eq!((once.cause, once.seconds), (alone.cause, alone.seconds));
            assert_eq!(twice.seconds, alone.seconds + alone.seconds, "{}", alone.cause);
            assert_eq!((once.connections.len(), twice.connections.len()), (1, 2));
        }
    }

    #[test]
    fn what_sums_up_the_findings_of_connections_adds_nothing() {
        let mut analysis = example::many();
        let of = |analysis: &Analysis| by_cause(analysis).into_iter().find(|cost| cost.cause == Cause::Loss);
        analysis.findings.clear();
        let alone = of(&analysis);
        let mut sum = example::slow_start().connections[0].transfers[0].findings[0].clone();
        (sum.cause, sum.shared) = (Cause::Loss, true);
        sum.cost_s = alone.as_ref().map_or(Nanos::ZERO, |cost| cost.seconds);
        sum.connections = alone.iter().flat_map(|cost| &cost.connections).map(|(id, _)| *id).collect();
        analysis.findings.push(sum);
        assert!(alone.is_some());
        assert_eq!(of(&analysis), alone);
    }

    #[test]
    fn an_interactive_session_and_its_clients_own_time_rank_behind_a_bulk() {
        let mut bulk = example::slow_start().connections.remove(0);
        bulk.id = 1;
        let mut session = bulk.clone();
        session.id = 2;
        session.duration_s = Nanos::from_millis(5_000);
        session.exchanges = example::exchanges(0).split_off(1);
        session.exchanges.swap(0, 1);
        session.exchanges_total = 3;
        session.transfers[0].findings[0].cost_s = Nanos::from_millis(900);
        let mut thinking = bulk.clone();
        thinking.id = 3;
        thinking.transfers[0].findings.truncate(1);
        (thinking.transfers[0].findings[0].cause, thinking.transfers[0].findings[0].cost_s) =
            (Cause::ClientThink, Nanos::from_millis(9_000));
        let analysis = example::analysis(vec![thinking, session, bulk]);
        let order: Vec<u64> = worst(&analysis).iter().map(|connection| connection.id).collect();
        assert_eq!(order, [1, 3, 2]);
        assert_eq!(cost(&analysis.connections[0]), Nanos::ZERO);
        assert_eq!(by_cause(&analysis).last().map(|cost| cost.cause), Some(Cause::ClientThink));
    }

    #[test]
    fn the_worst_connections_come_first_and_healthy_ones_not_at_all() {
        let analysis = example::many();
        let worst = worst(&analysis);
        assert_eq!(worst.len(), 30);
        assert!(worst.is_sorted_by_key(|connection| Reverse(causes(connection)[0].1)));
        assert!(super::worst(&example::healthy()).is_empty());
    }
}
