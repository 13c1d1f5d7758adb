//! Every exchange opened a new connection.
//!
//! ## What it is
//! A new connection costs a round trip for TCP, one or two for TLS, those of a login (a database's,
//! a file server's), and slow start from the beginning. A client that opens one for each request
//! pays that every time: 1 MB over a path of 200 ms takes 1.9 s on a new connection and 0.4 s on a
//! used one.
//!
//! ## How it is recognised
//! Three or more connections from one client to one server, one after the other and no more than 75
//! s apart, whose handshakes, logins and slow starts make up a fifth or more of their time.
//!
//! ## What it is confused with
//! - one-shots on purpose: health checks, cron jobs, far apart in time.
//! - several connections at once (browsers): these overlap and are not counted.
//!
//! ## The fix
//! Keep connections open: HTTP keep-alive, one client object with a pool (Python
//! `requests.Session`, Go's default transport with its bodies read to the end, Java `HttpClient`
//! shared). nginx to its upstreams: `keepalive 32;`, `proxy_http_version 1.1;`, `proxy_set_header
//! Connection "";`. HAProxy: `http-reuse safe`. The end that sends FIN first is the one that
//! closes.
//!
//! ## To see that it worked
//! `ss -tn` on the client shows the same local port from one request to the next; `curl -v` reports
//! that it re-uses the connection.
//!
//! ## References
//! RFC 9112 section 9.3; RFC 8446 section 2.3 (0-RTT).

use super::parts::{evidence, remedy};
use super::rule::{Check, Rule, Saving};
use super::rule_input::ConnectionSummary;
use std::collections::BTreeMap;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{
    Actor, CloseKind, ClosedFirst, End, ExchangeAction, ExchangeStatement, Finding, Frame, Measure, Unit, host_and_port,
};
use whyslow_units::{Nanos, Time};

pub(super) const RULE: Rule = Rule::new(Cause::NewConnectionEachTime, Check::Across(check)).saves(Saving::Predicted);

/// Minimum number of connections one after the other. Half and twice change 4 and 1 of 2,061
/// captures.
const LEAST: usize = 3;
/// Minimum share of the series' time that openings and slow starts took: twice the share at which a
/// cost counts as slow. Measured on the collection: a program that asks once a minute on a new
/// connection spends 532 ms of 4.08 s there, and may have a reason to close it.
const SHARE: f64 = 0.2;
/// A connection that is not used for longer is closed by servers anyway (nginx documentation:
/// keepalive_timeout, 75 s).
const KEEPALIVE_TIMEOUT: Nanos = Nanos::from_millis(75_000);

fn check(summaries: &[ConnectionSummary]) -> Vec<Finding> {
    let mut groups: BTreeMap<_, Vec<&ConnectionSummary>> = BTreeMap::new();
    for outline in summaries.iter().filter(|outline| outline.bytes > 0) {
        groups.entry((outline.client, outline.server)).or_default().push(outline);
    }
    groups.values_mut().filter_map(|group| check_group(group)).collect()
}

/// Connections one after the other: those that begin while an earlier one lasts are a pool at work.
/// After a long pause a connection has to be opened in any case, and another series begins.
fn series_of<'a>(group: &[&'a ConnectionSummary]) -> Vec<Vec<&'a ConnectionSummary>> {
    let mut busy_until = Time::MIN;
    let mut runs: Vec<Vec<&ConnectionSummary>> = Vec::new();
    for outline in group.iter() {
        if outline.start >= busy_until {
            match runs.last_mut().filter(|_| (outline.start - busy_until) <= KEEPALIVE_TIMEOUT) {
                Some(run) => run.push(*outline),
                None => runs.push(vec![*outline]),
            }
        }
        busy_until = busy_until.max(outline.end);
    }
    runs
}

