//! A transfer's entry in the analysis.

use super::label::{end_of, label};
use super::path::path_estimates;
use crate::estimate::Context;
use crate::limit::{self, Span, TimeAttribution};
use crate::rules::{self, ConnectionView, Exit, TransferView};
use crate::together::LargestFlows;
use crate::whatif::{EarlierTransfers, Replay, Replays};
use whyslow_analysis::types::Side;
use whyslow_analysis::{LimitShare, LimitSpan, MAX_ROUNDS, MAX_SPANS, Round, Transfer};
use whyslow_core::tcp::facts::{Facts, TransferFacts};
use whyslow_units::{Nanos, Time};

/// Data of transfers that later steps need next to their entries.
#[derive(Debug, Default)]
pub(crate) struct KeptTransfers {
    /// For the model.
    pub replays: Replays,
    /// For causes that connections share.
    pub flows: LargestFlows,
}

/// Identifies a transfer.
#[derive(Clone, Copy)]
pub(super) struct TransferPlace {
    /// The ID of its connection.
    pub id: u64,
    /// Times count from here.
    pub first: Time,
    pub sender: Side,
    /// Index among the transfers of its sender.
    pub index: usize,
}

/// Returns a transfer's entry, and where it left slow start early.
pub(super) fn entry(
    place: TransferPlace,
    view: &ConnectionView<'_>,
    context: &Context,
    kept: &mut KeptTransfers,
) -> (Transfer, Option<Exit>) {
    let TransferPlace { id, first, sender, index } = place;
    let facts = view.facts;
    let up_to_this = &view.transfers[sender][..=index];
    let earlier = &up_to_this[..index];
    let (transfer, attribution) = &view.transfers[sender][index];
    let wait = view.waits.iter().find(|wait| wait.is_of(sender == facts.requester, index));
    let opening = !earlier.iter().any(|(t, _)| facts.is_listed(sender, t))
        && !facts.directions[!sender]
            .transfers
            .iter()
            .any(|t| t.start < transfer.start && facts.is_listed(!sender, t) && sender == facts.client);
    let before = limit::phases_before(facts, sender, transfer, opening, wait);
    let view =
        TransferView { facts, first, sender, transfer, attribution, before: &before, context: *context, earlier };
    let findings = if facts.timeless { Vec::new() } else { rules::check_transfer(&view) };
    if !context.encrypted {
        kept.flows.offer(&view, id, first);
    }
    let exit = rules::exit_of(&view).filter(|_| !facts.timeless);
    let spans = limit::without_idle_end(&attribution.spans);
    let end = spans.last().map_or(transfer.start, |last| last.end);
    let duration = (end - transfer.start).or_zero();
    let seconds = duration.as_secs_f64();
    let worst = findings.first().map(|worst| worst.cost_s).filter(|cost| *cost > Nanos::ZERO);
    // The model plays TCP.
    let modelled = worst.filter(|_| !context.encrypted);
    if let Some(worst) = modelled.filter(|worst| kept.replays.wants(*worst, id))
        && let Some(replay) = Replay::new(transfer, attribution, context, EarlierTransfers::of(up_to_this, context))
    {
        kept.replays.keep(worst, id, transfer.start - first, replay);
    }
    let entry = Transfer {
        from: end_of(facts, sender),
        bytes: transfer.bytes(),
        start_s: transfer.start - first,
        duration_s: duration,
        rate_bps: (seconds > 0.0 && !facts.timeless).then(|| (transfer.bytes() as f64 * 8.0 / seconds).round()),
        label: label(facts, sender, transfer),
        first_byte_s: first_byte(facts, sender, transfer),
        first_record: first_record(facts, sender, transfer).map(|(start, end)| end.saturating_sub(start)),
        rounds: rounds(transfer, (attribution, context.encrypted), end, first),
        rounds_total: transfer.rounds_total,
        elided: transfer.known_span.is_some(),
        path: path_estimates(transfer, &attribution.shape, context),
        model_s: None,
        // Until the model has run.
        model_skipped: modelled.is_some() && Replay::is_possible(transfer, context),
        limits: LimitShare::of(&limit::sum_by_limit(spans.iter().map(Span::limit_time))),
        timeline: timeline(attribution, end, first),
        verdict: rules::verdict(&view, &findings),
        findings,
        before: LimitShare::of(&before),
    };
    (entry, exit)
}

/// The timeline up to `end`.
fn timeline(attribution: &TimeAttribution, end: Time, first: Time) -> Vec<LimitSpan> {
    let listed = |span: &Span| LimitSpan {
        limit: span.limit,
        start_s: span.start - first,
        seconds: (span.end.min(end) - span.start).or_zero(),
    };
    limit::merge_runs(&attribution.spans, MAX_SPANS).iter().filter(|span| span.start < end).map(listed).collect()
}

/// If everything is encrypted, no window is known.
fn rounds(
    transfer: &TransferFacts,
    (attribution, encrypted): (&TimeAttribution, bool),
    end: Time,
    first: Time,
) -> Vec<Round> {
    let end = transfer.known_span.map_or(end, |(_, until)| until);
    let ends = transfer.rounds.iter().skip(1).map(|round| round.start).chain([end]);
    transfer
        .rounds
        .iter()
        .zip(ends)
        .zip(&attribution.rounds)
        .take(MAX_ROUNDS)
        .map(|((round, end), &limit)| Round {
            start_s: round.start - first,
            duration_s: (end - round.start).or_zero(),
            sending_s: (round.last_send - round.start).or_zero(),
            bytes: round.bytes,
            first_frame: round.first_frame,
            last_frame: round.last_frame,
            in_flight: round.in_flight,
            window: round.window.filter(|_| !encrypted),
            limit,
        })
        .collect()
}

/// From the first byte sent to the end of the first TLS record: only a whole record can be read by
/// the application.
fn first_byte(facts: &Facts, sender: Side, transfer: &TransferFacts) -> Option<Nanos> {
    let (_, end) = first_record(facts, sender, transfer)?;
    let round = transfer.rounds.get(transfer.round_of(end.min(transfer.seq.1))?)?;
    Some(round.start - transfer.start)
}

/// The place of the TLS record at the beginning of a transfer.
fn first_record(facts: &Facts, sender: Side, transfer: &TransferFacts) -> Option<(u64, u64)> {
    facts.content[sender].first_record(transfer.seq.0).map(|(start, end, _)| (start, end))
}
