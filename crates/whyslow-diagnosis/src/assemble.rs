//! From the results of a connection's stages to its entry in the
//! [`Analysis`](whyslow_analysis::Analysis).

mod exchanges;
mod label;
mod path;
mod requests;
mod transfer;

pub(crate) use transfer::KeptTransfers;

use crate::conclude::{self, Names};
use crate::estimate;
use crate::estimate::Context;
use crate::limit::{self, TimeAttribution};
use crate::rules::{self, ConnectionSummary, ConnectionView};
use label::end_of;
use transfer::TransferPlace;
use whyslow_analysis::types::{Decryption, Side};
use whyslow_analysis::{
    Connection, Direction, Elided, Endpoint, Handshake, LimitingFactor, MAX_TRANSFERS, NameLookup, Near, Origin,
    Problem, ProblemDetail, Retransmission, Retransmitted, Rtt, Stack, State, Transfer,
};
use whyslow_core::dns::LookupFacts;
use whyslow_core::message;
use whyslow_core::tcp::facts::{self, Facts, RttFacts, TransferFacts};
use whyslow_units::{Nanos, Time};

/// Input for a connection's entry.
pub(crate) struct ConnectionInput<'a> {
    pub facts: &'a Facts,
    pub id: u64,
    /// The capture that holds it, by its place among all.
    pub capture: usize,
    /// Times count from here.
    pub first: Time,
    pub names: &'a Names,
    /// Rate of the path as given by the user, payload bits per second.
    pub path_rate: Option<f64>,
    /// The transfers of each side that get an entry.
    pub listed: [ListedTransfers; 2],
}

/// Which of a side's transfers get an entry: those that end in this stretch of its sequence space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListedTransfers {
    /// Behind this number, …
    pub after: u64,
    /// … and at this one or before.
    pub until: u64,
}

impl ListedTransfers {
    /// Matches all packets.
    pub const ALL: Self = Self { after: 0, until: u64::MAX };

    /// Whether this transfer is one of them.
    pub fn holds(&self, transfer: &TransferFacts) -> bool {
        transfer.seq.1 > self.after && transfer.seq.1 <= self.until
    }
}

/// Returns a connection's entry, and its summary for the rules over several. Data of its transfers
/// that is needed later goes to `kept`.
pub(crate) fn connection(input: &ConnectionInput<'_>, kept: &mut KeptTransfers) -> (Connection, ConnectionSummary) {
    let ConnectionInput { facts, id, first, .. } = *input;
    let client = facts.client;
    let contexts = Side::BOTH.map(|side| Context { path_rate: input.path_rate, ..Context::new(facts, side) });
    let cut = Side::BOTH.map(|side| cut_all(facts, side, &contexts[side]));
    let waits = message::waits(facts);
    let view = ConnectionView { facts, transfers: [&cut[0], &cut[1]], waits: &waits };
    let mut transfers: Vec<Transfer> = Vec::new();
    let mut early_exit = None;
    let mut messages = 0;
    for sender in [client, !client] {
        for index in (0..cut[sender].len()).filter(|&index| facts.is_listed(sender, cut[sender][index].0)) {
            messages += 1;
            if !input.listed[sender].holds(cut[sender][index].0) {
                continue;
            }
            let place = TransferPlace { id, first, sender, index };
            let (entry, exit) = transfer::entry(place, &view, &contexts[sender], kept);
            transfers.push(entry);
            early_exit = early_exit.or(exit);
        }
    }
    transfers.sort_by_key(|transfer| (transfer.start_s, transfer.from.index()));
    let held: usize = cut.iter().map(Vec::len).sum();
    let handshakes = (held - messages) as u64;
    let transfers_total = facts.directions.iter().map(|direction| direction.transfers_total).sum::<u64>() - handshakes;
    keep_longest(&mut transfers);
    transfers.shrink_to_fit();
    let slow_start = cut.iter().flatten().map(|(_, partition)| partition.time(LimitingFactor::SlowStart)).sum();
    let summary = ConnectionSummary { early_exit, slow_start, ..summary(input) };
    (entry(input, &view, transfers, transfers_total), summary)
}

