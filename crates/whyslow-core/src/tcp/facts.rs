//! Output of the `tcp` stage: facts about TCP's behaviour on one connection, as numbers and bounded
//! lists.
//!
//! All times are the capture's, shifted to the clock of the end to which they refer: a data segment
//! is sent when it passes the capture point, and an ACK reaches the data's sender one `toward`
//! later (see [`Vantage`]). That shifts a sender's whole timeline by one constant and keeps all
//! differences.

mod retransmission;
mod transfer;

use super::QuicNotes;
pub use super::icmp_notices::{Notice, Notices};
use super::payload;
use super::sender::rtt::OLD_FIRST_RTO;
use crate::dns::LookupFacts;
use crate::wire::{Flags, Segment};
pub use retransmission::{Retransmission, Retransmitted};
use std::net::IpAddr;
pub use transfer::*;
pub use whyslow_analysis::types::Fate;
use whyslow_analysis::types::{Decryption, End, Frame, Near, Side, State, VantageReason};
use whyslow_units::{Nanos, SeqNumber, Time};

/// One connection.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Addresses and ports, by side.
    pub endpoints: [(IpAddr, u16); 2],
    /// The sequence number before each side's first payload byte: that of its SYN, or inferred from
    /// the first packets.
    pub origins: [Option<SeqNumber>; 2],
    /// The side that opened the connection.
    pub client: Side,
    /// The side that sends requests: the one that opened the connection, unless the protocol
    /// reverses the roles.
    pub requester: Side,
    /// Time of the first packet.
    pub first: Time,
    /// Time of the last packet.
    pub last: Time,
    /// End of observation: the end of the capture, or the time when the connection was evicted.
    pub until: Time,
    /// Frame of the first packet.
    pub first_frame: Frame,
    /// The TCP handshake.
    pub handshake: HandshakeFacts,
    /// State at the end.
    pub state: State,
    /// The side that sent FIN or RST first.
    pub closed_by: Option<Side>,
    /// Time to live of each side's SYN, and of its first payload.
    pub ttl: [(Option<u8>, Option<u8>); 2],
    /// Time and frame of each side's first FIN or RST.
    pub closing: [Option<(Time, Frame)>; 2],
    /// Whether each side sent a FIN.
    pub fins: [bool; 2],
    /// The first RST.
    pub reset: Option<ResetFacts>,
    /// The capture's position.
    pub vantage: Vantage,
    /// Round-trip times of the whole path.
    pub rtt: RttFacts,
    /// By sending side.
    pub directions: [DirectionFacts; 2],
    /// Requests with their responses, and pushes, in time order: those with the longest wait.
    pub exchanges: Vec<ExchangeFacts>,
    /// Total number of exchanges.
    pub exchanges_total: u64,
    /// Facts about the payload, by sending side.
    pub content: [payload::Content; 2],
    /// How much was decrypted; `None` without secrets, or if the connection is not TLS.
    pub decryption: Option<Decryption>,
    /// Facts about the messages of a protocol above TCP, in clear or decrypted; `None` if the
    /// protocol is unknown.
    pub messages: Option<Box<payload::MessageFacts>>,
    /// Whether the first payload of each side is text, like commands and greetings.
    pub begins_with_text: [bool; 2],
    /// Defects of the capture that limit the findings.
    pub capture_defects: CaptureDefects,
    /// ICMP errors about its segments.
    pub notices: Notices,
    /// Set for QUIC.
    pub quic: Option<Box<QuicNotes>>,
    /// The lookup of the server's name that it waited for.
    pub lookup: Option<Box<LookupFacts>>,
    /// The input is a text.
    pub is_text: bool,
    /// Stretches of a text in which packets are missing, in time order.
    pub elided: Vec<Stretch>,
    /// The input is a text without times.
    pub timeless: bool,
}

impl Facts {
    /// The lowest captured RTT.
    pub fn min_rtt(&self) -> Option<Nanos> {
        self.rtt.min
    }

