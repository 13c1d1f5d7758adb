//! A connection: its ends, how it went, its transfers.

use super::finding::{self, Context};
use super::{BOLD, DIM, GOOD, exchanges, names, print_problems, transfer};
use crate::text::{Column, Line, Page, Table, units};
use anstyle::Style;
use std::cmp::Reverse;
use whyslow_core::analysis::{Connection, End, Finding, Handshake, Near, Rtt, State, Transfer};
use whyslow_core::units::Nanos;

/// Transfers of one connection that are told in full where there is one screen for all, and those
/// that have a line.
const FULL_TRANSFERS: usize = 1;
const LISTED_TRANSFERS: usize = 8;
/// Of that one's time, what another must take to have a line although nothing held it back.
const LISTED_SHARE: f64 = 0.2;

/// A connection on its own.
pub(super) fn print(page: &mut Page, connection: &Connection) {
    print_header(page, connection, None);
    print_state(page, connection);
    print_problems(page, &connection.problems, 2);
    print_errors(page, connection);
    let (first, rest) = ranked(connection);
    print_findings(page, &first);
    exchanges::print(page, connection, false);
    match connection.transfers.as_slice() {
        [] => {}
        [one] => transfer::print(page, one, false, blamed(connection)),
        several => print_transfers(page, connection, several),
    }
    print_findings(page, &rest);
    print_silence(page, connection);
}

/// A connection with all that is known of it.
pub(super) fn print_full(page: &mut Page, connection: &Connection) {
    print_header(page, connection, Some(connection.id));
    print_state(page, connection);
    print_facts(page, connection);
    print_problems(page, &connection.problems, 2);
    print_errors(page, connection);
    let (first, rest) = ranked(connection);
    print_findings(page, &first);
    exchanges::print(page, connection, true);
    if let [one] = connection.transfers.as_slice() {
        transfer::print(page, one, true, blamed(connection));
    } else {
        for (index, told) in connection.transfers.iter().enumerate() {
            print_transfer_header(page, connection, index, told);
            transfer::print(page, told, true, blamed(connection));
        }
        print_untold(page, connection, connection.transfers.len());
    }
    print_findings(page, &rest);
    print_silence(page, connection);
}

/// The two ends and what went between them.
pub(super) fn print_header(page: &mut Page, connection: &Connection, id: Option<u64>) {
    page.gap();
    let number = id.map_or(String::new(), |id| format!("#{id}  "));
    let ends = Line::new()
        .styled(BOLD, &number)
        .styled(BOLD, &names::endpoint(&connection.client))
        .plain(" → ")
        .styled(BOLD, &names::endpoint(&connection.server));
    let figures = Line::new().plain(&figures(connection)).plain("   ").styled(DIM, &rtt(connection));
    if ends.width() + 3 + figures.width() <= page.width() {
        page.line(&ends.right(page.width(), &figures));
    } else {
        page.line(&ends);
        page.line(&Line::new().pad(2).line(&figures));
    }
}

/// What a connection carried: its transfer's figures, or its directions' where there are several.
fn figures(connection: &Connection) -> String {
    match connection.transfers.as_slice() {
        [one] if connection.transfers_total <= 1 => transfer::figures(one),
        [] => format!("no payload{}", time(connection)),
        _ => {
            let bytes = |end: End| {
                connection.directions.iter().filter(|d| d.from == end).map(|d| d.bytes).fold(0, u64::saturating_add)
            };
            let (up, down) = (bytes(End::Client), bytes(End::Server));
            format!("{} up, {} down{}", units::bytes(up), units::bytes(down), time(connection))
        }
    }
}

/// How long it lasted; a text may have no times.
fn time(connection: &Connection) -> String {
    match connection.duration_s {
        Nanos::ZERO => String::new(),
        duration => format!(" in {}", units::seconds(duration)),
    }
}