/// Summary of a connection, without the data of its transfers.
fn summary(input: &ConnectionInput<'_>) -> ConnectionSummary {
    let facts = input.facts;
    let [client, server] = [facts.client, !facts.client].map(|side| endpoint(facts, side, input.names));
    let tls = limit::tls_handshake(facts).map_or(Nanos::ZERO, |(time, _)| time);
    ConnectionSummary {
        id: input.id,
        client: facts.endpoints[facts.client].0,
        server: facts.endpoints[!facts.client],
        addresses: [client.address, server.address],
        name: server.name,
        start: facts.first,
        end: facts.closing.iter().flatten().map(|&(time, _)| time).min().unwrap_or(facts.last),
        unseen: facts.min_rtt().filter(|_| ends_before_its_client(facts)).unwrap_or_default(),
        handshakes: limit::handshake(facts).unwrap_or_default() + tls + limit::login(facts).unwrap_or_default(),
        slow_start: Nanos::ZERO,
        bytes: facts.directions.iter().map(|direction| direction.bytes).sum(),
        closed_by: facts.closed_by.and_then(|side| Some((end_of(facts, side), facts.closing[side]?.1))),
        client_wants_close: facts.content[facts.client].wants_close,
        reset: facts.state == State::Reset,
        early_exit: None,
        lookup: facts.lookup.as_deref().cloned(),
        first_frame: facts.first_frame,
    }
}

fn entry(
    input: &ConnectionInput<'_>,
    view: &ConnectionView<'_>,
    transfers: Vec<Transfer>,
    transfers_total: u64,
) -> Connection {
    let ConnectionInput { facts, first, names, .. } = *input;
    let client = facts.client;
    let (exchanges, exchanges_total) = exchanges::list_exchanges(view, &transfers, first);
    let (requests, requests_total) = requests::list_requests(facts, first);
    let findings = if facts.timeless { Vec::new() } else { rules::check_connection(view) };
    let end = rules::awaited_until(view, &findings).map_or(facts.last, |until| until.max(facts.last));
    let elided = |&(from, until): &(Time, Time)| Elided { start_s: from - first, duration_s: until - from };
    let mut connection = Connection {
        id: input.id,
        capture: input.capture,
        client: endpoint(facts, client, names),
        server: endpoint(facts, !client, names),
        start_s: facts.first - first,
        duration_s: end - facts.first,
        state: facts.state,
        closed_by: facts.closed_by.map(|side| end_of(facts, side)),
        near: if facts.timeless { Near::Unknown } else { facts.vantage.near },
        near_reason: facts.vantage.reason,
        rtt_ms: if facts.timeless { Rtt::default() } else { round_trips(facts) },
        lookup: facts.lookup.as_ref().map(|lookup| name_lookup(lookup, first)),
        handshake: handshake(facts),
        stacks: [client, !client].map(|side| stack(facts, side)),
        products: [client, !client].map(|side| estimate::product::of(facts, side)),
        application: estimate::product::application(facts),
        application_is_shown: estimate::product::is_application_shown(facts),
        problems: problems(facts),
        icmp: rules::icmp::describe_all(facts, first),
        icmp_total: facts.notices.total,
        elided: facts.elided.iter().map(elided).collect(),
        directions: vec![direction(facts, client, first), direction(facts, !client, first)],
        exchanges,
        exchanges_total,
        response_times: exchanges::response_times(view),
        transfers,
        transfers_total,
        findings,
        quic: facts.quic.as_ref().map(|notes| notes.facts.clone()),
        decryption: decryption(facts),
        requests,
        requests_total,
        origin: origin(facts),
    };
    conclude::own(&mut connection, facts, names);
    connection
}

