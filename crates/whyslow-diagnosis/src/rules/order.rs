//! The order in which findings are listed.

use whyslow_analysis::Finding;

/// In that order.
pub(super) fn sorted(findings: impl Iterator<Item = Finding>) -> Vec<Finding> {
    let mut findings: Vec<_> = findings.collect();
    sort_by_cost(&mut findings);
    findings
}

/// Most seconds first; last, time for which it is unknown whether a user waited.
pub(crate) fn sort_by_cost(findings: &mut [Finding]) {
    findings.sort_by_key(|finding| (!finding.is_waited_for(), std::cmp::Reverse(finding.cost_s), finding.cause));
}