/// `RTT 25.8 ms`; least to 95th percentile where it varies.
fn rtt(connection: &Connection) -> String {
    match connection.rtt_ms {
        Rtt { min: Some(min), p95: Some(p95), .. } if p95 > 1.5 * min && p95 - min > 1.0 => {
            format!("RTT {} to {}", units::millis(min), units::millis(p95))
        }
        Rtt { p50: Some(typical), .. } | Rtt { min: Some(typical), .. } => format!("RTT {}", units::millis(typical)),
        _ => "RTT unknown".to_owned(),
    }
}

/// What ICMP errors said of its packets, a line each.
fn print_errors(page: &mut Page, connection: &Connection) {
    for error in &connection.icmp {
        let frame = names::frames(&[error.frame]);
        let place = match error.count {
            1 => frame,
            count => format!("{} times, first in {frame}", units::thousands(count)),
        };
        let text = format!("{} ({place})", error.detail);
        page.hanging(&Line::new().pad(2).plain("ICMP: "), Style::new(), &text, None, 4);
    }
    let told: u64 = connection.icmp.iter().map(|error| error.count).sum();
    let others = connection.icmp_total.saturating_sub(told);
    if others > 0 {
        let text =
            format!("{} that say something else, or come from elsewhere", units::count(others, "more ICMP error"));
        page.hanging(&Line::new().pad(2).plain("… "), Style::new(), &text, None, 4);
    }
}

/// How the connection stood at its end, where that is worth a line.
fn print_state(page: &mut Page, connection: &Connection) {
    let end = |end: Option<End>| match end {
        Some(End::Client) => "the client",
        Some(End::Server) => "the server",
        None => "one end",
    };
    let first = end(connection.closed_by);
    let text = match connection.state {
        State::Unanswered => {
            let sent = connection.handshake.as_ref().map_or(1, |h| h.retries[End::Client.index()].saturating_add(1));
            let who = if connection.icmp.is_empty() { "nobody" } else { "the server never" };
            format!("{who} answered: {} sent", units::count(sent, "SYN"))
        }
        State::Refused => "refused: the SYN was answered by a reset".to_owned(),
        State::HalfClosed => {
            let other = end(connection.closed_by.map(End::other));
            format!("half-closed: {first} sent its FIN, {other} never did (CLOSE_WAIT there)")
        }
        State::Reset => format!("ended by a reset from {first}"),
        State::Open | State::Closed => return,
    };
    page.wrapped(&Line::new().pad(2), Style::new(), &text);
}

/// Of several transfers in full the one that cost its user most, the others in a line each.
fn print_transfers(page: &mut Page, connection: &Connection, transfers: &[Transfer]) {
    let mut slowest: Vec<usize> = (0..transfers.len()).collect();
    slowest.sort_by_key(|&index| Reverse((transfers[index].cost(), transfers[index].waited(), index)));
    let (full, others) = slowest.split_at(FULL_TRANSFERS.min(slowest.len()));
    // Requests and other small change between the transfers that took time are only counted.
    let enough = full.first().map_or(Nanos::ZERO, |&index| transfers[index].waited().scale(LISTED_SHARE));
    let worth = |&index: &usize| !transfers[index].findings.is_empty() || transfers[index].waited() >= enough;
    let mut listed: Vec<usize> = others.iter().copied().filter(worth).take(LISTED_TRANSFERS).collect();
    listed.sort_unstable();
    for &index in full {
        print_transfer_header(page, connection, index, &transfers[index]);
        transfer::print(page, &transfers[index], false, blamed(connection));
    }
    page.gap();
    if !listed.is_empty() {
        print_list(page, transfers, &listed);
    }
    print_untold(page, connection, FULL_TRANSFERS + listed.len());
}

/// A line a transfer.
fn print_list(page: &mut Page, transfers: &[Transfer], listed: &[usize]) {
    let mut table = Table::new(vec![
        Column::figures("transfer"),
        Column::figures("began at"),
        Column::figures("took"),
        Column::words("carried"),
        Column::figures("rate").optional(),
        Column::words("lost to"),
    ]);
    for &index in listed {
        let told = &transfers[index];
        table.row([
            (index + 1).to_string(),
            units::seconds(told.start_s),
            units::span(told.duration_s),
            match told.from {
                End::Client => format!("{} up", units::bytes(told.bytes)),
                End::Server => format!("{} down", units::bytes(told.bytes)),
            },
            told.rate_bps.map(units::rate).unwrap_or_default(),
            match told.findings.first() {
                Some(worst) => finding::named(worst.cause.slug(), units::span(worst.seconds), worst.seconds),
                None if told.is_verdict_unknown() => "not known".to_owned(),
                None => "nothing".to_owned(),
            },
        ]);
    }
    table.print(page, 2);
}

