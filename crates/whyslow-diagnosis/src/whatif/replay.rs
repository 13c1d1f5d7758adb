//! A captured transfer as the model's [`Scenario`].
//!
//! The properties of the sender, the receiver and the path come from the capture: the first flight,
//! the growth of flights and its end, the advertised windows, a plateau's size, the rate, lost
//! segments by their place, and the silences that no window explains. Properties that it does not
//! show (the congestion controller, whether a rate ever mattered) are tried, and the variant
//! closest to the measured time is kept.

use super::carried_window::CarriedWindow;
use super::window::{cap, initial_window, ssthresh};
use super::work::Work;
use crate::estimate::{Context, burst_rate, least_rate};
use crate::limit::{Span, TimeAttribution, seen_rate, without_idle_end};
use borsh::{BorshDeserialize, BorshSerialize};
use whyslow_analysis::types::LimitingFactor;
use whyslow_core::tcp::facts::{Release, SendPause, TransferFacts};
use whyslow_model::{Algorithm, Losses, Pause, PauseKind, ReceiverSettings, Scenario, SenderSettings, Window};
use whyslow_units::stats::{median, median_f64};
use whyslow_units::steps;
use whyslow_units::{Nanos, Time};

/// A captured transfer, ready to be modelled.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct Replay {
    fitted: Fitted,
    pub(super) measured: Nanos,
    /// A longer round trip that was typical, when a queue stood all the time.
    usual_rtt: Option<Nanos>,
    /// Payload bits per second at which bursts were delivered, if that is far above the mean: the
    /// path's least rate.
    pub(super) burst_rate: Option<f64>,
    /// Payload bits per second that passed between losses: a policer's rate, or a full queue's.
    pub(super) passed_rate: Option<f64>,
    has_losses: bool,
    has_spurious: bool,
    /// Losses fell into the rounds that seem to be capped.
    pub(super) has_losses_while_capped: bool,
    /// Bytes that a window that was never closed passed in a round trip, if windows limited the
    /// sender for some rounds.
    pub(super) passing_window: Option<u64>,
    /// The same of windows about as large as the largest: a reader that falls behind offers less
    /// and less.
    pub(super) passing_largest: Option<u64>,
    /// The window that the transfers before this one would have left, had no silence cut it.
    pub(super) carried: Option<CarriedWindow>,
    /// The window that this transfer and those before it leave to the next one.
    pub(super) left: Option<CarriedWindow>,
    /// Rates of the path from other sources than this transfer, payload bits per second.
    path: PathRates,
}

/// Rates of a path from other sources than the transfer itself.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
struct PathRates {
    /// Rate as given by the user.
    given: Option<f64>,
    /// Rate of the sender's earlier transfers: a queue's rate, or that of bursts.
    earlier_rate: Option<f64>,
    /// This one was delivered so fast within a round trip, or on average.
    min_rate: f64,
}

/// Results from earlier transfers of the same sender on the connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct EarlierTransfers {
    /// The window that they would have left, had no silence cut it.
    pub(super) carried: Option<CarriedWindow>,
    /// The window that they and this transfer leave to the next one.
    pub(super) left: Option<CarriedWindow>,
    /// Rate of the path, payload bits per second.
    pub(super) rate: Option<f64>,
}

impl EarlierTransfers {
    /// Rates from the transfers of one sender up to the last of these.
    pub fn of(transfers: &[(&TransferFacts, TimeAttribution)], context: &Context) -> Self {
        let earlier = transfers.split_last().map_or(transfers, |(_, earlier)| earlier);
        let left = CarriedWindow::over(transfers, context);
        let rates = earlier.iter().filter_map(|(transfer, attribution)| seen_rate(transfer, attribution, context));
        Self { carried: CarriedWindow::over(earlier, context), left, rate: rates.max_by(f64::total_cmp) }
    }
}

/// A scenario, and additional data of the capture.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(super) struct Fitted {
    /// The scenario; its pauses are in `stalls`.
    pub(super) scenario: Scenario,
    /// Its pauses, each with its limit.
    pub(super) stalls: Vec<(Pause, LimitingFactor)>,
    /// Held back after the last segment beyond a round trip: a delayed ACK.
    pub(super) tail: Nanos,
}

