//! The measured truth of a run, and the figures that follow from it.
//!
//! `truth.json` holds everything that was recorded; `result.json` the figures, and whether the
//! intended cause was confirmed. Figures come from the kernel, the emulator's log, the programs, or
//! counts over the captures ([`crate::count`]); none comes from the analysis. The schema is
//! `docs/schema/truth-1.schema.json`.

use crate::count::Counted;
use crate::figures::{Claim, Figures};
use crate::log::{Direction, Fate, LinkLog};
use crate::noise::{self, Noise};
use crate::sample::{Accuracy, Row, Series};
use crate::scenario::Scenario;
use crate::scenario::work::{Side, Work};
use crate::trace::Trace;
use crate::work::Report;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of `truth.json` and `result.json`.
pub const SCHEMA: &str = "whyslow-truth/1";

/// Everything recorded of one run.
#[derive(Clone, Debug, Serialize)]
pub struct Truth {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The experiment and the run's label in it.
    pub experiment: String,
    /// The run's label.
    pub label: String,
    /// The cause that the scenario means to show.
    pub cause: String,
    /// The complete scenario, which can be run again.
    pub scenario: Scenario,
    /// The machine of the run.
    pub machine: Machine,
    /// The moment that the link's times count from, nanoseconds since the Unix epoch.
    pub epoch_ns: u64,
    /// Each host's settings in force.
    pub hosts: BTreeMap<String, HostTruth>,
    /// By host: the measurements of the programs, and the kernel's counters of their sockets.
    pub ends: BTreeMap<String, EndTruth>,
    /// Names of the columns of every socket's rows.
    pub socket_columns: Vec<String>,
    /// Each direction of each link: every packet's fate, counts, lateness.
    pub links: Vec<LinkLog>,
    /// Why the kernels sent segments again.
    pub resends: Trace,
    /// Why the run is not to be trusted; empty for every run that is reported as a result.
    pub void: Vec<String>,
    /// Whether the run was stopped early; left out if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
}

impl Truth {
    /// How much the machine disturbed this run.
    pub fn noise(&self, figures: &Figures) -> Noise {
        let client = self.ends.get("client");
        let mut client = client
            .map(|end| noise::Client { transfers: &end.transfers, connections: &end.connections, waited_s: 0.0 })
            .unwrap_or_default();
        // If other programs are meant to keep the processor busy, that is not noise.
        if self.scenario.client.hogs + self.scenario.server.hogs == 0 {
            let others = |host: &str| host == "cross" || host == CROSS_SERVER;
            let ends = self.ends.iter().filter(|(host, _)| !others(host));
            client.waited_s = ends.map(|(_, end)| end.waited_us as f64 / 1e6).sum();
        }
        Noise::of(&self.links, self.epoch_ns, client, figures)
    }
}

/// The machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// `uname -r`.
    pub kernel: String,
    /// Processors that this process may use.
    pub cpus: usize,
    /// Version of this crate.
    pub lab: String,
    /// Whether the lab ran as the machine's root.
    pub root: bool,
}

impl Machine {
    /// Returns the values of this machine.
    pub fn here() -> Self {
        let kernel = nix::sys::utsname::uname()
            .map_or_else(|_| String::new(), |name| name.release().to_string_lossy().into_owned());
        // Inside a user namespace every user is root; only the first one maps every id.
        let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
        let root = nix::unistd::geteuid().is_root() && map.split_whitespace().eq(["0", "0", "4294967295"]);
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        Self { kernel, cpus, lab: env!("CARGO_PKG_VERSION").to_owned(), root }
    }
}

/// A host's settings as they were read back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostTruth {
    /// Sysctls.
    pub sysctls: BTreeMap<String, String>,
    /// `ip route`.
    pub routes: String,
    /// The host's TCP counters after the run, as nstat names them.
    pub counters: BTreeMap<String, u64>,
    /// Its metrics cache after the run, as `ip tcp_metrics` prints it.
    pub metrics: String,
}

/// One host's part: what its program measured, and its kernel's counters.
#[derive(Clone, Debug, Serialize)]
pub struct EndTruth {
    /// Connections in order.
    pub connections: Vec<crate::work::Opened>,
    /// Transfers in order (the client's only).
    pub transfers: Vec<crate::work::Transfer>,
    /// TCP_INFO and SO_MEMINFO over time, a series for each connection.
    pub sockets: Vec<Series>,
    /// How regular the readings were.
    pub sampling: Accuracy,
    /// User and system time of the program, microseconds.
    pub cpu_us: u64,
    /// How long the program could have gone on and had no processor, microseconds.
    pub waited_us: u64,
}

