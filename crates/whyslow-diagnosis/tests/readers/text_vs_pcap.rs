//! The text that tcpdump prints of a capture must give the same segments as the capture itself.
//!
//! Needs tcpdump and captures (next to the repository, or in the folder `WHYSLOW_CAPTURES`);
//! skipped without them. A separate small decoder reads the captures, so that the reader is not
//! compared with itself.

use std::collections::HashMap;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use whyslow_core::capture::text::TextReader;
use whyslow_core::capture::{CaptureError, Clock, Packet, Sink, Summary};

type End = (IpAddr, u16);

/// The compared fields of a segment.
#[derive(Clone, Debug, PartialEq)]
struct Segment {
    time: i64,
    src: End,
    dst: End,
    seq: u32,
    ack: u32,
    flags: u16,
    window: u16,
    len: u32,
    mss: Option<u16>,
    scale: Option<u8>,
    sack_ok: bool,
    sack: Vec<(u32, u32)>,
    timestamps: Option<(u32, u32)>,
}

const FIN: u16 = 1;
const SYN: u16 = 2;
const RST: u16 = 4;
const ACK: u16 = 16;

fn be16(b: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(b.get(at..at + 2)?.try_into().ok()?))
}

fn be32(b: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(b.get(at..at + 4)?.try_into().ok()?))
}

/// TCP directly over IP, not fragmented; `wire_len` is the datagram's length if its header has 0.
fn decode_ip(b: &[u8], time: i64, wire_len: usize) -> Option<Segment> {
    let (src, dst, tcp, total): (IpAddr, IpAddr, usize, usize) = match b.first()? >> 4 {
        4 if *b.get(9)? == 6 && be16(b, 6)? & 0x3fff == 0 => {
            let src: [u8; 4] = b.get(12..16)?.try_into().ok()?;
            let dst: [u8; 4] = b.get(16..20)?.try_into().ok()?;
            (src.into(), dst.into(), usize::from(b[0] & 15) * 4, be16(b, 2)?.into())
        }
        6 if *b.get(6)? == 6 => {
            let src: [u8; 16] = b.get(8..24)?.try_into().ok()?;
            let dst: [u8; 16] = b.get(24..40)?.try_into().ok()?;
            let payload = usize::from(be16(b, 4)?);
            (src.into(), dst.into(), 40, if payload == 0 { 0 } else { payload + 40 })
        }
        _ => return None,
    };
    // Versions of tcpdump differ for a length beyond the frame.
    let total = if total == 0 { wire_len } else { Some(total).filter(|&total| total <= wire_len)? };
    let header = usize::from(b.get(tcp + 12)? >> 4) * 4;
    let options = b.get(tcp + 20..tcp + header)?;
    let mut segment = Segment {
        time,
        src: (src, be16(b, tcp)?),
        dst: (dst, be16(b, tcp + 2)?),
        seq: be32(b, tcp + 4)?,
        ack: be32(b, tcp + 8)?,
        flags: be16(b, tcp + 12)? & 0x1ff,
        window: be16(b, tcp + 14)?,
        len: u32::try_from(total.checked_sub(tcp + header)?).unwrap(),
        mss: None,
        scale: None,
        sack_ok: false,
        sack: Vec::new(),
        timestamps: None,
    };
    let mut at = 0;
    while let Some(&kind) = options.get(at) {
        let len = match kind {
            0 => break,
            1 => 1,
            _ => usize::from(*options.get(at + 1)?),
        };
        let Some(body) = options.get(at..at + len).filter(|_| kind == 1 || len >= 2) else { break };
        match (kind, len) {
            (2, 4) => segment.mss = be16(body, 2),
            (3, 3) => segment.scale = Some(body[2]),
            (4, 2) => segment.sack_ok = true,
            (5, _) => {
                let edge = |at| be32(body, at);
                segment.sack = (2..len).step_by(8).filter_map(|at| Some((edge(at)?, edge(at + 4)?))).collect();
            }
            (8, 10) => segment.timestamps = Some((be32(body, 2)?, be32(body, 6)?)),
            _ => {}
        }
        at += len;
    }
    Some(segment)
}

