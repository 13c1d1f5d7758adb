//! A program with connections is kept from the processor by the limit of its control group.
//!
//! ## What it is
//! A container or a service may use its processors for a fixed time in each period, usually 100 ms.
//! When that quota is used up, the whole container stops until the next period: requests wait for
//! tens of milliseconds, although the machine may be idle.
//!
//! ## How it is recognised
//! The owner of a connection was throttled in a quarter of its control group's periods or more, of
//! 10 at least (`cpu.stat`); the share is that of the usual alert (CPUThrottlingHigh of
//! kubernetes-mixin). With `--for` or `--watch` only the periods of that time count; without, those
//! since the group exists, which may be long past.
//!
//! ## What it is confused with
//! - `host-cpu`: there is no processor to be had.
//!
//! ## The fix
//! Raise the limit (`cpu.max`; `resources.limits.cpu` in Kubernetes; `CPUQuota=` in systemd), or
//! let the program use fewer threads than it has processors' time for.
//!
//! ## To see that it worked
//! `nr_throttled` in the group's `cpu.stat` does not rise.
//!
//! ## References
//! Linux scheduler/sched-bwc.

use crate::finding::{
    Extent, Finding, HostAction, HostCause, HostCheck, HostStatement, Place, Processes, Since, Who, figure, fix,
};
use crate::snapshot::{Snapshot, quoted};
use std::collections::BTreeMap;
use whyslow_analysis::Unit;
use whyslow_live::host::{Namespace, Owner, Throttled};

/// Share of the periods with throttling.
const SHARE: f64 = 0.25;
/// Periods that a share needs: a second of them, usually.
const ENOUGH: u64 = 10;

pub(super) fn check(snapshot: Snapshot<'_>) -> Vec<Finding> {
    // One control group has several processes, and one account.
    let mut groups: BTreeMap<(Option<&str>, Throttled), &Owner> = BTreeMap::new();
    for owner in snapshot.namespace.sockets.iter().flat_map(|socket| &socket.owners) {
        if let Some(throttled) = owner.throttled {
            groups.entry((owner.throttled_in.as_deref(), throttled)).or_insert(owner);
        }
    }
    groups.into_iter().filter_map(|((_, throttled), owner)| report(snapshot, throttled, owner)).collect()
}

/// The account of a process at the earlier look.
fn before(earlier: &Namespace, owner: &Owner) -> Option<Throttled> {
    let mut owners = earlier.sockets.iter().flat_map(|socket| &socket.owners);
    owners.find(|before| before.pid == owner.pid).and_then(|before| before.throttled)
}

fn report(snapshot: Snapshot<'_>, now: Throttled, owner: &Owner) -> Option<Finding> {
    let recent = snapshot.earlier.and_then(|(earlier, seconds)| {
        let before = before(earlier, owner)?;
        let since = Throttled {
            periods: now.periods.saturating_sub(before.periods),
            throttled: now.throttled.saturating_sub(before.throttled),
            time_us: now.time_us.saturating_sub(before.time_us),
        };
        Some((since, Since::Seconds(seconds)))
    });
    let (account, since) = recent.unwrap_or((now, Since::Boot));
    let share = account.throttled as f64 / account.periods.max(1) as f64;
    if account.periods < ENOUGH || share < SHARE {
        return None;
    }
    let seconds = account.time_us as f64 / 1e6;
    let place = owner.container.clone().or_else(|| owner.unit.clone());
    let from = (Place::Cgroup, since);
    let command = owner.throttled_in.as_ref().map(|folder| format!("cat {}", quoted(&format!("{folder}/cpu.stat"))));
    let process = Processes { name: owner.name.clone(), pid: owner.pid, others: 0 };
    Some(Finding {
        namespace: snapshot.foreign_name(),
        cost_s: Some(seconds),
        extent: Some(Extent::InPeriods { seconds, share }),
        evidence: vec![
            figure("cpu.stat nr_throttled", account.throttled as f64, Unit::One, from),
            figure("cpu.stat nr_periods", account.periods as f64, Unit::One, from),
            figure("cpu.stat throttled time", seconds, Unit::Seconds, from),
        ],
        remedies: vec![fix(Who::Host, HostAction::RaiseCpuLimit, command)],
        verify: Some(HostCheck::Throttled),
        ..Finding::new(HostCause::CpuThrottled, 0.9, HostStatement::Throttled { process, place, seconds, share })
    })
}
