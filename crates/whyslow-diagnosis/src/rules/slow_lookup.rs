//! Connections waited for the lookup of their server's name.
//!
//! ## What it is
//! A client needs an address before it can connect: it asks a name server (DNS), and waits. That is
//! a round trip to a near server that knows the name, and seconds if a server does not answer and
//! another is asked, or if the resolver tries one search domain after the other.
//!
//! ## How it is recognised
//! Queries and responses of DNS, over UDP or TCP, are in the capture, and a connection from the
//! same client to an address in the response begins within 250 ms. A lookup lasts from the first
//! query to the last response before the connection: A and AAAA, repeated queries, other servers,
//! and names with search domains that failed. Lookups that connections waited for took 100 ms or
//! more together, and a tenth or more of the time of these connections. Simultaneous lookups count
//! once.
//!
//! ## What it is confused with
//! - `path-latency`: the first packets of the connection are slow, after the lookup.
//! - `no-answer`: no response came to a name server, or to the connection. A lookup that never
//!   succeeds has no connection, and costs none.
//! - Lookups over TLS or HTTPS (port 853, 443): they cannot be read.
//! - A stub resolver on the client's host (127.0.0.53) keeps names: the capture shows what it asks
//!   others.
//!
//! ## The fix
//! If a server does not answer: remove it from `/etc/resolv.conf`, or repair it; `options timeout:1
//! attempts:2 rotate` limits the wait meanwhile. If search domains are tried first (Kubernetes:
//! `ndots:5`): end full names with a dot, or lower `ndots`. Otherwise keep names on the client's
//! host (systemd-resolved, dnsmasq, nscd, NodeLocal DNSCache), ask a nearer server, or keep
//! connections open.
//!
//! ## To see that it worked
//! `curl -so /dev/null -w '%{time_namelookup}\n' URL` takes milliseconds.
//!
//! ## References
//! RFC 1035; resolv.conf(5); RFC 8305 section 5 (connections follow an address within 250 ms).

use super::parts::{confirm, evidence, remedy};
use super::rule::{Check, Rule, Saving};
use super::rule_input::ConnectionSummary;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Actor, ExchangeAction, ExchangeQuestion, ExchangeStatement, Finding, Measure, Remedy, Unit};
use whyslow_core::dns::LookupFacts;
use whyslow_units::{Nanos, Time};

pub(super) const RULE: Rule = Rule::new(Cause::SlowLookup, Check::Across(check)).saves(Saving::Cost);

/// Minimum time of slow lookups. Follows from the word "slow": 100 ms, and a tenth of what was
/// waited for.
const SLOW: Nanos = Nanos::from_millis(100);
/// Minimum share of the connections' time, with their lookups, that is slow. Follows from the same
/// word.
const SHARE: f64 = 0.1;

/// A connection, and the lookup that it waited for.
type Waiting<'a> = (&'a ConnectionSummary, &'a LookupFacts);

fn check(summaries: &[ConnectionSummary]) -> Vec<Finding> {
    let mut groups: BTreeMap<(IpAddr, IpAddr), Vec<Waiting<'_>>> = BTreeMap::new();
    for summary in summaries {
        if let Some(lookup) = &summary.lookup {
            groups.entry((summary.client, lookup.server)).or_default().push((summary, lookup));
        }
    }
    groups.into_iter().filter_map(|((_, server), group)| check_group(server, &group)).collect()
}

