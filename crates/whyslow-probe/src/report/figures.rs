//! Figures of a request under curl's names (`curl -w`).
//!
//! As curl's, each time counts from the request's beginning; with redirects each is the sum over
//! all of them, and `time_redirect` is the time before the last one.

use crate::client::exchange::{Exchange, Hop};
use std::time::Duration;

/// A figure that a script may look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// The addresses of the name are known.
    Dns,
    /// The TCP connection is open.
    Connect,
    /// The TLS handshake is over.
    Tls,
    /// The request begins to be sent.
    Pretransfer,
    /// All of the request has left the send buffer.
    Sent,
    /// The server's kernel has acknowledged all of the request.
    Acknowledged,
    /// The first packet of the response has come.
    FirstPacket,
    /// The first byte of the response can be read.
    FirstByte,
    /// All of the response has come.
    Total,
    /// Bits of the larger body per second of the last hop.
    Speed,
}

impl Figure {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Dns,
        Self::Connect,
        Self::Tls,
        Self::Pretransfer,
        Self::Sent,
        Self::Acknowledged,
        Self::FirstPacket,
        Self::FirstByte,
        Self::Total,
        Self::Speed,
    ];

    /// Its name in options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dns => "dns",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Pretransfer => "pretransfer",
            Self::Sent => "sent",
            Self::Acknowledged => "acknowledged",
            Self::FirstPacket => "first-packet",
            Self::FirstByte => "first-byte",
            Self::Total => "total",
            Self::Speed => "speed",
        }
    }

    /// The figure of a name, ours or curl's.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name.strip_prefix("time_").unwrap_or(name) {
            "namelookup" => Self::Dns,
            "appconnect" => Self::Tls,
            "starttransfer" | "ttfb" => Self::FirstByte,
            "posttransfer" => Self::Sent,
            name => return Self::ALL.into_iter().find(|figure| figure.name() == name),
        })
    }
}

/// A figure, in seconds or bits per second; `None` if the exchange lacks it.
pub(crate) fn value(figure: Figure, exchange: &Exchange) -> Option<f64> {
    let times = Curl::of(exchange);
    let hop = exchange.last();
    let time = match figure {
        Figure::Dns => Some(times.namelookup),
        Figure::Connect => Some(times.connect),
        Figure::Tls => Some(times.appconnect),
        Figure::Pretransfer => Some(times.pretransfer),
        Figure::Sent => hop.times.sent.or(hop.times.posttransfer),
        Figure::Acknowledged => hop.times.acknowledged,
        Figure::FirstPacket => Some(hop.times.first_packet),
        Figure::FirstByte => Some(times.starttransfer),
        Figure::Total => Some(times.total),
        Figure::Speed => return Some(speed(hop) * 8.0),
    };
    time.map(|time| time.as_secs_f64())
}

/// Bytes per second of the larger body over all of the last request's time, as curl has it.
pub(super) fn speed(hop: &Hop) -> f64 {
    hop.body_bytes.max(hop.sent_bytes) as f64 / hop.times.total.as_secs_f64().max(1e-9)
}

/// Times in curl's definitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Curl {
    pub namelookup: Duration,
    pub connect: Duration,
    pub appconnect: Duration,
    pub pretransfer: Duration,
    pub posttransfer: Duration,
    pub starttransfer: Duration,
    pub redirect: Duration,
    pub total: Duration,
}

impl Curl {
    pub(super) fn of(exchange: &Exchange) -> Self {
        let mut out = Self::default();
        for hop in &exchange.hops {
            let times = &hop.times;
            out.namelookup += times.namelookup.unwrap_or_default();
            // Without a lookup or a handshake this phase ends with the phase before.
            out.connect += times.connect.unwrap_or_default();
            out.appconnect += times.appconnect.unwrap_or_default();
            out.pretransfer += times.pretransfer;
            out.posttransfer += times.posttransfer.unwrap_or(times.pretransfer);
            out.starttransfer += times.starttransfer;
        }
        out.redirect = exchange.last().began.saturating_duration_since(exchange.began);
        out.total = exchange.took;
        if exchange.hops.len() == 1 {
            out.redirect = Duration::ZERO;
        }
        out
    }

    /// With curl's names.
    pub fn named(&self) -> [(&'static str, f64); 8] {
        [
            ("time_namelookup", self.namelookup),
            ("time_connect", self.connect),
            ("time_appconnect", self.appconnect),
            ("time_pretransfer", self.pretransfer),
            ("time_posttransfer", self.posttransfer),
            ("time_starttransfer", self.starttransfer),
            ("time_redirect", self.redirect),
            ("time_total", self.total),
        ]
        .map(|(name, time)| (name, time.as_secs_f64()))
    }
}

/// Durations of the last hop's phases, and of all hops; `None` for a phase that did not happen.
pub fn phases(exchange: &Exchange) -> [(&'static str, Option<Duration>); 7] {
    let times = &exchange.last().times;
    let dns = times.namelookup.unwrap_or_default();
    let connect = times.connect.map(|at| at.saturating_sub(dns));
    let connected = times.connect.unwrap_or(dns);
    let tunnel = times.tunnel.map(|at| at.saturating_sub(connected));
    let tunnelled = times.tunnel.unwrap_or(connected);
    let tls = times.appconnect.map(|at| at.saturating_sub(tunnelled));
    [
        ("dns", times.namelookup),
        ("connect", connect),
        ("tunnel", tunnel),
        ("tls", tls),
        ("first_byte", Some(times.starttransfer.saturating_sub(times.pretransfer))),
        ("transfer", Some(times.total.saturating_sub(times.starttransfer))),
        ("total", Some(exchange.took)),
    ]
}
