//! What the `tcp` stage gives: what TCP did on one connection, as numbers and bounded lists.
//!
//! All times are the capture's, moved to the clock of the end that they speak of: a data segment is
//! sent when it passes the capture point, and an ACK reaches the data's sender one `toward` later
//! (see [`Vantage`]). That shifts a sender's whole timeline by one constant and leaves every
//! difference true.

mod retransmission;
mod transfer;

use super::QuicNotes;
pub use super::icmp_notices::{Notice, Notices};
use super::payload;
use super::sender::rtt::OLD_FIRST_RTO;
pub use crate::types::Fate;
use crate::types::{Decryption, End, Frame, Near, Side, State, VantageReason};
use crate::units::{Nanos, SeqNumber, Time};
use crate::wire::{Flags, Segment};
pub use retransmission::{Retransmission, Retransmitted};
use std::net::IpAddr;
pub use transfer::*;

/// One connection.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Addresses and ports, by side.
    pub endpoints: [(IpAddr, u16); 2],
    /// The sequence number before each side's first payload byte: that of its SYN, or what the
    /// first packets let infer.
    pub origins: [Option<SeqNumber>; 2],
    /// Which side opened the connection.
    pub client: Side,
    /// Which side asks the other: the one that opened the connection, but where the protocol has it
    /// the other way round.
    pub requester: Side,
    /// First packet.
    pub first: Time,
    /// Last packet.
    pub last: Time,
    /// Up to here a packet of it would have been seen: the end of the capture, or when it was given
    /// up.
    pub until: Time,
    /// First packet.
    pub first_frame: Frame,
    /// The opening.
    pub handshake: HandshakeFacts,
    /// How it stood at the end.
    pub state: State,
    /// Who sent FIN or RST first.
    pub closed_by: Option<Side>,
    /// Time to live of each side's SYN, and of its first payload.
    pub ttl: [(Option<u8>, Option<u8>); 2],
    /// When each side sent its first FIN or RST, and in which frame.
    pub closing: [Option<(Time, Frame)>; 2],
    /// Whether each side sent a FIN.
    pub fins: [bool; 2],
    /// The first RST.
    pub reset: Option<ResetFacts>,
    /// Where the capture stands.
    pub vantage: Vantage,
    /// Round-trip times of the whole path.
    pub rtt: RttFacts,
    /// By sending side.
    pub directions: [DirectionFacts; 2],
    /// Requests with their answers, and pushes, in time order: those that were waited for longest.
    pub exchanges: Vec<ExchangeFacts>,
    /// How many there were.
    pub exchanges_total: u64,
    /// What the payload showed, by sending side.
    pub content: [payload::Content; 2],
    /// How far it was decrypted; `None` without secrets, or if the connection is not one of TLS.
    pub decryption: Option<Decryption>,
    /// What the messages of a protocol above TCP showed, in clear or decrypted; `None` if none is
    /// known.
    pub messages: Option<Box<payload::MessageFacts>>,
    /// Whether the first payload of each side is text, as commands and greetings are.
    pub begins_with_text: [bool; 2],
    /// What limits the findings.
    pub capture_defects: CaptureDefects,
    /// What ICMP errors said of its segments.
    pub notices: Notices,
    /// It is of QUIC.
    pub quic: Option<Box<QuicNotes>>,
    /// It comes from a text.
    pub is_text: bool,
    /// Of a text: where packets of it are missing, in time order.
    pub elided: Vec<Stretch>,
    /// It comes from a text without times.
    pub timeless: bool,
}

impl Facts {
    /// The minimum RTT that was seen.
    pub fn min_rtt(&self) -> Option<Nanos> {
        self.rtt.min
    }

    /// It is of QUIC, and no key log opens its packets: ACKs, windows and losses are not known.
    pub fn hides_packets(&self) -> bool {
        self.quic.as_ref().is_some_and(|notes| !notes.is_opened())
    }

    /// The end at this side.
    pub fn end_of(&self, side: Side) -> End {
        if side == self.client { End::Client } else { End::Server }
    }

