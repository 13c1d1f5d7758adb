//! Stores a line of tshark or Wireshark until it is complete, because mails wrap them.

use super::line;
use super::tally::Tally;
use super::time::TextTime;
use super::tshark::{self, SummaryConversations, SummaryLine};

/// Longest line that is joined from several.
const MAX_LINE: usize = 16 * 1024;
/// Maximum number of lines that a summary may be wrapped to.
const MAX_WRAPPED: u32 = 6;

/// The summary lines of a text.
pub(super) struct SummaryLines {
    /// Whether there were any, or their header.
    pub(super) seen: bool,
    /// The current line; empty if there is none.
    pub(super) held: String,
    /// Number of lines that it was joined from.
    pub(super) parts: u32,
    /// The number of its first line.
    pub(super) line: u64,
    pub(super) words: String,
    pub(super) conversations: SummaryConversations,
    /// Segments whose numbers are unknown.
    pub(super) unplaced: Tally,
    /// Segments whose numbers follow from those of others.
    pub(super) inferred: Tally,
    /// Packets before which others are missing in the text.
    pub(super) gaps: Tally,
    /// Number and time of the previous line.
    last: Option<(u64, TextTime)>,
}

impl SummaryLines {
    pub(super) fn new() -> Self {
        Self {
            seen: false,
            held: String::new(),
            parts: 0,
            line: 0,
            words: String::new(),
            conversations: SummaryConversations::new(),
            unplaced: Tally::default(),
            inferred: Tally::default(),
            gaps: Tally::default(),
            last: None,
        }
    }

    /// Whether every segment's line has its timestamps; lines of another protocol have none.
    pub(super) fn shows_timestamps(&self) -> bool {
        self.inferred.count == 0 && self.unplaced.count == 0
    }

    /// Whether `line` is the SYN with which another capture of a known connection begins: packet
    /// numbers and times restart.
    pub(super) fn restarts(&mut self, line: &SummaryLine<'_>) -> bool {
        let here = line.number.zip(line.time);
        let before = self.last;
        self.last = here.or(before);
        let is_back = matches!(
            (here, before),
            (Some((number, TextTime::Elapsed(time))), Some((before, TextTime::Elapsed(last))))
                if number < before && time <= last
        );
        is_back && self.conversations.knows_syn(line)
    }

    /// Whether `line` starts a packet.
    pub(super) fn is_start(&self, line: &str) -> bool {
        if SummaryLine::read_tcp(line).is_some() {
            return true;
        }
        // A segment's line that is wrapped before its numbers has at least an arrow.
        let other = SummaryLine::read_other(line);
        other.is_some_and(|other| self.seen || other.protocol == "TCP" && line.contains(['→', '-']))
    }

    /// Takes a line that does not start a packet, if it continues the current one.
    pub(super) fn join(&mut self, line: &str) -> bool {
        let line = line.trim_start_matches(['>', '|', ' ', '\t']).trim_end();
        let room = self.held.len() + line.len() < MAX_LINE;
        if self.held.is_empty() || self.parts >= MAX_WRAPPED || !room || line::is_ellipsis(line) {
            return false;
        }
        let held = SummaryLine::read_tcp(&self.held);
        let wanted = match &held {
            Some(_) => tshark::is_fields(line) || self.held.ends_with('='),
            None => SummaryLine::read_other(&self.held).is_some_and(|other| !other.is_whole()),
        };
        if !wanted {
            return false;
        }
        if !self.held.ends_with('=') {
            self.held.push(' ');
        }
        self.held.push_str(line);
        self.parts += 1;
        true
    }
}
