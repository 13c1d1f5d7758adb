//! Which packet of one capture is which of the other.
//!
//! Payload is compared by cells: the byte ranges between any two segment boundaries that either
//! capture has. Offload merges and splits segments, so that one segment here is ten there, but a
//! cell is whole in both. Packets without payload are compared by their numbers and flags. Copies
//! of one cell (sent again, or duplicated on the way) are told apart by what the sender changes
//! from one to the next and the path was found to leave alone: the timestamp, the IP number; and
//! among those that are alike by order and by time, as none arrives before it can.

use super::clock::{self, ClockOffset, ClockSample};
use super::collector::{ConnectionPackets, PacketRecord};
use crate::types::Side;
use crate::units::{Nanos, SeqNumber};
use crate::wire::Flags;

/// Cells in one capture for each packet in both, beyond which these were made to be tangled: a cell
/// ends where a segment of either ends, and is sent again now and then.
const MAX_CELLS: usize = 3;
/// A jump over more than this is no progress of a sender.
const MAX_JUMP: i64 = 1 << 30;
/// Payload of a segment on Ethernet.
const ETHERNET: u32 = 1460;

/// The packets of one capture in their places: byte 0 is the SYN, as in Wireshark's relative
/// numbers.
pub(super) struct PlacedPackets<'a> {
    pub recs: &'a [PacketRecord],
    /// Of each packet: its first byte, and what it acknowledges.
    pub at: Vec<(i64, i64)>,
}

impl<'a> PlacedPackets<'a> {
    /// Puts packets in their places, given the number before each direction's first payload byte.
    fn new(track: &'a ConnectionPackets, numbers: [SeqNumber; 2]) -> Self {
        let mut sent = [0_i64; 2];
        let mut acked = [0_i64; 2];
        let place = |number: SeqNumber, base: SeqNumber, high: &mut i64, trusted: bool| {
            // The 32 bits that are seen, as near as can be to the highest that was.
            let at = *high + i64::from(number.distance(base + (*high as u32)));
            if trusted && at > *high && at - *high < MAX_JUMP {
                *high = at;
            }
            at
        };
        let at = track.packets.iter().map(|rec| {
            let trusted = !rec.flags.has(Flags::RST);
            let syn = i64::from(rec.flags.has(Flags::SYN) && rec.len > 0);
            let seq = place(rec.seq, numbers[rec.from], &mut sent[rec.from], trusted) + syn;
            let ack = rec.ack.map_or(0, |ack| place(ack, numbers[!rec.from], &mut acked[rec.from], trusted));
            (seq, ack)
        });
        Self { recs: &track.packets, at: at.collect() }
    }

    /// First byte and the one after the last.
    pub fn bytes(&self, index: u32) -> (i64, i64) {
        let index = index as usize;
        let start = self.at[index].0;
        (start, start + i64::from(self.recs[index].len))
    }

    pub fn rec(&self, index: u32) -> &PacketRecord {
        &self.recs[index as usize]
    }
}

/// What is compared: a cell of payload, or a packet without any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PayloadCell {
    start: i64,
    /// Its end; of a packet without payload what it acknowledges.
    end: i64,
    /// 0 for payload; else the flags that make it another packet.
    kind: u16,
}

impl PayloadCell {
    const CONTROL: u16 = 1 << 15;

    fn is_payload(self) -> bool {
        self.kind == 0
    }
}

/// A packet that has (a part of) its payload in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PacketInCell {
    slot: PayloadCell,
    rec: u32,
}

/// A part of a packet; empty for one without payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PacketPart {
    pub rec: u32,
    pub start: i64,
    pub end: i64,
}

impl PacketPart {
    fn new(copy: PacketInCell) -> Self {
        let PayloadCell { start, end, .. } = copy.slot;
        Self { rec: copy.rec, start, end: if copy.slot.is_payload() { end } else { start } }
    }
}

/// A part of a packet in the first capture that met, and the packet in the second that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Match {
    pub sent: PacketPart,
    pub arrived: u32,
    /// As many arrived as were sent of those that nothing tells apart.
    pub sure: bool,
}

