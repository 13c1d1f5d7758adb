//! Turns: messages that a program asks for as soon as it has the answer before them.

use super::rule_input::ConnectionView;
use crate::estimate::{INITIAL_WINDOW, rounds_needed};
use whyslow_analysis::Frame;
use whyslow_analysis::types::MIN_NOTICEABLE_DELAY;
use whyslow_analysis::types::Side;
use whyslow_core::message::{NOTICEABLE_WAIT, Wait};
use whyslow_core::tcp::facts::TransferFacts;
use whyslow_core::tcp::payload::Protocol;
use whyslow_units::Nanos;
use whyslow_units::stats::median;

/// Minimum number of turns: the opening of a protocol takes up to eight (TLS 1.2 four, RFC 5246
/// section 7.3; STARTTLS and a login four more). Half and twice change 11 and 4 of 2,061 captures.
pub(super) const MIN_TURNS: u64 = 8;
/// Flights of a response that is a message and not a bulk transfer. Follows from the cost: only
/// then a turn takes one round trip.
const SMALL_ROUNDS: u64 = 1;
/// One part in this number of the connection's time, or more, is their round trips. Half and twice
/// change 4 and 9 of 2,061 captures.
const MIN_SHARE: i64 = 5;
/// Largest message that only grants credit, bytes: HTTP/2's WINDOW_UPDATE for stream and connection
/// in a TLS record (RFC 9113 section 6.9, RFC 8446 section 5.2), SFTP's status.
const CREDIT: u64 = 64;

/// The turns of a connection that cost enough to matter.
#[derive(Debug)]
pub(super) struct Turns<'a> {
    /// Exchanges, each with the response.
    turns: Vec<(&'a Wait, &'a TransferFacts)>,
    /// Minimum round trip of each exchange.
    pub rtt: Nanos,
    /// Time of their round trips.
    pub lost: Nanos,
    /// Time of the connection, without idle time.
    pub whole: Nanos,
}

impl<'a> Turns<'a> {
    /// Turns of this connection; `None` if they are too few, or cost too little.
    pub fn of(view: &ConnectionView<'a>) -> Option<Self> {
        let facts = view.facts;
        let rtt = facts.min_rtt()?;
        let soon = rtt.max(NOTICEABLE_WAIT);
        let turns: Vec<_> = view.waits.iter().filter_map(|wait| Some((wait, turn(view, wait, soon)?))).collect();
        let idle: Nanos = view.waits.iter().map(|wait| wait.idle + wait.polled.unwrap_or_default()).sum();
        let whole = (facts.last - facts.first - idle).or_zero();
        // A clock that was set may have shortened the connection, and not the round trips.
        let lost = rtt.scale(turns.len() as f64).min(whole);
        let matter = turns.len() as u64 >= MIN_TURNS
            && lost.0.saturating_mul(MIN_SHARE) >= whole.0
            && lost >= MIN_NOTICEABLE_DELAY;
        matter.then_some(Self { turns, rtt, lost, whole })
    }

    /// How many.
    pub fn number(&self) -> u64 {
        self.turns.len() as u64
    }

    /// Share of the connection's time, 0–1.
    pub fn share(&self) -> f64 {
        self.lost.0 as f64 / self.whole.0.max(1) as f64
    }

    /// The first and the last of them.
    pub fn frames(&self) -> Vec<Frame> {
        let ends = self.turns.first().zip(self.turns.last());
        ends.map_or_else(Vec::new, |(first, last)| vec![first.1.frames.0, last.1.frames.1])
    }

    /// Bytes of the typical request.
    pub fn request(&self) -> u64 {
        median(self.turns.iter().filter_map(|(_, answer)| answer.answered).map(|request| request.bytes).collect())
            .unwrap_or_default()
    }

    /// Whether most of them are pieces of one message.
    pub fn are_credited(&self, view: &ConnectionView<'_>) -> bool {
        let sizes = self.turns.iter().map(|(_, answer)| (answer.answered.map_or(0, |it| it.bytes), answer.bytes()));
        are_pieces(sizes, self.request(), view.facts.directions[view.facts.requester].mss.max(1))
    }

