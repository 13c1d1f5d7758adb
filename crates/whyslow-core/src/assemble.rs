//! From what a connection's stages found to its entry in the
//! [`Analysis`](crate::analysis::Analysis).

mod exchanges;
mod label;
mod model_predictions;
mod wait_predictions;
mod written;

pub(crate) use model_predictions::predict as predict_by_model;
pub(crate) use wait_predictions::predict as predict_waits;
pub(crate) use written::Names;

use crate::analysis::{
    Connection, Direction, Elided, Endpoint, Finding, Frame, Handshake, Limit, LimitShare, LimitSpan, MAX_ROUNDS,
    MAX_SPANS, MAX_TRANSFERS, Near, Problem, Retransmission, Retransmitted, Round, Rtt, State, Transfer,
};
use crate::limit::{self, Context, Partition, Span, Wait};
use crate::rules::{self, ConnectionCase, ConnectionSummary, Exit, LargestFlows, TransferCase, say};
use crate::tcp::facts::{self, Facts, RttFacts, TransferFacts};
use crate::types::Side;
use crate::units::Nanos;
use crate::whatif::{EarlierTransfers, Replay, Replays};
use label::{end_of, label};

/// A connection's entry, and its outline for the rules over several. Times are told from `first`;
/// `path_rate` is what is said of the path (payload bits per second). Replays of its transfers are
/// kept in `replays`, and the transfers themselves in `flows`, as far as they are wanted.
pub(crate) fn connection(
    facts: &Facts,
    id: u64,
    capture: usize,
    first: Nanos,
    (names, path_rate): (&Names, Option<f64>),
    (replays, flows): (&mut Replays, &mut LargestFlows),
) -> (Connection, ConnectionSummary) {
    let client = facts.client;
    let contexts = Side::BOTH.map(|side| Context { path_rate, ..Context::new(facts, side) });
    let cut = [client, !client].map(|side| cut_all(facts, side, &contexts[side]));
    let by_side: [&[(&TransferFacts, Partition)]; 2] =
        if client == Side::A { [&cut[0], &cut[1]] } else { [&cut[1], &cut[0]] };
    let waits = limit::waits(facts);
    let case = ConnectionCase { facts, transfers: by_side, waits: &waits };
    let mut transfers: Vec<Transfer> = Vec::new();
    let mut early_exit = None;
    for sender in [client, !client] {
        for (index, (transfer, partition)) in by_side[sender].iter().enumerate() {
            if facts.is_listed(sender, transfer) {
                let earlier = &by_side[sender][..index];
                let wait = waits.iter().find(|wait| wait.is_of(sender == facts.requester, index));
                let (told, exit) = transfer_entry(
                    facts,
                    (sender, contexts[sender]),
                    (transfer, partition),
                    (earlier, wait),
                    (id, first),
                    (&mut *replays, &mut *flows),
                );
                transfers.push(told);
                early_exit = early_exit.or(exit);
            }
        }
    }
    transfers.sort_by_key(|transfer| (transfer.start_s, transfer.from.index()));
    let held: usize = cut.iter().map(Vec::len).sum();
    let handshakes = (held - transfers.len()) as u64;
    let transfers_total = facts.directions.iter().map(|direction| direction.transfers_total).sum::<u64>() - handshakes;
    keep_longest(&mut transfers);
    transfers.shrink_to_fit();
    let (exchanges, exchanges_total) = exchanges::list_exchanges(&case, &transfers, first);
    let endpoint = |side: Side| endpoint(facts, side, names);
    let server = endpoint(!client);
    let slow_start = cut.iter().flatten().map(|(_, partition)| partition.time(Limit::SlowStart)).sum();
    let tls = limit::tls_handshake(facts).map_or(Nanos::ZERO, |(time, _)| time);
    let outline = ConnectionSummary {
        id,
        client: facts.endpoints[client].0,
        server: facts.endpoints[!client],
        addresses: [endpoint(client).address, server.address.clone()],
        name: server.name.clone(),
        start: facts.first,
        end: facts.closing.iter().flatten().map(|&(time, _)| time).min().unwrap_or(facts.last),
        unseen: facts.min_rtt().filter(|_| ends_before_its_client(facts)).unwrap_or_default(),
        handshakes: limit::handshake(facts).unwrap_or_default() + tls,
        slow_start,
        bytes: facts.directions.iter().map(|direction| direction.bytes).sum(),
        closed_by: facts.closed_by.and_then(|side| Some((end_of(facts, side), facts.closing[side]?.1))),
        reset: facts.state == State::Reset,
        early_exit,
        first_frame: facts.first_frame,
    };
    let mut connection = Connection {
        id,
        capture,
        client: endpoint(client),
        server,
        start_s: facts.first - first,
        duration_s: facts.last - facts.first,
        state: facts.state,
        closed_by: facts.closed_by.map(|side| end_of(facts, side)),
        near: if facts.timeless { Near::Unknown } else { facts.vantage.near },
        near_reason: facts.vantage.reason.clone(),
        rtt_ms: if facts.timeless { Rtt::default() } else { rtt(&facts.rtt) },
        handshake: handshake(facts),
        problems: problems(facts),
        icmp: rules::icmp::describe_all(facts, first),
        icmp_total: facts.notices.total,
        elided: facts
            .elided
            .iter()
            .map(|&(from, until)| Elided { start_s: from - first, duration_s: until - from })
            .collect(),
        directions: vec![direction(facts, client, first), direction(facts, !client, first)],
        exchanges,
        exchanges_total,
        transfers,
        transfers_total,
        findings: if facts.timeless { Vec::new() } else { rules::check_connection(&case) },
    };
    written::restore(&mut connection, facts, names);
    (connection, outline)
}