/// One direction: what passed the capture nearer to its sender, and what of it reached the other.
#[derive(Clone, Debug, Default)]
pub(super) struct DirectionMatch {
    pub matches: Vec<Match>,
    /// What did not arrive.
    pub missing: Vec<PacketPart>,
    /// What is not in the second capture, though it arrived there: no copy of it is, and it was
    /// acknowledged.
    pub uncaptured: Vec<PacketPart>,
    /// Payload that had been sent before.
    pub retransmitted: Vec<PacketPart>,
    /// Of these, that whose copy before is missing.
    pub retransmitted_for_loss: Vec<PacketPart>,
    /// Packets that arrived once more.
    pub duplicated: Vec<u32>,
    /// Packets that arrived and were not sent.
    pub unseen: Vec<u32>,
    /// What the path left alone.
    pub preserved: PreservedFields,
    /// Payload of a whole segment on the wire, bytes.
    pub mss: u32,
}

/// What identifies a copy and is the same on both sides of the path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PreservedFields {
    pub timestamps: bool,
    pub ip_ids: bool,
    pub windows: bool,
    /// Whether there was any packet with both timestamps, and with both IP numbers, to compare.
    pub had_timestamps: bool,
    pub had_ip_ids: bool,
}

/// Both directions.
pub(super) struct Aligned<'a> {
    pub placed: [PlacedPackets<'a>; 2],
    pub clock: ClockOffset,
    /// By sender, 0 the client.
    pub ways: [DirectionMatch; 2],
}

impl Aligned<'_> {
    /// Which capture is nearer to this sender.
    pub fn nearer(&self, from: Side) -> usize {
        if self.clock.first_is_nearer { from as usize } else { !from as usize }
    }

    /// When a capture saw a packet, by the first capture's clock.
    pub fn time(&self, capture: usize, rec: &PacketRecord) -> Nanos {
        if capture == 0 { rec.time } else { self.clock.to_first(rec.time) }
    }
}

/// Why two tracks cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AlignError {
    /// They share no packets one way.
    OneWay,
    /// No two clocks that run evenly can have told these times.
    Clock,
    /// More overlapping segments than any sender makes.
    Tangled,
}

/// Aligns two tracks. `numbers` are the numbers before each direction's first payload byte, in each
/// capture. Of a proxied connection only payload is the same, and only its first copy means
/// anything on both sides.
pub(super) fn align(
    tracks: [&ConnectionPackets; 2],
    numbers: [[SeqNumber; 2]; 2],
    proxied: bool,
) -> Result<Aligned<'_>, AlignError> {
    let placed = [PlacedPackets::new(tracks[0], numbers[0]), PlacedPackets::new(tracks[1], numbers[1])];
    let mss = segment_size(tracks);
    let copies = [copies_of(&placed, Side::A, proxied)?, copies_of(&placed, Side::B, proxied)?];
    let kept = Side::BOTH
        .map(|from| if proxied { PreservedFields::default() } else { preserved_fields(&placed, &copies[from], mss) });
    let mut samples = [Vec::new(), Vec::new()];
    for from in Side::BOTH {
        let [a, b] = &copies[from];
        groups(a, b, |xs, ys| {
            let ([x, ..], [y, ..]) = (xs, ys) else { return };
            let alone = xs.len() == 1 && ys.len() == 1;
            let [p, q] = [(0, x), (1, y)].map(|(which, copy)| identity(&placed[which], *copy, kept[from], mss));
            if p == q && (alone || proxied) {
                let [p, q] = [placed[0].rec(x.rec).time, placed[1].rec(y.rec).time];
                samples[from].push(ClockSample { time: p.0, later: q.0.saturating_sub(p.0) });
            }
        });
    }
    if samples.iter().any(Vec::is_empty) {
        return Err(AlignError::OneWay);
    }
    let clock = clock::solve([&samples[0], &samples[1]]).ok_or(AlignError::Clock)?;
    let mut aligned = Aligned { placed, clock, ways: Default::default() };
    for from in Side::BOTH {
        let first = aligned.nearer(from);
        let (sent, arrived) = (&copies[from][first], &copies[from][1 - first]);
        let answers = aligned.placed[1 - first].recs.iter().zip(&aligned.placed[1 - first].at);
        let acked = answers.filter(|(rec, _)| rec.from != from && rec.ack.is_some()).map(|(_, at)| at.1).max();
        let mut matcher = Matcher {
            aligned: &aligned,
            first,
            acked: acked.unwrap_or(0),
            slack: Nanos(clock.round_trip / 100 + 100_000),
            proxied,
            way: DirectionMatch { preserved: kept[from], mss, ..DirectionMatch::default() },
        };
        let (mut xs, mut ys) = (Vec::new(), Vec::new());
        groups(sent, arrived, |of_sent, of_arrived| matcher.group(of_sent, of_arrived, &mut xs, &mut ys));
        aligned.ways[from] = matcher.finish();
    }
    Ok(aligned)
}