fn check_group(server: IpAddr, group: &[Waiting<'_>]) -> Option<Finding> {
    let waited_s = union(group.iter().map(|(_, lookup)| (lookup.start, lookup.end)).collect());
    let whole_s = union(group.iter().map(|(summary, lookup)| (lookup.start, summary.end)).collect());
    if waited_s < SLOW || waited_s < whole_s.scale(SHARE) {
        return None;
    }
    // Several connections may have waited for one lookup.
    let lookups: BTreeMap<_, &LookupFacts> = group.iter().map(|(_, one)| ((one.start, &*one.name), *one)).collect();
    let names: BTreeSet<&str> = lookups.values().map(|lookup| &*lookup.name).collect();
    let longest = lookups.values().max_by_key(|lookup| lookup.end - lookup.start)?;
    let silent = lookups.values().find_map(|lookup| lookup.silent);
    let sum = |count: fn(&LookupFacts) -> u64| lookups.values().map(|lookup| count(lookup)).sum::<u64>();
    let (server, silent) = (server.to_string(), silent.map(|server| server.to_string()));
    let searched = sum(|lookup| lookup.searched);
    let statement = ExchangeStatement::LookupsSlow {
        name: (*longest.name).to_owned(),
        names: names.len() as u64,
        server: server.clone(),
        silent: silent.clone(),
        connections: group.len() as u64,
        queries: sum(|lookup| lookup.queries),
        unanswered: sum(|lookup| lookup.unanswered),
        searched,
        waited_s,
        whole_s,
    };
    let mut found = super::parts::finding(Cause::SlowLookup, waited_s, 0.9, statement);
    let took = (longest.end - longest.start).as_millis_f64();
    found.evidence.push(evidence(Measure::LongestLookup, took, Unit::Milliseconds, &longest.frames));
    found.remedies = match silent {
        Some(silent) => remedy(Actor::Network, ExchangeAction::CheckNameServer { server: silent }),
        None if searched > 0 => remedy(Actor::Application, ExchangeAction::QualifyNames),
        None => remedy(Actor::Network, ExchangeAction::CheckNameServer { server: server.clone() }),
    };
    found.remedies.push(Remedy::new(Actor::Network, ExchangeAction::CacheLookups));
    let name = (*longest.name).to_owned();
    found.to_confirm = confirm(ExchangeQuestion::NameServerSlow { server, name });
    found.connections = group.iter().map(|(summary, _)| summary.id).collect();
    found.connections.sort_unstable();
    found.promise(Some((whole_s - waited_s).or_zero()));
    Some(found)
}

/// The time that these stretches cover.
fn union(mut stretches: Vec<(Time, Time)>) -> Nanos {
    stretches.sort_unstable();
    let mut covered = Nanos::ZERO;
    let mut until = Time::MIN;
    for (from, to) in stretches {
        covered += (to - from.max(until)).or_zero();
        until = until.max(to);
    }
    covered
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use whyslow_analysis::Frame;

    /// Connections of 300 ms, each behind a lookup of this start and length.
    fn summaries(lookups: &[(i64, i64)]) -> Vec<ConnectionSummary> {
        let frame = Frame { file: None, number: 1 };
        let of = |(id, &(start, took)): (u64, &(i64, i64))| {
            let end = Time::from_millis(start + took);
            ConnectionSummary {
                id,
                client: [192, 0, 2, 1].into(),
                server: ([192, 0, 2, 2].into(), 80),
                addresses: ["client".into(), "server".into()],
                name: None,
                start: end,
                end: Time::from_millis(start + took + 300),
                handshakes: Nanos::ZERO,
                slow_start: Nanos::ZERO,
                unseen: Nanos::ZERO,
                bytes: 1_000,
                closed_by: None,
                client_wants_close: false,
                reset: false,
                early_exit: None,
                lookup: Some(LookupFacts {
                    name: "a.example".into(),
                    server: [192, 0, 2, 53].into(),
                    silent: None,
                    start: Time::from_millis(start),
                    end,
                    queries: 2,
                    unanswered: 0,
                    searched: 0,
                    frames: [frame; 2],
                }),
                first_frame: frame,
            }
        };
        (1..).zip(lookups).map(of).collect()
    }

    #[test]
    fn slow_lookup_costs_its_time() {
        let finding = check(&summaries(&[(0, 500)])).pop().unwrap();
        assert_eq!((finding.cost_s, finding.predicted()), (Nanos::from_millis(500), Some(Nanos::from_millis(300))));
        assert_eq!(finding.connections, [1]);
        assert!(check(&summaries(&[(0, 90)])).is_empty(), "not noticed");
        let mut long = summaries(&[(0, 150)]);
        long[0].end = Time::from_millis(2_000);
        assert!(check(&long).is_empty(), "less than a tenth");
    }

    #[test]
    fn connections_behind_one_lookup_waited_once() {
        let finding = check(&summaries(&[(0, 500), (0, 500), (2_000, 40)])).pop().unwrap();
        assert_eq!(finding.cost_s, Nanos::from_millis(540));
        let ExchangeStatement::LookupsSlow { names, connections, queries, .. } = (match finding.statement {
            whyslow_analysis::Statement::Exchange(statement) => statement,
            other => panic!("{other:?}"),
        }) else {
            panic!("another statement")
        };
        assert_eq!((names, connections, queries), (1, 3, 4));
    }

    #[test]
    fn fix_is_that_of_what_made_it_slow() {
        let first = |change: fn(&mut LookupFacts)| {
            let mut all = summaries(&[(0, 500)]);
            all.iter_mut().filter_map(|one| one.lookup.as_mut()).for_each(change);
            check(&all).pop().unwrap().remedies.remove(0).action
        };
        let server = |last: u8| ExchangeAction::CheckNameServer { server: format!("192.0.2.{last}") }.into();
        assert_eq!(first(|_| ()), server(53));
        assert_eq!(first(|one| one.silent = Some([192, 0, 2, 54].into())), server(54));
        assert_eq!(first(|one| one.searched = 3), ExchangeAction::QualifyNames.into());
    }
}
