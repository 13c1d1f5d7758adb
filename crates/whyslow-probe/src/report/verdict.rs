//! The verdict, which stands first: the costliest cause in a sentence.

use super::floor::Paths;
use super::kernel;
use crate::plan::Series;
use crate::requests::Request;
use crate::results::Results;
use anstyle::Style;
use std::borrow::Cow;
use whyslow_analysis::{Analysis, Cause, Finding};
use whyslow_report::headline::{self, Tone};
use whyslow_report::text::styles::{BOLD, GOOD, UNSURE};
use whyslow_report::text::{Line, Page, units};
use whyslow_report::words::Lang;

/// Prints what the packets show, or what the kernel's account shows if there are none.
pub(super) fn print(page: &mut Page, results: &Results) {
    if let Ok(recorded) = &results.recorded {
        let headline = headline::of(&of_others(&recorded.analysis, &results.requests), Lang::En);
        let style = match headline.tone {
            Tone::Slow => BOLD,
            Tone::Healthy => GOOD,
            Tone::Unknown => UNSURE,
        };
        let whole = (headline.tone == Tone::Healthy).then(|| healthy(&results.requests)).flatten();
        page.wrapped(&Line::new(), style, whole.as_deref().unwrap_or(&headline.sentence));
        if let Some(advice) = &headline.advice {
            page.wrapped(&Line::new(), Style::new(), advice);
        }
    } else if let Some(text) = by_kernel(&results.requests) {
        page.hanging(&Line::new().styled(BOLD, "by TCP_INFO alone: "), Style::new(), &text, 2);
    }
}

/// Nothing was slow in a request: the verdict on its transfers names the time of one of them alone.
fn healthy(requests: &[Request]) -> Option<String> {
    let [request] = requests else { return None };
    let exchange = request.outcome.as_ref().ok()?;
    let took = if let [hop] = &exchange.hops[..] { hop.times.total } else { exchange.took };
    let took = units::figure(took.as_secs_f64(), "s");
    Some(format!("Nothing slowed the request, which took {took}."))
}

/// The analysis without what this program was asked to do: a new connection for each request.
fn of_others<'a>(analysis: &'a Analysis, requests: &[Request]) -> Cow<'a, Analysis> {
    let is_own = |finding: &Finding| finding.cause == Cause::NewConnectionEachTime;
    let is_asked = requests.iter().any(|request| request.series == Series::New);
    if !is_asked || !analysis.findings.iter().any(is_own) {
        return Cow::Borrowed(analysis);
    }
    let mut others = analysis.clone();
    others.findings.retain(|finding| !is_own(finding));
    Cow::Owned(others)
}

/// The kernel's verdict on one request, or the most frequent one on several.
fn by_kernel(requests: &[Request]) -> Option<String> {
    let paths = Paths::of(requests.iter());
    let verdicts = requests.iter().filter_map(|request| {
        let verdict = kernel::verdict(request.outcome.as_ref().ok()?, paths.to(request).rtt())?;
        Some((request, verdict))
    });
    let verdicts: Vec<_> = verdicts.collect();
    let of_cause = |cause| verdicts.iter().filter(|(_, verdict)| verdict.cause == cause).count();
    let cause = verdicts.iter().map(|(_, verdict)| verdict.cause).max_by_key(|cause| of_cause(*cause))?;
    let took = |request: &Request| request.outcome.as_ref().map(|exchange| exchange.took).unwrap_or_default();
    let (_, worst) =
        verdicts.iter().filter(|(_, verdict)| verdict.cause == cause).max_by_key(|(request, _)| took(request))?;
    let name = cause.map_or(String::new(), |cause| format!("{cause} (possible): "));
    Some(if let [_] = requests {
        format!("{name}{}", worst.text)
    } else {
        let answered = units::count(verdicts.len() as u64, "request");
        format!("{name}{} of {answered}; of the slowest: {}", of_cause(cause), worst.text)
    })
}
