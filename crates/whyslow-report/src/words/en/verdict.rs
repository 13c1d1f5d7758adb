//! The verdict on a transfer.

use crate::words::quantity::time;
use crate::words::{Lang, summary};
use whyslow_analysis::{Finding, LimitingFactor, Verdict};
use whyslow_units::Nanos;

pub(in crate::words) fn verdict(verdict: &Verdict, findings: &[Finding]) -> String {
    match verdict {
        Verdict::Cause => {
            findings.first().map_or(String::new(), |first| format!("{}: {}", first.cause, summary(first, Lang::En)))
        }
        Verdict::Mixed => {
            let parts: Vec<String> =
                findings.iter().take(3).map(|one| format!("{} {}", one.cause, time(one.cost_s))).collect();
            format!("mixed: {}", parts.join(", "))
        }
        Verdict::PartlyShown { shown, whole } => format!(
            "what slowed it is known for {} of {} only: packets of it were left out of the text",
            time(*shown),
            time(*whole)
        ),
        Verdict::Healthy => "nothing slowed it beyond what the path needs".to_owned(),
        Verdict::Unknown => "the capture does not show the cause".to_owned(),
        Verdict::UnknownElided => "the text does not show the cause: packets were left out of it".to_owned(),
        Verdict::Unexplained { limits, whole } => unexplained(limits, *whole),
        Verdict::WaitedForOther => {
            "it waited for another connection between the same hosts, which worked meanwhile: nothing was lost by it"
                .to_owned()
        }
        Verdict::QueuedBehindOther => {
            "it stood in the queue of another transfer between the same hosts (bufferbloat)".to_owned()
        }
    }
}

fn unexplained(limits: &[(LimitingFactor, Nanos)], whole: Nanos) -> String {
    let name = |limit: LimitingFactor| limit.slug().replace('-', " ");
    if let [(limit, took)] = limits {
        return format!("{} took {} of {}; no cause of it is proven", name(*limit), time(*took), time(whole));
    }
    let sum: Nanos = limits.iter().map(|(_, took)| *took).sum();
    let parts: Vec<String> = limits.iter().map(|(limit, took)| format!("{} {}", name(*limit), time(*took))).collect();
    format!("no cause is proven for {} of {}: {}", time(sum), time(whole), parts.join(", "))
}
