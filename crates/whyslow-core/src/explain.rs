//! The whole flow behind one door: packets in, [`Analysis`] out.

use crate::analysis::{Analysis, Capture, Connection, Frame, Problem, SCHEMA};
use crate::assemble::{self, Names};
use crate::capture::{Clock, Packet, Sink, Summary};
use crate::flow::{ConnectionId, Table};
use crate::pair::Mark;
use crate::rules::{self, Outline};
use crate::tcp;
use crate::units::Nanos;
use crate::whatif::Replays;
use crate::wire::{self, Skip, link_type_name};
use foldhash::fast::FixedState;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

/// Names held for addresses; a capture that names more is not believed.
const MOST_NAMES: usize = 65_536;

/// Takes the packets of one or more captures that continue each other, and explains their connections.
#[derive(Debug, Default)]
pub struct Explainer {
    captures: Vec<CaptureState>,
    table: Table,
    open: HashMap<ConnectionId, Box<Open>, FixedState>,
    gone: Vec<ConnectionId>,
    finished: Vec<(ConnectionId, Connection, Outline)>,
    marks: Vec<Mark>,
    names: Names,
    replays: Replays,
    /// The first packet of all: times are told from it.
    first_time: Option<Nanos>,
}

/// A connection, and the capture in which it began.
#[derive(Debug)]
struct Open {
    capture: usize,
    tcp: tcp::Connection,
}

#[derive(Debug, Default)]
struct CaptureState {
    path: String,
    tcp_packets: u64,
    skipped: BTreeMap<Skip, (u64, u64)>,
    summary: Option<Summary>,
}

impl Explainer {
    /// Nothing read yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The packets that follow come from this capture; the first one has index 0.
    pub fn begin_capture(&mut self, path: &str) {
        self.captures.push(CaptureState { path: path.to_owned(), ..CaptureState::default() });
    }

    /// The capture that was begun last has ended.
    pub fn end_capture(&mut self, summary: Summary) {
        if let Some(capture) = self.captures.last_mut() {
            capture.summary = Some(summary);
        }
    }

    /// Everything was read.
    pub fn finish(self) -> Analysis {
        self.finish_marked().0
    }

    /// Everything was read: what was found, and what each connection that has times is recognised by in other captures.
    pub fn finish_marked(mut self) -> (Analysis, Vec<Mark>) {
        for id in self.table.drain() {
            self.close(id);
        }
        self.finished.sort_by_key(|(id, ..)| *id);
        let several = self.captures.len() > 1;
        let evicted = self.table.evicted;
        let captures = self.captures.into_iter().map(|capture| capture.told(evicted)).collect();
        let (mut connections, outlines): (Vec<_>, Vec<_>) =
            self.finished.into_iter().map(|(_, connection, outline)| (connection, outline)).unzip();
        let mut findings = rules::check_across(&outlines, &connections);
        self.replays.predict(&mut connections);
        if !several {
            assemble::forget_files(&mut connections, &mut findings);
        }
        self.marks.sort_by_key(|mark| mark.id);
        let (pairs, partial) = (Vec::new(), false);
        let analysis = Analysis { schema: SCHEMA, partial, captures, connections, findings, pairs, pairs_total: 0 };
        (analysis, self.marks)
    }

    /// No more packets of this connection come: what is left of it is its account.
    fn close(&mut self, id: ConnectionId) {
        let Some(open) = self.open.remove(&id) else {
            return;
        };
        let summary = self.captures.get(open.capture).and_then(|capture| capture.summary.as_ref());
        let clock = summary.map_or(Clock::Absolute, |summary| summary.clock);
        let first = self.first_time.unwrap_or_default();
        let mut facts = open.tcp.finish();
        facts.is_text |= summary.is_some_and(|summary| summary.format == "tcpdump text");
        facts.timeless |= clock == Clock::None;
        if !facts.timeless {
            self.marks.push(Mark::new(id.0 + 1, &facts));
        }
        let (connection, outline) =
            assemble::connection(&facts, id.0 + 1, open.capture, first, &self.names, &mut self.replays);
        self.finished.push((id, connection, outline));
    }
}

impl Sink for Explainer {
    fn packet(&mut self, packet: &Packet<'_>) {
        if self.captures.is_empty() {
            self.begin_capture("");
        }
        let index = self.captures.len() - 1;
        let capture = &mut self.captures[index];
        if self.first_time.is_none() {
            self.first_time = Some(packet.time);
        }
        let segment = match wire::decode(packet) {
            Ok(segment) => segment,
            Err(skip) => {
                capture.skipped.entry(skip).or_insert((0, packet.frame)).0 += 1;
                return;
            }
        };
        capture.tcp_packets += 1;
        let frame = Frame { file: u16::try_from(index).ok(), number: packet.frame };
        let routed = self.table.route(&segment, packet.time, &mut self.gone);
        let open = self.open.entry(routed.id).or_insert_with(|| {
            Box::new(Open { capture: index, tcp: tcp::Connection::new(&segment, packet.time, frame) })
        });
        open.tcp.push(&segment, routed.from, packet.time, frame);
        while let Some(id) = self.gone.pop() {
            self.close(id);
        }
    }

    fn host_name(&mut self, address: IpAddr, name: &str, stand_in: bool) {
        if self.names.len() < MOST_NAMES {
            self.names.entry(address).or_insert_with(|| (name.to_owned(), stand_in));
        }
    }
}

impl CaptureState {
    fn told(self, evicted: u64) -> Capture {
        let summary = self.summary.unwrap_or_default();
        let mut problems: Vec<Problem> = summary
            .problems
            .iter()
            .map(|problem| Problem { slug: problem.slug.into(), count: problem.count, detail: problem.detail.clone() })
            .collect();
        problems.extend(self.skipped.iter().filter_map(|(skip, &(count, frame))| {
            let slug = slug_of(*skip)?;
            Some(Problem { slug: slug.into(), count, detail: format!("{skip} (first in frame {frame})") })
        }));
        if evicted > 0 {
            problems.push(Problem {
                slug: "connections-let-go".into(),
                count: evicted,
                detail: "connections were silent for very long, or too many were open at once: what came of them later counts as new".into(),
            });
        }
        let duration = summary.first_time.zip(summary.last_time).map(|(first, last)| last - first);
        Capture {
            path: self.path,
            format: summary.format.into(),
            link_types: summary.link_types.iter().map(|link| link_type_name(*link).into_owned()).collect(),
            packets: summary.packets,
            tcp_packets: self.tcp_packets,
            first_time: summary.first_time.filter(|_| summary.clock == Clock::Absolute).map(crate::units::iso_8601),
            duration_s: duration.filter(|_| summary.clock != Clock::None),
            problems,
        }
    }
}

/// Other protocols are no problem; what should have been read and was not is.
fn slug_of(skip: Skip) -> Option<&'static str> {
    match skip {
        Skip::LinkType(_) => Some("unknown-link-type"),
        Skip::Fragment => Some("ip-fragment"),
        Skip::Cut => Some("cut-headers"),
        Skip::Malformed(_) => Some("malformed-packet"),
        _ => None,
    }
}
