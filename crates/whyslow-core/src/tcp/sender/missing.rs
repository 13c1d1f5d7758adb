//! Evidence from a sender's IP IDs and timestamps: the number of uncaptured segments, and the time
//! between two sends.

use super::retransmit::longest_wait;
use super::{PathEstimate, SenderState};
use crate::tcp::facts::{Release, SendPause};
use crate::tcp::segment::{Seg, tsval};
use whyslow_analysis::types::RTO_MIN;
use whyslow_units::Nanos;

impl SenderState {
    /// Records the IP ID and TSval of a segment that begins `skipped` bytes beyond SND.MAX.
    #[inline]
    pub(super) fn note_ip_id_and_tsval(&mut self, seg: &Seg, skipped: u64) {
        if u64::from(seg.len) <= self.mss() && self.ip_ids.is_next(seg) {
            self.ip_ids.observe_next(seg);
        } else {
            self.note_ip_id(seg, skipped);
        }
        if let Some(value) = tsval(seg).filter(|_| !seg.time_clamped()) {
            self.tsval_clock.observe(seg.time, value);
        }
    }

    #[inline(never)]
    fn note_ip_id(&mut self, seg: &Seg, skipped: u64) {
        let mss = self.mss();
        // Hosts without sequential IDs run this for each packet: avoids divisions for small sizes.
        let packets = |bytes: u64| match bytes {
            0 => 0,
            _ if bytes <= mss => 1,
            _ => u16::try_from(bytes.div_ceil(mss)).unwrap_or(u16::MAX),
        };
        self.ip_ids.observe(seg, packets(seg.len.into()).max(1), packets(skipped));
    }

    /// Returns the number of packets lost before the capture point since the last send; `None` if
    /// unknown. A lost ACK for the peer's payload does not matter. More than twice the largest
    /// flight plus a few copies cannot be one flight of this connection.
    pub(super) fn missing_packets(&self) -> Option<u32> {
        self.ip_ids.missing_packets().filter(|&packets| {
            !self.since_send.any_payload && (packets == 0 || u64::from(packets) <= self.max_missing_packets())
        })
    }

    /// The most packets of one flight with its retransmissions, including those that a timer sent
    /// without success.
    fn max_missing_packets(&self) -> u64 {
        self.max_in_flight() / self.mss() * 2 + MAX_VAIN_RETRANSMITS
    }

    /// Returns the number of packets missing since the last send, if IDs prove to be reliable. A
    /// single one may be an ACK.
    pub(super) fn missing_while_unproven(&self) -> u32 {
        let packets = self.ip_ids.missing_while_unproven();
        if packets > 1 && !self.since_send.any_payload { packets } else { 0 }
    }

    /// At the end of the connection: keeps the number of packets missing before each transfer, and
    /// in pauses near its start, only if IDs are reliable and the number is plausible.
    pub(super) fn finalize_missing(&mut self, path: &PathEstimate) {
        self.facts.ip_ids_reliable = self.ip_ids.are_reliable();
        let most = if self.facts.ip_ids_reliable { self.max_missing_packets() } else { 0 };
        let rto = self.srtt.rto();
        for transfer in &mut self.facts.transfers {
            if u64::from(transfer.missing_before) > most {
                transfer.missing_before = 0;
            }
            for gap in transfer.pauses.iter_mut().filter(|gap| gap.missing_while_unproven > 0) {
                let packets = std::mem::take(&mut gap.missing_while_unproven);
                if u64::from(packets) <= most && gap.end - gap.start <= longest_wait(rto, packets).scale(1.25) {
                    mark_timer_gap(gap, packets, path);
                }
            }
        }
    }

    /// Returns the time between the last send and this one by the sender's clock.
    pub(super) fn sender_time_since_last_send(&self, seg: &Seg) -> Option<Nanos> {
        self.last_send.tsval.tsval().zip(tsval(seg)).and_then(|(one, other)| self.tsval_clock.time_between(one, other))
    }
}

/// Marks a pause as ended by a timer if packets of it were not captured and nothing else ended it.
fn mark_timer_gap(gap: &mut SendPause, packets: u32, path: &PathEstimate) {
    let length = gap.end - gap.start;
    let together = gap.sent_apart.is_some_and(|apart| apart.0 < length.0 / 2);
    let is_long = length >= path.rtt.unwrap_or_default().scale(2.0).max(RTO_MIN.scale(0.95));
    if gap.release == Release::Nothing && gap.closed.is_none() && !gap.unseen && !together && is_long {
        gap.missing = Some(packets);
        gap.release = Release::Timer;
    }
}

/// Maximum number of unsuccessful retransmissions by a timer: with back-off from 200 ms, the eighth
/// comes after half a minute.
const MAX_VAIN_RETRANSMITS: u64 = 8;
