//! Reads tcpdump's text as packets.
//!
//! Also reads the summary lines of tshark and Wireshark, which `summary_lines` rewrites in
//! tcpdump's form.
//!
//! Supports tcpdump's output (`-n`, every `-t`, `-S`, `-v`, `-e`, `-#`, `-x`, IPv4 and IPv6, names
//! or numbers, the form before version 4.0) and its changes in web pages, mails and logs: prompts,
//! prose, code fences, quotation marks, line numbers, wrapped lines, colours, entities, unusual
//! spaces, and the prefixes of syslog, journald and containers. Every packet of the text becomes a
//! real packet that begins with its IP header ([`LinkType`] 101): its addresses, ports, flags,
//! window, options and lengths as printed, its sequence numbers converted to real ones (see
//! `relative`), its payload as far as the text shows it (`-x`, or the head of an HTTP message).
//! Other protocols become packets without content, so that frames are counted. The summary reports
//! their name lookups and pings. ICMP errors contain the segment that they are about, if only one
//! is possible.
//!
//! The sink is informed where packets were omitted (a line of dots, `[snip]`, missing numbers of
//! `-#`).
//!
//! The packets do not depend on the split of the text. Memory is bounded (by a line, by 64 packets
//! that are queued until the meaning of their times is known, by 512 lines of `-q`, by the number
//! of stored names and conversations). A line that looks like a packet and is unreadable is
//! counted. Text without packets is rejected. So is `-q`, which omits the sequence numbers, unless
//! routers report its segments as too big.
//!
//! A frame's number is the one printed by `-#` if these numbers increase, otherwise its position in
//! the text. Fields that a line does not show get neutral values: TTL 0 and IP identification 0
//! without `-v`.

mod addresses;
mod body;
mod build;
mod delivery;
mod dump;
mod echoes;
mod errors;
mod exports;
mod grammar;
mod icmp;
mod line;
mod lookups;
mod names;
mod old_body;
mod options;
mod pending;
mod pings;
mod prefix;
mod quiet;
mod relative;
mod rpc_line;
mod sections;
mod segment;
mod services;
mod start;
mod summary;
mod summary_lines;
mod summary_store;
mod tally;
mod tcp_line;
#[cfg(test)]
mod tests;
mod time;
mod tshark;

use super::{CaptureError, LinkType, Sink, Summary};
use delivery::{Delivery, NonTcp, TextPacket};
use lookups::DnsLine;
use pending::{LineRole, PendingPacket};
use pings::EchoLine;
use start::Start;
use tally::Tally;
use tcp_line::Class;

/// Longest line; the rest of a longer one is ignored.
const MAX_LINE: usize = 64 * 1024;
const EXAMPLE: &str = "10:45:49.051409 IP 192.0.2.1.44612 > 192.0.2.2.80: Flags [S], seq 1, win 64240, length 0";

impl std::fmt::Debug for TextReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextReader")
            .field("line", &self.line)
            .field("packets", &self.delivery.packets)
            .finish_non_exhaustive()
    }
}

/// Reads tcpdump's text, pushed in any split.
pub struct TextReader {
    /// A line without its end so far.
    unfinished: Vec<u8>,
    too_long: bool,
    /// Whether a carriage return ended the previous line: a line feed after it belongs to it.
    after_return: bool,
    /// Number of bytes before the current line.
    offset: u64,
    line: u64,
    scratch: String,
    /// The text before every line.
    prefix: prefix::Prefix,
    pending: PendingPacket,
    /// The format of another program, if a line shows one.
    export: Option<exports::Export>,
    /// Lines of tshark or Wireshark.
    summaries: summary_store::SummaryLines,
    quiet: quiet::QuietLines,
    frame: u64,
    /// Packets were omitted before the next one.
    left_out: bool,
    /// Whether the text has a form that only tcpdump writes.
    evidence: bool,
    seen_tcp: bool,
    delivery: Delivery,
    /// Whether packets begin with a time; `None` before the first packet.
    timed: Option<bool>,
    names: names::Names,
    conversations: relative::Conversations,
    sections: sections::Sections,
    /// Packets of other protocols.
    others: errors::OtherProtocols,
    out: Vec<u8>,
    not_ip: bool,
    captured: Option<u64>,
    dropped: Tally,
    elided: Tally,
    numbers_missing: Tally,
    logged: Tally,
    unread: Tally,
    headless: Tally,
    cut: Tally,
    long_lines: Tally,
    unread_options: Tally,
}

