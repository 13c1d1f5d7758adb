//! Something on the path may drop whatever exceeds a rate, and never lets it wait: a policer.
//!
//! ## What it is
//! A token bucket lets a burst pass and then a fixed rate; what comes without a token is dropped at once. Carriers and clouds police where
//! shaping would delay instead. TCP fills the bucket's rate, loses many segments in a burst, backs off below the rate, and again.
//!
//! ## How it is recognised
//! As Flach et al. do, by 15 losses or more, in three rounds or more, the first within 2 MB, and round trips at the losses no longer than
//! 1.3 times the least. Their replay of a token bucket is turned round: at each loss the bucket is empty, so that between two losses
//! exactly the policer's rate passed, copies included, whatever the sender's window did. Five stretches or more of 20 segments or more
//! must tell one rate: the upper tenth within 12 % of the median and the lower within 30 % (a bucket that overflows loses tokens).
//! Losses by chance cut the time into stretches of very different rates. The flights must rise and fall by a third or more: of a
//! sender that is held at one rate by something else, all stretches are alike.
//!
//! ## What it is confused with
//! - `bandwidth`, a shaper: the round trip grows before anything is lost.
//! - random loss: what passes between two losses is of any rate.
//! - a very short queue behaves like a policer, as it nearly is one; and so does a long one, as far as a capture next to the receiver shows
//!   without timestamps: the confidence is lower there.
//!
//! Among other traffic in the same bucket that is not in the capture a policer is missed (the paper's test finds 64 % alone on a path, and
//! few there), and `loss` is said. Where the others are in the capture, the sum of all is looked at: it is steady at the policed rate,
//! whatever each of them does, 15 segments or more are lost, and no queue grows (see `bandwidth`). One capture cannot prove it, so it is called possible.
//!
//! ## The fix
//! Ask for the policed rate and burst, or for shaping instead. A sender that paces, or shapes itself just below the rate, loses nothing: `tc
//! qdisc replace dev DEV root fq maxrate RATE`, nginx `limit_rate`, HAProxy `filter bwlim-out`, curl `--limit-rate`.
//!
//! ## To see that it worked
//! `nstat TcpRetransSegs`, run before and after a transfer on the sender, counts few segments sent
//! again.
//!
//! ## References
//! Flach et al., "An Internet-Wide Analysis of Traffic Policing", SIGCOMM 2016; RFC 2697, RFC 2698.

use super::bandwidth::queue_is_hidden;
use super::say::{evidence, finding, fix, rate, thousands, time};
use super::{Check, Rule, TransferCase};
use crate::analysis::{Actor, Finding, Limit};
use crate::limit::Between;
use crate::units::Nanos;

pub(super) const RULE: Rule =
    Rule { slug: "policer", source: include_str!("policer.rs"), check: Check::Transfer(check) };

/// The paper's thresholds.
const LEAST_LOSSES: usize = 15;
const LEAST_ROUNDS: usize = 3;
const LATEST_FIRST: u64 = 2_000_000;
/// By so much large flights exceed small ones.
const SWING: f64 = 1.33;
/// A share of the time that other limits may hold the sender.
const OTHERS: f64 = 0.3;
/// Losses in a burst, on average: they are more often alone where they come by chance.
const BURST: f64 = 1.5;
/// Next to a receiver without timestamps a full queue loses in the same way.
const HIDDEN: f64 = 0.4;

/// Whether the losses fit a policer; then the rest of the rules need not explain them.
pub(super) fn is_policed(case: &TransferCase<'_>) -> bool {
    fits(case).is_some()
}

fn fits(case: &TransferCase<'_>) -> Option<Between> {
    let transfer = case.transfer;
    let between = case.partition.shape.between.filter(|between| !between.queued)?;
    let lossy = transfer.rounds.iter().filter(|round| round.resent > 0).count();
    if transfer.losses.len() < LEAST_LOSSES || lossy < LEAST_ROUNDS {
        return None;
    }
    let late = transfer.losses.iter().map(|loss| loss.seq).min()? > transfer.seq.0 + LATEST_FIRST;
    // Where packets pass at one rate all along a link may be full, and lose by chance besides.
    let full = case.partition.shape.steady.is_some() && between.burst < BURST;
    let others = [
        Limit::ReceiveWindow,
        Limit::ZeroWindow,
        Limit::SenderCap,
        Limit::ProtocolWindow,
        Limit::Application,
        Limit::Pacing,
    ];
    let held: Nanos = others.into_iter().map(|limit| case.time(limit)).sum();
    (!late && !full && case.share(held) <= OTHERS && swings(case)).then_some(between)
}

