//! `tcp`: derives TCP's behaviour from a connection's segments.
//!
//! It needs one pass and bounded state. The first segments are buffered until the vantage is known
//! (`vantage`), because everything later depends on it. Then each direction is tracked from its
//! sender's view (`sender`).

mod buffering;
mod connection;
mod decrypting;
mod early_acks;
pub mod elided;
mod exchanges;
pub mod facts;
mod fast_path;
mod handshake;
mod icmp;
mod icmp_notices;
mod message_notes;
mod opened_quic;
pub mod payload;
mod quic_notes;
mod recent_packets;
mod roles;
mod segment;
mod sender;
mod short_connection;
mod snapshot;
mod suspect;
pub mod trace;
mod tracing;
mod tracking;
mod vantage;

pub use connection::Connection;
pub use handshake::JoinedHandshake;
pub use short_connection::{INITIAL_SYN_TIMERS, ShortConnectionBounds};
#[cfg(any(test, feature = "unstable"))]
pub use snapshot::EARLIER_TRANSFERS;

use crate::wire::{Checksum, ChecksumTally, Flags, SackBlocks, Segment};
use buffering::Buffering;
use connection::{Rare, Reset, Stage, Tracking, note_payload};
use exchanges::Conversation;
use facts::{CaptureDefects, Facts, HandshakeFacts, ResetFacts};
use handshake::{HandshakeTracker, Negotiated, PacketRef};
use payload::streams::PayloadStreams;
pub use quic_notes::QuicNotes;
pub use segment::FrameRef;
use segment::Seg;
use sender::SenderState;
use std::net::IpAddr;
use std::num::NonZeroU8;
pub use suspect::BadChecksums;
use whyslow_analysis::types::{Frame, Side, State};
use whyslow_units::{Nanos, SeqNumber, Time};

#[cfg(test)]
mod tests;

/// After a silence of this length, in nanoseconds, new data may be another message even without a
/// request.
const SILENCE: u64 = sender::turns::MIN_IDLE.0.cast_unsigned();
/// Segments of one host overtake each other by less than this.
const REORDERED: Nanos = Nanos::from_millis(1);

impl Connection {
    /// Begins a connection with this segment, sent by side A.
    pub fn new(segment: &Segment<'_>, time: Time, frame: Frame) -> Self {
        Self {
            ports: [segment.src_port, segment.dst_port],
            first: PacketRef::new(time, frame),
            last: time,
            isns: [None; 2],
            opening: HandshakeTracker::default(),
            stage: Stage::Buffering(Buffering::default()),
            payload_streams: PayloadStreams::new(time),
            closing: [None; 2],
            fin: [None; 2],
            fin_acked: [false; 2],
            reset: None,
            first_payload_side: None,
            seen: [false; 2],
            checksums: [ChecksumTally::default(); 2],
            ttl: [[None; 2]; 2],
            is_past_opening: [false; 2],
            uses_fast_path: [false; 2],
            rare: None,
        }
    }

    /// Processes the next segment, sent by side `from`.
    pub fn push(&mut self, segment: &Segment<'_>, from: Side, time: Time, frame: Frame) {
        let mut seg = Seg::new(segment, from, time, frame.into());
        self.clamp_time(&mut seg);
        match segment.checksum {
            Checksum::Good => self.checksums[from].note(true),
            Checksum::Bad(by) => self.note_bad_checksum(from, by),
            Checksum::BadHeader(_) | Checksum::Partial | Checksum::Unknown => {}
        }
        let sack = &segment.options.sack;
        if self.is_recaptured(&seg, sack) {
            return;
        }
        if segment.options.malformed {
            self.capture_defects().malformed_options += 1;
        }
        if seg.flags.has(Flags::SYN) {
            if self.is_damaged_syn(&seg) {
                self.capture_defects().bad_checksums += 1;
                return;
            }
            let [of_syn, _] = &mut self.ttl[from];
            *of_syn = of_syn.or(NonZeroU8::new(seg.ttl));
            self.note_syn(segment, &seg);
        }
        self.track_special(&mut seg, sack, segment.payload);
    }

    /// Processes a segment that may open or close the connection.
    #[inline(never)]
    fn track_special(&mut self, seg: &mut Seg, sack: &SackBlocks, rest: &[u8]) {
        let ends = self.note(seg);
        self.track(seg, sack, rest);
        if ends {
            self.shrink_buffers();
        }
    }

    /// Releases memory of a connection that has ended but is kept for a while.
    #[inline(never)]
    fn shrink_buffers(&mut self) {
        if let Stage::Tracking(tracking) = &mut self.stage {
            tracking.senders.iter_mut().for_each(SenderState::shrink_buffers);
        }
    }