impl Default for TextReader {
    fn default() -> Self {
        Self::new()
    }
}

impl TextReader {
    /// Creates a reader at the start of a text.
    pub fn new() -> Self {
        Self {
            unfinished: Vec::new(),
            too_long: false,
            after_return: false,
            offset: 0,
            line: 0,
            scratch: String::new(),
            prefix: prefix::Prefix::default(),
            pending: PendingPacket::default(),
            export: None,
            summaries: summary_store::SummaryLines::new(),
            quiet: quiet::QuietLines::default(),
            frame: 0,
            left_out: false,
            evidence: false,
            seen_tcp: false,
            delivery: Delivery::new(),
            timed: None,
            names: names::Names::new(),
            conversations: relative::Conversations::new(),
            sections: sections::Sections::new(),
            others: errors::OtherProtocols::default(),
            out: Vec::new(),
            not_ip: false,
            captured: None,
            dropped: Tally::default(),
            elided: Tally::default(),
            numbers_missing: Tally::default(),
            logged: Tally::default(),
            unread: Tally::default(),
            headless: Tally::default(),
            cut: Tally::default(),
            long_lines: Tally::default(),
            unread_options: Tally::default(),
        }
    }

    /// Whether `prefix`, the first few kilobytes of the input, may be text at all: UTF-8 or Latin-1
    /// without the control characters that every binary capture has. Prose is text too;
    /// [`TextReader::finish`] fails if it contained no packet.
    pub fn looks_like_text(prefix: &[u8]) -> bool {
        let control = |b: &&u8| matches!(b, 0x01..=0x06 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f);
        !prefix.is_empty() && !prefix.contains(&0) && prefix.iter().filter(control).count() * 50 <= prefix.len()
    }

