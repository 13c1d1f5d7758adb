//! tcpdump's text → packets.
//!
//! Knows what tcpdump prints (`-n`, every `-t`, `-S`, `-v`, `-e`, `-#`, `-x`, IPv4 and IPv6, names or numbers, the
//! form before version 4.0) and what becomes of it in a web page or a mail: prompts, prose, code fences, quotation
//! marks, line numbers, wrapped lines, colours, entities, odd spaces. Every packet of the text comes out as a real
//! packet that begins with its IP header ([`LinkType`] 101): its addresses, ports, flags, window, options and lengths
//! as printed, its sequence numbers made absolute again (see `relative`), its payload as far as the text shows it
//! (`-x`, or the head of an HTTP message). What is not TCP comes out as a bare header, so that frames are counted.
//!
//! It promises that the packets do not depend on how the text was split over the pushes, that memory is bounded (by a
//! line, by 64 packets held back until the meaning of their times is known, by the number of names and conversations
//! remembered), and that a line which looks like a packet and cannot be read is counted. It refuses text without
//! packets, `-q` (which leaves out the sequence numbers) and the summaries of tshark and Wireshark.
//!
//! A frame's number is the one that `-#` printed, as long as those numbers go up, else its place in the text.
//! What a line does not show is written so that it claims nothing: TTL 0 and IP identification 0 without `-v`.

mod build;
mod dump;
mod grammar;
mod line;
mod names;
mod options;
mod pending;
mod relative;
mod services;
mod start;
#[cfg(test)]
mod tests;
mod time;

use super::{CaptureError, Clock, LinkType, Packet, Problem, Sink, Summary};
use crate::units::Nanos;
use grammar::{Class, TcpLine};
use pending::{Part, Pending};
use time::{Placed, Stamp};

/// How long a line may be; the rest of a longer one is left out.
const MAX_LINE: usize = 64 * 1024;
const EXAMPLE: &str = "10:45:49.051409 IP 192.0.2.1.44612 > 192.0.2.2.80: Flags [S], seq 1, win 64240, length 0";

impl std::fmt::Debug for TextReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextReader").field("line", &self.line).field("packets", &self.packets).finish_non_exhaustive()
    }
}

/// Reads tcpdump's text, pushed in any split.
pub struct TextReader {
    /// A line whose end has not come yet.
    unfinished: Vec<u8>,
    too_long: bool,
    /// Bytes before the line at hand.
    offset: u64,
    line: u64,
    scratch: String,
    pending: Pending,
    frame: u64,
    /// Something was seen that only tcpdump writes.
    evidence: bool,
    seen_tcp: bool,
    timeline: time::Timeline,
    /// Whether packets begin with a time; none before the first packet.
    timed: Option<bool>,
    held: Vec<Held>,
    names: names::Names,
    conversations: relative::Conversations,
    out: Vec<u8>,
    packets: u64,
    not_ip: bool,
    span: Option<(Nanos, Nanos)>,
    captured: Option<u64>,
    dropped: Tally,
    elided: Tally,
    unread: Tally,
    headless: Tally,
    cut: Tally,
    long_lines: Tally,
    unread_options: Tally,
}

/// A packet whose time is not known yet.
struct Held {
    stamp: Option<Stamp>,
    frame: u64,
    link: LinkType,
    data: Vec<u8>,
    original_len: u32,
}

/// How often something was met, and in which line first.
#[derive(Clone, Copy, Default)]
struct Tally {
    count: u64,
    first_line: u64,
}

impl Tally {
    fn add(&mut self, count: u64, line: u64) {
        if self.count == 0 {
            self.first_line = line;
        }
        self.count = self.count.saturating_add(count);
    }
}

impl Default for TextReader {
    fn default() -> Self {
        Self::new()
    }
}

impl TextReader {
    /// A reader at the start of a text.
    pub fn new() -> Self {
        Self {
            unfinished: Vec::new(),
            too_long: false,
            offset: 0,
            line: 0,
            scratch: String::new(),
            pending: Pending::default(),
            frame: 0,
            evidence: false,
            seen_tcp: false,
            timeline: time::Timeline::new(),
            timed: None,
            held: Vec::new(),
            names: names::Names::new(),
            conversations: relative::Conversations::new(),
            out: Vec::new(),
            packets: 0,
            not_ip: false,
            span: None,
            captured: None,
            dropped: Tally::default(),
            elided: Tally::default(),
            unread: Tally::default(),
            headless: Tally::default(),
            cut: Tally::default(),
            long_lines: Tally::default(),
            unread_options: Tally::default(),
        }
    }