    /// Ensures that time never goes back.
    #[inline(always)]
    fn clamp_time(&mut self, seg: &mut Seg) {
        // A step back wraps around to a very large value.
        if seg.time.since(self.last) > SILENCE {
            self.on_silence_or_step(seg);
        }
    }

    #[cold]
    fn on_silence_or_step(&mut self, seg: &mut Seg) {
        if seg.time >= self.last {
            self.payload_streams.note_silence();
            return;
        }
        // A device may record its queues slightly out of order; that is not a step of the clock.
        if seg.time + early_acks::MAX_DISORDER < self.last {
            self.capture_defects().backwards += 1;
        }
        seg.clamp_time(self.last);
    }

    /// Returns whether this packet is a duplicate of an earlier one.
    #[inline(always)]
    fn is_recaptured(&mut self, seg: &Seg, sack: &SackBlocks) -> bool {
        if self.stage.is_recaptured(seg, sack) {
            self.note_duplicate_frame();
            return true;
        }
        self.last = seg.time;
        false
    }

    /// Counts a packet that was captured twice.
    #[inline(never)]
    fn note_duplicate_frame(&mut self) {
        self.capture_defects().duplicate_frames += 1;
    }

    /// Processes payload and sequence numbers, after the connection as a whole has been updated.
    #[inline(always)]
    fn track(&mut self, seg: &mut Seg, sack: &SackBlocks, rest: &[u8]) {
        if self.payload_streams.on_segment(seg, rest, (&self.isns, self.ports), &mut self.rare) {
            self.note(seg);
        }
        match &mut self.stage {
            Stage::Tracking(tracking) => {
                if !tracking.push(seg, sack) {
                    self.undo_dropped();
                }
            }
            Stage::Buffering(held) => {
                if held.push(seg, sack) {
                    self.start_tracking();
                }
            }
        }
    }

    /// Time from the first packet to the last one that carried or acknowledged a SYN or payload;
    /// neither side waits after that. If the client sent last, it may have waited for a response up
    /// to `end`, or to the last packet.
    pub fn active_until(&self, end: Time) -> Nanos {
        let waits = self.payload_streams.last_sender() == Some(self.client());
        let until = if waits { end.max(self.last) } else { self.payload_streams.active_until(self.last) };
        until - self.first.time
    }

    /// Captured payload, retransmissions included.
    pub fn payload(&self) -> u64 {
        self.payload_streams.payload()
    }

    /// Returns whether only one side was captured. Unanswered SYNs without payload do not count.
    fn is_one_direction(&self) -> bool {
        let is_opening = self.opening.offers.iter().any(Option::is_some);
        self.seen[0] != self.seen[1] && (!is_opening || self.first_payload_side.is_some())
    }

    fn capture_defects(&mut self) -> &mut CaptureDefects {
        &mut self.rare.get_or_insert_default().capture_defects
    }

    /// Updates the state that only opening and closing segments change; plain segments of most
    /// connections skip this. Returns whether the connection ends with this segment.
    #[inline(never)]
    fn note(&mut self, seg: &Seg) -> bool {
        let from = seg.from();
        self.seen[from] = true;
        self.note_origins(seg);
        self.note_handshake_ack(seg);
        let ends = self.note_close(seg);
        if seg.len > 0 {
            note_payload(seg, &mut self.ttl[from][1], &mut self.first_payload_side);
        }
        let origins = self.isns[0].is_some() && self.isns[1].is_some();
        let is_open = origins && !self.opening.awaits_ack() && self.fin == [None; 2] && self.reset.is_none();
        for side in Side::BOTH {
            // A side's first payload always comes here, but payload on a SYN (Fast Open) shows less
            // than other payload.
            let payload = !self.payload_streams.has_payload_from(side) || self.ttl[side][1].is_some();
            self.is_past_opening[side] = is_open && self.seen[side] && payload;
        }
        self.update_fast_path();
        ends
    }

    fn note_origins(&mut self, seg: &Seg) {
        let before_first = |number: SeqNumber| SeqNumber(number.0.wrapping_sub(1));
        let syn = seg.flags.has(Flags::SYN);
        if !seg.flags.has(Flags::RST) {
            self.isns[seg.from()].get_or_insert(if syn { seg.seq } else { before_first(seg.seq) });
            if let Some(ack) = seg.ack() {
                self.isns[!seg.from()].get_or_insert(before_first(ack));
            }
        }
    }

    /// Records the ACK that completes the handshake.
    fn note_handshake_ack(&mut self, seg: &Seg) {
        if !self.opening.awaits_ack() || seg.ack().is_none() || seg.flags.has(Flags::SYN) {
            return;
        }
        let opener = if self.opening.has_syn() { self.client() } else { Side::A };
        if seg.from() == opener {
            self.opening.note_ack(seg);
            if let Stage::Tracking(tracking) = &mut self.stage {
                tracking.on_handshake_rtt(Negotiated::of(&self.opening.facts()).rtt);
            }
        }
    }

