//! `whyslow export`: one connection's packets, graphs and findings for other programs, tickets and
//! papers; and tables of all connections.

pub(crate) mod args;
mod captures;
mod folders;
mod graphs;
mod packets;
#[cfg(feature = "parquet")]
mod parquet;
mod png;
mod tables;

use anyhow::{Context, bail};
use args::{Export, Of, TrackArg};
use packets::ConnectionPackets;
use std::io::{IsTerminal, Write, stdout};
use std::path::Path;
use std::process::ExitCode;
use whyslow_analysis::{Analysis, Connection, End};
use whyslow_cli::output::{Target, sources};
use whyslow_cli::place::{Readable, TransferPlace};
use whyslow_cli::{SpooledInputs, keylog, reading};
use whyslow_diagnosis::compare::{TransferName, choose};
use whyslow_diagnosis::series::SeriesBuilder;
use whyslow_io::Input;
use whyslow_report::render::packets::Rows;
use whyslow_report::render::picture::{self, Picture, Track};
use whyslow_report::render::summary;
use whyslow_report::words::{self, Lang};
use whyslow_serve::Opening;
use whyslow_units::Nanos;

/// Reads the captures, and writes the requested data of one connection.
///
/// # Errors
/// When it cannot be read or written, or holds no such connection.
pub(crate) fn run(task: &Export) -> anyhow::Result<ExitCode> {
    let (inputs, which) = chosen(task)?;
    if let Some(form) = tables::format(task) {
        return tables::run(task, form, &inputs, which);
    }
    if let Some(Of::Table(table)) = task.of {
        bail!(
            "--of {} is for tables: --tsv, --arrow, --parquet; of a picture it is `client` or `server`",
            table.name()
        );
    }
    let sources = keylog::protected(sources(&inputs));
    if task.png && task.output.is_none() && stdout().is_terminal() {
        bail!("a PNG is no text: write it to a file with --output, or into a pipe");
    }
    let folder = task.output.as_deref().unwrap_or(Path::new("."));
    // The names of xplot's files need the connection.
    let mut target = match task.xplot {
        true => graphs::check(folder).map(|()| None)?,
        false => Some(Target::open(task.output.as_deref(), &sources)?),
    };
    let readable = Readable::of(&inputs)?;
    let inputs = readable.inputs.clone();
    let kept = if task.markdown { None } else { Some(SpooledInputs::new(&inputs)?) };
    let opening = match &kept {
        Some(kept) => Opening { names: kept.names(), ..Opening::of(kept.inputs().to_vec()) },
        None => Opening::of(inputs.clone()),
    };
    let reading = reading::read(&opening)?;
    let names: Vec<_> = inputs.iter().map(Input::name).collect();
    let connection = find(&reading.analysis, which).with_context(|| names.join(", "))?;
    let capture = reading.analysis.captures.get(connection.capture);
    if let Some(target) = target.take_if(|_| task.markdown) {
        write(target, summary::markdown(capture, connection).as_bytes())?;
        return Ok(readable.status());
    }
    let place = reading.place(connection).context("its packets are read twice, and its capture is no longer there")?;
    let packets = ConnectionPackets { place, connection };
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
    Ok(readable.status())
}

/// The inputs, and which connection is meant.
///
/// # Errors
/// If the transfer is named twice, or names one of several files.
fn chosen(task: &Export) -> anyhow::Result<(Vec<Input>, TransferName)> {
    let mut places = Vec::new();
    for file in &task.files {
        places.extend(TransferPlace::all(file)?.into_iter().map(|place| (file.display(), place)));
    }
    let mut which = TransferName { connection: task.connection, transfer: None };
    for (file, place) in &places {
        let name = place.input.name();
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
    Ok((places.into_iter().map(|(_, place)| place.input).collect(), which))
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

fn write(mut target: Target, bytes: &[u8]) -> anyhow::Result<()> {
    target.write_all(bytes)?;
    target.finish()
}

fn write_rows(task: &Export, packets: &ConnectionPackets<'_>, mut target: Target) -> anyhow::Result<()> {
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
    if task.track != TrackArg::Io {
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

fn draw(task: &Export, packets: &ConnectionPackets<'_>) -> anyhow::Result<String> {
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
        Some(Of::End(end)) => end,
        Some(Of::Table(_)) | None => {
            connection.directions.iter().max_by_key(|half| half.bytes).map_or(End::Server, |half| half.from)
        }
    };
    let largest = connection.transfers.iter().filter(|transfer| transfer.from == of).max_by_key(|t| t.bytes);
    let verdict = largest.map_or(String::new(), |transfer| words::verdict(transfer, Lang::En));
    let picture = Picture {
        track: match task.track {
            TrackArg::TimeSequence => Track::Sequence,
            TrackArg::InFlight => Track::InFlight,
            TrackArg::Rtt => Track::RoundTrip,
            TrackArg::Throughput => Track::Throughput,
            TrackArg::Window => Track::Window,
            TrackArg::Io => Track::Packets,
        },
        of,
        range: Some(range),
        size: task.size,
        title: &packets.title(),
        subtitle: &verdict,
        interval: task.interval,
        rtt: connection.rtt_ms.p50.map(|ms| Nanos::from_secs_f64(ms / 1e3)),
    };
    Ok(picture::svg(&builder.finish(), &picture))
}
