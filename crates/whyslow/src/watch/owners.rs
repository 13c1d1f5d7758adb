//! What the kernel knows of the connections of this machine: of older ones their handshakes, of all
//! of them the programs that hold them.

use super::record::Record;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use whyslow_core::explain::live::{JoinedConnection, JoinedEnd, LiveExplainer};
use whyslow_core::units::Nanos;
use whyslow_live::watch::{Connection, JoinInfo, open_connections};

/// The sockets are read this often at most, and take no more than a part of the time.
const EVERY: Duration = Duration::from_secs(1);
const PART: u32 = 20;
/// Most connections whose programs are remembered.
const MAX_OWNERS: usize = 200_000;
/// Bytes that timestamps take of each segment (RFC 7323).
const TIMESTAMPS: u32 = 12;

/// Programs by their connections.
#[derive(Clone, Debug, Default)]
pub(super) struct Owners(Arc<Mutex<HashMap<Connection, String>>>);

impl Owners {
    /// Tells the explainer of the connections that are open now, and begins to watch for others.
    /// Before rights are dropped, so that the programs of all users are seen.
    pub(super) fn join(explainer: &mut LiveExplainer) -> (Self, Vec<String>) {
        let joined = open_connections();
        joined.connections.iter().for_each(|one| explainer.join(handshake(one)));
        let owners = Self::default();
        owners.add(&joined.connections);
        (owners, joined.missing)
    }

    /// Looks for programs of new connections, from now on, until nobody asks any more.
    ///
    /// # Errors
    /// When no thread can be had.
    pub(super) fn keep_looking(&self) -> anyhow::Result<()> {
        let owners = Arc::downgrade(&self.0);
        thread::Builder::new().name("owners".to_owned()).spawn(move || {
            while let Some(known) = owners.upgrade() {
                let start = Instant::now();
                Self(known).add(&open_connections().connections);
                thread::sleep(EVERY.max(start.elapsed() * PART));
            }
        })?;
        Ok(())
    }

    fn add(&self, connections: &[JoinInfo]) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() + connections.len() > MAX_OWNERS {
            known.clear();
        }
        for one in connections {
            if let Some(owner) = one.owners.first() {
                known.insert(Connection::new(one.local, one.remote), owner.name.clone());
            }
        }
    }

    /// Names the program of a connection, if it is known.
    pub(super) fn name(&self, record: &mut Record) {
        let end = |address: &str, port| Some(SocketAddr::new(address.parse::<IpAddr>().ok()?, port));
        let (client, server) = (&record.connection.client, &record.connection.server);
        let Some(ends) = end(&client.address, client.port).zip(end(&server.address, server.port)) else { return };
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        record.process = known.get(&Connection::new(ends.0, ends.1)).cloned();
    }
}

/// What the SYNs of a connection must have said.
fn handshake(one: &JoinInfo) -> JoinedConnection {
    let stamps = one.timestamps.unwrap_or_default();
    // Both sent what is less of what the two accept, without timestamps.
    let mss = one.snd_mss.map(|mss| mss + if stamps { TIMESTAMPS } else { 0 });
    let mss = mss.and_then(|mss| u16::try_from(mss).ok());
    let end = |window_scale| JoinedEnd {
        mss,
        window_scale,
        sack: one.sack.unwrap_or_default(),
        timestamps: stamps,
        ecn: false,
    };
    // Without the option of one side neither scales.
    let scales = [one.rcv_wscale, one.snd_wscale]
        .map(|shift| shift.filter(|_| one.rcv_wscale != Some(0) || one.snd_wscale != Some(0)));
    JoinedConnection {
        ends: [one.local, one.remote].map(|end| (end.ip(), end.port())),
        offered: scales.map(end),
        client: None,
        rtt: one.rtt_us.map(|rtt| Nanos::from_micros(rtt.into())),
    }
}
