//! All other facts of a connection: vantage, handshake, directions.

use super::capture::near;
use crate::text::{Column, Line, Page, Table, units};
use crate::words;
use anstyle::Style;
use whyslow_analysis::{Connection, End, Handshake, Quic, Rtt, State};
use whyslow_units::Nanos;

/// Vantage, handshake and directions.
pub(super) fn print(page: &mut Page, connection: &Connection) {
    let place = near(connection.near).unwrap_or("captured at an unknown place");
    let reason = words::vantage(&connection.near_reason, page.lang());
    page.wrapped(&Line::new().pad(2), Style::new(), &format!("{place}: {reason}"));
    let closed = match (connection.state, connection.closed_by) {
        (State::Closed, Some(End::Client)) => ", closed by the client first",
        (State::Closed, Some(End::Server)) => ", closed by the server first",
        (State::Open, _) => ", still open at the end",
        _ => "",
    };
    let life = format!(
        "started at {}, lasted {}{closed}",
        units::seconds(connection.start_s),
        units::seconds(connection.duration_s)
    );
    page.wrapped(&Line::new().pad(2), Style::new(), &life);
    let samples = units::count(connection.rtt_ms.samples, "sample");
    if let Rtt { min: Some(min), p50: Some(p50), p95: Some(p95), .. } = connection.rtt_ms {
        let [min, p50, p95] = [min, p50, p95].map(units::millis);
        let text = format!("RTT minimum {min}, median {p50}, p95 {p95} ({samples})");
        page.wrapped(&Line::new().pad(2), Style::new(), &text);
    }
    page.gap();
    match (&connection.quic, &connection.handshake) {
        (Some(quic), _) => print_quic(page, quic),
        (None, Some(handshake)) => print_handshake(page, handshake),
        (None, None) => {}
    }
    print_directions(page, connection);
}

/// What the handshake of QUIC shows without keys.
fn print_quic(page: &mut Page, quic: &Quic) {
    let version = if quic.version == 1 { "1" } else { "2" };
    let mut facts = vec![format!("QUIC version {version}")];
    if !quic.alpn.is_empty() {
        facts.push(format!("the client offers {}", quic.alpn.join(", ")));
    }
    let parts = [
        (quic.retry, "the server asked the client to prove its address (Retry), one round trip more"),
        (quic.version_negotiation, "the server answered with the versions that it speaks, one round trip more"),
    ];
    facts.extend(parts.iter().filter(|(is, _)| *is).map(|(_, fact)| (*fact).to_owned()));
    if quic.initial_retransmissions > 0 {
        facts.push(format!("first packet sent again {}", units::count(quic.initial_retransmissions, "time")));
    }
    if quic.amplification_wait_s > Nanos::ZERO {
        let waited = units::span(quic.amplification_wait_s);
        facts.push(format!("the server had sent three times what it had received, and waited {waited}"));
    }
    if quic.migrations > 0 {
        facts.push(format!("the client's address or port changed {}", units::count(quic.migrations, "time")));
    }
    page.wrapped(&Line::new().pad(2), Style::new(), &facts.join("; "));
    let client = &quic.client;
    let windows = [
        (client.initial_max_data, "all streams together"),
        (client.initial_max_stream_data_bidi_local, "a response"),
        (client.initial_max_stream_data_uni, "a one-way stream"),
    ];
    let windows = windows.iter().filter_map(|(bytes, of)| Some(format!("{} for {of}", units::bytes((*bytes)?))));
    let windows: Vec<String> = windows.collect();
    if !windows.is_empty() {
        let text = format!("the client's first windows: {}", windows.join(", "));
        page.wrapped(&Line::new().pad(2), Style::new(), &text);
    }
    page.gap();
}

fn print_handshake(page: &mut Page, handshake: &Handshake) {
    let mut table = Table::new(vec![
        Column::words("handshake"),
        Column::figures("MSS"),
        Column::figures("window scale"),
        Column::words("SACK"),
        Column::words("timestamps"),
        Column::figures("retransmitted"),
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
        Column::figures("retransmitted"),
        Column::figures("out of order"),
        Column::figures("dup. ACKs").optional(),
        Column::figures("zero window").optional(),
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
            (r.fast, "retransmitted after duplicate ACKs"),
            (r.timeout, "retransmitted after a timeout"),
            (r.tail_probe, "tail loss probes"),
            (r.spurious, "spuriously retransmitted"),
            (r.unseen_original, "of these lost before the capture point"),
            (direction.duplicated, "duplicated by the network"),
            (direction.window_probes, "window probes"),
            (direction.keep_alives, "keep-alives"),
            (direction.zero_windows, "zero windows"),
            (direction.window_full, "window full"),
        ];
        let facts: Vec<_> =
            kinds.iter().filter(|kind| kind.0 > 0).map(|(n, kind)| format!("{kind} {}", some(*n))).collect();
        if !facts.is_empty() {
            remarks.push(format!("from the {name}: {}", facts.join(", ")));
        }
        let total = [r.fast, r.timeout, r.tail_probe, r.spurious].into_iter().fold(0, u64::saturating_add);
        table.row([
            name.to_owned(),
            some(direction.bytes),
            some(direction.packets),
            some(direction.max_in_flight),
            direction.max_window.map_or("?".to_owned(), units::thousands),
            if connection.quic.is_some() { "?".to_owned() } else { some(total) },
            if connection.quic.is_some() { "?".to_owned() } else { some(direction.out_of_order) },
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
