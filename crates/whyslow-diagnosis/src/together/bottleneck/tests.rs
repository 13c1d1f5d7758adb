#![allow(clippy::unwrap_used)]

use super::*;
use crate::together::synthetic_transfer::{flow, ms};
use whyslow_analysis::End;

/// Two flows over a link of 20 Mbit/s: at each time the second gets the rest of the first.
fn sawtooth(n: usize) -> f64 {
    6.0 + (n % 12) as f64
}

fn pair_rates() -> Vec<f64> {
    (0..40).map(sawtooth).collect()
}

fn pair() -> [Flow; 2] {
    let one = pair_rates();
    let two: Vec<f64> = one.iter().map(|rate| 20.0 - rate).collect();
    [flow(1, 0, &one), flow(2, 0, &two)]
}

fn shared(flows: &[Flow]) -> Vec<(usize, f64)> {
    find(flows.iter()).iter().map(|found| (found.parts.len(), found.sure)).collect()
}

#[test]
fn rate_lost_by_one_flow_is_gained_by_the_other() {
    let flows = pair();
    let [found] = find(flows.iter()).try_into().unwrap();
    assert_eq!(found.sure, 0.85);
    assert!(found.rate.iter().all(|rate| (rate - 20e6).abs() < 1e4), "{:?}", found.rate);
    assert_eq!((found.time(), found.parts.len()), (ms(2_000), 2));
    assert!(found.parts[0].rate > 10e6 && (found.parts[0].rate + found.parts[1].rate - 20e6).abs() < 1e4);
}

#[test]
fn independent_flows_share_nothing() {
    let mut flows = pair();
    // Each with a rhythm of its own.
    let rates: Vec<f64> = (0..40).map(|n| sawtooth(n * 7 / 5 + 3)).collect();
    flows[1] = flow(2, 0, &rates);
    assert_eq!(shared(&flows), []);
    // Each with a rate of its own, and no queue: windows, or pacing.
    let mut steady = [flow(1, 0, &[5.0; 40]), flow(2, 0, &[7.0; 40])];
    for flow in &mut steady {
        (flow.queued, flow.lost) = (false, 0);
    }
    assert_eq!(shared(&steady), []);
    // And with queues, each its own: the first one has no less with the other than alone.
    let own = [flow(1, 0, &[5.0; 40]), flow(2, 1_000, &[5.0; 40])];
    assert_eq!(shared(&own), []);
}

#[test]
fn losses_without_a_queue_need_stronger_compensation() {
    let mut flows = pair();
    flows.iter_mut().for_each(|flow| flow.queued = false);
    assert_eq!(shared(&flows), [(2, 0.85)], "the sum does not vary at all");
    flows.iter_mut().for_each(|flow| flow.lost = 0);
    assert_eq!(shared(&flows), [], "nothing was full");
    // A sum that varies by a third of the random variation.
    let one: Vec<f64> = (0..40).map(|n| 9.0 + (n % 7) as f64 / 2.0).collect();
    let two: Vec<f64> = (0..40).map(|n| 20.0 - one[n] + if n % 5 < 2 { 1.5 } else { -1.5 }).collect();
    let mut flows = [flow(1, 0, &one), flow(2, 0, &two)];
    assert_eq!(shared(&flows), [(2, 0.85)]);
    flows.iter_mut().for_each(|flow| flow.queued = false);
    assert_eq!(shared(&flows), []);
}

#[test]
fn later_flow_takes_rate_from_the_earlier() {
    // 20 Mbit/s alone, 12 with the other one, 20 again; the rates themselves do not vary.
    let one = [[20.0; 15], [12.0; 15], [20.0; 15]].concat();
    let flows = [flow(1, 0, &one), flow(2, 750, &[8.0; 15])];
    let [found] = find(flows.iter()).try_into().unwrap();
    assert_eq!((found.sure, found.time()), (0.85, ms(750)));
    assert!(found.parts.iter().all(|part| !part.keeps));
}

