#![allow(clippy::unwrap_used)]

use super::super::tests::read;
use crate::capture::Lookup;
use whyslow_units::Nanos;

fn lookups(text: &str) -> Vec<Lookup> {
    read(text).summary.lookups
}

#[test]
fn lookup_lasts_from_query_to_response() {
    let found = lookups(
        "10:00:00.000000 IP 192.0.2.1.53422 > 192.0.2.53.53: 12345+ [1au] A? www.example.com. (44)\n\
         10:00:00.000100 IP 192.0.2.1.53422 > 192.0.2.53.domain: 777+ AAAA? www.example.com. (44)\n\
         10:00:00.023000 IP 192.0.2.53.53 > 192.0.2.1.53422: 12345 3/0/1 CNAME example.com., A 192.0.2.9, A 192.0.2.8 (90)\n\
         10:00:00.040100 IP 192.0.2.53.domain > 192.0.2.1.53422: 777 NXDomain* 0/1/1 (100)\n",
    );
    let lookups: Vec<_> =
        found.iter().map(|one| (one.kind.as_str(), one.took.unwrap().0 / 1_000, one.answers)).collect();
    assert_eq!(lookups, [("A", 23_000, Some(3)), ("AAAA", 40_000, Some(0))]);
    assert_eq!((found[0].client.as_str(), found[0].server.as_str()), ("192.0.2.1", "192.0.2.53"));
    assert_eq!((found[0].name.as_str(), found[0].queries), ("www.example.com", 1));
    assert_eq!((found[0].refusal.as_deref(), found[1].refusal.as_deref()), (None, Some("NXDomain")));
}

#[test]
fn retransmitted_query_continues_the_lookup() {
    let found = lookups(
        "10:00:00.000000 IP client.40000 > resolver.53: 5+ A? a.example. (27)\n\
         10:00:05.000000 IP client.40001 > other.53: 6+ A? a.example. (27)\n\
         10:00:05.020000 IP other.53 > client.40001: 6 1/0/0 A 192.0.2.7 (43)\n\
         10:00:06.000000 IP resolver.53 > client.40000: 5 1/0/0 A 192.0.2.7 (43)\n",
    );
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].queries, found[0].took), (2, Some(Nanos::from_millis(5_020))));
    assert_eq!((found[0].client.as_str(), found[0].server.as_str()), ("client", "other"));
}

#[test]
fn verbose_lines_are_read() {
    let found = lookups(
        "10:00:00.000000 IP (tos 0x0, ttl 64, id 1, offset 0, flags [DF], proto UDP (17), length 55)\n    \
         192.0.2.1.5000 > 192.0.2.53.53: [udp sum ok] 9+ A? a.example. (27)\n\
         10:00:00.010000 IP (tos 0x0, ttl 60, id 2, offset 0, flags [none], proto UDP (17), length 80)\n    \
         192.0.2.53.53 > 192.0.2.1.5000: [udp sum ok] 9 q: A? a.example. 1/0/0 a.example. [5m] A 192.0.2.7 (43)\n",
    );
    assert_eq!((found[0].took, found[0].answers), (Some(Nanos::from_millis(10)), Some(1)));
}

#[test]
fn lookup_without_response_or_times_has_no_duration() {
    let query = "IP 192.0.2.1.5000 > 192.0.2.53.53: 9+ A? a.example. (27)\n";
    let answer = "IP 192.0.2.53.53 > 192.0.2.1.5000: 9 1/0/0 A 192.0.2.7 (43)\n";
    let open = lookups(&format!("10:00:00.1 {query}10:00:01.1 {query}"));
    assert_eq!((open[0].queries, open[0].took, open[0].answers), (2, None, None));
    assert_eq!(lookups(&format!("10:00:00.1 {answer}")), []);
    let timeless = lookups(&format!("{query}{answer}"));
    assert_eq!((timeless[0].took, timeless[0].answers), (None, Some(1)));
}

#[test]
fn many_lookups_are_counted() {
    let text: String = (0..300).map(|n| format!("10:00:00.1 IP a.5 > b.53: {n}+ A? n{n}.example. (27)\n")).collect();
    let read = read(&text);
    assert_eq!(read.summary.lookups.len(), 256);
    assert_eq!(read.count("lookups-not-listed"), 44);
}

#[test]
fn steps_for_queries_are_linear() {
    let steps = |count: u32| {
        let text: String =
            (0..count).map(|n| format!("10:00:00.1 IP a.5 > b.53: {}+ A? n{n}.example. (27)\n", n % 65_536)).collect();
        whyslow_units::steps::steps_during(|| drop(lookups(&text))).1
    };
    let (one, four) = (steps(500), steps(2_000));
    assert!(one >= 500 && four <= 4 * one, "{one} {four}");
}
