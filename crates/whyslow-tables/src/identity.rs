//! [`Identity`]: by what a connection is found again in other tables, runs and tools.

use crate::community_id::community_id;
use std::net::IpAddr;
use twox_hash::XxHash3_128;
use whyslow_analysis::{Connection, Endpoint};

/// The names of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// 32 hexadecimal digits: XXH3-128 of capture point, addresses and ports, the first packet's
    /// time and the client's initial sequence number.
    pub(crate) uid: String,
    /// Version 1 with seed 0; `None` if a text shows no address or port.
    pub(crate) community_id: Option<String>,
}

impl Identity {
    /// Of a connection that was captured at this point.
    pub(crate) fn of(connection: &Connection, point: &str) -> Self {
        let ends = [&connection.client, &connection.server];
        let known =
            |end: &Endpoint| Some((end.address.parse::<IpAddr>().ok()?, Some(end.port).filter(|&port| port > 0)?));
        let tuple = ends.map(known);
        let community_id = match tuple {
            [Some(client), Some(server)] => Some(community_id([client, server], connection.quic.is_some())),
            _ => None,
        };
        Self { uid: uid(connection, point), community_id }
    }
}

/// The bytes that are hashed: texts with their lengths, then numbers, all little-endian.
fn uid(connection: &Connection, point: &str) -> String {
    let mut bytes = Vec::new();
    let mut text = |text: &str| {
        bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
        bytes.extend_from_slice(text.as_bytes());
    };
    text(point);
    text(&connection.client.address);
    text(&connection.server.address);
    bytes.extend_from_slice(&connection.client.port.to_le_bytes());
    bytes.extend_from_slice(&connection.server.port.to_le_bytes());
    bytes.extend_from_slice(&connection.origin.time.0.to_le_bytes());
    match connection.origin.isn {
        Some(isn) => {
            bytes.push(1);
            bytes.extend_from_slice(&isn.0.to_le_bytes());
        }
        None => bytes.push(0),
    }
    format!("{:032x}", XxHash3_128::oneshot(&bytes))
}