fn print_transfer_header(page: &mut Page, connection: &Connection, index: usize, told: &Transfer) {
    page.gap();
    let total = connection.transfers_total.max(connection.transfers.len() as u64);
    let which = format!("transfer {} of {}", index + 1, units::thousands(total));
    let timed = connection.duration_s > Nanos::ZERO;
    let start = if timed { format!(", from {} on", units::seconds(told.start_s)) } else { String::new() };
    let head = Line::new().pad(2).styled(BOLD, &which).styled(DIM, &start);
    let figures = Line::new().plain(&transfer::figures(told));
    if head.width() + 3 + figures.width() <= page.width() {
        page.line(&head.right(page.width(), &figures));
    } else {
        page.line(&head);
        page.line(&Line::new().pad(2).line(&figures));
    }
}

fn print_untold(page: &mut Page, connection: &Connection, told: usize) {
    let untold = connection.transfers_total.max(connection.transfers.len() as u64).saturating_sub(told as u64);
    if untold > 0 {
        page.line(&Line::new().pad(2).styled(DIM, &format!("… and {}", units::count(untold, "shorter transfer"))));
    }
}

/// Whether something is said of the connection as a whole.
fn blamed(connection: &Connection) -> bool {
    !connection.findings.is_empty()
}

/// The connection's own findings: those that cost more than anything in its transfers, and the
/// others.
fn ranked(connection: &Connection) -> (Vec<&Finding>, Vec<&Finding>) {
    let waited = |finding: &&Finding| finding.is_waited_for();
    let in_transfers = connection.transfers.iter().flat_map(|transfer| &transfer.findings).filter(waited);
    let most = in_transfers.map(|finding| finding.seconds).max().unwrap_or(Nanos::ZERO);
    connection.findings.iter().partition(|own| own.is_waited_for() && own.seconds > most)
}

fn print_findings(page: &mut Page, findings: &[&Finding]) {
    for own in findings {
        page.gap();
        finding::print(page, own, &Context::default());
    }
}

/// That nothing was carried, where nothing else says so.
fn print_silence(page: &mut Page, connection: &Connection) {
    let silent = connection.transfers.is_empty() && connection.findings.is_empty();
    if silent && matches!(connection.state, State::Open | State::Closed) {
        page.wrapped(
            &Line::new().plain("  ").styled(GOOD, "healthy: "),
            Style::new(),
            "it carried nothing to wait for",
        );
    }
}

/// Vantage, handshake and directions.
fn print_facts(page: &mut Page, connection: &Connection) {
    let place = match connection.near {
        Near::Client => "captured next to the client",
        Near::Server => "captured next to the server",
        Near::Middle => "captured between the two ends",
        Near::Unknown => "where it was captured cannot be told",
    };
    let reason =
        if connection.near_reason.is_empty() { String::new() } else { format!(": {}", connection.near_reason) };
    page.wrapped(&Line::new().pad(2), Style::new(), &format!("{place}{reason}"));
    let closed = match (connection.state, connection.closed_by) {
        (State::Closed, Some(End::Client)) => ", closed by the client first",
        (State::Closed, Some(End::Server)) => ", closed by the server first",
        (State::Open, _) => ", still open at the end",
        _ => "",
    };
    let life = format!(
        "began at {}, lasted {}{closed}",
        units::seconds(connection.start_s),
        units::seconds(connection.duration_s)
    );
    page.wrapped(&Line::new().pad(2), Style::new(), &life);
    let samples = units::count(connection.rtt_ms.samples, "sample");
    if let Rtt { min: Some(min), p50: Some(p50), p95: Some(p95), .. } = connection.rtt_ms {
        let [min, p50, p95] = [min, p50, p95].map(units::millis);
        let text = format!("RTT {min} at least, {p50} typically, {p95} at the 95th percentile ({samples})");
        page.wrapped(&Line::new().pad(2), Style::new(), &text);
    }
    page.gap();
    if let Some(handshake) = &connection.handshake {
        print_handshake(page, handshake);
    }
    print_directions(page, connection);
}

