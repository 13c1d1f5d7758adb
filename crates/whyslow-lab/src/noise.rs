//! How much the machine disturbed a run, and what that leaves uncertain.
//!
//! The emulator knows how late each packet left. What a transfer waits for is a chain of packets,
//! each sent after the one before it arrived. So the chain that was held back longest bounds what
//! the emulator can have added to a time; packets that were late side by side count once. The
//! kernel knows how long a program could have gone on and had no processor: that comes on top.

use crate::figures::{self, Figures, Kind};
use crate::log::{Fate, LinkLog};
use crate::work::{Opened, Transfer};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A run with less of its time in doubt is quiet.
const QUIET: f64 = 0.05;
/// Beyond this the machine could be the verdict: a cause is named that takes half of the time.
const DOUBTFUL: f64 = 0.5;

/// How much the machine disturbed a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// The most that late packets, and programs that had no processor, can have added to the
    /// transfers' time, in seconds.
    pub added_s: f64,
    /// The part of it that late packets alone may have added.
    pub late_s: f64,
    /// The transfers' time, in seconds.
    pub time_s: f64,
    /// Number of attempts; this is their median.
    pub tries: u32,
    /// Figures in doubt: the least and the most that they may be without this machine's noise, in
    /// base units.
    pub between: BTreeMap<String, [f64; 2]>,
}

/// The measurements of the client's program.
#[derive(Clone, Copy, Default)]
pub(crate) struct Client<'a> {
    pub(crate) transfers: &'a [Transfer],
    pub(crate) connections: &'a [Opened],
    /// How long it and the programs it waited for had no processor, in seconds.
    pub(crate) waited_s: f64,
}

impl Noise {
    /// The noise of one try, whose client measured these transfers and connections. Without
    /// transfers it is that of the whole time from the first packet to the last.
    pub(crate) fn of(links: &[LinkLog], epoch_ns: u64, client: Client<'_>, figures: &Figures) -> Self {
        let delays = Delays::new(links);
        let mut noise = Self { tries: 1, ..Self::default() };
        let Client { transfers, connections, waited_s } = client;
        let ns = |unix: u64| unix.saturating_sub(epoch_ns);
        // A program may have waited in any part of the time.
        let added = |from: u64, to: u64| {
            let waited = waited_s.min(to.saturating_sub(from) as f64 / 1e9);
            delays.added_ns(ns(from), ns(to)) as f64 / 1e9 + waited
        };
        let each: Vec<f64> = transfers.iter().map(|t| added(t.start, t.end)).collect();
        match transfers {
            [] => {
                let (from, to) = delays.extent();
                noise.time_s = (to - from) as f64 / 1e9;
                noise.late_s = delays.added_ns(from, to) as f64 / 1e9;
            }
            all => {
                noise.time_s = all.iter().map(|t| t.end.saturating_sub(t.start) as f64 / 1e9).sum();
                let late: u64 = all.iter().map(|t| delays.added_ns(ns(t.start), ns(t.end))).sum();
                noise.late_s = late as f64 / 1e9;
            }
        }
        noise.added_s = noise.late_s + waited_s;
        let mut less = |name: &str, added: f64| {
            if let Some(value) = figures.get(name)
                && added > 0.0
            {
                noise.between.insert(name.to_owned(), [(value - added).max(0.0), *value]);
            }
        };
        less("span", delays.added_ns(0, u64::MAX) as f64 / 1e9 + waited_s);
        for (index, added) in each.iter().enumerate() {
            less(&format!("transfer.{}", index + 1), *added);
        }
        if let (Some(first), Some(last)) = (transfers.first(), transfers.last()) {
            less("total", added(first.start, last.end));
            less("first_byte", added(first.request, first.first_byte));
            less("transfer.last", each.last().copied().unwrap_or_default());
            let mut order: Vec<(u64, f64)> =
                transfers.iter().zip(&each).map(|(t, added)| (t.end.saturating_sub(t.start), *added)).collect();
            order.sort_by_key(|(time, _)| *time);
            less("transfer.median", order.get(order.len() / 2).map_or(0.0, |(_, added)| *added));
            less("transfer.slowest", order.last().map_or(0.0, |(_, added)| *added));
        }
        if let Some(first) = connections.first() {
            less("connect", added(first.start, first.connected));
            less("tls_handshake", first.secured.map_or(0.0, |secured| added(first.connected, secured)));
        }
        noise.faster(transfers, figures);
        noise
    }

