//! [`Ledger`]: maps the bytes of all streams of one end to a single sequence, like TCP's.
//!
//! Each new byte of a stream gets the next place in the sequence, and keeps it when it is
//! retransmitted. So the data of a packet is a set of places, an ACK frame acknowledges a set of
//! places, and the limit of MAX_DATA is the right edge of a window.

use std::collections::{BTreeMap, VecDeque};
use whyslow_analysis::types::FlowControl;
use whyslow_units::{Nanos, Time};

/// Maximum number of simultaneous streams of a direction.
const MAX_STREAMS: usize = 1024;
/// Maximum number of stored pieces of all streams.
const MAX_EXTENTS: usize = 16_384;
/// Maximum number of unacknowledged packets of a direction.
const MAX_PACKETS: usize = 16_384;
/// A packet this far below the largest acknowledged one will never be acknowledged: it was declared
/// lost (RFC 9002 section 6.1.1 uses 3).
const FAR_BEHIND: u64 = 4_096;
/// Number of ACK frames between two searches of all streams for acknowledged data.
const ACKS_PER_SWEEP: u64 = 64;
/// A longer hole in a stream is not a loss: the capture began late, or the frame is hostile.
const MAX_HOLE: u64 = 64 << 20;

/// A range of places: the first one, and the one after the last.
pub(super) type Places = (u64, u64);

/// A range of a stream, and its places.
#[derive(Clone, Copy, Debug)]
struct Extent {
    offset: u64,
    len: u64,
    at: u64,
}

/// The data of one end on a stream.
#[derive(Clone, Debug)]
struct Outgoing {
    /// Sorted by offset, without gaps.
    extents: VecDeque<Extent>,
    /// Offset after the last byte.
    next: u64,
    /// Limit granted by the other end.
    most: u64,
    /// Its largest window.
    widest: u64,
    fin: bool,
    /// Whether it is a control stream: its frames have no positions.
    is_control: bool,
}

/// Bytes that later ones show to be sent, but that are in no captured packet.
#[derive(Clone, Copy, Debug)]
struct Hole {
    places: Places,
    /// Uncaptured packets that may have contained it.
    packets: (u64, u64),
}

/// The places in an unacknowledged packet.
type Carried = Vec<Places>;

/// The data of one end.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    /// The place of the next new byte, without the SYN's.
    next: u64,
    streams: BTreeMap<u64, Outgoing>,
    extents: usize,
    packets: BTreeMap<u64, Carried>,
    holes: Vec<Hole>,
    /// Largest captured packet number.
    largest: Option<u64>,
    largest_acknowledged: u64,
    /// Everything before this place is acknowledged.
    una: u64,
    /// Acknowledged ranges after a hole: first place, and the one after the last.
    acked: BTreeMap<u64, u64>,
    /// Bytes of control streams.
    control: u64,
    /// Number of ACK frames so far.
    ack_frames: u64,
    /// Limit of the connection granted by the other end.
    pub(super) max_data: Option<u64>,
    /// Initial limits of its streams, by [`StreamKind`].
    pub(super) first_windows: [Option<u64>; 3],
    /// Time since when a window is full, and its stream; no stream for the connection's window.
    blocked: Option<(Time, Option<u64>)>,
    /// The last period in which a window was full, until data is sent again.
    opened: Option<(Time, Time, Option<u64>)>,
    /// Whether the receiver then had more than half of the largest window unread.
    is_unread: bool,
    /// The largest window of the connection.
    widest: u64,
    /// The largest window since it was full.
    window: u64,
    pub(super) flow: FlowControl,
}

/// A STREAM frame in a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sending {
    pub(super) number: u64,
    pub(super) stream: u64,
    pub(super) offset: u64,
    pub(super) len: u64,
    pub(super) fin: bool,
    pub(super) time: Time,
    /// Uncaptured packets directly before it.
    pub(super) missing: Option<Places>,
}

/// A prompt window update follows the data that made room for it within this time: a receiver's
/// application must read, and an ACK is delayed by at most 25 ms (RFC 9000 section 18.2,
/// max_ack_delay's default).
const PROMPT_GRANT: Nanos = Nanos::from_millis(50);

/// Which initial limit a stream has (RFC 9000 section 18.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StreamKind {
    /// The receiver opened it.
    OfReceiver,
    /// The sender opened it.
    OfSender,
    OneWay,
}

