//! JSON: the contract `whyslow-probe/1`, described by `docs/schema/whyslow-probe-1.schema.json`.

use super::figures::Curl;
use super::floor::{Floor, Path, Paths};
use super::formats::curl_rest;
use super::kernel::{self, Verdict};
use super::side_by_side::{self, UrlFigures};
use super::spread::{self, Spread};
use crate::client::dial::{Attempt, Outcome};
use crate::client::exchange::{Exchange, Handshake, Hop};
use crate::client::sampler::Sample;
use crate::plan::Series;
use crate::requests::Request;
use crate::results::{RecordedPackets, Results};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::{Duration, Instant, UNIX_EPOCH};
use whyslow_analysis::Analysis;
use whyslow_report::render::json;

const SCHEMA: &str = "whyslow-probe/1";

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    requests: Vec<One<'a>>,
    side_by_side: Vec<UrlFigures>,
    /// How the times are spread, cold and warm apart.
    spread: Vec<Spread>,
    recording: RecordingView<'a>,
    /// The analysis of the packets, as in `whyslow --json`; null if none were recorded.
    analysis: Option<&'a Analysis>,
}

#[derive(Serialize)]
struct RecordingView<'a> {
    packets: u64,
    dropped: u64,
    /// Why there is none.
    missing: Option<&'a str>,
}

#[derive(Serialize)]
struct One<'a> {
    url: &'a str,
    series: Series,
    size: Option<u64>,
    idle_s: f64,
    failure: Option<FailureView<'a>>,
    #[serde(flatten)]
    answered: Option<Answered>,
}

#[derive(Serialize)]
struct FailureView<'a> {
    phase: crate::client::failure::Phase,
    what: &'a str,
    look_at: Option<&'a str>,
}

#[derive(Serialize)]
struct Answered {
    /// Seconds since the epoch.
    began: f64,
    /// Under curl's names.
    curl: BTreeMap<&'static str, serde_json::Value>,
    hops: Vec<HopView>,
    floor: Option<Floor>,
    /// The verdict by TCP_INFO alone.
    verdict: Option<Verdict>,
    /// The connection's number in `analysis`.
    connection: Option<u64>,
}

#[derive(Serialize)]
struct HopView {
    url: String,
    status: u16,
    http: &'static str,
    reused: bool,
    proxy: Option<String>,
    attempts: Vec<AttemptView>,
    local: String,
    remote: String,
    tls: Option<TlsView>,
    times: TimesView,
    first_record: Option<u64>,
    body_bytes: u64,
    sent_bytes: u64,
    upload_bytes: u64,
    wire_bytes: [u64; 2],
    location: Option<String>,
    congestion_control: Option<String>,
    samples: Vec<SampleView>,
}

#[derive(Serialize)]
struct AttemptView {
    address: String,
    after_s: f64,
    took_s: f64,
    outcome: &'static str,
    detail: Option<String>,
}

#[derive(Serialize)]
struct TlsView {
    version: &'static str,
    cipher: String,
    protocol: Option<String>,
    handshake: Handshake,
}

/// Seconds since the hop began.
#[derive(Serialize)]
struct TimesView {
    namelookup_s: Option<f64>,
    connect_s: Option<f64>,
    tunnel_s: Option<f64>,
    appconnect_s: Option<f64>,
    pretransfer_s: f64,
    posttransfer_s: Option<f64>,
    sent_s: Option<f64>,
    acknowledged_s: Option<f64>,
    first_packet_s: f64,
    starttransfer_s: f64,
    total_s: f64,
}

#[derive(Serialize)]
struct SampleView {
    time_s: f64,
    #[serde(flatten)]
    info: whyslow_live::tcp_info::TcpInfo,
}

/// Writes all that is known.
///
/// # Errors
/// Errors of `out`.
pub fn write(results: &Results, out: &mut impl Write) -> io::Result<()> {
    json::object(&document(results), out)
}

/// Writes one request as a document in a line.
///
/// # Errors
/// Errors of `out`.
pub fn write_line(request: &Request, out: &mut impl Write) -> io::Result<()> {
    let paths = Paths::of(std::iter::once(request));
    let missing = Some("a monitor records no packets");
    let document = Document {
        schema: SCHEMA,
        requests: vec![one(paths.to(request), request, None)],
        side_by_side: Vec::new(),
        spread: Vec::new(),
        recording: RecordingView { packets: 0, dropped: 0, missing },
        analysis: None,
    };
    json::line(&document, out)
}

/// The same for the page, which has the analysis already.
///
/// # Errors
/// Returns an error if it cannot be made JSON.
pub fn without_analysis(results: &Results) -> serde_json::Result<Box<RawValue>> {
    to_raw_value(&Document { analysis: None, ..document(results) })
}

