//! Data waited in a long queue in the network, which made every round trip longer.
//!
//! ## What it is
//! Buffers much larger than the path needs fill up until something is lost. The transfer itself may
//! be as fast as the link, but all else on the link waits behind it: calls stutter, pages hang.
//!
//! ## How it is recognised
//! The round trip's 95th percentile is more than 30 ms above the least one, and round trips rise
//! and fall with the bytes in flight.
//!
//! ## What it is confused with
//! - radio links and power saving: round trips vary without regard to the flight.
//! - `delayed-ack`: single ACKs are late.
//!
//! ## The fix
//! Queue management at the bottleneck: `tc qdisc replace dev DEV root cake bandwidth RATE` or
//! fq_codel; smaller buffers; a sender with BBR keeps the queue short by itself
//! (`sysctl -w net.ipv4.tcp_congestion_control=bbr`). A server whose own socket is the queue:
//! `net.ipv4.tcp_notsent_lowat=131072`; nginx `limit_rate` and Envoy's bandwidth limit filter keep
//! bulk below the bottleneck.
//!
//! ## To see that it worked
//! While the transfer runs, `ss -tin` on the sender shows an `rtt` that stays near `minrtt`.
//!
//! ## References
//! RFC 7567, RFC 8289 (CoDel), RFC 8290 (fq_codel); Gettys and Nichols 2011.

use super::parts::{evidence, finding};
use super::rule::{Check, Rule};
use super::rule_input::TransferView;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Actor, Finding, LinkAction, LinkStatement, Measure, Remedy, Unit};
use whyslow_core::tcp::facts::RoundFacts;
use whyslow_units::Nanos;

pub(super) const RULE: Rule = Rule::new(Cause::Bufferbloat, Check::Transfer(check));

/// Minimum growth of the round trip: six times CoDel's target (RFC 8289 section 4), so that a
/// managed queue is not reported. Half and twice change 2 and 3 of 2,061 captures.
const GROWTH: Nanos = Nanos::from_millis(30);
/// Minimum number of rounds for a correlation: at five, 0.6 or more is chance one time in seven.
/// Follows from Student's t with three degrees of freedom. Half and twice change 7 and 6 of 2,061
/// captures.
const MIN_ROUNDS: usize = 5;

fn check(view: &TransferView<'_>) -> Option<Finding> {
    let least = view.context.rtt?;
    let pairs = flights_and_times(view);
    if pairs.len() < MIN_ROUNDS {
        return None;
    }
    let mut times: Vec<f64> = pairs.iter().map(|pair| pair.1).collect();
    times.sort_unstable_by(f64::total_cmp);
    let high = times[(times.len() * 95 / 100).min(times.len() - 1)];
    let growth = Nanos::from_secs_f64(high / 1e3) - least;
    let follows = correlation(&pairs);
    if growth < GROWTH || follows < 0.6 {
        return None;
    }
    let statement = LinkStatement::QueueGrew { least_s: least, most_s: least + growth };
    let mut found = finding(Cause::Bufferbloat, growth, view.trust(0.8), statement);
    found.evidence.push(evidence(Measure::MinRoundTrip, least.as_millis_f64(), Unit::Milliseconds, &[]));
    found.evidence.push(evidence(Measure::RoundTripP95, high, Unit::Milliseconds, &[]));
    found.evidence.push(evidence(Measure::FlightCorrelation, follows, Unit::One, &[]));
    let rate_bps = view.attribution.shape.steady;
    found.remedies = vec![
        Remedy::new(Actor::Network, LinkAction::ManageQueue { rate_bps }),
        Remedy::new(Actor::Network, LinkAction::ShrinkBuffer),
    ];
    Some(found)
}

/// Each round's flight in bytes and round trip in milliseconds. During loss recovery little is sent
/// while the queue stays long: such rounds do not show whether round trips follow the flight.
fn flights_and_times(view: &TransferView<'_>) -> Vec<(f64, f64)> {
    let rounds = &view.transfer.rounds;
    let repairs = |index: usize| rounds.get(index).is_some_and(|round| round.retransmitted > 0);
    // The ACK of up to two segments may be delayed (RFC 9293 section 3.8.6.3).
    let least = 2 * view.context.mss;
    let calm =
        |&(index, round): &(usize, &RoundFacts)| round.in_flight > least && !repairs(index) && !repairs(index + 1);
    rounds
        .iter()
        .enumerate()
        .filter(calm)
        .filter_map(|(index, round)| Some((round.in_flight as f64, view.round_trip(index)?.as_millis_f64())))
        .collect()
}

/// Pearson's r.
fn correlation(pairs: &[(f64, f64)]) -> f64 {
    let n = pairs.len() as f64;
    let mean = |pick: fn(&(f64, f64)) -> f64| pairs.iter().map(pick).sum::<f64>() / n;
    let (mx, my) = (mean(|p| p.0), mean(|p| p.1));
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for &(x, y) in pairs {
        xy += (x - mx) * (y - my);
        xx += (x - mx) * (x - mx);
        yy += (y - my) * (y - my);
    }
    if xx > 0.0 && yy > 0.0 { xy / (xx * yy).sqrt() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::rules::synthetic_transfer::{MSS, SyntheticTransfer, ms};
    use whyslow_analysis::cause::Cause;

    #[test]
    fn queue_grows_with_the_flight_and_a_delayed_ack_does_not() {
        let growing = |segments: &[u64]| {
            let sizes: Vec<u64> = segments.iter().map(|n| n * MSS).collect();
            let mut scene = SyntheticTransfer::flights(&sizes);
            for round in &mut scene.transfer.rounds {
                round.rtt = Some(ms(100) + ms(10 * (round.in_flight / MSS) as i64));
            }
            scene.judge(super::check)
        };
        assert_eq!(growing(&[3, 6, 9, 12, 15, 18]).unwrap().cost_s, ms(180));
        let mut messages = SyntheticTransfer::flights(&[20, 20, 20, 20, 150, 20, 20]);
        for round in &mut messages.transfer.rounds {
            round.rtt = Some(if round.in_flight > 100 { ms(143) } else { ms(101) });
        }
        assert!(messages.finding(Cause::Bufferbloat).is_none());
    }
}
