//! The time of each stage of the analysis alone: `make stages`.
//!
//! Every benchmark gets the output of the stage before it, so that it times one stage and no other;
//! `whole` is all of them. divan prints packets a second: 1,000 divided by its `Mitem/s` is the
//! nanoseconds a packet.
#![allow(missing_docs, clippy::unwrap_used)]

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use std::collections::HashMap;
use std::sync::OnceLock;
use whyslow_analysis::Frame;
use whyslow_analysis::types::Side;
use whyslow_bench::make::recipes;
use whyslow_core::capture::{Packet, Reader, Sink};
use whyslow_core::flow::{ConnectionId, FlowTable};
use whyslow_core::tcp::Connection;
use whyslow_core::tcp::facts::Facts;
use whyslow_core::wire::{self, FlowKey, PlainSegment, Segment};
use whyslow_diagnosis::estimate::Context;
use whyslow_diagnosis::explain::Explainer;
use whyslow_diagnosis::limit;
use whyslow_model::{Algorithm, Losses, MAX_STEPS, ReceiverSettings, Scenario, SenderSettings, Window, time};
use whyslow_units::{Nanos, Time};

/// Many packets of few connections, and few packets of many.
const INPUTS: [&str; 2] = ["bulk", "short"];

fn main() {
    divan::main();
}

/// A segment and its connection.
struct Routed {
    id: ConnectionId,
    from: Side,
    new: bool,
}

/// A segment as the stages hand it on: in short if it is a plain one.
struct Taken {
    segment: Segment<'static>,
    plain: Option<PlainSegment<'static>>,
    ends: FlowKey,
    time: Time,
}

impl Taken {
    fn of(packet: &Packet<'static>) -> Self {
        let segment = wire::decode(packet).unwrap();
        let plain = wire::parse_fast(packet).and_then(|glance| glance.plain());
        Self { segment, plain, ends: FlowKey::of(&segment), time: packet.time }
    }
}

/// An input, and the result of each stage for it.
struct Stages {
    file: Vec<u8>,
    packets: Vec<Packet<'static>>,
    segments: Vec<Taken>,
    routed: Vec<Routed>,
    facts: Vec<Facts>,
}

impl Stages {
    fn of(input: &str) -> &'static Self {
        static MADE: OnceLock<HashMap<&str, Stages>> = OnceLock::new();
        let made = MADE.get_or_init(|| INPUTS.map(|input| (input, Self::make(input))).into());
        made.get(input).unwrap()
    }

    fn make(input: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("whyslow-stages-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let recipe = recipes().into_iter().find(|recipe| recipe.name == input).unwrap().smaller(64);
        let made = recipe.make(&folder).unwrap();
        let file = std::fs::read(&made.files[0]).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        // Packets borrow from the file, for as long as the program runs.
        let bytes: &'static [u8] = Box::leak(file.clone().into_boxed_slice());
        let mut collect = Collect(Vec::new());
        Reader::new().push(bytes, &mut collect).unwrap();
        let packets = collect.0;
        let segments: Vec<_> = packets.iter().map(Taken::of).collect();
        let routed = route(&segments);
        let firsts = segments.iter().zip(&routed).filter(|(_, routed)| routed.new).map(|(first, _)| first);
        let ends = firsts.map(|first| first.ends.to_endpoints());
        let facts = push(&segments, &routed).into_iter().zip(ends).map(|(tcp, ends)| tcp.finish(ends)).collect();
        Self { file, packets, segments, routed, facts }
    }
}

struct Collect(Vec<Packet<'static>>);

impl Sink for Collect {
    fn packet(&mut self, packet: &Packet<'_>) {
        let data: &'static [u8] = Box::leak(packet.data.to_vec().into_boxed_slice());
        self.0.push(Packet { data, ..*packet });
    }
}

struct Count(u64);

impl Sink for Count {
    fn packet(&mut self, packet: &Packet<'_>) {
        self.0 += u64::from(packet.original_len);
    }
}

fn route(segments: &[Taken]) -> Vec<Routed> {
    let mut table = FlowTable::default();
    let mut opened = 0;
    segments
        .iter()
        .map(|Taken { segment, plain, ends, time }| {
            table.advance_time(*time);
            if table.has_evicted() {
                table.take_evicted();
            }
            let ends = (*ends).into();
            if plain.is_some()
                && let Some(found) = table.find(&ends)
            {
                let from = found.from;
                return Routed { id: *found.on_plain_segment(*time), from, new: false };
            }
            let id = ConnectionId(opened);
            let to = table.route(segment, &ends, id, || id);
            opened += u64::from(to.new);
            Routed { id: to.id, from: to.from, new: to.new }
        })
        .collect()
}

fn push(segments: &[Taken], routed: &[Routed]) -> Vec<Connection> {
    let mut connections: Vec<Connection> = Vec::new();
    for (number, (Taken { segment, plain, time, .. }, routed)) in (1..).zip(segments.iter().zip(routed)) {
        let frame = Frame { file: None, number };
        if routed.new {
            connections.push(Connection::new(segment, *time, frame));
        }
        let connection = &mut connections[routed.id.0 as usize];
        match plain {
            Some(plain) => connection.push_plain(plain, routed.from, *time, frame.into()),
            None => connection.push(segment, routed.from, *time, frame),
        }
    }
    connections
}

/// Bytes → packets.
#[divan::bench(args = INPUTS)]
fn walk(bencher: Bencher<'_, '_>, input: &str) {
    let stages = Stages::of(input);
    bencher.counter(ItemsCount::new(stages.packets.len())).bench(|| {
        let mut count = Count(0);
        Reader::new().push(black_box(&stages.file), &mut count).unwrap();
        count.0
    });
}

/// Packets → segments, plain ones in short, and between which ends.
#[divan::bench(args = INPUTS)]
fn decode(bencher: Bencher<'_, '_>, input: &str) {
    let stages = Stages::of(input);
    let read = |packet: &Packet<'_>| {
        let Some(glance) = wire::parse_fast(packet) else { return 0 };
        let hash = glance.flow_key().hash();
        let payload = match glance.plain() {
            Some(plain) => plain.payload_len(),
            None => wire::decode(packet).map_or(0, |segment| segment.payload_len),
        };
        hash ^ u64::from(payload)
    };
    bencher
        .counter(ItemsCount::new(stages.packets.len()))
        .bench(|| stages.packets.iter().map(|packet| read(black_box(packet))).fold(0, u64::wrapping_add));
}