    /// Whether `prefix`, the first few kilobytes of the input, may be text at all: UTF-8 or Latin-1 without the
    /// control characters that every binary capture has. Prose is text too; [`TextReader::finish`] tells if no packet
    /// was in it.
    pub fn looks_like_text(prefix: &[u8]) -> bool {
        let control = |b: &&u8| matches!(b, 0x01..=0x06 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f);
        !prefix.is_empty() && !prefix.contains(&0) && prefix.iter().filter(control).count() * 50 <= prefix.len()
    }

    /// Reads more of the text.
    ///
    /// # Errors
    /// The text is `-q` output, or another program's: nothing more can come of it.
    pub fn push<S: Sink>(&mut self, bytes: &[u8], sink: &mut S) -> Result<(), CaptureError> {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|&b| b == b'\n') {
            let (line, after) = rest.split_at(end);
            rest = after.get(1..).unwrap_or(&[]);
            if self.unfinished.is_empty() && !self.too_long {
                self.read_line(line, sink)?;
            } else {
                self.keep(line);
                self.read_unfinished(sink)?;
            }
            self.offset += 1;
        }
        self.keep(rest);
        Ok(())
    }

    /// Ends the text: gives the packets not given yet, and what there is to say about the whole.
    ///
    /// # Errors
    /// There was no packet in the text; or as in [`TextReader::push`].
    pub fn finish<S: Sink>(mut self, sink: &mut S) -> Result<Summary, CaptureError> {
        if !self.unfinished.is_empty() {
            self.read_unfinished(sink)?;
        }
        self.end_packet(sink);
        self.timeline.decide();
        self.release(sink);
        if !self.evidence {
            let message = format!(
                "no packet was found in {} of text; expected tcpdump's output, with lines such as \"{EXAMPLE}\"",
                if self.line == 1 { "1 line".to_owned() } else { format!("{} lines", self.line) }
            );
            return Err(CaptureError { offset: self.offset, message });
        }
        Ok(self.summary())
    }

    /// Keeps the start of a line whose end has not come.
    fn keep(&mut self, bytes: &[u8]) {
        let room = (MAX_LINE + 1).saturating_sub(self.unfinished.len());
        self.too_long |= bytes.len() > room;
        self.unfinished.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
        if self.too_long {
            self.offset += bytes.len().saturating_sub(room) as u64;
        }
    }

    fn read_unfinished<S: Sink>(&mut self, sink: &mut S) -> Result<(), CaptureError> {
        let mut line = std::mem::take(&mut self.unfinished);
        let done = self.read_line(&line, sink);
        line.clear();
        self.unfinished = line;
        self.too_long = false;
        done
    }

    fn read_line<S: Sink>(&mut self, bytes: &[u8], sink: &mut S) -> Result<(), CaptureError> {
        self.line += 1;
        let kept = bytes.get(..MAX_LINE).unwrap_or(bytes);
        if kept.len() < bytes.len() {
            self.long_lines.add(1, self.line);
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        let done = self.read_text(line::clean(kept, &mut scratch), sink);
        self.scratch = scratch;
        self.offset += bytes.len() as u64;
        done
    }

    fn read_text<S: Sink>(&mut self, line: &str, sink: &mut S) -> Result<(), CaptureError> {
        if line.trim().is_empty() {
            self.pending.take_blank();
            return Ok(());
        }
        if !self.seen_tcp && line.contains("Seq=") && line.contains("Win=") && line.contains("Len=") {
            return Err(self.refuse(
                "this is a summary by tshark or Wireshark, which leaves out what the analysis needs; \
                 save the packets as pcap or pcapng instead (tshark -w FILE, or File > Save As)",
            ));
        }
        let start = start::find(line, self.timed);
        // Under -t, the second line of -v looks like a packet as well.
        let may_go_on = start.is_none_or(|start| {
            let text = line.get(start.text..).unwrap_or("");
            start.stamp.is_none() && self.pending.is_partial() && !text.starts_with("IP")
        });
        let part = if may_go_on { self.pending.take(line) } else { Part::None };
        match (part, start, self.pending.class) {
            (Part::Taken, _, Some(class)) => self.check(&class),
            (Part::Taken, _, None) => Ok(()),
            (_, Some(start), _) => {
                self.end_packet(sink);
                self.begin_packet(&start, line.get(start.text..).unwrap_or(""))
            }
            (part, None, _) => {
                self.read_between(line, part);
                Ok(())
            }
        }
    }

    fn begin_packet(&mut self, start: &start::Start, text: &str) -> Result<(), CaptureError> {
        let class = grammar::classify(text);
        self.check(&class)?;
        self.evidence |= start.certain;
        self.timed = self.timed.or(Some(start.stamp.is_some()));
        self.frame = match start.number {
            Some(number) if number > self.frame => number,
            _ => self.frame.saturating_add(1),
        };
        self.pending.begin(class, text);
        self.pending.stamp = start.stamp;
        self.pending.frame = self.frame;
        self.pending.line = self.line;
        Ok(())
    }

    /// Refuses `-q`, unless segments with sequence numbers came before; remembers that one did.
    fn check(&mut self, class: &Class) -> Result<(), CaptureError> {
        match class {
            Class::Quiet if !self.seen_tcp => Err(self.refuse(
                "this is the output of tcpdump -q, which leaves out sequence numbers, flags and windows; \
                 rerun tcpdump without -q",
            )),
            Class::Tcp(_) => {
                self.seen_tcp = true;
                self.evidence = true;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn refuse(&self, message: &str) -> CaptureError {
        CaptureError { offset: self.offset, message: format!("line {}: {message}", self.line) }
    }

    /// A line between packets: tcpdump's own counts, a mark for left-out packets, prose.
    fn read_between(&mut self, line: &str, part: Part) {
        if self.timed.is_none() && line.contains("tcpdump") {
            self.timeline.see_command(line);
        }
        if let Some(count) = counted(line, " packets dropped by ").or_else(|| counted(line, " packet dropped by ")) {
            self.dropped.add(count, self.line);
        } else if let Some(count) = counted(line, " packets captured").or_else(|| counted(line, " packet captured")) {
            self.captured = Some(self.captured.unwrap_or(0).saturating_add(count));
        } else if part == Part::None && line::is_ellipsis(line) {
            self.elided.add(1, self.line);
        } else if part == Part::None && line.contains(": Flags [") {
            self.unread.add(1, self.line);
        }
    }

    /// Gives the pending packet.
    fn end_packet<S: Sink>(&mut self, sink: &mut S) {
        let Some(mut class) = self.pending.class.take() else { return };
        if matches!(class, Class::Partial(None)) && !self.pending.text.contains(": Flags [") {
            class = match grammar::other(&self.pending.text) {
                // Its protocol goes on with a line of its own.
                other @ Class::Ip(protocol) if protocol != 253 => other,
                _ => class,
            };
        }
        let mut out = std::mem::take(&mut self.out);
        let mut link = build::RAW;
        let segment = match &class {
            Class::Tcp(line) => self.segment(line, &mut out, sink),
            Class::Partial(Some(line)) => {
                self.cut.add(1, self.pending.line);
                self.segment(line, &mut out, sink)
            }
            _ => None,
        };
        let original_len = match (segment, class) {
            (Some(original_len), _) => original_len,
            (None, Class::Ip(protocol)) => build::bare_ip(&mut out, protocol),
            (None, Class::NotIp(ether_type)) => {
                link = LinkType::ETHERNET.0;
                self.not_ip = true;
                build::bare_ethernet(&mut out, ether_type)
            }
            (None, class) => {
                let tally = if matches!(class, Class::Cut) { &mut self.headless } else { &mut self.unread };
                tally.add(1, self.pending.line);
                build::bare_ip(&mut out, 6)
            }
        };
        self.deliver(LinkType(link), &out, original_len, sink);
        self.out = out;
    }

    /// Writes the segment of `line` to `out`; gives its length on the wire, or none if its ends make no sense.
    fn segment<S: Sink>(&mut self, line: &TcpLine, out: &mut Vec<u8>, sink: &mut S) -> Option<u32> {
        let pending = &self.pending;
        let text = &pending.text;
        let pair = line.pair;
        let [src_port, dst_port] = [pair.src_port.of(text), pair.dst_port.of(text)];
        let dumped = pending.dump.segment(names::number(src_port), names::number(dst_port), line.window.unwrap_or(0));
        if let Some(found) = dumped {
            self.names.learn(pair.src.of(text), found.src, sink);
            self.names.learn(pair.dst.of(text), found.dst, sink);
            let printed_len = found.headers.saturating_add(line.payload_len());
            let original_len = found.original_len.unwrap_or(printed_len);
            let (from, to) = ((found.src, found.src_port), (found.dst, found.dst_port));
            let length = original_len.saturating_sub(found.headers);
            self.conversations.follow(from, to, found.flags, found.seq, found.ack, length);
            out.clear();
            out.extend_from_slice(found.bytes);
            return Some(original_len.max(out.len() as u32));
        }
        let [src, dst] = [pair.src, pair.dst].map(|host| self.names.host(host.of(text), pair.v6, sink));
        let (src, dst) = src.zip(dst).filter(|(src, dst)| src.is_ipv4() == dst.is_ipv4())?;
        let (src_port, dst_port) = self.names.port(src_port).zip(self.names.port(dst_port))?;
        let payload_len = line.payload_len();
        let printed = relative::Printed { flags: line.flags, seq: line.seq, ack: line.ack, length: payload_len };
        let numbers = self.conversations.resolve((src, src_port), (dst, dst_port), &printed);
        let options = options::encode(line.options.of(text), &numbers);
        self.unread_options.add(u64::from(options.unread), pending.line);
        let payload = pending.http.get(..pending.http.len().min(payload_len as usize)).unwrap_or(&[]);
        let segment = build::Segment {
            src,
            dst,
            src_port,
            dst_port,
            seq: numbers.seq,
            ack: numbers.ack,
            flags: line.flags,
            window: line.window.unwrap_or(0),
            urgent: line.urgent,
            options: options.as_slice(),
            payload,
            payload_len,
            checksum: line.checksum,
            ip: line.ip,
        };
        Some(build::segment(out, &segment))
    }

    /// Gives a packet to the sink, or holds it back until its time is known.
    fn deliver<S: Sink>(&mut self, link: LinkType, data: &[u8], original_len: u32, sink: &mut S) {
        let (stamp, frame) = (self.pending.stamp, self.pending.frame);
        match self.timeline.place(stamp) {
            Placed::At(time) => self.give(&Packet { frame, time, link, data, original_len }, sink),
            Placed::Held => {
                self.held.push(Held { stamp, frame, link, data: data.to_vec(), original_len });
                self.release(sink);
            }
        }
    }

    /// Gives the packets that were held back, once it is known what their times mean.
    fn release<S: Sink>(&mut self, sink: &mut S) {
        if self.timeline.is_undecided() {
            return;
        }
        for held in std::mem::take(&mut self.held) {
            let Held { stamp, frame, link, ref data, original_len } = held;
            if let Placed::At(time) = self.timeline.place(stamp) {
                self.give(&Packet { frame, time, link, data, original_len }, sink);
            }
        }
    }

    fn give<S: Sink>(&mut self, packet: &Packet<'_>, sink: &mut S) {
        self.packets += 1;
        let time = packet.time;
        self.span = Some(self.span.map_or((time, time), |(first, last)| (first.min(time), last.max(time))));
        sink.packet(packet);
    }

    fn summary(mut self) -> Summary {
        let clock = self.timeline.clock();
        let span = self.span.filter(|_| clock != Clock::None);
        let missing = self.captured.map_or(0, |captured| captured.saturating_sub(self.packets));
        let mut problems = Vec::new();
        let mut say = |slug, tally: Tally, what: &str| {
            if tally.count > 0 {
                let detail = format!("{what} (first in line {})", tally.first_line);
                problems.push(Problem { slug, count: tally.count, detail });
            }
        };
        say("dropped-by-capture", self.dropped, "tcpdump could not keep up and dropped packets");
        if missing > 0 {
            self.elided.add(missing.saturating_sub(self.elided.count), self.line);
            say("elided-text", self.elided, "tcpdump counted more packets than the text shows");
        } else {
            say("elided-text", self.elided, "lines of dots stand for packets that were left out of the text");
        }
        say("unread-line", self.unread, "lines that look like packets and could not be read");
        say("cut-header", self.headless, "TCP packets whose header tcpdump itself could not read");
        say("cut-line", self.cut, "packets whose line ends too early, read as far as it goes");
        say("long-line", self.long_lines, "lines of more than 64 KiB, read as far as that");
        say("unread-option", self.unread_options, "TCP options with a name that is not known, left out");
        let odd_times = Tally { count: self.timeline.odd, first_line: 0 };
        let mut say = |slug, count: u64, detail: String| {
            if count > 0 {
                problems.push(Problem { slug, count, detail });
            }
        };
        say(
            "odd-time",
            odd_times.count,
            "packets whose time has another form than the first one's; they were given the time before theirs".into(),
        );
        let service = self.names.first_unknown_service.as_deref().unwrap_or("");
        say(
            "unknown-service",
            self.names.unknown_services,
            format!("ports printed as a name that is not known (first \"{service}\"), given a stand-in number"),
        );
        let names = "packets of hosts beyond the first 16,384 names; two of them may share an address".into();
        say("many-names", self.names.beyond_table, names);
        let mut link_types = vec![LinkType(build::RAW)];
        link_types.extend(self.not_ip.then_some(LinkType::ETHERNET));
        Summary {
            format: "tcpdump text",
            link_types,
            packets: self.packets,
            first_time: span.map(|(first, _)| first),
            last_time: span.map(|(_, last)| last),
            clock,
            problems,
        }
    }
}

/// The number before `words` in tcpdump's closing counts.
fn counted(line: &str, words: &str) -> Option<u64> {
    let (before, _) = line.split_once(words)?;
    before.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok()
}
