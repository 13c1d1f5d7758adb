//! Prints the output of one stage of the analysis, one record per line, to bisect a wrong verdict.
//!
//! `cargo run --release -p whyslow-core --example dump_stage -- STAGE CAPTURE [CONNECTION]`
//!
//! `STAGE` is `capture`, `wire`, `flow`, `tcp`, `limit` or `rules`; `CAPTURE` is not compressed;
//! `CONNECTION` is the number of a connection, from 1, and limits `flow` and later stages to it.
//! Times are since the capture's first packet. Payload is not printed, and neither is the input
//! that the explainer adds between stages: ICMP errors, wrong checksums, and omissions in a text.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::error::Error;
use std::io::{self, BufWriter, Write};
use std::net::IpAddr;
use std::process::ExitCode;
use whyslow_analysis::types::Side;
use whyslow_analysis::{Analysis, Finding, Frame};
use whyslow_core::capture::{Packet, Reader, Sink};
use whyslow_core::flow::{ConnectionId, FlowTable};
use whyslow_core::tcp::Connection;
use whyslow_core::tcp::facts::{Facts, TransferFacts};
use whyslow_core::wire::{self, FlowKey, Segment};
use whyslow_diagnosis::estimate::Context;
use whyslow_diagnosis::explain::Explainer;
use whyslow_diagnosis::limit;
use whyslow_units::Time;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Capture,
    Wire,
    Flow,
    Tcp,
    Limit,
    Rules,
}

