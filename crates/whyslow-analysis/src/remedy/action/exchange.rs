//! Remedies for causes about applications, requests and connections.

use super::super::step::Step;
use crate::types::{End, LimitingFactor, ModelChange};
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use whyslow_units::Nanos;

/// A remedy for a cause about applications, requests and connections.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", content = "parameters", rename_all = "kebab-case")]
pub enum ExchangeAction {
    /// The sending application has its data ready before it is due.
    KeepDataReady,
    /// The sending application writes larger pieces.
    WriteLargerPieces,
    /// Profile the request where it is processed.
    ProfileRequest {
        /// The end that responds.
        at: End,
    },
    /// The client sends its requests earlier.
    RequestEarlier,
    /// Batch or pipeline the requests.
    BatchRequests,
    /// Run both applications nearer to each other.
    MoveCloser,
    /// The proxy keeps its connections to the server behind it open.
    KeepUpstreamConnections,
    /// An end keeps connections open.
    KeepConnections {
        /// The end that closes them first.
        by: End,
    },
    /// Give a router a route.
    AddRoute {
        /// The router.
        at: String,
        /// The destination.
        to: String,
    },
    /// Check that a host is up, as its last router gets no response from it.
    CheckHost {
        /// The host.
        host: String,
        /// The router.
        router: String,
    },
    /// Start the service that should listen.
    StartService {
        /// Its host.
        host: String,
        /// Its port; 0 if unknown.
        port: u16,
    },
    /// A filter lets packets pass.
    AllowPort {
        /// The host of the filter.
        at: String,
        /// The destination.
        host: String,
        /// Its port; 0 if unknown.
        port: u16,
    },
    /// Find routers that forward packets in a loop.
    FindRoutingLoop {
        /// The destination.
        host: String,
        /// Its port; 0 if unknown.
        port: u16,
    },
    /// Check that the server is up, listens, and is reached, and that its responses come back.
    CheckServer {
        /// The server.
        host: String,
        /// Its port; 0 if unknown.
        port: u16,
    },
    /// Check that packets reach the client.
    CheckWayBack {
        /// The client.
        host: String,
    },
    /// Check that an end is still up, and that packets pass in both directions.
    CheckPeer {
        /// The end.
        end: End,
    },
    /// Send keep-alives before a NAT or firewall forgets the connection.
    SendKeepalives {
        /// How long the connection had been silent.
        idle_s: Nanos,
    },
    /// Look into the log of the server, or of the proxy before it.
    ReadServerLog {
        /// Topic to look for.
        about: LogTopic,
    },
    /// Find out why the client's application closed the connection.
    FindWhyClientClosed {
        /// The data that the client had received by then.
        state: ClientState,
    },
    /// Find out why the server drops connections that it has accepted.
    FindWhyServerDrops,
    /// Find the box on the way that sends resets in the name of one end.
    FindResettingBox {
        /// The end whose address the reset has.
        end: End,
    },
    /// The client closes idle connections sooner than the server does.
    CloseIdleSooner {
        /// How long the connection had been silent.
        idle_s: Nanos,
    },
    /// The client repeats the request on a new connection.
    RetryOnNewConnection,
    /// Find out why a name server does not answer, or answers late.
    CheckNameServer {
        /// Its address.
        server: String,
    },
    /// Keep the answers of name servers, or ask a nearer one.
    CacheLookups,
    /// Ask for full names, so that search domains are not tried.
    QualifyNames,
    /// Keep the state on the path that the first packet sets up.
    KeepPathWarm,
    /// Find where SYNs are dropped.
    FindSynDrops,
    /// Find where datagrams of UDP are dropped.
    FindUdpDrops,
    /// Begin responses with smaller TLS records.
    LimitTlsRecords {
        /// The largest record, bytes.
        to: u64,
        /// The first flight, bytes.
        first_flight: u64,
    },
}

/// A topic in the log of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogTopic {
    /// The application's processing of a request that its host has acknowledged.
    RequestReceived,
    /// Why it dropped a request.
    RequestDropped,
    /// Why it reset the connection amid a message.
    MessageCut,
    /// Whether it gave up before its response was complete.
    ResponseComplete,
}

/// Data that a client has received when it closes the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClientState {
    /// A part of the response.
    AmidResponse,
    /// No part of the response had arrived.
    BeforeResponse,
}

impl From<ExchangeAction> for super::Action {
    fn from(action: ExchangeAction) -> Self {
        Self::Exchange(action)
    }
}

