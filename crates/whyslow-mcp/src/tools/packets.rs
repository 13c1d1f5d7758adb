//! `packets`: the packets of a connection around a frame, a line each. Headers alone: no payload.

use super::args::{frame, one_or_more};
use super::explain::connection;
use super::window::{self, Window};
use crate::captures::{Captures, Explained, unread};
use crate::clip;
use crate::failure::Failure;
use crate::reply::Reply;
use crate::work;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use whyslow_analysis::{Analysis, Connection, End, Frame};
use whyslow_diagnosis::series::Point;
use whyslow_report::render::packets::{flags, notes};

/// Packets before and behind the frame, unless more are asked for, and at most.
const AROUND: usize = 5;
const MOST_AROUND: usize = 25;
/// Connections that are looked through for a frame whose connection is not given.
const MOST_CONNECTIONS: usize = 64;

/// Which packets.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The files as they were given to `explain`.
    #[serde(deserialize_with = "one_or_more", alias = "file")]
    files: Vec<String>,
    /// The frame, as a tool gave it: `17`, or `2:17` of the second of several files.
    #[serde(deserialize_with = "frame")]
    frame: String,
    /// Its connection (default: looked for).
    connection: Option<u64>,
    /// Packets before it and behind it, at most 25 (default 5).
    #[schemars(range(min = 0, max = 25))]
    around: Option<usize>,
}

/// Packets of one connection, in the capture's order.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Packets {
    connection: u64,
    client: String,
    server: String,
    /// The frame is one of them. If not, it is not a TCP segment of this connection, and the
    /// packets are those next to it.
    found: bool,
    packets: Vec<Row>,
}

/// A packet.
#[derive(Debug, Serialize, JsonSchema)]
struct Row {
    frame: String,
    /// From the capture's first packet.
    time_s: f64,
    /// `client` or `server`.
    from: &'static str,
    /// Letters of the TCP flags: S, A, P, F, R, U, E, C.
    flags: String,
    /// Relative to the SYN, as in Wireshark.
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ack: Option<u64>,
    /// Payload bytes.
    len: u32,
    /// Bytes, scaled.
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    in_flight: Option<u64>,
    /// What it is as data, as `fast-retransmission`, and other marks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    marks: Vec<&'static str>,
}

/// Gives the packets around a frame.
///
/// # Errors
/// When there is no such frame or connection, or the captures cannot be read again.
pub(super) async fn call(
    args: Args,
    captures: &Captures,
    context: &RequestContext<RoleServer>,
) -> Result<Reply, Failure> {
    let opened = captures.open(&args.files, context).await?;
    let frame = read_frame(&args.frame, opened.analysis())?;
    let around = args.around.unwrap_or(AROUND).min(MOST_AROUND);
    let candidates = match args.connection {
        Some(id) => vec![connection(opened.analysis(), id)?.id],
        None => candidates(opened.analysis(), frame)?,
    };
    let reading = Arc::clone(&opened);
    let asked = candidates.clone();
    let windows = work::run(context, move |stop, progress| {
        let connections = asked.iter().filter_map(|id| connection(reading.analysis(), *id).ok());
        let places: Option<Vec<_>> = connections.map(|one| reading.reading.place(one)).collect();
        window::read(&places.unwrap_or_default(), (frame, around), stop, progress)
    });
    let windows = windows.await?.map_err(|error| unread(&error))?;
    let chosen = candidates.iter().zip(windows).max_by_key(|(_, window)| window.is_found());
    let Some((&id, window)) = chosen.filter(|(_, window)| args.connection.is_some() || window.is_found()) else {
        return Err(Failure::new(
            format!("frame {frame} is not a TCP segment of a listed connection"),
            "give the `connection` of the finding: the packets next to the frame are listed then",
        ));
    };
    reply(&opened, connection(opened.analysis(), id)?, &window, frame)
}

