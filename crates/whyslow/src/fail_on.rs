//! [`FailOn`]: what makes the exit status 1.

use crate::quantity;
use whyslow_core::analysis::Analysis;
use whyslow_core::cause::Cause;
use whyslow_core::units::Nanos;
use whyslow_evidence::Report;
use whyslow_report::ranking;

/// A cause, or any, that was found; or that cost more than so much time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FailOn {
    /// None is any.
    cause: Option<Cause>,
    over: Option<Nanos>,
}

impl FailOn {
    /// Reads `slow-start`, `slow-start>1s`, `any` or `any>1s`.
    ///
    /// # Errors
    /// When there is no such cause, or no such time.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let (name, over) = match text.split_once('>') {
            Some((name, time)) => (name, Some(quantity::time(time.trim())?)),
            None => (text, None),
        };
        let cause = match name.trim() {
            "any" => None,
            name => Some(crate::help_cause::known(name)?),
        };
        Ok(Self { cause, over })
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
        let is_problem = |slug: &str| self.cause.is_some_and(|cause| cause.slug() == slug);
        is_found || problems.flatten().any(|problem| is_problem(&problem.slug))
    }

    /// The same for the output of other tools.
    pub(crate) fn is_in_evidence(&self, report: &Report) -> bool {
        let findings = report.subjects.iter().flat_map(|subject| &subject.findings);
        let is_over =
            |cost: Option<f64>| self.over.is_none_or(|over| cost.is_some_and(|cost| cost > over.as_secs_f64()));
        findings.filter(|finding| is_over(finding.cost_s)).any(|finding| match self.cause {
            None => true,
            Some(cause) => finding.cause.is_some_and(|found| found.slug() == cause.slug()),
        })
    }

    fn is_for(&self, cause: Cause) -> bool {
        self.cause.is_none_or(|this| this == cause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_may_have_a_time() {
        let read = |text| FailOn::read(text).ok();
        let one = |cause, over: Option<i64>| Some(FailOn { cause, over: over.map(Nanos::from_millis) });
        assert_eq!(read("slow-start"), one(Some(Cause::SlowStart), None));
        assert_eq!(read("slow-start>1s"), one(Some(Cause::SlowStart), Some(1_000)));
        assert_eq!(read("loss > 250ms"), one(Some(Cause::Loss), Some(250)));
        assert_eq!((read("any"), read("any>2s")), (one(None, None), one(None, Some(2_000))));
        for wrong in ["slow-strat", "slow-start>1", "slow-start>", ">1s", ""] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
