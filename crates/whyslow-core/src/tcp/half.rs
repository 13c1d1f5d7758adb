//! One direction's data as its sender knew it: what is in flight, the window, recovery, rounds and pauses.
//!
//! ACKs are taken in when they pass the capture point and *applied* when the sender can have had them: the time from
//! the capture point to the sender and back (`View::toward_sender`) later, or when a segment's TSecr shows that the
//! sender had them (RFC 7323 section 4.3: TSecr names the newest in-order segment received). Next to the sender both are
//! the same moment.

use super::elided;
use super::facts::{HalfFacts, TransferFacts};
use super::marks::{Numbers, Ticks};
use super::notices::Length;
use super::peer_payload::{Heard, Turns};
use super::queue::Queue;
use super::ranges::Ranges;
use super::recorder::Recorder;
use super::resend::Resend;
use super::rtt::{Quantiles, Smoothed};
use super::scale::Scale;
use super::segment::{Place, Seg, Stamp, tsval};
use super::sent::{Hole, Recovery, Sent, SinceSend};
use super::trace::Notes;

use super::waiting::{Waiting, Wording};
use crate::analysis::Frame;
use crate::units::{Nanos, SeqNumber};
use crate::wire::Flags;
use std::collections::VecDeque;

/// Most segments remembered as sent and not acknowledged (at 1,448 B more than 90 MB in flight).
const MOST_OUTSTANDING: usize = 65_536;
/// Most finished transfers held; beyond that the half is dropped that was waited for least.
const MOST_TRANSFERS: usize = 1024;
/// ECN bits of a packet that met congestion (RFC 3168 section 5).
const CONGESTION_EXPERIENCED: u8 = 0b11;
/// Any path carries segments of this size (RFC 9293 section 3.7.1): where none is negotiated, shorter ones are all that their program wrote.
const DEFAULT_MSS: u64 = 536;
/// Paths that carry less than this are rare (IPv6 asks for packets of 1,280 bytes, RFC 8200 section 5): where no size is negotiated, what is
/// pushed and shorter is a message, though none longer was seen.
const USUAL_MSS: u64 = 1_200;
/// Round-trip samples from which a median of ACKs' delays means something.
const LEAST_DELAYS: u64 = 50;
/// A sequence number farther than this from what was sent last is not of this connection.
pub(super) const STRAY: u32 = 1 << 30;

/// What is known of the path when a segment is looked at.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct View {
    /// From the capture point to the data's sender and back.
    pub toward_sender: Nanos,
    /// "At once": max(1 ms, RTT/10).
    pub epsilon: Nanos,
    /// Least round trip of the whole path.
    pub rtt: Option<Nanos>,
    /// The sender is next to the capture point.
    pub near: bool,
    /// When the sender sends, it has the ACKs that passed the capture point so long ago, and a little tolerance.
    pub ago: Nanos,
}

impl View {
    /// `toward`: from the capture point to the data's sender and back. `rtt`: the whole path's round trip.
    pub fn new(toward: Option<Nanos>, rtt: Option<Nanos>) -> Self {
        let toward_sender = toward.unwrap_or_default();
        let epsilon = Nanos::from_millis(1).max(rtt.unwrap_or_default().scale(0.1));
        let near = toward_sender <= epsilon && toward_sender <= Nanos::from_millis(1);
        let ago = toward_sender - (Nanos(toward_sender.0 / 50) + Nanos::from_micros(100));
        Self { toward_sender, epsilon, rtt, near, ago }
    }
}

/// One direction of a connection.
#[derive(Debug)]
pub(crate) struct Half {
    pub(super) origin: Option<SeqNumber>,
    /// Shift for the windows offered to this sender; none while unknown.
    pub window_shift: Option<u8>,
    /// What is known of it otherwise.
    pub(super) scale: Scale,
    /// Negotiated segment size (without the timestamps' 12 bytes where they are used), once known.
    pub(super) negotiated_mss: Option<u64>,
    /// See [`mss`](Self::mss).
    size: u64,
    /// Both ends permit SACK.
    pub sack_permitted: bool,
    pub(super) largest_len: u64,
    pub facts: HalfFacts,

