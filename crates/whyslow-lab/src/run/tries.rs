//! Tries of one run. The machine may spoil or disturb one, so a run is made again until it is
//! quiet; the result is the median of the tries that were disturbed least: one that happened, with
//! its captures.

use super::{Progress, RunError, Session, file_error, write_json};
use crate::figures::Figures;
use crate::noise::Noise;
use crate::scenario::Variant;
use crate::truth::{self, RunResult, Truth};
use std::io;
use std::path::{Path, PathBuf};

/// A run whose transfers take less is short: what it meets by chance weighs, and another try costs
/// little.
const SHORT_S: f64 = 0.5;
/// A run that takes longer is not made again to be less disturbed.
const LONG_S: f64 = 5.0;
/// This many usable tries are enough, however disturbed.
const USABLE: usize = 5;

/// A try that is not void.
struct Try {
    folder: PathBuf,
    figures: Figures,
    noise: Noise,
}

/// All tries of a run so far.
#[derive(Default)]
struct Tries {
    good: Vec<Try>,
    void: u32,
    /// Reasons why the last attempt is void.
    why: Vec<String>,
}

impl Session<'_> {
    /// Makes a run until enough tries of it are quiet, or none is left. Its folder gets its name
    /// when all is in it.
    pub(super) fn make(&self, run: &Variant, mut result: RunResult, folder: &Path) -> Result<RunResult, RunError> {
        let partial = folder.with_extension("partial");
        make_empty(&partial, folder).map_err(file_error(partial.display().to_string()))?;
        let mut tries = Tries::default();
        let mut last = partial.join("1");
        for number in 1..=self.settings.attempts.max(1) {
            last = partial.join(number.to_string());
            std::fs::create_dir(&last).map_err(file_error(last.display().to_string()))?;
            match (self.making.once)(run, &last)? {
                Ok((truth, figures)) => {
                    write_json(&last.join("truth.json"), &truth)?;
                    let noise = truth.noise(&figures);
                    if let Some(why) = spoiled(&truth, &noise) {
                        (self.progress)(Progress::Void { label: &run.label, why: &why, attempt: number });
                        tries.void += 1;
                        tries.why = why;
                        continue;
                    }
                    tries.good.push(Try { folder: last.clone(), figures, noise });
                    if tries.are_enough(self.settings.short) {
                        break;
                    }
                }
                Err(why) => {
                    result.problems = vec![why];
                    break;
                }
            }
        }
        result.voided = tries.void;
        let chosen = if result.problems.is_empty() { tries.median() } else { None };
        let chosen = match chosen {
            Some(median) => {
                result.claims = truth::check(&run.scenario.verify, &median.figures);
                result.confirmed = result.claims.iter().all(|claim| claim.holds);
                result.figures = median.figures;
                result.noise = median.noise;
                median.folder
            }
            None => {
                if result.problems.is_empty() {
                    result.problems = std::mem::take(&mut tries.why);
                }
                last
            }
        };
        write_json(&chosen.join("result.json"), &result)?;
        let done = std::fs::rename(&chosen, folder).and_then(|()| std::fs::remove_dir_all(&partial));
        done.map_err(file_error(folder.display().to_string()))?;
        Ok(result)
    }
}

/// Why a try is not a result: the machine lost packets, or was so late that the cause itself could
/// be another.
fn spoiled(truth: &Truth, noise: &Noise) -> Option<Vec<String>> {
    let mut why = truth.void.clone();
    why.extend(noise.doubt());
    (!why.is_empty()).then_some(why)
}

impl Tries {
    /// Whether another try would add nothing.
    fn are_enough(&self, short: u32) -> bool {
        let quiet = self.good.iter().filter(|one| one.noise.is_quiet()).count();
        let time = self.good.last().map_or(0.0, |one| one.noise.time_s);
        let needed = if time < SHORT_S { short.max(1) as usize } else { 1 };
        time > LONG_S || quiet >= needed || self.good.len() >= USABLE
    }

    /// The median by time of those that were disturbed least: of the quiet ones, or of half of all.
    fn median(&mut self) -> Option<Try> {
        self.good.sort_by(|a, b| a.noise.share().total_cmp(&b.noise.share()));
        let quiet = self.good.iter().filter(|one| one.noise.is_quiet()).count();
        let used = quiet.max(self.good.len().div_ceil(2));
        let mut used: Vec<Try> = self.good.drain(..used).collect();
        used.sort_by(|a, b| a.noise.time_s.total_cmp(&b.noise.time_s));
        let middle = used.len().saturating_sub(1) / 2;
        let mut median = (middle < used.len()).then(|| used.swap_remove(middle))?;
        median.noise.tries += u32::try_from(used.len()).unwrap_or(u32::MAX);
        for other in &used {
            median.noise.widen(&median.figures, &other.figures, &other.noise);
        }
        Some(median)
    }
}

/// Makes an empty folder for the tries, and removes an earlier one.
fn make_empty(partial: &Path, folder: &Path) -> io::Result<()> {
    for old in [partial, folder] {
        if old.exists() {
            std::fs::remove_dir_all(old)?;
        }
    }
    std::fs::create_dir_all(partial)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// A try of `time` milliseconds, of which `added` may be the machine's.
    fn one(time: f64, added: f64) -> Try {
        let figures: Figures = [("total".to_owned(), time / 1e3), ("packets".to_owned(), 10.0)].into();
        let between = [("total".to_owned(), [(time - added) / 1e3, time / 1e3])].into();
        let noise = Noise { added_s: added / 1e3, late_s: added / 1e3, time_s: time / 1e3, tries: 1, between };
        Try { folder: PathBuf::from(format!("{time}")), figures, noise }
    }

    fn tries(good: Vec<Try>) -> Tries {
        Tries { good, ..Tries::default() }
    }

    #[test]
    fn one_quiet_try_is_enough_and_three_where_it_is_short() {
        assert!(tries(vec![one(800.0, 7.0)]).are_enough(3));
        assert!(!tries(vec![one(800.0, 80.0)]).are_enough(3), "a tenth is in doubt");
        assert!(tries(vec![one(800.0, 80.0), one(810.0, 2.0)]).are_enough(3));
        assert!(tries(vec![one(8_000.0, 900.0)]).are_enough(3), "a long one is not made again");
        assert!(!tries(vec![one(50.0, 1.0), one(52.0, 1.0)]).are_enough(3));
        assert!(tries(vec![one(50.0, 1.0), one(60.0, 9.0), one(52.0, 1.0), one(51.0, 1.0)]).are_enough(3));
        assert!(tries(vec![one(50.0, 1.0)]).are_enough(1));
        let disturbed = |count: u32| tries((0..count).map(|n| one(50.0 + f64::from(n), 9.0)).collect());
        assert!(!disturbed(4).are_enough(1) && disturbed(5).are_enough(1));
    }

    #[test]
    fn the_result_is_the_median_of_those_disturbed_least_and_they_are_its_range() {
        let median = tries(vec![one(90.0, 20.0), one(55.0, 1.0), one(50.0, 1.0), one(52.0, 1.0)]).median().unwrap();
        assert_eq!((median.figures["total"], median.noise.tries), (0.052, 3));
        assert_eq!(median.noise.between["total"], [0.049, 0.055]);
        assert!(!median.noise.between.contains_key("packets"), "all have the same");
        // If no try is quiet, half of them are used.
        let median = tries(vec![one(90.0, 20.0), one(60.0, 6.0), one(70.0, 8.0)]).median().unwrap();
        assert_eq!((median.figures["total"], median.noise.tries), (0.060, 2));
        assert!(tries(Vec::new()).median().is_none());
    }
}