/// The application protocol, which determines the control streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Application {
    /// HTTP/3: control streams and those of QPACK are unidirectional (RFC 9114 section 6.2).
    Http3,
    /// Any other.
    Other,
}

/// The effect of an ACK frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Acknowledged {
    /// Number of newly acknowledged packets.
    pub(super) packets: u64,
    /// Places of their data after the first hole.
    pub(super) behind_hole: Vec<Places>,
}

impl Ledger {
    /// Everything before this place is acknowledged.
    pub(super) fn acknowledged(&self) -> u64 {
        self.una
    }

    /// The place of the next new byte.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Records a captured packet; returns the uncaptured ones between it and the previous one.
    pub(super) fn on_packet(&mut self, number: u64) -> Option<Places> {
        let before = self.largest;
        self.largest = Some(before.map_or(number, |before| before.max(number)));
        let first = before.map_or(0, |before| before + 1);
        (first < number).then(|| (first, number - 1))
    }

    /// Returns the places of a stream's bytes in a packet. `sender_is_client`: whether the client
    /// sends.
    pub(super) fn carry(
        &mut self,
        sending: &Sending,
        (sender_is_client, application): (bool, Application),
    ) -> Vec<Places> {
        let Sending { number, stream, offset, len, fin, time, missing } = *sending;
        let mut places = Vec::new();
        if !self.streams.contains_key(&stream) && !self.open(stream, sender_is_client, application) {
            return places;
        }
        let Some(outgoing) = self.streams.get_mut(&stream) else { return places };
        let end = offset.saturating_add(len);
        outgoing.fin |= fin;
        let is_full = end >= outgoing.most && !outgoing.fin && !outgoing.is_control;
        if outgoing.is_control {
            self.control += end.saturating_sub(outgoing.next);
            outgoing.next = outgoing.next.max(end);
            return places;
        }
        let known = outgoing.extents.partition_point(|extent| extent.offset + extent.len <= offset);
        for extent in outgoing.extents.iter().skip(known).take_while(|extent| extent.offset < end) {
            let (from, to) = (offset.max(extent.offset), end.min(extent.offset + extent.len));
            if from < to {
                push(&mut places, (extent.at + from - extent.offset, extent.at + to - extent.offset));
            }
        }
        if offset > outgoing.next {
            let len = offset - outgoing.next;
            let is_loss = len <= MAX_HOLE && missing.is_some();
            if is_loss {
                let at = self.next;
                self.extents += usize::from(append(&mut outgoing.extents, Extent { offset: outgoing.next, len, at }));
                self.next += len;
                if let Some(packets) = missing.filter(|_| self.holes.len() < MAX_EXTENTS) {
                    self.holes.push(Hole { places: (at, at + len), packets });
                }
            } else {
                self.control = self.control.saturating_add(len);
            }
            outgoing.next = offset;
        }
        if end > outgoing.next {
            let extent = Extent { offset: outgoing.next, len: end - outgoing.next, at: self.next };
            push(&mut places, (extent.at, extent.at + extent.len));
            self.extents += usize::from(append(&mut outgoing.extents, extent));
            self.next += extent.len;
            outgoing.next = end;
        }
        if is_full {
            self.blocked.get_or_insert((time, Some(stream)));
        } else if self.max_data.is_some_and(|most| self.next.saturating_add(self.control) >= most) {
            self.blocked.get_or_insert((time, None));
        }
        if !places.is_empty() {
            self.packets.entry(number).or_default().extend(&places);
        }
        if self.packets.len() > MAX_PACKETS {
            self.packets.pop_first();
        }
        if self.extents > MAX_EXTENTS {
            self.forget_streams();
        }
        places
    }

    fn open(&mut self, stream: u64, sender_is_client: bool, application: Application) -> bool {
        if self.streams.len() >= MAX_STREAMS {
            self.forget_streams();
        }
        let kind = match (stream & 2 != 0, (stream & 1 == 0) == sender_is_client) {
            (true, _) => StreamKind::OneWay,
            (false, true) => StreamKind::OfSender,
            (false, false) => StreamKind::OfReceiver,
        };
        let is_control = kind == StreamKind::OneWay && application == Application::Http3;
        let most = self.first_windows.get(kind as usize).copied().flatten().unwrap_or(u64::MAX);
        let widest = if most == u64::MAX { 0 } else { most };
        let outgoing = Outgoing { extents: VecDeque::new(), next: 0, most, widest, fin: false, is_control };
        self.streams.insert(stream, outgoing);
        true
    }