    pub(super) sent_max: u64,
    /// Payload bytes that passed, copies included.
    pub(super) passed: u64,
    pub(super) una: u64,
    pub(super) edge: Option<u64>,
    pub(super) window: Option<u64>,
    pub(super) outstanding: Queue<Sent>,
    /// Some of them may overlap.
    pub(super) tangled: bool,
    pub(super) holes: Vec<Hole>,
    pub(super) sacked: Ranges,
    pub(super) resent: Ranges,
    pub(super) resends: VecDeque<Resend>,
    /// Behind the highest of them, and of those outstanding that were sent more than once or came late.
    pub(super) copies_end: u64,
    /// Behind the highest of those whose first copy was not captured before them.
    pub(super) unseen_copies_end: u64,
    /// Up to when waits for copies of lost copies are counted.
    pub(super) copy_awaited: Nanos,
    pub(super) recovery: Recovery,
    pub(super) recovery_start: Nanos,
    pub(super) duplicate_acks: u32,
    pub(super) waiting: Waiting,
    /// The last ACK that was taken in, if it waits, the next one may say the same, and nothing but plain segments was sent since.
    pub(super) said: Option<Wording>,
    pub(super) last_send: Option<(Nanos, Place)>,
    pub(super) last_len: u64,
    pub(super) ran_dry: bool,
    /// The last send had PSH set.
    pub(super) last_push: bool,
    pub(super) flight_at_send: u64,
    pub(super) since: SinceSend,
    /// A pause shorter than this, in nanoseconds, says nothing, for nothing but plain sends of the next bytes has come to pass since
    /// stock was taken; zero where something has. See [`take_stock`](Self::take_stock).
    pub(super) calm: u64,
    pub(super) zero_since: Option<Nanos>,
    /// Payload of the largest segment that is known to have arrived.
    pub(super) largest_acked: u64,
    pub(super) smoothed: Smoothed,
    /// Round-trip samples of the whole path that this direction's data gave.
    pub rtt: Quantiles,
    /// Lengths of rounds that an ACK ended at once: round trips as the receiver's side sees them.
    pub round_trips: Quantiles,
    /// How long ACKs took to reach the sender lately, where TSecr tells.
    pub(super) toward_sender_now: Nanos,
    pub(super) fin_sent: Option<u64>,
    pub(super) fin_time: Nanos,
    pub fin_acked: bool,

    pub(super) numbers: Numbers,
    pub(super) ticks: Ticks,
    pub(super) last_stamp: Stamp,
    pub(super) transfer: Option<Recorder>,
    pub(super) round_mark: u64,
    pub(super) round_top: u64,
    pub(super) round_due: bool,
    /// The receiver's newest timestamp that was captured.
    pub(super) newest_stamp: Option<u32>,
    pub(super) round_start: Nanos,
    /// See [`Seg::moved`].
    pub(super) round_start_moved: bool,
    /// The other side's payload since this side's last.
    pub(super) heard: Option<Heard>,
    /// What had been sent when an ACK for all of it was last seen for the first time, and when that passed the capture point.
    pub(super) all_acked: (u64, Nanos),
    pub(super) turns: Turns,
    /// Bytes acknowledged or followed, though never captured.
    pub unseen_bytes: u64,
    pub unseen_stretches: u64,
    pub first_unseen: Option<Frame>,
    pub stray: u64,
    /// What ICMP errors told of how long packets may be.
    pub(super) lengths: Vec<Length>,
    /// What each segment was, where that is asked for.
    pub(super) notes: Option<Box<Notes>>,
}

