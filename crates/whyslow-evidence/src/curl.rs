//! `curl -w`: the phases of a request, whatever the format calls them.

use crate::evidence::Evidence;
use crate::report::{Advice, Finding, Limitation, Phase, Source, Statement, Subject, Verdict};
use crate::text::{Text, number};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Actor, End, ExchangeAction, SendingAction, Unit};

/// `curl -w` with named times, and its JSON.
pub(crate) struct Curl;

/// Slow is what cost at least this, seconds, and a tenth of the request: as for captures.
const SLOW_S: f64 = 0.1;
const SLOW: f64 = 0.1;
/// A SYN is sent again after 1 s, 3 s and 7 s in all (RFC 6298); a round trip comes on top.
const SYN_RETRIES: [f64; 4] = [1.0, 3.0, 7.0, 15.0];
/// The first flight of most senders, bytes: 10 segments (RFC 6928).
const FIRST_FLIGHT: f64 = 14_600.0;
/// Maximum number of requests of a text.
const REQUESTS: usize = 10_000;

/// Times since the start, seconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times {
    pub dns: Option<f64>,
    pub connect: Option<f64>,
    pub tls: Option<f64>,
    pub pre: Option<f64>,
    pub start: Option<f64>,
    pub redirect: Option<f64>,
    pub total: Option<f64>,
    pub size: Option<f64>,
}

/// The tool.
pub(crate) const SOURCE: Source = Source::new("curl");

impl Evidence for Curl {
    fn sources(&self) -> &'static [Source] {
        &[SOURCE]
    }

    fn cannot_show(&self) -> &'static [Limitation] {
        &[Limitation::OneRequest]
    }

    fn read(&self, text: &Text<'_>) -> Vec<Subject> {
        let mut all: Vec<Times> = vec![Times::default()];
        for (key, value) in text.lines().flat_map(pairs) {
            let Some(last) = all.last_mut() else { break };
            if let Some(slot) = slot(last, &key) {
                if slot.is_some() {
                    // The same name again is the next request.
                    if all.len() >= REQUESTS {
                        break;
                    }
                    all.push(Times::default());
                    if let Some(slot) = all.last_mut().and_then(|last| self::slot(last, &key)) {
                        *slot = Some(value);
                    }
                } else {
                    *slot = Some(value);
                }
            }
        }
        all.retain(Times::is_enough);
        all.iter_mut().for_each(Times::repair);
        all.iter().enumerate().map(|(index, times)| subject(SOURCE, index, all.len(), times)).collect()
    }
}

/// Names with a number behind them: `time_total: 0.2s`, `"time_total":0.2`, `Total time: 0,2`.
fn pairs(line: &str) -> Vec<(String, f64)> {
    let mut out = Vec::new();
    if line.contains("%{") || line.len() > 20_000 {
        return out;
    }
    let mut key = String::new();
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        if c.is_ascii_digit() && !key.trim().is_empty() && key.trim_end().ends_with([':', '=', '"', '>']) {
            let Some((value, after)) = number(rest) else { break };
            let unit: String = after.trim_start().chars().take_while(char::is_ascii_alphabetic).collect();
            let is_attached = after.starts_with(|c: char| c.is_ascii_alphabetic());
            let value = if unit == "ms" { value / 1e3 } else { value };
            out.push((normal(&key), value));
            rest =
                if is_attached { &after[unit.len()..] } else { after.trim_start().strip_prefix("ms").unwrap_or(after) };
            key.clear();
            continue;
        }
        if matches!(c, ',' | '|' | ';' | '{') {
            key.clear();
        } else {
            key.push(c);
        }
        rest = &rest[c.len_utf8()..];
        if key.len() > 80 {
            key.clear();
        }
    }
    out
}

/// A name without what formats add to it.
fn normal(key: &str) -> String {
    let letters: String = key.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    letters.replace("time", "")
}