const STAGES: [(&str, Stage); 6] = [
    ("capture", Stage::Capture),
    ("wire", Stage::Wire),
    ("flow", Stage::Flow),
    ("tcp", Stage::Tcp),
    ("limit", Stage::Limit),
    ("rules", Stage::Rules),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let told = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [stage, path] => dump(stage, path, None),
        [stage, path, connection] => dump(stage, path, Some(connection)),
        _ => Err("dump_stage capture|wire|flow|tcp|limit|rules CAPTURE [CONNECTION]".into()),
    };
    match told {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

fn dump(stage: &str, path: &str, connection: Option<&str>) -> Result<(), Box<dyn Error>> {
    let (_, stage) = STAGES.into_iter().find(|(name, _)| *name == stage).ok_or("no such stage")?;
    let only = connection.map(str::parse).transpose()?;
    let bytes = std::fs::read(path)?;
    let mut out = BufWriter::new(io::stdout().lock());
    if stage == Stage::Rules {
        rules(&mut out, &explain(path, &bytes)?, only)?;
    } else {
        let mut dump = Dump::new(&mut out, stage, only);
        let mut reader = Reader::new();
        reader.push(&bytes, &mut dump)?;
        reader.finish(&mut dump)?;
        dump.finish()?;
    }
    Ok(out.flush()?)
}

/// The stages up to `limit`, packet by packet.
struct Dump<W> {
    out: W,
    stage: Stage,
    only: Option<u64>,
    first: Option<Time>,
    last: Time,
    table: FlowTable<()>,
    connections: Vec<(Connection, [(IpAddr, u16); 2])>,
    /// The first write error.
    written: io::Result<()>,
}

impl<W: Write> Sink for Dump<W> {
    fn packet(&mut self, packet: &Packet<'_>) {
        if self.written.is_ok() {
            self.written = self.take(packet);
        }
    }
}

impl<W: Write> Dump<W> {
    fn new(out: W, stage: Stage, only: Option<u64>) -> Self {
        let (table, connections) = (FlowTable::default(), Vec::new());
        Self { out, stage, only, first: None, last: Time::ZERO, table, connections, written: Ok(()) }
    }

    fn take(&mut self, packet: &Packet<'_>) -> io::Result<()> {
        let since_first = packet.time - *self.first.get_or_insert(packet.time);
        let time = Time::ZERO + since_first;
        self.last = self.last.max(time);
        let Packet { frame, link, data, original_len, .. } = packet;
        if self.stage == Stage::Capture {
            let seconds = since_first.as_secs_f64();
            return writeln!(self.out, "{frame} {seconds:.9} {link:?} {} of {original_len} B", data.len());
        }
        match wire::decode_verified(packet) {
            Ok(segment) if self.stage == Stage::Wire => {
                writeln!(self.out, "{frame} {:?}", Segment { payload: &[], ..segment })
            }
            Ok(segment) => self.route(&segment, time, *frame),
            Err(skip) if self.stage == Stage::Wire => writeln!(self.out, "{frame} {skip:?}"),
            Err(_) => Ok(()),
        }
    }

    fn route(&mut self, segment: &Segment<'_>, time: Time, number: u64) -> io::Result<()> {
        let ends = FlowKey::of(segment);
        self.table.advance_time(time);
        self.table.take_evicted();
        let id = ConnectionId(self.connections.len() as u64);
        let to = self.table.route(segment, &ends.into(), id, || ());
        let (id, from, is_new) = (to.id.0, to.from, to.new);
        let frame = Frame { file: None, number };
        if is_new {
            self.connections.push((Connection::new(segment, time, frame), ends.to_endpoints()));
        }
        if self.stage == Stage::Flow && self.only.is_none_or(|only| only == id + 1) {
            let new = if is_new { " new" } else { "" };
            writeln!(self.out, "{number} connection {} from side {from:?}{new}", id + 1)?;
        }
        self.connections[id as usize].0.push(segment, from, time, frame);
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        self.written?;
        for (id, (connection, ends)) in (1..).zip(self.connections) {
            if self.only.is_some_and(|only| only != id) {
                continue;
            }
            let mut facts = connection.finish(ends);
            facts.until = facts.until.max(self.last);
            facts.end_with(facts.until);
            match self.stage {
                Stage::Tcp => tcp(&mut self.out, id, &facts)?,
                Stage::Limit => limits(&mut self.out, id, &facts)?,
                _ => (),
            }
        }
        Ok(())
    }
}

/// Prints the facts of the `tcp` stage: the connection, each side, and each of its transfers with
/// rounds, pauses and losses.
fn tcp(out: &mut impl Write, id: u64, facts: &Facts) -> io::Result<()> {
    let Facts { endpoints, client, state, vantage, rtt, handshake, capture_defects: doubts, .. } = facts;
    writeln!(out, "{id} {endpoints:?} client {client:?} {state:?}")?;
    writeln!(out, "{id} {vantage:?}")?;
    writeln!(out, "{id} {rtt:?}")?;
    writeln!(out, "{id} {handshake:?}")?;
    writeln!(out, "{id} {doubts:?}")?;
    for exchange in &facts.exchanges {
        writeln!(out, "{id} {exchange:?}")?;
    }
    for (side, half) in Side::BOTH.into_iter().zip(&facts.directions) {
        for retransmission in &half.retransmissions {
            writeln!(out, "{id} side {side:?} {retransmission:?}")?;
        }
        for (at, transfer) in half.transfers.iter().enumerate() {
            let TransferFacts { seq, start, end, frames, answered: request, .. } = transfer;
            let (first, last) = frames;
            let at = format!("{id} side {side:?} transfer {at}");
            writeln!(out, "{at} seq {seq:?} {start:?} {end:?} frames {first}-{last} {request:?}")?;
            for round in &transfer.rounds {
                writeln!(out, "{at} {round:?}")?;
            }
            for gap in &transfer.pauses {
                writeln!(out, "{at} {gap:?}")?;
            }
            for loss in &transfer.losses {
                writeln!(out, "{at} {loss:?}")?;
            }
        }
    }
    Ok(())
}

/// Prints what limited each transfer.
fn limits(out: &mut impl Write, id: u64, facts: &Facts) -> io::Result<()> {
    for (side, half) in Side::BOTH.into_iter().zip(&facts.directions) {
        let context = Context::new(facts, side);
        for (at, transfer) in half.transfers.iter().enumerate() {
            let partition = limit::attribute_time(transfer, &context);
            for span in &partition.spans {
                let [start, end] = [span.start, span.end].map(|time| (time - Time::ZERO).as_secs_f64());
                writeln!(out, "{id} side {side:?} transfer {at} {start:.9} {end:.9} {:?}", span.limit)?;
            }
            writeln!(out, "{id} side {side:?} transfer {at} {:?}", partition.shape)?;
        }
    }
    Ok(())
}

fn explain(path: &str, bytes: &[u8]) -> Result<Analysis, Box<dyn Error>> {
    let (mut explainer, mut reader) = (Explainer::new(), Reader::new());
    explainer.begin_capture(path);
    reader.push(bytes, &mut explainer)?;
    let summary = reader.finish(&mut explainer)?;
    explainer.end_capture(summary);
    Ok(explainer.finish())
}

/// Prints the findings with their evidence.
fn rules(out: &mut impl Write, analysis: &Analysis, only: Option<u64>) -> io::Result<()> {
    for connection in &analysis.connections {
        let id = connection.id;
        if only.is_some_and(|only| only != id) {
            continue;
        }
        for (at, transfer) in (1..).zip(&connection.transfers) {
            findings(out, &format!("{id}.{at}"), &transfer.findings)?;
        }
        findings(out, &id.to_string(), &connection.findings)?;
    }
    findings(out, "all", if only.is_none() { &analysis.findings } else { &[] })
}

fn findings(out: &mut impl Write, of: &str, findings: &[Finding]) -> io::Result<()> {
    for Finding { cause, cost_s, confidence, evidence, .. } in findings {
        writeln!(out, "{of} {cause} {:.9} s confidence {confidence}", cost_s.as_secs_f64())?;
        for one in evidence {
            writeln!(out, "{of} {cause} {one:?}")?;
        }
    }
    Ok(())
}