impl From<Report> for EndTruth {
    fn from(r: Report) -> Self {
        Self {
            connections: r.connections,
            transfers: r.transfers,
            sockets: r.sockets,
            sampling: r.sampling,
            cpu_us: r.cpu_us,
            waited_us: r.waited_us,
        }
    }
}

/// The summary of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// [`SCHEMA`].
    pub schema: String,
    /// The experiment.
    pub experiment: String,
    /// Label of the run in its experiment.
    pub label: String,
    /// Its values in the matrix.
    pub values: BTreeMap<String, String>,
    /// From 1.
    pub repetition: u32,
    /// The scenario's key: a run with the same key is reused.
    pub key: String,
    /// The intended cause.
    pub cause: String,
    /// How many tries the machine spoiled.
    pub voided: u32,
    /// How much the machine disturbed this run.
    #[serde(default)]
    pub noise: Noise,
    /// Why there is no result: void every time, or the programs failed. Empty for a result.
    pub problems: Vec<String>,
    /// Whether every claim holds: the intended cause was the real one.
    pub confirmed: bool,
    /// The claims, one by one.
    pub claims: Vec<CheckedClaim>,
    /// The figures, in base units (seconds, bytes, bits per second, shares from 0 to 1, counts).
    pub figures: Figures,
}

/// A claim, and the measured value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckedClaim {
    /// The claim.
    pub claim: Claim,
    /// The figure, in base units.
    pub measured: Option<f64>,
    /// Whether it holds.
    pub holds: bool,
}

/// Checks the claims of a scenario.
pub fn check(claims: &[Claim], figures: &Figures) -> Vec<CheckedClaim> {
    let one = |claim: &Claim| CheckedClaim {
        claim: claim.clone(),
        measured: figures.get(&claim.figure).copied(),
        holds: claim.holds(figures),
    };
    claims.iter().map(one).collect()
}

/// The host that sends the payload.
pub fn sender(work: &Work) -> &'static str {
    let by_client = match work {
        Work::Upload(_) => true,
        Work::Script(script) => script.bytes_of(Side::Client) > script.bytes_of(Side::Server),
        _ => false,
    };
    if by_client { "client" } else { "server" }
}

/// All figures that this run gives. `captures` are the counts over each host's capture.
pub fn figures(truth: &Truth, captures: &BTreeMap<String, Counted>) -> Figures {
    let mut all = Figures::new();
    application(truth, &mut all);
    for (host, end) in truth.ends.iter().filter(|(host, _)| *host != CROSS_SERVER) {
        kernel(host, end, &mut all);
    }
    for (host, known) in &truth.hosts {
        if let Some(resets) = known.counters.get("Tcp:OutRsts") {
            all.insert(format!("{host}.resets"), *resets as f64);
        }
    }
    sender_rtt(truth, &mut all);
    for log in &truth.links {
        link(log, &mut all);
    }
    wire(truth, captures, &mut all);
    all
}

fn seconds(from: u64, to: u64) -> f64 {
    to.saturating_sub(from) as f64 / 1e9
}

fn application(truth: &Truth, all: &mut Figures) {
    if let Some(rate) = truth.ends.get("cross").and_then(goodput) {
        all.insert("cross.goodput".to_owned(), rate);
    }
    let Some(client) = truth.ends.get("client") else { return };
    let mut put = |name: &str, value: f64| all.insert(name.to_owned(), value);
    if let Some(first) = client.connections.first() {
        put("connect", seconds(first.start, first.connected));
        if let Some(secured) = first.secured {
            put("tls_handshake", seconds(first.connected, secured));
        }
    }
    let (Some(first), Some(last)) = (client.transfers.first(), client.transfers.last()) else { return };
    put("total", seconds(first.start, last.end));
    put("first_byte", seconds(first.request, first.first_byte));
    let mut times: Vec<f64> = client.transfers.iter().map(|t| seconds(t.start, t.end)).collect();
    for (index, time) in times.iter().enumerate().take(100) {
        put(&format!("transfer.{}", index + 1), *time);
    }
    put("transfer.last", seconds(last.start, last.end));
    times.sort_by(f64::total_cmp);
    if let (Some(median), Some(slowest)) = (times.get(times.len() / 2), times.last()) {
        put("transfer.median", *median);
        put("transfer.slowest", *slowest);
    }
    if let Some(rate) = goodput(client) {
        put("goodput", rate);
    }
}

