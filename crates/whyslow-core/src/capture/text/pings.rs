//! Echo requests and their replies: ping's own output, and tcpdump's lines of ICMP.
//!
//! Supports ping's output on Linux, BSD, macOS and Windows, and in BusyBox: its first line, one
//! line per reply, and the counts at its end. The counts take precedence over the lines. Without
//! them a missing number among the replies is a lost request, unless the text marks omitted lines.
//! ping's times are complete round trips; those between tcpdump's lines are the round trip from the
//! capture point.

use crate::capture::Ping;
use std::collections::VecDeque;
use whyslow_units::{Nanos, Time};

/// Maximum number of reported pings.
const MAX: usize = 64;
/// Maximum number of stored pending requests of one series.
const MAX_WAITING: usize = 1024;
/// A host name has at most 255 bytes (RFC 1035 section 2.3.4).
const MAX_HOST: usize = 255;
/// A request this shortly before the end of the text may be answered after it: ping sends one per
/// second.
const LAST: Nanos = Nanos(1_000_000_000);

/// A line of tcpdump about an echo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EchoLine {
    reply: bool,
    /// The sender of the request.
    from: Box<str>,
    to: Box<str>,
    id: u32,
    seq: u32,
}

impl EchoLine {
    /// Parses the text of a packet other than TCP; `None` if it is not an echo.
    pub(super) fn read(text: &str) -> Option<Self> {
        let at = text.find(": ICMP echo re").or_else(|| text.find(": ICMP6, echo re"))?;
        let (head, body) = text.split_at(at);
        let (before, target) = head.rsplit_once(" > ")?;
        let source = before.rsplit([' ', '\t']).next()?;
        let reply = body.contains("echo reply");
        let after = |word: &str| number(body.split_once(word)?.1);
        let (from, to) = if reply { (target, source) } else { (source, target) };
        let known = !from.is_empty() && !to.is_empty() && from.len() <= MAX_HOST && to.len() <= MAX_HOST;
        known.then_some(Self {
            reply,
            from: from.into(),
            to: to.into(),
            id: after(", id ").unwrap_or(0),
            seq: after(", seq ")?,
        })
    }
}

/// The pings of a text.
#[derive(Debug, Default)]
pub(super) struct PingTracker {
    series: Vec<PingSeries>,
    /// The one whose lines are being read.
    current: Option<usize>,
    pub(super) beyond: u64,
}

#[derive(Debug, Default)]
struct PingSeries {
    from: Option<Box<str>>,
    to: Box<str>,
    id: Option<u32>,
    /// From tcpdump's lines: pending requests.
    waiting: VecDeque<(u32, Time)>,
    /// Smallest and largest sequence number.
    seqs: Option<(u32, u32)>,
    /// Whether its first line was read.
    begun: bool,
    /// Unanswered requests reported by lines that have no sequence numbers.
    unanswered: u64,
    requests: u64,
    answered: u64,
    times: Times,
    elided: bool,
    /// ping's own counts: sent and answered.
    counts: Option<(u64, u64)>,
    /// ping's own minimum, mean and maximum.
    summed: Option<[Nanos; 3]>,
}

#[derive(Debug, Default)]
struct Times {
    least: Option<Nanos>,
    most: Nanos,
    sum: Nanos,
    count: u64,
}

impl Times {
    fn add(&mut self, time: Nanos) {
        self.least = Some(self.least.map_or(time, |least| least.min(time)));
        self.most = self.most.max(time);
        self.sum += time;
        self.count += 1;
    }
}

impl PingTracker {
    /// Whether there was no output of ping itself.
    pub(super) fn is_empty(&self) -> bool {
        self.series.is_empty()
    }

