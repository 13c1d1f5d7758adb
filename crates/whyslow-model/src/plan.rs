//! A transfer that has not been made yet: its expected time, and the effect of each change
//! (`whyslow predict`).
//!
//! Its time is that of the phases one after the other: the TCP handshake (one round trip), the TLS
//! handshake (one with 1.3, RFC 8446; two with 1.2, RFC 5246), the request's way, the server's
//! thinking, and the payload as [model](crate) plays it. Under loss the answer is a
//! distribution: the plan is played with many seeds.
//!
//! ```
//! use whyslow_model::plan::{Idea, Plan};
//! use whyslow_units::Nanos;
//!
//! // A megabyte over a new connection, 100 ms away.
//! let plan = Plan::new(1_000_000, Nanos::from_millis(100));
//! let forecast = plan.forecast();
//! assert!(forecast.total > Nanos::from_millis(500));
//!
//! // The change that saves most comes first.
//! let changes = plan.changes(&forecast);
//! assert!(changes[0].total < forecast.total);
//! assert!(changes.iter().any(|change| change.idea == Idea::Reuse));
//! ```

use crate::{
    Algorithm, DELACK_MIN, Losses, MAX_SEGMENTS, Outcome, ReceiverSettings, Scenario, SenderSettings, Window,
    initial_buffer, simulate,
};
use serde::Serialize;
use whyslow_analysis::types::LimitingFactor;
use whyslow_units::Nanos;

/// Bytes of TCP, IP and Ethernet headers of a segment, with RFC 7323's timestamps: 66 on the wire;
/// a rate leaves the payload's share.
const HEADERS: f64 = 66.0;
/// Runs of a plan with losses, whose distribution is reported, …
const MAX_RUNS: u64 = 101;
/// … and runs by which a change is judged.
const CHANGE_RUNS: u64 = 25;
/// Segments that all runs of one question may model.
const MAX_WORK: u64 = 20_000_000;
/// Transfers after which a connection's window and buffer have grown to the needed size.
pub const WARM_TRANSFERS: u64 = 4;
/// Minimum gain of a change that is reported: of the time, and in all.
const MIN_GAIN: (f64, Nanos) = (0.02, Nanos::from_millis(1));

/// Sender of the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// The server, when it is asked to.
    Download,
    /// The client, right after the handshakes.
    Upload,
}

/// Encryption of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Tls {
    /// Nothing.
    #[serde(rename = "none")]
    None,
    /// TLS 1.2: two round trips.
    #[serde(rename = "1.2")]
    V12,
    /// TLS 1.3: one round trip.
    #[serde(rename = "1.3")]
    V13,
}

impl Tls {
    /// Round trips of its handshake.
    fn round_trips(self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::V12 => 2.0,
            Self::V13 => 1.0,
        }
    }
}

/// Largest window of a Linux receiver with default settings, bytes: the part of the 6 MiB of
/// `tcp_rmem` that is left for payload.
pub const DEFAULT_RECEIVE_WINDOW: u64 = 3_600_000;

/// A transfer, or several one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Payload of one transfer, bytes.
    pub bytes: u64,
    /// Round trip of the empty path.
    pub rtt: Nanos,
    /// Bits per second of the narrowest link, headers included; none: it never matters.
    pub rate: Option<f64>,
    /// Room in front of that link, bytes; none: as much as the path holds, one bandwidth × round
    /// trip, and at least 64 kB.
    pub queue: Option<u64>,
    /// Each packet is lost with this probability.
    pub loss: f64,
    /// Payload of a full segment, bytes.
    pub mss: u64,
    /// Sender of the payload.
    pub way: Way,
    /// Encryption.
    pub tls: Tls,
    /// The sender's congestion controller.
    pub algorithm: Algorithm,
    /// The sender's initial congestion window, segments.
    pub initial_window: u64,
    /// The slow-start threshold that the sender remembers of earlier connections (`ip
    /// tcp_metrics`), segments; none: it begins without one.
    pub ssthresh: Option<u64>,
    /// The receiver's first window, bytes.
    pub first_window: u64,
    /// The largest window that the receiver comes to offer, bytes.
    pub receive_window: u64,
    /// Maximum bytes that the sender has in flight; none: no bound.
    pub send_buffer: Option<u64>,
    /// How long the server thinks before it answers.
    pub think: Nanos,
    /// The connection is open, and has carried the same before …
    pub reuse: bool,
    /// … and their number: the window and the kernel's send buffer grow with each.
    pub earlier: u64,
    /// How long it was idle since.
    pub idle: Nanos,
    /// Whether an idle connection starts over (Linux' `tcp_slow_start_after_idle`).
    pub starts_over: bool,
    /// How many transfers, one after the other.
    pub count: u64,
}

