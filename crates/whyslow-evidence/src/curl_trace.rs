//! `curl --trace-time` with `-v`, `--trace` or `--trace-ascii`: when each step happened.

use crate::curl::{self, Times};
use crate::evidence::Evidence;
use crate::report::{Finding, Limitation, Source, Statement, Subject};
use crate::text::{self, Text};
use whyslow_analysis::Unit;

/// The output of curl with times.
pub(crate) struct CurlTrace;

/// The tool, with another output than `curl -w`.
pub(crate) const SOURCE: Source = Source::new("curl-trace");

/// A silence inside a response that is a stall, seconds: as for captures.
const STALL_S: f64 = 1.0;
/// Maximum number of requests of a text.
const REQUESTS: usize = 10_000;

impl Evidence for CurlTrace {
    fn sources(&self) -> &'static [Source] {
        &[SOURCE]
    }

    fn cannot_show(&self) -> &'static [Limitation] {
        &[Limitation::OneRequest]
    }

    fn read(&self, text: &Text<'_>) -> Vec<Subject> {
        let requests = requests(text);
        let of = requests.len();
        requests.iter().enumerate().map(|(index, request)| subject(index, of, request)).collect()
    }
}

/// A request: when its steps happened, in seconds of the day.
#[derive(Debug, Default)]
struct Request {
    begin: f64,
    resolved: Option<f64>,
    connected: Option<f64>,
    secured: Option<f64>,
    sent: Option<f64>,
    first: Option<f64>,
    last: f64,
    /// The longest silence after the first byte.
    silence: f64,
    is_reused: bool,
}

/// A step of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Begins,
    Resolved,
    Connected,
    Secured,
    Sent,
    Received,
    Reused,
    Other,
}

fn step(rest: &str) -> Option<Step> {
    let info = rest.strip_prefix("== Info:").or_else(|| rest.strip_prefix("* "));
    if let Some(info) = info.map(str::trim) {
        let info = info.split_once("] ").filter(|_| info.starts_with('[')).map_or(info, |(_, after)| after);
        return Some(match info {
            _ if info.starts_with("Trying ") => Step::Resolved,
            _ if info.starts_with("Connected to ") || info.starts_with("Established connection") => Step::Connected,
            _ if info.starts_with("Re-using existing") || info.starts_with("Reusing existing") => Step::Reused,
            _ if info.starts_with("Issue another request") || info.starts_with("processing: ") => Step::Begins,
            _ if info.starts_with("SSL connection using") || info.contains("TLS handshake, Finished") => Step::Secured,
            _ => Step::Other,
        });
    }
    let is_header = |line: &str| {
        ["GET ", "POST ", "HEAD ", "PUT ", "DELETE ", "PATCH ", "OPTIONS "].iter().any(|verb| line.starts_with(verb))
    };
    if rest.starts_with("=> Send header") || rest.strip_prefix("> ").is_some_and(is_header) {
        return Some(Step::Sent);
    }
    if rest.starts_with("<= Recv header") || rest.starts_with("<= Recv data") || rest.starts_with("< HTTP/") {
        return Some(Step::Received);
    }
    (rest.starts_with("=> Send") || rest.starts_with("<= Recv") || rest.starts_with('{') || rest.starts_with("< "))
        .then_some(Step::Other)
}

fn requests(text: &Text<'_>) -> Vec<Request> {
    let mut out: Vec<Request> = Vec::new();
    let mut before: Option<f64> = None;
    let mut days = 0.0;
    for line in text.lines() {
        let trimmed = line.trim();
        let Some((word, rest)) = trimmed.split_once(' ') else { continue };
        let Some(clock) = text::time(word) else { continue };
        let Some(step) = step(rest.trim_start()) else { continue };
        // Past midnight.
        if before.is_some_and(|before| clock + days < before - 43_200.0) {
            days += 86_400.0;
        }
        let time = clock + days;
        let is_over = out.last().is_none_or(|request| request.first.is_some());
        let begins = matches!(step, Step::Begins | Step::Resolved | Step::Reused | Step::Sent) && is_over;
        if begins || out.is_empty() {
            if out.len() >= REQUESTS {
                break;
            }
            let begin = if out.is_empty() { time } else { before.unwrap_or(time) };
            out.push(Request { begin, last: time, ..Request::default() });
        }
        if let Some(request) = out.last_mut() {
            take(request, step, time);
        }
        before = Some(time);
    }
    out.retain(|request| request.sent.is_some() && request.first.is_some());
    out
}

fn take(request: &mut Request, step: Step, time: f64) {
    if request.first.is_some() {
        request.silence = request.silence.max(time - request.last);
    }
    request.last = request.last.max(time);
    match step {
        Step::Resolved => {
            request.resolved.get_or_insert(time);
        }
        Step::Connected => request.connected = Some(time),
        Step::Secured => request.secured = Some(time),
        Step::Sent => {
            request.sent.get_or_insert(time);
        }
        Step::Received if request.sent.is_some() => {
            request.first.get_or_insert(time);
        }
        Step::Reused => request.is_reused = true,
        Step::Begins | Step::Other | Step::Received => {}
    }
}

fn subject(index: usize, of: usize, request: &Request) -> Subject {
    let since = |time: Option<f64>| time.map(|time| (time - request.begin).max(0.0));
    let times = Times {
        dns: since(request.resolved),
        connect: since(request.connected).filter(|_| !request.is_reused),
        tls: since(request.secured.filter(|secured| request.sent.is_none_or(|sent| *secured <= sent))),
        pre: since(request.sent),
        start: since(request.first),
        total: Some(request.last - request.begin),
        ..Times::default()
    };
    let mut out = curl::subject(SOURCE, index, of, &times);
    let whole_s = request.last - request.begin;
    if request.silence >= STALL_S {
        // It is a part of receiving, with more detail.
        out.findings.push(
            Finding::unnamed(0.75, Statement::Stalled { seconds: request.silence, of_s: whole_s })
                .costs(request.silence)
                .shown("longest silence", request.silence, Unit::Seconds)
                .open(Limitation::DownloadUnknown),
        );
    }
    out
}
