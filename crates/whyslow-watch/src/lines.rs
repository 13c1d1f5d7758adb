//! Lines for a person, where there is no screen; and the summary.

use super::closed::{Account, ClosedConnection, ClosedTotals};
use super::json::Totals;
use super::record::Record;
use super::tally::Loss;
use std::fmt::Write as _;
use whyslow_analysis::{End, Finding};
use whyslow_report::headline::confidence;
use whyslow_report::text::{harmless, units};
use whyslow_report::words::{self, Lang};
use whyslow_units::{Nanos, Time, iso_8601};

/// A line for a report.
pub(super) fn record(record: &Record) -> String {
    let connection = &record.connection;
    let (client, server) = (connection.client.host_and_port(), connection.server.host_and_port());
    let what = record.transfer().map_or_else(
        || "connection".to_owned(),
        |transfer| {
            let way = if transfer.from == End::Client { "up" } else { "down" };
            format!("{} B {way}", units::thousands(transfer.bytes))
        },
    );
    let mut line = format!("{} {client} → {server}  {what} in {}", clock(record.end()), units::span(record.took()));
    match record.worst() {
        Some(worst) => {
            let sure = confidence(worst.confidence, Lang::En);
            let _ = write!(line, "  {} {} ({sure})", worst.cause, units::span(worst.cost_s));
        }
        None if record.transfer().is_some_and(|transfer| transfer.is_verdict_unknown()) => line += "  unknown",
        None => line += "  nothing slowed it",
    }
    if let Some(label) = record.transfer().and_then(|transfer| transfer.label.as_ref()) {
        let _ = write!(line, "  {label}");
    }
    if let Some(holder) = record.holders.all().next() {
        let _ = write!(line, "  [{}]", holder.text());
    }
    if record.revised {
        line += "  (told before; it went on)";
    }
    harmless(&line).into_owned()
}

/// A line for a connection that has closed.
pub(super) fn closed(closed: &ClosedConnection) -> String {
    let ClosedConnection { time, local, remote, holder, account } = closed;
    let (sent, received) = (units::thousands(account.sent_bytes), units::thousands(account.received_bytes));
    let mut line = format!("{} {local} → {remote}  closed: {sent} B sent, {received} B received", clock(*time));
    if account.sent_segments > 0 {
        let _ = write!(line, "  {}", sending(account));
    }
    if let Some(rtt) = account.min_rtt_ms {
        let _ = write!(line, "; RTT at least {}", units::span(Nanos::from_secs_f64(rtt / 1e3)));
    }
    if let Some(holder) = holder {
        let _ = write!(line, "  [{}]", holder.text());
    }
    harmless(&line).into_owned()
}

/// How long an account's data were outstanding, and why.
fn sending(account: &Account) -> String {
    let share = |part: Nanos| 100.0 * part.as_secs_f64() / account.sending_s.as_secs_f64().max(1e-9);
    format!(
        "sending {}, of it {:.0} % with a full receive window and {:.0} % with a full send buffer; \
         {} of {} retransmitted",
        units::span(account.sending_s),
        share(account.receive_window_s),
        share(account.send_buffer_s),
        units::thousands(account.retransmitted_segments),
        units::count(account.sent_segments, "segment"),
    )
}

/// A line for what connections of a minute had in common.
pub(super) fn together(finding: &Finding, now: Time) -> String {
    let connections = units::count(finding.connections.len() as u64, "connection");
    harmless(&format!("{} {connections} together: {}", clock(now), words::summary(finding, Lang::En))).into_owned()
}

/// The time of day, UTC, to the millisecond.
pub(super) fn clock(time: Time) -> String {
    let text = iso_8601(time);
    let day = text.split('T').nth(1).unwrap_or_default();
    format!("{}Z", day.get(..12).unwrap_or(day))
}

/// The watched connections, the largest costs, and the missing data.
pub(super) fn summary(totals: &Totals<'_>) -> String {
    let (tally, counts) = (totals.tally, totals.counts);
    let mut page = format!(
        "\n{} in {}: {} of {} lost time\n",
        units::count(counts.packets, "packet"),
        units::span(totals.lasted),
        units::thousands(tally.slow),
        units::count(tally.transfers, "transfer"),
    );
    let servers = tally.total.worst_servers(totals.top);
    let causes: Vec<_> =
        tally.total.worst_causes(totals.top).into_iter().map(|(cause, loss)| (cause.slug(), loss)).collect();
    table(&mut page, "lost by cause", &causes);
    table(&mut page, "lost by server", &servers);
    if let Some(ClosedTotals { connections, missed, sum }) = totals.closed() {
        let _ = writeln!(page, "{} closed: {}", units::count(connections, "connection"), sending(&sum));
        if missed > 0 {
            let _ = writeln!(page, "at least {} more closed faster than they were read", units::thousands(missed));
        }
    }
    let drops = counts.drops;
    for (count, what) in [
        (drops.ring, "dropped by the ring: this machine was too slow for them (a larger --ring, or a filter, helps)"),
        (drops.interface, "dropped by the interface before any filter"),
        (drops.cut, "longer than --snaplen: their first bytes were taken"),
    ] {
        if count > 0 {
            let _ = writeln!(page, "{} {what}", units::count(count, "packet"));
        }
    }
    if counts.unlisted > 0 {
        let _ = writeln!(
            page,
            "{} more had ended at once on one connection, and were not listed",
            units::count(counts.unlisted, "transfer")
        );
    }
    for problem in totals.problems {
        let _ = writeln!(page, "{}: {}", problem.slug, words::problem(problem, Lang::En));
    }
    page
}

fn table(page: &mut String, title: &str, rows: &[(&str, Loss)]) {
    if rows.is_empty() {
        return;
    }
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default().max(title.len());
    let _ = writeln!(page, "  {title:<width$}  {:>10}  transfers", "s, summed");
    for (name, loss) in rows {
        let seconds = format!("{:.3}", loss.seconds.as_secs_f64());
        let _ = writeln!(page, "  {:<width$}  {seconds:>10}  {:>9}", harmless(name), units::thousands(loss.transfers));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn line_of_a_closed_connection_has_the_kernels_figures() {
        let account = Account {
            sent_bytes: 1_048_576,
            received_bytes: 120,
            sent_segments: 731,
            retransmitted_segments: 3,
            sending_s: Nanos::from_millis(2_000),
            receive_window_s: Nanos::from_millis(900),
            send_buffer_s: Nanos::ZERO,
            min_rtt_ms: Some(20.1),
        };
        let one = ClosedConnection {
            time: Time::from_millis(1_500),
            local: "192.0.2.1:443".parse().unwrap(),
            remote: "[2001:db8::1]:50000".parse().unwrap(),
            holder: None,
            account,
        };
        let expected = "00:00:01.500Z 192.0.2.1:443 → [2001:db8::1]:50000  closed: 1,048,576 B sent, 120 B received  \
                        sending 2.00 s, of it 45 % with a full receive window and 0 % with a full send buffer; \
                        3 of 731 segments retransmitted; RTT at least 20.1 ms";
        assert_eq!(closed(&one), expected);
        let silent = ClosedConnection { account: Account::default(), ..one };
        assert_eq!(
            closed(&silent),
            "00:00:01.500Z 192.0.2.1:443 → [2001:db8::1]:50000  closed: 0 B sent, 0 B received"
        );
    }
}