    /// Drops streams whose data is acknowledged, otherwise the older half of them.
    #[cold]
    fn forget_streams(&mut self) {
        self.drop_acknowledged();
        if self.streams.len() >= MAX_STREAMS || self.extents > MAX_EXTENTS {
            let half = self.streams.len() / 2;
            let Some(&middle) = self.streams.keys().nth(half) else { return };
            self.streams = self.streams.split_off(&middle);
            self.extents = self.streams.values().map(|stream| stream.extents.len()).sum();
        }
        if self.extents > MAX_EXTENTS {
            self.streams.values_mut().for_each(|stream| stream.extents.clear());
            self.extents = 0;
        }
    }

    /// Drops acknowledged pieces, and ended streams.
    fn drop_acknowledged(&mut self) {
        let una = self.una;
        for outgoing in self.streams.values_mut() {
            while outgoing.extents.front().is_some_and(|extent| extent.at + extent.len <= una) {
                outgoing.extents.pop_front();
            }
        }
        self.streams.retain(|_, outgoing| !(outgoing.fin && outgoing.extents.is_empty() && !outgoing.is_control));
        self.extents = self.streams.values().map(|stream| stream.extents.len()).sum();
    }

    /// Processes a range of an ACK frame of the other end.
    pub(super) fn acknowledge(&mut self, (low, high): (u64, u64), found: &mut Acknowledged) {
        self.largest_acknowledged = self.largest_acknowledged.max(high.min(self.largest.unwrap_or(0)));
        while let Some((&number, _)) = self.packets.range(low..=high).next() {
            let Some(carried) = self.packets.remove(&number) else { break };
            found.packets += 1;
            for places in carried {
                self.mark(places);
                found.behind_hole.push(places);
            }
        }
        let mut holes = std::mem::take(&mut self.holes);
        holes.retain(|hole| {
            let is_acknowledged = low <= hole.packets.0 && hole.packets.1 <= high;
            if is_acknowledged {
                self.mark(hole.places);
            }
            !is_acknowledged && hole.places.1 > self.una
        });
        self.holes = holes;
    }

    /// The unacknowledged packets with data, if there are at most `most`.
    pub(super) fn few_unacknowledged(&self, most: usize) -> Option<Vec<u64>> {
        (self.packets.len() <= most && self.holes.is_empty()).then(|| self.packets.keys().copied().collect())
    }

    /// Completes an ACK frame.
    pub(super) fn complete_ack(&mut self, found: &mut Acknowledged) {
        let una = self.una;
        found.behind_hole.retain(|places| places.1 > una);
        let behind = self.largest_acknowledged.saturating_sub(FAR_BEHIND);
        while let Some((&number, _)) = self.packets.first_key_value().filter(|(number, _)| **number < behind) {
            self.packets.remove(&number);
        }
        self.ack_frames += 1;
        if self.ack_frames.is_multiple_of(ACKS_PER_SWEEP) {
            self.drop_acknowledged();
        }
    }

    fn mark(&mut self, (mut from, mut to): Places) {
        if to <= self.una {
            return;
        }
        while let Some((&start, &end)) = self.acked.range(..=to).next_back().filter(|(_, end)| **end >= from) {
            self.acked.remove(&start);
            (from, to) = (from.min(start), to.max(end));
        }
        if from <= self.una {
            self.una = to;
            return;
        }
        self.acked.insert(from, to);
        if self.acked.len() > MAX_PACKETS
            && let Some((_, end)) = self.acked.pop_first()
        {
            // Data this old is not retransmitted.
            self.una = end;
        }
    }

    /// The acknowledged range that contains a place after the first hole.
    pub(super) fn block_of(&self, place: u64) -> Option<Places> {
        let (&start, &end) = self.acked.range(..=place).next_back()?;
        (place < end).then_some((start, end))
    }

