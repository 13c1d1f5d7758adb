//! Programs wait for a processor while they have connections to serve.
//!
//! ## What it is
//! TCP runs on this machine's processors. Where programs wait for one, they read and write later
//! than the network lets them.
//!
//! ## How it is recognised
//! By the kernel's pressure (PSI): over the last 10 s some program waited for a processor for a
//! fifth of the time or more (the same share as for captures), and connections sent or received in
//! the last second. If the control group of such a connection's owner waited as long
//! (`cpu.pressure` in its group), the finding names it. Otherwise it is a possible finding, because
//! the waiting program is unknown.
//!
//! ## What it is confused with
//! - `cpu-throttled`: there is a processor, and a limit of the control group keeps it away. What a
//!   group waits for its limit counts as pressure too, so that one that was throttled is not named
//!   here.
//!
//! ## The fix
//! Find the programs that use the processors. Offloads that a card supports but that are off
//! (`tso`, `gso`, `gro`) cost much processor time, and the finding names them.
//!
//! ## To see that it worked
//! `cat /proc/pressure/cpu` shows a small `avg10`.
//!
//! ## References
//! Linux accounting/psi.

use crate::finding::{
    Extent, Finding, HostAction, HostCheck, HostStatement, Place, Processes, Since, Who, figure, fix, text,
};
use crate::snapshot::{Live, Snapshot, is_plain, quoted};
use whyslow_analysis::Unit;
use whyslow_analysis::cause::Cause;
use whyslow_live::host::Owner;

/// Share of the time during which a program waited, per cent.
const PRESSURE: f64 = 20.0;
/// Data went or came within, milliseconds.
const RECENT_MS: u32 = 1_000;
/// Work that a card does for a processor, by ethtool's names.
const OFFLOADS: [(&str, &str); 3] =
    [("tcp-segmentation-offload", "tso"), ("generic-segmentation-offload", "gso"), ("generic-receive-offload", "gro")];

pub(super) fn check(snapshot: Snapshot<'_>) -> Vec<Finding> {
    let of_owner = of_owner(snapshot);
    if of_owner.is_none() && snapshot.is_first {
        report(snapshot).into_iter().collect()
    } else {
        of_owner.into_iter().collect()
    }
}

/// The owner of connections with data that waited longest, its wait, and the number of its
/// connections.
fn waiting<'a>(snapshot: Snapshot<'a>) -> Option<(&'a Owner, f64, u64)> {
    let is_throttled = |owner: &Owner| owner.throttled.is_some_and(|throttled| throttled.throttled > 0);
    let owners = || snapshot.live().filter(carries_data).flat_map(|live: Live<'a>| &live.socket.owners);
    let waiting = owners().filter(|owner| !is_throttled(owner));
    let waiting = waiting.filter_map(|owner| Some((owner, f64::from(owner.cpu_pressure?))));
    let (owner, share) = waiting.filter(|(_, share)| *share >= PRESSURE).max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some((owner, share, owners().filter(|other| other.pid == owner.pid).count() as u64))
}

/// The control group of a connection's owner waited.
fn of_owner(snapshot: Snapshot<'_>) -> Option<Finding> {
    let (owner, pressure, busy) = waiting(snapshot)?;
    let share = pressure / 100.0;
    let since = Since::Seconds(10.0);
    let command =
        owner.cpu_pressure_in.as_ref().map(|folder| format!("cat {}", quoted(&format!("{folder}/cpu.pressure"))));
    let statement = HostStatement::GroupWaited {
        process: Processes { name: owner.name.clone(), pid: owner.pid, others: 0 },
        place: owner.container.clone().or_else(|| owner.unit.clone()),
        share,
        connections: busy,
    };
    Some(Finding {
        namespace: snapshot.foreign_name(),
        extent: Some(Extent::OfTheTime { share }),
        evidence: vec![
            figure("cpu.pressure some", pressure, Unit::Percent, (Place::Cgroup, since)),
            figure("busy connections", busy as f64, Unit::One, (Place::Sockets, Since::Now)),
            figure("processors", snapshot.host.processors as f64, Unit::One, (Place::Kernel, Since::Now)),
        ],
        remedies: vec![fix(Who::Host, HostAction::RaiseCpuShare, command)],
        verify: Some(HostCheck::Pressure { of_group: true }),
        ..Finding::new(Cause::HostCpu, 0.7, statement)
    })
}

/// Data went or came in the last second.
fn carries_data(live: &Live<'_>) -> bool {
    let recent = |ms: Option<u32>| ms.is_some_and(|ms| ms <= RECENT_MS);
    let info = live.info;
    // A new connection's clocks begin with it.
    let sent = info.data_segs_out.is_some_and(|segments| segments > 0) && recent(info.last_data_sent);
    sent || (info.bytes_received.is_some_and(|bytes| bytes > 0) && recent(info.last_data_recv))
}

fn report(snapshot: Snapshot<'_>) -> Option<Finding> {
    let pressure = snapshot.host.cpu_pressure.filter(|pressure| *pressure >= PRESSURE)?;
    let busy = snapshot.live().filter(carries_data).count();
    if busy == 0 {
        return None;
    }
    let cards = snapshot.namespace.devices.iter().filter(|device| device.kind.is_none() && is_plain(&device.name));
    let off = cards.into_iter().find_map(|device| {
        let (name, short) = OFFLOADS.into_iter().find(|(name, _)| device.offloads.get(*name) == Some(&false))?;
        Some((device.name.clone(), name, short))
    });
    let mut evidence = vec![
        figure("PSI cpu some", pressure, Unit::Percent, (Place::Kernel, Since::Seconds(10.0))),
        figure("busy connections", busy as f64, Unit::One, (Place::Sockets, Since::Now)),
        figure("processors", snapshot.host.processors as f64, Unit::One, (Place::Kernel, Since::Now)),
    ];
    evidence.extend(
        off.as_ref().map(|(device, name, _)| text(format!("{device} {name}"), "off", (Place::Device, Since::Now))),
    );
    let share = pressure / 100.0;
    let command = off.as_ref().map(|(device, _, short)| snapshot.command(&format!("ethtool -K {device} {short} on")));
    let action = HostAction::FreeProcessors { offload: off.map(|(device, _, short)| [device, short.to_owned()]) };
    Some(Finding {
        namespace: snapshot.foreign_name(),
        extent: Some(Extent::OfTheTime { share }),
        evidence,
        remedies: vec![fix(Who::Host, action, command)],
        verify: Some(HostCheck::Pressure { of_group: false }),
        ..Finding::new(Cause::HostCpu, 0.5, HostStatement::MachineWaited { share, connections: busy as u64 })
    })
}