impl Default for Half {
    fn default() -> Self {
        Self {
            origin: None,
            window_shift: None,
            scale: Scale::default(),
            negotiated_mss: None,
            size: DEFAULT_MSS,
            largest_len: 0,
            facts: HalfFacts::default(),
            sent_max: 0,
            passed: 0,
            una: 0,
            edge: None,
            window: None,
            outstanding: Queue::default(),
            tangled: false,
            holes: Vec::new(),
            sacked: Ranges::default(),
            resent: Ranges::default(),
            resends: VecDeque::new(),
            copies_end: 0,
            unseen_copies_end: 0,
            copy_awaited: Nanos::ZERO,
            recovery: Recovery::None,
            recovery_start: Nanos::ZERO,
            duplicate_acks: 0,
            waiting: Waiting::default(),
            said: None,
            last_send: None,
            last_len: 0,
            ran_dry: false,
            last_push: false,
            flight_at_send: 0,
            since: SinceSend::default(),
            calm: 0,
            zero_since: None,
            largest_acked: 0,
            smoothed: Smoothed::default(),
            rtt: Quantiles::default(),
            round_trips: Quantiles::default(),
            toward_sender_now: Nanos::ZERO,
            fin_sent: None,
            fin_time: Nanos::ZERO,
            fin_acked: false,
            numbers: Numbers::default(),
            ticks: Ticks::default(),
            last_stamp: Stamp::default(),
            transfer: None,
            round_mark: 0,
            round_top: 0,
            round_due: false,
            newest_stamp: None,
            sack_permitted: false,
            round_start: Nanos::ZERO,
            round_start_moved: false,
            heard: None,
            all_acked: (0, Nanos::ZERO),
            turns: Turns::default(),
            unseen_bytes: 0,
            unseen_stretches: 0,
            first_unseen: None,
            stray: 0,
            lengths: Vec::new(),
            notes: None,
        }
    }
}

impl Half {
    /// The sender has measured its first round trip.
    pub fn handshake_took(&mut self, rtt: Nanos) {
        self.smoothed.sample(rtt);
    }

    /// The segment size to count in: negotiated, or else the largest that was seen, between the default and Ethernet's.
    #[inline(always)]
    pub fn mss(&self) -> u64 {
        self.size
    }

    /// From now on something else is known of the path: none of those that wait may have to.
    pub fn look_again(&mut self) {
        self.said = None;
    }

    /// What the SYNs have settled of segment sizes, or later the path.
    pub fn negotiated(&mut self, mss: Option<u64>) {
        self.said = None;
        self.negotiated_mss = mss;
        self.settle_size();
        let bin = self.bin();
        if let Some(transfer) = &mut self.transfer {
            transfer.take_rates_over(bin);
        }
    }

    fn settle_size(&mut self) {
        self.size = self.negotiated_mss.unwrap_or(self.largest_len.clamp(DEFAULT_MSS, 1460)).max(1);
    }

    #[inline(always)]
    fn note_len(&mut self, len: u64) {
        if len > self.largest_len {
            self.largest_len = len;
            self.settle_size();
        }
    }

    /// Bytes over which rates are taken.
    #[inline(always)]
    pub(super) fn bin(&self) -> u64 {
        10 * self.negotiated_mss.unwrap_or(1460)
    }

    /// Bytes in flight, as the sender counts them (RFC 6675's pipe).
    #[inline(always)]
    pub(super) fn in_flight(&self) -> u64 {
        let all = self.sent_max.saturating_sub(self.una);
        if self.sacked.is_empty() && self.recovery == Recovery::None { all } else { self.pipe(all) }
    }

    #[inline(never)]
    fn pipe(&self, all: u64) -> u64 {
        let sacked = self.sacked.covered(self.una, self.sent_max);
        let lost_below = match self.recovery {
            Recovery::Timeout(recover) => recover,
            _ => self.sacked.highest().unwrap_or(0).saturating_sub(3 * self.mss()),
        };
        let lost = if lost_below > self.una {
            (lost_below - self.una).saturating_sub(self.sacked.covered(self.una, lost_below))
        } else {
            0
        };
        let resent = self.resent.covered(self.una, lost_below.max(self.una)).min(lost);
        all.saturating_sub(sacked).saturating_sub(lost) + resent
    }

    /// Least room to the right edge since the last send, right after it included; none while the edge is not known.
    #[inline(always)]
    pub(super) fn least_room(&self) -> Option<u64> {
        self.since.least_edge.map(|edge| edge.saturating_sub(self.sent_max))
    }