/// Flights rise and fall.
fn swings(case: &TransferCase<'_>) -> bool {
    let mut flights: Vec<u64> =
        case.transfer.rounds.iter().map(|round| round.in_flight).filter(|&bytes| bytes > 0).collect();
    flights.sort_unstable();
    let at = |tenth: usize| flights.get(flights.len() * tenth / 10).copied().unwrap_or_default() as f64;
    at(9) >= SWING * at(1)
}

fn check(case: &TransferCase<'_>) -> Option<Finding> {
    let between = fits(case)?;
    let limits = [Limit::LossRecovery, Limit::Timeout, Limit::Bandwidth, Limit::CongestionAvoidance];
    let lost: Nanos = limits.into_iter().map(|limit| case.time(limit)).sum();
    if !case.matters(lost, 0.1) {
        return None;
    }
    let number = case.transfer.losses.len() as u64;
    let hidden = queue_is_hidden(case);
    let summary = format!(
        "a policer is possible: {} segments were lost, and between losses always {} passed, {}: {} of {}",
        thousands(number),
        rate(between.rate),
        if hidden { "and whether a queue grew cannot be seen here" } else { "though no queue grew" },
        time(lost),
        time(case.duration()),
    );
    let confidence = if between.burst >= BURST { 0.65 } else { 0.55 };
    let confidence = if hidden { HIDDEN } else { confidence };
    let mut found = finding("policer", lost, case.trust(confidence), summary);
    let frames: Vec<_> = case.transfer.resent_frames.iter().copied().take(6).collect();
    found.evidence.push(evidence("losses", number as f64, "segments", &frames));
    found.evidence.push(evidence("of them in a burst, on average", between.burst, "segments", &[]));
    found.evidence.push(evidence("rate at which bytes passed between losses", between.rate, "bit/s", &[]));
    found.evidence.push(evidence("lower tenth of it", between.low, "bit/s", &[]));
    found.evidence.push(evidence("upper tenth of it", between.high, "bit/s", &[]));
    found.evidence.push(evidence("stretches between losses", between.stretches as f64, "stretches", &[]));
    found.fix = fix(
        Actor::Network,
        format!(
            "ask for more than {} or for shaping instead of policing; until then shape or pace the sender below it",
            rate(between.rate)
        ),
        Some(format!(
            "setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &(unsigned){{{:.0}}}, sizeof(unsigned))",
            between.rate * 0.95 / 8.0
        )),
    );
    let alike = if hidden {
        "a full queue looks alike here: capture at the sender"
    } else {
        "a very short queue looks alike: ask the carrier"
    };
    found.settle = Some(format!("{alike}, or send at a constant rate below and above it"));
    Some(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::rules::scene::{MSS, Scene, ms};
    use crate::tcp::facts::Loss;
    use crate::units::Nanos;

    /// Fifty flights of 8 and 4 segments in turn; two losses at each of these times, between which 60 segments a second passed.
    fn policed() -> Scene {
        let mut scene = Scene::flights(&[8 * MSS, 4 * MSS].repeat(25));
        for (nth, at) in [400, 900, 1_300, 2_000, 2_600, 3_100, 3_900, 4_500].into_iter().enumerate() {
            scene.transfer.rounds[at as usize / 100].resent = 2;
            for again in 0..2 {
                let time = ms(1_000 + at);
                let sent = (60 * at as u64 / 1_000 + 2 * nth as u64 + again) * MSS;
                let seq = sent + 1;
                scene.transfer.losses.push(Loss {
                    time,
                    until: time,
                    seq,
                    bytes: MSS,
                    sent,
                    unseen: false,
                    needless: false,
                });
            }
        }
        scene
    }

    #[test]
    fn where_no_queue_can_be_seen_none_is_denied() {
        let found = policed().finding("policer").unwrap();
        assert!(found.summary.contains("though no queue grew") && found.confidence == 0.65, "{}", found.summary);
        let mut receiver = policed();
        receiver.facts.vantage.toward = [Some(Nanos::ZERO), Some(ms(100))];
        assert_eq!(receiver.finding("policer").unwrap().confidence, 0.65, "timestamps tell");
        receiver.facts.handshake.offers.iter_mut().flatten().for_each(|offer| offer.timestamps = false);
        let found = receiver.finding("policer").unwrap();
        assert!(found.summary.contains("whether a queue grew cannot be seen here"), "{}", found.summary);
        assert!(found.confidence == 0.4 && found.settle.unwrap().contains("capture at the sender"));
    }
}
