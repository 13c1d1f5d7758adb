//! `ping` of Linux, macOS and Windows.

use crate::limits::{LOSSY, QUEUE_GROWTH_S, in_queue};
use crate::report::{Advice, Finding, Limitation, Source, Statement, Subject, Verdict};
use crate::text::{Text, number, whole};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Actor, LinkAction, LossAction, Unit};

/// `ping`.
pub(crate) const PING: Source = Source::new("ping");

/// Fewer probes show no share of 1 %.
pub(super) const ENOUGH: f64 = 100.0;
/// Maximum number of pings and replies of a text.
const PINGS: usize = 1_000;
const REPLIES: usize = 100_000;

#[derive(Debug, Default)]
struct Ping {
    to: String,
    times: Vec<f64>,
    sent: Option<f64>,
    received: Option<f64>,
    least: Option<f64>,
    mean: Option<f64>,
    most: Option<f64>,
}

pub(super) fn subjects(text: &Text<'_>) -> Vec<Subject> {
    let mut pings: Vec<Ping> = vec![Ping::default()];
    for line in text.lines() {
        let trimmed = line.trim();
        let begins = trimmed.starts_with("PING ") || trimmed.starts_with("Pinging ");
        if begins && pings.len() < PINGS {
            let to = trimmed.split_whitespace().nth(1).unwrap_or_default().to_owned();
            pings.push(Ping { to, ..Ping::default() });
        }
        if let Some(ping) = pings.last_mut() {
            read(ping, trimmed);
        }
    }
    pings.retain(|ping| !ping.times.is_empty() || ping.sent.is_some() || ping.least.is_some());
    pings.iter().map(judge).collect()
}

/// Milliseconds behind a mark.
fn after(line: &str, mark: &str) -> Option<f64> {
    let rest = &line[line.find(mark)? + mark.len()..];
    number(rest.trim_start()).map(|(value, _)| value / 1e3)
}

fn read(ping: &mut Ping, line: &str) {
    let is_reply = line.contains("bytes from") || line.starts_with("Reply from") || line.contains("icmp_seq");
    if is_reply && ping.times.len() < REPLIES {
        let time = after(line, "time=").or_else(|| after(line, "time<"));
        ping.times.extend(time);
    }
    if line.contains("packets transmitted") {
        let mut numbers = line.split(", ").filter_map(|part| whole(part.split_whitespace().next()?));
        ping.sent = numbers.next().map(|sent| sent as f64);
        ping.received = numbers.next().map(|received| received as f64);
    }
    // Windows.
    if line.contains("Sent =") && line.contains("Received =") {
        let of = |name: &str| {
            let rest = &line[line.find(name)? + name.len()..];
            number(rest.trim_start()).map(|(value, _)| value)
        };
        ping.sent = of("Sent =");
        ping.received = of("Received =");
    }
    if line.contains("Minimum =") {
        ping.least = after(line, "Minimum =");
        ping.most = after(line, "Maximum =");
        ping.mean = after(line, "Average =");
    }
    // `rtt min/avg/max/mdev = 1.1/2.2/3.3/0.4 ms`, `round-trip min/avg/max/stddev = …`.
    if line.contains("min/avg/max")
        && let Some((_, figures)) = line.split_once(" = ")
    {
        let mut parts = figures.split('/').map(|part| number(part).map(|(value, _)| value / 1e3));
        ping.least = parts.next().flatten();
        ping.mean = parts.next().flatten();
        ping.most = parts.next().flatten();
    }
}

fn judge(ping: &Ping) -> Subject {
    let mut out = Subject::new(PING, ping.to.clone());
    let least = ping.least.or_else(|| ping.times.iter().copied().reduce(f64::min));
    let most = ping.most.or_else(|| ping.times.iter().copied().reduce(f64::max));
    let count = ping.times.len() as f64;
    let mean = ping.mean.or_else(|| (count > 0.0).then(|| ping.times.iter().sum::<f64>() / count));
    out.figure("min", least, Unit::Seconds);
    out.figure("avg", mean, Unit::Seconds);
    out.figure("max", most, Unit::Seconds);
    out.figure("sent", ping.sent, Unit::Probes);
    out.figure("received", ping.received, Unit::Probes);
    if let (Some(of), Some(received)) = (ping.sent.filter(|sent| *sent > 0.0), ping.received) {
        out.findings.extend(lost(of, (of - received).max(0.0), None));
        if of < ENOUGH {
            out.gaps.push(Limitation::FewProbes);
        }
        if received == 0.0 {
            out.verdict = Verdict::Unknown;
        }
    } else {
        out.gaps.push(Limitation::FewProbes);
    }
    out.findings.extend(least.zip(mean).zip(most).and_then(|((least, mean), most)| varies(least, mean, most)));
    out.gaps.push(Limitation::ProbesOnly);
    out
}

/// Probes that had no answer.
pub(super) fn lost(of: f64, lost: f64, from: Option<String>) -> Option<Finding> {
    if lost >= of {
        // A host that answers no ping may serve well.
        return Some(
            Finding::unnamed(0.4, Statement::NoReply { probes: of })
                .advised(Actor::Network, Advice::CheckReach)
                .open(Limitation::ProbesOnly),
        );
    }
    if lost < 2.0 || lost < LOSSY * of {
        return None;
    }
    let share = lost / of;
    // One loss of many by chance: ten make a share, as for captures.
    let confidence = if lost >= 10.0 {
        0.7
    } else if share >= 0.1 {
        0.6
    } else {
        0.5
    };
    let finding = Finding::new(Cause::Loss, confidence, Statement::ProbesLost { share, of, from: from.clone() }).shown(
        "lost",
        lost,
        Unit::Probes,
    );
    let finding = match from {
        Some(hop) => finding.advised(Actor::Network, Advice::LookAtHop { hop }),
        None => finding.remedied(Actor::Network, LossAction::FindLoss { share: Some(share) }),
    };
    Some(finding.open(Limitation::ProbesOnly))
}

/// The mean is twice the least round trip and 10 ms more, as for a queue in captures.
pub(super) fn varies(least_s: f64, mean_s: f64, most_s: f64) -> Option<Finding> {
    (in_queue(mean_s, least_s) && mean_s - least_s >= QUEUE_GROWTH_S).then(|| {
        Finding::new(Cause::Bufferbloat, 0.55, Statement::Varies { least_s, mean_s, most_s })
            .shown("avg - min", mean_s - least_s, Unit::Seconds)
            .remedied(Actor::Network, LinkAction::ManageQueue { rate_bps: None })
            .open(Limitation::ProbesOnly)
    })
}