/// The TCP segments of a classic little-endian capture with nanoseconds, by frame.
fn decode_pcap(b: &[u8]) -> HashMap<u64, Segment> {
    let le = |at: usize| Some(u32::from_le_bytes(b.get(at..at + 4)?.try_into().ok()?));
    assert_eq!(le(0), Some(0xa1b2_3c4d));
    let link = le(20).unwrap() & 0xffff;
    let mut segments = HashMap::new();
    let (mut at, mut frame) = (24, 0);
    while let (Some(secs), Some(nanos), Some(cap), Some(wire)) = (le(at), le(at + 4), le(at + 8), le(at + 12)) {
        frame += 1;
        let Some(data) = b.get(at + 16..at + 16 + cap as usize) else { break };
        at += 16 + cap as usize;
        let l2 = match link {
            1 if be16(data, 12) == Some(0x8100) => 18,
            1 if matches!(be16(data, 12), Some(0x0800 | 0x86dd)) => 14,
            113 => 16,
            276 => 20,
            101 | 228 | 229 => 0,
            0 => 4,
            _ => continue,
        };
        let time = i64::from(secs) * 1_000_000_000 + i64::from(nanos);
        let ip = data.get(l2..).unwrap_or(&[]);
        if let Some(segment) = decode_ip(ip, time, (wire as usize).saturating_sub(l2)) {
            segments.insert(frame, segment);
        }
    }
    segments
}

#[derive(Default)]
struct Collect {
    segments: HashMap<u64, Segment>,
    frames: Vec<u64>,
    names: Vec<(IpAddr, String, bool)>,
}

impl Sink for Collect {
    fn packet(&mut self, packet: &Packet<'_>) {
        self.frames.push(packet.frame);
        assert!(packet.original_len as usize >= packet.data.len());
        if packet.link.0 == 101
            && let Some(segment) = decode_ip(packet.data, packet.time.0, packet.original_len as usize)
        {
            self.segments.insert(packet.frame, segment);
        }
    }

    fn host_name(&mut self, address: IpAddr, name: &str, stand_in: bool) {
        self.names.push((address, name.into(), stand_in));
    }
}

fn read(text: &[u8], step: usize) -> Result<(Collect, Summary), CaptureError> {
    let mut sink = Collect::default();
    let mut reader = TextReader::new();
    for piece in text.chunks(step) {
        reader.push(piece, &mut sink)?;
    }
    let summary = reader.finish(&mut sink)?;
    Ok((sink, summary))
}

/// The folder of captures; prints a message and returns `None` if it or tcpdump is missing.
#[track_caller]
fn captures_and_tcpdump() -> Option<PathBuf> {
    whyslow_testing::captures().filter(|_| whyslow_testing::tools(&["tcpdump"]))
}

pub(super) fn tcpdump(file: &Path, options: &[&str]) -> Vec<u8> {
    let mut command = Command::new("tcpdump");
    command.env("TZ", "UTC").arg("-r").arg(file).args(options).stderr(Stdio::null()).output().unwrap().stdout
}

