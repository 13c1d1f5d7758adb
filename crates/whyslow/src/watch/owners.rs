//! The kernel's data on the connections of this machine: handshakes of older ones, and programs of
//! all.

use super::record::Record;
use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use whyslow_diagnosis::explain::live::{JoinedConnection, JoinedEnd, LiveExplainer};
use whyslow_live::watch::{Connection, JoinInfo, open_connections};
use whyslow_units::Nanos;

/// The sockets are read this often at most, and take no more than a part of the time.
const EVERY: Duration = Duration::from_secs(1);
const PART: u32 = 20;
/// Most connections whose programs are remembered.
const MAX_OWNERS: usize = 200_000;
/// Most bytes that are read of the helper: more than any watch needs.
const MAX_REPORTED: u64 = 1 << 34;
/// Bytes that timestamps take of each segment (RFC 7323).
const TIMESTAMPS: u32 = 12;

/// Programs by their connections.
#[derive(Clone, Debug, Default)]
pub(super) struct Owners(Arc<Mutex<HashMap<Connection, String>>>);

impl Owners {
    /// Gives the explainer the connections that are open now, and begins to watch for others. Runs
    /// before rights are dropped, so that the programs of all users are visible.
    pub(super) fn join(explainer: &mut LiveExplainer) -> (Self, Vec<String>) {
        let joined = open_connections();
        joined.connections.iter().for_each(|one| explainer.join(handshake(one)));
        let owners = Self::default();
        owners.add(&joined.connections);
        (owners, joined.missing)
    }

    /// Looks for programs of new connections, from now on: by a helper if there is one, else with
    /// the rights of this process.
    ///
    /// # Errors
    /// When no thread can be had.
    pub(super) fn keep_looking(&self, helper: Option<Helper>) -> anyhow::Result<()> {
        let owners = Arc::downgrade(&self.0);
        thread::Builder::new().name("owners".to_owned()).spawn(move || {
            if let Some(mut helper) = helper {
                let lines = BufReader::new(helper.output.take(MAX_REPORTED)).lines().map_while(Result::ok);
                for (connection, name) in lines.filter_map(|line| read(&line)) {
                    let Some(known) = owners.upgrade() else { break };
                    Self(known).insert(connection, name);
                }
                // It ends when its pipe is closed.
                let _ = helper.child.wait();
                return;
            }
            while let Some(known) = owners.upgrade() {
                let start = Instant::now();
                Self(known).add(&open_connections().connections);
                thread::sleep(EVERY.max(start.elapsed() * PART));
            }
        })?;
        Ok(())
    }

    fn insert(&self, connection: Connection, name: String) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_OWNERS {
            known.clear();
        }
        known.insert(connection, name);
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

/// A process that keeps the rights of root, to see the programs of all users, and reads nothing
/// that comes from the network.
#[derive(Debug)]
pub(super) struct Helper {
    child: Child,
    output: ChildStdout,
}

impl Helper {
    /// Starts it, before rights are dropped. `None` if this user has no more rights than later, or
    /// it cannot be started.
    pub(super) fn start() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            return None;
        }
        let mut command = Command::new(std::env::current_exe().ok()?);
        command.args(["watch", "--name-owners"]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().ok()?;
        let output = child.stdout.take()?;
        Some(Self { child, output })
    }
}

/// What the helper does: prints the ends and the program of each new connection, and an empty line
/// after each look, until its output is closed.
///
/// # Errors
/// When the output is closed.
pub(super) fn report_owners(mut out: impl Write) -> io::Result<()> {
    let mut reported: HashSet<(SocketAddr, SocketAddr)> = HashSet::new();
    loop {
        let start = Instant::now();
        let open = open_connections().connections;
        let ends: HashSet<_> = open.iter().map(|one| (one.local, one.remote)).collect();
        reported.retain(|one| ends.contains(one));
        for one in open {
            if let Some(owner) = one.owners.first()
                && reported.insert((one.local, one.remote))
            {
                // A process names itself.
                let name: String = owner.name.chars().filter(|c| !c.is_control()).collect();
                writeln!(out, "{} {} {name}", one.local, one.remote)?;
            }
        }
        writeln!(out)?;
        out.flush()?;
        thread::sleep(EVERY.max(start.elapsed() * PART));
    }
}

/// A line of the helper.
fn read(line: &str) -> Option<(Connection, String)> {
    let mut words = line.splitn(3, ' ');
    let (local, remote) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    Some((Connection::new(local, remote), words.next()?.to_owned()))
}

/// The options that the SYNs of a connection must have had.
fn handshake(one: &JoinInfo) -> JoinedConnection {
    let stamps = one.timestamps.unwrap_or_default();
    // Both sent the smaller of the two accepted sizes, without timestamps.
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn lines_of_the_helper_are_read() {
        let (connection, name) = read("192.0.2.1:443 [2001:db8::1]:50000 my server").unwrap();
        let ends = ["192.0.2.1:443", "[2001:db8::1]:50000"].map(|end| end.parse().unwrap());
        assert_eq!(connection, Connection::new(ends[0], ends[1]));
        assert_eq!(name, "my server");
        for wrong in ["", "192.0.2.1:443", "a b c", "192.0.2.1:443 192.0.2.2:1"] {
            assert!(read(wrong).is_none(), "{wrong}");
        }
    }
}
