//! What the kernel's account says of each connection.

mod account;
mod held;
mod network;
mod seen;
mod states;

use super::parse::{Look, SOURCE, Socket};
use crate::report::{Gap, Subject, Verdict};
use held::{no_scaling, own_window, peer_window, send_buffer, shut, timing_out, unread};
use network::{application, loss, moment, paced, queue, spurious};
use seen::{BULK, Seen, same};
use states::{close_wait, listener, unanswered};
use std::collections::HashMap;
use whyslow_core::analysis::Unit;

pub(crate) fn subjects(looks: &[Look]) -> Vec<Subject> {
    let mut out = connections(looks);
    if out.is_empty() && !looks.is_empty() {
        let mut none = Subject::new(SOURCE, "");
        none.verdict = Verdict::Unknown;
        none.gaps.push(Gap::Idle);
        out.push(none);
    }
    out
}

fn connections(looks: &[Look]) -> Vec<Subject> {
    let mut first: HashMap<(&str, &str), (usize, &Socket)> = HashMap::new();
    let mut last: Vec<((&str, &str), usize, &Socket)> = Vec::new();
    let mut place: HashMap<(&str, &str), usize> = HashMap::new();
    let mut seen: HashMap<(&str, &str), Vec<&Socket>> = HashMap::new();
    for (index, look) in looks.iter().enumerate() {
        for socket in &look.sockets {
            let key = (socket.local.as_str(), socket.remote.as_str());
            if key.1.is_empty() || socket.state == "LISTEN" {
                last.push((key, index, socket));
                continue;
            }
            first.entry(key).or_insert((index, socket));
            seen.entry(key).or_default().push(socket);
            match place.get(&key) {
                // What is left behind the end (TIME-WAIT) has no figures: those of before stay.
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
        let Some(mut subject) = subject(Seen { now, before: earlier.map(|(_, before)| *before), over }) else {
            continue;
        };
        subject.account = seen.get(key).and_then(|looks| account::of(now, looks)).map(Box::new);
        out.push(subject);
    }
    out.extend(close_wait(&last));
    out
}

fn subject(seen: Seen<'_>) -> Option<Subject> {
    let now = seen.now;
    if now.state == "LISTEN" {
        return listener(now);
    }
    if now.state == "SYN-SENT" {
        return Some(unanswered(seen));
    }
    let has_info = now.has_info();
    let queues = now.recv_q.unwrap_or(0.0) + now.send_q.unwrap_or(0.0);
    // The application has closed, and what it wrote is still sent.
    let is_open = now.state == "ESTAB" || (has_info && matches!(now.state.as_str(), "FIN-WAIT-1" | "LAST-ACK"));
    if !is_open || (!has_info && queues == 0.0) {
        return None;
    }
    let name = if now.remote.is_empty() { String::new() } else { format!("{} → {}", now.local, now.remote) };
    let mut out = Subject::new(SOURCE, name);
    out.over_s = seen.over;
    figures(seen, &mut out);
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
    out.findings = rules.iter().filter_map(|rule| rule(seen)).collect();
    if out.findings.is_empty() {
        out.findings.extend(application(seen));
    }
    gaps(seen, &mut out);
    Some(out)
}

fn figures(seen: Seen<'_>, out: &mut Subject) {
    let now = seen.now;
    out.figure("rtt", seen.rtt(), Unit::Seconds);
    out.figure("minrtt", seen.least(), Unit::Seconds);
    out.figure("cwnd", now.get("cwnd"), Unit::Segments);
    out.figure("ssthresh", now.get("ssthresh"), Unit::Segments);
    out.figure("unacked", now.get("unacked"), Unit::Segments);
    out.figure("retrans", now.second("retrans"), Unit::Segments);
    out.figure("delivery_rate", now.rate("delivery_rate"), Unit::BitsPerSecond);
    out.figure("busy", seen.seconds("busy"), Unit::Seconds);
    if let Some((bytes, over)) = seen.count("bytes_acked").zip(seen.over).filter(|(bytes, _)| *bytes > 0.0) {
        out.figure("bytes_acked / time", Some(bytes * 8.0 / over), Unit::BitsPerSecond);
    }
}

fn gaps(seen: Seen<'_>, out: &mut Subject) {
    let sent = seen.count("bytes_acked").or_else(|| seen.count("bytes_sent")).unwrap_or(0.0);
    let came = seen.count("bytes_received").unwrap_or(0.0);
    let receives = came > BULK && came > 2.0 * sent;
    if receives {
        out.gaps.push(Gap::ReceiverSide);
    }
    let waits = seen.now.send_q.unwrap_or(0.0) > 0.0 || seen.unacked() > 0.0;
    if out.findings.is_empty() && !waits && sent < BULK && !receives {
        out.gaps.push(Gap::Idle);
    }
    if out.findings.is_empty() && receives {
        out.verdict = Verdict::Unknown;
    }
    out.gaps.push(match (seen.before, seen.over) {
        (None, _) => Gap::SinceConnection,
        (Some(_), None) => Gap::NoTimes,
        (Some(_), Some(_)) => return,
    });
}