    fn note_syn(&mut self, segment: &Segment<'_>, seg: &Seg) {
        let offers = self.opening.note_syn(segment, seg);
        if offers && segment.options.window_scale.is_some_and(|shift| shift > 14) {
            self.capture_defects().scale_over_14 += 1;
        }
        self.apply_negotiated();
    }

    /// Returns whether the connection ends with this segment.
    fn note_close(&mut self, seg: &Seg) -> bool {
        let from = seg.from();
        let closes = seg.flags.has(Flags::FIN) || seg.flags.has(Flags::RST);
        let closed = self.closing[from].map_or(seg.time, |closed| closed.time);
        if let Some(reset) = self.reset.as_mut().filter(|reset| reset.from == from && !seg.flags.has(Flags::RST)) {
            let is_sent = seg.len > 0 || seg.flags.has(Flags::SYN);
            reset.is_denied |= is_sent && seg.time - closed > REORDERED;
        }
        if !closes && self.fin[!from].is_none() {
            // Then there is no FIN to acknowledge.
            return false;
        }
        let ended = self.has_ended();
        if seg.flags.has(Flags::RST) {
            self.reset.get_or_insert(Reset {
                from,
                is_bare: !seg.flags.has(Flags::ACK),
                is_denied: false,
                ttl: seg.ttl,
            });
            self.closing[from].get_or_insert(PacketRef::of(seg));
        } else if seg.flags.has(Flags::FIN) {
            self.fin[from].get_or_insert(seg.seq + seg.len);
            self.closing[from].get_or_insert(PacketRef::of(seg));
        }
        if let (Some(ack), Some(fin)) = (seg.ack(), self.fin[!from]) {
            self.fin_acked[!from] |= ack.distance(fin) > 0;
        }
        !ended && self.has_ended()
    }

    fn has_ended(&self) -> bool {
        self.reset.is_some() || self.fin_acked == [true, true]
    }

    /// Applies the parameters that a SYN has negotiated.
    fn apply_negotiated(&mut self) {
        let negotiated = self.negotiated();
        match &mut self.stage {
            Stage::Buffering(held) if self.opening.offers.iter().all(Option::is_some) => held.mss_known(),
            Stage::Buffering(_) => {}
            Stage::Tracking(tracking) => {
                tracking.estimator.on_mss_negotiated(negotiated.wire_mss);
                tracking.apply_negotiated(&negotiated);
            }
        }
    }

    /// Starts tracking when the vantage is final: replays the buffered segments.
    fn start_tracking(&mut self) -> &mut Tracking {
        let negotiated = self.negotiated();
        if let Stage::Buffering(held) = &mut self.stage {
            let held = std::mem::take(held);
            let reliable = self.bad_checksums_mean_damage();
            let lengths = [self.reported_mtus(Side::A), self.reported_mtus(Side::B)];
            self.stage = Stage::Tracking(Tracking::new(held, &negotiated, reliable, &lengths));
            self.undo_dropped();
            self.update_fast_path();
        }
        match &mut self.stage {
            Stage::Tracking(tracking) => tracking,
            Stage::Buffering(_) => unreachable!("settled above"),
        }
    }

    /// Returns the side that opened the connection: by the SYNs, otherwise by ports and by the
    /// sender of the first payload.
    fn client(&self) -> Side {
        match self.proven_client() {
            Some(side) => side,
            None => roles::by_ports(self.ports).or(self.first_payload_side).unwrap_or_default(),
        }
    }

    fn proven_client(&self) -> Option<Side> {
        let [a, b] = self.opening.offers;
        match (self.opening.syn, self.opening.syn_ack, a.is_some(), b.is_some()) {
            (_, _, false, false) => None,
            // Another source has the SYNs.
            (None, None, ..) => self.rare.as_ref()?.joined?.client,
            // Only a SYN-ACK was captured: the other side is the client.
            (None, Some(_), true, false) => Some(Side::B),
            (None, Some(_), false, true) => Some(Side::A),
            // The SYN's options are unreadable.
            (Some(_), Some(_), false, true) => Some(Side::A),
            (_, _, true, false) => Some(Side::A),
            (_, _, false, true) => Some(Side::B),
            // The first packet is a SYN of side A. With SYNs from both sides (simultaneous open)
            // either choice is fine.
            _ => Some(if self.opening.has_syn() { Side::A } else { Side::B }),
        }
    }

    /// Finishes the connection. `endpoints` are the addresses and ports of sides A and B.
    pub fn finish(mut self, endpoints: [(IpAddr, u16); 2]) -> Facts {
        self.take_facts(endpoints)
    }

