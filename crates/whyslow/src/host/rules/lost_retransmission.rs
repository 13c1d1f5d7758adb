//! Retransmissions are lost, too: somebody on the path drops in bursts, or drops what exceeds a
//! rate.
//!
//! ## What it is
//! A retransmission that is lost costs another round trip, or a timeout. Where losses are chance,
//! retransmissions are lost as seldom as anything else.
//!
//! ## How it is recognised
//! Of what was retransmitted, one in ten or more was lost again (`TcpExt.TCPLostRetransmit`), ten
//! at least, where one in a hundred segments is retransmitted: ten times what losses by chance
//! make of it. SYNs that were sent again (`TcpExt.TCPSynRetrans`) are taken off both: an address
//! that never answers is `no-answer`.
//!
//! ## What it is confused with
//! - `loss` alone: losses by chance.
//! - `qdisc-drops`: the queue of this machine's own device drops.
//!
//! ## The fix
//! Look for a policer on the path (a rate that transfers never pass, and losses above it), or a
//! link with bursts of errors. A capture at the sender tells which: `whyslow FILE`.
//!
//! ## To see that it worked
//! `nstat -az TcpExtTCPLostRetransmit` rises slowly.
//!
//! ## References
//! RFC 8985 section 6.2; Flach et al., "An Internet-Wide Analysis of Traffic Policing", 2016.

use super::counted::{Counted, FEW, LOSSY, over, passes, when, without_syns};
use super::qdisc_drops;
use crate::host::causes::HostCause;
use crate::host::finding::{Finding, Fix, Source, Who, figure};
use crate::host::look::{Look, Share};
use whyslow_report::text::units;

/// Of what was retransmitted.
const SHARE: f64 = 0.1;

pub(super) fn check(look: Look<'_>) -> Vec<Finding> {
    report(look).into_iter().collect()
}

fn report(look: Look<'_>) -> Option<Finding> {
    let again = passes(look, ("Tcp.RetransSegs", "Tcp.OutSegs"), LOSSY)?;
    let again = Share { count: without_syns(look, "Tcp.RetransSegs", again)?, ..again };
    let lost = without_syns(look, "TcpExt.TCPLostRetransmit", again)?;
    let share = Share { count: lost, all: again.count, seconds: again.seconds };
    if again.value() < LOSSY || share.count < FEW || share.value() < SHARE {
        return None;
    }
    if look.namespace.devices.iter().any(|device| qdisc_drops::explains(look, Some(device), share.count)) {
        return None;
    }
    let summary = format!(
        "{} of the {} {} were lost again: somebody on the path drops in bursts, or above a rate",
        units::share(share.value()),
        units::count(share.all, "retransmission"),
        when(share)
    );
    let fix = Fix {
        who: Who::Network,
        what: "look for a policer or a link with bursts of errors; a capture at the sender tells which".to_owned(),
        command: None,
        verify: "`nstat -az TcpExtTCPLostRetransmit` rises slowly".to_owned(),
    };
    let names = ("TcpExt.TCPLostRetransmit, less SYNs".to_owned(), "Tcp.RetransSegs");
    let counted = Counted { cause: HostCause::LostRetransmission, names, share, confidence: 0.75, summary, fix };
    let sent = over(look, "Tcp.OutSegs", again).unwrap_or(0);
    Some(counted.into_finding(look, Some(figure("Tcp.OutSegs", sent as f64, "", (Source::Counter, again.since())))))
}
