//! What the `tcp` stage gives: what TCP did on one connection, as numbers and bounded lists.
//!
//! All times are the capture's, moved to the clock of the end that they speak of: a data segment is
//! sent when it passes the capture point, and an ACK reaches the data's sender one `toward` later
//! (see [`Vantage`]). That shifts a sender's whole timeline by one constant and leaves every
//! difference true.

use super::content;
pub use super::icmp_notices::{Notice, Notices};
use crate::analysis::{Frame, Near, Retransmission, Retransmitted, State};
use crate::flow::Side;
use crate::units::{Nanos, SeqNumber};
pub use crate::wire::Fate;
use crate::wire::{Flags, Segment};
use std::net::IpAddr;

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
    /// Whether the SYNs prove who opened it; else it was inferred.
    pub client_proven: bool,
    /// First packet.
    pub first: Nanos,
    /// Last packet.
    pub last: Nanos,
    /// Up to here a packet of it would have been seen: the end of the capture, or when it was given
    /// up.
    pub until: Nanos,
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
    pub closing: [Option<(Nanos, Frame)>; 2],
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
    pub content: [content::Content; 2],
    /// Whether the first payload of each side is text, as commands and greetings are.
    pub begins_with_text: [bool; 2],
    /// What limits the findings.
    pub capture_defects: CaptureDefects,
    /// What ICMP errors said of its segments.
    pub notices: Notices,
    /// It comes from a text.
    pub is_text: bool,
    /// Of a text: where packets of it are missing, in time order.
    pub elided: Vec<Stretch>,
    /// It comes from a text without times.
    pub timeless: bool,
}

impl Facts {
    /// The least round trip that was seen.
    pub fn min_rtt(&self) -> Option<Nanos> {
        self.rtt.min
    }

    /// Nothing that was captured is later than `last`: an ACK that reaches its sender after that is
    /// told as of then.
    pub fn end_with(&mut self, last: Nanos) {
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
        answers_hello || content.handshake_end.is_some_and(|end| transfer.seq.1 <= end)
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
}

/// Content type of a handshake record (RFC 8446 section 5.1).
const TLS_HANDSHAKE: u8 = 22;

/// The SYNs.
#[derive(Clone, Debug, Default)]
pub struct HandshakeFacts {
    /// First SYN: when, and in which frame.
    pub syn: Option<(Nanos, Frame)>,
    /// The SYN that was answered (the last one before the first SYN-ACK).
    pub answered_syn: Option<Nanos>,
    /// First SYN-ACK.
    pub syn_ack: Option<(Nanos, Frame)>,
    /// The ACK that completed it.
    pub ack: Option<(Nanos, Frame)>,
    /// What each side's SYN offered.
    pub offers: [Option<Offer>; 2],
    /// A SYN came, but its options were cut when it was captured, or are damaged: what it offered
    /// is unknown.
    pub unreadable: [bool; 2],
    /// How often each side sent its SYN again.
    pub retries: [u64; 2],
    /// When the last of these passed that the opening waited for.
    pub last_retry: Option<Nanos>,
    /// The SYN's time or the ACK's is not its own: the clock went backwards.
    pub time_clamped: bool,
}

impl HandshakeFacts {
    /// One round trip, from any vantage: SYN → SYN-ACK → ACK.
    pub fn rtt(&self) -> Option<Nanos> {
        Some((self.ack?.0 - self.answered_syn?).or_zero()).filter(|_| !self.time_clamped)
    }