fn name_lookup(lookup: &LookupFacts, first: Time) -> NameLookup {
    NameLookup {
        name: (*lookup.name).to_owned(),
        server: lookup.server.to_string(),
        silent_server: lookup.silent.map(|server| server.to_string()),
        start_s: lookup.start - first,
        duration_s: lookup.end - lookup.start,
        queries: lookup.queries,
        unanswered: lookup.unanswered,
        searched: lookup.searched,
        frames: lookup.frames,
    }
}

/// How much of the connection secrets decrypted.
fn decryption(facts: &Facts) -> Option<Decryption> {
    let of_quic = || facts.quic.as_ref()?.decryption.as_ref();
    facts.decryption.as_ref().or_else(of_quic).cloned()
}

/// The SYNs of QUIC are made up: they do not show the stack of their sender.
fn stack(facts: &Facts, side: Side) -> Stack {
    if facts.quic.is_some() { Stack::UNKNOWN } else { estimate::stack::of(facts, side) }
}

/// Without its place among the others, which is not known yet.
fn origin(facts: &Facts) -> Origin {
    let isn = facts.origins[facts.client].filter(|_| facts.handshake.offers[facts.client].is_some());
    Origin { stream: None, frame: facts.first_frame, time: facts.first, isn }
}

fn cut_all<'a>(facts: &'a Facts, sender: Side, context: &Context) -> Vec<(&'a TransferFacts, TimeAttribution)> {
    let mut context = *context;
    context.one_direction |= facts.timeless;
    let cut = |transfer: &'a TransferFacts| {
        let is_announced = facts.content[sender].is_announced(transfer.seq);
        (transfer, limit::attribute_time(transfer, &Context { is_announced, ..context }))
    };
    facts.directions[sender].transfers.iter().map(cut).collect()
}

/// Whether it was captured at the server, and the server ended it: its client had the answer later.
fn ends_before_its_client(facts: &Facts) -> bool {
    facts.vantage.near == Near::Server && facts.closed_by == Some(!facts.client)
}

/// Keeps the transfers that were waited for longest, in time order.
fn keep_longest(transfers: &mut Vec<Transfer>) {
    if transfers.len() <= MAX_TRANSFERS {
        return;
    }
    let mut order: Vec<usize> = (0..transfers.len()).collect();
    order.sort_by_key(|&index| (std::cmp::Reverse((transfers[index].cost(), transfers[index].waited())), index));
    let mut keep = vec![false; transfers.len()];
    for &index in &order[..MAX_TRANSFERS] {
        keep[index] = true;
    }
    let mut index = 0;
    transfers.retain(|_| {
        index += 1;
        keep[index - 1]
    });
}

fn endpoint(facts: &Facts, side: Side, names: &Names) -> Endpoint {
    let (address, port) = facts.endpoints[side];
    let known = names.get(&address);
    let sni = if side == facts.client { None } else { server_name(facts) };
    match known {
        Some((name, true)) => Endpoint { address: name.clone(), port, name: sni },
        Some((name, false)) => {
            Endpoint { address: address.to_string(), port, name: sni.or_else(|| Some(name.clone())) }
        }
        None => Endpoint { address: address.to_string(), port, name: sni },
    }
}

fn server_name(facts: &Facts) -> Option<String> {
    let of_quic = facts.quic.as_ref().and_then(|notes| notes.name.clone());
    of_quic.or_else(|| facts.content[facts.client].server_name.clone())
}

/// For QUIC without keys only the handshake shows a round trip: ACKs are encrypted.
fn round_trips(facts: &Facts) -> Rtt {
    let known = rtt(&facts.rtt);
    if facts.hides_packets() { Rtt { min: known.min, ..Rtt::default() } } else { known }
}

fn rtt(facts: &RttFacts) -> Rtt {
    let ms =
        |time: Option<Nanos>| time.filter(is_resolved).map(|time| (time.as_millis_f64() * 1000.0).round() / 1000.0);
    let (min, p50, p95) = (ms(facts.min), ms(facts.p50), ms(facts.p95));
    Rtt { min, p50, p95, samples: if p95.is_some() { facts.samples } else { 0 } }
}