fn document(results: &Results) -> Document<'_> {
    let recorded = results.recorded.as_ref();
    let analysis = recorded.ok().map(|recorded| &recorded.analysis);
    let paths = Paths::of(results.requests.iter());
    let count = |get: fn(&RecordedPackets) -> u64| recorded.ok().map_or(0, get);
    Document {
        schema: SCHEMA,
        requests: results.requests.iter().map(|request| one(paths.to(request), request, analysis)).collect(),
        side_by_side: side_by_side::all(results),
        spread: spread::all(&results.requests),
        recording: RecordingView {
            packets: count(|recorded| recorded.packets),
            dropped: count(|recorded| recorded.dropped),
            missing: recorded.err().map(String::as_str),
        },
        analysis,
    }
}

fn one<'a>(path: Path, request: &'a Request, analysis: Option<&Analysis>) -> One<'a> {
    let failure = request.outcome.as_ref().err();
    One {
        url: &request.url,
        series: request.series,
        size: request.size,
        idle_s: request.idle_s,
        failure: failure.map(|failure| FailureView {
            phase: failure.phase,
            what: &failure.what,
            look_at: failure.look_at.as_deref(),
        }),
        answered: request.outcome.as_ref().ok().map(|exchange| answered(path, request, exchange, analysis)),
    }
}

fn answered(path: Path, request: &Request, exchange: &Exchange, analysis: Option<&Analysis>) -> Answered {
    let mut curl: BTreeMap<_, _> =
        Curl::of(exchange).named().into_iter().map(|(name, seconds)| (name, seconds.into())).collect();
    for (name, value) in curl_rest(exchange) {
        let is_text = matches!(name, "url_effective" | "content_type" | "local_ip" | "remote_ip" | "http_version");
        let number = if is_text { None } else { value.parse::<f64>().ok() };
        curl.insert(name, number.map_or(value.into(), whole));
    }
    let hop = exchange.last();
    let connections = analysis.map(|analysis| analysis.connections.as_slice()).unwrap_or_default();
    let connection = side_by_side::connection(connections, hop);
    Answered {
        began: exchange.began_at.duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64()),
        curl,
        hops: exchange.hops.iter().map(view).collect(),
        floor: path.floor(request, exchange),
        verdict: kernel::verdict(exchange, path.rtt()),
        connection: connection.map(|connection| connection.id),
    }
}

/// A number without a fraction is written without one.
fn whole(number: f64) -> serde_json::Value {
    if number.fract() == 0.0 { (number as u64).into() } else { number.into() }
}

fn view(hop: &Hop) -> HopView {
    let seconds = |time: Duration| time.as_secs_f64();
    let times = &hop.times;
    HopView {
        url: hop.url.clone(),
        status: hop.status,
        http: hop.http,
        reused: hop.is_reused,
        proxy: hop.proxy.clone(),
        attempts: hop.attempts.iter().map(attempt).collect(),
        local: hop.local.to_string(),
        remote: hop.remote.to_string(),
        tls: hop.tls.clone().map(|tls| TlsView {
            version: tls.version,
            cipher: tls.cipher,
            protocol: tls.protocol,
            handshake: tls.handshake,
        }),
        times: TimesView {
            namelookup_s: times.namelookup.map(seconds),
            connect_s: times.connect.map(seconds),
            tunnel_s: times.tunnel.map(seconds),
            appconnect_s: times.appconnect.map(seconds),
            pretransfer_s: seconds(times.pretransfer),
            posttransfer_s: times.posttransfer.map(seconds),
            sent_s: times.sent.map(seconds),
            acknowledged_s: times.acknowledged.map(seconds),
            first_packet_s: seconds(times.first_packet),
            starttransfer_s: seconds(times.starttransfer),
            total_s: seconds(times.total),
        },
        first_record: hop.first_record.map(|record| record.bytes),
        body_bytes: hop.body_bytes,
        sent_bytes: hop.sent_bytes,
        upload_bytes: hop.upload_bytes,
        wire_bytes: hop.wire_bytes,
        location: hop.location.clone(),
        congestion_control: hop.congestion_control.clone(),
        samples: hop.samples.iter().map(|taken| sample(taken, hop.began)).collect(),
    }
}

fn attempt(attempt: &Attempt) -> AttemptView {
    let (outcome, detail) = match &attempt.outcome {
        Outcome::Connected => ("connected", None),
        Outcome::GivenUp => ("given-up", None),
        Outcome::TimedOut => ("timed-out", None),
        Outcome::Failed(why) => ("failed", Some(why.clone())),
    };
    AttemptView {
        address: attempt.address.to_string(),
        after_s: attempt.after.as_secs_f64(),
        took_s: attempt.took.as_secs_f64(),
        outcome,
        detail,
    }
}

fn sample(sample: &Sample, began: Instant) -> SampleView {
    SampleView { time_s: sample.at.saturating_duration_since(began).as_secs_f64(), info: sample.info.clone() }
}