    /// Nothing that was captured is later than `last`: an ACK that reaches its sender after that is
    /// told as of then.
    pub fn end_with(&mut self, last: Time) {
        let last = last.max(self.last);
        for transfer in self.directions.iter_mut().flat_map(|sender| &mut sender.transfers) {
            transfer.end = transfer.end.min(last);
            transfer.delivered.iter_mut().for_each(|(time, _)| *time = (*time).min(last));
            if let Some((time, _)) = &mut transfer.first_echo {
                *time = (*time).min(last);
            }
        }
    }

    /// Whether a transfer is nothing but the TLS handshake: a phase, not a transfer.
    pub fn is_handshake(&self, sender: Side, transfer: &TransferFacts) -> bool {
        let content = &self.content[sender];
        // All that answers the ClientHello belongs to the handshake, though TLS 1.3 sends most of
        // it as application data (RFC 8446 section 5.1).
        let answers_hello = sender != self.client
            && transfer.seq.0 <= 1
            && content.firsts.first().is_some_and(|&(start, _, kind)| start <= 1 && kind == TLS_HANDSHAKE);
        let end = if sender == self.client { content.finished_end() } else { content.handshake_end };
        answers_hello || end.is_some_and(|end| transfer.seq.1 <= end)
    }

    /// Whether it is one that is told of.
    pub fn is_listed(&self, sender: Side, transfer: &TransferFacts) -> bool {
        !transfer.is_housekeeping && !self.is_handshake(sender, transfer)
    }
}

/// A RST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResetFacts {
    /// Whose address it has.
    pub from: Side,
    /// Its time to live.
    pub ttl: u8,
    /// It has no ACK flag: it answers a segment for which there is no socket any more (RFC 9293
    /// section 3.10.7.1).
    pub is_bare: bool,
    /// The end whose address it has sent data or its SYN-ACK behind it: a box on the way sent it.
    pub is_denied: bool,
}

/// Content type of a handshake record (RFC 8446 section 5.1).
const TLS_HANDSHAKE: u8 = 22;

/// The SYNs.
#[derive(Clone, Debug, Default)]
pub struct HandshakeFacts {
    /// First SYN: when, and in which frame.
    pub syn: Option<(Time, Frame)>,
    /// The SYN that was answered (the last one before the first SYN-ACK).
    pub answered_syn: Option<Time>,
    /// First SYN-ACK.
    pub syn_ack: Option<(Time, Frame)>,
    /// The ACK that completed it.
    pub ack: Option<(Time, Frame)>,
    /// What each side's SYN offered.
    pub offers: [Option<Offer>; 2],
    /// A SYN came, but its options were cut when it was captured, or are damaged: what it offered
    /// is unknown.
    pub unreadable: [bool; 2],
    /// How often each side sent its SYN again.
    pub retries: [u64; 2],
    /// When the last of these passed that the opening waited for.
    pub last_retry: Option<Time>,
    /// The SYN's time or the ACK's is not its own: the clock went backwards.
    pub time_clamped: bool,
    /// It was not captured, and what the SYNs offered is known from elsewhere.
    pub is_joined: bool,
}

impl HandshakeFacts {
    /// One round trip, from any vantage: SYN → SYN-ACK → ACK.
    pub fn rtt(&self) -> Option<Nanos> {
        Some((self.ack?.0 - self.answered_syn?).or_zero()).filter(|_| !self.time_clamped)
    }

    /// Returns the RTT by which both ends set their timers: of SYNs that were sent once (RFC 6298
    /// section 3) and answered before any timer would have expired.
    pub fn rtt_sample(&self) -> Option<Nanos> {
        self.rtt().filter(|rtt| self.retries == [0, 0] && *rtt <= OLD_FIRST_RTO)
    }

    /// Whether classic ECN is in force: echoes are flags then, and not a counter (RFC 9768). None
    /// when a SYN was not captured.
    pub fn classic_ecn(&self, client: Side) -> Option<bool> {
        let (syn, syn_ack) = (self.offers[client]?, self.offers[!client]?);
        Some(syn.ecn & 0b011 == 0b011 && syn_ack.ecn == 0b001)
    }

    /// It carries a part of a stream: what is said on it may be answered on another.
    pub fn is_subflow(&self) -> bool {
        self.offers.iter().flatten().any(|offer| offer.multipath == Multipath::Joins)
    }

