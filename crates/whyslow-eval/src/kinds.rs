//! Compares each retransmission's classification with the records of the kernel and the emulator.
//!
//! Knows: how a listed retransmission is matched with a segment of the truth: by connection, bytes
//! and time. Promises: counts segments on the wire, of which a capture with offload shows several
//! as one; a segment without a known truth, or behind the end of the list, is counted separately
//! and never counts as an error. Ignores: the source of the truth
//! ([`whyslow_lab::retransmissions`]).

use std::fmt::Write;
use std::path::Path;
use whyslow_analysis::{Analysis, Direction, End, Retransmission, RetransmissionKind};
use whyslow_io::{Input, Stop};
use whyslow_lab::count;
use whyslow_lab::log::Direction as Way;
use whyslow_lab::retransmissions::{self, WireRetransmission};
use whyslow_lab::run::folder;
use whyslow_lab::scenario::Experiment;
use whyslow_lab::trace::Why;
use whyslow_lab::truth::RunResult;
use whyslow_units::Nanos;

const KINDS: [(RetransmissionKind, &str); 4] = [
    (RetransmissionKind::Fast, "fast"),
    (RetransmissionKind::Timeout, "timeout"),
    (RetransmissionKind::TailProbe, "tail probe"),
    (RetransmissionKind::Spurious, "spurious"),
];
/// A capture and the emulator's log see a packet within this time of each other, at most, seconds:
/// a receiver with offload waits for more before it hands packets over.
const TOGETHER: f64 = 0.005;
/// Mistakes listed one by one.
const MAX_LISTED: usize = 40;

/// The number in truth, the number reported, and the number reported at the right place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    truth: u64,
    found: u64,
    right: u64,
}

impl Count {
    fn add(&mut self, other: Self) {
        self.truth += other.truth;
        self.found += other.found;
        self.right += other.right;
    }

    fn row(self) -> String {
        let share = |of: u64| if of == 0 { "–".to_owned() } else { format!("{:.3}", self.right as f64 / of as f64) };
        format!("{} | {} | {} | {} |", self.truth, self.found, share(self.found), share(self.truth))
    }
}

/// The results for all retransmissions at one side.
#[derive(Debug, Default)]
struct Tally {
    kinds: [Count; 4],
    /// First copies lost before the capture point.
    unseen: Count,
    /// The kernel's reason for sending it is unknown.
    unknown: u64,
    /// Behind the end of the list.
    unlisted: u64,
    /// Needless, without a report to the sender.
    unreported: u64,
    wrong: Vec<String>,
}

impl Tally {
    fn add(&mut self, other: Self) {
        for (mine, its) in self.kinds.iter_mut().zip(other.kinds) {
            mine.add(its);
        }
        self.unseen.add(other.unseen);
        self.unknown += other.unknown;
        self.unlisted += other.unlisted;
        self.unreported += other.unreported;
        self.wrong.extend(other.wrong);
    }

    fn kind(&mut self, kind: RetransmissionKind) -> &mut Count {
        &mut self.kinds[KINDS.iter().position(|(other, _)| *other == kind).unwrap_or(0)]
    }
}

/// Judges all runs, one table for each experiment.
///
/// # Errors
/// When a capture or a run's truth cannot be read.
pub(super) fn report(made: &[(Experiment, Vec<RunResult>)], out: &Path) -> anyhow::Result<String> {
    let mut page = "## Retransmissions, segment by segment\n\n".to_owned();
    for (experiment, results) in made {
        let _ = writeln!(page, "### {}\n", experiment.title);
        page += &one_experiment(experiment, results, out)?;
    }
    Ok(page)
}

