//! BBR sends in bursts, because nothing here paces it.
//!
//! ## What it is
//! BBR says at what rate to send, and somebody has to keep to it. Since Linux 4.13 TCP does so by
//! itself; before, only the queueing discipline `fq` did. Without either BBR sends whole windows at
//! once, and shallow queues drop them.
//!
//! ## How it is recognised
//! A kernel before 4.13, a live connection with BBR that retransmits one segment in a hundred, ten
//! at least, and a device of its route whose root discipline is not `fq`. On any newer kernel it is
//! not told, whatever the discipline.
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
use crate::host::causes::HostCause;
use crate::host::finding::{Finding, Fix, Since, Source, Who, figure, text};
use crate::host::look::{Live, Look, is_plain};
use whyslow_report::text::units;

pub(super) fn check(look: Look<'_>) -> Vec<Finding> {
    if look.kernel_at_least(4, 13) == Some(false) { report(look).into_iter().collect() } else { Vec::new() }
}

/// Segments that a connection sent again.
fn again(live: &Live<'_>) -> u64 {
    live.grown(|info| info.total_retrans.map(u64::from)).unwrap_or(0)
}

fn report(look: Look<'_>) -> Option<Finding> {
    let (worst, device) = look
        .live()
        .filter(|live| live.socket.congestion_control.as_deref() == Some("bbr"))
        .filter_map(|live| Some((live, look.device(&live)?)))
        .filter(|(live, device)| {
            let again = again(live);
            let sent = live.sent().unwrap_or(0);
            let is_paced =
                device.qdiscs.iter().any(|qdisc| qdisc.kind == "fq") || device.qdisc.as_deref() == Some("fq");
            again >= FEW && again as f64 >= LOSSY * sent as f64 && sent > 0 && !is_paced && device.qdisc.is_some()
        })
        .max_by_key(|(live, _)| again(live))?;
    let (again, sent) = (again(&worst), worst.sent()?);
    let share = units::share(again as f64 / sent.max(1) as f64);
    let since = (Source::Socket, look.since_connections());
    Some(Finding {
        cause: HostCause::UnpacedBbr,
        namespace: look.foreign_name(),
        peer: Some(worst.peer().to_string()),
        seconds: None,
        cost: format!("{share} of {}", units::count(sent, "segment")),
        confidence: 0.75,
        summary: format!("BBR is not paced on {}: {share} of what a connection sent had to be sent again", device.name),
        evidence: vec![
            figure("retransmitted", again as f64, "segments", since),
            figure("segments with data sent", sent as f64, "segments", since),
            text(
                format!("{} qdisc", device.name),
                device.qdisc.clone().unwrap_or_default(),
                (Source::Device, Since::Now),
            ),
            text("kernel", &look.host.kernel, (Source::Kernel, Since::Now)),
            text("the worst", worst.line(), (Source::Socket, Since::Now)),
        ],
        fix: Fix {
            who: Who::Host,
            what: format!(
                "let `fq` pace it: make it the root discipline of {} while little is sent, for what is queued is lost",
                device.name
            ),
            command: is_plain(&device.name).then(|| look.command(&format!("tc qdisc show dev {}", device.name))),
            verify: "`tc qdisc show` names fq, and `ss -tin` shows few retrans".to_owned(),
        },
    })
}
