//! Connections that were open before the capture began, and whose handshake is known from
//! elsewhere: from the kernel of the machine on which the capture runs.

use std::collections::HashMap;
use std::net::IpAddr;
use whyslow_analysis::types::Side;
use whyslow_core::tcp::JoinedHandshake;
use whyslow_core::tcp::facts::{Multipath, Offer};
use whyslow_units::Nanos;

/// Options that the ends of a connection negotiated before the capture began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinedConnection {
    /// Address and port of one end and of the other.
    pub ends: [(IpAddr, u16); 2],
    /// Offers of both ends.
    pub offered: [JoinedEnd; 2],
    /// Index of the client in `ends`; `None` if unknown.
    pub client: Option<usize>,
    /// The smoothed RTT of each end; `None` if unknown.
    pub rtt: Option<Nanos>,
}

/// Offer of an end's SYN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JoinedEnd {
    /// Maximum segment size, bytes.
    pub mss: Option<u16>,
    /// Window scale shift.
    pub window_scale: Option<u8>,
    /// SACK permitted.
    pub sack: bool,
    /// Timestamps.
    pub timestamps: bool,
    /// ECN (RFC 3168).
    pub ecn: bool,
}

/// Connections without a packet so far.
#[derive(Debug, Default)]
pub(super) struct JoinedConnections(HashMap<[(IpAddr, u16); 2], JoinedConnection>);

impl JoinedConnections {
    pub(super) fn add(&mut self, joined: JoinedConnection) {
        self.0.insert(in_order(joined.ends), joined);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes the data of the connection between `ends`, the sender of the first packet first.
    pub(super) fn take(&mut self, ends: [(IpAddr, u16); 2]) -> Option<JoinedHandshake> {
        let joined = self.0.remove(&in_order(ends))?;
        let is_first = joined.ends[0] == ends[0];
        let client = joined.client.map(|client| if (client == 0) == is_first { Side::A } else { Side::B });
        let mut offers = joined.offered.map(JoinedEnd::to_offer);
        if !is_first {
            offers.reverse();
        }
        if let Some(client) = client {
            offers[!client].ecn &= 0b001;
        }
        Some(JoinedHandshake { offers, client, rtt: joined.rtt })
    }
}

impl JoinedEnd {
    fn to_offer(self) -> Offer {
        Offer {
            mss: self.mss,
            window_scale: self.window_scale,
            sack: self.sack,
            timestamps: self.timestamps,
            multipath: Multipath::No,
            window: u16::MAX,
            ecn: if self.ecn { 0b011 } else { 0 },
        }
    }
}

fn in_order([one, other]: [(IpAddr, u16); 2]) -> [(IpAddr, u16); 2] {
    if one <= other { [one, other] } else { [other, one] }
}
