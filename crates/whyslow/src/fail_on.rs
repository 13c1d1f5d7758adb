//! [`FailOn`]: what makes the exit status 1.

use crate::ci::baseline::{Change, SLOWER};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Analysis, Finding};
use whyslow_cli::quantity;
use whyslow_evidence::Report;
use whyslow_report::ranking;
use whyslow_units::Nanos;

/// One cause, or any cause; a cause that cost more than a limit; or a transfer that is slower than
/// in the baseline.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FailOn {
    what: What,
    over: Option<Nanos>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    Any,
    Cause(Cause),
    /// Than in the baseline, by this share.
    Slower(f64),
}

impl FailOn {
    /// Reads `slow-start`, `slow-start>1s`, `any` or `any>1s`.
    ///
    /// # Errors
    /// When there is no such cause, or no such time.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        if let Some(rest) = text.trim().strip_prefix("slower") {
            return slower(rest);
        }
        let (name, over) = match text.split_once('>') {
            Some((name, time)) => (name, Some(quantity::time(time.trim())?)),
            None => (text, None),
        };
        let what = match name.trim() {
            "any" => What::Any,
            name => What::Cause(whyslow_cli::cause_pages::known(name)?),
        };
        Ok(Self { what, over })
    }

    /// Whether it was found. A cause is found in a problem of the capture too, which costs no time.
    pub(crate) fn is_in(&self, analysis: &Analysis) -> bool {
        if let Some(over) = self.over {
            let once = ranking::without_duplicates(analysis);
            return ranking::by_cause(&once).iter().any(|cost| self.is_for(cost.cause) && cost.seconds > over);
        }
        let of_connections = analysis.connections.iter().flat_map(ranking::findings);
        let is_found = of_connections.chain(&analysis.findings).any(|finding| self.is_for(finding.cause));
        let captures = analysis.captures.iter().map(|capture| &capture.problems);
        let problems = captures.chain(analysis.connections.iter().map(|connection| &connection.problems));
        let is_problem = |slug: &str| matches!(self.what, What::Cause(cause) if cause.slug() == slug);
        is_found || problems.flatten().any(|problem| is_problem(&problem.slug))
    }

    /// The same for the output of other tools.
    pub(crate) fn is_in_evidence(&self, report: &Report) -> bool {
        let findings = report.subjects.iter().flat_map(|subject| &subject.findings);
        let is_over =
            |cost: Option<f64>| self.over.is_none_or(|over| cost.is_some_and(|cost| cost > over.as_secs_f64()));
        findings.filter(|finding| is_over(finding.cost_s)).any(|finding| match self.what {
            What::Any => true,
            What::Cause(cause) => finding.cause.is_some_and(|found| found.slug() == cause.slug()),
            What::Slower(_) => false,
        })
    }

    /// Whether a finding of one transfer is meant.
    pub(crate) fn is_of(&self, finding: &Finding) -> bool {
        self.is_for(finding.cause) && self.over.is_none_or(|over| finding.cost_s > over)
    }

    /// Whether a transfer is slower than the baseline's by more than this rule allows.
    pub(crate) fn is_slower(&self, change: &Change) -> bool {
        matches!(self.what, What::Slower(by) if change.is_slower(by))
    }

    /// Whether it needs a baseline.
    pub(crate) fn needs_baseline(&self) -> bool {
        matches!(self.what, What::Slower(_))
    }

    fn is_for(&self, cause: Cause) -> bool {
        match self.what {
            What::Any => true,
            What::Cause(this) => this == cause,
            What::Slower(_) => false,
        }
    }
}

/// `slower` or `slower>30%`.
fn slower(rest: &str) -> Result<FailOn, String> {
    let by = match rest.trim() {
        "" => SLOWER,
        rest => {
            let percent = rest.strip_prefix('>').and_then(|rest| rest.trim().strip_suffix('%'));
            let percent = percent.and_then(|percent| percent.trim().parse::<f64>().ok());
            percent.filter(|percent| (0.0..=100_000.0).contains(percent)).ok_or("slower has a share, as slower>20%")?
                / 100.0
        }
    };
    Ok(FailOn { what: What::Slower(by), over: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_may_have_a_time() {
        let read = |text| FailOn::read(text).ok();
        let one = |cause: Option<Cause>, over: Option<i64>| {
            let what = cause.map_or(What::Any, What::Cause);
            Some(FailOn { what, over: over.map(Nanos::from_millis) })
        };
        let slower = |by| Some(FailOn { what: What::Slower(by), over: None });
        assert_eq!(
            (read("slower"), read("slower>30%"), read("slower > 5 %")),
            (slower(0.2), slower(0.3), slower(0.05))
        );
        assert_eq!(read("slow-start"), one(Some(Cause::SlowStart), None));
        assert_eq!(read("slow-start>1s"), one(Some(Cause::SlowStart), Some(1_000)));
        assert_eq!(read("loss > 250ms"), one(Some(Cause::Loss), Some(250)));
        assert_eq!((read("any"), read("any>2s")), (one(None, None), one(None, Some(2_000))));
        for wrong in ["slow-strat", "slow-start>1", "slow-start>", ">1s", "", "slower>1s", "slowest", "slower>-1%"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