/// Both captures of every run that is a result: a retransmission has a reason whether or not the
/// run's cause is the one that was meant.
fn one_experiment(experiment: &Experiment, results: &[RunResult], out: &Path) -> anyhow::Result<String> {
    let mut tallies = [Tally::default(), Tally::default()];
    let (mut agreed, mut runs) = (0, 0);
    for run in &experiment.runs {
        let Some(result) = results.iter().find(|r| r.label == run.label && r.problems.is_empty()) else { continue };
        let folder = folder(out, &experiment.name, run, result.repetition);
        let Some(known) = retransmissions::read(&folder)? else { continue };
        runs += 1;
        agreed += u64::from(known.segments.len() as u64 == known.counted);
        for (end, file) in [(End::Client, "client.pcap"), (End::Server, "server.pcap")] {
            let capture = folder.join(file);
            let first = count::count(&capture)?.first;
            let analysis = whyslow_io::explain(&[Input::Path(capture)], &Stop::default(), &mut |_| {})?;
            // The first connection begins with the capture's first SYN.
            let start = analysis.connections.first().map(|connection| connection.start_s);
            let Some(zero) = first.zip(start).and_then(|(first, Nanos(start))| first.checked_add_signed(-start)) else {
                continue;
            };
            let judged = judge(&run.label, &analysis, end, zero, &known.segments);
            for (tally, judged) in tallies.iter_mut().zip(judged) {
                tally.add(judged);
            }
        }
    }
    let agree = format!(
        "In {agreed} of {runs} runs the emulator's log shows as many segments retransmitted as the kernels count."
    );
    Ok(table(&tallies) + &agree + "\n\n")
}

/// Judges the capture of one end: the segments it sent, and those it received. `zero`: the start of
/// the analysis' clock, nanoseconds since the Unix epoch.
fn judge(label: &str, analysis: &Analysis, end: End, zero: u64, truth: &[WireRetransmission]) -> [Tally; 2] {
    let mut tallies = [Tally::default(), Tally::default()];
    for connection in &analysis.connections {
        for direction in &connection.directions {
            let sends = direction.from == end;
            let way = if direction.from == End::Client { Way::Up } else { Way::Down };
            let moment = |segment: &WireRetransmission| if sends { Some(segment.sent) } else { segment.arrived };
            let of_direction = truth
                .iter()
                .filter(|segment| segment.client_port == connection.client.port && segment.direction == way)
                .filter_map(|segment| Some((segment, (moment(segment)? as i128 - i128::from(zero)) as f64 / 1e9)));
            let place = format!("{label} at the {}, {} →", name(end), name(direction.from));
            tallies[usize::from(!sends)].add(one_direction(&place, direction, &of_direction.collect::<Vec<_>>()));
        }
    }
    tallies
}

fn name(end: End) -> &'static str {
    if end == End::Client { "client" } else { "server" }
}

