//! ACKs: taken in when they pass the capture point, applied when the sender can have had them.

use super::elided;
use super::half::{Half, STRAY, View};
use super::recorder::Recorder;
use super::rtt::note_least;
use super::segment::{Place, Seg};
use super::sent::Recovery;
use super::waiting::{Ack, SPECIAL, Says, Seen, Wording};
use crate::units::{Nanos, SeqNumber};
use crate::wire::{Flags, SackBlocks};

/// Most ACKs waiting to be applied.
const MOST_WAITING: usize = 65_536;
/// So near the sender no ACK waits.
const AT_ONCE: Nanos = Nanos::from_micros(100);
/// No ACK is applied for having waited less.
const LEAST_PATIENCE: Nanos = Nanos::from_millis(1000);

impl Half {
    /// An ACK for this data passed the capture point.
    #[inline(always)]
    pub fn on_ack(&mut self, seg: &Seg, sack: &SackBlocks, view: &View) {
        // What the other side's bulk data carries, where it takes long to get here: nothing new, and it waits.
        if self.is_said(seg, sack) {
            self.note_stamp(seg);
            self.waiting.push_again(Seen::of(seg));
            if seg.time > self.waiting.calm_until || self.waiting.len() > MOST_WAITING {
                self.lose_patience(seg.time, view);
            }
            return;
        }
        self.take_in(seg, sack, view);
    }

    #[inline(never)]
    fn take_in(&mut self, seg: &Seg, sack: &SackBlocks, view: &View) {
        match self.plainly_said(seg, sack, view) {
            Some(ack) if ack.says.ack > self.una => {
                self.note_stamp(seg);
                self.note_reached(ack.says.ack, seg.time);
                self.calm = 0;
                self.apply_new::<true>(&ack, sack, seg.time + view.toward_sender, view);
            }
            Some(ack) if self.is_known(&ack.says) => {
                self.note_stamp(seg);
                let at = seg.time + view.toward_sender;
                self.hear_again(at, at, seg.place);
            }
            _ => self.take_in_any(seg, sack, view),
        }
    }

    /// What nearly every ACK next to the sender says: so much of what was sent is acknowledged, in an open window, and nothing else is
    /// the matter. What is rare need not be asked for then.
    #[inline(always)]
    fn plainly_said(&self, seg: &Seg, sack: &SackBlocks, view: &View) -> Option<Ack> {
        let is_plain = seg.flags.0 & (Flags::ACK.0 | SPECIAL) == Flags::ACK.0 && sack.is_empty();
        let is_at_once = view.toward_sender <= AT_ONCE && self.waiting.is_empty();
        if !(is_plain && is_at_once && self.is_smooth()) {
            return None;
        }
        let (ack, window) = (self.place_of_sent(seg.ack()?)?, self.offered(seg)?);
        (window > 0).then(|| Ack::new(seg, ack, Some(window), false))
    }

    /// Nothing that was sent is missing from the capture, reported beyond a hole or sent again, and the window is open.
    #[inline(always)]
    fn is_smooth(&self) -> bool {
        // All of it is asked for at a time.
        self.holes.is_empty()
            & self.sacked.is_empty()
            & self.resent.is_empty()
            & self.notes.is_none()
            & self.zero_since.is_none()
            & self.fin_sent.is_none()
            & (self.recovery == Recovery::None)
            && self.copies_end <= self.una
    }

    /// Any ACK.
    #[inline(never)]
    fn take_in_any(&mut self, seg: &Seg, sack: &SackBlocks, view: &View) {
        let Some(number) = seg.ack() else {
            return;
        };
        let Some(ack) = self.place_of(number) else {
            return;
        };
        let window = if seg.flags.has(Flags::SYN) { Some(u32::from(seg.window)) } else { self.offered(seg) };
        if !self.holes.is_empty() || ack > self.sent_max + 1 {
            self.note_unseen(ack, seg);
        }
        self.note_stamp(seg);
        self.note_reached(ack, seg.time);
        self.fin_acked |= self.fin_sent.is_some_and(|fin| ack > fin);
        if self.waiting.is_empty() && view.toward_sender <= AT_ONCE {
            let ack = Ack::new(seg, ack, window, !sack.is_empty());
            self.apply_one(&ack, sack, seg.time + view.toward_sender, view);
        } else {
            self.said = if ack <= self.sent_max { Wording::of(seg, sack, ack) } else { None };
            self.keep_waiting(Ack::new(seg, ack, window, !sack.is_empty()), sack, view);
        }
    }