/// The payload of a whole segment: as negotiated, or else the largest that is no merged one.
fn segment_size(tracks: [&ConnectionPackets; 2]) -> u32 {
    let offers = || tracks.iter().flat_map(|track| track.offers.iter().flatten());
    let negotiated = offers().filter_map(|offer| offer.mss).min().filter(|_| offers().count() >= 2);
    let stamps = if offers().all(|offer| offer.timestamps) { 12 } else { 0 };
    let size = match negotiated {
        Some(mss) => u32::from(mss).saturating_sub(stamps),
        None => {
            let lengths = tracks.iter().flat_map(|track| track.packets.iter().map(|rec| rec.len));
            lengths.filter(|len| *len <= ETHERNET).max().filter(|len| *len > ETHERNET / 2).unwrap_or(ETHERNET)
        }
    };
    size.max(64)
}

/// All slots of one direction in each capture, in order.
fn copies_of(placed: &[PlacedPackets<'_>; 2], from: Side, proxied: bool) -> Result<[Vec<PacketInCell>; 2], AlignError> {
    let of = |placed: &PlacedPackets<'_>| -> Vec<u32> {
        let indices = 0..u32::try_from(placed.recs.len()).unwrap_or(u32::MAX);
        indices.filter(|&index| placed.rec(index).from == from).collect()
    };
    let indices = [of(&placed[0]), of(&placed[1])];
    let with_payload =
        |which: usize| indices[which].iter().copied().filter(move |&index| placed[which].rec(index).len > 0);
    let mut cuts: Vec<i64> = (0..2)
        .flat_map(|which| with_payload(which).map(move |index| placed[which].bytes(index)))
        .flat_map(|(start, end)| [start, end])
        .collect();
    cuts.sort_unstable();
    cuts.dedup();
    let mut copies = [Vec::new(), Vec::new()];
    let room = (indices[0].len() + indices[1].len()).saturating_mul(MAX_CELLS).saturating_add(65_536);
    for (which, copies) in copies.iter_mut().enumerate() {
        for &rec in &indices[which] {
            let (start, end) = placed[which].bytes(rec);
            if start == end {
                if !proxied {
                    let kept = placed[which].rec(rec).flags.0 & (Flags::SYN | Flags::FIN | Flags::RST).0;
                    let slot =
                        PayloadCell { start, end: placed[which].at[rec as usize].1, kind: PayloadCell::CONTROL | kept };
                    copies.push(PacketInCell { slot, rec });
                }
                continue;
            }
            let place = |at: i64| cuts.partition_point(|&cut| cut < at);
            let cells = cuts.get(place(start)..=place(end)).unwrap_or_default();
            copies.extend(
                cells
                    .windows(2)
                    .map(|cell| PacketInCell { slot: PayloadCell { start: cell[0], end: cell[1], kind: 0 }, rec }),
            );
            if copies.len() > room {
                return Err(AlignError::Tangled);
            }
        }
        copies.sort_unstable();
    }
    Ok(copies)
}

/// Calls for each slot that either has, in order, with its copies in each.
fn groups(mut a: &[PacketInCell], mut b: &[PacketInCell], mut each: impl FnMut(&[PacketInCell], &[PacketInCell])) {
    while let Some(slot) = [a.first(), b.first()].into_iter().flatten().map(|copy| copy.slot).min() {
        let of_slot = |copies: &[PacketInCell]| copies.iter().take_while(|copy| copy.slot == slot).count();
        let (xs, a_left) = a.split_at(of_slot(a));
        let (ys, b_left) = b.split_at(of_slot(b));
        each(xs, ys);
        (a, b) = (a_left, b_left);
    }
}

/// What tells a copy from another one of the same slot.
type PacketIdentity = (Option<u32>, Option<u16>, Option<u16>);

