//! A connection: its ends, how it went, its transfers.

use super::finding::{self, Context};
use super::{exchanges, facts, names, notes, requests, rounds, timeline, transfer, transfers};
use crate::ranking;
use crate::text::styles::{BOLD, DIM};
use crate::text::{Line, Page, units};
use crate::words;
use anstyle::Style;
use whyslow_analysis::{Connection, End, Finding, Rtt, State};
use whyslow_units::Nanos;

/// Prints a single connection; `source` names the source of its packets.
pub(super) fn print(page: &mut Page, connection: &Connection, source: &str) {
    print_header(page, connection, None, source);
    print_state(page, connection);
    print_errors(page, connection);
    print_lookup(page, connection);
    print_decryption(page, connection);
    print_body(page, connection, false);
}

/// Prints a connection with everything that is known of it.
///
/// With `only`, a transfer's number from 1, without its other transfers.
pub(super) fn print_full(page: &mut Page, connection: &Connection, only: Option<usize>, source: &str) {
    print_header(page, connection, Some(connection.id), source);
    print_state(page, connection);
    facts::print(page, connection);
    print_errors(page, connection);
    print_lookup(page, connection);
    print_decryption(page, connection);
    match only.and_then(|number| connection.transfers.get(number.checked_sub(1)?).map(|one| (number, one))) {
        Some((number, one)) => transfers::print_one(page, connection, number - 1, one),
        None => print_body(page, connection, true),
    }
}

/// Where the time went, and why: what cost most comes first.
fn print_body(page: &mut Page, connection: &Connection, full: bool) {
    let (first, rest) = ranked(connection);
    print_findings(page, &first);
    let leads = first.is_empty();
    if !leads {
        exchanges::print(page, connection, full);
    }
    match (connection.transfers.as_slice(), full) {
        ([], _) => {}
        ([one], _) => transfer::print(page, one, full),
        (all, true) => transfers::print_all(page, connection, all),
        (several, false) => transfers::print_main(page, connection, several),
    }
    if leads {
        exchanges::print(page, connection, full);
    }
    requests::print(page, connection, full);
    if !full && connection.transfers.len() > 1 && !transfers::is_alone(connection) {
        transfers::print_others(page, connection, &connection.transfers);
    }
    print_findings(page, &rest);
}

/// The two ends and what went between them.
pub(super) fn print_header(page: &mut Page, connection: &Connection, id: Option<u64>, source: &str) {
    page.gap();
    let number = id.map_or(String::new(), |id| format!("#{id}  "));
    let ends = Line::new()
        .styled(BOLD, &number)
        .styled(BOLD, &names::endpoint(&connection.client))
        .plain(" → ")
        .styled(BOLD, &names::endpoint(&connection.server));
    let figures = Line::new().plain(&figures(connection)).plain("   ").plain(&rtt(connection));
    let source = Line::new().styled(DIM, source);
    let parts: Vec<Line> = [ends, figures, source].into_iter().filter(|part| part.width() > 0).collect();
    let mut line = Line::new();
    for (index, part) in parts.iter().enumerate() {
        if index > 0 && line.width() + 3 + part.width() > page.width() {
            page.line(&line);
            line = Line::new().pad(2).line(part);
        } else {
            let gap = if index > 0 { "   " } else { "" };
            line = line.plain(gap).line(part);
        }
    }
    page.line(&line);
}

/// A connection's payload: its transfer's figures, or those of both directions if it has several.
fn figures(connection: &Connection) -> String {
    let quic = connection.quic.as_ref().map_or(String::new(), |quic| format!("{}   ", quic.label()));
    if let Some(one) = transfers::alone(connection) {
        return quic + &transfer::figures(one);
    }
    quic + &match connection.transfers.as_slice() {
        [] => format!("no payload{}", time(connection)),
        _ => {
            let [up, down] = ranking::payload(connection);
            format!("{} up, {} down{}", units::bytes(up), units::bytes(down), time(connection))
        }
    }
}

/// Its duration; a text capture may have no times.
fn time(connection: &Connection) -> String {
    match connection.duration_s {
        Nanos::ZERO => String::new(),
        duration => format!(" in {}", units::seconds(duration)),
    }
}