    /// Whether it is QUIC without keys: ACKs, windows and losses are unknown.
    pub fn hides_packets(&self) -> bool {
        self.quic.as_ref().is_some_and(|notes| !notes.is_opened())
    }

    /// The end on this side.
    pub fn end_of(&self, side: Side) -> End {
        if side == self.client { End::Client } else { End::Server }
    }

    /// Limits all times to `last`: an ACK that reaches its sender after the end of the capture
    /// counts as of then.
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

    /// Whether a transfer consists only of the TLS handshake, which is a phase and not a transfer.
    pub fn is_handshake(&self, sender: Side, transfer: &TransferFacts) -> bool {
        let content = &self.content[sender];
        // Everything that answers the ClientHello belongs to the handshake, although TLS 1.3 sends
        // most of it as application data (RFC 8446 section 5.1).
        let answers_hello = sender != self.client
            && transfer.seq.0 <= 1
            && content.firsts.first().is_some_and(|&(start, _, kind)| start <= 1 && kind == TLS_HANDSHAKE);
        let end = if sender == self.client { content.finished_end() } else { content.handshake_end };
        answers_hello || end.is_some_and(|end| transfer.seq.1 <= end)
    }

    /// Whether it is reported.
    pub fn is_listed(&self, sender: Side, transfer: &TransferFacts) -> bool {
        !transfer.is_housekeeping && !self.is_handshake(sender, transfer)
    }
}

/// A RST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResetFacts {
    /// The side with its source address.
    pub from: Side,
    /// Its time to live.
    pub ttl: u8,
    /// It has no ACK flag: it answers a segment for which there is no socket (RFC 9293 section
    /// 3.10.7.1).
    pub is_bare: bool,
    /// The end with its source address sent data or its SYN-ACK after it: a middlebox sent the RST.
    pub is_denied: bool,
}

/// Content type of a handshake record (RFC 8446 section 5.1).
const TLS_HANDSHAKE: u8 = 22;

/// Facts about the SYNs.
#[derive(Clone, Debug, Default)]
pub struct HandshakeFacts {
    /// Time and frame of the first SYN.
    pub syn: Option<(Time, Frame)>,
    /// Time of the answered SYN (the last one before the first SYN-ACK).
    pub answered_syn: Option<Time>,
    /// First SYN-ACK.
    pub syn_ack: Option<(Time, Frame)>,
    /// The ACK that completed the handshake.
    pub ack: Option<(Time, Frame)>,
    /// Options and flags of each side's SYN.
    pub offers: [Option<Offer>; 2],
    /// A SYN was captured, but its options are truncated or damaged: its offer is unknown.
    pub unreadable: [bool; 2],
    /// Number of SYN retransmissions of each side.
    pub retries: [u64; 2],
    /// Time of the last retransmission that delayed the handshake.
    pub last_retry: Option<Time>,
    /// The time of the SYN or ACK was adjusted, because the clock went backwards.
    pub time_clamped: bool,
    /// The handshake was not captured; the offers come from another source.
    pub is_joined: bool,
}

impl HandshakeFacts {
    /// One round trip, from any vantage: SYN → SYN-ACK → ACK.
    pub fn rtt(&self) -> Option<Nanos> {
        Some((self.ack?.0 - self.answered_syn?).or_zero()).filter(|_| !self.time_clamped)
    }

    /// Returns the RTT that initialises the retransmission timers of both ends: of SYNs that were
    /// sent once (RFC 6298 section 3) and answered before any timer would have expired.
    pub fn rtt_sample(&self) -> Option<Nanos> {
        self.rtt().filter(|rtt| self.retries == [0, 0] && *rtt <= OLD_FIRST_RTO)
    }

    /// Whether classic ECN is in use: then echoes are flags, and not a counter (RFC 9768). `None`
    /// if a SYN was not captured.
    pub fn classic_ecn(&self, client: Side) -> Option<bool> {
        let (syn, syn_ack) = (self.offers[client]?, self.offers[!client]?);
        Some(syn.ecn & 0b011 == 0b011 && syn_ack.ecn == 0b001)
    }

