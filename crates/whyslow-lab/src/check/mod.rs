//! Measures how accurate the emulator is on this machine, as a table of configured values and those
//! that two hosts measured.
//!
//! Every figure comes from the hosts, none from the emulator's log. A row that the machine spoiled
//! (see [`crate::net::Outcome::void`]) is measured again. If it is spoiled again, it is void, not
//! wrong.

mod probe;

use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::time::Duration;

use serde::Serialize;

use crate::link::config::{Conditions, LinkConfig, Loss, Reorder, ReorderBy};
use crate::net::config::{EmulatorConfig, Host, HostConfig, LinkPair, PathConfig, PortKind};
use crate::net::{Drops, Error, Outcome, Path};
use probe::Until;

/// How to check.
#[derive(Clone, Copy, Debug, Default)]
pub struct CheckConfig {
    /// About 20 s, with three times the bounds: for tests, on machines that have other work.
    pub quick: bool,
    /// The kind of port.
    pub port: PortKind,
}

/// How a row came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Within its bounds.
    Good,
    /// Outside, on a machine that did nothing to explain it.
    Bad,
    /// The machine spoiled each try.
    Void,
}

/// One line of the table.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The quantity: `added RTT, 10 ms`.
    pub what: String,
    /// Unit of the figures.
    pub unit: &'static str,
    /// The expected value.
    pub expected: f64,
    /// The least that is good.
    pub least: f64,
    /// The most that is good; `None` is without limit.
    pub most: Option<f64>,
    /// The measured value.
    pub measured: f64,
    /// More figures, for people.
    pub detail: String,
    /// How it came out.
    pub verdict: Verdict,
    /// Why the last try was void.
    pub void: Vec<String>,
}

/// The whole table.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// In the order in which they were measured.
    pub rows: Vec<Row>,
}

impl Report {
    /// Whether no row is bad. Void rows do not count.
    pub fn is_good(&self) -> bool {
        self.rows.iter().all(|row| row.verdict != Verdict::Bad)
    }

    /// The table as text.
    pub fn table(&self) -> String {
        let mut text = format!("{:<30} {:>10} {:>10} {:>23}\n", "", "expected", "measured", "good");
        for row in &self.rows {
            let most = row.most.map_or("…".to_owned(), figure);
            let range = format!("{} to {most} {}", figure(row.least), row.unit);
            let verdict = match row.verdict {
                Verdict::Good => "good",
                Verdict::Bad => "BAD",
                Verdict::Void => "void",
            };
            text.push_str(&format!(
                "{:<30} {:>10} {:>10} {range:>23}  {verdict:<4}  {}\n",
                row.what,
                figure(row.expected),
                figure(row.measured),
                row.detail
            ));
            for reason in row.void.iter().filter(|_| row.verdict == Verdict::Void) {
                text.push_str(&format!("{:<30}   void: {reason}\n", ""));
            }
        }
        text
    }
}

