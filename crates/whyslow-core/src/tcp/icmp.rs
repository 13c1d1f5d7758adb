//! Which ICMP errors are accepted, and which retransmissions they explain.
//!
//! A segment that was too long for the path is retransmitted in shorter ones as soon as its sender
//! receives the error (path MTU discovery, RFC 1191, RFC 8201). Nothing was lost, no window shrinks
//! (Linux `tcp_simple_retransmit`), and the delay is only the round trip to the router.
//! [`SenderState::exceeded_reported_mtu`] recognises these retransmissions.
//!
//! Errors are not authenticated (RFC 5927). An error about a segment that was not in flight is
//! forged or late; senders ignore it, and it is dropped here.

use super::buffering::Buffering;
use super::connection::{Connection, Stage};
use super::icmp_notices::{MAX_NOTICES, ReportedMtu};
use super::segment::Seg;
use super::sender::outstanding::OutstandingSegment;
use super::sender::rtt::MIN_PROBE_TIMER;
use super::sender::{PathEstimate, SenderState};
use crate::wire::{Fate, Flags, Icmp};
use std::net::IpAddr;
use whyslow_analysis::types::{Frame, Side};
use whyslow_units::{SeqNumber, Time};

impl Connection {
    /// Processes an ICMP error about a segment of side `about`. Returns whether that segment was in
    /// flight; if not, the error is ignored.
    pub fn on_icmp_error(&mut self, error: &Icmp, about: Side, time: Time, frame: Frame) -> bool {
        let may_be = self.may_be_in_flight(about, SeqNumber(error.seq));
        if may_be {
            self.rare.get_or_insert_default().notices.add(error, about, time, frame);
            if let (Some(reported), Stage::Tracking(tracking)) =
                (self.reported_mtu(error.fate, error.by, time), &mut self.stage)
            {
                tracking.senders[about].on_reported_mtu(reported);
            }
        }
        may_be
    }

    /// Returns the MTU that an error reports.
    fn reported_mtu(&self, fate: Fate, by: IpAddr, time: Time) -> Option<ReportedMtu> {
        let Fate::TooBig(Some(mtu)) = fate else { return None };
        // An error has the IP version of the quoted packet. Every link supports the minimum MTU
        // (RFC 791, RFC 8200), and senders ignore smaller values.
        let (ip, least) = if by.is_ipv6() { (40, 1280) } else { (20, 68) };
        if mtu < least {
            return None;
        }
        let stamps = self.opening.offers.iter().all(|offer| offer.is_some_and(|offer| offer.timestamps));
        Some(ReportedMtu { max_payload: mtu.saturating_sub(ip + 20 + if stamps { 12 } else { 0 }), time })
    }

    /// Returns the MTUs reported while the first segments were buffered, for this side's direction.
    pub(super) fn reported_mtus(&self, side: Side) -> Vec<ReportedMtu> {
        let notices = self.rare.iter().flat_map(|rare| &rare.notices.list);
        let those = notices.filter(|notice| notice.about == side);
        those.filter_map(|notice| self.reported_mtu(notice.fate, notice.by, notice.time)).collect()
    }

    /// Decides like Linux whether to accept an error (`tcp_v4_err`, `tcp_v6_err`; RFC 5927 section
    /// 4.1). Accepts one byte below for keep-alives, and above the captured data as many bytes as
    /// may have been missed.
    fn may_be_in_flight(&self, about: Side, number: SeqNumber) -> bool {
        match &self.stage {
            Stage::Tracking(tracking) => tracking.senders[about].may_have_in_flight(number),
            Stage::Buffering(held) => held.may_have_in_flight(about, number),
        }
    }
}

impl SenderState {
    /// Records a reported MTU; the newest ones are kept.
    pub(super) fn on_reported_mtu(&mut self, reported: ReportedMtu) {
        if self.reported_mtus.len() == MAX_NOTICES {
            self.reported_mtus.remove(0);
        }
        self.reported_mtus.push(reported);
    }

    /// Returns the largest payload that passes, if a retransmission was too long for the path at
    /// first and is shorter now. Data left to segmentation offload is longer than a segment. A
    /// sender that `waited` for a timer did not react to the error.
    #[cold]
    pub(super) fn exceeded_reported_mtu(
        &self,
        seg: &Seg,
        (start, end): (u64, u64),
        waited: bool,
        path: &PathEstimate,
    ) -> Option<u32> {
        let is_cut = |reported: &&ReportedMtu| {
            seg.time >= reported.time && (seg.len <= reported.max_payload || u64::from(seg.len) > self.mss())
        };
        let reported = self.reported_mtus.iter().rfind(is_cut)?;
        let received = reported.time + path.loop_to_sender;
        let at_once = !waited || seg.time - received < MIN_PROBE_TIMER;
        let too_long = |sent: &OutstandingSegment| sent.time <= received && sent.len > reported.max_payload;
        (at_once && self.outstanding.any_within(start, end, too_long)).then_some(reported.max_payload)
    }

    fn may_have_in_flight(&self, number: SeqNumber) -> bool {
        // Without captured segments of this direction there is nothing to compare with.
        let Some(place) = self.unwrap_seq(number) else { return self.isn.is_none() };
        let end = self.snd_max.max(self.window.right_edge.unwrap_or(0)).saturating_add(MAX_UNSEEN_AHEAD as u64);
        (self.snd_una.saturating_sub(1)..=end).contains(&place)
    }
}

impl Buffering {
    fn may_have_in_flight(&self, about: Side, number: SeqNumber) -> bool {
        let (mut first, mut acked, mut end) = (None, None::<SeqNumber>, None::<SeqNumber>);
        let farther = |of: Option<SeqNumber>, number: SeqNumber| {
            if of.is_none_or(|of| number.distance(of) > 0) { Some(number) } else { of }
        };
        let mut steps = self.advances();
        while let Some((seg, _)) = steps.next() {
            // Numbers of a RST may not belong to the connection.
            if seg.flags.has(Flags::RST) {
                continue;
            }
            if seg.from() == about {
                first = first.or(Some(seg.seq));
                end = farther(end, seg.seq + seg.seq_len());
            } else if let Some(ack) = seg.ack() {
                acked = farther(acked, ack);
            }
        }
        let is_behind = |of: Option<SeqNumber>, by: i32| of.is_some_and(|of| number.distance(of) < -by);
        let is_before = if acked.is_some() { is_behind(acked, 1) } else { is_behind(first, MAX_UNSEEN_AHEAD) };
        !is_before && end.is_none_or(|end| number.distance(end) <= MAX_UNSEEN_AHEAD)
    }
}

/// Maximum bytes that uncaptured segments may lie beyond captured ones: an unscaled window.
const MAX_UNSEEN_AHEAD: i32 = 65_535;