    /// Takes a line, if it is ping's.
    pub(super) fn take(&mut self, line: &str) -> bool {
        let line = line.trim();
        if let Some(to) = beginning(line) {
            self.current = self.begin(PingSeries { to: to.into(), begun: true, ..PingSeries::default() });
            return true;
        }
        if let Some((from, seq, time)) = answer(line) {
            let known = self.current.filter(|&at| self.series.get(at).is_some_and(|series| series.counts.is_none()));
            self.current = known.or_else(|| self.begin(PingSeries { to: from.into(), ..PingSeries::default() }));
            if let Some(series) = self.current() {
                // A second reply to one request is a duplicate made by the network.
                if !line.contains("DUP!") {
                    series.answered += 1;
                    series.observe_seq(seq);
                    time.into_iter().for_each(|time| series.times.add(time));
                }
            }
            return true;
        }
        let Some(series) = self.current() else { return false };
        if let Some(counts) = counts(line) {
            series.counts = Some(counts);
            return true;
        }
        if let Some(times) = summary(line) {
            series.summed = Some(times);
            return true;
        }
        let seq = ["icmp_seq=", "icmp_seq "].iter().find_map(|word| number(line.split_once(word)?.1));
        if line.starts_with("Request timeout for icmp_seq") || line.starts_with("no answer yet for icmp_seq") {
            series.observe_seq(seq);
            return true;
        }
        if line.starts_with("Request timed out") || line.contains("nreachable") && line.contains("rom ") {
            series.observe_seq(seq);
            series.unanswered += u64::from(seq.is_none());
            return true;
        }
        line.starts_with("--- ") && line.ends_with("ping statistics ---") || line.starts_with("Ping statistics for ")
    }

    /// Records that lines are missing in the text.
    pub(super) fn left_out(&mut self) {
        if let Some(series) = self.current() {
            series.elided = true;
        }
    }

    fn current(&mut self) -> Option<&mut PingSeries> {
        self.series.get_mut(self.current?)
    }

    fn begin(&mut self, series: PingSeries) -> Option<usize> {
        if self.series.len() >= MAX {
            self.beyond += 1;
            return None;
        }
        self.series.push(series);
        Some(self.series.len() - 1)
    }

    /// Processes a packet of tcpdump.
    pub(super) fn observe(&mut self, echo: EchoLine, time: Time) {
        let same = |series: &PingSeries| {
            series.id == Some(echo.id) && series.to == echo.to && series.from.as_deref() == Some(&*echo.from)
        };
        let at = self.series.iter().position(same).or_else(|| {
            let (from, to, id) = (Some(echo.from.clone()), echo.to.clone(), Some(echo.id));
            self.begin(PingSeries { from, to, id, ..PingSeries::default() })
        });
        let Some(series) = at.and_then(|at| self.series.get_mut(at)) else { return };
        if !echo.reply {
            series.requests += 1;
            series.waiting.push_back((echo.seq, time));
            if series.waiting.len() > MAX_WAITING {
                series.waiting.pop_front();
            }
        } else if let Some(at) = series.waiting.iter().position(|&(seq, _)| seq == echo.seq)
            && let Some((_, sent)) = series.waiting.remove(at)
        {
            series.answered += 1;
            series.times.add((time - sent).or_zero());
        }
    }

    /// All pings, in the order of the text; `last`: time of the last packet. Without a clock the
    /// times between tcpdump's lines are unknown.
    pub(super) fn finish(mut self, clock: bool, last: Time) -> (Vec<Ping>, u64) {
        for series in self.series.iter_mut().filter(|_| clock) {
            let open = series.waiting.iter().filter(|(_, sent)| last - *sent < LAST).count();
            series.requests = series.requests.saturating_sub(open as u64);
        }
        (self.series.into_iter().filter_map(|series| series.into_ping(clock)).collect(), self.beyond)
    }
}

impl PingSeries {
    fn observe_seq(&mut self, seq: Option<u32>) {
        let Some(seq) = seq else { return };
        self.seqs = Some(self.seqs.map_or((seq, seq), |(least, most)| (least.min(seq), most.max(seq))));
    }