impl Fitted {
    /// Time that the transfer takes; `None` when the work limit is reached.
    pub(super) fn duration(&self, work: &mut Work<'_>) -> Option<Nanos> {
        let pauses = self.stalls.iter().map(|(pause, _)| *pause).collect();
        let time = work.time(&Scenario { pauses, ..self.scenario.clone() })?;
        Some(time + self.tail)
    }
}

/// A wait of fewer round trips than this is one round trip and the processing time.
const MAX_SHORT_WAIT: f64 = 1.5;

/// Minimum number of rounds that show how much a window lets pass.
const MIN_HELD_ROUNDS: usize = 4;

/// A fit within this share of the measured time ends the search.
const GOOD_FIT: f64 = 0.03;

impl Replay {
    /// Whether the capture shows enough of a transfer to model it.
    pub fn is_possible(transfer: &TransferFacts, context: &Context) -> bool {
        let shows_all = !context.one_direction && !context.elided;
        // Segments that were lost before the capture point are missing there, and known to be.
        let incomplete = transfer.unseen * 50 > transfer.bytes() && transfer.retransmitted.unseen_original == 0;
        context.rtt.is_some_and(|rtt| rtt > Nanos::ZERO) && shows_all && transfer.bytes() > 0 && !incomplete
    }

    /// Replay of a transfer; `None` if the capture lacks the data.
    pub fn new(
        transfer: &TransferFacts,
        attribution: &TimeAttribution,
        context: &Context,
        earlier: EarlierTransfers,
    ) -> Option<Self> {
        let rtt = context.rtt.filter(|_| Self::is_possible(transfer, context))?;
        let mss = context.mss.max(1);
        let shape = &attribution.shape;
        let lost = lost_segments(transfer);
        let mut stalls: Vec<(Pause, LimitingFactor)> =
            transfer.pauses.iter().filter_map(|gap| pause(gap, transfer, attribution, context, &lost)).collect();
        stalls.sort_by_key(|(pause, _)| pause.at);
        let losses = places(&lost, transfer);
        // A window, too, gives a steady rate: the path's rate is known only if the path was the
        // limit.
        let by_path = attribution.time(LimitingFactor::Bandwidth).0 * 4 >= transfer.duration().0;
        let steady = shape.steady.filter(|_| by_path);
        let cap = cap(transfer, attribution);
        let sender = SenderSettings {
            initial_window: initial_window(transfer, attribution, mss),
            ssthresh: ssthresh(transfer, attribution, cap, mss),
            slow_start_growth: growth(transfer, attribution),
            hystart: false,
            cap,
            pacing: shape.steady.filter(|_| shape.paced),
            ..SenderSettings::usual(Algorithm::Cubic)
        };
        let scenario = Scenario {
            bytes: transfer.bytes(),
            mss,
            rtt,
            rate: steady,
            queue: None,
            losses: Losses::At(losses.clone()),
            sender,
            receiver: ReceiverSettings { window: window(transfer), ack_delay: Nanos::ZERO },
            pauses: Vec::new(),
        };
        let path_end = transfer.last_send + rtt;
        let beyond = |span: &Span| (span.end - span.start.max(path_end)).or_zero();
        let spans = without_idle_end(&attribution.spans);
        let waited = spans.iter().filter(|span| span.start >= transfer.last_send);
        let tail = waited.filter(|span| span.limit != LimitingFactor::Bandwidth).map(beyond).sum();
        Some(Self {
            fitted: Fitted { scenario, stalls, tail },
            measured: spans.last().map_or(Nanos::ZERO, |last| last.end - transfer.start),
            usual_rtt: usual_rtt(transfer, rtt),
            burst_rate: burst_rate(transfer, context),
            passed_rate: shape.inter_loss_rate.map(|between| between.rate),
            has_losses: !losses.is_empty(),
            has_spurious: transfer.retransmitted.spurious > 0,
            has_losses_while_capped: cap.is_some() && has_losses_while_capped(transfer, attribution),
            passing_window: passing_window(transfer, attribution, 0),
            passing_largest: passing_window(transfer, attribution, largest_window(transfer) / 2),
            carried: earlier.carried,
            left: earlier.left,
            path: PathRates {
                given: context.path_rate,
                earlier_rate: earlier.rate,
                min_rate: least_rate(transfer, context),
            },
        })
    }

