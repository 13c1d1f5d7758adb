//! Finds the path and the hosts that reproduce a capture: what it does not show is tried, and what
//! comes nearest is kept.

use super::agreement::Agreement;
use super::captured::Captured;
use super::path::{BY_PATH, Losses};
use super::scenario::{Choice, TransferScenario, build};
use super::trial::{Sought, Trial, Workshop};
use whyslow_analysis::LimitingFactor;

/// If there is no other choice, a run that is shorter than this, seconds, is repeated, because the
/// machine may have been busy.
const SHORT: f64 = 3.0;
const REPEATS: u32 = 2;

/// The scenario that comes nearest, and its run.
pub(super) struct Fitted {
    pub built: TransferScenario,
    pub trial: Trial,
    pub agreement: Agreement,
    pub choice: Choice,
    /// How many were run.
    pub tries: usize,
}

/// Maximum number of corrections of the window sizes.
const SCALINGS: usize = 3;
/// A window that is nearer to the captured one is not made again.
const WINDOW: f64 = 0.06;

/// Runs the scenario, and others as long as it does not agree; the runs are called `name`.
///
/// # Errors
/// When the first one cannot be run.
pub(super) fn fit(
    captured: &Captured,
    name: &str,
    at_most: f64,
    tries: u32,
    shop: &Workshop<'_>,
) -> anyhow::Result<Fitted> {
    let mut choice = Choice::first(captured);
    let mut best: Option<Fitted> = None;
    let mut choices = adjacent_choices(captured, choice);
    let mut repeats = if captured.seconds() < SHORT { REPEATS } else { 0 };
    let (mut made, mut has_retry) = (0, true);
    for number in 1..=tries as usize {
        if best.is_some() && shop.is_over() {
            break;
        }
        made = number;
        (shop.progress)(&format!("reproducing the capture, run {number} of {tries} at most"));
        let built = build(captured, choice, at_most);
        let scaled = match shop.run(&format!("{name}-{number}"), &built.scenario, Sought::of(captured, &built)) {
            Err(error) if best.is_none() => return Err(error),
            // The machine spoiled it: once more, and then it is none of several.
            Err(_) => std::mem::take(&mut has_retry).then_some(choice),
            Ok(trial) => {
                let agreement = Agreement::of(captured, &built, &trial);
                let scaled = rescaled(captured, &trial, &agreement, choice).filter(|_| number <= SCALINGS);
                let is_found = agreement.agrees && scaled.is_none();
                let own = rank(&agreement, scaled.is_none());
                if best.as_ref().is_none_or(|best| own < rank(&best.agreement, true)) {
                    best = Some(Fitted { built, trial, agreement, choice, tries: number });
                }
                if is_found {
                    break;
                }
                scaled
            }
        };
        if let Some(Choice { host, .. }) = scaled {
            choices.iter_mut().for_each(|other| {
                other.host.receive_scale = host.receive_scale;
                other.host.send_scale = host.send_scale;
            });
        }
        // A window is brought to its size before anything else is changed.
        let next = scaled.or_else(|| choices.pop()).or_else(|| {
            let same = best.as_ref().filter(|_| repeats > 0).map(|best| best.choice);
            repeats = repeats.saturating_sub(1);
            same
        });
        let Some(next) = next else { break };
        choice = next;
    }
    let mut best = best.ok_or_else(|| anyhow::anyhow!("no run gave a result"))?;
    best.tries = made;
    Ok(best)
}

fn rank(agreement: &Agreement, is_in_size: bool) -> (bool, bool, f64) {
    // Tuples of booleans and a finite number compare as they are read.
    (!agreement.agrees, !is_in_size, agreement.distance())
}

/// The same with the windows scaled to their captured size; `None` if they have it.
fn rescaled(captured: &Captured, trial: &Trial, agreement: &Agreement, choice: Choice) -> Option<Choice> {
    let mut next = choice;
    let to = captured.from().other();
    // Small buffers let less pass than they hold, by how segments fill them.
    let by_time = ratio(agreement.again_s, agreement.captured_s).filter(|_| agreement.error() > WINDOW);
    if captured.is_held_by_window()
        && let (Some(there), Some(here)) = (captured.windows(to), trial.seen.windows(to))
        && there.most <= there.late + there.late / 4
    {
        let by_size = ratio(there.most as f64, here.most as f64);
        // With another size than in the capture, a window would explain any time.
        next.host.receive_scale *= by_size.or(by_time.filter(|_| !captured.is_supposed))?;
        return Some(next);
    }
    // Where it does not cap the sender here it is far too large.
    let there = captured.cap()?;
    let mean = |of: &Captured| of.transfer().bytes / of.transfer().rounds_total.max(1);
    let by_size = ratio(there as f64, trial.seen.cap().unwrap_or_else(|| mean(&trial.seen)) as f64);
    next.host.send_scale *= by_size.or(by_time)?;
    Some(next)
}

/// By what the one is larger, where that matters.
fn ratio(there: f64, here: f64) -> Option<f64> {
    let ratio = there / here.max(1e-9);
    ((ratio - 1.0).abs() > WINDOW).then(|| ratio.clamp(0.1, 10.0))
}

/// What else may be, the likeliest last.
fn adjacent_choices(captured: &Captured, first: Choice) -> Vec<Choice> {
    let mut all = Vec::new();
    let by_window = [
        LimitingFactor::SlowStart,
        LimitingFactor::CongestionAvoidance,
        LimitingFactor::LossRecovery,
        LimitingFactor::Timeout,
        LimitingFactor::Pacing,
    ];
    let of_controller = captured.share(&by_window) + captured.share(&[LimitingFactor::Bandwidth]) > 0.1;
    if of_controller {
        for congestion in ["bbr", "reno", "cubic"] {
            if congestion != first.host.congestion {
                let mut other = first;
                other.host.congestion = congestion;
                all.push(other);
            }
        }
    }
    if captured.usual_rtt().is_some() {
        let mut other = first;
        other.path.usual_rtt = true;
        all.push(other);
    }
    let is_full = captured.share(&[LimitingFactor::Bandwidth]) >= BY_PATH;
    let has_lost = !captured.lost(captured.from(), captured.mss()).is_empty();
    for (losses, may_be) in [(Losses::Queue, is_full), (Losses::Listed, true)] {
        if has_lost && may_be && losses != first.path.losses {
            let mut other = first;
            other.path.losses = losses;
            all.push(other);
        }
    }
    if let Some(growth) = captured.slow_growth() {
        let mut other = first;
        other.host.growth = Some(growth);
        all.push(other);
    }
    all
}
