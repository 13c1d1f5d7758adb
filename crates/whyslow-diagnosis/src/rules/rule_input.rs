//! Data for the rules.

use crate::estimate::{Context, INITIAL_WINDOW};
use crate::limit::{Plateau, Span, TimeAttribution};
use borsh::{BorshDeserialize, BorshSerialize};
use std::net::IpAddr;
use whyslow_analysis::LimitTime;
use whyslow_analysis::types::Side;
use whyslow_analysis::{CostSpan, End, Frame, LimitingFactor, Near, State};
use whyslow_core::dns::LookupFacts;
use whyslow_core::message::Wait;
use whyslow_core::tcp::facts::{CaptureDefects, DirectionFacts, Facts, SendPause, TransferFacts};
use whyslow_core::tcp::payload::Protocol;
use whyslow_units::{Nanos, Time};

/// Port of SSH (RFC 4253 section 4.1).
pub(super) const SSH_PORT: u16 = 22;

/// One transfer.
#[derive(Debug)]
pub struct TransferView<'a> {
    /// Its connection.
    pub facts: &'a Facts,
    /// Times are counted from here.
    pub first: Time,
    /// Side that sends.
    pub sender: Side,
    /// Facts of TCP.
    pub transfer: &'a TransferFacts,
    /// Its time by limit.
    pub attribution: &'a TimeAttribution,
    /// Phases before it.
    pub before: &'a [LimitTime],
    /// Segment size, round trip.
    pub context: Context,
    /// Earlier transfers of the same sender on this connection.
    pub earlier: &'a [(&'a TransferFacts, TimeAttribution)],
}