    /// Most bytes in flight so far.
    pub(super) fn max_in_flight(&self) -> u64 {
        self.transfer.as_ref().map_or(0, Recorder::max_in_flight).max(self.facts.max_in_flight)
    }

    /// What was sent is known to reach up to `end`, with no send of bytes that passed: a FIN, or what was never captured. The
    /// room that there was since the last send was as much as before.
    pub(super) fn reach(&mut self, end: u64) {
        let more = end.saturating_sub(self.sent_max);
        self.sent_max += more;
        self.since.least_edge = self.since.least_edge.map(|edge| edge.saturating_add(more));
        self.calm = 0;
    }

    pub(super) fn unwrap(&self, number: SeqNumber) -> Option<u64> {
        let origin = self.origin?;
        let distance = number.distance(origin + self.sent_max as u32);
        if distance.unsigned_abs() > STRAY {
            return None;
        }
        let place = self.sent_max.checked_add_signed(i64::from(distance));
        // One below the origin: the probe or keep-alive of a connection whose beginning was not captured.
        Some(place.unwrap_or(0))
    }

    /// A segment of the sender passed the capture point.
    /// Says whether it carried new payload.
    #[inline(always)]
    pub fn on_segment(&mut self, seg: &Seg, view: &View) -> bool {
        self.facts.packets += 1;
        let is_next = self.origin.is_some_and(|origin| seg.seq == origin + self.sent_max as u32);
        let is_plain = seg.flags.0 & (Flags::SYN | Flags::FIN | Flags::RST | Flags::CWR).0 == 0;
        if !(is_next && is_plain && self.notes.is_none()) {
            return self.on_any_segment(seg, view);
        }
        // What nearly all segments are: what follows those before them.
        self.apply(Some(seg), view);
        let start = self.sent_max;
        self.note_marks(seg, 0);
        let len = u64::from(seg.len);
        if len > 0 {
            self.note_len(len);
            self.on_new_data(seg, start, start + len, view);
            self.passed += len;
        }
        len > 0
    }

    #[inline(never)]
    fn on_any_segment(&mut self, seg: &Seg, view: &View) -> bool {
        self.calm = 0;
        self.said = None;
        self.numbers.end_run();
        if seg.flags.has(Flags::RST) {
            return false;
        }
        if self.origin.is_none() {
            let syn = seg.flags.has(Flags::SYN);
            self.origin = Some(if syn { seg.seq } else { SeqNumber(seg.seq.0.wrapping_sub(1)) });
            self.sent_max = u64::from(!syn);
            self.una = self.sent_max;
        }
        let Some(start) = self.unwrap(seg.seq) else {
            self.stray += 1;
            return false;
        };
        if seg.flags.has(Flags::SYN) {
            // Fast Open data (RFC 7413) follows the SYN's own number.
            self.reach(1);
            if seg.len == 0 {
                return false;
            }
        }
        let start = start + u64::from(seg.flags.has(Flags::SYN));
        self.apply(Some(seg), view);
        self.note_marks(seg, start.saturating_sub(self.sent_max));
        let before = self.tally();
        if seg.len == 0 {
            self.on_empty(seg, start);
            self.note_sent(before);
            return false;
        }
        let end = start + u64::from(seg.len);
        self.note_len(u64::from(seg.len));
        if seg.flags.has(Flags::FIN) {
            (self.fin_sent, self.fin_time) = (Some(end), seg.time);
        }
        let new = end > self.sent_max;
        if new {
            self.on_new_data(seg, start, end, view);
        } else {
            self.on_old_data(seg, start, end, view);
        }
        self.note_sent(before);
        if seg.flags.has(Flags::FIN) {
            self.reach(end + 1);
        }
        self.passed += u64::from(seg.len);
        new
    }

    fn on_empty(&mut self, seg: &Seg, start: u64) {
        if seg.flags.has(Flags::FIN) {
            if self.fin_sent == Some(start) {
                self.on_fin_again(seg, start);
            }
            (self.fin_sent, self.fin_time) = (Some(start), seg.time);
            self.reach(start + 1);
        } else if start + 1 == self.sent_max && start < self.una && seg.flags.has(Flags::ACK) {
            if self.window == Some(0) {
                self.facts.window_probes += 1;
            } else {
                self.facts.keep_alives += 1;
            }
        }
    }

