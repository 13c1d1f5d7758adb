//! Lines of tshark and Wireshark, held until no more of one comes, as mails wrap them.

use super::line;
use super::tally::Tally;
use super::tshark::{self, SummaryConversations, SummaryLine};

/// How long a line may be that is put together from several.
const MAX_LINE: usize = 16 * 1024;
/// How many lines a summary may be wrapped to.
const MAX_WRAPPED: u32 = 6;

/// The summary lines of a text.
pub(super) struct SummaryLines {
    /// There were some, or their header.
    pub(super) seen: bool,
    /// The line at hand; empty if there is none.
    pub(super) held: String,
    /// Lines that it was put together from.
    pub(super) parts: u32,
    /// The number of its first line.
    pub(super) line: u64,
    pub(super) words: String,
    pub(super) conversations: SummaryConversations,
    /// Segments whose numbers are unknown.
    pub(super) unplaced: Tally,
    /// Segments whose numbers follow from those of others.
    pub(super) inferred: Tally,
    /// Packets before which others are missing from the text.
    pub(super) gaps: Tally,
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
        }
    }

    /// Whether every segment's line shows its timestamps: not that of another protocol's.
    pub(super) fn shows_timestamps(&self) -> bool {
        self.inferred.count == 0 && self.unplaced.count == 0
    }

    /// Whether `line` starts a packet.
    pub(super) fn is_start(&self, line: &str) -> bool {
        if SummaryLine::read_tcp(line).is_some() {
            return true;
        }
        // A segment's line that is wrapped before its numbers shows an arrow at least.
        let other = SummaryLine::read_other(line);
        other.is_some_and(|other| self.seen || other.protocol == "TCP" && line.contains(['→', '-']))
    }

    /// Takes a line that starts no packet, if it goes on with the one at hand.
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