pub(super) fn files(root: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

pub(super) fn is_capture(path: &Path) -> bool {
    path.extension().is_some_and(|ext| ext == "pcap" || ext == "pcapng" || ext == "cap")
}

/// Difference between the sequence numbers of the text and of the capture in each direction: 0, or
/// a constant if the text never shows tcpdump's base number (`None` before the first number).
#[derive(Default)]
struct Offsets(HashMap<(End, End), Option<u32>>);

impl Offsets {
    /// Records the directions whose absolute sequence numbers the text cannot show, by the rules
    /// that tcpdump uses for its base number.
    fn observe(&mut self, real: &Segment, absolute: bool, seq_shown: bool) {
        let key = (real.src, real.dst);
        let first = !self.0.contains_key(&key);
        if real.flags & ACK != 0 && !absolute && (first || real.flags & SYN != 0) {
            self.0.insert((real.dst, real.src), Some(0));
            self.0.insert(key, seq_shown.then_some(0));
        }
    }

    fn check(&mut self, from: End, to: End, real: u32, text: u32) -> bool {
        let offset = text.wrapping_sub(real);
        match self.0.get_mut(&(from, to)) {
            Some(known) => *known.get_or_insert(offset) == offset,
            None => offset == 0,
        }
    }
}

#[derive(Default)]
struct Totals {
    segments: u64,
    hidden: u64,
    hidden_right: u64,
}

/// How the times of a text compare with those of its capture.
struct TextClock {
    kind: Clock,
    /// The first segment's time in the capture and in the text: the clock of a text without dates
    /// has an arbitrary start.
    first: Option<(i64, i64)>,
    /// The resolution of the text's times.
    tick: i64,
    /// Every step of -ttt is rounded down to a tick.
    has_steps: bool,
    /// Clocks that jump by days, or with fractions above one second, look like times of day.
    is_odd: bool,
}

impl TextClock {
    fn new(file: &Path, options: &[&str], summary: &Summary, first: Option<(i64, i64)>) -> Self {
        let has = |option: &str| options.contains(&option);
        let name = file.file_name().unwrap().to_str().unwrap();
        let is_odd = name.starts_with("timestamp_invalid")
            || has("-ttttt") && (name.starts_with("kday") || name.starts_with("babel_update"));
        // If a text with few times does not show their base, that is reported and no time is given.
        let unclear = summary.problems.iter().any(|problem| problem.slug == "unclear-times");
        assert!(!unclear || summary.clock == Clock::None && summary.packets < 6);
        let tick = if has("--nano") { 1 } else { 1_000 };
        Self { kind: summary.clock, first, tick, has_steps: has("-ttt"), is_odd }
    }

    fn difference(&self, frame: u64, expected: &Segment, got: i64) -> Option<String> {
        let time = match (self.kind, self.first) {
            (Clock::Absolute, _) => expected.time,
            (Clock::Relative, Some((real, text))) => expected.time - real + text,
            _ => 0,
        };
        // The sum of steps may be off by one tick per packet.
        let slack = if self.has_steps { self.tick * frame as i64 } else { self.tick };
        // Times of day do not show that a clock jumps by more than half a day.
        let days = if self.kind == Clock::Relative { 86_400_000_000_000 } else { i64::MAX };
        let off = (got - time).rem_euclid(days);
        (!self.is_odd && off.min(days - off) > slack).then(|| format!("frame {frame}: time {got} for {time}"))
    }
}

/// Compares tcpdump's text of `file` under `options` with the file. Returns the differences as
/// text.
fn compare(
    file: &Path,
    text: &[u8],
    options: &[&str],
    real: &HashMap<u64, Segment>,
    totals: &mut Totals,
) -> Vec<String> {
    let has = |option: &str| options.contains(&option);
    let (sink, summary) = match read(text, usize::MAX) {
        Ok(read) => read,
        Err(error) => return if real.is_empty() { Vec::new() } else { vec![error.to_string()] },
    };
    let mut wrong = Vec::new();
    let mut offsets = Offsets::default();
    let mut frames: Vec<_> = real.keys().copied().collect();
    frames.sort_unstable();
    let first = frames.iter().find_map(|frame| Some((real[frame].time, sink.segments.get(frame)?.time)));
    let clock = TextClock::new(file, options, &summary, first);
    for frame in frames {
        let expected = &real[&frame];
        totals.segments += 1;
        let Some(got) = sink.segments.get(&frame) else {
            // tcpdump before 4.99.6 prints no header of an offloaded segment whose IP length is 0.
            if expected.len > 1_460 && summary.problems.iter().any(|problem| problem.slug == "cut-header") {
                continue;
            }
            wrong.push(format!("frame {frame} is missing: {expected:?}"));
            continue;
        };
        let shown =
            expected.len > 0 || expected.flags & (SYN | FIN | RST) != 0 || has("-vv") || has("-x") || has("-XX");
        offsets.observe(expected, has("-S"), shown);
        let mut fixed = got.clone();
        if shown && !offsets.check(expected.src, expected.dst, expected.seq, got.seq) {
            wrong.push(format!("frame {frame}: seq {} for {}", got.seq, expected.seq));
        }
        if !shown {
            totals.hidden += 1;
            totals.hidden_right += u64::from(got.seq == expected.seq);
        }
        fixed.seq = expected.seq;
        if expected.flags & ACK != 0 && !offsets.check(expected.dst, expected.src, expected.ack, got.ack) {
            wrong.push(format!("frame {frame}: ack {} for {}", got.ack, expected.ack));
        }
        fixed.ack = expected.ack;
        // tcpdump before 4.99.4 does not print the accurate-ECN bit.
        fixed.flags |= expected.flags & 0x100;
        for (got, expected) in fixed.sack.iter_mut().zip(&expected.sack) {
            let len = |block: (u32, u32)| block.1.wrapping_sub(block.0);
            if len(*got) == len(*expected) && offsets.check(fixed.dst, fixed.src, expected.0, got.0) {
                *got = *expected;
            }
        }
        if let Some(difference) = clock.difference(frame, expected, fixed.time) {
            wrong.push(difference);
        }
        fixed.time = expected.time;
        if fixed != *expected {
            wrong.push(format!("frame {frame}:\n    text {fixed:?}\n    pcap {expected:?}"));
        }
    }
    wrong
}

fn segments_of(path: &Path) -> HashMap<u64, Segment> {
    let pcap = tcpdump(path, &["--nano", "-w", "-"]);
    if pcap.len() < 24 { HashMap::new() } else { decode_pcap(&pcap) }
}

#[test]
fn text_agrees_with_its_capture() {
    let Some(root) = captures_and_tcpdump() else { return };
    let variants: &[&[&str]] = &[
        &["-n"],
        &["-nn", "-S"],
        &["-n", "-ttt"],
        &["-n", "-vv", "-e"],
        // Not for the large captures from here on.
        &["-n", "-t", "-#"],
        &["-n", "-tt"],
        &["-n", "-tttt"],
        &["-n", "-ttttt"],
        &["-n", "-v"],
        &["-n", "-#", "-e"],
        &["-n", "--nano", "-tttt"],
        &["-n", "-x"],
        &["-n", "-XX"],
        &["-n", "-A"],
    ];
    let mut others = Vec::new();
    ["exp2", "odd"].iter().for_each(|folder| files(&root.join(folder), &mut others));
    let mut paths = vec![root.join("pku.cap"), root.join("thu.cap")];
    paths.extend(whyslow_testing::part_of(others));
    let mut totals = Totals::default();
    let mut report = String::new();
    for path in paths.iter().filter(|path| is_capture(path)) {
        let real = segments_of(path);
        let large = path.metadata().unwrap().len() > 200_000;
        let some = if real.is_empty() {
            1
        } else if large {
            4
        } else {
            variants.len()
        };
        for options in &variants[..some] {
            let text = tcpdump(path, options);
            if text.is_empty() {
                continue;
            }
            let wrong = compare(path, &text, options, &real, &mut totals);
            if !wrong.is_empty() {
                let name = path.strip_prefix(&root).unwrap().display();
                report += &format!("{name} {options:?}: {} of {}; {}\n", wrong.len(), real.len(), wrong[0]);
            }
        }
    }
    let Totals { segments, hidden, hidden_right } = totals;
    println!("{segments} segments; {hidden_right} of {hidden} sequence numbers that were not printed are right");
    assert!(hidden_right * 1_000 >= hidden * 995);
    assert!(report.is_empty(), "{report}");
}

/// The expected outputs of tcpdump's own tests, of its newest version, with the options in their
/// list.
#[test]
fn stored_texts_agree_with_their_captures() {
    let Some(root) = captures_and_tcpdump() else { return };
    let list = std::fs::read_to_string(root.join("text/tcpdump/TESTLIST")).unwrap();
    let mut totals = Totals::default();
    let (mut texts, mut report) = (0, String::new());
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace().skip(1);
        let (Some(pcap), Some(out)) = (words.next(), words.next()) else { continue };
        let options: Vec<_> = ["-#", "-tttt"].into_iter().chain(words).collect();
        let (pcap, out) = (root.join("odd/tcpdump").join(pcap), root.join("text/tcpdump").join(out));
        // A filter, a count or sampling omits packets.
        if !pcap.is_file()
            || !out.is_file()
            || options.iter().any(|option| !option.starts_with('-') || option.contains("sampling"))
        {
            continue;
        }
        let real = segments_of(&pcap);
        let wrong = compare(&pcap, &std::fs::read(&out).unwrap(), &options, &real, &mut totals);
        texts += 1;
        if !wrong.is_empty() {
            report += &format!("{}: {} of {}; {}\n", out.display(), wrong.len(), real.len(), wrong[0]);
        }
    }
    println!("{texts} texts, {} segments", totals.segments);
    assert!(report.is_empty(), "{report}");
}