/// A figure with four significant digits, at most four of them decimals.
fn figure(value: f64) -> String {
    let decimals = (3 - value.abs().max(1e-3).log10().floor() as i32).clamp(0, 4) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// How often a row is tried before it is void.
const TRIES: usize = 3;

/// Measures all rows and calls `progress` with each. See [`crate::net::enter`].
pub fn run(config: &CheckConfig, mut progress: impl FnMut(&Row)) -> Result<Report, Error> {
    let mut report = Report { rows: Vec::new() };
    for measure in measures(config.quick) {
        let mut tries = 0;
        let row = loop {
            tries += 1;
            let rows = measure.run(config)?;
            let spoiled = rows.iter().any(|row| row.verdict == Verdict::Void);
            // A bad row may be the machine's fault in a way that nothing counts: it is tried again
            // too.
            let bad = rows.iter().any(|row| row.verdict == Verdict::Bad);
            if !(spoiled || bad) || tries == TRIES {
                break rows;
            }
        };
        row.iter().for_each(&mut progress);
        report.rows.extend(row);
    }
    Ok(report)
}

/// One thing to measure, on a path of its own.
#[derive(Clone, Copy, Debug)]
enum Measure {
    AddedRtt { ms: u64, echoes: u16 },
    Goodput { rate_bps: u64, seconds: u64 },
    LossAndCopies { packets: u32 },
    CorruptionAndOrder { packets: u32 },
    Retransmissions { bytes: u64 },
    Throughput { seconds: u64, fast: bool },
}

fn measures(quick: bool) -> Vec<Measure> {
    use Measure::*;
    let (echoes, seconds, packets) = if quick { ([60, 40, 10], 2, 10_000) } else { ([300, 200, 60], 5, 50_000) };
    let mut measures: Vec<Measure> =
        [1, 10, 100].into_iter().zip(echoes).map(|(ms, echoes)| AddedRtt { ms, echoes }).collect();
    measures.extend([1, 8, 100, 1000].map(|mbit| Goodput { rate_bps: mbit * 1_000_000, seconds }));
    measures.push(LossAndCopies { packets });
    measures.push(CorruptionAndOrder { packets });
    measures.push(Retransmissions { bytes: if quick { 4 << 20 } else { 20 << 20 } });
    measures.push(Throughput { seconds, fast: false });
    if !quick {
        measures.push(Throughput { seconds, fast: true });
    }
    measures
}

/// A measured value before it is judged.
struct Figure {
    what: String,
    unit: &'static str,
    expected: f64,
    least: f64,
    most: Option<f64>,
    measured: f64,
    detail: String,
}

const PORT: u16 = 7777;
/// TCP payload in a full frame of 1,514 bytes, with timestamps.
const GOODPUT_SHARE: f64 = 1448.0 / 1514.0;

impl Measure {
    fn run(self, config: &CheckConfig) -> Result<Vec<Row>, Error> {
        // Quick checks have three times the bounds.
        let slack = if config.quick { 3.0 } else { 1.0 };
        let (figures, outcome) = match self {
            Measure::AddedRtt { ms, echoes } => added_rtt(config, ms, echoes, slack)?,
            Measure::Goodput { rate_bps, seconds } => goodput(config, rate_bps, seconds, slack)?,
            Measure::LossAndCopies { packets } => loss_and_copies(config, packets)?,
            Measure::CorruptionAndOrder { packets } => corruption_and_order(config, packets)?,
            Measure::Retransmissions { bytes } => retransmissions(config, bytes, slack)?,
            Measure::Throughput { seconds, fast } => throughput(config, seconds, fast, slack)?,
        };
        let judge = |figure: Figure| {
            let good = figure.measured >= figure.least && figure.most.is_none_or(|most| figure.measured <= most);
            // Lost packets spoil any figure. Late ones only explain one that is out of bounds.
            let verdict = match (good, outcome.drops.total() == 0, outcome.void.is_empty()) {
                (_, false, _) | (false, _, false) => Verdict::Void,
                (true, true, _) => Verdict::Good,
                (false, true, true) => Verdict::Bad,
            };
            let Figure { what, unit, expected, least, most, measured, detail } = figure;
            Row { what, unit, expected, least, most, measured, detail, verdict, void: outcome.void.clone() }
        };
        Ok(figures.into_iter().map(judge).collect())
    }
}

fn path(config: &CheckConfig, up: Conditions, down: Conditions, fast: bool) -> Result<Path, Error> {
    let host = HostConfig { tso: fast, ..HostConfig::default() };
    // Without a limit the log of the fastest row would take a gigabyte, and its writer's time.
    let emulator = EmulatorConfig { port: config.port, fast, log_limit: Some(0), ..EmulatorConfig::default() };
    Path::build(&PathConfig {
        client: host.clone(),
        server: host,
        proxy: None,
        cross: None,
        links: vec![LinkPair { up: LinkConfig::steady(up, 1), down: LinkConfig::steady(down, 2) }],
        emulator,
    })
}

fn io_error(what: &'static str) -> impl Fn(std::io::Error) -> Error {
    move |source| Error::Os { what: what.to_owned(), source }
}

fn join<T>(handle: std::thread::JoinHandle<T>) -> T {
    handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn latest(outcome: &Outcome) -> String {
    let p99 = outcome.links.iter().map(|log| log.lateness.p99_ns).max().unwrap_or(0);
    format!("p99 late {:.0} µs", p99 as f64 / 1e3)
}

type Measured = Result<(Vec<Figure>, Outcome), Error>;

fn added_rtt(config: &CheckConfig, ms: u64, echoes: u16, slack: f64) -> Measured {
    let half = Conditions { delay_ns: ms * 500_000, ..Conditions::default() };
    let mut path = path(config, half.clone(), half, false)?;
    let server = path.address(Host::Server)?;
    path.start(&[])?;
    let times = path.within(Host::Client, || probe::echo(server, echoes))?.map_err(io_error("sending echoes"))?;
    let outcome = path.stop()?;
    let times: Vec<f64> = times.iter().map(|time| time.as_secs_f64() * 1e3).collect();
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    let deviation = (times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / times.len() as f64).sqrt();
    let bound = (0.3_f64).max(ms as f64 * 0.03) * slack;
    let figure = Figure {
        what: format!("added RTT, {ms} ms"),
        unit: "ms",
        expected: ms as f64,
        least: (ms as f64 - bound).max(0.0),
        most: Some(ms as f64 + bound),
        measured: mean,
        detail: format!(
            "deviation {deviation:.2}, max {:.2} ms of {echoes}, {}",
            times.iter().copied().fold(0.0, f64::max),
            latest(&outcome)
        ),
    };
    Ok((vec![figure], outcome))
}

/// Downloads for some time; the client's rate without its first fifth.
fn download(path: &mut Path, until: Until, skip: Duration) -> Result<(probe::Received, Outcome), Error> {
    let address = SocketAddr::new(path.address(Host::Server)?, PORT);
    let listener = path.within(Host::Server, || TcpListener::bind(address))?.map_err(io_error("listening"))?;
    path.start(&[])?;
    let server = path.thread(Host::Server, "bulk", move || probe::serve_bulk(&listener, until))?;
    let received = path.within(Host::Client, || probe::receive_bulk(address, skip))?;
    let received = received.map_err(io_error("receiving"))?;
    join(server).map_err(io_error("sending"))?;
    Ok((received, path.stop()?))
}

fn goodput(config: &CheckConfig, rate_bps: u64, seconds: u64, slack: f64) -> Measured {
    let delay = Conditions { delay_ns: 1_000_000, ..Conditions::default() };
    let mut path = path(config, delay.clone(), Conditions { rate_bps: Some(rate_bps), ..delay }, false)?;
    let time = Duration::from_secs(seconds);
    let (received, outcome) = download(&mut path, Until::Time(time), time / 5)?;
    let expected = rate_bps as f64 * GOODPUT_SHARE / 1e6;
    let figure = Figure {
        what: format!("goodput at {} Mbit/s", rate_bps / 1_000_000),
        unit: "Mbit/s",
        expected,
        least: expected * (1.0 - 0.03 * slack),
        most: Some(expected * (1.0 + 0.03 * slack)),
        measured: received.rate_bps / 1e6,
        detail: latest(&outcome),
    };
    Ok((vec![figure], outcome))
}

/// The 99 % interval of a binomial share, by the normal approximation: these have hundreds of hits.
fn binomial(what: &str, p: f64, hits: u64, trials: u64) -> Figure {
    let n = trials.max(1) as f64;
    let bound = 2.576 * (p * (1.0 - p) / n).sqrt() * 100.0;
    let expected = p * 100.0;
    Figure {
        what: what.to_owned(),
        unit: "%",
        expected,
        least: expected - bound,
        most: Some(expected + bound),
        measured: hits as f64 / n * 100.0,
        detail: format!("{hits} of {trials}"),
    }
}

/// Sends numbered datagrams from the client. Returns the arrivals, and how many failed their
/// checksum.
fn numbered(path: &mut Path, packets: u32) -> Result<(probe::Arrivals, u64, Outcome), Error> {
    let address = SocketAddr::new(path.address(Host::Server)?, PORT);
    let socket = path.within(Host::Server, || UdpSocket::bind(address))?.map_err(io_error("binding"))?;
    let errors =
        |path: &Path| Ok::<_, Error>(path.counters(Host::Server)?.get("Udp:InCsumErrors").copied().unwrap_or(0));
    let before = errors(path)?;
    path.start(&[])?;
    let sink = path.thread(Host::Server, "sink", move || probe::count_numbered(&socket, packets))?;
    path.within(Host::Client, || probe::send_numbered(address, packets))?.map_err(io_error("sending"))?;
    let arrivals = join(sink).map_err(io_error("receiving"))?;
    let mut outcome = path.stop()?;
    let full = path.counters(Host::Server)?.get("Udp:RcvbufErrors").copied().unwrap_or(0);
    if full > 0 {
        outcome.drops.device += full;
        outcome.void.push(format!("{full} datagrams that the receiver was too slow for"));
    }
    Ok((arrivals, errors(path)? - before, outcome))
}

fn loss_and_copies(config: &CheckConfig, packets: u32) -> Measured {
    let up =
        Conditions { delay_ns: 1_000_000, loss: Loss::Independent(0.01), duplicate: 0.01, ..Conditions::default() };
    let mut path = path(config, up, Conditions::default(), false)?;
    let (arrivals, _, outcome) = numbered(&mut path, packets)?;
    let sent = u64::from(packets);
    let lost = sent - arrivals.distinct;
    let figures = vec![
        binomial("loss of 1 %", 0.01, lost, sent),
        binomial("duplication of 1 %", 0.01, arrivals.copies, arrivals.distinct),
    ];
    Ok((figures, outcome))
}

fn corruption_and_order(config: &CheckConfig, packets: u32) -> Measured {
    let up = Conditions {
        delay_ns: 1_000_000,
        corrupt: 0.01,
        reorder: Some(Reorder { share: 0.01, listed: Loss::None, correlation: 0.0, by: ReorderBy::DelayNs(5_000_000) }),
        ..Conditions::default()
    };
    let mut path = path(config, up, Conditions::default(), false)?;
    let (arrivals, corrupted, mut outcome) = numbered(&mut path, packets)?;
    let sent = u64::from(packets);
    if arrivals.distinct + corrupted != sent {
        outcome.drops.device += 1;
        outcome.void.push(format!("{} datagrams are missing", sent - arrivals.distinct.min(sent)));
    }
    let corruption = Figure {
        detail: format!("{corrupted} of {sent} failed their checksum"),
        ..binomial("corruption of 1 %", 0.01, corrupted, sent)
    };
    let figures = vec![corruption, binomial("reordering of 1 %", 0.01, arrivals.late, arrivals.distinct)];
    Ok((figures, outcome))
}

fn retransmissions(config: &CheckConfig, bytes: u64, slack: f64) -> Measured {
    let delay = Conditions { delay_ns: 5_000_000, ..Conditions::default() };
    let down = Conditions { loss: Loss::Independent(0.01), rate_bps: Some(50_000_000), ..delay.clone() };
    let mut path = path(config, delay, down, false)?;
    let (received, outcome) = download(&mut path, Until::Bytes(bytes), Duration::ZERO)?;
    let counters = path.counters(Host::Server)?;
    let count = |name: &str| counters.get(name).copied().unwrap_or(0);
    // Each DSACK is a segment that had arrived already: its retransmission was spurious (RFC 3708).
    let (sent_again, spurious) = (count("Tcp:RetransSegs"), count("TcpExt:TCPDSACKRecv"));
    let dropped = outcome.links.iter().map(|log| log.counts.dropped_data).sum::<u64>() as f64;
    let bound = (dropped * 0.01).max(1.0) * slack;
    let figure = Figure {
        what: "retransmissions at 1 % loss".to_owned(),
        unit: "segments",
        expected: dropped,
        least: dropped - bound,
        most: Some(dropped + bound),
        measured: sent_again.saturating_sub(spurious) as f64,
        detail: format!("{sent_again} less {spurious} spurious, in {} MB", received.bytes >> 20),
    };
    Ok((vec![figure], outcome))
}

fn throughput(config: &CheckConfig, seconds: u64, fast: bool, slack: f64) -> Measured {
    let mut path = path(config, Conditions::default(), Conditions::default(), fast)?;
    let time = Duration::from_secs(seconds);
    let (received, mut outcome) = download(&mut path, Until::Time(time), time / 5)?;
    // A flow as fast as the machine fills its queues: that some packets are late, or do not fit, is
    // what sets its speed.
    outcome.void.clear();
    outcome.drops = Drops::default();
    let figure = Figure {
        what: format!("throughput, {}", if fast { "fast mode" } else { "packet by packet" }),
        unit: "Gbit/s",
        expected: 1.0,
        least: 1.0 / slack,
        most: None,
        measured: received.rate_bps / 1e9,
        detail: format!("without a limit; {}", latest(&outcome)),
    };
    Ok((vec![figure], outcome))
}

#[cfg(test)]
mod tests;