    /// Time of the connection if all is sent in one go. `None` for a login, whose turns depend on
    /// each other.
    pub fn in_one_go(&self, view: &ConnectionView<'_>) -> Option<Nanos> {
        let facts = view.facts;
        if facts.content[facts.client].protocol == Some(Protocol::Ssh) {
            return None;
        }
        let before = |wait: &Wait| if wait.is_first { Nanos::ZERO } else { wait.client };
        let took: Vec<Nanos> = self.turns.iter().map(|(wait, _)| wait.exchange.wait() + before(wait)).collect();
        let (whole, all) = (facts.last - facts.first, took.iter().copied().sum());
        // Turns that took longer than their connection lasted were timed by a clock that was set.
        (all <= whole).then(|| whole - all + at_once(&took, self.rtt, self.rounds(view)))
    }

    /// The round trips that all requests and all answers need when they are sent in one go: the
    /// windows of both sides open at the same time.
    fn rounds(&self, view: &ConnectionView<'_>) -> u32 {
        let requester = view.facts.requester;
        let asked = self.turns.iter().filter_map(|(_, answer)| answer.answered).map(|request| request.bytes).sum();
        let answered = self.turns.iter().map(|(_, answer)| answer.bytes()).sum();
        let segments = |side: Side, bytes: u64| bytes.div_ceil(view.facts.directions[side].mss.max(1));
        let needed = segments(requester, asked).max(segments(!requester, answered));
        rounds_needed(needed, INITIAL_WINDOW).max(1)
    }
}

/// The answer of an exchange that is a turn: a message, asked for as `soon` as the one before it
/// was there.
fn turn<'a>(view: &ConnectionView<'a>, wait: &Wait, soon: Nanos) -> Option<&'a TransferFacts> {
    let &(answer, _) = view.transfers[!view.facts.requester].get(wait.exchange.answer?)?;
    let follows = wait.is_first || (wait.client <= soon && wait.idle == Nanos::ZERO);
    (answer.answered.is_some() && answer.rounds_total <= SMALL_ROUNDS && follows).then_some(answer)
}

/// Whether most requests, given with their responses in bytes, are pieces of one message: larger
/// than a first flight in all, each as large as the typical `piece` to a segment, and each released
/// by a message that is too small for a response.
fn are_pieces(sizes: impl Iterator<Item = (u64, u64)>, piece: u64, mss: u64) -> bool {
    let (mut all, mut pieces) = (0u64, 0u64);
    for (asked, answered) in sizes {
        all += 1;
        pieces += u64::from(asked.abs_diff(piece) <= mss && answered <= CREDIT);
    }
    piece > INITIAL_WINDOW * mss && pieces * 10 >= all * 8
}

/// Time of the turns if all were requested at once: the `rounds` that their bytes need, and the
/// processing time of both applications. A turn's time beyond its round trip is such processing if
/// a person would notice it. Else most of it is wake-ups and the path's jitter, of which a batch
/// has few, and the quickest turn shows the processing.
fn at_once(took: &[Nanos], rtt: Nanos, rounds: u32) -> Nanos {
    let beyond = || took.iter().map(|took| (*took - rtt).or_zero());
    let quickest = beyond().min().unwrap_or_default();
    let work = beyond().map(|time| if time < NOTICEABLE_WAIT { quickest } else { time });
    rtt.scale(f64::from(rounds)) + work.sum()
}

#[cfg(test)]
mod tests {
    use super::{are_pieces, at_once};
    use crate::rules::synthetic_transfer::ms;
    use whyslow_units::Nanos;

    #[test]
    fn batch_takes_a_round_trip_and_the_processing() {
        let took = [101, 102, 105, 101, 101].map(ms);
        assert_eq!(at_once(&took, ms(100), 1), ms(105), "five times a millisecond, and no wake-ups");
        assert_eq!(at_once(&took, ms(100), 3), ms(305), "answers that a new window does not hold");
        assert_eq!(at_once(&[101, 160, 101].map(ms), ms(100), 1), ms(162), "what takes long is work");
        assert_eq!(at_once(&[ms(99)], ms(100), 1), ms(100));
        assert_eq!(at_once(&[], ms(100), 1) - ms(100), Nanos::ZERO);
    }

    #[test]
    fn pieces_released_by_grants_are_not_requests() {
        let are = |asked: u64, answered: u64| {
            are_pieces((0..20).map(|n| (asked + 100 * (n % 3), answered)).chain([(3_000, 600)]), asked, 1_448)
        };
        assert!(are(65_804, 42), "64 KiB of HTTP/2 for each WINDOW_UPDATE");
        assert!(!are(65_804, 200), "objects, each with its answer");
        assert!(!are(300, 42), "questions");
    }
}