    /// The window that a segment without SYN offers, bytes; none while its scale is not known, but zero is zero at any scale.
    #[inline(always)]
    fn offered(&self, seg: &Seg) -> Option<u32> {
        match self.window_shift {
            Some(shift) => Some(u32::from(seg.window) << shift.min(14)),
            None => (seg.window == 0).then_some(0),
        }
    }

    /// Whether this ACK says no more than the last one that was taken in. All that was asked of that one has the same answer then: no
    /// hole was left below it, and what the sender has sent since by plain segments lies above it.
    #[inline(always)]
    fn is_said(&self, seg: &Seg, sack: &SackBlocks) -> bool {
        self.said.is_some_and(|said| said.is_of(seg, sack) && self.sent_max.wrapping_sub(said.ack) <= u64::from(STRAY))
    }

    /// An ACK up to here passes the capture point.
    #[inline(always)]
    fn note_reached(&mut self, ack: u64, time: Nanos) {
        if ack >= self.sent_max && self.all_acked.0 != self.sent_max {
            self.all_acked = (self.sent_max, time);
        }
    }

    #[inline(always)]
    fn note_stamp(&mut self, seg: &Seg) {
        if let Some((value, _)) = seg.timestamps()
            && self.newest_stamp.is_none_or(|newest| value.wrapping_sub(newest) as i32 > 0)
        {
            self.newest_stamp = Some(value);
        }
    }

    /// What an ACK's number is in the sequence space; none when it is not of this connection.
    #[inline(always)]
    fn place_of(&mut self, number: SeqNumber) -> Option<u64> {
        self.place_of_sent(number).or_else(|| self.place_of_any(number))
    }

    /// The same, for what was sent.
    #[inline(always)]
    pub(super) fn place_of_sent(&self, number: SeqNumber) -> Option<u64> {
        let below = (self.origin? + self.sent_max as u32).0.wrapping_sub(number.0);
        if below <= STRAY { self.sent_max.checked_sub(below.into()) } else { None }
    }

    #[inline(never)]
    fn place_of_any(&mut self, number: SeqNumber) -> Option<u64> {
        if self.origin.is_none() {
            self.origin = Some(SeqNumber(number.0.wrapping_sub(1)));
            self.sent_max = 1;
            self.una = 1;
        }
        let place = self.unwrap(number);
        self.stray += u64::from(place.is_none());
        place
    }

    /// The sender does not have this ACK yet.
    #[inline(never)]
    fn keep_waiting(&mut self, ack: Ack, sack: &SackBlocks, view: &View) {
        self.waiting.push(&ack, sack);
        self.lose_patience(ack.seen.time, view);
        if view.toward_sender <= AT_ONCE {
            self.apply(None, view);
        }
    }

    /// None waits any more for which the next one could say the same.
    #[inline(always)]
    fn end_wait(&mut self) {
        if self.waiting.is_empty() {
            self.said = None;
        }
    }

    /// Applies ACKs of which too many wait, or that have waited too long: without data from the sender nothing else would.
    #[inline(never)]
    fn lose_patience(&mut self, now: Nanos, view: &View) {
        let patience = view.rtt.unwrap_or_default().max(LEAST_PATIENCE);
        while let Some(first) = self.waiting.seen().first() {
            if now - first.time <= patience && self.waiting.len() <= MOST_WAITING {
                self.waiting.calm_until = first.time + LEAST_PATIENCE;
                break;
            }
            let Some((ack, sack)) = self.waiting.pop() else { break };
            self.apply_in_turn(&ack, &sack, ack.seen.time + view.toward_sender, view);
        }
        self.end_wait();
    }