fn slot<'a>(times: &'a mut Times, key: &str) -> Option<&'a mut Option<f64>> {
    Some(match key {
        "namelookup" | "lookup" | "dnslookup" | "dns" | "nslookup" => &mut times.dns,
        "connect" | "tcpconnect" | "tcp" | "connected" => &mut times.connect,
        "appconnect" | "appcon" | "tls" | "ssl" | "tlshandshake" | "sslhandshake" | "handshake" => &mut times.tls,
        "pretransfer" | "prexfer" => &mut times.pre,
        "starttransfer" | "startxfer" | "starttrans" | "ttfb" | "tofirstbyte" | "firstbyte" => &mut times.start,
        "redirect" | "redirects" => &mut times.redirect,
        "total" => &mut times.total,
        "sizedownload" => &mut times.size,
        _ => return None,
    })
}

impl Times {
    /// No other text has two of these names and a total or a first byte.
    fn is_enough(&self) -> bool {
        let known = [self.dns, self.connect, self.tls, self.pre, self.start, self.total];
        known.iter().flatten().count() >= 3 && (self.total.is_some() || self.start.is_some())
    }

    /// curl 7.74 printed microseconds; a request takes no day.
    fn repair(&mut self) {
        let largest = self.total.or(self.start).unwrap_or(0.0);
        let whole = [self.dns, self.connect, self.start, self.total].iter().flatten().all(|time| time.fract() == 0.0);
        if largest > 10_000.0 && whole {
            for time in [
                &mut self.dns,
                &mut self.connect,
                &mut self.tls,
                &mut self.pre,
                &mut self.start,
                &mut self.redirect,
                &mut self.total,
            ] {
                *time = time.map(|us| us / 1e6);
            }
        }
    }

    /// Phases in their order, seconds.
    fn phases(&self) -> [(Phase, f64); 6] {
        let redirect = self.redirect.unwrap_or(0.0);
        let dns = self.dns.unwrap_or(0.0).max(redirect);
        let connect = self.connect.unwrap_or(0.0).max(dns);
        let tls = self.tls.unwrap_or(0.0).max(connect);
        let pre = self.pre.unwrap_or(0.0).max(tls);
        let start = self.start.unwrap_or(pre).max(pre);
        let total = self.total.unwrap_or(start).max(start);
        [
            (Phase::Redirect, redirect),
            (Phase::Dns, dns - redirect),
            (Phase::Connect, connect - dns),
            (Phase::Tls, tls - connect),
            (Phase::Wait, start - pre),
            (Phase::Download, total - start),
        ]
    }
}

/// The subject of a request of several.
pub(crate) fn subject(source: Source, index: usize, of: usize, times: &Times) -> Subject {
    let name = if of > 1 { format!("#{}", index + 1) } else { String::new() };
    let mut out = Subject::new(source, name);
    let phases = times.phases();
    let whole = times.total.or(times.start).unwrap_or(0.0);
    for (phase, seconds) in phases {
        let name = match phase {
            Phase::Redirect if seconds == 0.0 => continue,
            Phase::Redirect => "redirect",
            Phase::Dns => "DNS",
            Phase::Connect => "connect",
            Phase::Tls => "TLS",
            Phase::Wait => "first byte",
            _ => "receive",
        };
        out.figure(name, Some(seconds), Unit::Seconds);
    }
    out.figure("total", Some(whole), Unit::Seconds);
    // One round trip, if nothing was sent again.
    let connect = phases[2].1;
    let rtt = Some(connect).filter(|rtt| *rtt > 0.0 && times.connect.is_some());
    for (phase, seconds) in phases {
        out.findings.extend(judge(phase, seconds, whole, rtt, times));
    }
    if out.findings.is_empty() {
        out.findings.extend(round_trips(&phases, whole, rtt));
    }
    if times.connect.is_none() && whole >= SLOW_S && out.findings.is_empty() {
        out.verdict = Verdict::Unknown;
    }
    out
}

/// A tenth of a second and a tenth of the request.
fn is_slow(extra: f64, whole: f64) -> bool {
    extra >= SLOW_S && extra >= SLOW * whole
}

