//! [`Statement`]: what a finding states.

use super::calls::CallStatement;
use super::device::DeviceStatement;
use super::host::HostStatement;
use super::page::PageStatement;
use super::phase::Phase;
use serde::Serialize;

/// What a finding states.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Statement {
    /// The peer's window was full.
    PeerWindow {
        /// For how long.
        limited_s: f64,
        /// With data to send.
        busy_s: f64,
        /// The window that the peer offers, bytes.
        window: Option<f64>,
    },
    /// The peer's window is shut.
    PeerShut {
        /// Written and not acknowledged, bytes.
        waiting: f64,
    },
    /// The application here leaves data unread.
    Unread {
        /// Bytes.
        bytes: f64,
    },
    /// The bytes of a round trip are equal to this end's window.
    OwnWindow {
        /// The window, bytes.
        window: f64,
        /// The rate that it allows, bits per second.
        rate_bps: f64,
    },
    /// The send buffer was full.
    SendBuffer {
        /// For how long.
        limited_s: f64,
        /// With data to send.
        busy_s: f64,
    },
    /// The application wrote less than the connection could send.
    Application {
        /// Without data to send; `None` if only this moment is known.
        idle_s: Option<f64>,
        /// The time between the looks.
        over_s: Option<f64>,
    },
    /// Segments were lost.
    Lost {
        /// How many.
        segments: f64,
        /// The base of the share; `None` if unknown.
        of: Option<f64>,
    },
    /// Retransmissions were not needed.
    Spurious {
        /// How many.
        segments: f64,
        /// Total of retransmissions.
        of: f64,
    },
    /// Retransmissions were lost again.
    LostAgain {
        /// How many.
        segments: f64,
        /// Total of retransmissions.
        of: f64,
    },
    /// The connection waits for its timer.
    TimingOut {
        /// Timeouts in a row.
        row: f64,
    },
    /// Retransmission timeouts.
    Timeouts {
        /// How many.
        count: f64,
        /// Total of segments.
        of: f64,
    },
    /// A SYN has no answer.
    SynUnanswered {
        /// Number of retransmissions.
        retries: f64,
        /// Connections.
        connections: f64,
    },
    /// A queue stands on the way.
    Queue {
        /// The round trip.
        rtt_s: f64,
        /// The least one.
        least_s: f64,
    },
    /// The sender is still in slow start.
    SlowStart {
        /// The window, segments.
        window: f64,
    },
    /// The congestion window is full, and nothing was lost.
    CongestionWindow {
        /// The window, segments.
        window: f64,
        /// The end of slow start, segments.
        threshold: f64,
    },
    /// BBR sends at the rate that it found.
    Bbr {
        /// Bits per second.
        rate_bps: f64,
    },
    /// The application or a setting paces it.
    Paced {
        /// Bits per second.
        rate_bps: f64,
    },
    /// Without window scaling no more than 64 KiB are in flight.
    NoScaling {
        /// The round trip.
        rtt_s: f64,
    },
    /// The accept queue of a listener is full.
    AcceptQueueFull {
        /// Connections that wait.
        waiting: f64,
        /// The most that may.
        most: f64,
    },
    /// Connections were dropped because an accept queue was full.
    AcceptQueueOverflows {
        /// How often.
        count: f64,
        /// Connections accepted; `None` if unknown.
        of: Option<f64>,
    },
    /// The peer closed, and the application here did not.
    CloseWait {
        /// Connections.
        connections: f64,
    },
    /// Received segments were dropped because memory was full.
    ReceiveDrops {
        /// How many.
        segments: f64,
        /// The base of the share; `None` if unknown.
        of: Option<f64>,
    },
    /// Segments came damaged.
    Damaged {
        /// How many.
        segments: f64,
        /// The base of the share.
        of: f64,
    },
    /// UDP datagrams were dropped because the application's buffer was full.
    UdpDrops {
        /// How many.
        datagrams: f64,
        /// The base of the share.
        of: f64,
    },
    /// Intervals of a test in which nothing went.
    Stalled {
        /// Seconds.
        seconds: f64,
        /// The total.
        of_s: f64,
    },
    /// One window a round trip.
    WindowPerRoundTrip {
        /// Bytes.
        window: f64,
        /// The round trip.
        rtt_s: f64,
        /// The rate, bits per second.
        rate_bps: f64,
    },
    /// The link is full at a rate.
    LinkFull {
        /// The nominal rate of Ethernet, bits per second; `None` if it is none.
        nominal_bps: Option<f64>,
        /// The rate, bits per second.
        rate_bps: f64,
    },
    /// Several connections together are faster than one.
    OneConnectionHeld {
        /// Rate of one connection, bits per second.
        one_bps: f64,
        /// All, bits per second.
        all_bps: f64,
        /// How many.
        connections: f64,
    },
    /// UDP datagrams were lost.
    UdpLost {
        /// How many.
        datagrams: f64,
        /// The base of the share.
        of: f64,
        /// Received, bits per second.
        received_bps: Option<f64>,
    },
    /// A processor was busy.
    Processor {
        /// Percent.
        percent: f64,
        /// At the peer.
        at_peer: bool,
    },
    /// A phase of a request took most.
    Phase {
        /// Which.
        phase: Phase,
        /// How long.
        took_s: f64,
        /// Time of the request.
        whole_s: f64,
    },
    /// Connecting took as long as a SYN that is sent again.
    SynRetried {
        /// How long.
        took_s: f64,
    },
    /// Round trips took most.
    RoundTrips {
        /// How many.
        count: f64,
        /// How long each.
        rtt_s: f64,
        /// Time of the request.
        whole_s: f64,
    },
    /// Transactions, one after the other.
    Transactions {
        /// Per second.
        per_s: f64,
        /// How long each took.
        each_s: f64,
    },
    /// Transactions that take as long as a delayed ACK.
    DelayedTransactions {
        /// How long each took.
        each_s: f64,
    },
    /// Probes had no answer.
    ProbesLost {
        /// 0–1.
        share: f64,
        /// Probes sent.
        of: f64,
        /// The hop where it begins.
        from: Option<String>,
    },
    /// Nothing answers.
    NoReply {
        /// Probes sent.
        probes: f64,
    },
    /// The round trip varies.
    Varies {
        /// Least.
        least_s: f64,
        /// Mean.
        mean_s: f64,
        /// Most.
        most_s: f64,
    },
    /// The round trip grows at a hop, and stays.
    Jump {
        /// The hop.
        hop: String,
        /// The difference.
        by_s: f64,
        /// The round trip to the end.
        rtt_s: f64,
    },
    /// About a network card.
    #[serde(untagged)]
    Device(DeviceStatement),
    /// About system calls.
    #[serde(untagged)]
    Calls(CallStatement),
    /// About the loading of a page.
    #[serde(untagged)]
    Page(PageStatement),
    /// About a machine, its peers and processes.
    #[serde(untagged)]
    Host(HostStatement),
}

impl From<HostStatement> for Statement {
    fn from(statement: HostStatement) -> Self {
        Self::Host(statement)
    }
}