#[test]
fn freed_rate_is_taken_up_with_a_delay() {
    // Three in one queue, each at a rate that hardly varies; one ends, and the others go on as they
    // were for 7 or for 19 round trips.
    let others = |more: usize| [vec![5.2; 40 + more], vec![4.6; 40 + more]];
    let after = |more: usize| {
        let [two, three] = others(more);
        shared(&[flow(1, 0, &[6.2; 40]), flow(2, 0, &two), flow(3, 0, &three)])
    };
    assert_eq!(after(7), [(3, 0.75)]);
    assert_eq!(after(19), [], "they have nothing to do with it");
}

#[test]
fn flow_without_gain_when_alone_has_another_limit() {
    let bulk: Vec<f64> = [vec![20.0; 15], vec![16.0; 30]].concat();
    let flows = [flow(1, 0, &bulk), flow(2, 750, &[4.0; 60])];
    let [found] = find(flows.iter()).try_into().unwrap();
    assert_eq!(
        found.parts.iter().map(|part| (part.flow.connection, part.keeps)).collect::<Vec<_>>(),
        [(1, false), (2, true)]
    );
}

#[test]
fn remaining_flow_reaches_its_rate_after_a_while() {
    let keeps = |more: usize| {
        let all = [flow(1, 0, &[pair_rates(), vec![5.0; more]].concat()), pair()[1].clone()];
        let [found] = find(all.iter()).try_into().unwrap();
        found.parts.iter().find(|part| part.flow.connection == 1).unwrap().keeps
    };
    // For 0.7 s, 14 round trips; for 1.5 s.
    assert!(!keeps(14) && keeps(30));
}

#[test]
fn equal_parts_in_one_queue_are_likely_fair_queueing() {
    let mut flows = [flow(1, 0, &[5.0; 40]), flow(2, 0, &[5.1; 40])];
    assert_eq!(shared(&flows), [(2, 0.75)], "neither kept to a rate by itself");
    flows.iter_mut().for_each(|flow| flow.steady = true);
    assert_eq!(shared(&flows), [(2, 0.6)]);
    flows[1] = Flow { steady: true, ..flow(2, 0, &[8.0; 40]) };
    assert_eq!(shared(&flows), []);
    // Round trips may be long for another reason, where nothing overflows.
    flows.iter_mut().for_each(|flow| (flow.steady, flow.lost) = (false, 0));
    assert_eq!(shared(&flows), []);
    flows.iter_mut().for_each(|flow| flow.lost = 3);
    // From another host less is known.
    flows[1] = Flow { sender: [198, 51, 100, 2].into(), ..flow(2, 0, &[5.1; 40]) };
    assert_eq!(shared(&flows), []);
}

#[test]
fn access_line_is_shared_by_all_peers_of_a_host() {
    let mut flows = pair();
    flows[1].sender = [198, 51, 100, 2].into();
    assert_eq!(shared(&flows), [(2, 0.85)]);
    // In the middle the hosts' lines are unknown.
    flows.iter_mut().for_each(|flow| flow.near = Near::Middle);
    assert_eq!(shared(&flows), []);
    // Nor do uploads share it with downloads.
    let mut both_ways = pair();
    (both_ways[1].sender, both_ways[1].receiver) = (both_ways[0].receiver, both_ways[0].sender);
    both_ways[1].from = End::Client;
    assert_eq!(shared(&both_ways), []);
}

#[test]
fn initial_slow_start_is_not_shared_time() {
    let mut one: Vec<f64> = (0..40).map(sawtooth).collect();
    let mut two: Vec<f64> = one.iter().map(|rate| 20.0 - rate).collect();
    for (n, share) in [0.1, 0.2, 0.4, 0.7].into_iter().enumerate() {
        (one[n], two[n]) = (one[n] * share, two[n] * share);
    }
    let flows = [flow(1, 0, &one), flow(2, 0, &two)];
    let [found] = find(flows.iter()).try_into().unwrap();
    let [(from, to)] = found.spans[..] else { panic!("{:?}", found.spans) };
    assert!((ms(100)..=ms(250)).contains(&from) && to == ms(2_000), "{from:?} {to:?}");
}

#[test]
fn small_or_short_flow_has_no_part() {
    let mut all = pair().to_vec();
    all.push(flow(3, 0, &[0.2; 40]));
    assert_eq!(shared(&all), [(2, 0.85)]);
    let short = [flow(1, 0, &[12.0; 7]), flow(2, 0, &[8.0; 7])];
    assert_eq!(shared(&short), []);
    let apart = [flow(1, 0, &[20.0; 40]), flow(2, 2_100, &[20.0; 40])];
    assert_eq!(shared(&apart), []);
}