    /// Bytes up to `ack` were received, so those of them that were never captured are the capture's loss.
    #[inline(never)]
    fn note_unseen(&mut self, ack: u64, seg: &Seg) {
        let mut unseen = 0;
        let mut stretches = 0;
        self.holes.retain_mut(|hole| {
            if hole.start >= ack {
                return true;
            }
            unseen += hole.end.min(ack) - hole.start;
            stretches += 1;
            elided::add(&mut self.facts.missing, (hole.before, hole.time));
            hole.start = hole.end.min(ack);
            hole.start < hole.end
        });
        // An ACK for a FIN that was not captured covers one number more.
        if ack > self.sent_max + 1 {
            let first = self.sent_max;
            unseen += ack - first;
            stretches += 1;
            elided::add(&mut self.facts.missing, (self.last_send.map_or(seg.time, |(last, _)| last), seg.time));
            self.reach(ack);
            let bin = self.bin();
            let begin = || Recorder::new(first, seg.time, seg.frame(), Nanos::from_millis(1), bin);
            let transfer = self.transfer.get_or_insert_with(begin);
            transfer.extend(ack);
            transfer.facts().unseen += ack - first;
        }
        if unseen > 0 {
            self.numbers.excuse();
            self.unseen_bytes += unseen;
            self.unseen_stretches += stretches;
            self.first_unseen.get_or_insert(seg.frame());
        }
    }

    /// Applies the ACKs that the sender had when it sent `seg`; all of those before now, next to the sender.
    #[inline(always)]
    pub(super) fn apply(&mut self, seg: Option<&Seg>, view: &View) {
        let Some(first) = self.waiting.first_seen() else {
            return;
        };
        let by = Known::new(seg, view);
        if by.includes(first, by.echo.filter(|_| first.stamped)) {
            self.apply_waiting(seg, view);
        }
    }

    #[inline(never)]
    fn apply_waiting(&mut self, seg: Option<&Seg>, view: &View) {
        let way = view.toward_sender;
        let by = Known::new(seg, view);
        let latest = seg.map_or(Nanos::MAX, |seg| seg.time);
        while let Some((first, says)) = self.waiting.first() {
            let stamp = by.echo.filter(|_| first.stamped);
            if !by.includes(first, stamp) {
                break;
            }
            // Of several at a time that tell nothing new only the last one counts.
            let known = self.is_known(says);
            let behind = if known { self.waiting.behind_first() } else { &[] };
            let more = behind.iter().take_while(|seen| seen.again && by.includes(seen, stamp)).count();
            let last = more.checked_sub(1).and_then(|more| behind.get(more)).unwrap_or(first);
            let (since, at, place) = ((first.time + way).min(latest), (last.time + way).min(latest), last.place);
            if let (Some(seg), Some(echo)) = (seg, stamp) {
                self.note_way(seg, echo, more + 1, way);
            }
            if known {
                let is_next_late = self.waiting.skip(more + 1);
                self.hear_again(since, at, place);
                if is_next_late {
                    break;
                }
            } else if let Some((ack, sack)) = self.waiting.pop() {
                self.apply_in_turn(&ack, &sack, at, view);
            }
        }
        self.end_wait();
    }

    /// The sender had the first `count` of those that wait when it sent `seg`: how long the last took whose timestamp it echoes.
    #[inline(always)]
    fn note_way(&mut self, seg: &Seg, echo: u32, count: usize, least: Nanos) {
        let had = self.waiting.seen().iter().take(count);
        if !seg.moved()
            && let Some(seen) = had.rev().find(|seen| seen.stamp == echo && !seen.moved)
        {
            self.toward_sender_now = (seg.time - seen.time).max(least);
        }
    }

    #[inline(never)]
    fn apply_in_turn(&mut self, ack: &Ack, sack: &SackBlocks, at: Nanos, view: &View) {
        self.apply_one(ack, sack, at, view);
    }

