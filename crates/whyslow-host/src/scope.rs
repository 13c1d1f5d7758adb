//! [`narrow`]: what `--peer` and `--process` leave of a machine.

use crate::settings::{Process, Settings};
use whyslow_live::host::{Host, Owner, State};

/// Counters that confirm a listener's own figures.
const LISTENERS: [&str; 2] = ["TcpExt.ListenOverflows", "Tcp.PassiveOpens"];

/// Keeps the requested sockets and remembered metrics. Counters of a whole machine, a namespace or
/// a device belong to no single connection, and are removed.
pub(crate) fn narrow(host: &mut Host, settings: &Settings) {
    if !settings.is_part() {
        return;
    }
    host.cpu_pressure = None;
    host.softnet.clear();
    for namespace in &mut host.namespaces {
        // Listeners are still judged: their drops prove nothing without these.
        namespace.counters.retain(|name, _| LISTENERS.contains(&name.as_str()));
        namespace.conntrack = None;
        namespace.devices.iter_mut().for_each(|device| device.counters.clear());
        if let Some(peer) = settings.peer {
            namespace.sockets.retain(|socket| socket.state == State::Listen || peer.contains(socket.remote.ip()));
            namespace.metrics.retain(|entry| peer.contains(entry.address));
        }
        if let Some(process) = &settings.process {
            namespace.sockets.retain(|socket| socket.owners.iter().any(|owner| is_it(owner, process)));
            // They belong to peers, whatever program uses them.
            let peers: std::collections::BTreeSet<_> =
                namespace.sockets.iter().map(|socket| socket.remote.ip().to_canonical()).collect();
            namespace.metrics.retain(|entry| peers.contains(&entry.address.to_canonical()));
        }
    }
}

fn is_it(owner: &Owner, process: &Process) -> bool {
    match process {
        Process::Number(number) => owner.pid == *number,
        Process::Name(name) => owner.name == *name,
    }
}