    /// Others may carry parts of the stream too.
    pub fn is_multipath(&self) -> bool {
        self.is_subflow() || self.offers.iter().all(|offer| offer.is_some_and(|offer| offer.multipath != Multipath::No))
    }

    /// Both SYNs were captured, so that the options in force are known.
    pub fn is_complete(&self) -> bool {
        self.offers.iter().all(Option::is_some)
    }
}

/// What a SYN says of other connections that carry the same stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Multipath {
    /// Nothing: there are none.
    #[default]
    No,
    /// Others may join this one.
    Begins,
    /// It joins others.
    Joins,
}

/// What a SYN offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Maximum segment size, bytes.
    pub mss: Option<u16>,
    /// Window scale shift, as sent.
    pub window_scale: Option<u8>,
    /// SACK permitted.
    pub sack: bool,
    /// Timestamps.
    pub timestamps: bool,
    /// Multipath TCP (RFC 8684).
    pub multipath: Multipath,
    /// The window in it (never scaled).
    pub window: u16,
    /// The flags AE, CWR and ECE, from the highest bit down: what it offers of ECN (RFC 3168
    /// section 6.1.1, RFC 9768 section 3.1).
    pub ecn: u8,
}

impl Offer {
    /// What this SYN offers.
    pub fn of(syn: &Segment<'_>) -> Self {
        let options = &syn.options;
        let flags = [Flags::ECE, Flags::CWR, Flags::AE].into_iter().enumerate();
        Self {
            mss: options.mss,
            window_scale: options.window_scale,
            sack: options.sack_permitted,
            timestamps: options.timestamps.is_some(),
            multipath: match (options.mptcp_join, options.mptcp) {
                (true, _) => Multipath::Joins,
                (false, true) => Multipath::Begins,
                (false, false) => Multipath::No,
            },
            window: syn.window,
            ecn: flags.map(|(bit, flag)| u8::from(syn.flags.has(flag)) << bit).sum(),
        }
    }
}

/// Where the capture stands.
#[derive(Clone, Debug, Default)]
pub struct Vantage {
    /// Next to which end.
    pub near: Near,
    /// What shows that.
    pub reason: VantageReason,
    /// Least time from the capture point to each side and back.
    pub toward: [Option<Nanos>; 2],
}

impl Vantage {
    /// The time from the capture point to `side` and back, zero when not known.
    pub fn loop_to(&self, side: Side) -> Nanos {
        self.toward[side].unwrap_or(Nanos::ZERO)
    }
}

/// Round-trip times of the whole path.
#[derive(Clone, Copy, Debug, Default)]
pub struct RttFacts {
    /// Least.
    pub min: Option<Nanos>,
    /// Median.
    pub p50: Option<Nanos>,
    /// 95th percentile.
    pub p95: Option<Nanos>,
    /// Samples.
    pub samples: u64,
}

/// Things that the capture cannot show, counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct CaptureDefects {
    /// Bytes that were acknowledged and never captured, and in how many stretches.
    pub unseen_bytes: u64,
    /// See `unseen_bytes`.
    pub unseen_stretches: u64,
    /// ACKs that cover bytes never captured, though nothing later was captured either.
    pub first_unseen: Option<Frame>,
    /// Packets of one side only.
    pub one_direction: bool,
    /// Frames captured twice.
    pub duplicate_frames: u64,
    /// Segments larger than the path's MSS: offload at a capturing host.
    pub larger_than_mss: u64,
    /// Segments far outside the window, not used.
    pub stray: u64,
    /// Segments in flight, and holes between them, beyond what is remembered.
    pub forgotten: u64,
    /// Option lists cut or damaged.
    pub malformed_options: u64,
    /// Window scale shifts over 14.
    pub scale_over_14: u64,
    /// Segments with a wrong TCP checksum that never came to the other end, not used.
    pub bad_checksums: u64,
    /// All segments with a wrong TCP checksum.
    pub all_bad_checksums: u64,
    /// By how much the last of them was off.
    pub checksum_offset: u16,
    /// Not all of them were off by as much.
    pub checksum_offsets_vary: bool,
    /// Times that went backwards.
    pub backwards: u64,
}

/// So many wrong sums that are all off by the same amount were made by rewriting.
const MIN_REWRITTEN: u64 = 3;