    /// Rate of the path, payload bits per second, if known: as given by the user, or as measured in
    /// bursts, here or in earlier transfers.
    pub(super) fn path_rate(&self) -> Option<f64> {
        self.path.given.or(self.burst_rate).or(self.path.earlier_rate)
    }

    /// Limits a changed scenario to the path's rate. If that is unknown, returns the rate that was
    /// measured, payload bits per second: a faster result then rests on an assumption.
    pub(super) fn hold_to_path(&self, scenario: &mut Scenario) -> Option<f64> {
        scenario.rate = match (scenario.rate, self.path.given) {
            (Some(rate), Some(given)) => Some(rate.min(given)),
            (Some(rate), None) => Some(rate),
            (None, _) => self.path_rate(),
        };
        scenario.rate.is_none().then_some(self.path.min_rate)
    }

    /// Payload.
    pub(super) fn bytes(&self) -> u64 {
        self.fitted.scenario.bytes
    }

    /// The scenario that comes nearest to the measured time, and its time.
    pub(super) fn fit(&self, work: &mut Work<'_>) -> Option<(Fitted, Nanos)> {
        let mut best: Option<(Fitted, Nanos, i64)> = None;
        for candidate in self.candidates() {
            let Some(modelled) = candidate.duration(work) else { break };
            let off = (modelled - self.measured).0.abs();
            if best.as_ref().is_none_or(|(.., least)| off < *least) {
                best = Some((candidate, modelled, off));
            }
            if off as f64 <= GOOD_FIT * self.measured.0 as f64 {
                break;
            }
        }
        best.map(|(fitted, modelled, _)| (fitted, modelled))
    }

    /// Possible explanations of the transfer: the capture as it is, then with each doubt, and
    /// doubts together.
    pub(super) fn candidates(&self) -> Vec<Fitted> {
        let mut candidates = vec![self.fitted.clone()];
        let mut doubt = |applies: bool, change: &dyn Fn(&mut Fitted)| {
            if applies {
                let mut changed = candidates.clone();
                changed.iter_mut().for_each(change);
                candidates.extend(changed);
            }
        };
        let sender = &self.fitted.scenario.sender;
        // Spurious retransmissions may not have slowed the sender at all.
        doubt(self.has_losses && self.has_spurious, &|it| it.scenario.losses = Losses::NONE);
        // A window that grew large met the rate of the path.
        doubt(self.fitted.scenario.rate.is_none() && self.burst_rate.is_some(), &|it| {
            it.scenario.rate = self.burst_rate
        });
        doubt(self.has_losses || sender.ssthresh.is_finite(), &|it| it.scenario.sender.algorithm = Algorithm::Reno);
        // A timer that the model has itself, instead of being given its silence.
        let is_timer = |stall: &(Pause, LimitingFactor)| stall.0.kind == PauseKind::Timer;
        doubt(self.has_losses && self.fitted.stalls.iter().any(is_timer), &|it| it.stalls.retain(|s| !is_timer(s)));
        // A window of the program may show in its silences alone.
        let is_granted = |stall: &(Pause, LimitingFactor)| stall.1 == LimitingFactor::ProtocolWindow;
        let granted = sender.cap.is_some() && self.fitted.stalls.iter().any(is_granted);
        doubt(granted, &|it| it.scenario.sender.cap = None);
        // A queue may have kept the path full while the window went down.
        let full = self.has_losses && self.fitted.scenario.rate.is_some();
        doubt(full && !self.has_spurious, &|it| it.scenario.losses = Losses::NONE);
        if let Some(rtt) = self.usual_rtt {
            doubt(true, &|it| it.scenario.rtt = rtt);
        }
        candidates
    }
}

