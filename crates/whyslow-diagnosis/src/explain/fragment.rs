//! The result of an explainer when everything was read, and how several results become one
//! analysis.

use super::capture_state::{CaptureState, merge_captures};
use super::connection_ordinals::{self, OpeningPositions};
use super::omitted::{OmittedCompletion, OmittedSink};
use super::top_connections::{ConnectionAccount, ListedAccounts};
use crate::conclude::{self, Names};
use crate::pair::ConnectionFingerprint;
use crate::together::LargestFlows;
use crate::whatif::{ReplayQueue, Replays};
use whyslow_analysis::{Analysis, SCHEMA};
use whyslow_core::flow::ConnectionId;
use whyslow_units::Time;

/// The connections that fell to one explainer, accounted for.
#[derive(Debug, Default)]
pub struct Fragment {
    pub(super) captures: Vec<CaptureState>,
    /// Connections are known by the place of their first packets among all.
    pub(super) openings: Vec<OpeningPositions>,
    /// Openings of QUIC connections among them.
    pub(super) quic_openings: Vec<OpeningPositions>,
    pub(super) accounts: ListedAccounts,
    pub(super) replays: Replays,
    pub(super) flows: LargestFlows,
    pub(super) evicted: u64,
    /// Time of the first packet of all, from which times count.
    pub(super) first_time: Option<Time>,
    /// Rate of the path as given by the user, payload bits per second.
    pub(super) path_rate: Option<f64>,
    /// The same in each.
    pub(super) host_names: Names,
    pub(super) omitted: Option<OmittedSink>,
}

/// An analysis that lacks only the model's results for its transfers.
#[derive(Debug)]
#[non_exhaustive]
pub struct MergedAnalysis {
    /// The analysis.
    pub analysis: Analysis,
    /// Fingerprints by which connections with times are recognised in other captures.
    pub fingerprints: Vec<ConnectionFingerprint>,
    /// For connections that were given away.
    omitted: OmittedCompletion,
    /// The transfers for the model.
    replays: Replays,
    /// Rate of the path as given by the user, payload bits per second.
    path_rate: Option<f64>,
}

impl MergedAnalysis {
    /// Takes the data that completes the connections which were [given
    /// away](super::Explainer::give_omitted_to).
    pub fn take_omitted(&mut self) -> OmittedCompletion {
        std::mem::take(&mut self.omitted)
    }

    /// Runs the model for one transfer after another.
    pub fn finish(self) -> (Analysis, Vec<ConnectionFingerprint>) {
        self.finish_with(|plays| {
            while let Some(play) = plays.take() {
                plays.put(&play, play.play());
            }
        })
    }

    /// Lets `play` run the model's replays, for example in parallel; the results are the same.
    pub fn finish_with(mut self, play: impl FnOnce(&mut ReplayQueue<'_>)) -> (Analysis, Vec<ConnectionFingerprint>) {
        let Analysis { connections, findings, .. } = &mut self.analysis;
        conclude::play_models(conclude::MAX_WORK, &self.replays, connections, play);
        conclude::finish(connections, findings, self.path_rate);
        (self.analysis, self.fingerprints)
    }
}

impl Fragment {
    /// Merges the results of explainers that shared the connections.
    pub fn merge_all(fragments: Vec<Self>) -> MergedAnalysis {
        let mut fragments = fragments.into_iter();
        let mut all = fragments.next().unwrap_or_default();
        fragments.for_each(|other| all.merge(other));
        all.into_merged()
    }

    /// Adds another explainer's results for other connections of the same captures, in any order.
    pub fn merge(&mut self, other: Self) {
        merge_captures(&mut self.captures, other.captures);
        self.openings.extend(other.openings);
        self.quic_openings.extend(other.quic_openings);
        self.accounts.merge(other.accounts);
        self.replays.merge(other.replays);
        self.flows.merge(other.flows);
        self.evicted += other.evicted;
        self.give_others();
    }

    /// Gives connections that are not listed to `sink`, as those of several are
    /// [merged](Self::merge).
    pub fn give_omitted_to(&mut self, sink: OmittedSink) {
        self.omitted = Some(sink);
    }

    fn give_others(&mut self) {
        for connection in self.accounts.take_others() {
            if let Some(sink) = &self.omitted {
                sink.take(connection);
            }
        }
    }

    /// Returns the whole analysis, except for the model's results.
    pub fn into_merged(mut self) -> MergedAnalysis {
        let listed = self.accounts.finish();
        self.give_others();
        let Self { captures, openings, quic_openings, accounts, mut replays, mut flows, .. } = self;
        let Self { evicted, first_time, path_rate, .. } = self;
        let (names, omitted) = (self.host_names, accounts.omitted);
        let several = captures.len() > 1;
        // From the place of the first packet to the place among connections.
        let ids: Vec<_> = listed.iter().map(ConnectionAccount::id).collect();
        let places = connection_ordinals::ranks(&openings, &ids);
        let quic_before = connection_ordinals::ranks(&quic_openings, &ids);
        let place = |id| Some(places[ids.binary_search(&ConnectionId(id)).ok()?]);
        replays.renumber(place);
        flows.renumber(place);
        let (mut connections, mut summaries, mut marks) = (Vec::new(), Vec::new(), Vec::new());
        for (ConnectionAccount { mut connection, summary: mut outline, fingerprint: mark, .. }, (&id, &before)) in
            listed.into_iter().zip(places.iter().zip(&quic_before))
        {
            (connection.id, outline.id) = (id, id);
            connection.number_stream(before);
            marks.extend(mark.map(|mark| ConnectionFingerprint { id, ..mark }));
            connections.push(connection);
            summaries.push(outline);
        }
        let conclude::Across { mut findings, unpredictable } = conclude::together(&flows, &summaries, &mut connections);
        replays.forget(&unpredictable);
        if !several {
            conclude::forget_files(&mut connections, &mut findings);
        }
        let captures = captures.into_iter().map(|capture| capture.into_capture(evicted, omitted, first_time)).collect();
        let analysis = Analysis {
            schema: SCHEMA,
            partial: false,
            threshold_s: crate::ranking::DEFAULT_THRESHOLD,
            captures,
            connections,
            findings,
            pairs: Vec::new(),
            pairs_total: 0,
        };
        let omitted = OmittedCompletion::new([openings, quic_openings], names, !several, path_rate);
        MergedAnalysis { analysis, fingerprints: marks, omitted, replays, path_rate }
    }
}
