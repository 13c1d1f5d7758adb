//! A condensed capture, whole or in parts split at any packet, has the analysis of the original,
//! and the parts together have the analysis of the whole.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use whyslow_analysis::{Analysis, Frame};
use whyslow_core::capture::{CaptureOrigin, Clock, LinkType, Packet, Reader, Sink, Summary};
use whyslow_diagnosis::condense::Condenser;
use whyslow_diagnosis::explain::Explainer;
use whyslow_units::Time;

/// An event of a reader, stored for replay.
enum Event {
    Packet { frame: u64, time: Time, link: LinkType, data: Vec<u8>, original_len: u32 },
    Text(Clock),
    LeftOut(Option<[(IpAddr, u16); 2]>, Time, Time),
    HostName(IpAddr, String, bool),
}

#[derive(Default)]
struct Events(Vec<Event>);

impl Sink for Events {
    fn packet(&mut self, packet: &Packet<'_>) {
        let Packet { frame, time, link, data, original_len } = *packet;
        self.0.push(Event::Packet { frame, time, link, data: data.to_vec(), original_len });
    }

    fn text(&mut self, clock: Clock) {
        self.0.push(Event::Text(clock));
    }

    fn left_out(&mut self, of: Option<[(IpAddr, u16); 2]>, from: Time, until: Time) {
        self.0.push(Event::LeftOut(of, from, until));
    }

    fn host_name(&mut self, address: IpAddr, name: &str, stand_in: bool) {
        self.0.push(Event::HostName(address, name.to_owned(), stand_in));
    }
}

impl Event {
    /// Replays the event with frames counted after `before`.
    fn give(&self, sink: &mut impl Sink, before: u64) {
        match self {
            Self::Packet { frame, time, link, data, original_len } => sink.packet(&Packet {
                frame: frame - before,
                time: *time,
                link: *link,
                data,
                original_len: *original_len,
            }),
            Self::Text(clock) => sink.text(*clock),
            Self::LeftOut(of, from, until) => sink.left_out(*of, *from, *until),
            Self::HostName(address, name, stand_in) => sink.host_name(*address, name, *stand_in),
        }
    }
}

/// A part of a capture as a file.
struct Part<'a> {
    name: String,
    events: &'a [Event],
    /// The last frame before it.
    before: u64,
    text: Option<Clock>,
    summary: Summary,
}

impl Part<'_> {
    fn give(&self, sink: &mut impl Sink) {
        let has_clock = self.events.iter().any(|event| matches!(event, Event::Text(_)));
        if let Some(clock) = self.text.filter(|_| !has_clock) {
            sink.text(clock);
        }
        self.events.iter().for_each(|event| event.give(sink, self.before));
    }

    fn condense(&self) -> Vec<u8> {
        let mut rows = Vec::new();
        let origin = CaptureOrigin { name: self.name.clone(), ..CaptureOrigin::default() };
        let mut condenser = Condenser::new(&origin, 1, |_, row: Vec<u8>| {
            assert!(row.len() <= whyslow_core::capture::MAX_ROW);
            rows.extend(row);
        });
        self.give(&mut condenser);
        condenser.finish(&self.summary);
        rows
    }
}

/// Splits a capture before these of its events.
fn parts<'a>(events: &'a [Event], summary: &Summary, cuts: &[usize]) -> Vec<Part<'a>> {
    let text = events.iter().find_map(|event| if let Event::Text(clock) = event { Some(*clock) } else { None });
    let ends = cuts.iter().copied().chain([events.len()]);
    let starts = [0].into_iter().chain(cuts.iter().copied());
    let mut before = 0;
    let mut parts = Vec::new();
    for (number, (start, end)) in starts.zip(ends).enumerate() {
        // A reader reports skipped records after a packet.
        let is_packet = |event: &Event| matches!(event, Event::Packet { .. });
        let skipped = events[start..end].iter().position(is_packet).unwrap_or(end - start);
        let of_part = &events[if number == 0 { start } else { start + skipped }..end];
        let packets = of_part.iter().filter_map(|event| match event {
            Event::Packet { frame, time, .. } => Some((*frame, *time)),
            _ => None,
        });
        let summary = Summary {
            packets: packets.clone().count() as u64,
            first_time: packets.clone().map(|(_, time)| time).min(),
            last_time: packets.clone().map(|(_, time)| time).max(),
            ..summary.clone()
        };
        parts.push(Part { name: format!("part{number}"), events: of_part, before, text, summary });
        before = packets.clone().next_back().map_or(before, |(frame, _)| frame);
    }
    parts
}

/// An explainer that parses no messages, because condensed captures do not contain them.
fn explainer() -> Explainer {
    let mut explainer = Explainer::new();
    explainer.ignore_messages();
    explainer
}