    /// The sender has an ACK that tells nothing new, of this `place`, `at` this time; or several, the first of them `since` that one.
    #[inline(always)]
    fn hear_again(&mut self, since: Nanos, at: Nanos, place: Place) {
        self.calm = 0;
        self.round_due |= self.una >= self.round_mark;
        self.since.emptied = self.una >= self.sent_max;
        self.since.released(place, at, false, true, self.edge);
        if let Some(transfer) = &mut self.transfer {
            transfer.reached(since, self.una);
        }
    }

    /// The sender has this ACK `at` this time.
    #[inline(always)]
    fn apply_one(&mut self, ack: &Ack, sack: &SackBlocks, at: Nanos, view: &View) {
        let is_new = ack.says.ack > self.una;
        if !is_new && self.is_known(&ack.says) {
            self.hear_again(at, at, ack.seen.place);
            return;
        }
        self.calm = 0;
        let before = self.notes.is_some().then_some((self.facts.duplicate_acks, self.facts.retransmitted.spurious));
        let rtt = if is_new {
            self.apply_new::<false>(ack, sack, at, view)
        } else {
            self.apply_old(*ack, sack, at);
            None
        };
        if let Some(before) = before {
            self.note_taken(ack.seen.place, at, rtt, before);
        }
    }

    /// It acknowledges new data. Gives the round trip that it measures. `SMOOTH`: it is [plainly said](Self::plainly_said), and no step
    /// asks for what is rare.
    #[inline(always)]
    fn apply_new<const SMOOTH: bool>(&mut self, ack: &Ack, sack: &SackBlocks, at: Nanos, view: &View) -> Option<Nanos> {
        let Ack { seen, says } = ack;
        self.since.released(seen.place, at, true, says.payload, self.edge);
        if !SMOOTH && !self.sacked.is_empty() {
            // Before this ACK's own SACKs are noted: what they show was above a hole that nobody had reported.
            self.note_healed_hole(self.una, says.ack);
        }
        let mut delivered = says.ack.saturating_sub(self.una);
        if !SMOOTH && says.sacks {
            delivered += self.mark_sacks(says.ack, sack, at);
        }
        let (delay, known) = self.acknowledge::<SMOOTH>(ack, at);
        delivered -= known.min(delivered);
        let (rtt, late) = match delay {
            Some(delay) => self.measured(delay, view),
            None => (None, Nanos::ZERO),
        };
        self.since.late = late;
        self.since.emptied = self.una >= self.sent_max;
        self.set_window::<SMOOTH>(says, at);
        self.have_heard::<SMOOTH>(ack, at, delivered, rtt, late);
        rtt
    }

    /// It acknowledges nothing that was not acknowledged before.
    #[inline(never)]
    fn apply_old(&mut self, ack: Ack, sack: &SackBlocks, at: Nanos) {
        let Ack { seen, says } = ack;
        let edge = self.edge;
        let delivered = if says.sacks { self.mark_sacks(says.ack, sack, at) } else { 0 };
        if !says.payload {
            self.count_duplicate(&says);
        }
        let opened = self.set_window::<false>(&says, at);
        if opened || says.payload || says.sacks {
            self.since.update |= opened;
            self.since.emptied = self.una >= self.sent_max;
            self.since.released(seen.place, at, false, says.payload, edge);
        }
        self.have_heard::<false>(&ack, at, delivered, None, Nanos::ZERO);
    }

    /// What the round and the transfer take from an ACK: `delivered` bytes more have arrived, and what [`measured`](Self::measured) gives.
    #[inline(always)]
    fn have_heard<const SMOOTH: bool>(
        &mut self,
        ack: &Ack,
        at: Nanos,
        delivered: u64,
        rtt: Option<Nanos>,
        late: Nanos,
    ) {
        let Ack { seen, says } = ack;
        if !SMOOTH && says.flags.0 & (Flags::ECE | Flags::SYN).0 == Flags::ECE.0 {
            self.note_echo(seen.place, at);
        }
        self.round_due |=
            self.una >= self.round_mark || (!SMOOTH && self.sacked.highest().is_some_and(|top| top > self.round_top));
        if let Some(transfer) = &mut self.transfer {
            transfer.acked(at, says.ack, delivered, rtt, late);
        }
    }