/// Segments → connections.
#[divan::bench(args = INPUTS)]
fn flow(bencher: Bencher<'_, '_>, input: &str) {
    let stages = Stages::of(input);
    bencher.counter(ItemsCount::new(stages.packets.len())).bench(|| route(black_box(&stages.segments)));
}

/// A connection's segments → what TCP did.
#[divan::bench(args = INPUTS, sample_count = 20)]
fn tcp(bencher: Bencher<'_, '_>, input: &str) {
    let stages = Stages::of(input);
    bencher.counter(ItemsCount::new(stages.packets.len())).bench(|| push(black_box(&stages.segments), &stages.routed));
}

/// From TCP's behaviour to limits, for all transfers.
#[divan::bench(args = INPUTS)]
fn limits(bencher: Bencher<'_, '_>, input: &str) {
    let stages = Stages::of(input);
    bencher.counter(ItemsCount::new(stages.packets.len())).bench(|| {
        let partition = |facts: &Facts, side| {
            let context = Context::new(facts, side);
            facts.directions[side]
                .transfers
                .iter()
                .map(|one| limit::attribute_time(one, &context).spans.len())
                .sum::<usize>()
        };
        black_box(&stages.facts)
            .iter()
            .map(|facts| partition(facts, Side::A) + partition(facts, Side::B))
            .sum::<usize>()
    });
}

/// Behind the last packet: what was still open is cut up, judged, modelled and put together.
#[divan::bench(args = INPUTS, sample_count = 10)]
fn finish(bencher: Bencher<'_, '_>, input: &str) {
    let stages = Stages::of(input);
    let read = || {
        let mut explainer = Explainer::new();
        Reader::new().push(&stages.file, &mut explainer).unwrap();
        explainer
    };
    bencher.counter(ItemsCount::new(stages.packets.len())).with_inputs(read).bench_values(Explainer::finish);
}

/// What the model plays: 10,000 segments through a window that grows, through a narrow link, and
/// with a loss every 500.
fn scenario(kind: &str) -> Scenario {
    let mut scenario = Scenario {
        bytes: 14_480_000,
        mss: 1448,
        rtt: Nanos::from_millis(50),
        rate: None,
        queue: None,
        losses: Losses::NONE,
        sender: SenderSettings { hystart: false, ..SenderSettings::usual(Algorithm::Cubic) },
        receiver: ReceiverSettings { window: Window::Unlimited, ack_delay: Nanos::ZERO },
        pauses: Vec::new(),
    };
    match kind {
        "window" => scenario.receiver.window = Window::Advertised(vec![(0, 65_536), (1_000_000, 262_144)]),
        "rate" => scenario.rate = Some(1e8),
        _ => scenario.losses = Losses::At((1..20).map(|number| number * 500 * 1448).collect()),
    }
    scenario
}

/// A transfer through the what-if model; the items are its segments.
#[divan::bench(args = ["window", "rate", "loss"])]
fn model(bencher: Bencher<'_, '_>, kind: &str) {
    let scenario = scenario(kind);
    let segments = scenario.bytes / scenario.mss;
    bencher.counter(ItemsCount::new(segments)).bench(|| time(black_box(&scenario), MAX_STEPS));
}

/// Bytes → analysis.
#[divan::bench(args = INPUTS, sample_count = 10)]
fn whole(bencher: Bencher<'_, '_>, input: &str) {
    let stages = Stages::of(input);
    bencher.counter(ItemsCount::new(stages.packets.len())).bench(|| {
        let mut explainer = Explainer::new();
        let mut reader = Reader::new();
        reader.push(black_box(&stages.file), &mut explainer).unwrap();
        let summary = reader.finish(&mut explainer).unwrap();
        explainer.end_capture(summary);
        explainer.finish()
    });
}
