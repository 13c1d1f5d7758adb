//! [`Floor`]: what a request takes at least, and what the rest of its time was.
//!
//! One round trip for the request and its answer, and the bytes at the path's rate: the highest
//! that was seen over a few milliseconds, of all requests in that direction. Bytes that are let out
//! at once come at the pace of the narrowest link. Where no more than an initial window came, no
//! rate is known, and the bytes count as nothing.

use crate::client::exchange::{Exchange, Hop};
use crate::client::sampler::Sample;
use crate::requests::Request;
use std::collections::BTreeMap;
use std::time::Duration;

/// Segments of an initial window (RFC 6928): fewer do not show a rate.
const INITIAL_WINDOW: u64 = 10;
const SEGMENT: u64 = 1448;
/// A rate is seen over this time at least, seconds: several samples.
const SEEN_OVER: f64 = 0.006;
/// Smaller differences are not reported: share of the request's time, and seconds.
const LEAST_SHARE: f64 = 0.02;
const LEAST: f64 = 0.001;
/// A pause that makes a connection start over: the least retransmission timeout of Linux.
const RESTARTS_AFTER: f64 = 0.2;

/// Data on the path, from all requests.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Path {
    rtt: Option<f64>,
    /// Bytes per second: up, down.
    rates: [Option<f64>; 2],
}

/// The minimum time of a request, and the rest.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub(crate) struct Floor {
    /// Seconds.
    pub seconds: f64,
    pub rtt_s: f64,
    /// Bits per second; null where it is not known.
    pub rate_bps: Option<f64>,
    pub rest: Vec<Rest>,
}

/// A part of the time beyond the floor.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub(crate) struct Rest {
    pub what: &'static str,
    pub seconds: f64,
}

/// The paths of all URLs: each is estimated once, from all requests to it.
pub(crate) struct Paths<'a>(BTreeMap<&'a str, Path>);

impl<'a> Paths<'a> {
    pub(crate) fn of(requests: impl Iterator<Item = &'a Request>) -> Self {
        let mut by_url: BTreeMap<&str, Vec<&Request>> = BTreeMap::new();
        for request in requests {
            by_url.entry(&request.url).or_default().push(request);
        }
        let path = |requests: Vec<&Request>| Path::of(requests.iter().copied()).with_rates(requests.iter().copied());
        Self(by_url.into_iter().map(|(url, requests)| (url, path(requests))).collect())
    }

    /// The path to a request's URL.
    pub(crate) fn to(&self, request: &Request) -> Path {
        self.0.get(request.url.as_str()).copied().unwrap_or_default()
    }
}

