//! [`Intake`]: packets on their way to the explainer and to the flight recorder.

use super::batch::{Batch, Counts};
use super::closed::ClosedConnection;
#[cfg(target_os = "linux")]
use super::closed::ClosedFeed;
#[cfg(not(target_os = "linux"))]
use super::elsewhere::ClosedFeed;
use super::keep::Keeper;
use super::owners::Owners;
use super::record::Record;
use std::time::{Duration, Instant, SystemTime};
use whyslow_analysis::Problem;
use whyslow_core::capture::{Clock, Packet, Sink};
use whyslow_diagnosis::explain::live::{Ended, LiveExplainer};
use whyslow_units::{Nanos, Time};

/// Interval at which drop counters are read, at most this late.
#[cfg(target_os = "linux")]
const ASKED: Nanos = Nanos::from_millis(500);

/// Takes packets and explains them.
pub(super) struct Intake {
    pub(super) explainer: LiveExplainer,
    pub(super) keeper: Keeper,
    /// The programs of this machine, where it is this machine that is watched.
    owners: Option<Owners>,
    closed: Option<ClosedFeed>,
    pub(super) counts: Counts,
    notes: Vec<String>,
    problems: Vec<Problem>,
    /// When the newest packet came.
    newest: Option<Instant>,
}

impl Intake {
    pub(super) fn new(
        explainer: LiveExplainer,
        keeper: Keeper,
        owners: Option<Owners>,
        closed: Option<ClosedFeed>,
    ) -> Self {
        Self {
            explainer,
            keeper,
            owners,
            closed,
            counts: Counts::default(),
            notes: Vec::new(),
            problems: Vec::new(),
            newest: None,
        }
    }

    /// Something is worth knowing.
    pub(super) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Another capture begins.
    pub(super) fn begin_capture(&mut self, path: &str) {
        self.explainer.begin_capture(path);
        self.keeper.begin_capture();
    }

    /// A capture has ended, with these problems.
    pub(super) fn add_problems(&mut self, problems: impl IntoIterator<Item = Problem>) {
        for problem in problems {
            match self.problems.iter_mut().find(|known| known.slug == problem.slug) {
                Some(known) => known.count += problem.count,
                None => self.problems.push(problem),
            }
        }
    }

    /// Counts of dropped packets until now.
    #[cfg(target_os = "linux")]
    pub(super) fn set_drops(&mut self, drops: super::batch::Drops) {
        let before = std::mem::replace(&mut self.counts.drops, drops);
        let more = drops.ring.saturating_sub(before.ring) + drops.interface.saturating_sub(before.interface);
        if more > 0 {
            let now = self.now();
            self.explainer.note_drops(more, now - ASKED, now);
        }
    }

    /// Takes a packet of this machine.
    #[cfg(target_os = "linux")]
    pub(super) fn ring_packet(&mut self, packet: &whyslow_live::watch::RingPacket<'_>) {
        self.counts.packets += 1;
        self.counts.bytes += u64::from(packet.length);
        self.keeper.record_from_ring(packet, self.counts.packets);
        self.explainer.packet(&Packet {
            frame: self.counts.packets,
            time: Time(i64::try_from(packet.time_ns).unwrap_or(i64::MAX)),
            link: whyslow_core::capture::LinkType(packet.link_type),
            data: packet.bytes,
            original_len: packet.length,
        });
    }

    /// The time on the clock of the packets: it goes on while none come.
    pub(super) fn now(&self) -> Time {
        if self.newest.is_none() {
            // No packet has had a time up to now.
            let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            return Time(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX));
        }
        let quiet = self.newest.map_or(Duration::ZERO, |newest| newest.elapsed());
        self.explainer.newest() + Nanos(i64::try_from(quiet.as_nanos()).unwrap_or(0))
    }

    /// Notes that packets have arrived since the count was `before`.
    pub(super) fn note_arrival(&mut self, before: u64) {
        if self.counts.packets > before {
            self.newest = Some(Instant::now());
        }
    }

    /// The news since the last batch.
    pub(super) fn batch(&mut self, ended: Ended, now: Time) -> Batch {
        let first = self.explainer.first_time().unwrap_or_default();
        let mut records: Vec<_> = ended.connections.into_iter().flat_map(|ended| Record::split(ended, first)).collect();
        for record in &mut records {
            self.owners.iter().for_each(|owners| owners.name(record));
            self.notes.extend(self.keeper.offer(record));
        }
        self.counts.unlisted += ended.unlisted;
        self.counts.segments = self.explainer.segments();
        self.counts.connections = self.explainer.open_connections();
        let closed = self.take_closed();
        let notes = std::mem::take(&mut self.notes);
        Batch { records, together: ended.findings, closed, first, now, counts: self.counts, notes, ..Batch::default() }
    }

    /// Connections that have closed since the last batch.
    fn take_closed(&mut self) -> Vec<ClosedConnection> {
        let Some(feed) = &self.closed else { return Vec::new() };
        let (mut closed, missed) = feed.take();
        self.counts.closed_missed = Some(missed);
        closed.iter_mut().for_each(|one| self.owners.iter().for_each(|owners| owners.name_closed(one)));
        closed
    }
}

impl Intake {
    /// Ends: gives the reports of open connections, a batch at a time, until `give` returns false.
    /// Returns the last batch, and the remembered packets.
    pub(super) fn finish(mut self, mut give: impl FnMut(Batch) -> bool) -> (Batch, Keeper) {
        let now = self.now();
        let mut last = self.batch(Ended::default(), now);
        let (explainer, mut keeper, owners) = (self.explainer, self.keeper, self.owners);
        let first = explainer.first_time().unwrap_or_default();
        last.problems = [self.problems, explainer.problems()].concat();
        last.counts.connections = 0;
        let mut is_wanted = true;
        explainer.finish_in_parts(|ended| {
            last.counts.unlisted += ended.unlisted;
            last.together = ended.findings;
            last.records = ended.connections.into_iter().flat_map(|ended| Record::split(ended, first)).collect();
            last.records.iter_mut().for_each(|record| owners.iter().for_each(|owners| owners.name(record)));
            last.records.iter().for_each(|record| last.notes.extend(keeper.offer(record)));
            if ended.more {
                let (records, notes) = (std::mem::take(&mut last.records), std::mem::take(&mut last.notes));
                let counts = last.counts;
                is_wanted = is_wanted && give(Batch { records, first, now, counts, notes, ..Batch::default() });
            }
        });
        last.notes.extend(keeper.finish(last.counts));
        last.done = true;
        (last, keeper)
    }
}

impl Sink for Intake {
    #[inline]
    fn packet(&mut self, packet: &Packet<'_>) {
        self.counts.packets += 1;
        self.counts.bytes += u64::from(packet.original_len);
        self.keeper.record(packet);
        self.explainer.packet(packet);
    }

    fn text(&mut self, clock: Clock) {
        self.explainer.text(clock);
    }

    fn left_out(&mut self, of: Option<[(std::net::IpAddr, u16); 2]>, from: Time, until: Time) {
        self.explainer.left_out(of, from, until);
    }

    fn host_name(&mut self, address: std::net::IpAddr, name: &str, stand_in: bool) {
        self.explainer.host_name(address, name, stand_in);
    }
}