    #[inline(always)]
    fn on_new_data(&mut self, seg: &Seg, start: u64, end: u64, view: &View) {
        if self.is_calm(seg) {
            self.sent_max = end;
            self.flight_at_send += end - start;
        } else {
            self.take_stock(seg, start, end, view);
        }
        self.outstanding.push(Sent::new(seg, end, self.passed));
        if self.outstanding.len() > MOST_OUTSTANDING {
            self.outstanding.skip(1);
        }
        if let Some(transfer) = &mut self.transfer {
            transfer.sent(end, seg.time, self.flight_at_send);
        }
        if seg.flags.has(Flags::CWR) || seg.ecn == CONGESTION_EXPERIENCED {
            self.note_congestion(seg);
        }
        self.sent_now(seg);
    }

    /// Whether nothing has come to pass since stock was taken but plain sends of the next bytes, this one included: the transfer
    /// and its round go on, in flight is what was sent since, the window is what it was.
    #[inline(always)]
    fn is_calm(&self, seg: &Seg) -> bool {
        self.last_send.is_some_and(|(last, _)| seg.time.since(last) < self.calm) && !is_newer(seg, self.newest_stamp)
    }

    #[cold]
    fn note_congestion(&mut self, seg: &Seg) {
        if let Some(transfer) = &mut self.transfer {
            transfer.facts().reductions += u64::from(seg.flags.has(Flags::CWR));
            transfer.facts().marked += u64::from(seg.ecn == CONGESTION_EXPERIENCED);
        }
    }

    /// New data begins at `start`, and not where what was sent before ends.
    #[inline(never)]
    pub(super) fn note_step(&mut self, seg: &Seg, start: u64) {
        if start < self.sent_max {
            // Old bytes with new ones behind them: a retransmission that took more along.
            self.resent.insert(start, self.sent_max);
            self.tangled = true;
            return;
        }
        if self.holes.len() < 4096 {
            let hole = Hole {
                start: self.sent_max,
                end: start,
                time: seg.time,
                tsval: tsval(seg),
                ip_id: seg.ip_id(),
                before: self.last_send.map_or(seg.time, |(time, _)| time),
                passed: self.passed,
            };
            self.holes.push(hole);
        }
        if let Some(transfer) = &mut self.transfer {
            transfer.facts().unseen += start - self.sent_max;
        }
        if let Recovery::Timeout(recover) = self.recovery {
            // What the timer has given up reaches as far: new bytes follow all of it (RFC 5682 section 2.1).
            self.recovery = Recovery::Timeout(recover.max(start));
        }
    }

    fn on_old_data(&mut self, seg: &Seg, start: u64, end: u64, view: &View) {
        let Some(again) = self.on_resend(seg, start, end, view) else {
            return;
        };
        if self.transfer.is_none() {
            return;
        }
        if self.round_due {
            self.begin_round(seg, end);
            if let Some(transfer) = &mut self.transfer {
                transfer.next_round(seg.time, seg.frame(), self.last_send);
            }
        }
        self.end_gap(seg, false, Some(again), view);
        if let Some(transfer) = &mut self.transfer {
            transfer.resent(seg.time, seg.frame(), end - start);
        }
        self.begin_pause();
        self.sent_now(seg);
        // Of where the data ends it says nothing.
        self.last_push = true;
    }

    /// The other side sent new payload.
    #[inline(always)]
    pub fn on_peer_payload(&mut self, seg: &Seg) {
        self.calm = 0;
        let (reached, since) = self.all_acked;
        let quiet = if reached == self.sent_max { seg.time - since } else { Nanos::ZERO };
        Heard::add(&mut self.heard, seg, || match (seg.ack(), self.origin) {
            (Some(ack), Some(origin)) => (ack.distance(origin + self.sent_max as u32) >= 0, quiet),
            _ => (true, quiet),
        });
    }

