//! Tracks the handshake of a connection: a smaller form of [`HandshakeFacts`].

use super::facts::{HandshakeFacts, Offer};
use super::segment::{FrameRef, Seg};
use crate::wire::Segment;
use whyslow_analysis::types::{Frame, SHORTEST_RTO, Side};
use whyslow_units::{Nanos, Time};

/// Shortest SYN retransmission timeout (RFC 6298 section 2.1 asks for a second; Linux uses at least
/// 200 ms).
const MIN_SYN_TIMER: Nanos = SHORTEST_RTO;

/// Time and frame of a packet, ordered by time and then by frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PacketRef {
    pub time: Time,
    frame_ref: FrameRef,
}

impl PacketRef {
    pub fn new(time: Time, frame: Frame) -> Self {
        Self { time, frame_ref: frame.into() }
    }

    pub fn of(seg: &Seg) -> Self {
        Self { time: seg.time, frame_ref: seg.frame_ref }
    }

    /// Returns whether it has this frame.
    pub fn is_at(self, place: FrameRef) -> bool {
        self.frame_ref == place
    }

    pub fn frame(self) -> Frame {
        self.frame_ref.frame()
    }

    pub fn into_parts(self) -> (Time, Frame) {
        (self.time, self.frame())
    }
}

/// The SYNs: offers and times.
#[derive(Clone, Debug, Default)]
pub(super) struct HandshakeTracker {
    /// First SYN.
    pub syn: Option<PacketRef>,
    /// Time of the last SYN before the first SYN-ACK.
    answered_syn: Option<Time>,
    /// First SYN-ACK.
    pub syn_ack: Option<PacketRef>,
    /// The ACK that completed the handshake.
    ack: Option<PacketRef>,
    /// Options and flags of each side's SYN.
    pub offers: [Option<Offer>; 2],
    /// See [`HandshakeFacts::unreadable`].
    unreadable: [bool; 2],
    /// SYN retransmissions of each side.
    retries: [u16; 2],
    /// See [`HandshakeFacts::last_retry`]: microseconds since the first SYN or SYN-ACK, zero if
    /// there was none.
    last_retry_micros: u32,
    /// See [`HandshakeFacts::time_clamped`].
    time_clamped: bool,
}

impl HandshakeTracker {
    /// Takes the offers of both SYNs from another source.
    pub fn join(&mut self, joined: &JoinedHandshake) {
        self.offers = joined.offers.map(Some);
    }

    /// Returns whether a SYN without ACK was captured.
    pub fn has_syn(&self) -> bool {
        self.syn.is_some()
    }

    /// Returns whether there was a SYN-ACK, but no ACK of it yet.
    #[inline]
    pub fn awaits_ack(&self) -> bool {
        self.syn_ack.is_some() && self.ack.is_none()
    }

    /// Records the ACK that completes the handshake.
    pub fn note_ack(&mut self, seg: &Seg) {
        self.ack = Some(PacketRef::of(seg));
        self.time_clamped |= seg.time_clamped();
    }

    /// Records a SYN. Returns whether it is the side's first with readable options.
    pub fn note_syn(&mut self, segment: &Segment<'_>, seg: &Seg) -> bool {
        let (from, at) = (seg.from(), PacketRef::of(seg));
        let mut offers = false;
        if self.offers[from].is_some() || self.unreadable[from] {
            // A SYN that follows immediately is a duplicate capture, even if IP IDs are zero.
            let first = if seg.ack().is_some() { self.syn_ack } else { self.syn };
            let again = first.is_none_or(|first| seg.time - first.time >= MIN_SYN_TIMER);
            self.retries[from] = self.retries[from].saturating_add(again.into());
            // A SYN-ACK for a retransmitted SYN delays the handshake only since that
            // retransmission.
            let since = seg.time - self.first(seg.time);
            if again && self.ack.is_none() && since - Nanos::from_micros(self.last_retry_micros.into()) >= MIN_SYN_TIMER
            {
                self.last_retry_micros = u32::try_from(since.0 / 1_000).unwrap_or(u32::MAX);
            }
        } else if segment.options.malformed {
            // A missing option may have been truncated.
            self.unreadable[from] = true;
        } else {
            self.offers[from] = Some(Offer::of(segment));
            offers = true;
        }
        if seg.ack().is_some() {
            self.syn_ack.get_or_insert(at);
        } else {
            self.syn.get_or_insert(at);
            if self.syn_ack.is_none() {
                self.answered_syn = Some(seg.time);
                self.time_clamped = seg.time_clamped();
            }
        }
        offers
    }

    /// Returns the time of the first SYN, else of the first SYN-ACK, else `now`.
    fn first(&self, now: Time) -> Time {
        let firsts = [self.syn, self.syn_ack];
        firsts.iter().flatten().map(|at| at.time).min().unwrap_or(now)
    }

    /// Converts to facts.
    pub fn facts(&self) -> HandshakeFacts {
        HandshakeFacts {
            syn: self.syn.map(PacketRef::into_parts),
            answered_syn: self.answered_syn,
            syn_ack: self.syn_ack.map(PacketRef::into_parts),
            ack: self.ack.map(PacketRef::into_parts),
            offers: self.offers,
            unreadable: self.unreadable,
            retries: self.retries.map(u64::from),
            last_retry: (self.last_retry_micros > 0)
                .then(|| self.first(Time::ZERO) + Nanos::from_micros(self.last_retry_micros.into())),
            time_clamped: self.time_clamped,
            is_joined: false,
        }
    }
}

/// A connection's handshake, from another source than a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinedHandshake {
    /// The offers of the first captured packet's sender, and of the other side.
    pub offers: [Offer; 2],
    /// The side that opened the connection; `None` if unknown.
    pub client: Option<Side>,
    /// The senders' smoothed RTT.
    pub rtt: Option<Nanos>,
}

/// The parameters negotiated by the SYNs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Negotiated {
    /// The MSS on the wire, timestamps option included, once both SYNs are known.
    pub wire_mss: Option<u32>,
    /// The MSS without options.
    pub mss: Option<u64>,
    pub sack: bool,
    /// Window scale shift for windows offered to each side.
    pub window_shift: [Option<u8>; 2],
    /// RTT of the handshake. It initialises the timers of both ends, unless a SYN was
    /// retransmitted, because then they cannot know which copy was answered (RFC 6298 section 3).
    pub rtt: Option<Nanos>,
}

impl Negotiated {
    pub fn of(handshake: &HandshakeFacts) -> Self {
        let offers = handshake.offers;
        let (mut wire_mss, mut mss) = (None, None);
        if let [Some(a), Some(b)] = offers {
            // 536 without the option (RFC 9293 section 3.7.1).
            let size = |offer: Offer| u64::from(offer.mss.unwrap_or(536)).max(1);
            let size = size(a).min(size(b));
            let stamps = if a.timestamps && b.timestamps { 12 } else { 0 };
            mss = Some(size.saturating_sub(stamps).max(1));
            wire_mss = u32::try_from(size).ok();
        }
        let refused = offers.iter().flatten().any(|offer| offer.window_scale.is_none());
        Self {
            wire_mss,
            mss,
            sack: offers.iter().all(|offer| offer.is_some_and(|offer| offer.sack)),
            window_shift: Side::BOTH.map(|side| match (offers[side], offers[!side]) {
                _ if refused => Some(0),
                (Some(_), Some(peer)) => peer.window_scale,
                _ => None,
            }),
            rtt: handshake.rtt_sample(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn optional_packet_ref_has_the_same_size() {
        assert_eq!(size_of::<Option<PacketRef>>(), 16);
    }
}