fn judge(phase: Phase, seconds: f64, whole_s: f64, rtt: Option<f64>, times: &Times) -> Option<Finding> {
    let statement = Statement::Phase { phase, took_s: seconds, whole_s };
    let phase_of = |confidence| Finding::unnamed(confidence, statement.clone());
    // A connection whose SYN was sent again gives no round trip.
    let retried = SYN_RETRIES.iter().any(|wait| (wait * 0.99..wait + 0.35).contains(&rtt.unwrap_or(0.0)));
    let rtt = rtt.filter(|_| !retried).unwrap_or(0.0);
    match phase {
        Phase::Dns if is_slow(seconds, whole_s) => {
            Some(phase_of(0.8).costs(seconds).advised(Actor::Application, Advice::CheckResolver))
        }
        Phase::Redirect if is_slow(seconds, whole_s) => {
            Some(phase_of(0.8).costs(seconds).advised(Actor::Application, Advice::AvoidRedirects))
        }
        Phase::Connect if retried && is_slow(seconds, whole_s) => {
            let finding = Finding::new(Cause::SynLoss, 0.65, Statement::SynRetried { took_s: seconds });
            Some(finding.costs(seconds.floor()).advised(Actor::Network, Advice::CheckReach).open(Limitation::WhereLost))
        }
        // TLS 1.2 takes two round trips, and certificates that are longer than a flight one more.
        Phase::Tls if times.connect.is_some() && is_slow(seconds - 3.0 * rtt, whole_s) => {
            let extra = seconds - 2.0 * rtt;
            Some(phase_of(0.6).costs(extra).advised(Actor::Application, Advice::CheckTls))
        }
        Phase::Wait if is_slow(seconds - 1.5 * rtt, whole_s) => Some(
            Finding::new(Cause::ServerThink, 0.75, statement)
                .costs(seconds - rtt)
                .remedied(Actor::Application, ExchangeAction::ProfileRequest { at: End::Server })
                .open(Limitation::ServerOrBackend),
        ),
        Phase::Download if is_slow(seconds, whole_s) && seconds >= 0.5 * whole_s => {
            Some(download(seconds, whole_s, rtt, times))
        }
        _ => None,
    }
}

fn download(took_s: f64, whole_s: f64, rtt: f64, times: &Times) -> Finding {
    let statement = Statement::Phase { phase: Phase::Download, took_s, whole_s };
    let rounds =
        times.size.filter(|size| *size > FIRST_FLIGHT).map(|size| (size / FIRST_FLIGHT + 1.0).log2().ceil() - 1.0);
    // Slow start alone: the rounds that double, within a quarter.
    if let Some(ideal) = rounds.filter(|_| rtt >= 0.01).map(|rounds| rounds * rtt)
        && (0.75..=1.25).contains(&(took_s / ideal))
    {
        return Finding::new(Cause::SlowStart, 0.6, statement)
            .costs(took_s)
            .remedied(Actor::Application, SendingAction::ReuseConnection { cap: None })
            .open(Limitation::DownloadUnknown);
    }
    Finding::unnamed(0.6, statement).costs(took_s).open(Limitation::DownloadUnknown)
}

/// Nothing but distance: phases that are round trips.
fn round_trips(phases: &[(Phase, f64); 6], whole_s: f64, rtt: Option<f64>) -> Option<Finding> {
    let rtt_s = rtt.filter(|rtt| (0.05..0.9).contains(rtt))?;
    let spent: f64 = [phases[2].1, phases[3].1, phases[4].1].iter().sum();
    let count = (spent / rtt_s).round();
    (count >= 2.0 && spent >= 0.5 * whole_s && whole_s >= 0.2).then(|| {
        Finding::unnamed(0.6, Statement::RoundTrips { count, rtt_s, whole_s })
            .costs(spent)
            .remedied(Actor::Application, SendingAction::ReuseConnection { cap: None })
            .remedied(Actor::Application, ExchangeAction::MoveCloser)
    })
}
