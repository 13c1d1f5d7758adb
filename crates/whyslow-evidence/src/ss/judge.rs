//! Judges each connection by the kernel's account.

mod account;
mod held;
mod network;
mod snapshot;
mod states;

use super::parse::{Look, SOURCE, Socket};
use crate::report::{Limitation, Subject, Verdict};
use held::{no_scaling, own_window, peer_window, send_buffer, shut, timing_out, unread};
use network::{application, loss, moment, paced, queue, spurious};
use snapshot::{BULK, SocketSnapshot, same};
use states::{close_wait, listener, unanswered};
use std::collections::HashMap;
use whyslow_analysis::Unit;

pub(crate) fn subjects(looks: &[Look]) -> Vec<Subject> {
    let mut out = connections(looks);
    if out.is_empty() && !looks.is_empty() {
        let mut none = Subject::new(SOURCE, "");
        none.verdict = Verdict::Unknown;
        none.gaps.push(Limitation::Idle);
        out.push(none);
    }
    out
}

fn connections(looks: &[Look]) -> Vec<Subject> {
    let mut first: HashMap<(&str, &str), (usize, &Socket)> = HashMap::new();
    let mut last: Vec<((&str, &str), usize, &Socket)> = Vec::new();
    let mut place: HashMap<(&str, &str), usize> = HashMap::new();
    let mut by_ends: HashMap<(&str, &str), Vec<&Socket>> = HashMap::new();
    for (index, look) in looks.iter().enumerate() {
        for socket in &look.sockets {
            let key = (socket.local.as_str(), socket.remote.as_str());
            if key.1.is_empty() || socket.state == "LISTEN" {
                last.push((key, index, socket));
                continue;
            }
            first.entry(key).or_insert((index, socket));
            by_ends.entry(key).or_default().push(socket);
            match place.get(&key) {
                // A socket in TIME-WAIT has no figures, so the earlier ones stay.
                Some(&at) if last[at].2.has_info() && !socket.has_info() => {}
                Some(&at) => last[at] = (key, index, socket),
                None => {
                    place.insert(key, last.len());
                    last.push((key, index, socket));
                }
            }
        }
    }
    let mut out: Vec<Subject> = Vec::new();
    for (key, index, now) in &last {
        let earlier = first.get(key).filter(|(at, before)| at < index && same(before, now));
        let over = earlier.and_then(|(at, _)| {
            let seconds = looks[*index].time? - looks[*at].time?;
            Some(if seconds < 0.0 { seconds + 86_400.0 } else { seconds }).filter(|seconds| *seconds > 0.0)
        });
        let Some(mut subject) = subject(SocketSnapshot { now, before: earlier.map(|(_, before)| *before), over })
        else {
            continue;
        };
        subject.account = by_ends.get(key).and_then(|looks| account::of(now, looks)).map(Box::new);
        out.push(subject);
    }
    out.extend(close_wait(&last));
    out
}

fn subject(snapshot: SocketSnapshot<'_>) -> Option<Subject> {
    let now = snapshot.now;
    if now.state == "LISTEN" {
        return listener(now);
    }
    if now.state == "SYN-SENT" {
        return Some(unanswered(snapshot));
    }
    let has_info = now.has_info();
    let queues = now.recv_q.unwrap_or(0.0) + now.send_q.unwrap_or(0.0);
    // The application has closed, and its data is still being sent.
    let is_open = now.state == "ESTAB" || (has_info && matches!(now.state.as_str(), "FIN-WAIT-1" | "LAST-ACK"));
    if !is_open || (!has_info && queues == 0.0) {
        return None;
    }
    let name = if now.remote.is_empty() { String::new() } else { format!("{} → {}", now.local, now.remote) };
    let mut out = Subject::new(SOURCE, name);
    out.over_s = snapshot.over;
    figures(snapshot, &mut out);
    let rules = [
        timing_out,
        shut,
        unread,
        peer_window,
        send_buffer,
        no_scaling,
        queue,
        loss,
        spurious,
        paced,
        own_window,
        moment,
    ];
    out.findings = rules.iter().filter_map(|rule| rule(snapshot)).collect();
    if out.findings.is_empty() {
        out.findings.extend(application(snapshot));
    }
    gaps(snapshot, &mut out);
    Some(out)
}

fn figures(snapshot: SocketSnapshot<'_>, out: &mut Subject) {
    let now = snapshot.now;
    out.figure("rtt", snapshot.rtt(), Unit::Seconds);
    out.figure("minrtt", snapshot.least(), Unit::Seconds);
    out.figure("cwnd", now.get("cwnd"), Unit::Segments);
    out.figure("ssthresh", now.get("ssthresh"), Unit::Segments);
    out.figure("unacked", now.get("unacked"), Unit::Segments);
    out.figure("retrans", now.second("retrans"), Unit::Segments);
    out.figure("delivery_rate", now.rate("delivery_rate"), Unit::BitsPerSecond);
    out.figure("busy", snapshot.seconds("busy"), Unit::Seconds);
    if let Some((bytes, over)) = snapshot.count("bytes_acked").zip(snapshot.over).filter(|(bytes, _)| *bytes > 0.0) {
        out.figure("bytes_acked / time", Some(bytes * 8.0 / over), Unit::BitsPerSecond);
    }
}

fn gaps(snapshot: SocketSnapshot<'_>, out: &mut Subject) {
    let sent = snapshot.count("bytes_acked").or_else(|| snapshot.count("bytes_sent")).unwrap_or(0.0);
    let came = snapshot.count("bytes_received").unwrap_or(0.0);
    let receives = came > BULK && came > 2.0 * sent;
    if receives {
        out.gaps.push(Limitation::ReceiverSide);
    }
    let waits = snapshot.now.send_q.unwrap_or(0.0) > 0.0 || snapshot.unacked() > 0.0;
    if out.findings.is_empty() && !waits && sent < BULK && !receives {
        out.gaps.push(Limitation::Idle);
    }
    if out.findings.is_empty() && receives {
        out.verdict = Verdict::Unknown;
    }
    out.gaps.push(match (snapshot.before, snapshot.over) {
        (None, _) => Limitation::SinceConnection,
        (Some(_), None) => Limitation::NoTimes,
        (Some(_), Some(_)) => return,
    });
}