/// Names of services and hosts, as printed without `-n`.
#[test]
fn named_ports_are_the_numbers() {
    let Some(root) = captures_and_tcpdump() else { return };
    for file in ["pku.cap", "thu.cap"] {
        let path = root.join(file);
        let (real, text) = (segments_of(&path), tcpdump(&path, &[]));
        let (sink, _) = read(&text, usize::MAX).unwrap();
        for (frame, expected) in &real {
            let got = &sink.segments[frame];
            assert_eq!((got.src.1, got.dst.1), (expected.src.1, expected.dst.1), "{file} frame {frame}");
        }
    }
}

#[test]
fn stored_texts_are_read_or_rejected() {
    let Some(root) = whyslow_testing::captures() else { return };
    let mut paths = Vec::new();
    files(&root.join("text"), &mut paths);
    let mut problems = Vec::new();
    for path in &paths {
        let text = std::fs::read(path).unwrap();
        assert!(TextReader::looks_like_text(&text), "{}", path.display());
        let name = path.strip_prefix(&root).unwrap().display();
        match (read(&text, usize::MAX), read(&text, 7)) {
            (Ok((whole, summary)), Ok((split, again))) => {
                assert_eq!(whole.segments, split.segments, "{name}");
                assert_eq!(whole.frames, split.frames, "{name}");
                assert_eq!(summary.problems, again.problems, "{name}");
                problems.extend(summary.problems.iter().map(|problem| format!("{name}: {problem:?}")));
            }
            (Err(whole), Err(split)) => {
                assert_eq!(whole, split, "{name}");
                println!("refused {name}: {whole}");
            }
            _ => panic!("{name} is read whole or in pieces, and not both"),
        }
    }
    println!("{} texts\n{}", paths.len(), problems.join("\n"));
}

