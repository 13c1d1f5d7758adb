//! What is left of an explainer when everything was read, and how several of these become one analysis.

use super::accounts::{Account, Told, Unlisted};
use super::openings::{self, Openings};
use crate::analysis::{Analysis, Capture, Problem, SCHEMA};
use crate::assemble;
use crate::capture::{Clock, Summary};
use crate::flow::ConnectionId;
use crate::pair::Mark;
use crate::rules;
use crate::whatif::{self, Plays, Replays};
use crate::wire::{Skip, link_type_name};
use std::collections::BTreeMap;

/// The connections that fell to one explainer, accounted for.
#[derive(Debug)]
pub struct Fragment {
    pub(super) captures: Vec<CaptureState>,
    /// Connections are known by the place of their first packets among all.
    pub(super) openings: Openings,
    pub(super) accounts: Told,
    pub(super) replays: Replays,
    pub(super) evicted: u64,
}

/// What one capture says.
#[derive(Debug, Default)]
pub(super) struct CaptureState {
    path: String,
    pub(super) tcp_packets: u64,
    /// Packets that are no segment: how many, and the first one's frame.
    pub(super) skipped: BTreeMap<Skip, (u64, u64)>,
    pub(super) summary: Option<Summary>,
}

/// An analysis that lacks only what a model says of its transfers.
#[derive(Debug)]
pub struct Merged {
    /// What was found.
    pub analysis: Analysis,
    /// What each connection that has times is recognised by in other captures.
    pub marks: Vec<Mark>,
    /// The transfers for the model.
    replays: Replays,
}

impl Merged {
    /// Lets the model play, one transfer after the other.
    pub fn finish(self) -> (Analysis, Vec<Mark>) {
        self.finish_with(|plays| {
            while let Some(play) = plays.take() {
                plays.put(&play, play.play());
            }
        })
    }

    /// Lets `play` do with the model what there is to do; what it does at the same time comes out sooner, and the same.
    pub fn finish_with(mut self, play: impl FnOnce(&mut Plays<'_>)) -> (Analysis, Vec<Mark>) {
        self.replays.predict(&mut self.analysis.connections, play);
        whatif::promise(&mut self.analysis.connections, &mut self.analysis.findings);
        (self.analysis, self.marks)
    }
}

impl Fragment {
    /// Puts together what explainers that shared the connections have found.
    pub fn merge(fragments: Vec<Self>) -> Merged {
        let (mut captures, mut accounts, mut openings) = (Vec::new(), None::<Told>, Vec::new());
        let (mut replays, mut evicted) = (Replays::default(), 0);
        for fragment in fragments {
            merge_captures(&mut captures, fragment.captures);
            openings.push(fragment.openings);
            match &mut accounts {
                Some(accounts) => accounts.merge(fragment.accounts),
                None => accounts = Some(fragment.accounts),
            }
            replays.merge(fragment.replays);
            evicted += fragment.evicted;
        }
        let mut accounts = accounts.unwrap_or_default();
        let listed = accounts.finish();
        let unlisted = accounts.unlisted;
        let several = captures.len() > 1;
        // From the place of the first packet to the place among connections.
        let ids: Vec<_> = listed.iter().map(Account::id).collect();
        let places = openings::places(&openings, &ids);
        replays.renumber(|id| Some(places[ids.binary_search(&ConnectionId(id)).ok()?]));
        let (mut connections, mut outlines, mut marks) = (Vec::new(), Vec::new(), Vec::new());
        for (Account { mut connection, mut outline, mark, .. }, id) in listed.into_iter().zip(places) {
            (connection.id, outline.id) = (id, id);
            marks.extend(mark.map(|mark| Mark { id, ..mark }));
            connections.push(connection);
            outlines.push(outline);
        }
        let mut findings = rules::check_across(&outlines, &connections);
        if !several {
            assemble::forget_files(&mut connections, &mut findings);
        }
        let captures = captures.into_iter().map(|capture| capture.told(evicted, unlisted)).collect();
        let analysis = Analysis {
            schema: SCHEMA,
            partial: false,
            captures,
            connections,
            findings,
            pairs: Vec::new(),
            pairs_total: 0,
        };
        Merged { analysis, marks, replays }
    }
}

/// All have seen the same captures, and counted their own packets.
fn merge_captures(all: &mut Vec<CaptureState>, more: Vec<CaptureState>) {
    if all.is_empty() {
        *all = more;
        return;
    }
    for (capture, more) in all.iter_mut().zip(more) {
        capture.tcp_packets += more.tcp_packets;
        for (skip, (count, frame)) in more.skipped {
            let entry = capture.skipped.entry(skip).or_insert((0, frame));
            entry.0 += count;
            entry.1 = entry.1.min(frame);
        }
    }
}

impl CaptureState {
    pub(super) fn new(path: &str) -> Self {
        Self { path: path.to_owned(), ..Self::default() }
    }

    fn told(self, evicted: u64, unlisted: Unlisted) -> Capture {
        let summary = self.summary.unwrap_or_default();
        let mut problems: Vec<Problem> = summary
            .problems
            .iter()
            .map(|problem| Problem { slug: problem.slug.into(), count: problem.count, detail: problem.detail.clone() })
            .collect();
        problems.extend(self.skipped.iter().filter_map(|(skip, &(count, frame))| {
            let slug = slug_of(*skip)?;
            Some(Problem { slug: slug.into(), count, detail: format!("{skip} (first in frame {frame})") })
        }));
        if evicted > 0 {
            problems.push(Problem {
                slug: "connections-let-go".into(),
                count: evicted,
                detail: "connections were silent for very long, or too many were open at once: what came of them later counts as new".into(),
            });
        }
        if let Unlisted { count: count @ 1.., bytes } = unlisted {
            problems.push(Problem {
                slug: "connections-not-listed".into(),
                count,
                detail: format!(
                    "of so many connections those that lost most time are listed; the others carried {bytes} bytes of payload, copies included"
                ),
            });
        }
        let duration = summary.first_time.zip(summary.last_time).map(|(first, last)| last - first);
        Capture {
            path: self.path,
            format: summary.format.into(),
            link_types: summary.link_types.iter().map(|link| link_type_name(*link).into_owned()).collect(),
            packets: summary.packets,
            tcp_packets: self.tcp_packets,
            first_time: summary.first_time.filter(|_| summary.clock == Clock::Absolute).map(crate::units::iso_8601),
            duration_s: duration.filter(|_| summary.clock != Clock::None),
            problems,
        }
    }
}

/// Other protocols are no problem; what should have been read and was not is.
fn slug_of(skip: Skip) -> Option<&'static str> {
    match skip {
        Skip::LinkType(_) => Some("unknown-link-type"),
        Skip::Fragment => Some("ip-fragment"),
        Skip::Cut => Some("cut-headers"),
        Skip::Malformed(_) => Some("malformed-packet"),
        _ => None,
    }
}