/// Payload over the time of the transfers.
fn goodput(client: &EndTruth) -> Option<f64> {
    let busy: f64 = client.transfers.iter().map(|t| seconds(t.request, t.end)).sum();
    let bytes: u64 = client.transfers.iter().map(|t| t.bytes).sum();
    (busy > 0.0).then(|| bytes as f64 * 8.0 / busy)
}

/// The program that serves the cross traffic, on a host that has another.
pub(crate) const CROSS_SERVER: &str = "cross-server";

/// The kernel has no threshold yet.
const INFINITE_SSTHRESH: u64 = 0x7fff_ffff;

fn kernel(host: &str, end: &EndTruth, all: &mut Figures) {
    let mut put = |name: &str, value: Option<f64>| {
        if let Some(value) = value {
            all.insert(format!("{host}.{name}"), value);
        }
    };
    let sum = |column: &str| -> Option<f64> {
        let values: Vec<u64> = end.sockets.iter().filter_map(|s| s.last(column)).collect();
        (!values.is_empty()).then(|| values.iter().sum::<u64>() as f64)
    };
    let max = |column: &str| end.sockets.iter().filter_map(|s| s.max(column)).max().map(|v| v as f64);
    let busy = sum("busy_time").filter(|us| *us > 0.0);
    put("busy", busy.map(|us| us / 1e6));
    for name in ["rwnd_limited", "sndbuf_limited"] {
        put(name, sum(name).zip(busy).map(|(us, busy)| (us / busy).min(1.0)));
    }
    put("retransmitted", sum("total_retrans"));
    put("timeouts", sum("total_rto"));
    put("dsack_dups", sum("dsack_dups"));
    put("reordering_seen", sum("reord_seen"));
    put("received_out_of_order", sum("rcv_ooopack"));
    put("delivered_ce", sum("delivered_ce"));
    put("max_cwnd", max("snd_cwnd"));
    put("max_unread", max("inq"));
    put("max_notsent", max("notsent"));
    put("max_window", max("rcv_wnd"));
    put("max_peer_window", max("snd_wnd"));
    put("last_cwnd", end.sockets.last().and_then(|s| s.last("snd_cwnd")).map(|v| v as f64));
    put("restarts", (!end.sockets.is_empty()).then(|| end.sockets.iter().map(restarts).sum::<usize>() as f64));
    let ssthresh = end.sockets.last().and_then(|s| s.rows.first()).and_then(|row| value(row, "snd_ssthresh"));
    put("first_ssthresh", ssthresh.map(|v| v.min(INFINITE_SSTHRESH) as f64));
    let rows = || end.sockets.iter().flat_map(|s| &s.rows);
    put(
        "max_in_flight",
        rows().filter_map(|r| Some(value(r, "unacked")? * value(r, "snd_mss")?)).max().map(|v| v as f64),
    );
    let outstanding = |r: &Row| value(r, "unacked").is_some_and(|n| n > 0);
    let full = |r: &Row| {
        value(r, "wmem_queued").zip(value(r, "sndbuf")).is_some_and(|(used, of)| used as f64 > 0.6 * of as f64)
    };
    let time = held(end, outstanding);
    let share = |part: f64| (time > 0.0).then(|| part / time);
    put("sndbuf_full", share(held(end, |r| outstanding(r) && full(r))));
    put("app_limited", share(held(end, |r| outstanding(r) && value(r, "app_limited") == Some(1))));
}

/// How often a congestion window fell though nothing was lost, marked or reordered: between two
/// readings in the open state, with nothing retransmitted.
fn restarts(socket: &Series) -> usize {
    let fell = |last: &Row, row: &Row| -> Option<bool> {
        let (before, after) = (value(last, "snd_cwnd")?, value(row, "snd_cwnd")?);
        let open = value(last, "ca_state")? == 0 && value(row, "ca_state")? == 0;
        let same = |column| value(last, column).zip(value(row, column)).is_some_and(|(one, two)| one == two);
        Some(after < before && open && same("total_retrans") && same("delivered_ce"))
    };
    let pairs = socket.rows.windows(2);
    pairs.filter(|pair| matches!(pair, [last, row] if fell(last, row).unwrap_or_default())).count()
}