/// Three texts from articles, with their authors' statements about them.
#[test]
fn articles_are_read_completely() {
    let Some(root) = whyslow_testing::captures() else { return };
    // File, packets, TCP packets, and the bytes that each side acknowledged.
    let articles = [
        ("slow-start-512k-rtt7ms.txt", 58, 58, 147, 524_583),
        ("upload-1k-rtt200ms.txt", 12, 12, 1_745, 214),
        ("upload-100k-reused-connection.txt", 25, 24, 515_615, 1_070),
    ];
    for (name, packets, tcp, up, down) in articles {
        let text = std::fs::read(root.join("text").join(name)).unwrap();
        let (sink, summary) = read(&text, 1_000).unwrap();
        assert_eq!((summary.packets, sink.segments.len()), (packets, tcp), "{name}");
        assert_eq!(summary.problems, [], "{name}");
        assert_eq!(summary.clock, Clock::Relative);
        let syn = sink.segments.values().find(|segment| segment.flags == SYN).unwrap();
        let syn_ack = sink.segments.values().find(|segment| segment.flags == SYN | ACK).unwrap();
        assert_eq!(syn_ack.ack, syn.seq + 1);
        let acknowledged = |to: End, isn: u32| {
            let acks = sink.segments.values().filter(|segment| segment.dst == to && segment.flags & ACK != 0);
            // Without the SYN and the FIN.
            acks.map(|segment| segment.ack.wrapping_sub(isn)).max().unwrap() - 1
        };
        let got = (acknowledged(syn.src, syn.seq), acknowledged(syn_ack.src, syn_ack.seq));
        let fin = sink.segments.values().any(|segment| segment.flags & FIN != 0 && segment.src == syn.src);
        assert!(fin, "{name}");
        assert_eq!((got.0 - 1, got.1), (up, got.1), "{name}");
        assert!(got.1 == down || got.1 == down + 1, "{name}: {got:?}");
    }
}