    /// Returns the facts of the connection; no segments may follow.
    fn take_facts(&mut self, endpoints: [(IpAddr, u16); 2]) -> Facts {
        let (content, begins_with_text, readers) = self.take_content();
        let shown = || roles::by_heads(&content).or_else(|| readers.client());
        let client = self.proven_client().or_else(shown).unwrap_or_else(|| self.client());
        let is_joined = self.rare.as_ref().is_some_and(|rare| rare.joined.is_some());
        let handshake = HandshakeFacts { is_joined, ..self.opening.facts() };
        self.start_tracking().finish_suspect();
        self.undo_dropped();
        let Rare { capture_defects, notices, quic, lookup, .. } = self.take_rare();
        let (last, origins) = (self.last, self.isns);
        let tracking = self.start_tracking();
        let vantage = tracking.estimator.conclude(client);
        let rtt = tracking.rtt(handshake.rtt_sample());
        let mut directions = tracking.finish_directions(last, &origins);
        if content[!client].tls13 != Some(false) {
            exchanges::note_greeting(&mut directions, client, &content[client], vantage.toward[!client]);
        }
        if content[!client].protocol == Some(payload::Protocol::Tls) {
            let closed = self.closing[!client].map(|packet| packet.time);
            exchanges::note_closing_message(&mut directions, !client, closed);
        }
        let (decryption, mut messages) = readers.finish(&content, client, quic.as_deref());
        messages.iter_mut().for_each(|messages| message_notes::note(&mut directions, messages, &vantage.toward));
        let requester = exchanges::requester(client, endpoints[!client].1);
        exchanges::note_request_retransmits(&mut directions, requester);
        let conversation =
            Conversation { directions: &directions, requester, toward: vantage.toward, handshake: &handshake };
        let (exchanges, exchanges_total) = conversation.exchanges();
        Facts {
            endpoints,
            origins,
            client,
            requester,
            first: self.first.time,
            last: self.last,
            until: self.last,
            first_frame: self.first.frame(),
            state: self.state(client),
            closed_by: self.closed_by(),
            closing: self.closing.map(|at| at.map(PacketRef::into_parts)),
            fins: self.fin.map(|fin| fin.is_some()),
            reset: self.reset_facts(),
            ttl: self.ttl.map(|[of_syn, of_payload]| (of_syn.map(NonZeroU8::get), of_payload.map(NonZeroU8::get))),
            handshake,
            vantage,
            rtt,
            directions,
            exchanges,
            exchanges_total,
            decryption,
            messages,
            content,
            begins_with_text,
            capture_defects,
            notices,
            quic,
            lookup,
            is_text: false,
            elided: Vec::new(),
            timeless: false,
        }
    }

    fn reset_facts(&self) -> Option<ResetFacts> {
        self.reset.map(|reset| ResetFacts {
            from: reset.from,
            ttl: reset.ttl,
            is_bare: reset.is_bare,
            is_denied: reset.is_denied,
        })
    }

    /// Takes the state that few connections have, with the capture defects of both directions.
    fn take_rare(&mut self) -> Rare {
        let one_direction = self.is_one_direction();
        let mut rare = self.rare.take().map(|rare| *rare).unwrap_or_default();
        let tracking = self.start_tracking();
        let [a, b] = &tracking.senders;
        rare.capture_defects = CaptureDefects {
            unseen_bytes: a.unseen.bytes + b.unseen.bytes,
            unseen_stretches: a.unseen.stretches + b.unseen.stretches,
            first_unseen: a.unseen.first.or(b.unseen.first),
            stray: a.stray + b.stray + rare.capture_defects.stray,
            forgotten: a.outstanding.forgotten() + b.outstanding.forgotten(),
            one_direction,
            larger_than_mss: tracking.estimator.larger_than_mss,
            ..rare.capture_defects
        };
        rare
    }

    fn closed_by(&self) -> Option<Side> {
        match self.closing {
            [Some(a), Some(b)] => Some(if b < a { Side::B } else { Side::A }),
            [Some(_), None] => Some(Side::A),
            [None, Some(_)] => Some(Side::B),
            [None, None] => None,
        }
    }

    fn state(&self, client: Side) -> State {
        let fins = [self.fin[0].is_some(), self.fin[1].is_some()];
        let opened = !self.opening.has_syn() || self.opening.syn_ack.is_some() || self.first_payload_side.is_some();
        match (self.reset.is_some(), fins) {
            (true, _) if !opened && self.closing[!client].is_some() => State::Refused,
            (_, [true, true]) => State::Closed,
            (true, _) => State::Reset,
            (false, [true, false]) if self.fin_acked[0] => State::HalfClosed,
            (false, [false, true]) if self.fin_acked[1] => State::HalfClosed,
            _ if !opened => State::Unanswered,
            _ => State::Open,
        }
    }
}
