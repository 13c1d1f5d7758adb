//! Other explanations of a transfer, where a run with the tested one does not agree: if one of them
//! agrees, the capture contradicts the tested one.

use super::agreement::Agreement;
use super::captured::Captured;
use super::search::{self, Fitted};
use super::supposition::Supposition;
use super::trial::Workshop;
use whyslow_analysis::Cause;

/// Maximum number of runs of each.
const TRIES: u32 = 3;

/// Another explanation, and how its run compares with the capture.
pub(super) struct Alternative {
    pub cause: Cause,
    pub agreement: Agreement,
}

/// Runs other explanations than `tested` (by default that of the analysis) until one agrees. If the
/// tested one agrees, the result is empty.
pub(super) fn of(
    captured: &Captured,
    tested: Option<Supposition>,
    fitted: &Fitted,
    at_most: f64,
    shop: &Workshop<'_>,
) -> Vec<Alternative> {
    let own = captured.own_supposition();
    let tested = tested.or(own);
    let mut all = Vec::new();
    // A verdict of another kind has no mechanism to which these would be alternatives.
    if fitted.agreement.agrees || own.is_none() {
        return all;
    }
    let mut others: Vec<Supposition> = Supposition::ALL.into_iter().filter(|it| Some(*it) != tested).collect();
    // The explanation of the analysis is the likeliest.
    others.sort_by_key(|it| Some(*it) != own);
    for other in others {
        let supposed = if Some(other) == own { Some(captured.clone()) } else { captured.supposing(other) };
        let Some(supposed) = supposed.filter(|_| !shop.is_over()) else { break };
        let cause = supposed.top().map_or(other.cause(), |finding| finding.cause);
        (shop.progress)(&format!("another explanation: {cause}"));
        // An explanation that cannot be run is not compared.
        let Ok(fitted) = search::fit(&supposed, other.cause().slug(), at_most, TRIES, shop) else { continue };
        let agrees = fitted.agreement.agrees;
        all.push(Alternative { cause, agreement: fitted.agreement });
        if agrees {
            break;
        }
    }
    all
}

/// The explanation that agrees.
pub(super) fn behaves_like(all: &[Alternative]) -> Option<Cause> {
    all.iter().find(|it| it.agreement.agrees).map(|it| it.cause)
}
