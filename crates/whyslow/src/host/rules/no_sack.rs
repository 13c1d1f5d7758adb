//! A connection that loses packets has no selective acknowledgements: it repairs one loss a round
//! trip.
//!
//! ## What it is
//! With SACK a receiver says what came behind a hole, and a sender repairs several losses in one
//! round trip, and notices its own errors. Without it each loss costs a round trip of its own, and
//! many end in a timeout.
//!
//! ## How it is recognised
//! Live connections with a peer without the option that retransmitted ten segments or more, and one
//! in a hundred of those that they sent: as for `loss`.
//!
//! ## What it is confused with
//! - `loss`: with SACK.
//!
//! ## The fix
//! `net.ipv4.tcp_sack=1` where it is off; else the peer, or a firewall that takes the option out.
//!
//! ## To see that it worked
//! `ss -tin` shows `sack` for new connections.
//!
//! ## References
//! RFC 2018, RFC 6675.

use super::counted::{FEW, LOSSY};
use crate::host::causes::HostCause;
use crate::host::finding::{Finding, Fix, Since, Source, Who, figure, text};
use crate::host::look::{Live, Look, Peer, dst};
use whyslow_report::text::units;

/// TCPI_OPT_SACK.
const SACK: u8 = 2;

pub(super) fn check(look: Look<'_>) -> Vec<Finding> {
    let without = look.live().filter(|live| live.info.options.is_some_and(|options| options & SACK == 0));
    Peer::all(without).into_iter().filter_map(|peer| report(look, &peer)).collect()
}

fn report(look: Look<'_>, peer: &Peer<'_>) -> Option<Finding> {
    let again = peer.sum(|info| info.total_retrans.map(u64::from));
    let sent: u64 = peer.connections.iter().filter_map(Live::sent).sum();
    if again < FEW || (again as f64) < LOSSY * sent as f64 || sent == 0 {
        return None;
    }
    let worst = peer.connections.iter().max_by_key(|live| live.info.total_retrans)?;
    let setting = look.setting("net.ipv4.tcp_sack");
    let is_off = setting == Some(0);
    let since = (Source::Sockets, look.since_connections());
    let mut evidence = vec![
        figure("retransmitted", again as f64, "segments", since),
        figure("segments with data sent", sent as f64, "segments", since),
    ];
    evidence.extend(setting.map(|on| figure("net.ipv4.tcp_sack", on as f64, "", (Source::Setting, Since::Now))));
    evidence.push(text("the worst, without sack", worst.line(), (Source::Socket, Since::Now)));
    Some(Finding {
        cause: HostCause::NoSack,
        namespace: look.foreign_name(),
        peer: Some(peer.address.to_string()),
        seconds: None,
        cost: format!("{} of {}", units::share(again as f64 / sent as f64), units::count(sent, "segment")),
        confidence: 0.85,
        summary: format!(
            "without SACK {} had to send {} again, one a round trip",
            peer.words(),
            units::count(again, "segment")
        ),
        evidence,
        fix: Fix {
            who: if is_off { Who::Host } else { Who::Peer },
            what: if is_off {
                "switch SACK on; connections that are open stay as they are".to_owned()
            } else {
                "this end offers SACK: switch it on there, or find the firewall that takes it out of SYNs".to_owned()
            },
            command: is_off.then(|| look.command("sysctl -w net.ipv4.tcp_sack=1")),
            verify: format!("`ss -tin {}` shows sack for new connections", dst(peer.address)),
        },
    })
}
