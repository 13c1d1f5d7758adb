//! IP IDs and timestamps. IP IDs show packets that did not reach the capture point; timestamps show
//! when the sender sent.
//!
//! Linux increments the IPv4 identification by one per packet of a connection, pure ACKs and
//! retransmissions included; other systems do so per pair of hosts. Once IDs have been sequential,
//! a missing ID is a packet that was lost before the capture point. If it was followed by a silence
//! of an RTO, the next packet is its retransmission. If the application paused, nothing was sent,
//! and no ID is missing.
//!
//! Not usable if IDs are zero (RFC 6864: a packet that is never fragmented needs none), random, or
//! shared with other connections of the host, nor for IPv6, which has none.
//!
//! TSval is the sender's own clock (RFC 7323 section 5.4: a tick of 1 ms to 1 s) at the time of
//! sending. Two segments sent together have the same value, even if a queue separated them.

use crate::tcp::recent_packets::RECENT;
use crate::tcp::segment::Seg;
use crate::wire::Flags;
use whyslow_analysis::types::SHORTEST_RTO;
use whyslow_units::{Nanos, Time};

/// Sequential IDs after which IDs are trusted.
const MIN_SEQUENTIAL: u64 = 4;
/// Required sequential IDs per irregular one after the first.
const SEQUENTIAL_PER_IRREGULAR: u64 = 32;
/// No retransmission timer is shorter (Linux; RFC 6298 asks for 1 s), and probes rarely are.
const MIN_TIMER: Nanos = SHORTEST_RTO;
/// Relative difference below which pauses count as equal: timers of applications are late by
/// milliseconds, and the shortest pause that counts is [`MIN_TIMER`].
const SAME_PAUSE: f64 = 0.05;
/// Minimum observation time and number of ticks before a clock's tick is known.
const MIN_OBSERVED: (Nanos, u32) = (Nanos::from_millis(100), 20);

/// State of one host's IP IDs on one connection.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct IpIdTracker {
    /// The next ID, with 65,536 instead of 0; [`ANY`](Self::ANY) before the first packet.
    next: u32,
    /// Time of its last packet.
    last: Time,
    /// Length of the current run of sequential packets; earlier ones are in `sequential`.
    run: u64,
    sequential: u64,
    irregular: u32,
    /// Packets missing since the last reset, without those that a hole in the sequence numbers
    /// explains.
    missing_packets: u32,
    /// Some of them arrived, because their bytes were acknowledged: the capture lost them.
    excused: bool,
    /// The last packet after missing IDs and a silence of an RTO.
    gap_after_silence: GapAfterSilence,
    /// The last silence of an RTO without a missing ID: a pause of the application.
    own_pause: Nanos,
}

/// A packet after missing IDs and a silence.
#[derive(Clone, Copy, Debug, Default)]
struct GapAfterSilence {
    /// Its ID.
    id: u16,
    missing: u32,
    /// Start of the silence.
    since: Time,
}

impl Default for IpIdTracker {
    fn default() -> Self {
        Self {
            next: Self::ANY,
            last: Time::ZERO,
            run: 0,
            sequential: 0,
            irregular: 0,
            missing_packets: 0,
            excused: false,
            gap_after_silence: GapAfterSilence::default(),
            own_pause: Nanos::ZERO,
        }
    }
}

impl IpIdTracker {
    /// A value beyond all IDs.
    const ANY: u32 = u32::MAX;

    /// Returns whether this packet has the expected ID.
    #[inline]
    pub(super) fn is_next(&self, seg: &Seg) -> bool {
        u32::from(seg.ip_id_or_zero()) == self.next
    }

    /// Like [`observe`](Self::observe), for a single packet with the next ID.
    #[inline]
    pub(super) fn observe_next(&mut self, seg: &Seg) {
        self.note_pause(seg.time - self.last);
        self.last = seg.time;
        self.run += 1;
        self.next += 1;
    }

