//! Where the time went: one row of letters, a letter for each limit, over a line that names them
//! with their times.

use super::names;
use crate::text::styles::DIM;
use crate::text::{Line, Page, units};
use anstyle::Style;
use whyslow_analysis::{LimitShare, LimitingFactor, Transfer};
use whyslow_units::Nanos;

/// A limit, and when it ends, from the start of the row; no limit in a gap.
type Stretch = (Option<LimitingFactor>, Nanos);

/// The least share of the time that is named under the row.
const NAMED: f64 = 0.005;

/// Prints the row and the line below it; in `full`, the line names every limit.
pub(super) fn print(page: &mut Page, transfer: &Transfer, full: bool, indent: usize) {
    let shares = shares(transfer, if full { 0.0 } else { NAMED });
    if shares.is_empty() {
        return;
    }
    let end = units::seconds(before(transfer) + transfer.duration_s);
    let head = Line::new().pad(indent).styled(DIM, "0 ");
    let tail = Line::new().styled(DIM, &format!(" {end}"));
    let room = page.width().saturating_sub(head.width() + tail.width());
    page.line(&head.line(&row(transfer, room)).line(&tail));
    legend(page, &shares, indent);
}

/// The shares of a transfer's time, and of the time before it, in the order of the row; only those
/// of at least `least` of the whole.
fn shares(transfer: &Transfer, least: f64) -> Vec<LimitShare> {
    let begins = |share: &LimitShare| transfer.timeline.iter().position(|span| span.limit == share.limit);
    let mut limits = transfer.limits.clone();
    limits.sort_by_key(|share| begins(share).unwrap_or(usize::MAX));
    let least = (before(transfer) + transfer.duration_s).scale(least);
    let is_long = |share: &&LimitShare| share.seconds > Nanos::ZERO && share.seconds >= least;
    transfer.before.iter().chain(&limits).filter(is_long).copied().collect()
}

fn before(transfer: &Transfer) -> Nanos {
    transfer.before.iter().map(|share| share.seconds.or_zero()).sum()
}

/// Prints limits with their times, as many in a line as fit.
pub(in crate::render) fn legend(page: &mut Page, shares: &[LimitShare], indent: usize) {
    let mut line = Line::new().pad(indent);
    for (index, share) in shares.iter().enumerate() {
        let entry = Line::new()
            .styled(names::color(share.limit).bold(), &names::letter(share.limit).to_string())
            .plain(&format!(" {} {}", names::limit(share.limit), units::short(share.seconds)));
        if index > 0 {
            if line.width() + 2 + entry.width() > page.width() {
                page.line(&line);
                line = Line::new().pad(indent);
            } else {
                line = line.styled(DIM, " ▏");
            }
        }
        line = line.line(&entry);
    }
    page.line(&line);
}

/// A row of letters for phases one after the other.
pub(in crate::render) fn bar(phases: &[(LimitingFactor, Nanos)], cells: usize) -> Line {
    let mut end = Nanos::ZERO;
    let stretch = |&(limit, seconds): &(LimitingFactor, Nanos)| {
        end += seconds.or_zero();
        (Some(limit), end)
    };
    runs(&phases.iter().map(stretch).collect::<Vec<_>>(), cells)
}

/// The row of letters: each cell has the limit that took most of its time.
fn row(transfer: &Transfer, cells: usize) -> Line {
    runs(&stretches(transfer), cells)
}

fn runs(stretches: &[Stretch], cells: usize) -> Line {
    let mut line = Line::new();
    let mut run: Option<(Option<LimitingFactor>, usize)> = None;
    for limit in fill(stretches, cells) {
        run = match run {
            Some((open, length)) if open == limit => Some((open, length + 1)),
            Some((open, length)) => {
                line = cell_run(line, open, length);
                Some((limit, 1))
            }
            None => Some((limit, 1)),
        };
    }
    match run {
        Some((limit, length)) => cell_run(line, limit, length),
        None => line,
    }
}

fn cell_run(line: Line, limit: Option<LimitingFactor>, length: usize) -> Line {
    match limit {
        Some(limit) => {
            let text: String = std::iter::repeat_n(names::letter(limit), length).collect();
            line.styled(names::color(limit).invert(), &text)
        }
        None => line.styled(Style::new(), &"·".repeat(length)),
    }
}

/// The time before the transfer and its own spans, in order.
fn stretches(transfer: &Transfer) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::with_capacity(transfer.before.len() + transfer.timeline.len() + 1);
    let mut end = Nanos::ZERO;
    for share in &transfer.before {
        end += share.seconds.or_zero();
        stretches.push((Some(share.limit), end));
    }
    let zero = end;
    for span in &transfer.timeline {
        let start = zero + (span.start_s - transfer.start_s).or_zero();
        if start > end {
            stretches.push((None, start));
            end = start;
        }
        end = end.max(start + span.seconds.or_zero());
        stretches.push((Some(span.limit), end));
    }
    let whole = zero + transfer.duration_s.or_zero();
    if whole > end {
        stretches.push((None, whole));
    }
    stretches
}

/// One limit for each of `cells` equal parts of the stretches' whole time.
fn fill(stretches: &[Stretch], cells: usize) -> Vec<Option<LimitingFactor>> {
    let Some(&(_, whole)) = stretches.last() else { return Vec::new() };
    let cells = cells as i128;
    let whole = i128::from(whole.0.max(1));
    let mut filled = Vec::new();
    let mut next = 0;
    for cell in 0..cells {
        let (start, end) = (whole * cell / cells, whole * (cell + 1) / cells);
        let mut most = (None, -1);
        let mut from = start;
        // Stretches that ended before this cell are never looked at again.
        while let Some(&(limit, until)) = stretches.get(next) {
            let until = i128::from(until.0);
            let share = until.min(end) - from;
            if share > most.1 {
                most = (limit, share);
            }
            if until > end {
                break;
            }
            from = until.max(from);
            next += 1;
        }
        filled.push(most.0);
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretch(limit: LimitingFactor, end: i64) -> Stretch {
        (Some(limit), Nanos(end))
    }

    fn letters(stretches: &[Stretch], cells: usize) -> String {
        fill(stretches, cells).into_iter().map(|limit| limit.map_or('·', names::letter)).collect()
    }

    #[test]
    fn a_cell_shows_what_took_most_of_it() {
        let stretches = [
            stretch(LimitingFactor::Handshake, 20),
            stretch(LimitingFactor::SlowStart, 79),
            (None, Nanos(90)),
            stretch(LimitingFactor::RoundTrip, 100),
        ];
        assert_eq!(letters(&stretches, 10), "HHSSSSSS·I");
        assert_eq!(letters(&stretches, 1), "S");
        assert_eq!(letters(&stretches, 0), "");
        assert_eq!(letters(&[], 10), "");
    }

    #[test]
    fn no_time_at_all_and_endless_time_fill_the_row() {
        assert_eq!(letters(&[stretch(LimitingFactor::RoundTrip, 0)], 4).chars().count(), 4);
        assert_eq!(letters(&[stretch(LimitingFactor::SlowStart, i64::MAX)], 4), "SSSS");
    }

    #[test]
    fn every_limit_has_a_letter_of_its_own() {
        let limits = super::super::tests::ALL_LIMITS;
        let letters: std::collections::HashSet<_> = limits.iter().map(|&limit| names::letter(limit)).collect();
        assert_eq!(letters.len(), limits.len());
    }
}
