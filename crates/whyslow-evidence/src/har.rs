//! HAR, what browsers record of a page load: where the time of its requests went.

use crate::evidence::Evidence;
use crate::json;
use crate::report::{Advice, Figure, Finding, Limitation, PageStatement, Phase, Source, Statement, Subject, Verdict};
use crate::text::{self, Text};
use serde::Deserialize;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Actor, End, ExchangeAction, Unit};

/// HTTP archives (HAR 1.2).
pub(crate) struct Har;

/// The format.
pub(crate) const SOURCE: Source = Source::new("har");

/// Slow is what cost at least this, seconds, and a tenth of the load: as for captures.
const SLOW_S: f64 = 0.1;
const SLOW: f64 = 0.1;
/// Characters of a path that are shown.
const SHOWN: usize = 80;

impl Evidence for Har {
    fn sources(&self) -> &'static [Source] {
        &[SOURCE]
    }

    fn cannot_show(&self) -> &'static [Limitation] {
        &[Limitation::BrowserOnly]
    }

    fn read(&self, text: &Text<'_>) -> Vec<Subject> {
        let all = text.all();
        if !all.contains("\"entries\"") || !all.contains("\"timings\"") {
            return Vec::new();
        }
        let (entries, whole) = json::list::<Entry>(all, "entries");
        let requests: Vec<Request> = entries.iter().filter_map(Request::new).collect();
        let mut out: Vec<Subject> = subject(&requests).into_iter().collect();
        if !whole {
            out.iter_mut().for_each(|subject| subject.gaps.push(Limitation::Cut));
        }
        out
    }
}

/// The members of an entry with its times. Bodies, headers and cookies are not read.
#[derive(Debug, Deserialize)]
struct Entry {
    #[serde(rename = "startedDateTime")]
    started: Option<String>,
    request: Option<EntryRequest>,
    response: Option<EntryResponse>,
    timings: Timings,
}

#[derive(Debug, Deserialize)]
struct EntryRequest {
    url: Option<String>,
}

#[derive(Debug, Deserialize)]
struct EntryResponse {
    status: Option<f64>,
}

/// Milliseconds; -1 or missing where a phase does not apply. `ssl` is a part of `connect`.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
struct Timings {
    blocked: Option<f64>,
    dns: Option<f64>,
    connect: Option<f64>,
    ssl: Option<f64>,
    send: Option<f64>,
    wait: Option<f64>,
    receive: Option<f64>,
}

/// A request on the clock of the page.
#[derive(Debug)]
struct Request {
    begin: f64,
    /// Phases in their order, seconds.
    phases: [(Phase, f64); 7],
    /// Host and path, without the query.
    name: String,
    host: String,
    is_redirect: bool,
}

impl Request {
    fn new(entry: &Entry) -> Option<Self> {
        let begin = text::time(entry.started.as_deref()?)?;
        let seconds = |ms: Option<f64>| ms.filter(|ms| *ms > 0.0 && *ms < 1e9).unwrap_or(0.0) / 1e3;
        let timings = entry.timings;
        let (connect, ssl) = (seconds(timings.connect), seconds(timings.ssl));
        let url = entry.request.as_ref().and_then(|request| request.url.as_deref()).unwrap_or_default();
        let (host, name) = shown(url);
        let status = entry.response.as_ref().and_then(|response| response.status).unwrap_or(0.0);
        Some(Self {
            begin,
            phases: [
                (Phase::Blocked, seconds(timings.blocked)),
                (Phase::Dns, seconds(timings.dns)),
                (Phase::Connect, (connect - ssl).max(0.0)),
                (Phase::Tls, ssl),
                (Phase::Send, seconds(timings.send)),
                (Phase::Wait, seconds(timings.wait)),
                (Phase::Download, seconds(timings.receive)),
            ],
            name,
            host,
            is_redirect: [301.0, 302.0, 303.0, 307.0, 308.0].contains(&status),
        })
    }

    fn end(&self) -> f64 {
        self.begin + self.phases.iter().map(|(_, seconds)| seconds).sum::<f64>()
    }

    /// When a phase began and ended.
    fn span(&self, phase: Phase) -> (f64, f64) {
        let before: f64 = self.phases.iter().take_while(|(one, _)| *one != phase).map(|(_, seconds)| seconds).sum();
        let begin = self.begin + before;
        (begin, begin + self.took(phase))
    }

    fn took(&self, phase: Phase) -> f64 {
        self.phases.iter().find(|(one, _)| *one == phase).map_or(0.0, |(_, seconds)| *seconds)
    }
}

