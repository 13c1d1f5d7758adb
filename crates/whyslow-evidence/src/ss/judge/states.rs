//! States that show which end does not act.

use super::snapshot::SocketSnapshot;
use crate::report::{Advice, Finding, HostCause, Statement, Subject, Verdict};
use crate::ss::parse::{SOURCE, Socket};
use whyslow_analysis::Actor;
use whyslow_analysis::cause::Cause;

/// Number of sockets in CLOSE-WAIT that is not chance.
const CLOSE_WAIT: usize = 10;

pub(super) fn listener(now: &Socket) -> Option<Subject> {
    let (waiting, most) = (now.recv_q?, now.send_q?);
    // A queue takes one more than its bound (sk_acceptq_is_full).
    if most < 1.0 || waiting < most {
        return None;
    }
    let mut out = Subject::new(SOURCE, now.local.clone());
    let confidence = if waiting > most { 0.9 } else { 0.5 };
    let statement = Statement::AcceptQueueFull { waiting, most };
    out.findings.push(
        Finding::new(HostCause::ListenOverflow, confidence, statement)
            .advised(Actor::Application, Advice::AcceptFaster),
    );
    Some(out)
}

pub(super) fn unanswered(snapshot: SocketSnapshot<'_>) -> Subject {
    let retries = snapshot.now.timer().map_or(0.0, |(_, row)| row).max(snapshot.now.get("backoff").unwrap_or(0.0));
    let retries = retries.max(snapshot.now.second("retrans").unwrap_or(0.0));
    let mut out = Subject::new(SOURCE, format!("{} → {}", snapshot.now.local, snapshot.now.remote));
    if retries >= 1.0 {
        out.findings.push(
            Finding::new(Cause::NoAnswer, 0.85, Statement::SynUnanswered { retries, connections: 1.0 })
                .advised(Actor::Network, Advice::CheckReach),
        );
    } else {
        out.verdict = Verdict::Unknown;
    }
    out
}

pub(super) fn close_wait(last: &[((&str, &str), usize, &Socket)]) -> Option<Subject> {
    let count = last.iter().filter(|(.., socket)| socket.state == "CLOSE-WAIT").count();
    if count < CLOSE_WAIT {
        return None;
    }
    let mut out = Subject::new(SOURCE, "CLOSE-WAIT");
    out.findings.push(
        Finding::new(HostCause::CloseWait, 0.7, Statement::CloseWait { connections: count as f64 })
            .advised(Actor::Application, Advice::CloseSockets),
    );
    Some(out)
}