/// Zero is below the resolution of the capture's clock.
fn is_resolved(rtt: &Nanos) -> bool {
    *rtt > Nanos::ZERO
}

fn handshake(facts: &Facts) -> Option<Handshake> {
    let handshake = &facts.handshake;
    let order = [facts.client, !facts.client];
    if handshake.offers.iter().all(Option::is_none) {
        return None;
    }
    // QUIC agrees on nothing of these.
    let offer = |side: Side| handshake.offers[side].filter(|_| facts.quic.is_none());
    Some(Handshake {
        rtt_ms: handshake.rtt().filter(is_resolved).filter(|_| !facts.timeless).map(|rtt| rtt.as_millis_f64()),
        mss: order.map(|side| offer(side)?.mss),
        window_scale: order.map(|side| offer(side)?.window_scale),
        sack: order.map(|side| offer(side).map(|offer| offer.sack)),
        timestamps: order.map(|side| offer(side).map(|offer| offer.timestamps)),
        retries: order.map(|side| handshake.retries[side]),
    })
}

fn direction(facts: &Facts, sender: Side, first: Time) -> Direction {
    let direction = &facts.directions[sender];
    // Fields that QUIC encrypts are unknown without keys.
    let is_hidden = facts.hides_packets();
    Direction {
        from: end_of(facts, sender),
        bytes: direction.bytes,
        packets: direction.packets,
        retransmitted: retransmitted(&direction.retransmitted),
        retransmissions: direction.retransmissions.iter().map(|one| retransmission(one, first)).collect(),
        retransmissions_total: direction.retransmissions_total,
        out_of_order: direction.out_of_order,
        duplicate_acks: if is_hidden { 0 } else { direction.duplicate_acks },
        window_probes: direction.window_probes,
        keep_alives: direction.keep_alives,
        duplicated: direction.duplicated,
        zero_windows: direction.zero_windows,
        zero_window_s: direction.zero_window,
        window_full: direction.window_full,
        max_in_flight: direction.max_in_flight,
        max_window: direction.max_window.filter(|_| !is_hidden),
        largest_record: Some(facts.content[sender].largest_record).filter(|&bytes| bytes > 0),
    }
}

fn retransmitted(kinds: &facts::Retransmitted) -> Retransmitted {
    let facts::Retransmitted { fast, timeout, tail_probe, spurious, unseen_original } = *kinds;
    Retransmitted { fast, timeout, tail_probe, spurious, unseen_original }
}

fn retransmission(one: &facts::Retransmission, first: Time) -> Retransmission {
    let facts::Retransmission { frame, time, seq, bytes, kind, unseen_original } = *one;
    Retransmission { frame, time_s: time - first, seq, bytes, kind, unseen_original }
}

fn problems(facts: &Facts) -> Vec<Problem> {
    let doubts = &facts.capture_defects;
    let mut problems = rules::capture_problems(facts);
    // Those that the receiver reports too (D-SACK) came twice to it: the network's doing, and not
    // the capture's.
    let reported: u64 = facts.directions.iter().map(|direction| direction.duplicated).sum();
    let found = [
        ("duplicate-frames", doubts.duplicate_frames.saturating_sub(reported), ProblemDetail::CapturedTwice),
        ("stray-segments", doubts.stray, ProblemDetail::OutsideWindow),
        ("segments-not-tracked", doubts.forgotten, ProblemDetail::SegmentsNotTracked),
        ("malformed-options", doubts.malformed_options, ProblemDetail::DamagedOptions),
        ("window-scale-over-14", doubts.scale_over_14, ProblemDetail::WindowScaleOver14),
        ("bad-checksum", doubts.bad_checksums, ProblemDetail::WrongChecksums),
        ("no-times", u64::from(facts.timeless), ProblemDetail::NoTimes),
    ];
    let found = found.into_iter().filter(|(_, count, _)| *count > 0);
    problems.extend(found.map(|(slug, count, detail)| Problem::new(slug, count, detail)));
    problems
}