fn identity(placed: &PlacedPackets<'_>, copy: PacketInCell, kept: PreservedFields, mss: u32) -> PacketIdentity {
    let rec = placed.rec(copy.rec);
    (
        rec.timestamps.map(|stamps| stamps.0).filter(|_| kept.timestamps),
        // A segment that the receiving host merged has the number of its first part alone; a
        // timestamp it shares.
        number(placed, copy, mss).filter(|_| kept.ip_ids && !(kept.timestamps && copy.slot.is_payload())),
        Some(rec.window).filter(|_| kept.windows && !copy.slot.is_payload()),
    )
}

/// The IP number that the copy's own packet has on the wire: those that a large segment is cut into
/// are numbered on.
fn number(placed: &PlacedPackets<'_>, copy: PacketInCell, mss: u32) -> Option<u16> {
    let rec = placed.rec(copy.rec);
    let place = if copy.slot.is_payload() {
        copy.slot.start.saturating_sub(placed.bytes(copy.rec).0) / i64::from(mss)
    } else {
        0
    };
    rec.id.filter(|id| *id != 0).map(|id| id.wrapping_add(place as u16))
}

/// What the path leaves alone, by the slots that have one copy in each capture.
fn preserved_fields(placed: &[PlacedPackets<'_>; 2], copies: &[Vec<PacketInCell>; 2], mss: u32) -> PreservedFields {
    #[derive(Default)]
    struct Tally(u64, u64);
    impl Tally {
        fn add(&mut self, same: bool) {
            self.0 += u64::from(same);
            self.1 += 1;
        }
        fn mostly(&self) -> bool {
            self.0 * 10 >= self.1 * 9 && self.1 > 0
        }
    }
    let [mut stamps, mut ids, mut windows] = [const { Tally(0, 0) }; 3];
    groups(&copies[0], &copies[1], |xs, ys| {
        let ([x], [y]) = (xs, ys) else { return };
        let (p, q) = (placed[0].rec(x.rec), placed[1].rec(y.rec));
        if let (Some(p), Some(q)) = (p.timestamps, q.timestamps) {
            stamps.add(p.0 == q.0);
        }
        if let (Some(p), Some(q)) = (number(&placed[0], *x, mss), number(&placed[1], *y, mss)) {
            ids.add(p == q);
        }
        if !x.slot.is_payload() {
            windows.add(p.window == q.window);
        }
    });
    PreservedFields {
        timestamps: stamps.mostly(),
        ip_ids: ids.mostly(),
        windows: windows.mostly(),
        had_timestamps: stamps.1 > 0,
        had_ip_ids: ids.1 > 0,
    }
}

/// Puts the copies of one direction together.
struct Matcher<'a, 'b> {
    aligned: &'b Aligned<'a>,
    first: usize,
    /// The highest byte that the receiver acknowledged.
    acked: i64,
    slack: Nanos,
    proxied: bool,
    way: DirectionMatch,
}

impl Matcher<'_, '_> {
    /// Whether the one may be the other, by when it arrived.
    fn may_be(&self, sent: u32, arrived: u32) -> bool {
        let (first, second) = (self.first, 1 - self.first);
        let sent = self.aligned.time(first, self.aligned.placed[first].rec(sent));
        let arrived = self.aligned.time(second, self.aligned.placed[second].rec(arrived));
        arrived - sent >= Nanos(self.aligned.clock.round_trip / 2) - self.slack
    }

    /// One slot: `xs` were sent, `ys` arrived.
    fn group(
        &mut self,
        sent: &[PacketInCell],
        arrived: &[PacketInCell],
        xs: &mut Vec<(PacketIdentity, PacketInCell)>,
        ys: &mut Vec<(PacketIdentity, PacketInCell)>,
    ) {
        if self.proxied {
            if let ([x, ..], [y, ..]) = (sent, arrived) {
                self.way.matches.push(Match { sent: PacketPart::new(*x), arrived: y.rec, sure: true });
            }
            return;
        }
        let (kept, mss) = (self.way.preserved, self.way.mss);
        let named = |copies: &[PacketInCell], which: usize, named: &mut Vec<(PacketIdentity, PacketInCell)>| {
            let placed = &self.aligned.placed[which];
            named.clear();
            named.extend(copies.iter().map(|copy| (identity(placed, *copy, kept, mss), *copy)));
            named.sort_unstable();
        };
        named(sent, self.first, xs);
        named(arrived, 1 - self.first, ys);
        let before = self.way.missing.len();
        let matched = self.way.matches.len();
        let (mut xs_left, mut ys_left) = (xs.as_slice(), ys.as_slice());
        while let Some(name) = [xs_left.first(), ys_left.first()].into_iter().flatten().map(|named| named.0).min() {
            let take =
                |from: &[(PacketIdentity, PacketInCell)]| from.iter().take_while(|named| named.0 == name).count();
            let (xs, more) = xs_left.split_at(take(xs_left));
            xs_left = more;
            let (ys, more) = ys_left.split_at(take(ys_left));
            ys_left = more;
            self.alike(name, xs, ys);
        }
        // A copy is sent again for the loss of the one before it, whatever became of itself.
        if let [first, again @ ..] = sent
            && first.slot.is_payload()
        {
            let way = &mut self.way;
            let missing = &mut way.missing[before..];
            missing.sort_unstable();
            let mut earlier = first.rec;
            for copy in again {
                way.retransmitted.push(PacketPart::new(*copy));
                if missing.binary_search_by_key(&earlier, |part| part.rec).is_ok() {
                    way.retransmitted_for_loss.push(PacketPart::new(*copy));
                }
                earlier = copy.rec;
            }
            if way.matches.len() == matched && first.slot.end <= self.acked {
                way.uncaptured.extend(way.missing.pop());
            }
        }
    }

    /// Copies that nothing tells apart but when they passed. They stay in order. Of more that were
    /// sent than arrived, each arrival has the latest that it may be: what was lost was sent again
    /// later. Of more that arrived, each sent one has the earliest. So each has one at least as
    /// good as its true one, and none is left without.
    fn alike(
        &mut self,
        name: PacketIdentity,
        xs: &[(PacketIdentity, PacketInCell)],
        ys: &[(PacketIdentity, PacketInCell)],
    ) {
        let sure = xs.len() == ys.len();
        if xs.len() <= ys.len() {
            let mut ys = ys.iter();
            let mut again = false;
            for (_, x) in xs {
                let arrived = loop {
                    match ys.next() {
                        Some((_, y)) if !self.may_be(x.rec, y.rec) => self.on_unmatched_arrival(name, again, y.rec),
                        other => break other,
                    }
                };
                match arrived {
                    Some((_, y)) => self.way.matches.push(Match { sent: PacketPart::new(*x), arrived: y.rec, sure }),
                    None => self.way.missing.push(PacketPart::new(*x)),
                }
                again |= arrived.is_some();
            }
            for (_, y) in ys {
                self.on_unmatched_arrival(name, again, y.rec);
            }
            return;
        }
        let mut xs = xs.iter().rev();
        for (_, y) in ys.iter().rev() {
            let sent = loop {
                match xs.next() {
                    Some((_, x)) if !self.may_be(x.rec, y.rec) => self.way.missing.push(PacketPart::new(*x)),
                    other => break other,
                }
            };
            match sent {
                Some((_, x)) => self.way.matches.push(Match { sent: PacketPart::new(*x), arrived: y.rec, sure }),
                None => self.on_unmatched_arrival(name, false, y.rec),
            }
        }
        self.way.missing.extend(xs.map(|(_, x)| PacketPart::new(*x)));
    }

    /// Arrived without having been sent: once more, where its name says that it is the one before,
    /// or else unseen.
    fn on_unmatched_arrival(&mut self, name: PacketIdentity, again: bool, rec: u32) {
        if again && (name.0.is_some() || name.1.is_some()) {
            self.way.duplicated.push(rec);
        } else {
            self.way.unseen.push(rec);
        }
    }

    fn finish(self) -> DirectionMatch {
        let mut way = self.way;
        way.matches.sort_unstable();
        for parts in [&mut way.missing, &mut way.uncaptured, &mut way.retransmitted, &mut way.retransmitted_for_loss] {
            parts.sort_unstable();
        }
        for recs in [&mut way.duplicated, &mut way.unseen] {
            recs.sort_unstable();
            recs.dedup();
        }
        way
    }
}