/// `RTT 25.8 ms`; minimum to 95th percentile where it varies.
pub(super) fn rtt(connection: &Connection) -> String {
    match connection.rtt_ms {
        Rtt { min: Some(min), p95: Some(p95), .. } if p95 > 1.5 * min && p95 - min > 1.0 => {
            format!("RTT {} to {}", units::millis(min), units::millis(p95))
        }
        Rtt { p50: Some(typical), .. } | Rtt { min: Some(typical), .. } => format!("RTT {}", units::millis(typical)),
        _ => "RTT unknown".to_owned(),
    }
}

/// Prints the ICMP errors for its packets, a line each.
fn print_errors(page: &mut Page, connection: &Connection) {
    for error in &connection.icmp {
        let frame = names::frames(&[error.frame]);
        let place = match error.count {
            1 => frame,
            count => format!("{} times, first in {frame}", units::thousands(count)),
        };
        let text = format!("{} ({place})", words::icmp_error(error, page.lang()));
        page.hanging(&Line::new().pad(2).plain("ICMP: "), Style::new(), &text, 4);
    }
    let listed: u64 = connection.icmp.iter().map(|error| error.count).sum();
    let others = connection.icmp_total.saturating_sub(listed);
    if others > 0 {
        let text =
            format!("{} that say something else, or come from elsewhere", units::count(others, "more ICMP error"));
        page.hanging(&Line::new().pad(2).plain("… "), Style::new(), &text, 4);
    }
}

/// Prints the lookup that it waited for.
fn print_lookup(page: &mut Page, connection: &Connection) {
    if let Some(lookup) = &connection.lookup {
        let text = words::lookup(lookup, page.lang());
        page.hanging(&Line::new().pad(2), Style::new(), &text, 4);
    }
}

/// Prints how far its TLS was decrypted, if secrets were given.
fn print_decryption(page: &mut Page, connection: &Connection) {
    if let Some(decryption) = &connection.decryption {
        let text = words::decryption(decryption, page.lang());
        page.hanging(&Line::new().pad(2), Style::new(), &text, 4);
    }
}

/// Prints the final state, if it deserves a line.
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
            let who = if connection.icmp.is_empty() { "no response" } else { "no response of the server" };
            format!("{who}: {} sent", units::count(sent, "SYN"))
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

/// The connection's own findings: those that cost more than any of its transfers', and the rest.
fn ranked(connection: &Connection) -> (Vec<&Finding>, Vec<&Finding>) {
    let main = ranking::main_cause(connection);
    // The headline's comes first, even where it costs no more than another cause's costliest.
    let leads = |own: &Finding| {
        main.is_some_and(|main| main.transfer.is_none() && main.finding.cause == own.cause && own.is_waited_for())
    };
    let in_transfers = connection.transfers.iter().flat_map(|one| &one.findings).filter(|one| one.is_waited_for());
    let most = in_transfers.map(|finding| finding.cost_s).max().unwrap_or(Nanos::ZERO);
    let is_led_by_transfer = main.is_some_and(|main| main.transfer.is_some());
    let is_first = |own: &&Finding| leads(own) || (!is_led_by_transfer && own.is_waited_for() && own.cost_s > most);
    connection.findings.iter().partition(is_first)
}

fn print_findings(page: &mut Page, findings: &[&Finding]) {
    for own in findings {
        page.gap();
        finding::print(page, own, &Context::default());
    }
}

/// Prints the finding of a connection's main cause with its rounds, and the other causes in a line.
pub(super) fn print_main(page: &mut Page, connection: &Connection, source: &str) {
    print_header(page, connection, Some(connection.id), source);
    notes::print_of_connection(page, &connection.problems, 2);
    let Some(main) = ranking::main_cause(connection) else { return };
    let transfer = main.transfer.and_then(|index| connection.transfers.get(index));
    if let (Some(index), Some(slowed)) = (main.transfer, transfer) {
        transfers::print_header(page, connection, index, slowed);
        timeline::print(page, slowed, false, 2);
    }
    page.gap();
    finding::print(page, main.finding, &Context { transfer, rounds: transfer.map(|_| rounds::FEW) });
    let others: Vec<_> = ranking::causes(connection)
        .iter()
        .filter(|(cause, _)| *cause != main.finding.cause)
        .map(|&(cause, seconds)| finding::named(cause.slug(), units::short(seconds), seconds))
        .collect();
    if !others.is_empty() {
        page.wrapped(&finding::label("also"), Style::new(), &others.join(", "));
    }
}