/// A silence that no window explains. `losses`: lost segments, by place.
fn pause(
    gap: &SendPause,
    transfer: &TransferFacts,
    attribution: &TimeAttribution,
    context: &Context,
    losses: &[(u64, u64)],
) -> Option<(Pause, LimitingFactor)> {
    let length = gap.end - gap.start;
    let limit = limit_of(gap, attribution)?;
    let rtt = context.rtt?;
    let restarted = || attribution.shape.restarts.iter().any(|&round| starts_over(transfer, round, gap.end));
    // A window with no room for a segment counts as closed: the limit assigned to the silence then
    // (a probe, the application) is not the reason.
    let shut = gap.window_room.is_some_and(|room| room < context.mss)
        && attribution.time(LimitingFactor::ZeroWindow) > Nanos::ZERO;
    let limit = match limit {
        LimitingFactor::Timeout if shut && gap.tail => LimitingFactor::ZeroWindow,
        LimitingFactor::Application | LimitingFactor::Unknown if shut => LimitingFactor::ZeroWindow,
        LimitingFactor::Unknown if is_the_programs_too(gap, transfer, attribution) => LimitingFactor::Application,
        LimitingFactor::Unknown if is_before_timer(gap, transfer) => LimitingFactor::Timeout,
        limit => limit,
    };
    let kind = match limit {
        // A round trip is the ACK's that lets a repair go on, and no timer's (RFC 6298: more than a
        // round trip).
        LimitingFactor::Timeout if gap.release == Release::Timer && !gap.tail && length < rtt.scale(MAX_SHORT_WAIT) => {
            return None;
        }
        // A probe leaves the window as it is; the timer leaves one segment of it.
        LimitingFactor::Timeout if gap.release == Release::Timer && !gap.tail => PauseKind::Timer,
        // Where a cap holds the sender the model waits for the ACK itself, and the program writes a
        // moment after it.
        LimitingFactor::Application | LimitingFactor::Unknown
            if length < rtt.scale(MAX_SHORT_WAIT) && is_capped(gap, transfer, attribution) =>
        {
            return None;
        }
        LimitingFactor::Timeout
        | LimitingFactor::ZeroWindow
        | LimitingFactor::ProtocolWindow
        | LimitingFactor::NagleDelayedAck
        | LimitingFactor::AckDelay => PauseKind::Program,
        LimitingFactor::Application | LimitingFactor::Idle | LimitingFactor::Unknown if restarted() => PauseKind::Idle,
        LimitingFactor::Application | LimitingFactor::Idle | LimitingFactor::Unknown => PauseKind::Program,
        _ => return None,
    };
    let sent = gap.snd_max.saturating_sub(transfer.seq.0).min(transfer.bytes());
    if kind == PauseKind::Timer {
        // All lost bytes were sent before the silence, captured or not.
        let at = end_of_run(sent, gap.after_len, losses).min(transfer.bytes());
        return (at > 0).then_some((Pause { at, length, kind }, limit));
    }
    // A probe's retransmission counts as sent after it: the silence is before it, even at the
    // transfer's end.
    let again = if limit == LimitingFactor::Timeout { gap.after_len } else { 0 };
    let at = sent.saturating_sub(again);
    (at > 0 && at < transfer.bytes()).then_some((Pause { at, length, kind }, limit))
}

/// Whether a silence that a queue may have caused is the application's: nothing was in flight and
/// nothing ended it, and such silences of the application take most of the time. A queue that
/// coincides with them is unlikely.
fn is_the_programs_too(gap: &SendPause, transfer: &TransferFacts, attribution: &TimeAttribution) -> bool {
    let is_idle = gap.release == Release::Nothing && gap.idle && !gap.unseen && gap.closed.is_none();
    let is_empty = gap.missing.is_none_or(|packets| packets == 0) && gap.sent_apart.is_none();
    is_idle && is_empty && attribution.time(LimitingFactor::Application).0 * 2 >= transfer.duration().0
}

