//! BBR sends in bursts, because nothing here paces it.
//!
//! ## What it is
//! BBR sets a sending rate, which a pacer must enforce. Since Linux 4.13 TCP paces by itself;
//! before, only the queueing discipline `fq` did. Without either BBR sends whole windows at once,
//! and shallow queues drop them.
//!
//! ## How it is recognised
//! A kernel before 4.13, a live connection with BBR that retransmits one segment in a hundred, at
//! least ten, and a device of its route whose root discipline is not `fq`. On any newer kernel it
//! is not reported, whatever the discipline.
//!
//! ## What it is confused with
//! - `loss` under BBR that is paced.
//!
//! ## The fix
//! `fq` at the device, or a newer kernel.
//!
//! ## To see that it worked
//! `tc qdisc show` names `fq`, and `ss -tin` shows few `retrans`.
//!
//! ## References
//! Cardwell et al., "BBR: Congestion-Based Congestion Control", 2016; Linux commit 218af599fa63
//! (internal pacing).

use super::counted::{FEW, LOSSY};
use crate::finding::{
    Extent, Finding, HostAction, HostCause, HostCheck, HostStatement, Place, Since, Who, figure, fix, text,
};
use crate::snapshot::{Live, Snapshot, is_plain};
use whyslow_analysis::Unit;

pub(super) fn check(snapshot: Snapshot<'_>) -> Vec<Finding> {
    if snapshot.kernel_at_least(4, 13) == Some(false) { report(snapshot).into_iter().collect() } else { Vec::new() }
}

/// Segments that a connection sent again.
fn again(live: &Live<'_>) -> u64 {
    live.grown(|info| info.total_retrans.map(u64::from)).unwrap_or(0)
}

fn report(snapshot: Snapshot<'_>) -> Option<Finding> {
    let (worst, device) = snapshot
        .live()
        .filter(|live| live.socket.congestion_control.as_deref() == Some("bbr"))
        .filter_map(|live| Some((live, snapshot.device(&live)?)))
        .filter(|(live, device)| {
            let again = again(live);
            let sent = live.sent().unwrap_or(0);
            let is_paced =
                device.qdiscs.iter().any(|qdisc| qdisc.kind == "fq") || device.qdisc.as_deref() == Some("fq");
            again >= FEW && again as f64 >= LOSSY * sent as f64 && sent > 0 && !is_paced && device.qdisc.is_some()
        })
        .max_by_key(|(live, _)| again(live))?;
    let (again, sent) = (again(&worst), worst.sent()?);
    let share = again as f64 / sent.max(1) as f64;
    let since = (Place::Socket, snapshot.since_connections());
    let name = &device.name;
    let command = is_plain(name).then(|| snapshot.command(&format!("tc qdisc show dev {name}")));
    Some(Finding {
        namespace: snapshot.foreign_name(),
        peer: Some(worst.peer()),
        extent: Some(Extent::Share { share, of: sent, unit: Unit::Segments }),
        evidence: vec![
            figure("retrans", again as f64, Unit::Segments, since),
            figure("data_segs_out", sent as f64, Unit::Segments, since),
            text(format!("{name} qdisc"), device.qdisc.clone().unwrap_or_default(), (Place::Device, Since::Now)),
            text("kernel", &snapshot.host.kernel, (Place::Kernel, Since::Now)),
            text("socket", worst.line(), (Place::Socket, Since::Now)),
        ],
        remedies: vec![fix(Who::Host, HostAction::PaceWithFq { device: name.clone() }, command)],
        verify: Some(HostCheck::Paced),
        ..Finding::new(HostCause::UnpacedBbr, 0.75, HostStatement::Unpaced { device: name.clone(), share })
    })
}