    /// Reads more of the text.
    ///
    /// # Errors
    /// If the text is `-q` output, or that of another program: it cannot be read.
    pub fn push<S: Sink>(&mut self, bytes: &[u8], sink: &mut S) -> Result<(), CaptureError> {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|&b| matches!(b, b'\n' | b'\r')) {
            let (line, after) = rest.split_at(end);
            let is_return = after.first() == Some(&b'\r');
            rest = after.get(1..).unwrap_or(&[]);
            // The second half of a line end that has two characters.
            if std::mem::replace(&mut self.after_return, is_return) && line.is_empty() && self.unfinished.is_empty() {
                self.offset += 1;
                continue;
            }
            if self.unfinished.is_empty() && !self.too_long {
                self.read_line(line, sink)?;
            } else {
                self.keep(line);
                self.read_unfinished(sink)?;
            }
            self.offset += 1;
        }
        self.after_return &= rest.is_empty();
        self.keep(rest);
        Ok(())
    }

    /// Ends the text: delivers the remaining packets, and returns the summary.
    ///
    /// # Errors
    /// If there was no packet in the text; or as in [`TextReader::push`].
    pub fn finish<S: Sink>(mut self, sink: &mut S) -> Result<Summary, CaptureError> {
        if !self.unfinished.is_empty() {
            self.read_unfinished(sink)?;
        }
        self.end_summary_line(sink);
        if self.quiet.is_holding() {
            return Err(self.refuse_quiet());
        }
        self.end_packet(sink);
        self.delivery.finish(sink);
        if !self.evidence && self.delivery.pings.is_empty() {
            let message = self.export.map(exports::Export::message);
            let found_none = format!(
                "no packet was found in {} of text; expected tcpdump's output, with lines such as \"{EXAMPLE}\"",
                if self.line == 1 { "1 line".to_owned() } else { format!("{} lines", self.line) }
            );
            return Err(CaptureError { offset: self.offset, message: message.unwrap_or(found_none) });
        }
        Ok(self.summary())
    }

    /// Stores the start of a line without its end.
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
        let stripped = self.prefix.strip(line);
        let (line, before, logged) = match stripped {
            Some((rest, logged)) => (rest, None, logged),
            None => (line, Some(line), None),
        };
        if line.trim().is_empty() {
            self.pending.take_blank();
            return Ok(());
        }
        if self.take_summary_line(line, sink) {
            return Ok(());
        }
        self.export = self.export.or_else(|| exports::Export::of(line, self.line));
        let mut start = start::find(line, self.timed, before.is_none() || self.prefix.is_none());
        if let (Some(start), Some(logged)) = (&mut start, logged)
            && start.stamp.is_none()
        {
            (start.stamp, start.digits, start.logged) = (Some(logged.stamp), logged.digits, true);
        }
        // With -t, the second line of -v looks like a packet as well.
        let may_go_on = start.is_none_or(|start| {
            let text = line.get(start.text..).unwrap_or("");
            (start.stamp.is_none() || start.logged) && self.pending.is_partial() && !text.starts_with("IP")
        });
        if start.is_none() && self.delivery.pings.take(line) {
            return Ok(());
        }
        let whole = self.pending.class;
        let part = if may_go_on { self.pending.take(line) } else { LineRole::None };
        match (part, start, self.pending.class) {
            (LineRole::Taken, _, Some(class)) => {
                // Another one cannot directly follow a complete segment.
                self.unread.add(u64::from(matches!(whole, Some(Class::Tcp(_))) && line::is_packet(line)), self.line);
                self.check(&class)
            }
            (LineRole::Taken, _, None) => Ok(()),
            (_, Some(start), _) => {
                self.end_packet(sink);
                if let Some(before) = before.and_then(|line| line.get(..start.prefix)).filter(|_| start.certain) {
                    self.prefix.set(before);
                }
                let text = line.get(start.text..).unwrap_or("");
                if self.quiet.is_holding() || self.is_quiet(text) {
                    return self.hold_quiet(&start, text, sink);
                }
                self.begin_packet(&start, text)
            }
            (part, None, _) => {
                self.read_between(line, part);
                Ok(())
            }
        }
    }

    fn begin_packet(&mut self, start: &Start, text: &str) -> Result<(), CaptureError> {
        let rewritten = self.requiet(text, start.stamp);
        let text = rewritten.as_deref().unwrap_or(text);
        let class = grammar::classify(text);
        self.check(&class)?;
        self.evidence |= start.certain;
        self.timed = self.timed.or(Some(start.stamp.is_some() && !start.logged));
        let next = self.frame.saturating_add(1);
        let missing = start.number.filter(|_| self.frame > 0).map_or(0, |number| number.saturating_sub(next));
        if missing > 0 {
            self.numbers_missing.add(missing, self.line);
            self.left_out = true;
        }
        self.count_frame(start.number);
        self.logged.add(u64::from(start.logged), self.line);
        self.pending.begin(class, text);
        self.pending.stamp = start.stamp;
        self.pending.digits = start.digits;
        self.pending.left_out = std::mem::take(&mut self.left_out);
        self.pending.frame = self.frame;
        self.pending.line = self.line;
        Ok(())
    }

    /// Whether a packet's text is one of `-q` that must not be read before an ICMP error.
    fn is_quiet(&self, text: &str) -> bool {
        !self.seen_tcp && !self.quiet.is_released() && matches!(grammar::classify(text), Class::Quiet)
    }

    /// Stores a line of or after `-q`; reads all stored lines if it is an error about one of them.
    fn hold_quiet<S: Sink>(&mut self, start: &Start, text: &str, sink: &mut S) -> Result<(), CaptureError> {
        let line = quiet::HeldLine { start: *start, text: text.into(), line: self.line };
        let released = self.quiet.release(text);
        if released.is_none() {
            return if self.quiet.hold(line, self.offset) { Ok(()) } else { Err(self.refuse_quiet()) };
        }
        let now = self.line;
        for held in released.into_iter().flatten().chain([line]) {
            self.end_packet(sink);
            self.line = held.line;
            self.begin_packet(&held.start, &held.text)?;
        }
        self.line = now;
        Ok(())
    }

    /// Rewrites a segment of `-q` in the form without it; records the ICMP errors about such
    /// segments.
    fn requiet(&mut self, text: &str, stamp: Option<time::TextTime>) -> Option<String> {
        if !self.quiet.is_released() {
            return None;
        }
        if !matches!(grammar::classify(text), Class::Quiet) {
            self.quiet.see_error(text);
            return None;
        }
        self.quiet.inferred.add(1, self.line);
        self.quiet.rewrite(text, stamp)
    }

    /// Counts a packet's frame: by the number before its line, if these increase.
    fn count_frame(&mut self, printed: Option<u64>) {
        self.frame = match printed {
            Some(number) if number > self.frame => number,
            _ => self.frame.saturating_add(1),
        };
    }

    /// Rejects `-q`, unless there were segments with sequence numbers; records one.
    fn check(&mut self, class: &Class) -> Result<(), CaptureError> {
        match class {
            Class::Quiet if !self.seen_tcp => Err(self.refuse_quiet()),
            Class::Tcp(_) => {
                self.seen_tcp = true;
                self.evidence = true;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn refuse_quiet(&self) -> CaptureError {
        let (offset, line) = self.quiet.first.unwrap_or((self.offset, self.line));
        let message = format!(
            "line {line}: this is the output of tcpdump -q, which leaves out sequence numbers, flags and windows; \
             rerun tcpdump without -q"
        );
        CaptureError { offset, message }
    }

    /// Reads a line between packets: tcpdump's own counts, a mark for omitted packets, prose.
    fn read_between(&mut self, line: &str, part: LineRole) {
        if self.timed.is_none() && line.contains("tcpdump") {
            self.delivery.timeline.see_command(line);
        }
        if let Some(count) = counted(line, " packets dropped by ").or_else(|| counted(line, " packet dropped by ")) {
            self.dropped.add(count, self.line);
        } else if let Some(count) = counted(line, " packets captured").or_else(|| counted(line, " packet captured")) {
            self.captured = Some(self.captured.unwrap_or(0).saturating_add(count));
        } else if part == LineRole::None && line::is_ellipsis(line) {
            self.elided.add(1, self.line);
            self.left_out = true;
            self.delivery.pings.left_out();
        } else if part == LineRole::None && line.contains(": Flags [") || line::is_packet(line) {
            self.unread.add(1, self.line);
            self.left_out = true;
        }
    }

    /// Delivers the pending packet.
    fn end_packet<S: Sink>(&mut self, sink: &mut S) {
        let Some(mut class) = self.pending.class.take() else { return };
        if matches!(class, Class::Partial(None)) && !self.pending.text.contains(": Flags [") {
            class = match grammar::other(&self.pending.text) {
                // Its protocol continues on another line.
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
        let (mut non_tcp, mut is_unread) = (None, false);
        let stamps = segment.and_then(|segment| segment.stamps).filter(|_| self.summaries.shows_timestamps());
        let original_len = match (segment, class) {
            (Some(segment), _) => segment.original_len,
            (None, Class::Ip(protocol)) => {
                non_tcp = self.non_tcp();
                self.error(&mut out, sink).unwrap_or_else(|| build::bare_ip(&mut out, protocol))
            }
            (None, Class::NotIp(ether_type)) => {
                link = LinkType::ETHERNET.0;
                self.not_ip = true;
                build::bare_ethernet(&mut out, ether_type)
            }
            (None, class) => {
                let tally = match class {
                    Class::Cut => &mut self.headless,
                    Class::Unplaced => &mut self.summaries.unplaced,
                    _ => &mut self.unread,
                };
                tally.add(1, self.pending.line);
                is_unread = true;
                build::bare_ip(&mut out, 6)
            }
        };
        let PendingPacket { stamp, digits, frame, left_out, line, .. } = self.pending;
        if self.sections.take(stamp, line) {
            self.out = out;
            return;
        }
        let (link, data) = (LinkType(link), out.as_slice());
        let packet = TextPacket { stamp, digits, frame, link, data, original_len, left_out, stamps, non_tcp };
        self.delivery.deliver(packet, sink);
        self.out = out;
        // The bytes and times of an unreadable packet are as unknown as those of an omitted one.
        self.left_out |= is_unread;
    }

    /// The facts of the pending packet, if it is not TCP.
    fn non_tcp(&self) -> Option<NonTcp> {
        let text = &self.pending.text;
        EchoLine::read(text).map(NonTcp::Echo).or_else(|| DnsLine::read(text).map(NonTcp::Dns))
    }
}

/// The number before `words` in tcpdump's closing counts.
fn counted(line: &str, words: &str) -> Option<u64> {
    let (before, _) = line.split_once(words)?;
    before.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok()
}