/// `told`: the truth, and when each passed the capture point.
fn one_direction(place: &str, direction: &Direction, truth: &[(&WireRetransmission, f64)]) -> Tally {
    let mut tally = Tally::default();
    let found = &direction.retransmissions;
    let is_cut = direction.retransmissions_total > found.len() as u64;
    let listed_until = found.last().filter(|_| is_cut).map(|last| last.time_s.as_secs_f64());
    let mut matched = vec![false; found.len()];
    for (segment, time) in truth {
        if listed_until.is_some_and(|until| *time > until) {
            tally.unlisted += 1;
            continue;
        }
        let is_it = |found: &Retransmission| {
            let (seq, end) = (u64::from(segment.seq), u64::from(segment.seq) + u64::from(segment.space));
            found.seq < end && found.seq + found.bytes.max(1) > seq
        };
        let distance = |found: &Retransmission| (found.time_s.as_secs_f64() - time).abs();
        let near = found.iter().enumerate().filter(|(_, found)| is_it(found) && distance(found) <= TOGETHER);
        let same = near.min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)));
        if let Some((index, _)) = same {
            matched[index] = true;
        }
        let same = same.map(|(_, found)| found);
        let bytes = format!("bytes {} to {}, {time:.6} s", segment.seq, segment.seq.saturating_add(segment.space));
        let sent = same.map_or("not listed".to_owned(), |found| format!("frame {}", found.frame.number));
        tally.unseen.add(Count {
            truth: u64::from(segment.first_to_arrive),
            found: u64::from(same.is_some_and(|found| found.unseen_original)),
            right: u64::from(segment.first_to_arrive && same.is_some_and(|found| found.unseen_original)),
        });
        tally.unreported += u64::from(segment.needless && !segment.reported);
        let Some(kind) = kind_of(segment, same.map(|found| found.kind)) else {
            tally.unknown += 1;
            continue;
        };
        tally.kind(kind).truth += 1;
        if let Some(found) = same {
            tally.kind(found.kind).found += 1;
        }
        match same {
            Some(found) if found.kind == kind => tally.kind(kind).right += 1,
            _ => {
                let called = same.map_or("nothing", |found| word(found.kind));
                tally.wrong.push(format!("{place} {sent} ({bytes}): `{}` was called `{called}`", word(kind)));
            }
        }
    }
    for found in found.iter().zip(matched).filter(|(_, matched)| !matched).map(|(found, _)| found) {
        tally.kind(found.kind).found += 1;
        tally.unseen.found += u64::from(found.unseen_original);
        let time = found.time_s.as_secs_f64();
        let bytes = format!("bytes {} to {}, {time:.6} s", found.seq, found.seq + found.bytes);
        tally.wrong.push(format!(
            "{place} frame {} ({bytes}): not retransmitted, and called `{}`",
            found.frame.number,
            word(found.kind)
        ));
    }
    tally
}

fn word(kind: RetransmissionKind) -> &'static str {
    KINDS.iter().find(|(other, _)| *other == kind).map_or("", |(_, word)| word)
}

/// The right class of a segment. That it was needless can be known if the receiver reports it.
/// Otherwise both needless and the class of its mechanism are right.
fn kind_of(segment: &WireRetransmission, found: Option<RetransmissionKind>) -> Option<RetransmissionKind> {
    match segment.why {
        _ if segment.doubled => None,
        _ if segment.reported || (segment.needless && found == Some(RetransmissionKind::Spurious)) => {
            Some(RetransmissionKind::Spurious)
        }
        Some(Why::Fast) => Some(RetransmissionKind::Fast),
        Some(Why::Timeout) => Some(RetransmissionKind::Timeout),
        Some(Why::TailProbe) => Some(RetransmissionKind::TailProbe),
        Some(Why::Other) | None => None,
    }
}

/// The tables, in Markdown: at the sender's end, and at the receiver's.
fn table(tallies: &[Tally; 2]) -> String {
    let mut table = String::new();
    // Writing to a string cannot fail.
    for (tally, side) in tallies.iter().zip(["sender's", "receiver's"]) {
        let _ = writeln!(
            table,
            "In the captures of the {side} end:\n\n| retransmitted | were | said | precision | recall |\n|---|---|---|---|---|"
        );
        for ((_, word), count) in KINDS.iter().zip(tally.kinds) {
            let _ = writeln!(table, "| {word} | {}", count.row());
        }
        if side == "receiver's" {
            let _ = writeln!(table, "| first copy lost on the way | {}", tally.unseen.row());
        }
        let _ = writeln!(
            table,
            "\nNot judged: {} whose mechanism is another or not certain, {} behind the end of a list. Needless without \
             the sender being told, and judged by their mechanism unless they are called needless: {}.\n",
            tally.unknown, tally.unlisted, tally.unreported
        );
    }
    let wrong: Vec<&String> = tallies.iter().flat_map(|tally| &tally.wrong).collect();
    if !wrong.is_empty() {
        let _ = writeln!(table, "Wrong: {}, of which the first {}:\n", wrong.len(), wrong.len().min(MAX_LISTED));
        for line in wrong.iter().take(MAX_LISTED) {
            let _ = writeln!(table, "- {line}");
        }
        table += "\n";
    }
    table
}

#[cfg(test)]
mod tests;