impl ExchangeAction {
    /// See [`Action::step`](super::Action::step).
    pub(super) fn step(&self) -> Option<Step> {
        Some(match self {
            Self::AddRoute { at, to } => Step::Route { at: at.clone(), to: to.clone() },
            Self::CheckHost { host, router } => Step::Neighbour { host: host.clone(), at: router.clone() },
            Self::StartService { port, .. } => Step::Listener(*port),
            Self::AllowPort { at, .. } => Step::Filter { at: at.clone() },
            Self::FindRoutingLoop { host, port } | Self::CheckServer { host, port } => {
                Step::Trace { host: host.clone(), port: Some(*port) }
            }
            Self::CheckWayBack { host } => Step::Trace { host: host.clone(), port: None },
            Self::SendKeepalives { .. } => Step::Keepalive,
            Self::FindWhyServerDrops => Step::DroppedConnections,
            Self::FindSynDrops => Step::DroppedSyns,
            Self::FindUdpDrops => Step::DroppedDatagrams,
            Self::LimitTlsRecords { to, .. } => Step::TlsRecords(*to),
            Self::KeepDataReady
            | Self::WriteLargerPieces
            | Self::ProfileRequest { .. }
            | Self::RequestEarlier
            | Self::BatchRequests
            | Self::MoveCloser
            | Self::KeepUpstreamConnections
            | Self::KeepConnections { .. }
            | Self::CheckPeer { .. }
            | Self::ReadServerLog { .. }
            | Self::FindWhyClientClosed { .. }
            | Self::CloseIdleSooner { .. }
            | Self::RetryOnNewConnection
            | Self::FindResettingBox { .. }
            | Self::CheckNameServer { .. }
            | Self::CacheLookups
            | Self::QualifyNames
            | Self::KeepPathWarm => return None,
        })
    }

    /// See [`Action::changes`](super::Action::changes).
    pub(super) fn changes(&self) -> Option<&'static [ModelChange]> {
        match self {
            Self::KeepDataReady | Self::WriteLargerPieces => Some(&[
                ModelChange::SameFlights,
                ModelChange::GrowingReceiveWindow,
                ModelChange::NoSilence(LimitingFactor::Application),
            ]),
            // Packets that routers report as undelivered were lost.
            Self::AddRoute { .. }
            | Self::CheckHost { .. }
            | Self::StartService { .. }
            | Self::AllowPort { .. }
            | Self::FindRoutingLoop { .. } => Some(&[ModelChange::NoLosses]),
            Self::ProfileRequest { .. }
            | Self::RequestEarlier
            | Self::BatchRequests
            | Self::MoveCloser
            | Self::KeepUpstreamConnections
            | Self::KeepConnections { .. }
            | Self::CheckServer { .. }
            | Self::CheckWayBack { .. }
            | Self::CheckPeer { .. }
            | Self::SendKeepalives { .. }
            | Self::ReadServerLog { .. }
            | Self::FindWhyClientClosed { .. }
            | Self::FindWhyServerDrops
            | Self::FindResettingBox { .. }
            | Self::CloseIdleSooner { .. }
            | Self::RetryOnNewConnection
            | Self::CheckNameServer { .. }
            | Self::CacheLookups
            | Self::QualifyNames
            | Self::KeepPathWarm
            | Self::FindSynDrops
            | Self::FindUdpDrops
            | Self::LimitTlsRecords { .. } => None,
        }
    }

    /// Applies `act` to every host that it names.
    pub(super) fn each_host(&mut self, act: &dyn Fn(&mut String)) {
        match self {
            Self::AddRoute { at, to } => [at, to].into_iter().for_each(act),
            Self::CheckHost { host, router } => [host, router].into_iter().for_each(act),
            Self::AllowPort { at, host, .. } => [at, host].into_iter().for_each(act),
            Self::CheckNameServer { server } => act(server),
            Self::StartService { host, .. }
            | Self::FindRoutingLoop { host, .. }
            | Self::CheckServer { host, .. }
            | Self::CheckWayBack { host } => act(host),
            Self::KeepDataReady
            | Self::WriteLargerPieces
            | Self::ProfileRequest { .. }
            | Self::RequestEarlier
            | Self::BatchRequests
            | Self::MoveCloser
            | Self::KeepUpstreamConnections
            | Self::KeepConnections { .. }
            | Self::CheckPeer { .. }
            | Self::SendKeepalives { .. }
            | Self::ReadServerLog { .. }
            | Self::FindWhyClientClosed { .. }
            | Self::FindWhyServerDrops
            | Self::FindResettingBox { .. }
            | Self::CloseIdleSooner { .. }
            | Self::RetryOnNewConnection
            | Self::CacheLookups
            | Self::QualifyNames
            | Self::KeepPathWarm
            | Self::FindSynDrops
            | Self::FindUdpDrops
            | Self::LimitTlsRecords { .. } => {}
        }
    }
}