    /// Whether classic ECN is in force: echoes are flags then, and not a counter (RFC 9768). None
    /// when a SYN was not captured.
    pub fn classic_ecn(&self, client: Side) -> Option<bool> {
        let (syn, syn_ack) = (self.offers[client]?, self.offers[1 - client]?);
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
    /// Why that was concluded, in plain words.
    pub reason: String,
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
    /// Segments sent again.
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
    /// Largest distance in time by which a segment came late without having been sent again.
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
    pub last_payload: Option<(Nanos, Frame)>,
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
    /// ECN echoes from the receiver.
    pub ecn_echoes: u64,
    /// Its IP numbers tell of packets that never came to the capture point.
    pub ip_ids_reliable: bool,
    /// Where the capture lacks packets, of this direction or ACKs for it.
    pub missing: Vec<Stretch>,
}

/// One contiguous bulk of payload.
#[derive(Clone, Debug, Default)]
pub struct TransferFacts {
    /// Sequence space, relative to the SYN (as Wireshark's relative numbers).
    pub seq: (u64, u64),
    /// First byte sent.
    pub start: Nanos,
    /// ACK of the last byte, as it reached the sender; the last segment where no ACK was seen.
    pub end: Nanos,
    /// Last segment that carried its bytes.
    pub last_send: Nanos,
    /// Of a text with packets left out: from where to where rounds and pauses are known; none where
    /// they all are.
    pub known_span: Option<(Nanos, Nanos)>,
    /// Whether its last byte was acknowledged in the capture.
    pub acknowledged: bool,
    /// First and last frame.
    pub frames: (Frame, Frame),
    /// Credit that a program of this side grants in mid-stream, or a farewell: it is no message,
    /// and told nowhere.
    pub is_housekeeping: bool,
    /// The other side's payload that it answers.
    pub answered: Option<PeerMessage>,
    /// Packets that its sender sent in the silence before it, as long as a timer's at least, and
    /// that never came to the capture point, by its IP numbers; 0 where they do not tell.
    pub missing_before: u32,
    /// Rounds, in order; far ones merged in pairs when there are very many.
    pub rounds: Vec<RoundFacts>,
    /// How many rounds there were before any merging.
    pub rounds_total: u64,
    /// Pauses longer than `gap_floor`, in order.
    pub gaps: Vec<Gap>,
    /// Pauses up to this long are counted in their rounds only.
    pub gap_floor: Nanos,
    /// Segments sent again during it.
    pub retransmitted: Retransmitted,
    /// Bytes in those of them that were needed.
    pub retransmitted_bytes: u64,
    /// Of the needless ones, those that answered SACKs: the receiver had reported a hole that
    /// closed by itself.
    pub spurious_fast: u64,
    /// Copies were sent when all of it had been sent, and the receiver had all that they carried.
    pub tail_is_spurious: bool,
    /// What had to be sent again: the first ones, in the order in which they were.
    pub losses: Vec<Loss>,
    /// Fast recoveries (RFC 6582) that came to their end.
    pub recoveries: Recoveries,
    /// Copies that answered duplicate ACKs and had to be sent once more.
    pub lost_retransmits: LostRetransmits,
    /// Segments as large as any that the timer sent again while none that large had ever been
    /// acknowledged.
    pub stuck_large: u64,
    /// Payload of the largest segment among those, bytes.
    pub stuck_size: u64,
    /// The first frames sent again.
    pub retransmitted_frames: Vec<Frame>,
    /// Segments that carried its payload.
    pub segments: u64,
    /// Late by reordering.
    pub out_of_order: u64,
    /// See [`DirectionFacts::healed_holes`].
    pub healed_holes: u64,
    /// Bytes never captured, though acknowledged or followed by later ones.
    pub unseen: u64,
    /// How often a small payload of the other side resumed it.
    pub peer_resumes: u64,
    /// ACKs that echoed congestion (ECE).
    pub ecn_echoes: u64,
    /// The first of them: when it reached the sender, and its frame.
    pub first_echo: Option<(Nanos, Frame)>,
    /// Segments by which the sender said that it had reduced its window (CWR), …
    pub reductions: u64,
    /// … and segments that passed the capture point with a congestion mark (CE).
    pub marked: u64,
    /// Most bytes in flight.
    pub max_in_flight: u64,
    /// Rates at which its segments passed the capture point.
    pub sent_rate: RateSpread,
    /// Rates at which it was acknowledged.
    pub acked_rate: RateSpread,
    /// The curve of what is known to have arrived: when (by the sender's clock), and how many bytes
    /// since its first point. At most 511 points, at equal distances in bytes.
    pub delivered: Vec<(Nanos, u64)>,
}

/// Fast recoveries of a transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recoveries {
    /// How many came to their end.
    pub count: u64,
    /// How long they took together.
    pub took: Nanos,
}

/// Copies of lost segments that were lost too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LostRetransmits {
    /// How many.
    pub count: u64,
    /// What the waits for the next copies took.
    pub waited: Nanos,
    /// The first frames of these.
    pub frames: Vec<Frame>,
}

