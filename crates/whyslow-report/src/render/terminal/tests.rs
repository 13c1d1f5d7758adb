#![allow(clippy::unwrap_used)]

use super::super::example::{self, analysis, connection, transfer};
use super::*;
use crate::text::width;
use anstyle::{AnsiColor, Effects, Style};
use serde_json::Value;
use whyslow_analysis::{LimitingFactor, Rtt, State};

pub(super) use super::super::example::ALL_LIMITS;

fn plain(analysis: &Analysis, view: View) -> String {
    anstream::adapter::strip_str(&page(analysis, view)).to_string()
}

fn brief(width: usize) -> View {
    View { width, top: None, full: false, transfer: None, lang: crate::words::Lang::En }
}

fn full(width: usize) -> View {
    View { full: true, ..brief(width) }
}

/// One snapshot a width.
fn snapshot(name: &str, analysis: &Analysis, view: fn(usize) -> View) {
    for columns in [80, 120] {
        insta::assert_snapshot!(format!("{name}_{columns}"), plain(analysis, view(columns)));
    }
    assert_eq!(plain(analysis, view(usize::MAX)), plain(analysis, view(200)));
}

#[test]
fn one_slow_transfer_is_one_screen() {
    let slow = example::slow_start();
    snapshot("slow_start", &slow, brief);
    assert!(plain(&slow, brief(80)).lines().count() <= 40);
}

#[test]
fn a_healthy_transfer_is_reported_as_healthy() {
    snapshot("healthy", &example::healthy(), brief);
}

#[test]
fn problems_come_before_findings() {
    snapshot("damaged", &example::damaged(), brief);
}

#[test]
fn unread_parts_are_reported_first() {
    let mut stopped = example::slow_start();
    stopped.partial = true;
    assert!(plain(&stopped, brief(80)).starts_with("partial: reading was stopped: something was not read\n"));
    stopped.captures[0].problems.push(example::problem("partial", 1, "reading was stopped after 1.0 MB of 9.9 MB"));
    let page = plain(&stopped, brief(80));
    assert!(page.starts_with("partial: reading was stopped after 1.0 MB of 9.9 MB\nThe download"), "{page}");
    assert_eq!(page.matches("partial").count(), 1, "{page}");
}

#[test]
fn exchanges_name_the_waiting_side() {
    let mut reused = example::reused();
    reused.connections[0].exchanges = example::exchanges(2);
    reused.connections[0].exchanges_total = 9;
    reused.connections[0].response_times = Some(example::response_times(9, 26));
    snapshot("exchanges", &reused, brief);
    let mut alike = example::reused();
    let one = example::exchanges(0)[1].clone();
    alike.connections[0].exchanges = vec![one; 16];
    alike.connections[0].exchanges_total = 40;
    alike.connections[0].response_times = Some(example::response_times(40, 31));
    let page = plain(&alike, brief(80));
    assert!(page.contains("  40 exchanges: response time median 31.0 ms"), "not that of the 16 listed: {page}");
    assert!(!page.contains("▁"), "a histogram of the longest waits would mislead: {page}");
    alike.connections[0].response_times = Some(example::response_times(38, 31));
    assert!(plain(&alike, brief(80)).contains("  40 exchanges, 38 of them measured: response time median 31.0 ms"));
}

#[test]
fn several_transfers_on_one_connection() {
    snapshot("reused", &example::reused(), brief);
}

#[test]
fn many_connections_are_ranked() {
    snapshot("many", &example::many(), brief);
}

#[test]
fn a_connection_in_two_captures_is_printed_once_from_the_senders_end() {
    let both = example::both_ends();
    snapshot("both_ends", &both, brief);
    let page = plain(&both, brief(100));
    assert_eq!(page.matches("  slow-start   ").count(), 1);
    // Many connections have a sum too.
    let mut many = both.clone();
    let (mut pair, mut connection) = (both.pairs[0].clone(), both.connections[1].clone());
    (connection.id, pair.connections, pair.shown) = (3, [3, 4], 3);
    many.connections.push(connection);
    many.pairs.push(pair);
    let page = plain(&many, View { top: Some(2), ..brief(100) });
    assert!(page.contains("2 connections are in two captures: of 1,430 packets between these 24 were lost"), "{page}");
    assert_eq!(page.matches("both        lost between").count(), 2, "{page}");
    // A requested connection is always printed.
    let mut other = both.clone();
    other.connections.remove(1);
    assert_eq!(plain(&other, full(100)).matches("  slow-start   ").count(), 1);
}

#[test]
fn one_connection_in_full() {
    snapshot("full", &example::slow_start(), full);
    snapshot("full_damaged", &example::damaged(), full);
}

#[test]
fn connections_without_payload_have_their_state() {
    let mut pages = String::new();
    for state in [State::Unanswered, State::Refused, State::HalfClosed, State::Reset, State::Open, State::Closed] {
        pages += &format!("== {state:?}\n{}", plain(&example::without_payload(state), brief(80)));
    }
    insta::assert_snapshot!("without_payload_80", pages);
}

#[test]
fn icmp_errors_are_printed_with_the_connection() {
    let analysis = example::icmp_errors();
    let pages = plain(&analysis, brief(80)) + &plain(&analysis, full(100));
    insta::assert_snapshot!("told_by_icmp", pages);
}

