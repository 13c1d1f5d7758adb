//! What a text with packets left out does not show: taken out of the account of its connection.
//!
//! Packets are known to be missing where bytes were acknowledged or followed that the text never
//! showed, where a segment echoes a timestamp that none of the other side's in the text carried
//! (RFC 7323 section 3.2), and where the text itself says so. Over such a stretch nothing is known
//! of rounds, pauses and what ended them. Of a transfer with such stretches its bytes and its whole
//! time are told, and of its rounds and pauses those of the longest run between two stretches.

pub use super::facts::Stretch;
use super::facts::{Facts, RttFacts, TransferFacts};
use crate::types::State;
use crate::units::{Nanos, Time};
use std::net::IpAddr;

/// Stretches kept of one connection; what lies behind them is one.
const MAX: usize = 256;

/// Marks kept of a text; behind them it counts as one.
const MAX_MARKS: usize = 4096;

/// The two ends of a connection, addresses and ports.
type Endpoints = [(IpAddr, u16); 2];

/// Where a text says, or shows, that packets were left out: of the connection between these ends,
/// or of any.
#[derive(Debug, Default)]
pub struct ElisionMarks(Vec<(Option<Endpoints>, Stretch)>);

impl ElisionMarks {
    /// One more.
    pub fn add(&mut self, of: Option<Endpoints>, (from, until): Stretch) {
        let of = of.map(|[one, two]| if one <= two { [one, two] } else { [two, one] });
        let full = self.0.len() >= MAX_MARKS;
        match self.0.last_mut() {
            Some(last) if full => *last = (None, (last.1.0.min(from), last.1.1.max(until))),
            Some((known, last)) if *known == of && from >= last.0 && from <= last.1 => last.1 = last.1.max(until),
            _ => self.0.push((of, (from, until))),
        }
    }

    /// Those that may concern the connection between these ends.
    fn of(&self, ends: Endpoints) -> impl Iterator<Item = Stretch> {
        let ends = if ends[0] <= ends[1] { ends } else { [ends[1], ends[0]] };
        self.0.iter().filter(move |(of, _)| of.is_none_or(|of| of == ends)).map(|&(_, stretch)| stretch)
    }
}

/// Adds a stretch; those that meet become one.
pub(super) fn add(stretches: &mut Vec<Stretch>, (from, until): Stretch) {
    let full = stretches.len() >= MAX;
    match stretches.last_mut() {
        Some(last) if full || (from >= last.0 && from <= last.1) => last.1 = last.1.max(until),
        _ => stretches.push((from, until)),
    }
}

impl Facts {
    /// It comes from a text, in which packets were left out at `marks` too.
    pub fn mark_as_text(&mut self, marks: &ElisionMarks) {
        self.is_text = true;
        let here = |mark: &Stretch| mark.0 >= self.first && mark.1 <= self.last;
        let mut all: Vec<Stretch> = marks.of(self.endpoints).filter(here).collect();
        all.extend(self.directions.iter().flat_map(|sender| &sender.missing));
        all.extend(self.elided_tail(marks));
        all.sort_unstable();
        for stretch in all {
            add(&mut self.elided, stretch);
        }
        if self.elided.is_empty() {
            return;
        }
        if self.state == State::HalfClosed {
            // The other end's FIN may be what was left out.
            self.state = State::Open;
        }
        // An ACK that was left out makes those that are shown look late.
        self.rtt = RttFacts { p50: None, p95: None, ..self.rtt };
        for sender in &mut self.directions {
            sender.ack_delay_p50 = None;
            for transfer in &mut sender.transfers {
                transfer.elide(&self.elided);
            }
            sender.max_in_flight = sender.transfers.iter().map(|transfer| transfer.max_in_flight).max().unwrap_or(0);
        }
        self.elide_exchanges();
    }