fn print_handshake(page: &mut Page, handshake: &Handshake) {
    let mut table = Table::new(vec![
        Column::words("handshake"),
        Column::figures("MSS"),
        Column::figures("window scale"),
        Column::words("SACK"),
        Column::words("timestamps"),
        Column::figures("sent again"),
        Column::figures("RTT"),
    ]);
    let offered = |offered: Option<bool>| match offered {
        Some(true) => "yes",
        Some(false) => "no",
        None => "?",
    };
    for (end, name) in [(End::Client, "SYN"), (End::Server, "SYN-ACK")] {
        let i = end.index();
        table.row([
            name.to_owned(),
            handshake.mss[i].map_or("?".to_owned(), |mss| units::thousands(mss.into())),
            window_scale(handshake, i),
            offered(handshake.sack[i]).to_owned(),
            offered(handshake.timestamps[i]).to_owned(),
            units::thousands(handshake.retries[i]),
            handshake.rtt_ms.filter(|_| end == End::Client).map(units::millis).unwrap_or_default(),
        ]);
    }
    table.print(page, 2);
    page.gap();
}

/// As a factor; RFC 7323 section 2.3 has 14 as the greatest shift.
fn window_scale(handshake: &Handshake, end: usize) -> String {
    match handshake.window_scale[end] {
        Some(shift) => format!("×{}", units::thousands(1 << shift.min(14))),
        None if handshake.sack[end].is_none() => "?".to_owned(),
        None => "none".to_owned(),
    }
}

fn print_directions(page: &mut Page, connection: &Connection) {
    let mut table = Table::new(vec![
        Column::words("from"),
        Column::figures("bytes"),
        Column::figures("packets"),
        Column::figures("in flight"),
        Column::figures("window"),
        Column::figures("sent again"),
        Column::figures("out of order"),
        Column::figures("dup. ACKs").optional(),
        Column::figures("window shut").optional(),
    ]);
    let some = |value: u64| if value == 0 { "0".to_owned() } else { units::thousands(value) };
    let mut remarks = Vec::new();
    for direction in &connection.directions {
        let name = match direction.from {
            End::Client => "client",
            End::Server => "server",
        };
        let r = direction.retransmitted;
        let kinds = [
            (r.fast, "sent again after duplicate ACKs"),
            (r.timeout, "sent again after a timeout"),
            (r.tail_probe, "tail probes"),
            (r.spurious, "sent again needlessly"),
            (r.unseen_original, "of these lost before the capture point"),
            (direction.duplicated, "duplicated by the network"),
            (direction.window_probes, "window probes"),
            (direction.keep_alives, "keep-alives"),
            (direction.zero_windows, "ACKs that closed its window"),
        ];
        let told: Vec<_> =
            kinds.iter().filter(|kind| kind.0 > 0).map(|(n, kind)| format!("{kind} {}", some(*n))).collect();
        if !told.is_empty() {
            remarks.push(format!("from the {name}: {}", told.join(", ")));
        }
        let total = [r.fast, r.timeout, r.tail_probe, r.spurious].into_iter().fold(0, u64::saturating_add);
        table.row([
            name.to_owned(),
            some(direction.bytes),
            some(direction.packets),
            some(direction.max_in_flight),
            direction.max_window.map_or("?".to_owned(), units::thousands),
            some(total),
            some(direction.out_of_order),
            some(direction.duplicate_acks),
            if direction.zero_window_s > Nanos::ZERO { units::span(direction.zero_window_s) } else { String::new() },
        ]);
    }
    table.print(page, 2);
    for line in remarks {
        page.wrapped(&Line::new().pad(2), Style::new(), &line);
    }
    page.gap();
}
