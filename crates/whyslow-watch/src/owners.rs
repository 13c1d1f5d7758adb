//! The kernel's data on the connections of this machine: handshakes of older ones, and programs,
//! containers and pods of all.

use super::closed::ClosedConnection;
use super::holder::{Holder, Key, PodName, Table};
use super::record::Record;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use whyslow_diagnosis::explain::live::{JoinedConnection, JoinedEnd, LiveExplainer};
use whyslow_live::host::{Owner, Pod};
use whyslow_live::watch::{JoinInfo, Joined, Reach, open_connections};
use whyslow_report::render::json;
use whyslow_units::Nanos;

/// The sockets are read this often at most, and take no more than a part of the time.
const EVERY: Duration = Duration::from_secs(1);
const PART: u32 = 20;
/// Maximum bytes that are read of the helper: more than any watch needs.
const MAX_REPORTED: u64 = 1 << 34;
/// Bytes that timestamps take of each segment (RFC 7323).
const TIMESTAMPS: u32 = 12;

/// Holders of connections, as they become known.
#[derive(Clone, Debug, Default)]
pub(super) struct Owners {
    known: Arc<Mutex<Table>>,
    reach: Reach,
}

impl Owners {
    /// Gives the explainer the connections that are open now, and begins to watch for others. Runs
    /// before rights are dropped, so that the programs of all users are visible.
    pub(super) fn join(explainer: &mut LiveExplainer, reach: Reach) -> (Self, Vec<String>) {
        let mut joined = open_connections(reach);
        joined.connections.iter().for_each(|one| explainer.join(handshake(one)));
        let owners = Self { reach, ..Self::default() };
        let missing = std::mem::take(&mut joined.missing);
        add(&owners.known, &joined);
        (owners, missing)
    }

    /// Looks for programs of new connections, from now on: by a helper if there is one, else with
    /// the rights of this process.
    ///
    /// # Errors
    /// When no thread can be had.
    pub(super) fn keep_looking(&self, helper: Option<Helper>) -> anyhow::Result<()> {
        let (known, reach) = (Arc::downgrade(&self.known), self.reach);
        thread::Builder::new().name("owners".to_owned()).spawn(move || {
            if let Some(mut helper) = helper {
                let lines = BufReader::new(helper.output.take(MAX_REPORTED)).lines().map_while(Result::ok);
                for line in lines.filter_map(|line| read(&line)) {
                    let Some(known) = known.upgrade() else { break };
                    known.lock().unwrap_or_else(PoisonError::into_inner).insert(line.key, line.holder);
                }
                // It ends when its pipe is closed.
                let _ = helper.child.wait();
                return;
            }
            while let Some(known) = known.upgrade() {
                let start = Instant::now();
                add(&known, &open_connections(reach));
                drop(known);
                thread::sleep(EVERY.max(start.elapsed() * PART));
            }
        })?;
        Ok(())
    }

    /// Names the holders of a connection, if they are known.
    pub(super) fn name(&self, record: &mut Record) {
        record.holders = self
            .known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .of(&record.connection.client, &record.connection.server);
    }

    /// Names the holder of a connection that has closed, if it is known.
    pub(super) fn name_closed(&self, closed: &mut ClosedConnection) {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        closed.holder = known.of_end(closed.local, closed.remote, true);
    }
}

fn add(known: &Mutex<Table>, joined: &Joined) {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    holders(joined).for_each(|(key, holder)| known.insert(key, holder));
}

/// What a look shows of holders.
fn holders(joined: &Joined) -> impl Iterator<Item = (Key, Holder)> {
    let connections = joined.connections.iter().map(|one| (Key::Connection(one.local, one.remote), &one.owners));
    let listeners = joined.listeners.iter().map(|one| (Key::Listener(one.address), &one.owners));
    let owned = connections.chain(listeners).filter_map(|(key, owners)| Some((key, Holder::of(owners.first()?))));
    let pods = joined.pods.iter().map(|one| {
        let holder = Holder { pod: Some(PodName::of(&one.pod)), ..Holder::default() };
        (Key::Address(one.address), holder)
    });
    owned.chain(pods)
}

impl Holder {
    fn of(owner: &Owner) -> Self {
        Self {
            // A process names itself.
            process: Some(owner.name.chars().filter(|c| !c.is_control()).collect()),
            pid: Some(owner.pid),
            container: owner.container.clone(),
            unit: owner.unit.clone(),
            pod: owner.pod.as_ref().map(PodName::of),
        }
    }
}

impl PodName {
    fn of(pod: &Pod) -> Self {
        let Pod { uid, namespace, name, container } = pod.clone();
        Self { uid, namespace, name, container }
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
    pub(super) fn start(reach: Reach) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            return None;
        }
        let mut command = Command::new(std::env::current_exe().ok()?);
        command.args(["watch", "--name-owners"]).args((reach == Reach::Node).then_some("--node"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().ok()?;
        let output = child.stdout.take()?;
        Some(Self { child, output })
    }
}

/// What the helper prints: a line for each holder.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    key: Key,
    holder: Holder,
}

/// What the helper does: prints the holders that are new, and an empty line after each look, until
/// its output is closed.
///
/// # Errors
/// When the output is closed.
pub(super) fn report_owners(reach: Reach, mut out: impl Write) -> io::Result<()> {
    let mut reported: HashMap<Key, Holder> = HashMap::new();
    loop {
        let start = Instant::now();
        // Holders that are gone are forgotten.
        let now: HashMap<Key, Holder> = holders(&open_connections(reach)).collect();
        for (key, holder) in now.iter().filter(|(key, holder)| reported.get(key) != Some(holder)) {
            json::line(&Line { key: *key, holder: holder.clone() }, &mut out)?;
        }
        reported = now;
        writeln!(out)?;
        out.flush()?;
        thread::sleep(EVERY.max(start.elapsed() * PART));
    }
}

/// A line of the helper.
fn read(line: &str) -> Option<Line> {
    serde_json::from_str(line).ok()
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
    use crate::holder::tests::in_pod;

    #[test]
    fn lines_of_the_helper_are_read() {
        let key = Key::Connection("192.0.2.1:443".parse().unwrap(), "[2001:db8::1]:50000".parse().unwrap());
        let holder = in_pod("my server", "shop", "web-1");
        let mut printed = Vec::new();
        json::line(&Line { key, holder: holder.clone() }, &mut printed).unwrap();
        let printed = String::from_utf8(printed).unwrap();
        assert_eq!(printed.lines().count(), 1);
        let line = read(printed.trim_end()).unwrap();
        assert_eq!((line.key, line.holder), (key, holder));
        for wrong in ["", "192.0.2.1:443", "{}", r#"{"key":{"connection":["192.0.2.1:443"]},"holder":{}}"#] {
            assert!(read(wrong).is_none(), "{wrong}");
        }
    }
}