/// A frame as tools print it.
fn read_frame(text: &str, analysis: &Analysis) -> Result<Frame, Failure> {
    let several = analysis.captures.len() > 1;
    let frame = match text.split_once(':') {
        None => text.parse().ok().map(|number| Frame { file: None, number }),
        Some((file, number)) => number.parse().ok().and_then(|number| {
            let file = file.parse::<u16>().ok()?.checked_sub(1)?;
            (several || file == 0).then_some(Frame { file: several.then_some(file), number })
        }),
    };
    let bad = |hint: &str| Failure::new(format!("`{}` is no frame of these captures", clip::name(text)), hint);
    let frame = frame.ok_or_else(|| bad("a frame is a number as in Wireshark, or FILE:NUMBER of several files"))?;
    if several && frame.file.is_none() {
        return Err(bad("several files are open: name the frame as FILE:NUMBER, as tools print it (2:17)"));
    }
    let capture = usize::from(frame.file.unwrap_or_default());
    match analysis.captures.get(capture) {
        Some(_) if frame.number > 0 => Ok(frame),
        _ => Err(bad("frames are numbered from 1 in each file, and files from 1 in the order of `explain`")),
    }
}

/// The connections that may have this frame: those of its file that begin before it.
fn candidates(analysis: &Analysis, frame: Frame) -> Result<Vec<u64>, Failure> {
    let may = |one: &&Connection| one.origin.frame <= frame;
    let ids: Vec<_> = analysis.connections.iter().filter(may).map(|one| one.id).collect();
    if ids.len() > MOST_CONNECTIONS {
        return Err(Failure::new(
            format!("frame {frame} may be of any of {} connections", ids.len()),
            "give its `connection`, which is the number that a finding's id begins with",
        ));
    }
    Ok(ids)
}

fn reply(opened: &Explained, connection: &Connection, window: &Window, frame: Frame) -> Result<Reply, Failure> {
    let packets = Packets {
        connection: connection.id,
        client: clip::name(&connection.client.host_and_port()),
        server: clip::name(&connection.server.host_and_port()),
        found: window.is_found(),
        packets: window.points().map(row).collect(),
    };
    if packets.packets.is_empty() {
        let hint = "the frames of each finding are those of its connection";
        return Err(Failure::new(format!("connection {} has no packets there", connection.id), hint));
    }
    let mut out = format!("connection {} of {}: ", packets.connection, opened.names.join(", "));
    out += &format!("client {}, server {}\n", packets.client, packets.server);
    if !packets.found {
        out += &format!("frame {frame} is not a TCP segment of this connection; these are next to it\n");
    }
    for row in &packets.packets {
        out += &line(row, row.frame == frame.to_string());
    }
    Reply::new(out, &packets)
}

fn row(point: &Point) -> Row {
    let kind = Some(point.kind.slug()).filter(|kind| !matches!(*kind, "" | "new"));
    Row {
        frame: point.frame.to_string(),
        time_s: point.time.as_secs_f64(),
        from: if point.from == End::Client { "client" } else { "server" },
        flags: flags(point),
        seq: point.seq,
        ack: point.ack,
        len: point.len,
        window: point.window,
        in_flight: point.in_flight,
        marks: kind.into_iter().chain(notes(point)).collect(),
    }
}

fn line(row: &Row, is_asked: bool) -> String {
    let mut out = format!("{} {:>6} {:.6} {} {}", if is_asked { ">" } else { " " }, row.frame, row.time_s, row.from, {
        &row.flags
    });
    for (name, value) in [("seq", row.seq), ("ack", row.ack), ("len", Some(row.len.into())), ("win", row.window)] {
        if let Some(value) = value {
            out += &format!(" {name}={value}");
        }
    }
    if let Some(in_flight) = row.in_flight {
        out += &format!(" in_flight={in_flight}");
    }
    for mark in &row.marks {
        out += &format!(" {mark}");
    }
    out.push('\n');
    out
}