impl TransferFacts {
    /// Marks it as credit if it lies within what was `granted`, or as no message if it only answers
    /// that no more comes. `origin`: the number before its side's first byte.
    pub(super) fn note_credit(&mut self, granted: &[(SeqNumber, SeqNumber)], origin: SeqNumber) {
        let (start, end) = (origin + self.seq.0 as u32, origin + self.seq.1 as u32);
        self.is_housekeeping = self.answered.is_some_and(|asked| asked.is_farewell)
            || granted.iter().any(|&(from, to)| start.distance(from) >= 0 && to.distance(end) >= 0);
    }

    /// Adds what was counted of the bytes behind it. Rounds, pauses, rates and the curve are the
    /// recorder's.
    pub(super) fn absorb(&mut self, more: Self) {
        self.seq.1 = more.seq.1;
        self.end = self.end.max(more.end);
        (self.last_send, self.acknowledged) = (more.last_send, more.acknowledged);
        self.frames.1 = more.frames.1;
        self.retransmitted.add(&more.retransmitted);
        self.retransmitted_bytes += more.retransmitted_bytes;
        self.spurious_fast += more.spurious_fast;
        self.losses.extend(more.losses);
        self.recoveries.count += more.recoveries.count;
        self.recoveries.took += more.recoveries.took;
        self.lost_retransmits.count += more.lost_retransmits.count;
        self.lost_retransmits.waited += more.lost_retransmits.waited;
        self.lost_retransmits.frames.extend(more.lost_retransmits.frames);
        self.tail_is_spurious = more.tail_is_spurious;
        self.stuck_large += more.stuck_large;
        self.stuck_size = self.stuck_size.max(more.stuck_size);
        self.retransmitted_frames.extend(more.retransmitted_frames);
        self.segments += more.segments;
        self.out_of_order += more.out_of_order;
        self.healed_holes += more.healed_holes;
        self.unseen += more.unseen;
        self.peer_resumes += more.peer_resumes;
        self.ecn_echoes += more.ecn_echoes;
        self.first_echo = self.first_echo.or(more.first_echo);
        self.reductions += more.reductions;
        self.marked += more.marked;
        self.max_in_flight = self.max_in_flight.max(more.max_in_flight);
    }

    /// The first copy of its first bytes never came to the capture point: it had begun before it
    /// seems to.
    pub fn begins_lost(&self) -> bool {
        self.losses.iter().any(|loss| loss.unseen && loss.seq <= self.seq.0)
    }

    /// Payload bytes.
    pub fn bytes(&self) -> u64 {
        self.seq.1.saturating_sub(self.seq.0)
    }

    /// When the last new bytes were sent, if all that was sent behind them was copies of what had
    /// arrived: these were waited for by nobody.
    pub fn spurious_tail_start(&self) -> Option<Nanos> {
        let first = self.gaps.partition_point(|gap| gap.snd_max < self.seq.1);
        self.gaps.get(first).filter(|gap| self.tail_is_spurious && gap.release == Release::Timer).map(|gap| gap.start)
    }

    /// Its first rounds are not known.
    pub fn is_start_unknown(&self) -> bool {
        self.known_span.is_some_and(|(from, _)| from > self.start)
    }

    /// For how long its rounds and pauses are known.
    pub fn known_for(&self) -> Nanos {
        self.known_span.map_or(self.duration(), |(from, until)| (until - from).or_zero())
    }

    /// Index of the round in which the byte before sequence number `seq` was first sent.
    pub fn round_of(&self, seq: u64) -> Option<usize> {
        if self.is_start_unknown() {
            return None;
        }
        let mut sent = self.seq.0;
        self.rounds.iter().position(|round| {
            sent += round.bytes;
            seq <= sent
        })
    }