    /// Payload with an ACK that tells nothing new: what the other side's bulk data carries.
    #[inline(always)]
    fn is_known(&self, says: &Says) -> bool {
        let same = says.ack == self.una
            && says.window() == self.window
            && says.window().map(|window| says.ack + window) == self.edge;
        let plain = says.flags.0 & (Flags::SYN | Flags::RST | Flags::ECE).0 == 0;
        same && plain
            && says.payload
            && !says.sacks
            && says.window() != Some(0)
            && self.zero_since.is_none()
            && self.sacked.is_empty()
            && self.notes.is_none()
    }

    #[inline(never)]
    fn note_echo(&mut self, place: Place, at: Nanos) {
        self.facts.ecn_echoes += 1;
        if let Some(transfer) = &mut self.transfer {
            let facts = transfer.facts();
            facts.ecn_echoes += 1;
            facts.first_echo.get_or_insert((at, place.frame()));
        }
    }

    /// An ACK came so long after the segment that it measures: the round trip, and how much later than the soonest it was.
    #[inline(always)]
    fn measured(&mut self, delay: Nanos, view: &View) -> (Option<Nanos>, Nanos) {
        let least = note_least(&mut self.facts.ack_delay_min, delay);
        let whole = delay + view.toward_sender;
        self.smoothed.sample(whole);
        self.rtt.push(whole);
        (Some(whole), delay.after(least))
    }

    /// New data was acknowledged. Gives the time from the newest segment covered, sent once only, to this ACK (Karn's
    /// algorithm, RFC 6298 section 3), and how many of its bytes were known from SACKs to have arrived.
    #[inline(always)]
    fn acknowledge<const SMOOTH: bool>(&mut self, ack: &Ack, at: Nanos) -> (Option<Nanos>, u64) {
        let Ack { seen, says } = ack;
        let before = std::mem::replace(&mut self.una, says.ack);
        self.duplicate_acks = 0;
        if !SMOOTH && !self.resent.is_empty() {
            self.resent.remove(0, says.ack);
        }
        let known = if SMOOTH || self.sacked.is_empty() { 0 } else { self.sacked.remove(0, says.ack) };
        let (newest, any_resent) = self.take_acknowledged::<SMOOTH>(says.ack);
        if !SMOOTH && self.copies_end > before {
            self.check_eifel(before, says.ack, says.echo);
        }
        let recovering = !SMOOTH && self.recovery != Recovery::None;
        if recovering {
            self.end_recovery(says.ack, at);
        }
        // While holes are being filled a cumulative ACK says when the hole was filled, not when its last byte arrived.
        let timed = !any_resent && !recovering && !seen.moved;
        (newest.filter(|_| timed).map(|time| seen.time.after(time)), known)
    }

    /// Recovery is over once all that was outstanding when it began is acknowledged.
    #[inline(never)]
    fn end_recovery(&mut self, ack: u64, at: Nanos) {
        match self.recovery {
            Recovery::Fast(recover) | Recovery::Timeout(recover) if ack >= recover => {
                if let (Recovery::Fast(_), Some(transfer)) = (self.recovery, &mut self.transfer) {
                    let recoveries = &mut transfer.facts().recoveries;
                    recoveries.count += 1;
                    recoveries.took += (at - self.recovery_start).or_zero();
                }
                self.recovery = Recovery::None;
                self.tangled &= !self.outstanding.is_empty();
            }
            _ => {}
        }
    }

