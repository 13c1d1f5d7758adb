//! `whyslow export`: one connection's packets, graphs and findings for other programs, tickets and
//! papers.

mod graphs;
mod png;

use crate::output::{Sources, Target, complain};
use crate::place::TransferPlace;
use crate::progress::Meter;
use crate::quantity;
use crate::report;
use crate::spooled::SpooledInputs;
use anyhow::{Context, bail};
use clap::{ArgGroup, Args, ValueEnum};
use std::io::{IsTerminal, Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use whyslow_core::analysis::{Analysis, Connection, End};
use whyslow_core::compare::{TransferName, choose};
use whyslow_core::series::{Point, SeriesBuilder};
use whyslow_core::units::Nanos;
use whyslow_io::Input;
use whyslow_report::render::packets::Rows;
use whyslow_report::render::picture::{self, Picture, Track};
use whyslow_report::render::summary;
use whyslow_serve::Opening;

/// What to export.
#[derive(Clone, Debug, Args)]
#[command(group = ArgGroup::new("format").required(true))]
pub(crate) struct Export {
    /// A connection: `FILE` is the one with the largest transfer, `FILE#3` connection 3. Several
    /// files as for `explain`: those that follow each other in time are one capture; `-` is
    /// standard input.
    #[arg(value_name = "FILE", required = true, value_hint = clap::ValueHint::FilePath)]
    files: Vec<PathBuf>,
    /// The connection, by the number that `explain` has for it.
    #[arg(long, value_name = "ID")]
    connection: Option<u64>,
    /// Its packets with what the analysis says of each, as CSV.
    #[arg(long, group = "format")]
    csv: bool,
    /// The same as JSON objects, one a line (schema whyslow-packets/1).
    #[arg(long, group = "format")]
    jsonl: bool,
    /// Graphs for xplot, in tcptrace's kinds, as files in the folder of --output [default: here].
    #[arg(long, group = "format")]
    xplot: bool,
    /// A picture of a track, as SVG.
    #[arg(long, group = "format")]
    svg: bool,
    /// A picture of a track, as PNG.
    #[arg(long, group = "format")]
    png: bool,
    /// What was found, in Markdown for a ticket.
    #[arg(long, group = "format")]
    markdown: bool,
    /// What a picture shows.
    #[arg(long, value_enum, default_value_t = Shown::TimeSequence)]
    track: Shown,
    /// Whose data a picture shows [default: who sent more].
    #[arg(long, value_enum, value_name = "END")]
    of: Option<Side>,
    /// A picture begins so many seconds after the capture's first packet [default: with the
    /// connection].
    #[arg(long, value_name = "SECONDS", value_parser = quantity::seconds)]
    from: Option<Nanos>,
    /// A picture ends there [default: with the connection].
    #[arg(long, value_name = "SECONDS", value_parser = quantity::seconds)]
    to: Option<Nanos>,
    /// With `--track io`: count packets in intervals of this length, as `1ms` [default: what gives
    /// about a hundred of them].
    #[arg(long, value_name = "TIME", value_parser = quantity::time)]
    interval: Option<Nanos>,
    /// Pixels of a picture.
    #[arg(long, value_name = "WxH", default_value = "1200x600", value_parser = size)]
    size: (u32, u32),
    /// Write it here; `-` is stdout [default: stdout].
    #[arg(long, short, value_name = "PATH", value_hint = clap::ValueHint::AnyPath)]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shown {
    /// Segments, ACKs and the window's edge.
    TimeSequence,
    /// Bytes in flight, and the window.
    InFlight,
    /// Round trips.
    Rtt,
    /// Throughput and goodput.
    Throughput,
    /// The window that was offered.
    Window,
    /// Packets in each interval, both ways: the I/O graph.
    Io,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Side {
    Client,
    Server,
}

/// `1200x600`.
fn size(text: &str) -> Result<(u32, u32), String> {
    let sides = text.split_once('x').and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    match sides {
        Some((width @ 320..=8192, height @ 200..=8192)) => Ok((width, height)),
        Some(_) => Err(format!("`{text}` is out of range: from 320x200 to 8192x8192")),
        None => Err(format!("`{text}` is no size, as `1200x600`")),
    }
}

/// Reads the captures, and writes what is wanted of one connection.
///
/// # Errors
/// When it cannot be read or written, or holds no such connection.
pub(crate) fn run(task: &Export) -> anyhow::Result<ExitCode> {
    let (inputs, which) = chosen(task)?;
    let sources = Sources::of(&inputs);
    if task.png && task.output.is_none() && stdout().is_terminal() {
        bail!("a PNG is no text: write it to a file with --output, or into a pipe");
    }
    let folder = task.output.as_deref().unwrap_or(Path::new("."));
    // What xplot's files are called is known with the connection.
    let mut target = match task.xplot {
        true => graphs::check(folder).map(|()| None)?,
        false => Some(Target::open(task.output.as_deref(), &sources)?),
    };
    let kept = if task.markdown { None } else { Some(SpooledInputs::new(&inputs)?) };
    let opening = match &kept {
        Some(kept) => Opening { names: kept.names(), ..Opening::of(kept.inputs().to_vec()) },
        None => Opening::of(inputs.clone()),
    };
    let reading = report::read(&opening)?;
    let names: Vec<_> = inputs.iter().map(Input::name).collect();
    let connection = find(&reading.analysis, which).with_context(|| names.join(", "))?;
    let capture = reading.analysis.captures.get(connection.capture);
    if let Some(target) = target.take_if(|_| task.markdown) {
        write(target, summary::markdown(capture, connection).as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let place = reading.place(connection).context("its packets are read twice, and its capture is no longer there")?;
    let packets = Packets { place, connection };
    match target {
        None => {
            let path = capture.map_or("", |capture| &capture.path);
            graphs::write(&packets, folder, &opening.name(path), &sources)?;
        }
        Some(target) if task.csv || task.jsonl => write_rows(task, &packets, target)?,
        Some(target) => {
            let svg = draw(task, &packets)?;
            let picture = if task.png { png::render(&svg, task.size)? } else { svg.into_bytes() };
            write(target, &picture)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The inputs, and which connection is meant.
///
/// # Errors
/// When that is said in two ways, or of one of several files.
fn chosen(task: &Export) -> anyhow::Result<(Vec<Input>, TransferName)> {
    let places: Vec<TransferPlace> = task.files.iter().map(|file| TransferPlace::read(file)).collect();
    let mut which = TransferName { connection: task.connection, transfer: None };
    for (file, place) in task.files.iter().zip(&places) {
        let (file, name) = (file.display(), place.input.name());
        match (place.which.connection, task.connection) {
            (None, _) => continue,
            (Some(id), _) if place.which.transfer.is_some() => {
                bail!("{file}: a transfer is not exported alone: name its connection, as {name}#{id}")
            }
            (Some(id), _) if places.len() > 1 => bail!(
                "{file}: connections are numbered over all files that are read together: name it as \
                 `--connection {id}`, by the number that `whyslow explain` has for it with the same files"
            ),
            (Some(id), Some(other)) => bail!("{file}: connection {id} or --connection {other}? name it once"),
            (Some(_), None) => which.connection = place.which.connection,
        }
    }
    Ok((places.into_iter().map(|place| place.input).collect(), which))
}

/// The connection that is meant; without a number, that of the largest transfer, or else the first.
fn find(analysis: &Analysis, which: TransferName) -> anyhow::Result<&Connection> {
    let named = analysis.connections.iter().find(|connection| Some(connection.id) == which.connection);
    if let Some(connection) = named {
        return Ok(connection);
    }
    match (choose(analysis, which), analysis.connections.first()) {
        (Ok(chosen), _) => Ok(chosen.connection),
        (Err(_), Some(first)) if which.connection.is_none() => Ok(first),
        (Err(why), _) => Err(why.into()),
    }
}

/// One connection's packets, which are read a second time.
struct Packets<'a> {
    place: whyslow_io::PacketSource,
    connection: &'a Connection,
}

impl Packets<'_> {
    /// Gives each to `give`, in order; the first error ends that.
    fn each(&self, mut give: impl FnMut(&Point) -> std::io::Result<()>) -> anyhow::Result<()> {
        let mut failed = None;
        let late = {
            let mut meter = Meter::new();
            let mut give = |point: Point| {
                if failed.is_none() {
                    failed = give(&point).err();
                }
            };
            whyslow_io::follow(&self.place, &mut give, &mut |progress| meter.update(progress))?
        };
        if let Some(error) = failed {
            return Err(error.into());
        }
        if late > 0 {
            anstream::eprintln!("whyslow: {late} verdicts came more than 65,536 packets late and are not in it");
        }
        let unused = |slug: &str| {
            let problem = self.connection.problems.iter().find(|problem| problem.slug == slug)?;
            complain(&format!("not in it: {}", problem.detail));
            Some(())
        };
        let _ = (unused("duplicate-frames"), unused("bad-checksum"));
        Ok(())
    }

    fn title(&self) -> String {
        format!("{} to {}", self.connection.client.host_and_port(), self.connection.server.host_and_port())
    }
}

fn write(mut target: Target, bytes: &[u8]) -> anyhow::Result<()> {
    target.write_all(bytes)?;
    target.finish()
}

fn write_rows(task: &Export, packets: &Packets<'_>, mut target: Target) -> anyhow::Result<()> {
    let mut rows = Rows::default();
    if task.csv {
        Rows::titles(&mut target)?;
    }
    packets.each(|point| if task.csv { rows.csv(point, &mut target) } else { rows.json(point, &mut target) })?;
    target.finish()
}

/// # Errors
/// When the picture has no intervals, or fewer pixels than intervals.
fn check_interval(task: &Export, whole: Nanos) -> anyhow::Result<()> {
    let Some(interval) = task.interval else { return Ok(()) };
    if task.track != Shown::Io {
        bail!("--interval is for --track io");
    }
    let (bars, pixels) = (whole.0 / interval.0.max(1), i64::from(task.size.0));
    if bars > pixels {
        let most = Nanos(interval.0 * pixels).as_secs_f64();
        bail!(
            "{bars} intervals do not fit on {pixels} pixels: show at most {most} s (--from, --to) or take a larger --size"
        );
    }
    Ok(())
}

fn draw(task: &Export, packets: &Packets<'_>) -> anyhow::Result<String> {
    let connection = packets.connection;
    let start = connection.start_s;
    let whole = (start, start + connection.duration_s);
    let range = (task.from.unwrap_or(whole.0).max(whole.0), task.to.unwrap_or(whole.1).min(whole.1));
    if range.0 > range.1 {
        bail!(
            "there is nothing from {} to {} s: the connection lasts from {} to {} s",
            range.0.as_secs_f64(),
            range.1.as_secs_f64(),
            whole.0.as_secs_f64(),
            whole.1.as_secs_f64()
        );
    }
    check_interval(task, range.1 - range.0)?;
    let count = connection.directions.iter().map(|half| half.packets).fold(0, u64::saturating_add);
    let mut builder = SeriesBuilder::new(range, count);
    packets.each(|point| {
        builder.push(point);
        Ok(())
    })?;
    let of = match task.of {
        Some(Side::Client) => End::Client,
        Some(Side::Server) => End::Server,
        None => connection.directions.iter().max_by_key(|half| half.bytes).map_or(End::Server, |half| half.from),
    };
    let largest = connection.transfers.iter().filter(|transfer| transfer.from == of).max_by_key(|t| t.bytes);
    let verdict = largest.map_or("", |transfer| &transfer.verdict);
    let picture = Picture {
        track: match task.track {
            Shown::TimeSequence => Track::Sequence,
            Shown::InFlight => Track::InFlight,
            Shown::Rtt => Track::RoundTrip,
            Shown::Throughput => Track::Throughput,
            Shown::Window => Track::Window,
            Shown::Io => Track::Packets,
        },
        of,
        range: Some(range),
        size: task.size,
        title: &packets.title(),
        subtitle: verdict,
        interval: task.interval,
        rtt: connection.rtt_ms.p50.map(|ms| Nanos::from_secs_f64(ms / 1e3)),
    };
    Ok(picture::svg(&builder.finish(), &picture))
}
