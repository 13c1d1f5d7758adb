//! [`Report`]: the conclusions as data. This is the JSON contract `whyslow-evidence/2`.

use crate::text::Text;
use serde::{Serialize, Serializer};
use whyslow_core::analysis::{Action, Actor, Remedy, Unit};
use whyslow_core::cause::Cause;

/// The version of the contract.
pub const SCHEMA: &str = "whyslow-evidence/2";

/// Everything that was concluded.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The texts, in the order in which they were given.
    pub inputs: Vec<Input>,
    /// What they are about: the worst first.
    pub subjects: Vec<Subject>,
}

impl Default for Report {
    fn default() -> Self {
        Self { schema: SCHEMA, inputs: Vec::new(), subjects: Vec::new() }
    }
}

/// A text.
#[derive(Clone, Debug, Serialize)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// What was recognised in it.
    pub sources: Vec<Source>,
}

/// A tool whose output is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// `ss -ti`.
    Ss,
    /// `nstat`, `netstat -s`, `/proc/net/netstat` and `snmp`.
    Counters,
    /// iperf3 and iperf.
    Iperf,
    /// `curl -w`.
    Curl,
    /// `ping`.
    Ping,
    /// `mtr`.
    Mtr,
    /// `traceroute`.
    Traceroute,
}

/// A connection, a host, a test, a request or a path.
#[derive(Clone, Debug, Serialize)]
pub struct Subject {
    /// Index in [`Report::inputs`].
    pub input: usize,
    /// Who printed it.
    pub source: Source,
    /// Its name as the text has it; empty if it has none.
    pub name: String,
    /// Seconds between two looks, if there were two with times.
    pub over_s: Option<f64>,
    /// The conclusion.
    pub verdict: Verdict,
    /// Its main figures, by the names that the tool gives them.
    pub figures: Vec<Figure>,
    /// What slows it, the most important first.
    pub findings: Vec<Finding>,
    /// What this output cannot show.
    pub gaps: Vec<Gap>,
}

/// The conclusion about a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The first finding.
    Cause,
    /// Nothing slow, as far as this output shows.
    Healthy,
    /// The output does not show it.
    Unknown,
}

impl Subject {
    /// A subject of which nothing is known yet.
    pub(crate) fn new(source: Source, name: impl Into<String>) -> Self {
        Self {
            input: 0,
            source,
            name: name.into(),
            over_s: None,
            verdict: Verdict::Healthy,
            figures: Vec::new(),
            findings: Vec::new(),
            gaps: Vec::new(),
        }
    }

    /// Adds a figure if it is known.
    pub(crate) fn figure(&mut self, name: &str, value: Option<f64>, unit: Unit) {
        self.figures.extend(value.map(|value| Figure::new(name, value, unit)));
    }

    /// Orders the findings, and takes the verdict from them.
    pub(crate) fn settle(&mut self) {
        self.findings.sort_by(|a, b| b.weight().total_cmp(&a.weight()));
        if !self.findings.is_empty() {
            self.verdict = Verdict::Cause;
        }
    }

    /// How much it matters.
    pub(crate) fn weight(&self) -> f64 {
        match self.verdict {
            Verdict::Cause => self.findings.first().map_or(0.0, Finding::weight),
            Verdict::Unknown => -1.0,
            Verdict::Healthy => -2.0,
        }
    }
}

/// A quantity under the name that the tool gives it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// As `rwnd_limited`, `TcpExt.ListenOverflows`, `time_connect`.
    pub name: String,
    /// In `unit`.
    pub value: f64,
    /// The unit of `value`.
    pub unit: Unit,
}

impl Figure {
    pub(crate) fn new(name: impl Into<String>, value: f64, unit: Unit) -> Self {
        Self { name: name.into(), value, unit }
    }
}

/// A cause with its evidence and its fixes.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// Its public name; `None` if the output shows where the time went, and the vocabulary has no
    /// cause for it.
    pub cause: Option<Slug>,
    /// Seconds that it cost, if they are known.
    pub cost_s: Option<f64>,
    /// 0–1.
    pub confidence: f64,
    /// What happened.
    pub statement: Statement,
    /// Figures that show it.
    pub evidence: Vec<Figure>,
    /// The recommended fix first.
    pub remedies: Vec<Fix>,
    /// What this output leaves open about it.
    pub to_confirm: Vec<Gap>,
}

impl Finding {
    pub(crate) fn new(cause: impl Into<Slug>, confidence: f64, statement: Statement) -> Self {
        Self { cause: Some(cause.into()), ..Self::unnamed(confidence, statement) }
    }

    pub(crate) fn unnamed(confidence: f64, statement: Statement) -> Self {
        Self {
            cause: None,
            cost_s: None,
            confidence,
            statement,
            evidence: Vec::new(),
            remedies: Vec::new(),
            to_confirm: Vec::new(),
        }
    }

    pub(crate) fn costs(self, seconds: f64) -> Self {
        Self { cost_s: Some(seconds), ..self }
    }

    pub(crate) fn shown(mut self, name: &str, value: f64, unit: Unit) -> Self {
        self.evidence.push(Figure::new(name, value, unit));
        self
    }

    pub(crate) fn advised(mut self, actor: Actor, advice: Advice) -> Self {
        self.remedies.push(Fix::Own { actor, action: advice });
        self
    }

    /// The same remedy as for a capture.
    pub(crate) fn remedied(mut self, actor: Actor, action: impl Into<Action>) -> Self {
        self.remedies.push(Fix::OfCaptures(Remedy::new(actor, action)));
        self
    }