    /// What is outstanding no more. Gives when the newest of it was sent, if that is known, and whether any was sent again.
    #[inline(always)]
    fn take_acknowledged<const SMOOTH: bool>(&mut self, ack: u64) -> (Option<Nanos>, bool) {
        let all = &self.outstanding[..];
        let count = all.iter().position(|sent| sent.end > ack).unwrap_or(all.len());
        let those = all.get(..count).unwrap_or_default();
        if self.largest_acked < self.largest_len {
            let largest = those.iter().map(|sent| u64::from(sent.len)).max();
            self.largest_acked = self.largest_acked.max(largest.unwrap_or(0));
        }
        let any_resent = !SMOOTH && those.iter().any(|sent| sent.resent);
        let newest = those.last().filter(|sent| !sent.stamp.moved()).map(|sent| sent.time);
        self.outstanding.skip(count);
        (newest, any_resent)
    }

    /// A hole that the receiver had reported closed though nothing in it was sent again: reordered on the way.
    #[inline(never)]
    fn note_healed_hole(&mut self, before: u64, ack: u64) {
        let Some(top) = self.sacked.highest() else {
            return;
        };
        let end = ack.min(top);
        let filled = self.sacked.covered(before, end) + self.resent.covered(before, end);
        if end > before && filled == self.sacked.covered(before, end) && filled < end - before {
            self.facts.healed_holes += 1;
            if let Some(transfer) = &mut self.transfer {
                transfer.facts().healed_holes += 1;
            }
        }
    }

    /// Reaches the sender `at` this time. Gives how many bytes are reported for the first time.
    #[inline(never)]
    fn mark_sacks(&mut self, ack: u64, blocks: &SackBlocks, at: Nanos) -> u64 {
        let mut news = 0;
        let highest = self.sacked.highest().unwrap_or(ack);
        for (index, &(left, right)) in blocks.as_slice().iter().enumerate() {
            let (Some(left), Some(right)) = (self.unwrap(left), self.unwrap(right)) else {
                continue;
            };
            if left >= right || right > self.sent_max.max(ack) {
                continue;
            }
            let second = || blocks.as_slice().get(1).and_then(|&(l, r)| Some((self.unwrap(l)?, self.unwrap(r)?)));
            if index == 0 && reports_duplicate((left, right), second(), ack) {
                self.on_dsack(left, right);
            } else if left >= ack {
                self.largest_acked = self.largest_acked.max((right - left).min(self.mss()));
                news += self.sacked.insert(left, right);
            }
        }
        if let Some(top) = self.sacked.highest().filter(|top| *top > highest)
            && let Some(sent) = self.time_of(top)
            && let Some(transfer) = &mut self.transfer
        {
            transfer.sacked(at.after(sent));
        }
        news
    }

    /// When the segment was sent that ends there, or with others that left as one, if it was sent once only.
    fn time_of(&self, end: u64) -> Option<Nanos> {
        let index = self.outstanding.partition_point(|sent| sent.end < end);
        let sent = self.outstanding.get(index).filter(|_| !self.tangled)?;
        (sent.start() < end && !sent.resent && !sent.stamp.moved()).then_some(sent.time)
    }

    /// RFC 5681 section 2: nothing new, no payload, same window, data outstanding.
    #[inline(never)]
    fn count_duplicate(&mut self, says: &Says) {
        let same_window = says.window().is_none() || says.window() == self.window;
        if says.ack == self.una
            && !says.payload
            && !says.flags.has(Flags::SYN)
            && !says.flags.has(Flags::FIN)
            && self.sent_max > self.una
            && (same_window || says.sacks)
        {
            self.duplicate_acks += 1;
            self.facts.duplicate_acks += 1;
        }
    }

    /// Says whether more may be sent than before.
    #[inline(always)]
    fn set_window<const SMOOTH: bool>(&mut self, says: &Says, at: Nanos) -> bool {
        let Some(window) = says.window() else {
            return self.set_unknown_window(says, at);
        };
        // RFC 9293 section 3.10.7.4: an older ACK must not set the window back.
        if says.ack < self.una {
            return false;
        }
        if self.facts.taken_shift.is_some() && self.edge.is_some_and(|edge| edge < self.sent_max) && !self.is_probing()
        {
            self.mistake_scale();
            return false;
        }
        let edge = says.ack + window;
        let opened = self.edge.is_none_or(|before| edge > before);
        self.window = Some(window);
        self.edge = Some(edge);
        if (SMOOTH || self.window_shift.is_some()) && self.facts.max_window.is_none_or(|most| window > most) {
            self.facts.max_window = Some(window);
        }
        let is_closure = !SMOOTH && (window == 0 || self.zero_since.is_some());
        if is_closure && says.flags.0 & (Flags::RST | Flags::SYN).0 == 0 {
            self.note_closure(window, at);
        }
        opened
    }