    /// The highest acknowledged ranges after a hole.
    pub(super) fn blocks(&self) -> impl Iterator<Item = Places> + '_ {
        self.acked.iter().rev().map(|(&start, &end)| (start, end))
    }

    /// Ends a stream without the rest of its data, which is not retransmitted.
    pub(super) fn reset(&mut self, stream: u64) {
        let Some(outgoing) = self.streams.get_mut(&stream) else { return };
        outgoing.fin = true;
        let extents = std::mem::take(&mut outgoing.extents);
        extents.iter().for_each(|extent| self.mark((extent.at, extent.at + extent.len)));
    }

    /// Records the other end's limit for a stream.
    pub(super) fn grant(&mut self, stream: u64, most: u64, time: Time) {
        let Some(outgoing) = self.streams.get_mut(&stream).filter(|stream| stream.most < most) else { return };
        outgoing.most = most;
        let room = most.saturating_sub(outgoing.next);
        outgoing.widest = outgoing.widest.max(room);
        let widest = outgoing.widest;
        self.open_window(Some(stream), (room, widest), time);
    }

    /// Records the other end's limit for the connection.
    pub(super) fn grant_connection(&mut self, most: u64, time: Time) {
        if self.max_data.is_none_or(|known| known < most) {
            let room = most.saturating_sub(self.next.saturating_add(self.control));
            // The first limit is the first window.
            let first = self.max_data.filter(|_| self.widest == 0).unwrap_or_default();
            self.widest = self.widest.max(first).max(room);
            self.max_data = Some(most);
            self.open_window(None, (room, self.widest), time);
        }
    }

    fn open_window(&mut self, window: Option<u64>, (room, widest): (u64, u64), time: Time) {
        if let Some((since, _)) = self.blocked.take_if(|(_, blocked)| *blocked == window) {
            self.opened = Some((since, time, window));
            // A receiver that reads all it has grants at least half of a window beyond that:
            // programs extend it when at most half is read.
            let beyond = self.next.saturating_add(room).saturating_sub(self.una);
            (self.window, self.is_unread) = (room, beyond < widest / 2);
        }
    }

    /// Records that the sender continues; returns how long after a window update, if it had waited
    /// for one. `loop_back`: round trip to the receiver.
    pub(super) fn resume(&mut self, time: Time, loop_back: Nanos) -> Option<Nanos> {
        let (since, until, window) = self.opened.take()?;
        // The receiver sends the update as soon as there is room, so the time until the next data
        // shows the wait at both ends.
        let (waited, granted) = (time - since, until - since);
        let flow = &mut self.flow;
        match window {
            Some(stream) => {
                (flow.stream_times, flow.stream) = (flow.stream_times + 1, Some(stream));
                flow.stream_s += waited;
            }
            None => {
                flow.connection_times += 1;
                flow.connection_s += waited;
            }
        }
        flow.window = flow.window.max(self.window);
        let late = granted - loop_back;
        flow.late_s += match () {
            () if self.is_unread => waited,
            () if late > PROMPT_GRANT => late,
            () => Nanos::ZERO,
        };
        Some(time - until)
    }

    /// The place after the last byte that flow control allows; `None` without a known limit.
    pub(super) fn right_edge(&self) -> Option<u64> {
        let used = self.next.saturating_add(self.control);
        let of_connection = self.max_data.map(|most| most.saturating_sub(used));
        let open = self.streams.values().filter(|stream| !stream.fin && !stream.is_control);
        let mut rooms = open.map(|stream| stream.most.saturating_sub(stream.next)).peekable();
        let of_streams = match rooms.peek() {
            Some(_) => Some(rooms.fold(0, u64::saturating_add)),
            None => self.first_windows.iter().take(2).flatten().min().copied(),
        };
        let room = of_connection.into_iter().chain(of_streams).min()?;
        Some(self.next.saturating_add(room))
    }
}

/// Adds a range of places; merges it with the last one if they are adjacent.
fn push(places: &mut Vec<Places>, new: Places) {
    match places.last_mut() {
        Some(last) if last.1 == new.0 => last.1 = new.1,
        _ => places.push(new),
    }
}