impl Path {
    /// The path of the requests to one URL.
    pub(crate) fn of<'a>(requests: impl Iterator<Item = &'a Request>) -> Self {
        let mut out = Self::default();
        for exchange in requests.filter_map(|request| request.outcome.as_ref().ok()) {
            let hop = exchange.last();
            let min_rtt = hop.samples.iter().filter_map(|sample| sample.info.min_rtt).min();
            let min_rtt = min_rtt.map(|rtt| f64::from(rtt) / 1e6);
            let connected = connect(hop).filter(|_| hop.attempts.len() == 1);
            out.rtt = [out.rtt, min_rtt, connected].into_iter().flatten().reduce(f64::min);
        }
        out
    }

    /// Adds the rates that the round trips show.
    pub(crate) fn with_rates<'a>(mut self, requests: impl Iterator<Item = &'a Request>) -> Self {
        for exchange in requests.filter_map(|request| request.outcome.as_ref().ok()) {
            let samples = &exchange.last().samples;
            for (rate, bytes) in self.rates.iter_mut().zip([acked as fn(&Sample) -> Option<u64>, received]) {
                let most = most_in(samples, SEEN_OVER, bytes);
                if let Some((most, time)) = most.filter(|(most, _)| *most > INITIAL_WINDOW * SEGMENT) {
                    *rate = Some(rate.unwrap_or(0.0).max(most as f64 / time));
                }
            }
        }
        self
    }

    pub(crate) fn rtt(&self) -> Option<f64> {
        self.rtt
    }

    /// Lower bound of a request's duration; `None` if the round trip is unknown.
    pub(crate) fn floor(&self, request: &Request, exchange: &Exchange) -> Option<Floor> {
        let (rtt, hop) = (self.rtt?, exchange.last());
        let is_upload = hop.sent_bytes > hop.body_bytes;
        let (bytes, rate) = if is_upload { (hop.sent_bytes, self.rates[0]) } else { (hop.body_bytes, self.rates[1]) };
        let carry = rate.map_or(0.0, |rate| bytes as f64 / rate);
        let mut rest = Vec::new();
        let least = (LEAST_SHARE * exchange.took.as_secs_f64()).max(LEAST);
        let mut add = |what, seconds: f64| {
            if seconds >= least {
                rest.push(Rest { what, seconds });
            }
        };
        let times = &hop.times;
        let seconds = |time: Option<Duration>| time.map_or(0.0, |time| time.as_secs_f64());
        add("redirects", hop.began.saturating_duration_since(exchange.began).as_secs_f64());
        add("DNS lookup", seconds(times.namelookup));
        add("handshake", connect(hop).unwrap_or(0.0));
        let connected = times.tunnel.or(times.connect);
        add("tunnel", seconds(times.tunnel) - seconds(times.connect.filter(|_| times.tunnel.is_some())));
        add("TLS handshake", seconds(times.appconnect) - seconds(connected.filter(|_| times.appconnect.is_some())));
        let (pre, first) = (times.pretransfer.as_secs_f64(), times.first_packet.as_secs_f64());
        let window = window_word(request, hop);
        if is_upload {
            let acknowledged = seconds(times.acknowledged.or(times.posttransfer)).min(first.max(pre));
            add(window, acknowledged - pre - rtt - carry);
            add("server", first - acknowledged.max(pre + rtt + carry));
        } else {
            add("server", first - pre - rtt);
            add(window, times.total.as_secs_f64() - first - carry);
        }
        // Round trip and rate are estimates of all requests; what one of them took refutes them.
        let seconds = (rtt + carry).min(exchange.took.as_secs_f64());
        Some(Floor { seconds, rtt_s: rtt, rate_bps: rate.map(|rate| rate * 8.0), rest })
    }
}

/// The reason why the window was small.
fn window_word(request: &Request, hop: &Hop) -> &'static str {
    match hop.is_reused {
        false => "cold window",
        true if request.idle_s > RESTARTS_AFTER => "window after idle",
        true => "window",
    }
}

/// Seconds for the TCP handshake.
pub(crate) fn connect(hop: &Hop) -> Option<f64> {
    let connect = hop.times.connect?;
    Some(connect.saturating_sub(hop.times.namelookup.unwrap_or_default()).as_secs_f64())
}

pub(crate) fn acked(sample: &Sample) -> Option<u64> {
    sample.info.bytes_acked
}

pub(crate) fn received(sample: &Sample) -> Option<u64> {
    sample.info.bytes_received
}

/// The most bytes in a stretch of at least this time, and its length.
fn most_in(samples: &[Sample], time: f64, bytes: fn(&Sample) -> Option<u64>) -> Option<(u64, f64)> {
    let mut best: Option<(u64, f64)> = None;
    let mut start = 0;
    for (end, last) in samples.iter().enumerate() {
        let since = |start: usize| last.at.saturating_duration_since(samples[start].at).as_secs_f64();
        while start + 1 < end && since(start + 1) >= time {
            start += 1;
        }
        let took = since(start);
        let (Some(first), Some(last)) = (bytes(&samples[start]), bytes(last)) else { continue };
        let carried = last.saturating_sub(first);
        if took >= time && best.is_none_or(|(most, of)| carried as f64 / took > most as f64 / of) {
            best = Some((carried, took));
        }
    }
    best
}
