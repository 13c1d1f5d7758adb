//! Lines of tshark and Wireshark in the reader: each becomes a packet in tcpdump's form.

use super::TextReader;
use super::grammar;
use super::tcp_line::Class;
use super::tshark::{self, Info, SummaryLine};
use crate::capture::Sink;

impl TextReader {
    /// Takes a line of tshark or Wireshark, or a part of one; returns `false` for other lines.
    pub(super) fn take_summary_line<S: Sink>(&mut self, line: &str, sink: &mut S) -> bool {
        let row = tshark::columns_of_table(line);
        let line = row.as_deref().unwrap_or(line);
        if self.summaries.is_start(line) {
            self.end_packet(sink);
            self.end_summary_line(sink);
            let summaries = &mut self.summaries;
            (summaries.seen, summaries.parts, summaries.line) = (true, 1, self.line);
            summaries.held.push_str(line.trim_end());
            return true;
        }
        if self.summaries.join(line) {
            return true;
        }
        self.end_summary_line(sink);
        let is_header = tshark::is_header(line);
        self.summaries.seen |= is_header;
        is_header
    }

    /// Delivers the packet of the current line.
    pub(super) fn end_summary_line<S: Sink>(&mut self, sink: &mut S) {
        if self.summaries.held.is_empty() {
            return;
        }
        let held = std::mem::take(&mut self.summaries.held);
        let mut words = std::mem::take(&mut self.summaries.words);
        if let Some(line) = SummaryLine::read_tcp(&held).or_else(|| SummaryLine::read_other(&held)) {
            if self.summaries.restarts(&line) {
                self.sections.see_restart();
            }
            let class = self.classify_summary(&line, &mut words);
            self.count_frame(line.number);
            self.pending.begin(class, &words);
            (self.pending.stamp, self.pending.digits) = (line.time, line.digits);
            self.pending.left_out = std::mem::take(&mut self.left_out);
            (self.pending.frame, self.pending.line) = (self.frame, self.summaries.line);
            self.evidence = true;
            self.end_packet(sink);
        }
        (self.summaries.held, self.summaries.words) = (held, words);
        self.summaries.held.clear();
    }

    /// The packet of a line; writes it to `words` in tcpdump's form.
    fn classify_summary(&mut self, line: &SummaryLine<'_>, words: &mut String) -> Class {
        let summaries = &mut self.summaries;
        let Some(rewritten) = summaries.conversations.rewrite(line, words) else {
            return match (&line.info, line.protocol) {
                (_, "ARP") => Class::NotIp(0x0806),
                (_, "ICMP") => Class::Ip(1),
                (_, "ICMPv6") => Class::Ip(58),
                (_, "TCP") => Class::Bad,
                _ if summaries.conversations.may_be_tcp(line) => Class::Unplaced,
                _ => Class::Ip(17),
            };
        };
        summaries.inferred.add(u64::from(rewritten.inferred), summaries.line);
        if rewritten.after_gap {
            summaries.gaps.add(1, summaries.line);
            self.left_out = true;
        }
        let is_cut = matches!(&line.info, Info::Tcp(tcp) if tcp.len.is_none() || tcp.window.is_none());
        self.cut.add(u64::from(is_cut), summaries.line);
        let mut class = grammar::classify(words);
        if let Class::Tcp(segment) = &mut class {
            segment.as_printed = true;
            self.seen_tcp = true;
        }
        class
    }
}