impl CaptureDefects {
    /// Whether the checksums were made wrong by rewriting: what changes addresses alike changes the
    /// sums by the same amount.
    pub fn are_rewritten(&self) -> bool {
        self.all_bad_checksums >= MIN_REWRITTEN && !self.checksum_offsets_vary
    }
}

/// One direction's data, as its sender saw it.
#[derive(Clone, Debug, Default)]
pub struct DirectionFacts {
    /// Payload as sequence space.
    pub bytes: u64,
    /// Segments sent, pure ACKs included.
    pub packets: u64,
    /// Segments retransmitted.
    pub retransmitted: Retransmitted,
    /// The first of them, in the order in which they passed; the times are the capture's.
    pub retransmissions: Vec<Retransmission>,
    /// How many there were.
    pub retransmissions_total: u64,
    /// Reordered on the way to the capture point.
    pub out_of_order: u64,
    /// Holes that the receiver reported (SACK) and that closed though nothing in them was sent
    /// again: reordered beyond the capture point.
    pub healed_holes: u64,
    /// Largest distance in time by which a segment came late without having been retransmitted.
    pub reorder_extent: Nanos,
    /// Duplicate ACKs for this data.
    pub duplicate_acks: u64,
    /// D-SACK blocks without a retransmission: the network duplicated.
    pub duplicated: u64,
    /// Zero-window probes.
    pub window_probes: u64,
    /// Keep-alives.
    pub keep_alives: u64,
    /// For how long the window was closed.
    pub zero_window: Nanos,
    /// How often it closed.
    pub closings: u64,
    /// ACKs that offered no byte.
    pub zero_windows: u64,
    /// How often data filled the window exactly, and an ACK then opened it.
    pub window_full: u64,
    /// Most bytes in flight.
    pub max_in_flight: u64,
    /// Largest window offered; none when its scale is not known.
    pub max_window: Option<u64>,
    /// Whether the windows could be scaled (both SYNs seen, or as below).
    pub scale_known: bool,
    /// The shift of the windows that was taken for the true one, though no SYN tells: the least
    /// that allows what was in flight, with which the window was full again and again.
    pub assumed_shift: Option<u8>,
    /// The segment size, bytes: negotiated, or else the largest that was seen.
    pub mss: u64,
    /// Payload of the largest segment that passed, bytes, …
    pub largest_len: u64,
    /// … and of the largest that is known to have arrived.
    pub largest_acked_len: u64,
    /// Time from data to its ACK, seen at the capture point: least, …
    pub ack_delay_min: Option<Nanos>,
    /// … and median, where there are enough of them for one to mean something.
    pub ack_delay_p50: Option<Nanos>,
    /// Last segment with payload that was sent, copies included.
    pub last_payload: Option<(Time, Frame)>,
    /// Its payload, bytes.
    pub last_len: u64,
    /// It was new, and not pushed (PSH): the sender had more to send.
    pub last_unpushed: bool,
    /// Payload bytes that were sent and never acknowledged.
    pub unacknowledged: u64,
    /// Its transfers, in time order.
    pub transfers: Vec<TransferFacts>,
    /// How many there were.
    pub transfers_total: u64,
    /// Response times of its transfers that answer a message, those no longer in the list included.
    pub response_times: Option<ResponseFacts>,
    /// ECN echoes from the receiver.
    pub ecn_echoes: u64,
    /// Its IP numbers tell of packets that never came to the capture point.
    pub ip_ids_reliable: bool,
    /// Where the capture lacks packets, of this direction or ACKs for it.
    pub missing: Vec<Stretch>,
}

/// Quantiles of the times from a request's first byte to its response's last byte, as both passed
/// the capture point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseFacts {
    /// How many there are.
    pub count: u64,
    /// Median.
    pub p50: Nanos,
    /// 95th percentile.
    pub p95: Nanos,
}

impl DirectionFacts {
    /// How many transfers there were that are no longer in the list.
    pub fn transfers_forgotten(&self) -> u64 {
        self.transfers_total.saturating_sub(self.transfers.len() as u64)
    }
}

/// From the last packet before what is missing to the first one behind it, by the capture's clock.
pub type Stretch = (Time, Time);