impl TransferView<'_> {
    /// The sender's direction.
    pub(super) fn direction(&self) -> &DirectionFacts {
        &self.facts.directions[self.sender]
    }

    /// The capture stands next to the sender.
    pub(super) fn near_sender(&self) -> bool {
        self.facts.vantage.near == if self.sender == self.facts.client { Near::Client } else { Near::Server }
    }

    /// Whether the capture is next to the receiver.
    pub(super) fn near_receiver(&self) -> bool {
        self.facts.vantage.near == if self.sender == self.facts.client { Near::Server } else { Near::Client }
    }

    /// Time from its first byte to its end, without idle time.
    pub(crate) fn duration(&self) -> Nanos {
        (self.transfer.duration() - self.time(LimitingFactor::Idle)).or_zero()
    }

    /// Time under a limit.
    pub(super) fn time(&self, limit: LimitingFactor) -> Nanos {
        self.attribution.time(limit)
    }

    /// Share of its duration, 0–1.
    pub(super) fn share(&self, time: Nanos) -> f64 {
        time.0 as f64 / self.duration().0.max(1) as f64
    }

    /// Payload bits per second.
    pub(super) fn rate(&self) -> f64 {
        let seconds = self.duration().as_secs_f64();
        if seconds > 0.0 { self.transfer.bytes() as f64 * 8.0 / seconds } else { 0.0 }
    }

    /// Typical round trip, or else the least one.
    pub(super) fn rtt(&self) -> Option<Nanos> {
        self.facts.rtt.p50.or(self.facts.rtt.min)
    }

    /// How long the round trip of a round was.
    pub(crate) fn round_trip(&self, index: usize) -> Option<Nanos> {
        self.context.round_trip(self.transfer, index)
    }

    /// Whether it was captured next to `side`.
    pub(super) fn is_next_to(&self, side: Side) -> bool {
        match self.facts.vantage.near {
            Near::Client => side == self.facts.client,
            Near::Server => side != self.facts.client,
            Near::Middle | Near::Unknown => false,
        }
    }

    /// Confidence 0–1 in a finding from this capture: less for each property that it does not show.
    pub(super) fn trust(&self, confidence: f64) -> f64 {
        let defects = &self.facts.capture_defects;
        let missing = self.transfer.unseen as f64 / self.transfer.bytes().max(1) as f64;
        let mut trust = with_clock_doubt(defects, confidence);
        if defects.unseen_bytes > 0 && missing > 0.01 && self.transfer.retransmitted.unseen_original == 0 {
            trust *= 0.7;
        }
        if self.transfer.known_span.is_some() {
            // The missing packets might show another cause.
            trust *= 0.55;
        }
        if defects.one_direction {
            trust *= 0.3;
        }
        if self.context.rtt.is_none() {
            trust *= 0.6;
        }
        if self.transfer.begun_blind {
            trust *= 0.5;
        }
        trust
    }

    /// The limit took at least this share of the time, and a noticeable time.
    pub(super) fn matters(&self, time: Nanos, share: f64) -> bool {
        time >= whyslow_analysis::types::MIN_NOTICEABLE_DELAY && self.share(time) >= share
    }

    /// Payload bits per second over the rounds of a plateau.
    pub(super) fn rate_of(&self, plateau: &Plateau) -> f64 {
        let rounds = &self.transfer.rounds;
        let start = rounds.get(plateau.first).map_or(self.transfer.start, |round| round.start);
        let known_until = self.transfer.known_span.map_or(self.transfer.end, |(_, until)| until);
        let end = rounds.get(plateau.after).map_or(known_until, |round| round.start);
        let bytes: u64 =
            rounds.get(plateau.first..plateau.after).unwrap_or_default().iter().map(|round| round.bytes).sum();
        let seconds = (end - start).as_secs_f64();
        if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 }
    }

    /// Messages of SSH's key exchange and of the login (RFC 4253 section 7, RFC 4252), or keys and
    /// their echoes: less than an initial window passes without a round trip, so no program can
    /// have had more to send.
    pub(super) fn is_ssh_message(&self) -> bool {
        is_ssh(self.facts) && self.transfer.bytes() <= INITIAL_WINDOW * self.context.mss
    }

    /// These pauses, as the spans of a finding.
    pub(super) fn spans_of<'g>(&self, pauses: impl Iterator<Item = &'g SendPause>) -> Vec<CostSpan> {
        pauses
            .map(|gap| CostSpan { start_s: gap.start - self.first, seconds: (gap.end - gap.start).or_zero() })
            .collect()
    }

    /// The time of these spans.
    pub(super) fn spans_at<'s>(&self, spans: impl Iterator<Item = &'s Span>) -> Vec<CostSpan> {
        spans.map(|span| CostSpan { start_s: span.start - self.first, seconds: span.length() }).collect()
    }

    /// First and last frame of the rounds under a limit.
    pub(super) fn frames_of(&self, limit: LimitingFactor) -> Vec<Frame> {
        let mut held = self.transfer.rounds.iter().zip(&self.attribution.rounds).filter(|(_, l)| **l == limit);
        match held.next() {
            None => Vec::new(),
            Some((first, _)) => vec![first.first_frame, held.next_back().map_or(first, |(last, _)| last).last_frame],
        }
    }

    /// The plateau of flights, if it has one.
    pub(super) fn plateau(&self) -> Option<Plateau> {
        self.attribution.shape.plateau
    }
}

/// A connection with its transfers, each with its limits.
#[derive(Debug)]
pub struct ConnectionView<'a> {
    /// The connection.
    pub facts: &'a Facts,
    /// By sending side: each transfer and its time attribution, in time order.
    pub transfers: [&'a [(&'a TransferFacts, TimeAttribution)]; 2],
    /// Its exchanges, in time order.
    pub waits: &'a [Wait],
}

impl ConnectionView<'_> {
    /// The transfers of the side that is asked.
    pub(super) fn answers(&self) -> &[TransferFacts] {
        &self.facts.directions[!self.facts.requester].transfers
    }

    /// As [`TransferView::trust`], for findings from several transfers.
    pub(super) fn trust(&self, confidence: f64) -> f64 {
        with_clock_doubt(&self.facts.capture_defects, confidence)
    }
}