    /// Whether it carries a part of a stream: the response to data on it may come on another
    /// connection.
    pub fn is_subflow(&self) -> bool {
        self.offers.iter().flatten().any(|offer| offer.multipath == Multipath::Joins)
    }

    /// Whether other connections may carry parts of the stream too.
    pub fn is_multipath(&self) -> bool {
        self.is_subflow() || self.offers.iter().all(|offer| offer.is_some_and(|offer| offer.multipath != Multipath::No))
    }

    /// Whether both SYNs were captured, so that the negotiated options are known.
    pub fn is_complete(&self) -> bool {
        self.offers.iter().all(Option::is_some)
    }
}

/// The Multipath TCP options of a SYN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Multipath {
    /// No other connections.
    #[default]
    No,
    /// Others may join this connection.
    Begins,
    /// It joins others.
    Joins,
}

/// The options and flags of a SYN.
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
    /// Its window field (never scaled).
    pub window: u16,
    /// The flags AE, CWR and ECE, from the highest bit down, which negotiate ECN (RFC 3168 section
    /// 6.1.1, RFC 9768 section 3.1).
    pub ecn: u8,
}

impl Offer {
    /// Reads the offer of this SYN.
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

/// The capture's position.
#[derive(Clone, Debug, Default)]
pub struct Vantage {
    /// The nearest end.
    pub near: Near,
    /// The evidence for it.
    pub reason: VantageReason,
    /// Lowest round trip from the capture point to each side.
    pub toward: [Option<Nanos>; 2],
}

impl Vantage {
    /// The round trip from the capture point to `side`, zero if unknown.
    pub fn loop_to(&self, side: Side) -> Nanos {
        self.toward[side].unwrap_or(Nanos::ZERO)
    }
}

/// Round-trip times of the whole path.
#[derive(Clone, Copy, Debug, Default)]
pub struct RttFacts {
    /// Minimum.
    pub min: Option<Nanos>,
    /// Median.
    pub p50: Option<Nanos>,
    /// 95th percentile.
    pub p95: Option<Nanos>,
    /// Number of samples.
    pub samples: u64,
}

/// Defects of the capture, counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct CaptureDefects {
    /// Bytes that were acknowledged but not captured, and the number of stretches with such bytes.
    pub unseen_bytes: u64,
    /// See `unseen_bytes`.
    pub unseen_stretches: u64,
    /// Frame of the first ACK for bytes that were not captured.
    pub first_unseen: Option<Frame>,
    /// Whether only packets of one side were captured.
    pub one_direction: bool,
    /// Frames captured twice.
    pub duplicate_frames: u64,
    /// Segments larger than the path's MSS: offload on a capturing host.
    pub larger_than_mss: u64,
    /// Segments far outside the window, ignored.
    pub stray: u64,
    /// Segments in flight, and holes between them, that exceeded the limits.
    pub forgotten: u64,
    /// Truncated or damaged option lists.
    pub malformed_options: u64,
    /// Window scale shifts above 14.
    pub scale_over_14: u64,
    /// Segments with a wrong TCP checksum that did not reach the other end, ignored.
    pub bad_checksums: u64,
    /// All segments with a wrong TCP checksum.
    pub all_bad_checksums: u64,
    /// Difference of the last wrong checksum.
    pub checksum_offset: u16,
    /// Whether the differences of wrong checksums vary.
    pub checksum_offsets_vary: bool,
    /// Timestamps that went backwards.
    pub backwards: u64,
}

/// This many wrong checksums with the same difference mean that the packets were rewritten.
const MIN_REWRITTEN: u64 = 3;

impl CaptureDefects {
    /// Whether the packets were rewritten: a tool that changes addresses consistently changes all
    /// checksums by the same amount.
    pub fn are_rewritten(&self) -> bool {
        self.all_bad_checksums >= MIN_REWRITTEN && !self.checksum_offsets_vary
    }
}