/// Whether a silence was the first part of a wait for the timer, up to a probe with new bytes (RFC
/// 8985 section 7.3). Where a copy was needless, ACKs were late, and no probe was due.
fn is_before_timer(gap: &SendPause, transfer: &TransferFacts) -> bool {
    let is_next = |next: &SendPause| next.start == gap.end && next.release == Release::Timer;
    let is_silent = gap.release == Release::Nothing && !gap.idle && transfer.retransmitted.spurious == 0;
    steps::add(if is_silent { transfer.pauses.len() as u64 } else { 0 });
    is_silent && transfer.pauses.iter().any(is_next)
}

/// The end of the data that had been sent before a timer's silence: the bytes that follow the
/// timer's segment without a hole, and never reached the capture point. The window after a timer is
/// too small to have sent as much.
fn end_of_run(sent: u64, again: u64, losses: &[(u64, u64)]) -> u64 {
    let start = sent.saturating_add(again);
    let run = losses.iter().filter(|(place, _)| *place >= start);
    let end = run.fold(start, |end, &(place, bytes)| if place == end { end.saturating_add(bytes) } else { end });
    if end > start { end } else { sent }
}

/// Whether a cap in the sender held the round in which a pause began.
fn is_capped(gap: &SendPause, transfer: &TransferFacts, attribution: &TimeAttribution) -> bool {
    let round = transfer.rounds.partition_point(|round| round.start <= gap.start).checked_sub(1);
    let base = round.and_then(|round| attribution.shape.base.get(round));
    base.is_some_and(|limit| matches!(limit, LimitingFactor::SenderCap | LimitingFactor::ProtocolWindow))
}

/// Whether the window started over with the round that begins then: its flight is much smaller than
/// one before it.
fn starts_over(transfer: &TransferFacts, round: usize, at: Time) -> bool {
    let before = transfer.rounds.iter().take(round).map(|round| round.in_flight).max();
    let first = transfer.rounds.get(round).filter(|first| first.start == at);
    before.zip(first).is_some_and(|(before, first)| first.in_flight * 2 <= before)
}

/// The limit during most of a pause, if it is not a window of TCP.
fn limit_of(gap: &SendPause, attribution: &TimeAttribution) -> Option<LimitingFactor> {
    let first = attribution.spans.partition_point(|span| span.end <= gap.start);
    let spans = attribution.spans.get(first..)?.iter().take_while(|span| span.start < gap.end);
    let parts = spans.map(|span| (span.limit, (span.end.min(gap.end) - span.start.max(gap.start)).or_zero()));
    // A late ACK adds to a round trip, and may be the smaller part of it.
    let (limit, _) =
        parts.max_by_key(|&(limit, time)| (limit == LimitingFactor::AckDelay && time > Nanos::ZERO, time))?;
    Some(limit)
}

/// First losses, from the transfer's start: places and bytes, ascending.
fn lost_segments(transfer: &TransferFacts) -> Vec<(u64, u64)> {
    let mut lost: Vec<(u64, u64)> =
        transfer.losses.iter().map(|loss| (loss.seq.saturating_sub(transfer.seq.0), loss.bytes)).collect();
    lost.sort_unstable();
    // A copy that was lost too has the place of the first one.
    lost.dedup_by_key(|(place, _)| *place);
    lost
}

/// The places of lost segments, without those for which a probe was waited: their silence is given.
fn places(lost: &[(u64, u64)], transfer: &TransferFacts) -> Vec<u64> {
    steps::add((lost.len() * transfer.pauses.len()) as u64);
    let probed = |place: u64| {
        transfer.pauses.iter().any(|gap| {
            let sent = gap.snd_max.saturating_sub(transfer.seq.0);
            gap.tail && place < sent && place.saturating_add(gap.after_len) >= sent
        })
    };
    lost.iter().map(|(place, _)| *place).filter(|place| !probed(*place)).collect()
}

/// Whether something was retransmitted in the rounds that a cap in the sender seems to have held.
fn has_losses_while_capped(transfer: &TransferFacts, attribution: &TimeAttribution) -> bool {
    let capped = |limit: &LimitingFactor| matches!(limit, LimitingFactor::SenderCap | LimitingFactor::ProtocolWindow);
    transfer.rounds.iter().zip(&attribution.shape.base).any(|(round, limit)| capped(limit) && round.retransmitted > 0)
}