/// Over a step of the clock every difference of times is false, and where it stepped forward
/// nothing shows it.
fn with_clock_doubt(defects: &CaptureDefects, confidence: f64) -> f64 {
    if defects.backwards > 0 { confidence * 0.6 } else { confidence }
}

/// Summary of a connection for rules over several of them.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct ConnectionSummary {
    /// The id in the analysis.
    pub id: u64,
    /// The client.
    pub client: IpAddr,
    /// The server's address and port.
    pub server: (IpAddr, u16),
    /// The addresses of client and server as shown; for a text that hides them, its placeholders.
    pub addresses: [String; 2],
    /// The server's name.
    pub name: Option<String>,
    /// First packet.
    pub start: Time,
    /// First FIN or RST, after which neither end waits; else the last packet.
    pub end: Time,
    /// Additional wait of its client: the ways of its SYN and of the response, if it was captured
    /// at a server that ended it.
    pub unseen: Nanos,
    /// TCP and TLS handshakes, and the login of the protocol above.
    pub handshakes: Nanos,
    /// Time in slow start, over its transfers.
    pub slow_start: Nanos,
    /// Payload bytes, both ways.
    pub bytes: u64,
    /// The end that closed it, and the frame.
    pub closed_by: Option<(End, Frame)>,
    /// The client had asked for that.
    pub client_wants_close: bool,
    /// It was ended by a reset, and not by FINs.
    pub reset: bool,
    /// The place where the first of its early transfers left slow start.
    pub early_exit: Option<Exit>,
    /// The lookup of the server's name that it waited for.
    pub lookup: Option<LookupFacts>,
    /// First frame.
    pub first_frame: Frame,
}

/// The place where one transfer left slow start, to compare with those of other connections.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct Exit {
    /// End that sent.
    pub sender: End,
    /// Flight at which the doubling stopped, segments.
    pub segments: u64,
    /// Its cost.
    pub lost: Nanos,
    /// Excess of the last round trip of the doubling over the minimum.
    pub rise: Nanos,
    /// Whether that is enough for HyStart.
    pub hystart: bool,
    /// First frame of that flight.
    pub frame: Frame,
}

/// Whether the connection is SSH: by its greeting, or where none was captured by its port.
pub(super) fn is_ssh(facts: &Facts) -> bool {
    let mut protocols = facts.content.iter().filter_map(|content| content.protocol).peekable();
    let by_port = facts.endpoints[!facts.client].1 == SSH_PORT && protocols.peek().is_none();
    by_port || protocols.any(|protocol| protocol == Protocol::Ssh)
}

/// The client repeats its SYN though the server has answered, and nothing else ever follows. A
/// client that sends one SYN may be gone, or never existed (its address is forged), so that neither
/// end is known to wait.
pub(super) fn is_half_open(facts: &Facts) -> bool {
    let handshake = &facts.handshake;
    let [one, two] = handshake.retries;
    facts.state == State::Open
        && handshake.syn_ack.is_some()
        && handshake.ack.is_none()
        && (one > 0 && two > 0)
        && facts.directions.iter().all(|direction| direction.last_payload.is_none())
}

/// Ports where TLS begins with the connection (IANA: https, pcsync-https, ldaps, imaps, pop3s,
/// domain-s, ftps, submissions, amqps).
const TLS_PORTS: [u16; 10] = [443, 8443, 636, 993, 995, 853, 989, 990, 465, 5671];

/// Whether a text shows no payload of a connection that is TLS by its port: its records are
/// unknown.
pub(super) fn has_unread_tls(facts: &Facts) -> bool {
    let server = facts.endpoints[!facts.client].1;
    facts.is_text && TLS_PORTS.contains(&server) && facts.content.iter().all(|content| content.protocol.is_none())
}

/// Whether the text shows no IP headers: each packet has some time to live.
pub(super) fn lacks_ip_headers(facts: &Facts) -> bool {
    facts.is_text && facts.ttl.iter().all(|(syn, payload)| syn.unwrap_or(0) == 0 && payload.unwrap_or(0) == 0)
}
