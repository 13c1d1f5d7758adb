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
    let (mut made, mut has_retry, mut sizes) = (0, true, Sizes::default());
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
                let scaled = rescaled(captured, &trial, &agreement, choice, &mut sizes).filter(|_| number <= SCALINGS);
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
    if best.agreement.agrees {
        best = repeated(captured, name, best, shop);
    }
    best.tries = made;
    Ok(best)
}

/// The scenario that agrees once more, where one run is too few: the median counts.
fn repeated(captured: &Captured, name: &str, found: Fitted, shop: &Workshop<'_>) -> Fitted {
    (shop.progress)("repeating the run that reproduces the capture");
    let sought = Sought::of(captured, &found.built);
    let Ok(trial) = shop.repeat(&format!("{name}-{}", found.tries), &found.built.scenario, sought) else {
        return found;
    };
    let agreement = Agreement::of(captured, &found.built, &trial);
    Fitted { trial, agreement, ..found }
}

fn rank(agreement: &Agreement, is_in_size: bool) -> (bool, bool, f64) {
    // Tuples of booleans and a finite number compare as they are read.
    (!agreement.agrees, !is_in_size, agreement.distance())
}

/// The sizes of a window or buffer that were tried, with what each let through of what the capture
/// shows: the largest of those that are too small, and the smallest of the others.
#[derive(Default)]
struct Sizes {
    too_small: Option<(f64, f64)>,
    too_large: Option<(f64, f64)>,
}

impl Sizes {
    /// The next size to try. A window of a few segments moves in steps, so between two sizes it is
    /// on the line between them; beyond them it is proportional.
    fn next(&mut self, size: f64, passed: f64) -> f64 {
        let passed = passed.clamp(0.1, 10.0);
        let tried = Some((size, passed));
        if passed < 1.0 {
            self.too_small = self.too_small.filter(|other| other.0 > size).or(tried);
        } else {
            self.too_large = self.too_large.filter(|other| other.0 < size).or(tried);
        }
        match (self.too_small, self.too_large) {
            (Some((low, less)), Some((high, more))) if low < high && more > less => {
                low + (high - low) * (1.0 - less) / (more - less)
            }
            _ => size / passed,
        }
    }
}

/// The same with the windows scaled to their captured size; `None` if they have it.
fn rescaled(
    captured: &Captured,
    trial: &Trial,
    agreement: &Agreement,
    choice: Choice,
    sizes: &mut Sizes,
) -> Option<Choice> {
    let mut next = choice;
    let to = captured.from().other();
    // Small buffers let less pass than they hold, by how segments fill them.
    let by_time = ratio(agreement.captured_s, agreement.again_s).filter(|_| agreement.error() > WINDOW);
    if captured.is_held_by_window()
        && let (Some(there), Some(here)) = (captured.windows(to), trial.seen.windows(to))
        && there.most <= there.late + there.late / 4
    {
        let by_size = ratio(here.most as f64, there.most as f64);
        // With another size than in the capture, a window would explain any time.
        let passed = by_size.or(by_time.filter(|_| !captured.is_supposed))?;
        next.host.receive_scale = sizes.next(choice.host.receive_scale, passed);
        return Some(next);
    }
    // Where it does not cap the sender here it is far too large.
    let there = captured.cap()?;
    let mean = |of: &Captured| of.transfer().bytes / of.transfer().rounds_total.max(1);
    let by_size = ratio(trial.seen.cap().unwrap_or_else(|| mean(&trial.seen)) as f64, there as f64);
    next.host.send_scale = sizes.next(choice.host.send_scale, by_size.or(by_time)?);
    Some(next)
}

/// How many times the second the first is, where that matters.
fn ratio(here: f64, there: f64) -> Option<f64> {
    let ratio = here / there.max(1e-9);
    ((ratio - 1.0).abs() > WINDOW).then_some(ratio)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_beyond_the_tried_ones_are_proportional() {
        let mut sizes = Sizes::default();
        assert_eq!(sizes.next(1.0, 0.5), 2.0);
        assert_eq!(sizes.next(2.0, 0.8), 2.5);
    }

    #[test]
    fn sizes_between_two_tried_ones_lie_on_their_line() {
        let mut sizes = Sizes::default();
        sizes.next(1.0, 0.9);
        let between = sizes.next(1.2, 1.3);
        assert!((between - 1.05).abs() < 1e-9, "{between}");
        let nearer = sizes.next(between, 0.9);
        assert!(between < nearer && nearer < 1.2, "{nearer}");
    }

    #[test]
    fn size_that_lets_nothing_through_grows_ten_times_at_most() {
        assert_eq!(Sizes::default().next(1.0, 0.0), 10.0);
    }
}