/// Result of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// All transfers together: the median.
    pub total: Nanos,
    /// The tenth and the ninetieth percentile of one transfer under loss; none without.
    pub spread: Option<(Nanos, Nanos)>,
    /// Time of one transfer of the median run by limit, in order of time before the payload, then
    /// largest first.
    pub phases: Vec<(LimitingFactor, Nanos)>,
    /// Payload bits per second over one whole transfer, handshakes included.
    pub goodput: f64,
    /// The payload as it was played: of the median run.
    pub outcome: Outcome,
}

/// A change to a plan, and its effect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The change.
    pub idea: Idea,
    /// Then all transfers take (median).
    pub total: Nanos,
}

/// Something that may make a transfer faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idea {
    /// Reuse an open connection.
    Reuse,
    /// Keep the window over idle times (`tcp_slow_start_after_idle=0`).
    KeepWindow,
    /// TLS 1.3 instead of 1.2.
    Tls13,
    /// Another initial congestion window, segments: up to the receiver's first window.
    InitialWindow(u64),
    /// An initial congestion window for all of the payload, segments, and a receiver that takes it
    /// at once.
    OneFlight(u64),
    /// A larger receive window, bytes.
    ReceiveWindow(u64),
    /// A sender that remembers no slow-start threshold.
    NoThreshold,
    /// A send buffer with room for this number of bytes.
    SendBuffer(u64),
    /// A path that loses nothing.
    NoLoss,
    /// BBR at the sender.
    Bbr,
    /// A server that answers at once.
    NoThinking,
    /// Half of the round trip: a nearer server.
    HalfRoundTrip,
    /// Twice the rate.
    TwiceRate,
}

impl Plan {
    /// A download of `bytes` on a new connection between today's Linux hosts, over a path that is
    /// never a limit.
    pub fn new(bytes: u64, rtt: Nanos) -> Self {
        Self {
            bytes,
            rtt,
            rate: None,
            queue: None,
            loss: 0.0,
            mss: 1448,
            way: Way::Download,
            tls: Tls::None,
            algorithm: Algorithm::Cubic,
            initial_window: 10,
            ssthresh: None,
            first_window: 65_536,
            receive_window: DEFAULT_RECEIVE_WINDOW,
            send_buffer: None,
            think: Nanos::ZERO,
            reuse: false,
            earlier: WARM_TRANSFERS,
            idle: Nanos::ZERO,
            starts_over: true,
            count: 1,
        }
    }

    /// Returns the forecast.
    pub fn forecast(&self) -> Forecast {
        self.forecast_from(MAX_RUNS)
    }

    fn forecast_from(&self, most_runs: u64) -> Forecast {
        let mut runs: Vec<(Nanos, Outcome)> = (0..self.runs(most_runs)).map(|seed| self.play(seed)).collect();
        runs.sort_by_key(|(time, _)| *time);
        let at = |share: f64| runs[((runs.len() - 1) as f64 * share).round() as usize].0;
        let spread = (runs.len() > 1).then(|| (at(0.1), at(0.9)));
        let (time, outcome) = runs.swap_remove(runs.len() / 2);
        let mut phases = self.before();
        let mut limits = outcome.limits.clone();
        self.leave_out_the_way_back(&mut limits, &outcome);
        phases.extend(limits);
        phases.retain(|&(_, time)| time > Nanos::ZERO);
        let goodput = self.bytes as f64 * 8.0 / time.as_secs_f64().max(1e-9);
        Forecast { total: self.all(time), spread, phases, goodput, outcome }
    }