    /// From the message that it answers, or else from its first byte, to its end.
    pub fn waited(&self) -> Nanos {
        (self.end - self.answered.map_or(self.start, |asked| asked.first.min(self.start))).or_zero()
    }

    /// From its first byte to the ACK of its last.
    pub fn duration(&self) -> Nanos {
        (self.end - self.start).or_zero()
    }
}

/// A request and its answer, or a push. The transfers are told by their places in
/// [`DirectionFacts::transfers`]; times are the client's, as what it sends passes the capture
/// point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExchangeFacts {
    /// The client's transfer; none where the server spoke unasked, or the request was part of an
    /// earlier one.
    pub request: Option<usize>,
    /// The server's transfer; none where there is none (yet).
    pub answer: Option<usize>,
    /// The first byte of the request, or else of the push.
    pub start: Nanos,
    /// When the client had all of the answer; without one, when its request was acknowledged.
    pub end: Nanos,
    /// What the client took before the request, since the exchange before it or the handshake; none
    /// where that is not known.
    pub before: Option<Nanos>,
    /// What the server took between request and answer, beside the path; none without both, or
    /// where the path is not known.
    pub server: Option<Nanos>,
}

impl ExchangeFacts {
    /// For how long its user waited.
    pub fn wait(&self) -> Nanos {
        (self.end - self.start).or_zero()
    }
}

/// A message of the other side's that was answered, as it passed the capture point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerMessage {
    /// Its first segment.
    pub first: Nanos,
    /// Its last.
    pub last: Nanos,
    /// Payload bytes.
    pub bytes: u64,
    /// First and last frame.
    pub frames: (Frame, Frame),
    /// It said that no more comes.
    pub is_farewell: bool,
}

/// A segment, or a copy of one, that had to be sent again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    /// When it passed; where it never came, the segment before it.
    pub time: Nanos,
    /// The same; where it never came, when the segment behind it passed.
    pub until: Nanos,
    /// Its place in the sequence space.
    pub seq: u64,
    /// Payload bytes.
    pub bytes: u64,
    /// Payload bytes that had passed before it, copies included.
    pub passed_before: u64,
    /// It never came to the capture point.
    pub unseen: bool,
    /// It had arrived, as the receiver said later.
    pub spurious: bool,
}

/// One packet-timed round (or several, merged).
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundFacts {
    /// First segment.
    pub start: Nanos,
    /// Last segment.
    pub last_send: Nanos,
    /// First frame.
    pub first_frame: Frame,
    /// Last frame.
    pub last_frame: Frame,
    /// New bytes.
    pub bytes: u64,
    /// Most in flight.
    pub in_flight: u64,
    /// Largest window.
    pub window: Option<u64>,
    /// Short pauses (up to the transfer's `gap_floor`) by what held the sender: nothing else than
    /// the ACK clock, …
    pub flowing: Nanos,
    /// … a full receive window, …
    pub window_full: Nanos,
    /// … loss recovery.
    pub recovering: Nanos,
    /// Segments sent again in it.
    pub retransmitted: u32,
    /// Least round-trip time measured in it.
    pub rtt: Option<Nanos>,
    /// By how much the ACK in it that came soonest was later than the soonest of all.
    pub ack_late: Option<Nanos>,
    /// Round trips of what arrived while segments before it were missing, by SACKs: how many, and
    /// all of them together.
    pub sacked: (u32, Nanos),
    /// How many rounds were merged in this one.
    pub merged: u32,
}

/// How alike the rates over successive equal amounts of bytes are, bits per second.
#[derive(Clone, Copy, Debug, Default)]
pub struct RateSpread {
    /// A tenth of them lie below.
    pub p10: f64,
    /// Median.
    pub p50: f64,
    /// A tenth of them lie above.
    pub p90: f64,
    /// How many there are.
    pub bins: u64,
}