    /// Records a silence without missing IDs.
    #[inline]
    fn note_pause(&mut self, quiet: Nanos) {
        if quiet >= MIN_TIMER {
            self.own_pause = quiet;
        }
    }

    /// Returns whether a silence is not a retransmission timeout: it is too short, or as long as an
    /// earlier pause of the application without a missing ID. Retransmission timers back off
    /// instead.
    fn is_no_timer(&self, quiet: Nanos) -> bool {
        quiet < MIN_TIMER
            || (self.own_pause.scale(1.0 - SAME_PAUSE)..=self.own_pause.scale(1.0 + SAME_PAUSE)).contains(&quiet)
    }

    /// Returns whether no recent packet can have the same ID, because this is the next one in a
    /// sequential run.
    #[inline]
    pub fn is_next_of_run(&self, seg: &Seg) -> bool {
        self.is_next(seg) && self.run >= RECENT as u64
    }

    /// Ends the run: the next packet is not simply the next ID, or is not observed.
    pub fn end_run(&mut self) {
        self.sequential += std::mem::take(&mut self.run);
    }

    fn expect(&mut self, next: u16) {
        self.next = if next == 0 { 1 << 16 } else { next.into() };
    }

    /// Observes a packet. `packets`: its number of packets on the wire, if offload left it
    /// unsegmented; `skipped`: number of packets that fit into the sequence hole before it.
    pub fn observe(&mut self, seg: &Seg, packets: u16, skipped: u16) {
        self.end_run();
        let quiet = seg.time - std::mem::replace(&mut self.last, seg.time);
        let Some(id) = seg.ip_id() else {
            return;
        };
        let next = (self.next != Self::ANY).then_some(self.next as u16);
        if next == Some(id) {
            self.sequential += 1;
            self.note_pause(quiet);
            self.expect(id.wrapping_add(packets));
            return;
        }
        if id == 0 {
            // Linux answers a SYN with ID 0 and counts from the next packet on.
            self.irregular = self.irregular.saturating_add(u32::from(!seg.flags.has(Flags::SYN)));
            return;
        }
        let after = id.wrapping_add(packets);
        // Steps of more than a thousand do not count packets.
        let step = next.map_or(0, |next| id.wrapping_sub(next).cast_signed());
        match step {
            -1024..0 => {
                // Reordered, and therefore not missing.
                self.missing_packets = self.missing_packets.saturating_sub(u32::from(packets));
                return;
            }
            0..=1024 => {
                let more = u32::from(step.unsigned_abs()).saturating_sub(u32::from(skipped));
                self.missing_packets = self.missing_packets.saturating_add(more);
                if more > 0 {
                    if quiet >= MIN_TIMER {
                        self.gap_after_silence = GapAfterSilence { id, missing: more, since: seg.time - quiet };
                    }
                    self.irregular = self.irregular.saturating_add(u32::from(self.is_no_timer(quiet)));
                } else if next.is_some() {
                    self.sequential += 1;
                }
            }
            _ => self.irregular = self.irregular.saturating_add(1),
        }
        self.expect(after);
    }

    /// Returns the number of packets missing right before this one, if there was a silence of an
    /// RTO. `asked`: time when the request that it answers had arrived. A single missing packet may
    /// be the ACK of that request, unless another packet acknowledged it. Whether IDs are reliable
    /// is known later: see [`are_reliable`](Self::are_reliable).
    pub fn missing_before(&self, seg: &Seg, asked: Option<Time>) -> u32 {
        let GapAfterSilence { id, missing, since } = self.gap_after_silence;
        let is_ack = missing == 1 && asked.is_none_or(|asked| since < asked);
        if id != 0 && id == seg.ip_id_or_zero() && !is_ack { missing } else { 0 }
    }

    /// Returns the number of packets missing since [`reset_missing`](Self::reset_missing); `None`
    /// if the IDs are not reliable.
    pub fn missing_packets(&self) -> Option<u32> {
        (self.are_reliable() && !self.excused).then_some(self.missing_packets)
    }