/// One direction's data, from its sender's view.
#[derive(Clone, Debug, Default)]
pub struct DirectionFacts {
    /// Sequence numbers of the payload.
    pub bytes: u64,
    /// Segments sent, pure ACKs included.
    pub packets: u64,
    /// Segments retransmitted.
    pub retransmitted: Retransmitted,
    /// The first retransmissions, in the order of their packets; with capture times.
    pub retransmissions: Vec<Retransmission>,
    /// Number of all retransmissions.
    pub retransmissions_total: u64,
    /// Segments reordered before the capture point.
    pub out_of_order: u64,
    /// Holes that the receiver reported (SACK) and that closed without a retransmission: reordered
    /// after the capture point.
    pub healed_holes: u64,
    /// Largest delay of a reordered segment.
    pub reorder_extent: Nanos,
    /// Duplicate ACKs for this data.
    pub duplicate_acks: u64,
    /// D-SACK blocks without a retransmission: the network duplicated a packet.
    pub duplicated: u64,
    /// Zero-window probes.
    pub window_probes: u64,
    /// Keep-alives.
    pub keep_alives: u64,
    /// Total time in which the window was closed.
    pub zero_window: Nanos,
    /// Number of times that the window closed.
    pub closings: u64,
    /// ACKs with a zero window.
    pub zero_windows: u64,
    /// Number of times that data filled the window exactly, and an ACK then opened it.
    pub window_full: u64,
    /// Maximum bytes in flight.
    pub max_in_flight: u64,
    /// Largest window; `None` if its scale is unknown.
    pub max_window: Option<u64>,
    /// Whether the window scale is known (both SYNs captured, or assumed as below).
    pub scale_known: bool,
    /// The window shift that is assumed without a SYN: the smallest one that allows the bytes in
    /// flight, if it makes the window full repeatedly.
    pub assumed_shift: Option<u8>,
    /// The MSS, bytes: negotiated, or the largest captured segment.
    pub mss: u64,
    /// Largest payload of a captured segment, bytes, …
    pub largest_len: u64,
    /// … and of a segment that is known to have arrived.
    pub largest_acked_len: u64,
    /// Time from data to its ACK at the capture point: minimum, …
    pub ack_delay_min: Option<Nanos>,
    /// … and median, if there are enough samples.
    pub ack_delay_p50: Option<Nanos>,
    /// Last segment with payload, retransmissions included.
    pub last_payload: Option<(Time, Frame)>,
    /// Its payload, bytes.
    pub last_len: u64,
    /// It was new data without PSH: the sender had more to send.
    pub last_unpushed: bool,
    /// Payload bytes that were sent but not acknowledged.
    pub unacknowledged: u64,
    /// Its transfers, in time order.
    pub transfers: Vec<TransferFacts>,
    /// Total number of transfers.
    pub transfers_total: u64,
    /// Response times of its transfers that answer a message, including those not in the list.
    pub response_times: Option<ResponseFacts>,
    /// ECN echoes of the receiver.
    pub ecn_echoes: u64,
    /// Whether its IP IDs show packets that did not reach the capture point.
    pub ip_ids_reliable: bool,
    /// Stretches without packets of this direction or ACKs for it, because the capture lacks them.
    pub missing: Vec<Stretch>,
}

/// Quantiles of the time from a request's first byte to its response's last byte, both at the
/// capture point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseFacts {
    /// Number of responses.
    pub count: u64,
    /// Median.
    pub p50: Nanos,
    /// 95th percentile.
    pub p95: Nanos,
}

impl DirectionFacts {
    /// Number of transfers that are not in the list.
    pub fn transfers_forgotten(&self) -> u64 {
        self.transfers_total.saturating_sub(self.transfers.len() as u64)
    }
}

/// Capture times of the last packet before the missing ones and of the first one after them.
pub type Stretch = (Time, Time);