/// Growth of flights in a round of slow start: the median over those that grew.
fn growth(transfer: &TransferFacts, attribution: &TimeAttribution) -> f64 {
    let base = &attribution.shape.base;
    let mut ratios: Vec<f64> = transfer
        .rounds
        .windows(2)
        .zip(base)
        .take_while(|(_, limit)| **limit == LimitingFactor::SlowStart)
        .map(|(pair, _)| pair[1].bytes as f64 / pair[0].bytes.max(1) as f64)
        .collect();
    // The last flight is a remainder, and a single one may be chance.
    ratios.pop();
    let enough = ratios.len() >= 3;
    let median = median_f64(ratios).filter(|_| enough);
    median.map_or(2.0, |ratio| if ratio > 1.7 { 2.0 } else { ratio.clamp(1.3, 2.0) })
}

/// The advertised windows, by delivered bytes: in a round the ACKs of the one before arrive.
fn window(transfer: &TransferFacts) -> Window {
    let rounds = &transfer.rounds;
    let mut steps: Vec<(u64, u64)> = Vec::new();
    let (mut delivered, mut sent) = (0, 0);
    for round in rounds {
        if let Some(window) = round.window {
            // Closed windows are pauses, and counted there.
            let window = window.max(round.in_flight).max(1);
            match steps.last_mut() {
                Some(last) if last.1 == window => {}
                Some(last) if last.0 == delivered => last.1 = window,
                _ => steps.push((delivered, window)),
            }
        }
        // A little into the round: the model's rounds may be a segment longer.
        delivered = sent + (round.bytes / 8).max(1);
        sent += round.bytes;
    }
    if steps.is_empty() { Window::Unlimited } else { Window::Advertised(steps) }
}

/// The largest window that was offered, bytes.
fn largest_window(transfer: &TransferFacts) -> u64 {
    transfer.rounds.iter().filter_map(|round| round.window).max().unwrap_or_default()
}

/// Bytes that a full but open window of `min_rate` bytes or more passed in a round: less than its
/// size if the receiver's application reads a moment after the ACK has left.
fn passing_window(transfer: &TransferFacts, attribution: &TimeAttribution, least: u64) -> Option<u64> {
    let inner = transfer.rounds.len().saturating_sub(1);
    let rounds = transfer.rounds.iter().zip(&attribution.rounds).take(inner);
    let held = rounds.filter(|(round, limit)| **limit == LimitingFactor::ReceiveWindow && round.merged == 1);
    let held = held.filter(|(round, _)| round.window.is_some_and(|window| window >= least));
    let bytes: Vec<u64> = held.map(|(round, _)| round.bytes).collect();
    (bytes.len() >= MIN_HELD_ROUNDS).then(|| bytes.iter().sum::<u64>() / bytes.len() as u64)
}

/// The median of the rounds' round trips, where it is well above the least.
fn usual_rtt(transfer: &TransferFacts, least: Nanos) -> Option<Nanos> {
    median(transfer.rounds.iter().filter_map(|round| round.rtt).collect())
        .filter(|rtt| *rtt > least.scale(1.05) && *rtt < least.scale(3.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::synthetic_transfer::{flights, gap};

    #[test]
    fn silence_before_a_probe_with_new_bytes_is_the_timers() {
        let at = Time::from_millis;
        let probe = gap(at(100), at(150), Release::Nothing);
        let mut transfer = flights(&[10_000, 10_000], Release::Ack);
        let is_before = |transfer: &TransferFacts, gap: SendPause| is_before_timer(&gap, transfer);
        assert!(!is_before(&transfer, probe));
        transfer.pauses.push(gap(at(150), at(450), Release::Timer));
        assert!(is_before(&transfer, probe));
        assert!(!is_before(&transfer, SendPause { idle: true, ..probe }), "nothing was in flight");
        assert!(!is_before(&transfer, SendPause { end: at(140), ..probe }));
        transfer.retransmitted.spurious = 1;
        assert!(!is_before(&transfer, probe), "ACKs were late");
    }
}
