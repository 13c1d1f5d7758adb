//! `whyslow predict`: how long a transfer would take, without a capture.

use anyhow::bail;
use clap::{Args, ValueEnum};
use std::process::ExitCode;
use whyslow_cli::output::Output;
use whyslow_cli::quantity::{self, Range};
use whyslow_model::Algorithm;
use whyslow_model::plan::{Plan, Tls, WARM_TRANSFERS, Way};
use whyslow_report::render::forecast::{self, grid};
use whyslow_units::Nanos;

/// What to predict.
#[derive(Clone, Debug, Args)]
pub(crate) struct Predict {
    /// Payload of the transfer, as `1MB`; or a range, as `10kB..10MB`: a table of times, and which
    /// sizes suffer.
    #[arg(long, value_name = "SIZE", value_parser = |text: &str| quantity::range(text, quantity::size))]
    bytes: Range<u64>,
    /// Round trip of the empty path, as `200ms`; or a range, as `1ms..300ms`.
    #[arg(long, value_name = "TIME", value_parser = |text: &str| quantity::range(text, quantity::time))]
    rtt: Range<Nanos>,
    /// Bits per second of the narrowest link, as `1gbit` [default: unlimited].
    #[arg(long, value_name = "RATE", value_parser = quantity::rate)]
    rate: Option<f64>,
    /// Room in front of that link [default: rate × round trip, and at least 64 kB].
    #[arg(long, value_name = "SIZE", value_parser = quantity::size)]
    queue: Option<u64>,
    /// Share of lost packets, as `0.1%`.
    #[arg(long, value_name = "SHARE", value_parser = quantity::share, default_value = "0%")]
    loss: f64,
    /// The end that sends the payload.
    #[arg(long = "direction", alias = "way", value_enum, default_value_t = Direction::Download)]
    way: Direction,
    /// Encryption of the connection.
    #[arg(long, value_enum, default_value_t = TlsVersion::None)]
    tls: TlsVersion,
    /// The sender's congestion controller.
    #[arg(long, value_enum, default_value_t = Controller::Cubic)]
    cc: Controller,
    /// The sender's initial congestion window, segments.
    #[arg(long, value_name = "SEGMENTS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    initcwnd: u64,
    /// A slow-start threshold that the sender remembers of earlier connections, segments (`ip
    /// tcp_metrics`) [default: none].
    #[arg(long, value_name = "SEGMENTS", value_parser = clap::value_parser!(u64).range(2..=100_000))]
    ssthresh: Option<u64>,
    /// The receiver's first window.
    #[arg(long, value_name = "SIZE", default_value = "64KiB", value_parser = quantity::size)]
    initrwnd: u64,
    /// The largest window of the receiver (about 0.6 × the last figure of
    /// tcp_rmem).
    #[arg(long, value_name = "SIZE", default_value = "3.6MB", value_parser = quantity::size)]
    rwnd: u64,
    /// Most that the sender has in flight (about 0.94 × the last figure of tcp_wmem) [default:
    /// unlimited].
    #[arg(long, value_name = "SIZE", value_parser = quantity::size)]
    sndbuf: Option<u64>,
    /// Payload of a full segment.
    #[arg(long, value_name = "SIZE", default_value = "1448B", value_parser = quantity::size)]
    mss: u64,
    /// Processing time of the server before its response.
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = quantity::pause)]
    think: Nanos,
    /// The connection is open already, and has carried the same before.
    #[arg(long)]
    reuse: bool,
    /// How long a reused connection was idle before the transfer.
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = quantity::pause)]
    idle: Nanos,
    /// An idle connection keeps its window (Linux: tcp_slow_start_after_idle=0).
    #[arg(long)]
    keep_window: bool,
    /// Number of transfers, one after the other.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    count: u64,
    /// Print a JSON object (schema whyslow-predict/1; of a range whyslow-predict-grid/1).
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Direction {
    /// The server sends, after a request.
    Download,
    /// The client sends, right after the handshakes.
    Upload,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum TlsVersion {
    /// No TLS.
    None,
    /// Two round trips.
    #[value(name = "1.2")]
    V12,
    /// One round trip.
    #[value(name = "1.3")]
    V13,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Controller {
    /// RFC 5681.
    Reno,
    /// RFC 9438, Linux' default.
    Cubic,
    /// BBR version 1.
    Bbr,
}

impl Predict {
    /// Whether more than one transfer is asked for.
    fn is_range(&self) -> bool {
        self.bytes.least < self.bytes.most || self.rtt.least < self.rtt.most
    }

    fn plan(&self, bytes: u64, rtt: Nanos) -> anyhow::Result<Plan> {
        if !(64..=65_483).contains(&self.mss) {
            bail!("--mss {}B is no segment size: from 64 to 65,483 bytes", self.mss);
        }
        if self.idle > Nanos::ZERO && !self.reuse && self.count == 1 {
            bail!("--idle has no meaning for one new connection: add --reuse, or --count");
        }
        Ok(Plan {
            bytes,
            rtt,
            rate: self.rate,
            queue: self.queue,
            loss: self.loss,
            mss: self.mss,
            way: match self.way {
                Direction::Download => Way::Download,
                Direction::Upload => Way::Upload,
            },
            tls: match self.tls {
                TlsVersion::None => Tls::None,
                TlsVersion::V12 => Tls::V12,
                TlsVersion::V13 => Tls::V13,
            },
            algorithm: match self.cc {
                Controller::Reno => Algorithm::Reno,
                Controller::Cubic => Algorithm::Cubic,
                Controller::Bbr => Algorithm::Bbr,
            },
            initial_window: self.initcwnd,
            ssthresh: self.ssthresh,
            first_window: self.initrwnd,
            receive_window: self.rwnd,
            send_buffer: self.sndbuf,
            think: self.think,
            reuse: self.reuse,
            earlier: WARM_TRANSFERS,
            idle: self.idle,
            starts_over: !self.keep_window,
            count: self.count,
        })
    }
}

/// Prints what a transfer would take.
///
/// # Errors
/// When the arguments contradict each other, or nothing can be printed.
pub(crate) fn run(task: &Predict, mut out: Output) -> anyhow::Result<ExitCode> {
    if task.is_range() {
        return run_grid(task, out);
    }
    let plan = task.plan(task.bytes.least, task.rtt.least)?;
    let outcome = plan.forecast();
    let changes = plan.changes(&outcome);
    if task.json {
        out.write_bytes(forecast::json(&plan, &outcome, &changes).as_bytes())?;
    } else {
        out.write(&forecast::terminal(&plan, &outcome, &changes, out.width()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints what transfers of several sizes, or over several round trips, would take.
fn run_grid(task: &Predict, mut out: Output) -> anyhow::Result<ExitCode> {
    let sizes = task.bytes.steps(|bytes| bytes as f64, |bytes| bytes.round() as u64);
    let times = task.rtt.steps(Nanos::as_secs_f64, Nanos::from_secs_f64);
    let mut rows = Vec::new();
    for &bytes in &sizes {
        let plans = times.iter().map(|&rtt| task.plan(bytes, rtt));
        let cells: anyhow::Result<Vec<_>> = plans.map(|plan| plan.map(|plan| (plan.forecast(), plan))).collect();
        rows.push(cells?.into_iter().map(|(forecast, plan)| grid::Cell { plan, forecast }).collect());
    }
    if task.json {
        out.write_bytes(grid::json(&rows).as_bytes())?;
    } else {
        out.write(&grid::terminal(&rows, out.width()))?;
    }
    Ok(ExitCode::SUCCESS)
}