    /// More was sent than the window allows, as the probe of a closed one is.
    fn is_probing(&self) -> bool {
        self.edge.is_some_and(|edge| self.sent_max <= edge + 1)
    }

    /// Takes this for the scale of windows, if it is one, and no SYN tells another.
    pub(super) fn take_shift(&mut self, shift: Option<u8>) {
        if let Some(shift) = shift.filter(|_| self.window_shift.is_none()) {
            (self.window_shift, self.facts.taken_shift) = (Some(shift), Some(shift));
            self.scale.take(shift);
            self.said = None;
        }
    }

    /// The scale that was taken for the true one does not allow what is in flight: it is not known after all.
    #[inline(never)]
    fn mistake_scale(&mut self) {
        self.window_shift = None;
        self.facts.taken_shift = None;
        (self.window, self.edge, self.facts.max_window) = (None, None, None);
        self.scale.mistake();
        self.said = None;
    }

    /// There is room, and how much is not known. Says whether there was none before.
    #[inline(never)]
    fn set_unknown_window(&mut self, says: &Says, at: Nanos) -> bool {
        let shift = self.scale.weigh(says, (self.sent_max, self.mss()), self.ran_dry);
        self.take_shift(shift);
        if self.zero_since.is_none() || says.ack < self.una {
            return false;
        }
        (self.window, self.edge) = (None, None);
        if says.flags.0 & (Flags::RST | Flags::SYN).0 == 0 {
            self.note_closure(1, at);
        }
        true
    }

    /// The window is closed, or was until now.
    #[inline(never)]
    fn note_closure(&mut self, window: u64, at: Nanos) {
        self.facts.zero_windows += u64::from(window == 0);
        match (window == 0, self.zero_since) {
            (true, None) => {
                self.zero_since = Some(at);
                self.facts.closings += 1;
                self.since.closed_at.get_or_insert(at);
            }
            (false, Some(since)) => {
                self.facts.zero_window += (at - since).or_zero();
                let paused = self.last_send.map_or(since, |(last, _)| last.max(since));
                self.since.closed_for += (at - paused).or_zero();
                self.zero_since = None;
            }
            _ => {}
        }
    }
}

/// What a segment of the sender's tells of the ACKs that it had; all that came before, where there is none.
struct Known {
    /// The timestamp that it echoes.
    echo: Option<u32>,
    /// By their time alone, those that passed the capture point by then.
    until: Nanos,
}

impl Known {
    #[inline(always)]
    fn new(seg: Option<&Seg>, view: &View) -> Self {
        match seg.filter(|_| !view.near) {
            None => Self { echo: None, until: Nanos::MAX },
            Some(seg) => Self { echo: seg.timestamps().map(|(_, echo)| echo), until: seg.time - view.ago },
        }
    }

    /// Whether it had this one: it echoes a newer timestamp than this one's, or else by its time. `stamp`: what it echoes, if
    /// this one, and those that say the same, have timestamps too.
    #[inline(always)]
    fn includes(&self, seen: &Seen, stamp: Option<u32>) -> bool {
        let newer = stamp.map_or(0, |echo| seen.stamp.wrapping_sub(echo) as i32);
        newer < 0 || (newer == 0 && seen.time <= self.until)
    }
}

/// RFC 2883 section 4: a first block below the ACK, or inside the second block, reports a duplicate.
pub(super) fn reports_duplicate(first: (u64, u64), second: Option<(u64, u64)>, ack: u64) -> bool {
    first.1 <= ack || second.is_some_and(|second| second.0 <= first.0 && first.1 <= second.1)
}
