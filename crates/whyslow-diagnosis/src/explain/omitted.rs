//! Connections beyond the listing limit, streamed to an optional sink.
//!
//! They are given away while the captures are read, in any order, identified by the place of their
//! first packet among all packets. Data that is complete only at the end ([`OmittedCompletion`])
//! is added then, in the order of these places. No model is run for them, and no finding spans
//! them.

use super::connection_ordinals::{ConnectionNumbers, OpeningPositions};
use crate::conclude::{self, Names};
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use whyslow_analysis::{Connection, Endpoint};
use whyslow_core::flow::ConnectionId;

/// Takes connections that are not listed, whose [`id`](Connection::id) is the place of their first
/// packet among all, in any order; from several threads, if several explainers have it.
#[derive(Clone)]
pub struct OmittedSink(Arc<dyn Fn(Connection) + Send + Sync>);

impl OmittedSink {
    /// Calls `take` with each.
    pub fn new(take: impl Fn(Connection) + Send + Sync + 'static) -> Self {
        Self(Arc::new(take))
    }

    pub(super) fn take(&self, connection: Connection) {
        (self.0)(connection);
    }
}

impl fmt::Debug for OmittedSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OmittedSink")
    }
}

/// Data of omitted connections that is known only when everything was read.
#[derive(Debug, Default)]
pub struct OmittedCompletion {
    pub(super) numbers: ConnectionNumbers,
    /// Connections with QUIC only.
    pub(super) quic_numbers: ConnectionNumbers,
    pub(super) names: Names,
    /// There is one capture, and a frame's number is enough.
    pub(super) is_alone: bool,
    pub(super) path_rate: Option<f64>,
}

impl OmittedCompletion {
    /// `openings`: of all connections, and of those of QUIC.
    pub(super) fn new(
        openings: [Vec<OpeningPositions>; 2],
        names: Names,
        is_alone: bool,
        path_rate: Option<f64>,
    ) -> Self {
        let [numbers, quic_numbers] = openings.map(ConnectionNumbers::new);
        Self { numbers, quic_numbers, names, is_alone, path_rate }
    }

    /// Completes a connection. They come by rising places of their first packets.
    pub fn complete(&mut self, connection: &mut Connection) {
        let quic_before = self.quic_numbers.number(ConnectionId(connection.id));
        connection.id = self.numbers.number(ConnectionId(connection.id));
        connection.number_stream(quic_before);
        for end in [&mut connection.client, &mut connection.server] {
            name(end, &self.names);
        }
        let connection = std::slice::from_mut(connection);
        conclude::finish(connection, &mut [], self.path_rate);
        if self.is_alone {
            conclude::forget_files(connection, &mut []);
        }
    }
}

/// Names that stand further on in the capture count too: when a connection was given away depends
/// on the number of explainers.
fn name(end: &mut Endpoint, names: &Names) {
    if end.name.is_none()
        && !names.is_empty()
        && let Ok(address) = end.address.parse::<IpAddr>()
        && let Some((name, false)) = names.get(&address)
    {
        end.name = Some(name.clone());
    }
}
