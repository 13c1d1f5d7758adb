//! What IP numbers and timestamps tell of a sender's segments: which never came, and how far apart
//! two were sent.

use super::SenderState;
use crate::tcp::segment::{Seg, tsval};
use crate::units::Nanos;

impl SenderState {
    /// Notes the IP ID and TSval of a segment that begins `skipped` bytes beyond SND.MAX.
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
        // Hosts without sequential IDs come here for each packet: no division where nothing is
        // large.
        let packets = |bytes: u64| match bytes {
            0 => 0,
            _ if bytes <= mss => 1,
            _ => u16::try_from(bytes.div_ceil(mss)).unwrap_or(u16::MAX),
        };
        self.ip_ids.observe(seg, packets(seg.len.into()).max(1), packets(skipped));
    }

    /// Returns the packets lost before the capture point since the last send; `None` if that is
    /// unknown. A lost ACK for the peer's payload does not matter, and more than twice the largest
    /// flight with a few copies was not one flight of this connection.
    pub(super) fn missing_packets(&self) -> Option<u32> {
        self.ip_ids.missing_packets().filter(|&packets| {
            !self.since_send.any_payload && (packets == 0 || u64::from(packets) <= self.max_missing_packets())
        })
    }

    /// The most packets of one flight with its retransmissions, including those that a timer sent
    /// in vain.
    fn max_missing_packets(&self) -> u64 {
        self.max_in_flight() / self.mss() * 2 + MAX_VAIN_RETRANSMITS
    }

    /// At the end of the connection: keeps the packets missing before each transfer only if IDs are
    /// reliable and the count is plausible.
    pub(super) fn finalize_missing(&mut self) {
        self.facts.ip_ids_reliable = self.ip_ids.are_reliable();
        let most = if self.facts.ip_ids_reliable { self.max_missing_packets() } else { 0 };
        for transfer in &mut self.facts.transfers {
            if u64::from(transfer.missing_before) > most {
                transfer.missing_before = 0;
            }
        }
    }

    /// Returns the time between the last send and this one by the sender's clock.
    pub(super) fn sender_time_since_last_send(&self, seg: &Seg) -> Option<Nanos> {
        self.last_send.tsval.tsval().zip(tsval(seg)).and_then(|(one, other)| self.tsval_clock.time_between(one, other))
    }
}

/// Retransmissions that a timer may have sent in vain: with back-off from 200 ms the eighth comes
/// after half a minute.
const MAX_VAIN_RETRANSMITS: u64 = 8;
