//! Bytes that had been acknowledged by what time: captured, made again, and with the fix.

use super::captured::Captured;
use super::outcome::{Outcome, Tried, Verdict};
use super::scenario::TransferScenario;
use serde::Serialize;

/// Maximum number of points of a curve: about as many as a graph has pixels.
pub(super) const MOST: usize = 500;

/// The run that a curve shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Of {
    /// The capture.
    Captured,
    /// The run that should match.
    Again,
    /// The run with the fix.
    Fixed,
}

/// A curve. It is drawn in steps: what was acknowledged stays so until the next point.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Curve {
    pub of: Of,
    /// The fix, in a few words.
    pub what: Option<String>,
    /// Seconds since the time that is compared began, and bytes. Both rise.
    pub points: Vec<(f64, u64)>,
}

/// The three; the last one of all fixes together where they help, else of the first that helps.
pub(super) fn of(outcome: &Outcome) -> Vec<Curve> {
    let captured = &outcome.captured;
    let built = outcome.built();
    let thinks = captured.thought() > 0.0;
    let run = |of, what, seen: &Captured| {
        let points = Span { place: built.place, bytes: built.bytes, until: f64::INFINITY, thinks }.points(seen);
        Curve { of, what, points }
    };
    let mut curves = vec![of_capture(captured, built), run(Of::Again, None, &outcome.fitted.trial.seen)];
    if let Some((tried, trial)) = fixed(outcome).and_then(|tried| Some((tried, tried.trial.as_ref()?))) {
        curves.push(run(Of::Fixed, Some(tried.remedy.what.clone()), &trial.seen));
    }
    curves
}

/// The capture's, as far as it is run.
pub(super) fn of_capture(captured: &Captured, built: &TransferScenario) -> Curve {
    let thinks = captured.thought() > 0.0;
    let span = Span { place: captured.place, bytes: built.bytes, until: built.until, thinks };
    Curve { of: Of::Captured, what: None, points: span.points(captured) }
}

fn fixed(outcome: &Outcome) -> Option<&Tried> {
    let helps = |tried: &&Tried| tried.verdict == Verdict::Helps;
    outcome.together.as_ref().filter(helps).or_else(|| outcome.fixes.iter().find(helps))
}

/// What of a connection is drawn.
#[derive(Clone, Copy)]
struct Span {
    /// The place of the transfer's first byte.
    place: u64,
    bytes: u64,
    /// Nothing after this moment, seconds from the capture's first packet.
    until: f64,
    /// What the server thought before counts.
    thinks: bool,
}

impl Span {
    /// Empty where its beginning is not in the capture.
    fn points(self, seen: &Captured) -> Vec<(f64, u64)> {
        let from = seen.from();
        let (place, bytes, start) = if seen.is_about_connection {
            // The ACK of a FIN is one of no byte.
            let all = seen.packets.data(from).map(super::packets::Packet::end).max().unwrap_or(0);
            (0, all, Some(seen.connection.start_s.as_secs_f64()))
        } else {
            let thought = if self.thinks { seen.thought() } else { 0.0 };
            (self.place, self.bytes, seen.packets.sent_at(from, self.place).map(|at| at - thought))
        };
        start.map_or_else(Vec::new, |start| thinned(acknowledged(seen, (place, bytes), (start, self.until))))
    }
}

/// By the sender's clock: it sent earlier than the capture has it, and got each ACK later.
fn acknowledged(seen: &Captured, (place, bytes): (u64, u64), (start, until): (f64, f64)) -> Vec<(f64, u64)> {
    let from = seen.from();
    let ahead = if seen.is_about_connection { 0.0 } else { seen.distance(from) };
    let mut points = vec![(0.0, 0)];
    let mut most = 0;
    let is_ack = |packet: &&super::packets::Packet| packet.from != from && packet.at >= start;
    for packet in seen.packets.all.iter().filter(is_ack).take_while(|packet| packet.at <= until + ahead) {
        let done = packet.ack.map_or(0, |ack| ack.saturating_sub(place).min(bytes));
        if done > most {
            most = done;
            points.push((packet.at - start + ahead, done));
        }
        if most == bytes {
            break;
        }
    }
    points
}

/// The first point, and the last one of each equal part of the time: no pause is lost.
fn thinned(points: Vec<(f64, u64)>) -> Vec<(f64, u64)> {
    let rounded = |(at, bytes): &(f64, u64)| ((at * 1e6).round() / 1e6, *bytes);
    let Some((end, _)) = points.last().copied().filter(|_| points.len() > MOST) else {
        return points.iter().map(rounded).collect();
    };
    let part = |at: f64| (at / end * (MOST - 2) as f64) as usize;
    let kept = points[1..].chunk_by(|a, b| part(a.0) == part(b.0)).filter_map(<[_]>::last);
    points.iter().take(1).chain(kept).map(rounded).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_points_stay_and_of_many_the_last_of_each_moment() {
        assert_eq!(thinned(vec![(0.0, 0), (0.100_000_4, 5)]), [(0.0, 0), (0.1, 5)]);
        let mut many: Vec<(f64, u64)> = (0..10_000).map(|n| (n as f64 / 1e4, n)).collect();
        // A pause of a second, and the rest at once.
        many.extend((0..1_000).map(|n| (2.0 + n as f64 / 1e6, 10_000 + n)));
        let thin = thinned(many);
        assert!(thin.len() <= MOST && thin.len() > MOST / 3, "{}", thin.len());
        assert_eq!((thin[0], thin.last().copied()), ((0.0, 0), Some((2.000_999, 10_999))));
        assert!(thin.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1));
        let pause = thin.windows(2).find(|pair| pair[1].0 - pair[0].0 > 0.9);
        assert!(pause.is_some_and(|pair| pair[0].1 == 9_999), "{pause:?}");
    }
}