fn check_group(group: &mut Vec<&ConnectionSummary>) -> Option<Finding> {
    group.sort_by_key(|outline| outline.start);
    let mut runs = series_of(group);
    let alone: usize = runs.iter().map(Vec::len).sum();
    runs.retain(|run| run.len() >= LEAST);
    let series: Vec<&ConnectionSummary> = runs.iter().flatten().copied().collect();
    if series.is_empty() || alone * 10 < group.len() * 7 {
        return None;
    }
    let again = runs.iter().flat_map(|run| &run[1..]);
    let lost: Nanos = again.map(|outline| outline.handshakes + outline.slow_start).sum();
    let whole: Nanos = series.iter().map(|outline| outline.end - outline.start + outline.unseen).sum();
    if (lost.0 as f64) < SHARE * whole.0 as f64 || lost < whyslow_analysis::types::MIN_NOTICEABLE_DELAY {
        return None;
    }
    let first = series[0];
    let closings = |end: End| -> Vec<Frame> {
        let by = |outline: &&ConnectionSummary| outline.closed_by.filter(|(by, _)| *by == end).map(|(_, frame)| frame);
        series.iter().filter_map(by).collect()
    };
    let (by_client, by_server) = (closings(End::Client), closings(End::Server));
    let (client, server) = (by_client.len(), by_server.len());
    let are_reset = series.iter().filter(|outline| outline.reset).count() * 2 > series.len();
    let with = if are_reset { CloseKind::Rst } else { CloseKind::Fin };
    let statement = ExchangeStatement::NewConnections {
        connections: series.len() as u64,
        server: first.name.clone().unwrap_or_else(|| host_and_port(&first.addresses[1], first.server.1)),
        opening_s: lost,
        whole_s: whole,
        closed: ClosedFirst { with, by_client: client as u64, by_server: server as u64 },
    };
    let mut found = super::parts::finding(Cause::NewConnectionEachTime, lost, 0.85, statement);
    let frames: Vec<_> = series.iter().take(6).map(|outline| outline.first_frame).collect();
    found.evidence.push(evidence(Measure::SequentialConnections, series.len() as f64, Unit::Connections, &frames));
    let first = |frames: &[Frame]| frames.iter().copied().take(6).collect::<Vec<_>>();
    found.evidence.push(evidence(Measure::ClosedByClient, client as f64, Unit::Connections, &first(&by_client)));
    found.evidence.push(evidence(Measure::ClosedByServer, server as f64, Unit::Connections, &first(&by_server)));
    let asked = series.iter().filter(|outline| outline.client_wants_close).count();
    // A server that closes because it was asked to has nothing to change.
    let by = if client + asked >= server { End::Client } else { End::Server };
    found.remedies = remedy(Actor::Application, ExchangeAction::KeepConnections { by });
    found.connections = series.iter().map(|outline| outline.id).collect();
    // Closing them is not part of either: a client that keeps a connection open does not wait for
    // the closes.
    found.promise(Some((whole - lost).or_zero()));
    Some(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::limit;
    use crate::rules::synthetic_transfer::{SyntheticTransfer, at_ms, ms};
    use whyslow_core::tcp::facts::TransferFacts;

    /// The handshake's time of a client that sent records of TLS up to these places, the last one
    /// from 300 ms on.
    fn tls(first: Option<(u64, u64)>, second: Option<u64>, end: u64) -> Option<Nanos> {
        let mut scene = SyntheticTransfer::flights(&[8_000]);
        let at = |seq, time| TransferFacts { seq, start: at_ms(time), ..TransferFacts::default() };
        scene.facts.handshake.ack = Some((at_ms(100), scene.facts.first_frame));
        scene.facts.directions[0].transfers = vec![at((1, 518), 110), at((518, 611), 210), at((611, end), 300)];
        let content = &mut scene.facts.content[0];
        (content.handshake_end, content.first_application_data) = (Some(611), first);
        content.second_application_data = second;
        limit::tls_handshake(&scene.facts).map(|(time, _)| time)
    }

    #[test]
    fn small_request_ends_the_tls_handshake() {
        assert_eq!(tls(Some((611, 720)), None, 720), Some(ms(200)), "TLS 1.2: 109 B behind the Finished");
        assert_eq!(tls(Some((611, 685)), Some(685), 780), Some(ms(200)), "TLS 1.3: a Finished before it");
        assert_eq!(tls(Some((611, 685)), None, 685), None, "a Finished alone");
        assert_eq!(tls(None, None, 642), None, "an alert");
        assert_eq!(tls(None, None, 900), Some(ms(200)), "not visible in the records");
    }

    /// Connections of 300 ms, 250 of them before the first byte, that begin at these seconds.
    fn found(starts: &[i64]) -> Option<Finding> {
        found_with(starts, |_| ())
    }

    fn found_with(starts: &[i64], change: fn(&mut ConnectionSummary)) -> Option<Finding> {
        let outline = |(id, &start): (u64, &i64)| ConnectionSummary {
            id,
            client: [192, 0, 2, 1].into(),
            server: ([192, 0, 2, 2].into(), 80),
            addresses: ["client".into(), "x.x.x.x1".into()],
            name: None,
            start: Time::from_millis(1_000 * start),
            end: Time::from_millis(1_000 * start + 300),
            handshakes: Nanos::from_millis(250),
            slow_start: Nanos::ZERO,
            unseen: Nanos::ZERO,
            bytes: 1_000,
            closed_by: None,
            client_wants_close: false,
            reset: false,
            early_exit: None,
            lookup: None,
            first_frame: Frame { file: None, number: 1 },
        };
        let mut summaries: Vec<_> = (1..).zip(starts).map(outline).collect();
        summaries.iter_mut().for_each(change);
        check(&summaries).pop()
    }

    #[test]
    fn sequential_connections_are_a_series() {
        let finding = found(&[0, 1, 30, 100]).unwrap();
        assert_eq!(
            (finding.connections.as_slice(), finding.cost_s),
            ([1, 2, 3, 4].as_slice(), Nanos::from_millis(750))
        );
        assert_eq!(finding.predicted(), Some(Nanos::from_millis(4 * 300 - 750)));
        let statement = ExchangeStatement::NewConnections {
            connections: 4,
            // As the capture writes the address.
            server: "x.x.x.x1:80".to_owned(),
            opening_s: ms(750),
            whole_s: ms(1_200),
            closed: ClosedFirst { with: CloseKind::Fin, by_client: 0, by_server: 0 },
        };
        assert_eq!(finding.statement, statement.into());
    }

    #[test]
    fn server_asked_to_close_gets_no_remedy() {
        let by =
            |change: fn(&mut ConnectionSummary)| found_with(&[0, 1, 2], change).unwrap().remedies[0].action.clone();
        let keep = |by| whyslow_analysis::Action::from(ExchangeAction::KeepConnections { by });
        let closed = |one: &mut ConnectionSummary| one.closed_by = Some((End::Server, one.first_frame));
        assert_eq!(by(closed), keep(End::Server));
        let asked = |one: &mut ConnectionSummary| {
            (one.closed_by, one.client_wants_close) = (Some((End::Server, one.first_frame)), true);
        };
        assert_eq!(by(asked), keep(End::Client));
    }

    #[test]
    fn connections_far_apart_are_not_a_series() {
        assert!(found(&[0, 1_320, 2_640, 3_960]).is_none());
        assert!(found(&[0, 1, 1_320, 1_321]).is_none());
        // The first one after a long pause has to be opened in any case.
        let finding = found(&[0, 1, 2, 1_320, 2_640, 2_641, 2_642]).unwrap();
        assert_eq!(
            (finding.connections.as_slice(), finding.cost_s),
            ([1, 2, 3, 5, 6, 7].as_slice(), Nanos::from_millis(1_000))
        );
    }
}