    /// Returns the same while too few IDs were seen to know whether they are reliable; 0 after
    /// that.
    pub fn missing_while_unproven(&self) -> u32 {
        if self.sequential + self.run < MIN_SEQUENTIAL && !self.excused { self.missing_packets } else { 0 }
    }

    /// Returns whether IDs count this connection's packets.
    pub fn are_reliable(&self) -> bool {
        let steady = self.sequential + self.run;
        steady >= MIN_SEQUENTIAL && u64::from(self.irregular) <= 1 + steady / SEQUENTIAL_PER_IRREGULAR
    }

    /// Records that acknowledged bytes were not captured: then IDs are missing without a loss in
    /// the network.
    pub fn excuse_missing(&mut self) {
        self.excused = true;
    }

    /// Returns whether at most one ID was missing without a silence of an RTO: no other connection
    /// uses the IDs.
    pub fn are_exclusive(&self) -> bool {
        self.irregular <= 1
    }

    /// Restarts the count of missing packets.
    pub fn reset_missing(&mut self) {
        self.missing_packets = 0;
        self.excused = false;
    }
}

/// A sender's clock, derived from its timestamps.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct TsvalClock {
    first: Option<(Time, u32)>,
    last: (Time, u32),
}

impl TsvalClock {
    /// Observes a segment with this TSval.
    #[inline]
    pub fn observe(&mut self, time: Time, value: u32) {
        self.first.get_or_insert((time, value));
        self.last = (time, value);
    }

