//! [`Fix`]: what to do.

use super::host::{HostAction, Who};
use serde::Serialize;
use whyslow_analysis::{Actor, Remedy};

/// What to do.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Fix {
    /// A remedy that captures have too.
    OfCaptures(Remedy),
    /// A remedy of hosts and tools.
    Own {
        /// The actor.
        actor: Actor,
        /// The change.
        #[serde(flatten)]
        action: Advice,
    },
    /// A remedy that a look at a machine advises.
    OfHost {
        /// The party to act.
        actor: Who,
        /// The change.
        #[serde(flatten)]
        action: HostAction,
        /// To be pasted; it raises or removes what the finding names, or only shows it.
        command: Option<String>,
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
    /// Let the receive ring be larger, and its interrupts be served by more processors.
    EnlargeRing,
    /// Let the send queue be longer, or more queues send.
    EnlargeSendRing,
    /// Replace the cable or the transceiver, or set both ends alike.
    CheckCable,
    /// Find which device sends pause frames.
    FindPause,
    /// Use a larger instance, or send less through this one.
    LargerInstance,
    /// Reuse connections, or use a larger instance.
    FewerConnections,
    /// Find out at the peer why it responds late.
    LookAtPeer,
    /// Do not wait for the disk, a lock or a timer between two pieces of data.
    OwnWork,
    /// Use HTTP/2 or HTTP/3, or fewer requests a host.
    MoreStreams,
    /// Connect to fewer hosts, or before they are needed.
    Preconnect,
    /// Send smaller responses, or from a place that is nearer.
    SmallerResponses,
    /// Set TCP_NODELAY, or write each message at once.
    NoDelay,
    /// Find what fills the way between two hops.
    LookAtHop {
        /// The hop.
        hop: String,
    },
}
