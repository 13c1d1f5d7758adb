#![allow(clippy::unwrap_used)]
use super::*;

const CLIENT: [u8; 4] = [192, 0, 2, 1];
const ONE: [u8; 4] = [192, 0, 2, 53];
const OTHER: [u8; 4] = [192, 0, 2, 54];
const SERVER: [u8; 4] = [198, 51, 100, 7];
const A: u8 = 1;
const AAAA: u8 = 28;

/// A query, or with `address` its response.
fn message(name: &str, kind: u8, flags: [u8; 2], address: Option<[u8; 4]>) -> Vec<u8> {
    let mut bytes = vec![0, 7, flags[0], flags[1], 0, 1, 0, u8::from(address.is_some()), 0, 0, 0, 0];
    for label in name.split('.') {
        bytes.push(label.len() as u8);
        bytes.extend(label.as_bytes());
    }
    bytes.extend([0, 0, kind, 0, 1]);
    if let Some(address) = address {
        bytes.extend([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
        bytes.extend(address);
    }
    bytes
}

#[derive(Default)]
struct SyntheticLookups {
    table: LookupTable,
    frames: u64,
}

impl SyntheticLookups {
    fn send(&mut self, ms: i64, is_query: bool, server: [u8; 4], bytes: &[u8]) -> &mut Self {
        self.frames += 1;
        let (client, server) = ((CLIENT.into(), 40_000), (server.into(), PORT));
        let (from, to) = if is_query { (client, server) } else { (server, client) };
        let place =
            MessagePlace { from, to, time: Time::from_millis(ms), frame: Frame { file: None, number: self.frames } };
        self.table.observe(bytes, &place);
        self
    }

    fn ask(&mut self, ms: i64, server: [u8; 4], name: &str, kind: u8) -> &mut Self {
        self.send(ms, true, server, &message(name, kind, [1, 0], None))
    }

    fn answer(&mut self, ms: i64, server: [u8; 4], (name, kind): (&str, u8), address: Option<[u8; 4]>) -> &mut Self {
        self.send(ms, false, server, &message(name, kind, [0x81, 0x80], address))
    }

    fn before(&self, ms: i64) -> Option<LookupFacts> {
        self.table.before(CLIENT.into(), SERVER.into(), Time::from_millis(ms))
    }

    /// Milliseconds that a connection at this time waited, queries, and those without a response.
    fn waited(&self, ms: i64) -> Option<(i64, u64, u64)> {
        self.before(ms).map(|one| ((one.end - one.start).0 / 1_000_000, one.queries, one.unanswered))
    }
}

#[test]
fn connection_soon_after_the_response_waited_for_it() {
    let mut lookups = SyntheticLookups::default();
    lookups.ask(0, ONE, "WWW.example", A).answer(300, ONE, ("www.example", A), Some(SERVER));
    let found = lookups.before(301).unwrap();
    assert_eq!((&*found.name, found.server, found.silent), ("www.example", ONE.into(), None));
    assert_eq!((found.frames[0].number, found.frames[1].number), (1, 2));
    assert_eq!(lookups.waited(550), Some((300, 1, 0)));
    assert_eq!(lookups.waited(551), None, "it did not wait");
    assert_eq!(lookups.table.before(CLIENT.into(), OTHER.into(), Time::from_millis(301)), None, "another address");
    assert_eq!(lookups.table.before(OTHER.into(), SERVER.into(), Time::from_millis(301)), None, "another client");
}

#[test]
fn both_types_and_repeated_queries_are_one_lookup() {
    let mut lookups = SyntheticLookups::default();
    lookups.ask(0, ONE, "a.example", A).ask(0, ONE, "a.example", AAAA);
    lookups.answer(10, ONE, ("a.example", A), Some(SERVER));
    // glibc waits for both, and asks both again.
    lookups.ask(5_000, ONE, "a.example", A).answer(5_010, ONE, ("a.example", A), Some(SERVER));
    lookups.ask(5_010, ONE, "a.example", AAAA).answer(5_020, ONE, ("a.example", AAAA), None);
    assert_eq!(lookups.waited(5_021), Some((5_020, 4, 1)));
    // A client that does not wait for the second response.
    assert_eq!(lookups.waited(11), Some((10, 4, 1)));
}

#[test]
fn server_that_does_not_answer_is_named() {
    let mut lookups = SyntheticLookups::default();
    lookups.ask(0, ONE, "a.example", A).ask(5_000, OTHER, "a.example", A);
    assert_eq!(lookups.waited(5_010), None, "no response");
    lookups.answer(5_040, OTHER, ("a.example", A), Some(SERVER));
    let found = lookups.before(5_041).unwrap();
    assert_eq!((found.server, found.silent), (OTHER.into(), Some(ONE.into())));
    assert_eq!(lookups.waited(5_041), Some((5_040, 2, 1)));
}

#[test]
fn names_with_search_domains_that_failed_are_part_of_the_lookup() {
    let mut lookups = SyntheticLookups::default();
    for (nth, suffix) in [".default.svc.cluster.local", ".svc.cluster.local", ""].into_iter().enumerate() {
        let (name, at) = (format!("api.example{suffix}"), 100 * nth as i64);
        let address = suffix.is_empty().then_some(SERVER);
        lookups.ask(at, ONE, &name, A).answer(at + 100, ONE, (&name, A), address);
    }
    assert_eq!(lookups.waited(301), Some((300, 3, 0)));
    assert_eq!(lookups.before(301).unwrap().searched, 2);
    // Another name that failed before is another lookup.
    let mut other = SyntheticLookups::default();
    other.ask(0, ONE, "ads.example", A).answer(100, ONE, ("ads.example", A), None);
    other.ask(110, ONE, "www.example", A).answer(120, ONE, ("www.example", A), Some(SERVER));
    assert_eq!(other.waited(121), Some((10, 1, 0)));
}

#[test]
fn truncated_response_is_asked_for_again_over_tcp() {
    let mut lookups = SyntheticLookups::default();
    let query = message("a.example", A, [1, 0], None);
    lookups.send(0, true, ONE, &query).send(20, false, ONE, &message("a.example", A, [0x83, 0x80], None));
    let over_tcp = |bytes: &[u8]| [&(bytes.len() as u16).to_be_bytes()[..], bytes].concat();
    let (client, server) = ((CLIENT.into(), 40_000), (ONE.into(), PORT));
    let at =
        |from, to, ms| MessagePlace { from, to, time: Time::from_millis(ms), frame: Frame { file: None, number: 9 } };
    let response = over_tcp(&message("a.example", A, [0x81, 0x80], Some(SERVER)));
    lookups.table.observe_segment(&over_tcp(&query), &at(client, server, 60));
    lookups.table.observe_segment(&response[..20], &at(server, client, 70));
    assert_eq!(lookups.waited(71), None, "only a part of it");
    lookups.table.observe_segment(&response, &at(server, client, 80));
    assert_eq!(lookups.waited(81), Some((80, 2, 1)));
}

#[test]
fn many_lookups_take_bounded_memory() {
    let mut lookups = SyntheticLookups::default();
    for nth in 0..3 * MAX_LOOKUPS as i64 {
        let (name, address) = (format!("{nth}.example"), [10, 0, (nth >> 8) as u8, nth as u8]);
        lookups.ask(nth, ONE, &name, A).answer(nth, ONE, (&name, A), Some(address));
    }
    let table = &lookups.table;
    let sizes = [table.lookups.len(), table.order.len(), table.by_name.len(), table.by_address.len()];
    assert_eq!(sizes, [MAX_LOOKUPS; 4]);
    assert!(table.failed.is_empty());
}