    /// The changes that would improve on the forecast, the largest gain first.
    pub fn changes(&self, forecast: &Forecast) -> Vec<Change> {
        // Compared over equally many runs.
        let now = self.forecast_from(CHANGE_RUNS).total;
        let enough = |change: &Change| {
            let gain = forecast.total - change.total;
            gain >= MIN_GAIN.1.min(forecast.total.scale(0.2)) && gain >= forecast.total.scale(MIN_GAIN.0)
        };
        let change = |idea: Idea| {
            let changed = self.with(idea);
            let share = || changed.forecast_from(CHANGE_RUNS).total.0 as f64 / now.0.max(1) as f64;
            (changed != *self).then(|| Change { idea, total: forecast.total.scale(share()) })
        };
        let mut changes: Vec<Change> = self.ideas().into_iter().filter_map(change).filter(enough).collect();
        changes.sort_by_key(|change| change.total);
        changes
    }

    /// Changes that may help, whether they do or not.
    fn ideas(&self) -> Vec<Idea> {
        let needed = self.bytes.div_ceil(self.mss);
        let one_round = needed.min(self.first_window / self.mss);
        let ample = self.ample_window();
        let starts = !self.reuse || self.starts_over;
        let candidates = [
            (true, Idea::Reuse),
            (self.reuse, Idea::KeepWindow),
            (self.tls == Tls::V12 && !self.reuse, Idea::Tls13),
            (starts && one_round > self.initial_window, Idea::InitialWindow(one_round)),
            (starts && one_round < needed, Idea::OneFlight(needed)),
            (self.ssthresh.is_some(), Idea::NoThreshold),
            (ample > self.receive_window, Idea::ReceiveWindow(ample)),
            (self.send_buffer.is_some_and(|buffer| ample > buffer), Idea::SendBuffer(ample)),
            (true, Idea::NoLoss),
            (true, Idea::Bbr),
            (true, Idea::NoThinking),
            (true, Idea::HalfRoundTrip),
            (true, Idea::TwiceRate),
        ];
        candidates.into_iter().filter(|(applies, _)| *applies).map(|(_, idea)| idea).collect()
    }

    /// The plan with a change made.
    pub fn with(&self, idea: Idea) -> Self {
        let mut plan = self.clone();
        match idea {
            Idea::Reuse => plan.reuse = true,
            Idea::KeepWindow => plan.starts_over = false,
            Idea::Tls13 => plan.tls = Tls::V13,
            Idea::InitialWindow(segments) => plan.initial_window = segments,
            Idea::OneFlight(segments) => {
                plan.initial_window = segments;
                plan.first_window = plan.first_window.max(plan.bytes);
                plan.receive_window = plan.receive_window.max(plan.bytes);
            }
            Idea::NoThreshold => plan.ssthresh = None,
            Idea::ReceiveWindow(bytes) => plan.receive_window = bytes,
            Idea::SendBuffer(bytes) => plan.send_buffer = Some(bytes),
            Idea::NoLoss => plan.loss = 0.0,
            Idea::Bbr => plan.algorithm = Algorithm::Bbr,
            Idea::NoThinking => plan.think = Nanos::ZERO,
            Idea::HalfRoundTrip => plan.rtt = Nanos(plan.rtt.0 / 2),
            Idea::TwiceRate => plan.rate = plan.rate.map(|rate| rate * 2.0),
        }
        plan
    }

    /// A window that limits nothing: four times bandwidth × round trip, or all of the payload.
    fn ample_window(&self) -> u64 {
        let product = self.rate.map_or(u64::MAX, |rate| (rate / 8.0 * self.rtt.as_secs_f64() * 4.0) as u64);
        product.min(self.bytes).max(65_536)
    }

    /// How often it is played.
    fn runs(&self, most: u64) -> u64 {
        if self.loss <= 0.0 {
            return 1;
        }
        let segments = self.bytes.div_ceil(self.mss.max(1)).clamp(1, MAX_SEGMENTS) * (1 + self.warmings());
        (MAX_WORK / segments).clamp(5, most) | 1
    }

    /// How many transfers come before it on its connection.
    fn warmings(&self) -> u64 {
        if self.reuse { self.earlier.min(WARM_TRANSFERS) } else { 0 }
    }

    /// Time of all transfers, if one takes `one`.
    fn all(&self, one: Nanos) -> Nanos {
        let idle = Nanos(self.idle.0.saturating_mul(self.count.saturating_sub(1) as i64));
        Nanos(one.0.saturating_mul(self.count.max(1) as i64)) + idle
    }