    pub(crate) fn open(mut self, gap: Gap) -> Self {
        self.to_confirm.push(gap);
        self
    }

    /// What is likely comes before what is possible; of these, what cost most.
    pub(crate) fn weight(&self) -> f64 {
        let likely = if self.confidence >= 0.6 { 1e6 } else { 0.0 };
        likely + self.cost_s.unwrap_or(0.0).min(1e5) + self.confidence
    }
}

/// Public names of causes: those of captures, and those that only a host knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slug {
    /// As in captures.
    Known(Cause),
    /// As in `whyslow host`.
    Host(&'static str),
}

impl Slug {
    /// The public name.
    pub fn slug(self) -> &'static str {
        match self {
            Self::Known(cause) => cause.slug(),
            Self::Host(slug) => slug,
        }
    }
}

impl From<Cause> for Slug {
    fn from(cause: Cause) -> Self {
        Self::Known(cause)
    }
}

impl Serialize for Slug {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.slug())
    }
}

/// What to do.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Fix {
    /// A remedy that captures have too.
    OfCaptures(Remedy),
    /// A remedy of hosts and tools.
    Own {
        /// Who acts.
        actor: Actor,
        /// The change.
        #[serde(flatten)]
        action: Advice,
    },
}

/// A remedy that captures do not have.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", content = "parameters", rename_all = "kebab-case")]
pub enum Advice {
    /// Enlarge the receive buffer at the peer, or let its application read faster.
    EnlargePeerWindow,
    /// Enlarge the receive buffer here.
    EnlargeOwnWindow,
    /// The application at the peer must read.
    PeerReads,
    /// The application here must read.
    ReadHere,
    /// Remove SO_SNDBUF, or raise `tcp_wmem`.
    EnlargeSendBuffer,
    /// Turn window scaling on, or find what strips the option.
    WindowScaling,
    /// Accept faster, or enlarge the backlog.
    AcceptFaster,
    /// Close connections that the peer has closed.
    CloseSockets,
    /// Enlarge the receive buffer of the UDP application.
    EnlargeUdpBuffer,
    /// Check the server, its port, and the way to it.
    CheckReach,
    /// Find what damages packets.
    FindDamage,
    /// Send slower than what arrives.
    SendSlower {
        /// Received, bits per second.
        received_bps: f64,
    },
    /// Check the resolver.
    CheckResolver,
    /// Check the TLS server.
    CheckTls,
    /// Link the last URL directly.
    AvoidRedirects,
    /// Find what fills the way between two hops.
    LookAtHop {
        /// The hop.
        hop: String,
    },
}

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
    /// The window that this end offers is what comes in a round trip.
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
        /// Of how many; `None` if unknown.
        of: Option<f64>,
    },
    /// Retransmissions were not needed.
    Spurious {
        /// How many.
        segments: f64,
        /// Of so many retransmissions.
        of: f64,
    },
    /// Retransmissions were lost again.
    LostAgain {
        /// How many.
        segments: f64,
        /// Of so many retransmissions.
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
        /// Of so many segments.
        of: f64,
    },
    /// A SYN has no answer.
    SynUnanswered {
        /// How often it was sent again.
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
        /// Where slow start ended, segments.
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
    /// Segments that had come were dropped for want of memory.
    ReceiveDrops {
        /// How many.
        segments: f64,
        /// Of how many; `None` if unknown.
        of: Option<f64>,
    },
    /// Segments came damaged.
    Damaged {
        /// How many.
        segments: f64,
        /// Of how many.
        of: f64,
    },
    /// UDP datagrams were dropped because the application's buffer was full.
    UdpDrops {
        /// How many.
        datagrams: f64,
        /// Of how many.
        of: f64,
    },
    /// Intervals of a test in which nothing went.
    Stalled {
        /// Seconds.
        seconds: f64,
        /// Of so many.
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
        /// One, bits per second.
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
        /// Of how many.
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
        /// Of the request.
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
        /// Of the request.
        whole_s: f64,
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
        /// By how much.
        by_s: f64,
        /// The round trip to the end.
        rtt_s: f64,
    },
}

/// A phase of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "they are those of curl")]
pub enum Phase {
    Blocked,
    Dns,
    Connect,
    Tls,
    Redirect,
    Send,
    Wait,
    Download,
}

/// What an output cannot show, and what would.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gap {
    /// One look: counts are since the connection began.
    SinceConnection,
    /// One look: counts are since boot, or since the last `nstat`.
    SinceBoot,
    /// Two looks without times: how fast is unknown.
    NoTimes,
    /// This end receives: the sender's limits are at the other end.
    ReceiverSide,
    /// Nothing was being sent.
    Idle,
    /// Where segments are lost.
    WhereLost,
    /// Whether the peer's window is small, or its application slow.
    WindowOrReader,
    /// Whether a window, the link or another limit holds the rate.
    WhichLimit,
    /// The counter that it would be a share of is missing.
    NoDenominator,
    /// The round trip is unknown.
    NoRoundTrip,
    /// Why receiving takes its time.
    DownloadUnknown,
    /// Whether the server or a backend took the time.
    ServerOrBackend,
    /// Probes are treated differently from TCP.
    ProbesOnly,
    /// Too few probes.
    FewProbes,
    /// Loss at a hop that later hops do not have.
    HopsLimitReplies,
    /// iperf's UDP rate was not the link's.
    UdpRate,
}

/// A kind of output that is read.
pub(crate) trait Evidence {
    /// What the text shows; empty if it is of another kind.
    fn read(&self, text: &Text<'_>) -> Vec<Subject>;
}
