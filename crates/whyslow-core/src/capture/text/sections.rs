//! Several captures of one connection in one text, pasted after each other.
//!
//! A second capture begins where a SYN with the same ports and number is repeated, at a time before
//! that of the previous line. In the lines of Wireshark, where times and packet numbers restart
//! with each capture, both must restart. One capture cannot contain that. Read as one, both would
//! form a connection in which everything happens twice.

use super::relative::End;
use super::tally::Tally;
use super::time::TextTime;
use foldhash::{HashMap, HashMapExt};

/// Maximum number of connections whose SYN is stored.
const MAX_SYNS: usize = 4_096;
const SECOND: i64 = 1_000_000_000;
/// Times below this one may be since the previous packet.
const MIN_DAY: i64 = 3_600 * SECOND;
/// A larger step back is midnight.
const MAX_BACK: i64 = 12 * 3_600 * SECOND;
/// A smaller step back is a reordered packet.
const MIN_BACK: i64 = SECOND / 1_000;

/// Finds where a text continues with another capture.
pub(super) struct Sections {
    syns: HashMap<[End; 2], u32>,
    last: Option<TextTime>,
    is_later: bool,
    /// Packets of the later captures.
    pub(super) skipped: Tally,
}

impl Sections {
    pub(super) fn new() -> Self {
        Self { syns: HashMap::new(), last: None, is_later: false, skipped: Tally::default() }
    }

    /// Takes the ends and the sequence number of a SYN without ACK, before its time.
    pub(super) fn see_syn(&mut self, ends: [End; 2], seq: u32, stamp: Option<TextTime>) {
        let again = self.syns.get(&ends) == Some(&seq);
        self.is_later |= again && self.goes_back(stamp);
        if !again && self.syns.len() < MAX_SYNS {
            self.syns.insert(ends, seq);
        }
    }

    /// Records a SYN of a known connection at which the packet numbers restart.
    pub(super) fn see_restart(&mut self) {
        self.is_later = true;
    }

    /// Takes the time of a packet; returns whether it belongs to a later capture.
    pub(super) fn take(&mut self, stamp: Option<TextTime>, line: u64) -> bool {
        self.last = stamp;
        self.skipped.add(u64::from(self.is_later), line);
        self.is_later
    }

    fn goes_back(&self, stamp: Option<TextTime>) -> bool {
        let back = match (self.last, stamp) {
            (Some(TextTime::Epoch(last)), Some(TextTime::Epoch(now))) => last.saturating_sub(now),
            (Some(TextTime::Day(last)), Some(TextTime::Day(now))) if now >= MIN_DAY => last.saturating_sub(now),
            _ => 0,
        };
        (MIN_BACK..MAX_BACK).contains(&back)
    }
}