fn cut_all<'a>(facts: &'a Facts, sender: Side, context: &Context) -> Vec<(&'a TransferFacts, Partition)> {
    let mut context = *context;
    context.one_direction |= facts.timeless;
    facts.directions[sender].transfers.iter().map(|t| (t, limit::partition(t, &context))).collect()
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

fn transfer_entry(
    facts: &Facts,
    (sender, context): (Side, Context),
    (transfer, partition): (&TransferFacts, &Partition),
    (earlier, wait): (&[(&TransferFacts, Partition)], Option<&Wait>),
    (id, first): (u64, Nanos),
    (replays, flows): (&mut Replays, &mut LargestFlows),
) -> (Transfer, Option<Exit>) {
    let opening = !earlier.iter().any(|(t, _)| facts.is_listed(sender, t))
        && !facts.directions[!sender]
            .transfers
            .iter()
            .any(|t| t.start < transfer.start && facts.is_listed(!sender, t) && sender == facts.client);
    let before = limit::phases_before(facts, sender, transfer, opening, wait);
    let case = TransferCase { facts, sender, transfer, partition, before: &before, context, earlier };
    let findings = if facts.timeless { Vec::new() } else { rules::check_transfer(&case) };
    flows.offer(&case, id, first);
    let exit = rules::exit_of(&case).filter(|_| !facts.timeless);
    let duration = transfer.duration();
    let seconds = case.duration().as_secs_f64();
    // Until the model has run.
    let mut model_skipped = false;
    if let Some(worst) = findings.first().filter(|worst| worst.seconds > Nanos::ZERO) {
        model_skipped = Replay::is_possible(transfer, &context);
        if replays.wants(worst.seconds, id)
            && let Some(replay) = Replay::new(transfer, partition, &context, EarlierTransfers::of(earlier, &context))
        {
            replays.keep(worst.seconds, id, transfer.start - first, replay);
        }
    }
    let told = Transfer {
        from: end_of(facts, sender),
        bytes: transfer.bytes(),
        start_s: transfer.start - first,
        duration_s: duration,
        rate_bps: (seconds > 0.0 && !facts.timeless).then(|| (transfer.bytes() as f64 * 8.0 / seconds).round()),
        label: label(facts, sender, transfer),
        first_byte_s: first_byte(facts, sender, transfer),
        first_record: first_record(facts, sender, transfer).map(|(start, end)| end.saturating_sub(start)),
        rounds: rounds(transfer, partition, first),
        rounds_total: transfer.rounds_total,
        elided: transfer.known_span.is_some(),
        model_s: None,
        model_skipped,
        limits: LimitShare::of(&partition.times()),
        timeline: timeline(partition, first),
        verdict: rules::verdict(&case, &findings),
        findings,
        before: LimitShare::of(&before),
    };
    (told, exit)
}

fn timeline(partition: &Partition, first: Nanos) -> Vec<LimitSpan> {
    let told = |span: &Span| LimitSpan { limit: span.limit, start_s: span.start - first, seconds: span.length() };
    partition.timeline(MAX_SPANS).iter().map(told).collect()
}

fn rounds(transfer: &TransferFacts, partition: &Partition, first: Nanos) -> Vec<Round> {
    let end = transfer.known_span.map_or(transfer.end, |(_, until)| until);
    let ends = transfer.rounds.iter().skip(1).map(|round| round.start).chain([end]);
    transfer
        .rounds
        .iter()
        .zip(ends)
        .zip(&partition.rounds)
        .take(MAX_ROUNDS)
        .map(|((round, end), &limit)| Round {
            start_s: round.start - first,
            duration_s: (end - round.start).or_zero(),
            sending_s: (round.last_send - round.start).or_zero(),
            bytes: round.bytes,
            first_frame: round.first_frame,
            last_frame: round.last_frame,
            in_flight: round.in_flight,
            window: round.window,
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

/// Where the TLS record lies with which a transfer begins.
fn first_record(facts: &Facts, sender: Side, transfer: &TransferFacts) -> Option<(u64, u64)> {
    let mut firsts = facts.content[sender].firsts.iter();
    firsts.find(|(start, ..)| *start == transfer.seq.0).map(|&(start, end, _)| (start, end))
}

fn endpoint(facts: &Facts, side: Side, names: &Names) -> Endpoint {
    let (address, port) = facts.endpoints[side];
    let known = names.get(&address);
    let said = if side == facts.client { None } else { server_name(facts) };
    match known {
        Some((name, true)) => Endpoint { address: name.clone(), port, name: said },
        Some((name, false)) => {
            Endpoint { address: address.to_string(), port, name: said.or_else(|| Some(name.clone())) }
        }
        None => Endpoint { address: address.to_string(), port, name: said },
    }
}

fn server_name(facts: &Facts) -> Option<String> {
    facts.content[facts.client].server_name.clone()
}

fn rtt(facts: &RttFacts) -> Rtt {
    let ms = |time: Option<Nanos>| time.filter(can_tell).map(|time| (time.as_millis_f64() * 1000.0).round() / 1000.0);
    let (min, p50, p95) = (ms(facts.min), ms(facts.p50), ms(facts.p95));
    Rtt { min, p50, p95, samples: if p95.is_some() { facts.samples } else { 0 } }
}

/// Zero is less than the capture's clock can tell.
fn can_tell(rtt: &Nanos) -> bool {
    *rtt > Nanos::ZERO
}

fn handshake(facts: &Facts) -> Option<Handshake> {
    let handshake = &facts.handshake;
    let order = [facts.client, !facts.client];
    if handshake.offers.iter().all(Option::is_none) {
        return None;
    }
    let offer = |side: Side| handshake.offers[side];
    Some(Handshake {
        rtt_ms: handshake.rtt().filter(can_tell).filter(|_| !facts.timeless).map(|rtt| rtt.as_millis_f64()),
        mss: order.map(|side| offer(side)?.mss),
        window_scale: order.map(|side| offer(side)?.window_scale),
        sack: order.map(|side| offer(side).map(|offer| offer.sack)),
        timestamps: order.map(|side| offer(side).map(|offer| offer.timestamps)),
        retries: order.map(|side| handshake.retries[side]),
    })
}

fn direction(facts: &Facts, sender: Side, first: Nanos) -> Direction {
    let direction = &facts.directions[sender];
    Direction {
        from: end_of(facts, sender),
        bytes: direction.bytes,
        packets: direction.packets,
        retransmitted: retransmitted(&direction.retransmitted),
        retransmissions: direction.retransmissions.iter().map(|one| retransmission(one, first)).collect(),
        retransmissions_total: direction.retransmissions_total,
        out_of_order: direction.out_of_order,
        duplicate_acks: direction.duplicate_acks,
        window_probes: direction.window_probes,
        keep_alives: direction.keep_alives,
        duplicated: direction.duplicated,
        zero_windows: direction.zero_windows,
        zero_window_s: direction.zero_window,
        max_in_flight: direction.max_in_flight,
        max_window: direction.max_window,
        largest_record: Some(facts.content[sender].largest_record).filter(|&bytes| bytes > 0),
    }
}

fn retransmitted(kinds: &facts::Retransmitted) -> Retransmitted {
    let facts::Retransmitted { fast, timeout, tail_probe, spurious, unseen_original } = *kinds;
    Retransmitted { fast, timeout, tail_probe, spurious, unseen_original }
}

fn retransmission(one: &facts::Retransmission, first: Nanos) -> Retransmission {
    let facts::Retransmission { frame, time, seq, bytes, kind, unseen_original } = *one;
    Retransmission { frame, time_s: time - first, seq, bytes, kind, unseen_original }
}

fn problems(facts: &Facts) -> Vec<Problem> {
    let doubts = &facts.capture_defects;
    let mut problems = rules::capture_problems(facts);
    let mut add = |slug: &str, number: u64, what: &str, detail: &str| {
        if number > 0 {
            problems.push(Problem::new(slug, number, say::count(number, what) + detail));
        }
    };
    // Those that the receiver reports too (D-SACK) came twice to it: the network's doing, and not
    // the capture's.
    let reported: u64 = facts.directions.iter().map(|direction| direction.duplicated).sum();
    add(
        "duplicate-frames",
        doubts.duplicate_frames.saturating_sub(reported),
        "packet",
        " captured a second time (several interfaces or mirror ports), as the receiver reports no copy: not used, and no retransmission",
    );
    add("stray-segments", doubts.stray, "segment", " not used: the sequence number is far outside the window");
    add(
        "malformed-options",
        doubts.malformed_options,
        "segment",
        " with a TCP option list that is cut or damaged: what stands before the damage is used",
    );
    add(
        "window-scale-over-14",
        doubts.scale_over_14,
        "SYN",
        " with a window scale shift over 14, which counts as 14 (RFC 7323 section 2.3)",
    );
    add(
        "bad-checksum",
        doubts.bad_checksums,
        "segment",
        " not used: the TCP checksum is wrong where others of that side are right, and nothing shows that it came",
    );
    if facts.timeless {
        let detail = "the text has no times that tell anything (tcpdump -t, or a log's whole seconds): bytes and packets are \
                      counted, and nothing is said of time";
        problems.push(Problem::new("no-times", 1, detail));
    }
    problems
}

/// With one input a frame's number is enough.
pub(crate) fn forget_files(connections: &mut [Connection], findings: &mut [Finding]) {
    for connection in connections {
        connection.for_each_frame(forget);
    }
    findings.iter_mut().for_each(|finding| finding.for_each_frame(forget));
}

fn forget(frame: &mut Frame) {
    frame.file = None;
}