    #[inline(always)]
    fn sent_now(&mut self, seg: &Seg) {
        self.numbers.forget();
        self.last_stamp = seg.stamp();
        self.last_send = Some((seg.time, seg.place));
        self.last_len = u64::from(seg.len);
        let mss = self.mss();
        let len = u64::from(seg.len);
        self.last_push = seg.flags.has(Flags::PSH);
        // Most are full segments.
        self.ran_dry = if len == mss {
            self.last_push && self.negotiated_mss.is_none() && len < USUAL_MSS
        } else {
            len < mss || (self.last_push && !len.is_multiple_of(mss))
        };
    }

    /// Something was sent: what ACKs do from now on is told of the pause behind it.
    pub(super) fn begin_pause(&mut self) {
        self.since = SinceSend { least_edge: self.edge, closed_at: self.zero_since, ..SinceSend::default() };
    }

    /// Little more comes: what is in flight or waits at times needs no room for more of it.
    pub fn rest(&mut self) {
        self.outstanding.shrink_to_fit();
        self.waiting.shrink_to_fit();
        self.resends.shrink_to_fit();
    }

    /// The transfer that goes on is over.
    pub(super) fn finish_transfer(&mut self) {
        self.close_parts();
        if let Some(transfer) = self.transfer.take() {
            self.keep_transfer(transfer, self.last_send);
        }
    }

    /// A transfer is over; `last` was its last segment.
    pub(super) fn keep_transfer(&mut self, transfer: Recorder, last: Option<(Nanos, Place)>) {
        self.facts.transfers_total += 1;
        let mut transfer = transfer.finish(last);
        transfer.tail_is_needless = self.is_tail_needless(&transfer);
        self.facts.max_in_flight = self.facts.max_in_flight.max(transfer.max_in_flight);
        self.facts.transfers.push(transfer);
        if self.facts.transfers.len() > MOST_TRANSFERS {
            let mut lengths: Vec<_> = self.facts.transfers.iter().map(TransferFacts::waited).collect();
            let middle = lengths.len() / 2;
            let (_, &mut floor, _) = lengths.select_nth_unstable(middle);
            let mut spare = middle;
            self.facts.transfers.retain(|t| {
                let keep = t.waited() > floor || spare == 0;
                spare -= usize::from(!keep);
                keep
            });
        }
    }

    /// Nothing more comes: applies what is left and gives the account. `last`: the connection's last packet.
    pub fn finish(&mut self, last: Nanos, view: &View) -> HalfFacts {
        self.apply(None, view);
        if let Some(since) = self.zero_since.take() {
            self.facts.zero_window += (last - since).or_zero();
        }
        self.end_turns();
        self.finish_transfer();
        // What the receiver waits for, or reports missing, was lost on the way.
        let reported = self.sacked.highest().unwrap_or(0);
        for hole in self.holes.iter().filter(|hole| hole.start != self.una && hole.start >= reported) {
            elided::add(&mut self.facts.missing, (hole.before, hole.time));
        }
        self.settle_missing();
        let mut facts = std::mem::take(&mut self.facts);
        let top = self.sent_max.min(self.fin_sent.unwrap_or(u64::MAX));
        facts.bytes = top.saturating_sub(1);
        facts.unacknowledged = top.saturating_sub(self.una.max(1));
        facts.mss = self.mss();
        (facts.largest, facts.largest_acked) = (self.largest_len, self.largest_acked);
        (facts.last_len, facts.last_unpushed) = (self.last_len, self.last_len > 0 && !self.last_push);
        facts.last_payload = self.last_send.map(|(time, place)| (time, place.frame()));
        if self.rtt.count() >= LEAST_DELAYS {
            facts.ack_delay_p50 = self.rtt.at([0.5]).map(|[rtt]| (rtt - view.toward_sender).or_zero());
        }
        facts.scale_known = self.window_shift.is_some();
        facts
    }
}

/// Whether a segment echoes a newer timestamp than the newest that was captured.
#[inline(always)]
pub(super) fn is_newer(seg: &Seg, newest: Option<u32>) -> bool {
    match (newest, seg.timestamps()) {
        (Some(newest), Some((_, echo))) => echo.wrapping_sub(newest) as i32 > 0,
        _ => false,
    }
}