/// The analysis of consecutive parts.
fn explain(parts: &[Part<'_>]) -> String {
    format!("{:#?}", analyse(parts))
}

fn analyse(parts: &[Part<'_>]) -> Analysis {
    let mut explainer = explainer();
    for part in parts {
        explainer.begin_capture(&part.name);
        part.give(&mut explainer);
        explainer.end_capture(part.summary.clone());
    }
    explainer.finish()
}

/// The connections and findings with the frame numbers of the whole capture, and the number of
/// ignored damaged packets. Each file decides from its own first packets whether a wrong checksum
/// means damage.
fn of_whole(parts: &[Part<'_>], before: &[u64]) -> (String, u64) {
    let mut analysis = analyse(parts);
    let problems = analysis.captures.iter().flat_map(|capture| &capture.problems);
    let damaged = problems.filter(|problem| problem.slug == "damaged-packets").map(|problem| problem.count).sum();
    let whole = |frame: &mut Frame| {
        let before = frame.file.take().and_then(|file| before.get(usize::from(file)));
        frame.number += before.copied().unwrap_or_default();
    };
    for connection in &mut analysis.connections {
        connection.capture = 0;
        connection.for_each_frame(whole);
    }
    analysis.findings.iter_mut().for_each(|finding| finding.for_each_frame(whole));
    (format!("{:#?}", (analysis.connections, analysis.findings)), damaged)
}

/// Like [`explain`], for condensed parts that are read in pieces of this size.
fn stitch(parts: &[Vec<u8>], piece: usize) -> String {
    let mut explainer = explainer();
    for part in parts {
        explainer.begin_capture("condensed");
        let mut reader = Reader::new();
        part.chunks(piece).for_each(|piece| reader.push(piece, &mut explainer).unwrap());
        let summary = reader.finish(&mut explainer).unwrap();
        explainer.end_capture(summary);
    }
    format!("{:#?}", explainer.finish())
}

/// Pseudo-random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    all_files(folder, &mut files);
    files
}

fn all_files(folder: &Path, files: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() { all_files(&path, files) } else { files.push(path) }
    }
}

fn assert_same(one: &str, other: &str, path: &Path, cuts: &[usize]) {
    if let Some(at) = one.lines().zip(other.lines()).position(|(one, other)| one != other) {
        let around = |all: &str| all.lines().skip(at.saturating_sub(3)).take(9).collect::<Vec<_>>().join("\n");
        panic!("{} cut before {cuts:?}:\n{}\n\n{}", path.display(), around(one), around(other));
    }
    assert!(one == other, "{} cut before {cuts:?}", path.display());
}

/// The places at which to split captures.
fn cuts(events: usize, rounds: u64, seed: u64) -> Vec<Vec<usize>> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ seed);
    let mut all = vec![Vec::new()];
    for round in 0..rounds {
        let count = 1 + random.below(if round % 2 == 0 { 3 } else { 12 });
        let mut cuts: Vec<_> = (0..count).map(|_| random.below(events + 1)).collect();
        cuts.sort_unstable();
        all.push(cuts);
    }
    all
}

/// Checks a capture, whole and split. Returns the number of splits, and the bytes of the capture's
/// packets and of the condensed ones.
fn check(path: &Path, rounds: u64) -> Option<(usize, [usize; 3])> {
    let bytes = std::fs::read(path).unwrap();
    let (mut events, mut reader) = (Events::default(), Reader::new());
    reader.push(&bytes, &mut events).ok()?;
    let summary = reader.finish(&mut events).ok()?;
    // The other records of a text, names and gaps, are in only one of its parts.
    let is_text = events.0.iter().any(|event| matches!(event, Event::Text(_)));
    let whole = (!is_text).then(|| of_whole(&parts(&events.0, &summary, &[]), &[0]));
    let (mut cases, mut sizes) = (0, [bytes.len(), 0, summary.packets as usize]);
    for (round, cuts) in cuts(events.0.len(), rounds, bytes.len() as u64).into_iter().enumerate() {
        let parts = parts(&events.0, &summary, &cuts);
        let condensed: Vec<_> = parts.iter().map(Part::condense).collect();
        if round == 0 {
            sizes[1] = condensed.iter().map(Vec::len).sum();
        }
        if let Some((whole, damaged)) = &whole {
            let before: Vec<_> = parts.iter().map(|part| part.before).collect();
            let (of_parts, damaged_in_parts) = of_whole(&parts, &before);
            if *damaged == damaged_in_parts {
                assert_same(whole, &of_parts, path, &cuts);
            } else {
                println!("{}: its parts ignore other packets as damaged, not compared", path.display());
            }
        }
        let expected = explain(&parts);
        let stitched = stitch(&condensed, if round == 0 { 1000 } else { 1 << 20 });
        assert_same(&expected, &stitched, path, &cuts);
        cases += 1;
    }
    Some((cases, sizes))
}

fn check_all(files: Vec<PathBuf>, rounds: u64, least: usize) {
    let (mut read, mut cases, mut sizes) = (0, 0, [0; 3]);
    for path in files {
        if let Some((count, of_file)) = check(&path, rounds) {
            read += 1;
            cases += count;
            (0..3).for_each(|index| sizes[index] += of_file[index]);
        }
    }
    println!("{read} captures, {cases} cuts, {} packets: {} bytes condensed to {}", sizes[2], sizes[0], sizes[1]);
    assert!(read >= least, "{read} captures read");
}

#[test]
fn samples_in_parts_have_the_same_analysis() {
    check_all(files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples")), 2, 10);
}

#[test]
fn real_captures_in_parts_have_the_same_analysis() {
    let Some(captures) = whyslow_testing::captures() else { return };
    let rounds = std::env::var("CUTS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1);
    let least = if whyslow_testing::soaks() { 100 } else { 10 };
    check_all(whyslow_testing::part_of(files_below(&captures)), rounds, least);
}
