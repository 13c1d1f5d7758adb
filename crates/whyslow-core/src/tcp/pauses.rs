//! Pauses between two sends of one direction, and what ended each.

use super::facts::{Gap, Release};
use super::half::{Half, View};
use super::recorder::Recorder;
use super::retransmission::{PROBE_FLOOR, SentAgain};
use super::segment::Seg;
use super::sent::Recovery;
use crate::units::Nanos;

impl Half {
    /// Whether so little room to the right edge stops a sender. A full segment must fit (RFC 9293 section 3.8.6.2.1);
    /// senders with segmentation offload wait for more, up to a third of the window (Linux tcp_tso_should_defer).
    pub(super) fn stops(&self, room: u64) -> bool {
        let mss = self.mss();
        let window = self.window.unwrap_or(u64::MAX);
        room < mss.min(window.max(1)).max((3 * mss).min(window / 4))
    }

    /// The pause before this segment, if it is so short that only its length counts, and nothing but the ACK clock can have held the
    /// sender.
    #[inline(always)]
    pub(super) fn short_pause(&self, seg: &Seg) -> Option<Nanos> {
        let (last, _) = self.last_send?;
        let floor = self.transfer.as_ref()?.gap_floor();
        let pause = seg.time - last;
        // With more room than this no sender stops: see [`stops`](Self::stops).
        let roomy = self.since.least_room.is_none_or(|room| room >= 3 * self.mss());
        (pause <= floor && pause < PROBE_FLOOR && roomy && self.recovery == Recovery::None).then_some(pause)
    }

    /// The pause before this send is over; says what ended it. `unseen`: bytes between the last send and this one are not
    /// in the capture. `again`: how it came to be sent again, if it was.
    #[inline(never)]
    pub(super) fn end_gap(&mut self, seg: &Seg, unseen: bool, again: Option<SentAgain>, view: &View) {
        let Some((last, last_place)) = self.last_send else {
            return;
        };
        let Some(floor) = self.transfer.as_ref().map(Recorder::gap_floor) else {
            return;
        };
        let since = &self.since;
        let full = since.least_room.is_some_and(|room| self.stops(room));
        let recovering = self.recovery != Recovery::None;
        let length = seg.time - last;
        let short = length <= floor;
        if short && (recovering || !full) {
            // What ended it makes no difference.
            self.short_gap(length, recovering, false);
            return;
        }
        // A queue that the sender filled itself makes ACKs take effect later; with nothing in flight there is none.
        let is_idle = self.una >= self.sent_max;
        let queued = (self.toward_sender_now - view.toward_sender).or_zero();
        let tolerance = view.epsilon + if is_idle { Nanos::ZERO } else { queued };
        let prompt = since.at.is_some_and(|at| seg.time - at <= tolerance);
        let release = match again {
            Some(SentAgain { timer: true, .. }) => Release::Timer,
            _ if prompt && since.payload && self.una == self.sent_max => Release::Peer,
            _ if prompt && full && since.update && !since.new => Release::WindowUpdate,
            _ if prompt && full => Release::WindowAck,
            _ if prompt => Release::Ack,
            // A closed window holds the sender whatever else is or is not seen.
            _ if full && since.zero_window => Release::WindowUpdate,
            _ => Release::Nothing,
        };
        if short {
            let held = matches!(release, Release::WindowAck | Release::WindowUpdate) || since.zero_window;
            self.short_gap(length, recovering, held);
            return;
        }
        let since = *since;
        let gap = Gap {
            start: last,
            end: seg.time,
            release,
            zero_window: since.zero_window && full,
            recovering,
            ack_late: if prompt { since.late } else { Nanos::ZERO },
            sent: self.sent_max,
            in_flight: self.flight_at_send,
            room: since.least_room,
            before_len: self.last_len,
            ran_dry: self.ran_dry,
            with_payload: prompt && since.any_payload,
            heard: since.payload_at.map(|at| at.max(last).min(seg.time)),
            tail: again.is_some_and(|again| again.tail),
            lost_copy: again.is_some_and(|again| again.lost_copy),
            idle: is_idle,
            unseen,
            // A hole before this segment is what the program sent after its pause, or what a probe with new bytes tells of.
            missing: self.missing().filter(|&packets| packets > 0 || !unseen),
            sent_apart: self.sent_apart(seg),
            last_ack: since.emptied,
            after_len: u64::from(seg.len),
            frames: (last_place.frame(), seg.frame()),
            ack_frame: since.at.map(|_| since.place.frame()),
        };
        if let Some(transfer) = &mut self.transfer {
            transfer.gap(gap);
        }
    }

    fn short_gap(&mut self, length: Nanos, recovering: bool, window_full: bool) {
        if let Some(transfer) = &mut self.transfer {
            transfer.short_gap(length, recovering, window_full);
        }
    }
}