#[test]
fn rounds_in_the_middle_are_left_out() {
    let mut slow = example::slow_start();
    let one = &mut slow.connections[0].transfers[0];
    let last = one.rounds.last().unwrap().clone();
    one.rounds.resize(20, last);
    one.rounds_total = 20;
    assert!(plain(&slow, brief(100)).contains("…  12 more rounds\n"));
    let mut nine = slow.clone();
    nine.connections[0].transfers[0].rounds.truncate(9);
    nine.connections[0].transfers[0].rounds_total = 9;
    assert!(!plain(&nine, brief(100)).contains("more round"));
    assert!(!plain(&slow, full(100)).contains("more round"));
    slow.connections[0].transfers[0].rounds_total = 1_020;
    assert!(plain(&slow, brief(100)).contains("…  1,012 more rounds\n"));
    assert!(plain(&slow, full(100)).contains("…  1,000 more rounds\n"));
}

#[test]
fn a_round_trip_time_that_varies_shows_its_range() {
    let mut varied = example::healthy();
    varied.connections[0].rtt_ms = Rtt { min: Some(20.0), p50: Some(80.0), p95: Some(380.0), samples: 9 };
    assert!(plain(&varied, brief(100)).contains("RTT 20.0 ms to 380 ms"));
    varied.connections[0].rtt_ms = Rtt::default();
    assert!(plain(&varied, brief(100)).contains("RTT unknown"));
}

#[test]
fn nothing_to_explain_has_a_message() {
    assert!(plain(&analysis(Vec::new()), brief(80)).contains("There is no TCP connection to explain."));
}

#[test]
fn every_page_fits_its_width_and_steers_no_terminal() {
    let everything = example::everything();
    let pages = everything.connections.iter().map(|one| analysis(vec![one.clone()])).chain([everything.clone()]);
    for one in pages {
        for columns in [0, 60, 79, 80, 100, 200, usize::MAX] {
            for view in [brief(columns), full(columns)] {
                let text = plain(&one, view);
                assert!(!text.contains(|c: char| c.is_control() && c != '\n' || c == '\u{202e}'), "{text}");
                if columns >= 79 {
                    // A command and a name are never broken.
                    let long = |line: &str| line.contains(".pcap") || line.contains("net.ipv4.tcp_rmem=");
                    let wide: Vec<_> = text.lines().filter(|line| width(line) > columns && !long(line)).collect();
                    assert!(wide.is_empty(), "at {columns}: {wide:#?}\n{text}");
                }
            }
        }
    }
}

#[test]
fn what_took_hardly_any_time_is_named_in_full_only() {
    let one = transfer(1, 0.0, &[], &[(LimitingFactor::SlowStart, 999.0), (LimitingFactor::RoundTrip, 1.0)]);
    let one = analysis(vec![connection(1, vec![one])]);
    assert!(!plain(&one, brief(80)).contains("I round trip"));
    assert!(plain(&one, full(80)).contains("I round trip 1.0 ms"));
}

#[test]
fn a_count_is_not_printed_twice() {
    let mut one = example::healthy();
    one.connections[0].problems =
        vec![example::problem("a", 1_336, "1336 of 3853 packets"), example::problem("b", 2_000, "some packets")];
    let text = plain(&one, brief(80));
    assert!(text.contains("1336 of 3853 packets\n") && text.contains("some packets (2,000 times)\n"), "{text}");
}

/// The page has a table of its own, in `web/src/limits.json`.
#[test]
fn the_page_names_and_colours_limits_as_the_terminal_does() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/src/limits.json");
    let table: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(table.as_object().unwrap().len(), ALL_LIMITS.len());
    for limit in ALL_LIMITS {
        let row = &table[serde_json::to_value(limit).unwrap().as_str().unwrap()];
        let color = match row["group"].as_str().unwrap() {
            "setup" => AnsiColor::Blue.on_default(),
            "program" => AnsiColor::Magenta.on_default(),
            "window" => AnsiColor::Cyan.on_default(),
            "start" => AnsiColor::Yellow.on_default(),
            "ack" => AnsiColor::BrightMagenta.on_default(),
            "loss" => AnsiColor::Red.on_default(),
            "path" => AnsiColor::Green.on_default(),
            "unknown" => Style::new().effects(Effects::DIMMED),
            other => panic!("no colour for {other}"),
        };
        assert_eq!(names::color(limit), color, "{limit:?}");
        assert_eq!(row["name"], names::limit(limit), "{limit:?}");
        assert_eq!(row["letter"], names::letter(limit).to_string(), "{limit:?}");
    }
}

#[test]
fn colour_adds_no_information_to_the_letters() {
    let every: Vec<_> = ALL_LIMITS.iter().map(|&limit| (limit, 10.0)).collect();
    let text = plain(&analysis(vec![connection(1, vec![transfer(1, 0.0, &[], &every)])]), brief(100));
    for limit in ALL_LIMITS {
        assert!(text.contains(&format!("{} {}", names::letter(limit), names::limit(limit))), "{limit:?}\n{text}");
    }
    assert!(text.contains("HHHH") && text.contains("????"), "{text}");
    assert!(names::limit(LimitingFactor::Idle).len() > 1);
}