    /// One transfer with this seed: its time, and its payload as it was played.
    fn play(&self, seed: u64) -> (Nanos, Outcome) {
        let mut scenario = self.scenario(seed);
        for _ in 0..self.warmings() {
            let warm = simulate(&scenario);
            self.keep_warm(&mut scenario, &warm);
        }
        let outcome = simulate(&scenario);
        let before: Nanos = self.before().into_iter().map(|(_, time)| time).sum();
        (before + self.payload(&outcome), outcome)
    }

    /// Phases before the payload's first byte leaves.
    fn before(&self) -> Vec<(LimitingFactor, Nanos)> {
        let trips = |number: f64| self.rtt.scale(number);
        let mut phases = Vec::new();
        if !self.reuse {
            phases.push((LimitingFactor::Handshake, trips(1.0)));
            phases.push((LimitingFactor::TlsHandshake, trips(self.tls.round_trips())));
        }
        if self.way == Way::Download {
            phases.push((LimitingFactor::RequestWait, trips(0.5)));
        }
        phases.push((LimitingFactor::ServerThink, self.think));
        phases
    }

    /// From the payload's first byte sent to the event that the client waits for: the last byte of
    /// a download, the response to an upload.
    fn payload(&self, outcome: &Outcome) -> Nanos {
        match self.way {
            Way::Download => outcome.delivered,
            Way::Upload => outcome.delivered + self.rtt.scale(0.5),
        }
    }

    /// Neither end waits for the last ACK's way back.
    fn leave_out_the_way_back(&self, limits: &mut [(LimitingFactor, Nanos)], outcome: &Outcome) {
        let mut surplus = outcome.duration - self.payload(outcome);
        for wanted in [LimitingFactor::RoundTrip, LimitingFactor::Bandwidth, LimitingFactor::LossRecovery] {
            for (limit, time) in limits.iter_mut().filter(|(limit, _)| *limit == wanted) {
                let part = if *limit == wanted { surplus.or_zero().min(*time) } else { Nanos::ZERO };
                *time -= part;
                surplus -= part;
            }
        }
    }

    fn scenario(&self, seed: u64) -> Scenario {
        let payload = self.mss as f64 / (self.mss as f64 + HEADERS);
        let rate = self.rate.map(|rate| rate * payload);
        let product = |rate: f64| (rate / 8.0 * self.rtt.as_secs_f64()) as u64;
        Scenario {
            bytes: self.bytes,
            mss: self.mss,
            rtt: self.rtt,
            rate,
            queue: self.queue.or(rate.map(|rate| product(rate).max(65_536))),
            losses: if self.loss > 0.0 { Losses::Random { probability: self.loss, seed } } else { Losses::NONE },
            sender: SenderSettings {
                initial_window: self.initial_window as f64,
                ssthresh: self.ssthresh.map_or(f64::INFINITY, |segments| segments as f64),
                cap: self.send_buffer,
                buffer: Some(initial_buffer(self.initial_window as f64, self.mss)),
                ..SenderSettings::usual(self.algorithm)
            },
            receiver: ReceiverSettings {
                window: Window::Autotuned { initial: self.first_window, most: self.receive_window },
                ack_delay: DELACK_MIN,
            },
            pauses: Vec::new(),
        }
    }

    /// The window that an earlier transfer left, after the idle time.
    fn keep_warm(&self, scenario: &mut Scenario, warm: &Outcome) {
        let mut window = warm.cwnd;
        let mut threshold = warm.ssthresh;
        let timer = warm.rto.max(Nanos(1));
        // BBR keeps its measurements; others halve for each timer's length, down to the initial
        // window (RFC 2861).
        if self.starts_over && self.algorithm != Algorithm::Bbr && self.idle > timer {
            let halvings = (self.idle.0 / timer.0).min(60) as i32;
            threshold = threshold.max(0.75 * window);
            window = (libm::ldexp(window, -halvings)).max((self.initial_window as f64).min(window));
        }
        scenario.sender.initial_window = window;
        scenario.sender.buffer = warm.buffer;
        scenario.sender.ssthresh = if threshold.is_finite() { threshold } else { f64::INFINITY };
        // A receiver's window does not shrink again.
        if let Window::Autotuned { initial, most } = &mut scenario.receiver.window {
            *initial = (*most).min(self.bytes.saturating_mul(2)).max(*initial);
        }
    }
}

#[cfg(test)]
mod tests;
