//! Excludes the stretches of a connection for which packets are missing in a text.
//!
//! Packets are missing if bytes were acknowledged or followed that the text does not show, if a
//! segment echoes a timestamp that no segment of the other side had (RFC 7323 section 3.2), and
//! where the text marks an omission. Rounds and pauses in such a stretch, and their reasons, are
//! unknown. A transfer with such stretches keeps its bytes and its duration, and only the rounds
//! and pauses of its longest run between two stretches.

pub use super::facts::Stretch;
use super::facts::{Facts, RttFacts, TransferFacts};
use std::net::IpAddr;
use whyslow_analysis::types::State;
use whyslow_units::{Nanos, Time};

/// Maximum number of stretches of one connection; the last one includes all later ones.
const MAX: usize = 256;

/// Maximum number of marks of a text; the last one includes all later ones.
const MAX_MARKS: usize = 4096;

/// The two ends of a connection, addresses and ports.
type Endpoints = [(IpAddr, u16); 2];

/// Where a text has or marks omitted packets: of the connection between these ends, or of any.
#[derive(Debug, Default)]
pub struct ElisionMarks(Vec<(Option<Endpoints>, Stretch)>);

impl ElisionMarks {
    /// Adds a stretch.
    pub fn add(&mut self, of: Option<Endpoints>, (from, until): Stretch) {
        let of = of.map(|[one, two]| if one <= two { [one, two] } else { [two, one] });
        let full = self.0.len() >= MAX_MARKS;
        match self.0.last_mut() {
            Some(last) if full => *last = (None, (last.1.0.min(from), last.1.1.max(until))),
            Some((known, last)) if *known == of && from >= last.0 && from <= last.1 => last.1 = last.1.max(until),
            _ => self.0.push((of, (from, until))),
        }
    }

    /// The stretches that may concern the connection between these ends.
    fn of(&self, ends: Endpoints) -> impl Iterator<Item = Stretch> {
        let ends = if ends[0] <= ends[1] { ends } else { [ends[1], ends[0]] };
        self.0.iter().filter(move |(of, _)| of.is_none_or(|of| of == ends)).map(|&(_, stretch)| stretch)
    }
}

/// Adds a stretch, and merges it with those that it touches.
pub(super) fn add(stretches: &mut Vec<Stretch>, (from, until): Stretch) {
    let full = stretches.len() >= MAX;
    match stretches.last_mut() {
        Some(last) if full || (from >= last.0 && from <= last.1) => last.1 = last.1.max(until),
        _ => stretches.push((from, until)),
    }
}

impl Facts {
    /// Marks the connection as one from a text, in which packets are also missing at `marks`.
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
            // The omitted packets may include the other end's FIN.
            self.state = State::Open;
        }
        // Omitted ACKs make the next ones look late.
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

    /// A stretch may contain other exchanges, or the omitted part of one.
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
    /// The time from the last payload to a later omission: the transfer may have continued there.
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
    /// Keeps only facts from outside the omissions: the longest run of rounds between them,
    /// and the pauses in it.
    fn elide(&mut self, elided: &[Stretch]) {
        let is_over =
            |&(from, until): &Stretch| self.answered.is_some_and(|asked| from < self.start && until > asked.last);
        if elided.iter().any(is_over) {
            // The first bytes of the response may be missing.
            self.answered = None;
        }
        let is_in = |&(from, until): &Stretch, start: Time, end: Time| {
            from < end && (until > start || (from >= start && from == until))
        };
        // An unacknowledged transfer ends with its last segment, and may continue after it.
        let close = if self.acknowledged { self.end } else { self.end + Nanos(1) };
        let inside: Vec<Stretch> = elided.iter().filter(|stretch| is_in(stretch, self.start, close)).copied().collect();
        if inside.is_empty() {
            return;
        }
        let mut ends: Vec<Time> = self.rounds.iter().skip(1).map(|round| round.start).collect();
        ends.push(close);
        // The first round after an omission and its bytes in flight depend on the omitted packets.
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
        // Prefers the first of equal runs: it shows how the transfer began.
        let longest = runs.iter().rev().max_by_key(length).cloned().unwrap_or(0..0);
        let (from, until) =
            time(&longest).map_or((self.start, self.start), |(from, until)| (from, until.min(self.end)));
        self.known_span = Some((from, until));
        self.rounds.truncate(longest.end);
        self.rounds.drain(..longest.start);
        self.rounds_total = self.rounds.iter().map(|round| u64::from(round.merged)).sum();
        self.max_in_flight = self.rounds.iter().map(|round| round.in_flight).max().unwrap_or(0);
        self.pauses.retain(|gap| gap.start >= from && gap.end <= until);
        self.losses.retain(|loss| loss.time >= from && loss.time < until);
        (self.recoveries, self.lost_retransmits) = Default::default();
        // The first copy of a late segment may be missing.
        (self.out_of_order, self.healed_holes, self.stuck_large) = (0, 0, 0);
    }
}

#[cfg(test)]
mod tests;