/// How long a row's values lasted, in seconds: a row that is equal to the one before is not
/// repeated.
fn lasting(end: &EndTruth) -> impl Iterator<Item = (f64, &Row)> {
    end.sockets.iter().flat_map(|s| s.rows.windows(2)).filter_map(|pair| match pair {
        [row, next] => Some((seconds(row.t, next.t), row)),
        _ => None,
    })
}

fn held(end: &EndTruth, when: impl Fn(&Row) -> bool) -> f64 {
    lasting(end).filter(|(_, row)| when(row)).map(|(time, _)| time).fold(0.0, std::ops::Add::add)
}

fn value(row: &Row, column: &str) -> Option<u64> {
    row.v.get(crate::sample::position(column)?).copied().flatten()
}

fn sender_rtt(truth: &Truth, all: &mut Figures) {
    let Some(end) = truth.ends.get(sender(&truth.scenario.work)) else { return };
    let rtts: Vec<(f64, f64)> = lasting(end)
        .filter_map(|(time, row)| value(row, "rtt").filter(|us| *us > 0).map(|us| (time, us as f64 / 1e6)))
        .collect();
    let time: f64 = rtts.iter().map(|(time, _)| time).sum();
    if let Some(max) = rtts.iter().map(|(_, rtt)| *rtt).max_by(f64::total_cmp)
        && time > 0.0
    {
        all.insert("rtt".into(), rtts.iter().map(|(time, rtt)| time * rtt).sum::<f64>() / time);
        all.insert("rtt_max".into(), max);
    }
    // The kernel shows 2^32 - 1 until it has measured.
    let min = end.sockets.iter().filter_map(|s| s.last("min_rtt")).filter(|us| *us < u64::from(u32::MAX)).min();
    if let Some(min) = min {
        all.insert("rtt_min".into(), min as f64 / 1e6);
    }
}

fn link(log: &LinkLog, all: &mut Figures) {
    let leg = if log.link == 0 { "" } else { "proxy." };
    let way = if log.direction == Direction::Up { "up" } else { "down" };
    let mut put = |name: &str, value: f64| all.insert(format!("{leg}{way}.{name}"), value);
    let c = &log.counts;
    put("packets", c.arrived as f64);
    put("lost", c.lost as f64);
    put("queue_dropped", (c.queue_full + c.aqm) as f64);
    put("policed", c.policed as f64);
    put("duplicated", c.duplicated as f64);
    put("corrupted", c.corrupted as f64);
    put("reordered", c.reordered as f64);
    put("too_large", c.too_big as f64);
    put("marked", c.marked as f64);
    put("max_queue", log.records.iter().map(|r| f64::from(r.queue_bytes)).fold(0.0, f64::max));
    let with_payload = || log.records.iter().filter(|r| r.fate == Fate::Passed && r.meta.payload_bytes > 0);
    let (first, last) = (with_payload().map(|r| r.out_ns).min(), with_payload().map(|r| r.out_ns).max());
    if let Some((first, last)) = first.zip(last).filter(|(first, last)| last > first) {
        let bytes: f64 = with_payload().map(|r| f64::from(r.meta.wire_bytes)).sum();
        put("throughput", bytes * 8.0 / seconds(first, last));
    }
    put("late_p99", log.lateness.p99_ns as f64 / 1e9);
}

fn wire(truth: &Truth, captures: &BTreeMap<String, Counted>, all: &mut Figures) {
    let sender = sender(&truth.scenario.work);
    let receiver = if sender == "client" { "server" } else { "client" };
    let mut put = |name: &str, value: f64| all.insert(name.to_owned(), value);
    if let Some(client) = captures.get("client")
        && let (Some(first), Some(last)) = (client.first, client.last)
    {
        put("span", seconds(first, last));
        put("syn_retransmitted", (client.from_client.syn_retransmitted + client.from_server.syn_retransmitted) as f64);
    }
    let data = |counted: &Counted| {
        if sender == "client" {
            (counted.from_client.clone(), counted.from_server.clone())
        } else {
            (counted.from_server.clone(), counted.from_client.clone())
        }
    };
    if let Some(counted) = captures.get(sender) {
        let (sent, acked) = data(counted);
        put("packets", (sent.packets + acked.packets) as f64);
        put("retransmitted", sent.retransmitted as f64);
        put("window_full", sent.window_full as f64);
        put("duplicate_acks", acked.duplicate_acks as f64);
        put("zero_window", acked.zero_window as f64);
    }
    if let Some(counted) = captures.get(receiver) {
        put("out_of_order", data(counted).0.out_of_order as f64);
    }
}

#[cfg(test)]
mod tests;