    /// What passed in a stretch may have been another exchange, or the part of one that is not
    /// shown.
    fn elide_exchanges(&mut self) {
        let server = !self.requester;
        let mut before = self.handshake.ack.map(|(time, _)| time);
        for exchange in &mut self.exchanges {
            let missing =
                |&(from, until): &Stretch| from < exchange.start && before.is_none_or(|before| until > before);
            if self.elided.iter().any(missing) {
                exchange.before = None;
            }
            before = Some(exchange.end);
            let answer = exchange.answer.and_then(|index| self.directions[server].transfers.get(index));
            if answer.is_some_and(|answer| answer.answered.is_none()) {
                exchange.server = None;
            }
        }
    }
}

impl Facts {
    /// Whether it may go on where packets were left out behind its last one: from the last payload
    /// to there.
    fn elided_tail(&self, marks: &ElisionMarks) -> Option<Stretch> {
        let (_, until) = marks.of(self.endpoints).find(|&(from, _)| from >= self.last)?;
        let last = self
            .directions
            .iter()
            .filter_map(|sender| sender.transfers.last())
            .map(|transfer| transfer.last_send)
            .max();
        let open = matches!(self.state, State::Open | State::HalfClosed | State::Unanswered);
        open.then_some((last.unwrap_or(self.last), until))
    }
}

impl TransferFacts {
    /// Leaves what is known of it beside the stretches that lie in it: the longest run of rounds
    /// between them, and the pauses there.
    fn elide(&mut self, elided: &[Stretch]) {
        let is_over =
            |&(from, until): &Stretch| self.answered.is_some_and(|asked| from < self.start && until > asked.last);
        if elided.iter().any(is_over) {
            // Whether the answer's first bytes are those that are shown is not known.
            self.answered = None;
        }
        let is_in = |&(from, until): &Stretch, start: Time, end: Time| {
            from < end && (until > start || (from >= start && from == until))
        };
        // What was never acknowledged ends with its last segment, and goes on behind it.
        let close = if self.acknowledged { self.end } else { self.end + Nanos(1) };
        let inside: Vec<Stretch> = elided.iter().filter(|stretch| is_in(stretch, self.start, close)).copied().collect();
        if inside.is_empty() {
            return;
        }
        let mut ends: Vec<Time> = self.rounds.iter().skip(1).map(|round| round.start).collect();
        ends.push(close);
        // What is in flight in the round behind a stretch, and when that begins, hangs on what was
        // left out.
        let mut behind = false;
        let mut runs: Vec<std::ops::Range<usize>> = Vec::new();
        for (index, (round, &end)) in self.rounds.iter().zip(&ends).enumerate() {
            let holed = inside.iter().any(|stretch| is_in(stretch, round.start, end));
            if !holed && !behind {
                match runs.last_mut().filter(|run| run.end == index) {
                    Some(run) => run.end += 1,
                    None => runs.push(index..index + 1),
                }
            }
            behind = holed;
        }
        let time = |run: &std::ops::Range<usize>| {
            let (first, last) = (self.rounds.get(run.start)?, ends.get(run.end.checked_sub(1)?)?);
            Some((first.start, *last))
        };
        let length = |run: &&std::ops::Range<usize>| time(run).map(|(from, until)| until - from);
        // Of equals the first: it shows how the transfer began.
        let longest = runs.iter().rev().max_by_key(length).cloned().unwrap_or(0..0);
        let (from, until) =
            time(&longest).map_or((self.start, self.start), |(from, until)| (from, until.min(self.end)));
        self.known_span = Some((from, until));
        self.rounds.truncate(longest.end);
        self.rounds.drain(..longest.start);
        self.rounds_total = self.rounds.iter().map(|round| u64::from(round.merged)).sum();
        self.max_in_flight = self.rounds.iter().map(|round| round.in_flight).max().unwrap_or(0);
        self.gaps.retain(|gap| gap.start >= from && gap.end <= until);
        self.losses.retain(|loss| loss.time >= from && loss.time < until);
        (self.recoveries, self.lost_retransmits) = Default::default();
        // Of what comes late, the first copy may have been left out.
        (self.out_of_order, self.healed_holes, self.stuck_large) = (0, 0, 0);
    }
}

#[cfg(test)]
mod tests;