#[test]
fn sequential_bottlenecks_have_separate_times() {
    let three =
        [flow(1, 0, &[1.0; 10]), flow(2, 400, &[1.0; 10]), flow(3, 2_000, &[1.0; 10]), flow(4, 2_100, &[1.0; 2])];
    let spans = together(&three.iter().collect::<Vec<_>>());
    assert_eq!(spans, [(ms(400), ms(500)), (ms(2_100), ms(2_200))]);
    assert_eq!(overlapping(three.iter().collect()).iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
}

#[test]
fn transfers_of_a_connection_are_compared_as_one() {
    // The second connection has its bytes in five responses, each too short to show anything by
    // itself.
    let [one, two] = pair();
    let mut flows = vec![one];
    let rates: Vec<f64> = (0..40).map(|n| 20.0 - sawtooth(n)).collect();
    flows.extend(rates.chunks(8).zip(0..).map(|(part, n)| flow(2, 400 * n, part)));
    let [found] = find(flows.iter()).try_into().unwrap();
    assert_eq!((found.sure, found.parts.len(), found.time()), (0.85, 6, two.span().1));
}

#[test]
fn bottleneck_met_again_is_joined() {
    let [one, two] = pair();
    let later = |flow: &Flow| {
        let curve = flow.curve.iter().map(|&(time, bytes)| (time + ms(3_000), bytes)).collect();
        Flow { start: ms(3_000), curve, ..flow.clone() }
    };
    let flows = [later(&one), later(&two), one, two];
    let [found] = find(flows.iter()).try_into().unwrap();
    assert_eq!((found.parts.len(), found.time(), found.spans.len()), (4, ms(4_000), 2));
    // At another rate it may be another one.
    let slow = |flow: &Flow| Flow { curve: flow.curve.iter().map(|&(t, b)| (t, b / 2)).collect(), ..flow.clone() };
    let flows = [slow(&flows[0]), slow(&flows[1]), flows[2].clone(), flows[3].clone()];
    assert_eq!(find(flows.iter()).len(), 2);
}

#[test]
fn remaining_flows_gain_the_rate_of_ended_ones() {
    // Three at rates that do not vary, then two, with the same sum.
    let rates = |shared_rate: f64, then: f64| [[shared_rate; 15], [then; 15]].concat();
    let mut flows = vec![flow(1, 0, &rates(8.0, 11.0)), flow(2, 0, &rates(6.0, 9.0)), flow(3, 0, &[6.0; 15])];
    assert_eq!(shared(&flows), [(3, 0.85)]);
    flows[0] = flow(1, 0, &rates(8.0, 8.0));
    flows[1] = flow(2, 0, &rates(6.0, 6.0));
    assert_eq!(shared(&flows), [], "the third one's rate was not taken up");
}

#[test]
fn independently_varying_flows_share_nothing() {
    // A sum that is steady enough, of independent rates.
    let one: Vec<f64> = (0..40).map(|n| if n / 5 % 2 == 0 { 10.0 } else { 11.5 }).collect();
    let two: Vec<f64> = (0..40).map(|n| if n / 8 % 2 == 0 { 10.0 } else { 11.5 }).collect();
    assert_eq!(shared(&[flow(1, 0, &one), flow(2, 0, &two)]), []);
}

#[test]
fn last_flows_may_not_fill_the_link() {
    let last: Vec<f64> = (0..50).map(|n| if n < 40 { sawtooth(n) } else { 3.0 }).collect();
    let two: Vec<f64> = (0..50).map(|n| if n < 40 { 20.0 - sawtooth(n) } else { 4.0 }).collect();
    let flows = [flow(1, 0, &last), flow(2, 0, &two)];
    let [found] = find(flows.iter()).try_into().unwrap();
    assert!((ms(1_900)..=ms(2_150)).contains(&found.time()), "{:?}", found.spans);
    assert!(found.rate[0] > 15e6, "{:?}", found.rate);
}