    fn into_ping(self, clock: bool) -> Option<Ping> {
        let by_tcpdump = self.id.is_some();
        let shown = match self.seqs {
            _ if by_tcpdump => Some((self.requests, self.answered)),
            _ if self.elided => None,
            // Without the start it is unknown which requests came before; BSD counts from 0, Linux
            // from 1.
            Some((least, most)) => {
                let first = if self.begun { least.min(1) } else { least };
                Some((u64::from(most - first) + 1, self.answered))
            }
            None => Some((self.answered + self.unanswered, self.answered)),
        };
        let counts = self.counts.or(shown).filter(|&(sent, _)| sent > 0);
        let Times { least, most, sum, count } = self.times;
        let lines = least.map(|least| [least, Nanos(sum.0 / (count.max(1) as i64)), most]);
        let times = self.summed.or(lines).filter(|_| clock || !by_tcpdump);
        (counts.is_some() || times.is_some()).then(|| Ping {
            from: self.from.map(String::from),
            to: self.to.into(),
            sent: counts.map(|(sent, _)| sent),
            received: counts.map(|(_, received)| received),
            round_trips: times,
        })
    }
}

/// The host in the first line of ping.
fn beginning(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("PING ").or_else(|| line.strip_prefix("Pinging "));
    let host = match rest {
        Some(rest) if line.contains("bytes") => rest.split([' ', ',']).next()?,
        _ => line.strip_prefix("PING6(")?.split_once(" --> ")?.1.split(' ').next()?,
    };
    let host = host.trim_end_matches(':');
    (!host.is_empty() && host.len() <= MAX_HOST).then_some(host)
}

/// A reply: sender, sequence number, time.
fn answer(line: &str) -> Option<(&str, Option<u32>, Option<Nanos>)> {
    let rest = match line.strip_prefix("Reply from ") {
        Some(rest) if rest.contains(" time") => rest,
        Some(_) => return None,
        None => {
            let (bytes, rest) = line.split_once(" bytes from ")?;
            bytes.bytes().all(|b| b.is_ascii_digit()).then_some(rest)?
        }
    };
    let host = rest.split([' ', ',']).next()?.trim_end_matches(':');
    let seq = rest.split_once("icmp_seq=").and_then(|(_, after)| number(after));
    let time = rest.split_once("time=").or_else(|| rest.split_once("time<")).and_then(|(_, after)| milliseconds(after));
    (!host.is_empty() && host.len() <= MAX_HOST).then_some((host, seq, time))
}

/// `5 packets transmitted, 4 received`, `5 packets transmitted, 4 packets received`,
/// `Sent = 4, Received = 3`.
fn counts(line: &str) -> Option<(u64, u64)> {
    let (sent, rest) = match line.split_once(" packets transmitted, ") {
        Some((sent, rest)) => (number(sent)?, rest),
        None => {
            let rest = line.strip_prefix("Packets: Sent = ")?;
            (number(rest)?, rest.split_once("Received = ")?.1)
        }
    };
    Some((u64::from(sent), u64::from(number(rest)?)))
}

/// `rtt min/avg/max/mdev = 11.1/11.6/12.0/0.3 ms`,
/// `Minimum = 11ms, Maximum = 12ms, Average = 11ms`.
fn summary(line: &str) -> Option<[Nanos; 3]> {
    if let Some(rest) = line.strip_prefix("Minimum = ") {
        let most = rest.split_once("Maximum = ")?.1;
        let mean = rest.split_once("Average = ")?.1;
        return Some([milliseconds(rest)?, milliseconds(mean)?, milliseconds(most)?]);
    }
    let (words, times) = line.split_once(" = ")?;
    if !(words.starts_with("rtt min/avg/max") || words.starts_with("round-trip min/avg/max")) {
        return None;
    }
    let mut times = times.split('/').map(milliseconds);
    Some([times.next()??, times.next()??, times.next()??])
}

fn number(text: &str) -> Option<u32> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    text.get(..digits)?.parse().ok()
}

/// The decimal number of milliseconds at the start of `text`.
fn milliseconds(text: &str) -> Option<Nanos> {
    let digits = text.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
    let value: f64 = text.get(..digits)?.parse().ok()?;
    (value < 1e9).then_some(Nanos((value * 1e6).round() as i64))
}

#[cfg(test)]
mod tests;
