//! [`History`]: compares a snapshot with earlier ones.

use crate::Look;
use crate::report::{Change, HostReport};
use crate::rules;
use crate::settings::Settings;
use crate::snapshot::Snapshot;
use std::collections::BTreeMap;
use whyslow_live::host::{Host, Namespace, State};

/// The look before, and which sockets came into CLOSE_WAIT while looks were taken.
#[derive(Debug, Default)]
pub struct History {
    before: Option<Host>,
    /// By cookie: when the last look was that had it in another state, seconds since boot.
    closed: BTreeMap<u64, f64>,
}

impl History {
    /// Keeps a look for the next one.
    pub fn add(&mut self, look: Look) {
        self.before = Some(look.host);
    }

    /// Judges a snapshot, together with the one before.
    pub fn judge(&mut self, look: &Look, settings: &Settings) -> HostReport {
        let host = &look.host;
        self.watch(host);
        let over = self.before.as_ref().map(|before| host.uptime_s - before.uptime_s).filter(|seconds| *seconds > 0.0);
        let closed_since = self.closed.iter().map(|(cookie, since)| (*cookie, host.uptime_s - since)).collect();
        let begins_with_own = settings.begins_with_own();
        let looks: Vec<Snapshot<'_>> = host
            .namespaces
            .iter()
            .enumerate()
            .map(|(place, namespace)| Snapshot {
                host,
                namespace,
                earlier: self.namespace(namespace.id).zip(over),
                softnet_earlier: self.before.as_ref().map(|before| before.softnet.as_slice()).zip(over),
                again: look.again.as_ref(),
                is_first: place == 0,
                is_own: place == 0 && begins_with_own,
                closed_since: &closed_since,
            })
            .collect();
        let findings = rules::judge(&looks);
        let changed = over.map_or(BTreeMap::new(), |seconds| self.changed(host, seconds));
        HostReport { host: host.clone(), findings, over, changed, is_part: settings.is_part() }
    }

    fn namespace(&self, id: u64) -> Option<&Namespace> {
        self.before.as_ref()?.namespaces.iter().find(|namespace| namespace.id == id)
    }

    /// Counters of the first namespace that rose.
    fn changed(&self, host: &Host, seconds: f64) -> BTreeMap<String, Change> {
        let Some(now) = host.namespaces.first() else { return BTreeMap::new() };
        let Some(before) = self.namespace(now.id) else { return BTreeMap::new() };
        let rose = now.counters.iter().filter_map(|(name, count)| {
            let count = count.checked_sub(*before.counters.get(name)?).filter(|&count| count > 0)?;
            Some((name.clone(), Change { count, per_s: count as f64 / seconds }))
        });
        rose.collect()
    }

    /// Notes which sockets have come into CLOSE_WAIT since the look before.
    fn watch(&mut self, host: &Host) {
        let Some(before) = &self.before else { return };
        let in_state = |host: &Host, is_closed: bool| -> Vec<u64> {
            let sockets = host.namespaces.iter().flat_map(|namespace| &namespace.sockets);
            let wanted = sockets.filter(|socket| (socket.state == State::CloseWait) == is_closed);
            wanted.filter_map(|socket| socket.cookie).collect()
        };
        let open: std::collections::BTreeSet<u64> = in_state(before, false).into_iter().collect();
        let closed = in_state(host, true);
        for cookie in closed.iter().filter(|cookie| open.contains(cookie)) {
            self.closed.entry(*cookie).or_insert(before.uptime_s);
        }
        self.closed.retain(|cookie, _| closed.contains(cookie));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_rose_between_two_looks_is_a_rate() {
        let snapshot = |uptime_s: f64, sent: u64| Host {
            uptime_s,
            namespaces: vec![Namespace {
                id: 1,
                counters: [("Tcp.OutSegs", sent), ("Tcp.InErrs", 3)]
                    .map(|(name, count)| (name.to_owned(), count))
                    .into(),
                ..Namespace::default()
            }],
            ..Host::default()
        };
        let mut history = History::default();
        history.add(Look { host: snapshot(100.0, 1_000), again: None });
        let changed = history.changed(&snapshot(110.0, 1_500), 10.0);
        assert_eq!(changed, [("Tcp.OutSegs".to_owned(), Change { count: 500, per_s: 50.0 })].into());
        assert!(history.changed(&snapshot(110.0, 900), 10.0).is_empty(), "a new namespace counts from zero");
    }
}
