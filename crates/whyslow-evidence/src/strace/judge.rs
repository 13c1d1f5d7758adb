//! The waits of a process: the sums of its calls.

use super::parse::{SOURCE, Trace, What};
use crate::report::{Advice, Call, CallStatement, Finding, Limitation, Statement, Subject, Verdict};
use std::collections::BTreeMap;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Actor, Unit};

/// Slow is what cost at least this, seconds, and a tenth of the trace: as for captures.
const SLOW_S: f64 = 0.1;
const SLOW: f64 = 0.1;
/// A SYN is sent again after 1 s, 3 s and 7 s in all (RFC 6298).
const SYN_RETRIES: [f64; 3] = [1.0, 3.0, 7.0];

/// The sum of calls of one kind on one descriptor.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    took_s: f64,
    calls: f64,
    longest_s: f64,
}

pub(super) fn subject(trace: &Trace) -> Option<Subject> {
    let mut sums: BTreeMap<(Call, String), Sum> = BTreeMap::new();
    for call in &trace.calls {
        let named = call.on.and_then(|at| trace.names.get(at));
        let is_socket = named.is_some_and(|named| named.is_socket);
        let kind = match call.what {
            // A descriptor from before the trace may be a file or a socket, and counts as a socket.
            What::Read if is_socket => Call::Receive,
            What::Write if is_socket => Call::Send,
            What::Read | What::Write if named.is_some() => Call::Disk,
            What::Read => Call::Receive,
            What::Write => Call::Send,
            What::Receive | What::PollIn => Call::Receive,
            What::Send | What::PollOut => Call::Send,
            What::Connect => Call::Connect,
            What::Disk => Call::Disk,
            What::Sleep => Call::Sleep,
            What::Lock => Call::Lock,
        };
        let on = match (named, call.fd) {
            (Some(named), _) if !named.text.is_empty() => named.text.clone(),
            (_, Some(fd)) if !matches!(kind, Call::Sleep | Call::Lock) => format!("fd {fd}"),
            _ => String::new(),
        };
        let sum = sums.entry((kind, on)).or_default();
        sum.took_s += call.took_s;
        sum.calls += 1.0;
        sum.longest_s = sum.longest_s.max(call.took_s);
    }
    let all: f64 = sums.values().map(|sum| sum.took_s).sum();
    let whole_s = trace.span.map(|(first, last)| last - first).filter(|span| *span > 0.0).unwrap_or(all).max(0.0);
    let is_enough = trace.calls.len() >= 2;
    if !is_enough {
        return None;
    }
    let mut out = Subject::new(SOURCE, "");
    out.over_s = Some(whole_s).filter(|seconds| *seconds > 0.0);
    out.figure("calls", Some(trace.calls.len() as f64), Unit::Times);
    for (kind, name) in NAMES {
        let sum: f64 = sums.iter().filter(|((one, _), _)| *one == kind).map(|(_, sum)| sum.took_s).sum();
        out.figure(name, Some(sum).filter(|sum| *sum > 0.0), Unit::Seconds);
    }
    out.findings.extend(sums.iter().filter_map(|((call, on), sum)| judge(*call, on, *sum, whole_s)));
    if !trace.has_times {
        out.gaps.push(Limitation::NoCallTimes);
        // The gap to the next line holds the process' own work too.
        out.findings.iter_mut().for_each(|finding| finding.confidence -= 0.2);
    }
    if trace.span.is_none() && !trace.has_times {
        out.verdict = Verdict::Unknown;
    }
    Some(out)
}

const NAMES: [(Call, &str); 6] = [
    (Call::Receive, "receiving"),
    (Call::Send, "sending"),
    (Call::Connect, "connecting"),
    (Call::Disk, "files"),
    (Call::Sleep, "sleeping"),
    (Call::Lock, "futex"),
];

fn judge(call: Call, on: &str, sum: Sum, whole_s: f64) -> Option<Finding> {
    if sum.took_s < SLOW_S || sum.took_s < SLOW * whole_s {
        return None;
    }
    let Sum { took_s, calls, longest_s } = sum;
    let statement = CallStatement::Waited { call, on: on.to_owned(), took_s, whole_s, calls, longest_s };
    let statement = Statement::Calls(statement);
    let finding = match call {
        Call::Receive => Finding::unnamed(0.75, statement)
            .advised(Actor::Application, Advice::LookAtPeer)
            .open(Limitation::PeerOrNetwork),
        Call::Send => Finding::unnamed(0.75, statement).open(Limitation::WhichLimit),
        Call::Connect => {
            let retried = SYN_RETRIES.iter().any(|wait| (wait * 0.99..wait + 0.35).contains(&longest_s));
            match retried {
                true => Finding::new(Cause::SynLoss, 0.7, Statement::SynRetried { took_s: longest_s })
                    .advised(Actor::Network, Advice::CheckReach)
                    .open(Limitation::WhereLost),
                false => Finding::unnamed(0.7, statement).advised(Actor::Network, Advice::CheckReach),
            }
        }
        Call::Disk | Call::Sleep => {
            Finding::new(Cause::Application, 0.7, statement).advised(Actor::Application, Advice::OwnWork)
        }
        // A thread that waits for work waits in a futex all the time.
        Call::Lock => return None,
    };
    Some(finding.costs(took_s).shown("longest call", longest_s, Unit::Seconds))
}