/// Adds an extent; returns `false` if it only extended the last one.
fn append(extents: &mut VecDeque<Extent>, new: Extent) -> bool {
    match extents.back_mut() {
        Some(last) if last.offset + last.len == new.offset && last.at + last.len == new.at => {
            last.len += new.len;
            false
        }
        _ => {
            extents.push_back(new);
            true
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    const OTHER: (bool, Application) = (false, Application::Other);

    fn sending(number: u64, stream: u64, offset: u64, len: u64) -> Sending {
        Sending { number, stream, offset, len, fin: false, time: Time(number as i64), missing: None }
    }

    fn acknowledge(ledger: &mut Ledger, ranges: &[Places]) -> Acknowledged {
        let mut found = Acknowledged::default();
        ranges.iter().for_each(|range| ledger.acknowledge(*range, &mut found));
        ledger.complete_ack(&mut found);
        found
    }

    #[test]
    fn retransmitted_bytes_keep_their_place() {
        let mut ledger = Ledger::default();
        for number in 0..3 {
            ledger.on_packet(number);
        }
        assert_eq!(ledger.carry(&sending(0, 0, 0, 100), OTHER), [(0, 100)]);
        assert_eq!(ledger.carry(&sending(1, 4, 0, 50), OTHER), [(100, 150)]);
        assert_eq!(ledger.carry(&sending(2, 0, 100, 100), OTHER), [(150, 250)]);
        acknowledge(&mut ledger, &[(1, 2)]);
        assert_eq!((ledger.acknowledged(), ledger.blocks().collect::<Vec<_>>()), (0, vec![(100, 250)]));
        ledger.on_packet(3);
        assert_eq!(ledger.carry(&sending(3, 0, 0, 100), OTHER), [(0, 100)]);
        acknowledge(&mut ledger, &[(1, 3)]);
        assert_eq!((ledger.acknowledged(), ledger.next()), (250, 250));
    }

    #[test]
    fn lost_packet_before_the_capture_leaves_a_hole() {
        let mut ledger = Ledger::default();
        assert_eq!(ledger.on_packet(0), None);
        ledger.carry(&sending(0, 0, 0, 100), OTHER);
        let missing = ledger.on_packet(2);
        assert_eq!(missing, Some((1, 1)));
        let places = ledger.carry(&Sending { missing, ..sending(2, 0, 200, 100) }, OTHER);
        assert_eq!(places, [(200, 300)]);
        acknowledge(&mut ledger, &[(2, 2), (0, 0)]);
        assert_eq!(ledger.acknowledged(), 100);
        ledger.on_packet(3);
        assert_eq!(ledger.carry(&sending(3, 0, 100, 100), OTHER), [(100, 200)]);
        acknowledge(&mut ledger, &[(2, 3)]);
        assert_eq!(ledger.acknowledged(), 300);
    }

    #[test]
    fn right_edge_is_the_minimum_of_connection_and_streams() {
        let mut ledger = Ledger { max_data: Some(1_000), first_windows: [Some(300); 3], ..Ledger::default() };
        ledger.on_packet(0);
        ledger.carry(&sending(0, 0, 0, 100), OTHER);
        assert_eq!(ledger.right_edge(), Some(300));
        ledger.carry(&sending(1, 0, 100, 200), OTHER);
        ledger.grant(0, 5_000, Time(11));
        assert_eq!(ledger.right_edge(), Some(1_000));
        assert_eq!(ledger.resume(Time(15), Nanos(0)), Some(Nanos(4)));
        assert_eq!((ledger.flow.stream_times, ledger.flow.stream_s, ledger.flow.stream), (1, Nanos(14), Some(0)));
    }

    #[test]
    fn control_streams_of_http3_have_no_place() {
        let mut ledger = Ledger { max_data: Some(1_000), ..Ledger::default() };
        assert_eq!(ledger.carry(&sending(0, 3, 0, 20), (false, Application::Http3)), []);
        assert_eq!((ledger.next(), ledger.right_edge()), (0, Some(980)));
    }

    proptest! {
        #[test]
        fn hostile_packets_are_bounded(
            packets in prop::collection::vec((0u64..200, 0u64..8, 0u64..1 << 40, 0u64..2_000, 0u64..300), 0..80),
        ) {
            let mut ledger = Ledger::default();
            for (number, stream, offset, len, acked) in packets {
                let missing = ledger.on_packet(number);
                let sent = Sending { missing, ..sending(number, stream, offset, len) };
                let places = ledger.carry(&sent, OTHER);
                prop_assert!(places.iter().all(|(start, end)| start < end && *end <= ledger.next()));
                acknowledge(&mut ledger, &[(acked / 2, acked)]);
                prop_assert!(ledger.acknowledged() <= ledger.next());
            }
        }
    }
}