    /// Returns the time between two sends, at most one tick too long; `None` if the tick is
    /// unknown.
    pub fn time_between(&self, one: u32, other: u32) -> Option<Nanos> {
        let (start, first) = self.first?;
        let (end, last) = self.last;
        let (time, ticks) = (end - start, last.wrapping_sub(first));
        let apart = other.wrapping_sub(one);
        if time < MIN_OBSERVED.0 || ticks < MIN_OBSERVED.1 || ticks > u32::MAX / 2 || apart > u32::MAX / 2 {
            return None;
        }
        Some(time.scale((f64::from(apart) + 1.0) / f64::from(ticks)))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::tcp::FrameRef;
    use crate::wire::{Checksum, Options, Segment};
    use proptest::prelude::*;
    use std::net::IpAddr;
    use whyslow_analysis::types::Side;
    use whyslow_units::{Nanos, SeqNumber, Time};

    fn seg(ms: i64, id: u16) -> Seg {
        let segment = Segment {
            src: IpAddr::from([192, 0, 2, 1]),
            dst: IpAddr::from([192, 0, 2, 2]),
            src_port: 1,
            dst_port: 2,
            seq: SeqNumber(0),
            ack: SeqNumber(0),
            flags: Flags::default(),
            window: 0,
            payload_len: 0,
            payload: &[],
            options: Options::default(),
            ip_id: Some(id),
            ttl: 64,
            ecn: 0,
            checksum: Checksum::Unknown,
            fragment: false,
            tunnels: 0,
        };
        Seg::new(&segment, Side::A, Time::from_millis(ms), FrameRef::default())
    }

    /// Result after packets with these times and IDs.
    fn after(packets: &[(i64, u16)]) -> Option<u32> {
        let mut numbers = IpIdTracker::default();
        for &(ms, id) in packets {
            numbers.observe(&seg(ms, id), 1, 0);
        }
        numbers.missing_packets()
    }

    #[test]
    fn missing_id_after_a_silence_is_a_packet() {
        let steady: Vec<_> = (0..6).map(|n| (n, 65_532u16.wrapping_add(n as u16))).collect();
        let then = |id: u16| after(&[steady.as_slice(), &[(300, id)]].concat());
        assert_eq!(then(2), Some(0), "the count continues through zero");
        assert_eq!(then(3), Some(1));
        assert_eq!(then(12), Some(10));
    }

    #[test]
    fn irregular_ids_are_unreliable() {
        assert_eq!(after(&[(0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (300, 0)]), None);
        assert_eq!(after(&[(0, 9), (1, 512), (2, 40_000), (3, 7), (4, 30_123), (5, 99)]), None);
        let shared: Vec<_> = (0..20).map(|n| (n, n as u16 * 2)).collect();
        assert_eq!(after(&shared), None, "another connection uses every second one");
        let mixed: Vec<_> = (1..20).map(|n| (n, if n % 3 == 0 { 0 } else { n as u16 })).collect();
        assert_eq!(after(&mixed), None, "some packets have a number and some have none");
        assert_eq!(after(&[(0, 1), (1, 2), (2, 3)]), None, "too few to know");
    }

    #[test]
    fn repeated_pause_without_a_missing_id_is_not_a_timeout() {
        let ids = [1, 2, 3, 5, 6, 7, 8, 13, 14, 15, 16, 20, 21];
        let periodic: Vec<_> = (0..).map(|n| n * 1_050).zip(ids).collect();
        assert_eq!(after(&periodic), None, "other connections of the host count on");
        let backing_off = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (306, 8), (307, 9), (908, 12), (909, 13)];
        assert_eq!(after(&backing_off), Some(3));
    }

    #[test]
    fn reordered_packet_and_sequence_hole_are_not_missing() {
        assert_eq!(after(&[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (6, 7), (6, 6)]), Some(0));
        let mut numbers = IpIdTracker::default();
        for id in 1..8 {
            numbers.observe(&seg(i64::from(id), id), 1, 0);
        }
        numbers.observe(&seg(300, 10), 4, 2);
        assert_eq!(numbers.missing_packets(), Some(0));
        numbers.observe(&seg(301, 14), 1, 0);
        assert_eq!(numbers.missing_packets(), Some(0), "a segment of four packets took four numbers");
        numbers.observe(&seg(600, 17), 1, 0);
        assert_eq!(numbers.missing_packets(), Some(2));
        numbers.excuse_missing();
        assert_eq!(numbers.missing_packets(), None, "the capture lost them");
        numbers.reset_missing();
        assert_eq!(numbers.missing_packets(), Some(0));
    }

    proptest! {
        #[test]
        fn observe_next_agrees_with_observe(
            first in any::<u16>(),
            packets in prop::collection::vec((0i64..400, prop_oneof![9 => Just(1u16), 1 => any::<u16>()], 1u16..4, 0u16..3), 1..80),
        ) {
            let (mut short, mut general) = (IpIdTracker::default(), IpIdTracker::default());
            let (mut time, mut id) = (0, first);
            for (ms, step, packets, skipped) in packets {
                (time, id) = (time + ms, id.wrapping_add(step));
                let seg = seg(time, id);
                if packets == 1 && short.is_next(&seg) {
                    short.observe_next(&seg);
                } else {
                    short.observe(&seg, packets, skipped);
                }
                general.observe(&seg, packets, skipped);
                prop_assert_eq!(short.missing_packets(), general.missing_packets());
                prop_assert_eq!((short.irregular, short.last, short.next), (general.irregular, general.last, general.next));
                prop_assert_eq!(short.sequential + short.run, general.sequential);
            }
        }
    }

    #[test]
    fn segments_sent_together_have_the_same_tsval() {
        let mut ticks = TsvalClock::default();
        ticks.observe(Time::from_millis(0), u32::MAX - 10);
        assert_eq!(ticks.time_between(5, 5), None);
        // A tick of four milliseconds.
        ticks.observe(Time::from_millis(400), 89);
        assert_eq!(ticks.time_between(7, 7), Some(Nanos::from_millis(4)));
        assert_eq!(ticks.time_between(u32::MAX, 9), Some(Nanos::from_millis(44)));
        assert_eq!(ticks.time_between(9, 8), None, "sent before");
    }
}