    /// Goodput without the added time.
    fn faster(&mut self, transfers: &[Transfer], figures: &Figures) {
        let busy: f64 = transfers.iter().map(|t| t.end.saturating_sub(t.request) as f64 / 1e9).sum();
        let added = self.added_s;
        if let Some(rate) = figures.get("goodput").filter(|_| added > 0.0 && busy > added) {
            self.between.insert("goodput".to_owned(), [*rate, rate * busy / (busy - added)]);
        }
    }

    /// The share of the transfers' time that late packets may have added, from 0 to 1.
    pub fn share(&self) -> f64 {
        if self.time_s > 0.0 { (self.added_s / self.time_s).min(1.0) } else { 0.0 }
    }

    /// Hardly anything is in doubt.
    pub fn is_quiet(&self) -> bool {
        self.share() <= QUIET
    }

    /// Why the cause itself could be another; none if it could not. What the programs waited for a
    /// processor is none of TCP's limits, and mostly no part of what the transfers waited for.
    pub fn doubt(&self) -> Option<String> {
        (self.late_s > self.time_s * DOUBTFUL).then(|| {
            let [late, time] = [self.late_s, self.time_s].map(|s| Kind::Time.show(s));
            format!("packets that were late may have added {late} of {time}")
        })
    }

    /// `9.09 ms of 24.4 ms`.
    pub fn added(&self) -> String {
        format!("{} of {}", Kind::Time.show(self.added_s), Kind::Time.show(self.time_s))
    }

    /// Widens the range in doubt by another run of the same scenario, so that all its figures lie
    /// between.
    pub(crate) fn widen(&mut self, own: &Figures, other: &Figures, noise: &Self) {
        for (name, value) in own {
            let Some(theirs) = other.get(name) else { continue };
            if figures::kind(name).is_none() || name.ends_with(".late_p99") {
                continue;
            }
            let [low, high] = noise.between.get(name).copied().unwrap_or([*theirs; 2]);
            let here = self.between.get(name).copied().unwrap_or([*value; 2]);
            let both = [here[0].min(low), here[1].max(high)];
            if both[0] < both[1] {
                self.between.insert(name.clone(), both);
            }
        }
    }
}

/// Packets that passed, in the order in which they left, over all links and directions.
struct Delays(Vec<Passed>);

#[derive(Clone, Copy)]
struct Passed {
    in_ns: u64,
    out_ns: u64,
    late_ns: u64,
}

impl Delays {
    fn new(links: &[LinkLog]) -> Self {
        let passed = links.iter().flat_map(|link| &link.records).filter(|record| record.fate == Fate::Passed);
        let mut all: Vec<Passed> = passed
            .map(|r| Passed { in_ns: r.in_ns, out_ns: r.out_ns, late_ns: r.out_ns.saturating_sub(r.due_ns) })
            .collect();
        all.sort_by_key(|packet| packet.out_ns);
        Self(all)
    }

    /// From the first packet's arrival to the last one's departure.
    fn extent(&self) -> (u64, u64) {
        let first = self.0.iter().map(|packet| packet.in_ns).min().unwrap_or(0);
        (first, self.0.last().map_or(first, |packet| packet.out_ns))
    }

    /// The largest sum of lateness over packets of which each came in after the one before had
    /// left, among those that left within this time (weighted interval scheduling).
    fn added_ns(&self, from: u64, to: u64) -> u64 {
        let first = self.0.partition_point(|packet| packet.out_ns < from);
        let last = self.0.partition_point(|packet| packet.out_ns <= to);
        let within = self.0.get(first..last).unwrap_or_default();
        // best[n]: among the first n of them.
        let mut best = Vec::with_capacity(within.len() + 1);
        best.push(0_u64);
        for (n, packet) in within.iter().enumerate() {
            let before = within.get(..n).unwrap_or_default().partition_point(|other| other.out_ns <= packet.in_ns);
            let with = best.get(before).copied().unwrap_or(0) + packet.late_ns;
            best.push(best.last().copied().unwrap_or(0).max(with));
        }
        best.last().copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