/// What ended a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// An ACK, and the right edge had been reached (A1).
    WindowAck,
    /// An ACK, and the right edge had not been reached (A2).
    Ack,
    /// A window update (W).
    WindowUpdate,
    /// Payload from the other side (P).
    Peer,
    /// A retransmission timer or tail loss probe (T).
    Timer,
    /// Nothing that was seen (N).
    Nothing,
}

impl Gap {
    /// How late the releasing ACK was, if it was for all that was in flight: only then can a
    /// receiver have held it back in the hope of more (RFC 1122 section 4.2.3.2).
    pub fn lone_ack_late(&self) -> Nanos {
        if self.last_ack { self.ack_late } else { Nanos::ZERO }
    }
}

/// A pause between two sends.
#[derive(Clone, Copy, Debug)]
pub struct Gap {
    /// The send before it.
    pub start: Nanos,
    /// The send that ended it.
    pub end: Nanos,
    /// What ended it.
    pub release: Release,
    /// The window was closed: from when on (it may have opened and closed again), and for how long
    /// in all.
    pub closed: Option<(Nanos, Nanos)>,
    /// In loss recovery.
    pub recovering: bool,
    /// How much later than the least the releasing ACK was (a delayed ACK, or a queue).
    pub ack_late: Nanos,
    /// What had been sent before it, in the same space as the transfer's `seq`.
    pub snd_max: u64,
    /// Bytes in flight during it.
    pub in_flight: u64,
    /// Least room to the right edge during it; none when the window is unknown.
    pub window_room: Option<u64>,
    /// Payload length of the segment before it.
    pub before_len: u64,
    /// The segment before it was shorter than the MSS, or pushed (PSH) and short of a whole number
    /// of segments: the sender's buffer had run empty.
    pub app_limited: bool,
    /// Payload of the other side came with what ended it, or shortly before.
    pub with_peer_payload: bool,
    /// When the last payload of the other side in it reached the sender, if any did.
    pub peer_payload_at: Option<Nanos>,
    /// A tail loss probe ended it, or the timer with the highest segment: the end of a burst was
    /// lost.
    pub tail: bool,
    /// What ended it had been sent again before, for duplicate ACKs.
    pub lost_retransmit: bool,
    /// What ended it was no new data: the sender had it all along.
    pub is_retransmit: bool,
    /// Nothing was in flight any more when it ended.
    pub idle: bool,
    /// Bytes of either side between the two sends are not in the capture: the pause may be none, or
    /// an answer.
    pub unseen: bool,
    /// Packets that the sender sent between the two and that never came to the capture point, by
    /// its IP numbers, beside those that a hole in the sequence space shows; none where they do not
    /// tell.
    pub missing: Option<u32>,
    /// How far apart the two were sent, by the sender's timestamps, a tick at most added; none
    /// without them.
    pub sent_apart: Option<Nanos>,
    /// The ACK that ended it left nothing outstanding.
    pub last_ack: bool,
    /// Payload length of the segment that ended it.
    pub after_len: u64,
    /// Frame before, frame after.
    pub frames: (Frame, Frame),
    /// The ACK that ended it.
    pub ack_frame: Option<Frame>,
}

#[cfg(test)]
impl Gap {
    /// One of which nothing is known but its times, to be changed as a test needs it.
    pub(crate) fn example(start: Nanos, end: Nanos) -> Self {
        Self {
            start,
            end,
            release: Release::Nothing,
            closed: None,
            recovering: false,
            ack_late: Nanos::ZERO,
            snd_max: 0,
            in_flight: 0,
            window_room: None,
            before_len: 0,
            app_limited: false,
            with_peer_payload: false,
            peer_payload_at: None,
            tail: false,
            lost_retransmit: false,
            is_retransmit: false,
            idle: false,
            unseen: false,
            missing: None,
            sent_apart: None,
            last_ack: false,
            after_len: 0,
            frames: Default::default(),
            ack_frame: None,
        }
    }
}

/// From the last packet before what is missing to the first one behind it, by the capture's clock.
pub type Stretch = (Nanos, Nanos);
