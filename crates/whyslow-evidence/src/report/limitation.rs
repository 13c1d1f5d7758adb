//! [`Limitation`]: what an output cannot show.

use serde::Serialize;

/// What an output cannot show, and what would.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limitation {
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
    /// The output does not show why receiving takes time.
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
    /// Only this end's view of a connection.
    OneEnd,
    /// Counts are of the whole host.
    WhichConnection,
    /// Other applications may have limits of their own.
    TestOnly,
    /// Other requests may take longer.
    OneRequest,
    /// The connections of a card's packets.
    WhichTraffic,
    /// Counts of a card are since it was set up.
    SinceUp,
    /// Whether the peer or the network took the time.
    PeerOrNetwork,
    /// The trace has no time for each call.
    NoCallTimes,
    /// Only what the process asked the kernel for.
    CallsOnly,
    /// What the browser did, not what the network did.
    BrowserOnly,
    /// The text ends in the middle.
    Cut,
    /// Only the server's kernel is seen.
    ServerKernel,
}