/// Host, and host with path. A query, a fragment, a user and a password may be secrets.
fn shown(url: &str) -> (String, String) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split(['?', '#', ';']).next().unwrap_or_default();
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let shown: String = path.chars().take(SHOWN).collect();
    (host.to_owned(), format!("{host}{shown}"))
}

/// Seconds that intervals cover together.
fn union(mut spans: Vec<(f64, f64)>) -> f64 {
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut sum, mut until) = (0.0, f64::MIN);
    for (begin, end) in spans {
        sum += (end - begin.max(until)).max(0.0);
        until = until.max(end);
    }
    sum
}

fn subject(requests: &[Request]) -> Option<Subject> {
    let begin = requests.iter().map(|request| request.begin).min_by(f64::total_cmp)?;
    let end = requests.iter().map(Request::end).max_by(f64::total_cmp)?;
    let whole_s = end - begin;
    let first = requests.iter().min_by(|a, b| a.begin.total_cmp(&b.begin))?;
    let mut out = Subject::new(SOURCE, first.host.clone());
    out.over_s = Some(whole_s).filter(|seconds| *seconds > 0.0);
    out.figure("requests", Some(requests.len() as f64), Unit::Times);
    out.figure("load", Some(whole_s), Unit::Seconds);
    for (phase, name) in NAMES {
        let took = covered(requests, phase);
        out.figure(name, Some(took).filter(|took| *took > 0.0), Unit::Seconds);
        out.findings.extend(judge(requests, phase, name, took, whole_s));
    }
    out.findings.extend(redirects(requests, whole_s));
    if whole_s <= 0.0 {
        out.verdict = Verdict::Unknown;
    }
    Some(out)
}

const NAMES: [(Phase, &str); 7] = [
    (Phase::Blocked, "blocked"),
    (Phase::Dns, "dns"),
    (Phase::Connect, "connect"),
    (Phase::Tls, "ssl"),
    (Phase::Send, "send"),
    (Phase::Wait, "wait"),
    (Phase::Download, "receive"),
];

fn covered(requests: &[Request], phase: Phase) -> f64 {
    union(requests.iter().map(|request| request.span(phase)).filter(|(begin, end)| end > begin).collect())
}

fn judge(requests: &[Request], phase: Phase, name: &str, took_s: f64, whole_s: f64) -> Option<Finding> {
    let slow: Vec<&Request> = requests.iter().filter(|request| request.took(phase) >= SLOW_S).collect();
    let worst = slow.iter().max_by(|a, b| a.took(phase).total_cmp(&b.took(phase)))?;
    // Many short ones together are not the fault of one phase, except the queue.
    let cost = union(slow.iter().map(|request| request.span(phase)).collect());
    if cost < SLOW_S || cost < SLOW * whole_s {
        return None;
    }
    let statement = Statement::Page(PageStatement::PagePhase {
        phase,
        took_s,
        whole_s,
        requests: slow.len() as f64,
        worst: worst.name.clone(),
        worst_s: worst.took(phase),
    });
    let unnamed = || Finding::unnamed(0.65, statement.clone());
    let finding = match phase {
        Phase::Wait => Finding::new(Cause::ServerThink, 0.6, statement)
            .remedied(Actor::Application, ExchangeAction::ProfileRequest { at: End::Server })
            .open(Limitation::ServerOrBackend),
        Phase::Blocked => unnamed().advised(Actor::Application, Advice::MoreStreams),
        Phase::Dns => unnamed().advised(Actor::Application, Advice::CheckResolver),
        Phase::Connect => unnamed().advised(Actor::Application, Advice::Preconnect),
        Phase::Tls => unnamed().advised(Actor::Application, Advice::CheckTls),
        Phase::Download => {
            unnamed().advised(Actor::Application, Advice::SmallerResponses).open(Limitation::DownloadUnknown)
        }
        Phase::Send | Phase::Redirect => unnamed().open(Limitation::WhichLimit),
    };
    let mut finding = finding.costs(cost);
    finding.evidence.push(Figure::new(name, took_s, Unit::Seconds));
    Some(finding)
}

fn redirects(requests: &[Request], whole_s: f64) -> Option<Finding> {
    let found: Vec<&Request> = requests.iter().filter(|request| request.is_redirect).collect();
    let took_s = union(found.iter().map(|request| (request.begin, request.end())).collect());
    (took_s >= SLOW_S && took_s >= SLOW * whole_s).then(|| {
        let statement = PageStatement::PageRedirects { count: found.len() as f64, took_s, whole_s };
        Finding::unnamed(0.75, Statement::Page(statement))
            .costs(took_s)
            .shown("redirects", found.len() as f64, Unit::Times)
            .advised(Actor::Application, Advice::AvoidRedirects)
    })
}
