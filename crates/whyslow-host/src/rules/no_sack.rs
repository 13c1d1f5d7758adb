//! A connection that loses packets has no selective acknowledgements: it repairs one loss a round
//! trip.
//!
//! ## What it is
//! With SACK a receiver reports the segments behind a hole. A sender can then repair several losses
//! in one round trip, and detects its own errors. Without it each loss costs a round trip of its
//! own, and many end in a timeout.
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
use crate::finding::{
    Extent, Field, Finding, HostAction, HostCheck, HostStatement, Place, Since, TcpOption, Who, figure, fix, text,
};
use crate::snapshot::{Live, Peer, Snapshot};
use whyslow_analysis::Unit;
use whyslow_analysis::cause::Cause;

/// TCPI_OPT_SACK.
const SACK: u8 = 2;

pub(super) fn check(snapshot: Snapshot<'_>) -> Vec<Finding> {
    let without = snapshot.live().filter(|live| live.info.options.is_some_and(|options| options & SACK == 0));
    Peer::all(without).into_iter().filter_map(|peer| report(snapshot, &peer)).collect()
}

fn report(snapshot: Snapshot<'_>, peer: &Peer<'_>) -> Option<Finding> {
    let again = peer.sum(|info| info.total_retrans.map(u64::from));
    let sent: u64 = peer.connections.iter().filter_map(Live::sent).sum();
    if again < FEW || (again as f64) < LOSSY * sent as f64 || sent == 0 {
        return None;
    }
    let worst = peer.connections.iter().max_by_key(|live| live.info.total_retrans)?;
    let setting = snapshot.setting("net.ipv4.tcp_sack");
    let is_off = setting == Some(0);
    let since = (Place::Sockets, snapshot.since_connections());
    let mut evidence = vec![
        figure("retrans", again as f64, Unit::Segments, since),
        figure("data_segs_out", sent as f64, Unit::Segments, since),
    ];
    evidence.extend(setting.map(|on| figure("net.ipv4.tcp_sack", on as f64, Unit::One, (Place::Setting, Since::Now))));
    evidence.push(text("socket", worst.line(), (Place::Socket, Since::Now)));
    let option = TcpOption::Sack;
    let (who, action) = match is_off {
        true => (Who::Host, HostAction::SwitchOn { option }),
        false => (Who::Peer, HostAction::SwitchOnAtPeer { option }),
    };
    let command = is_off.then(|| snapshot.command("sysctl -w net.ipv4.tcp_sack=1"));
    Some(Finding {
        namespace: snapshot.foreign_name(),
        peer: Some(peer.address),
        cost_s: None,
        extent: Some(Extent::Share { share: again as f64 / sent as f64, of: sent, unit: Unit::Segments }),
        evidence,
        remedies: vec![fix(who, action, command)],
        verify: Some(HostCheck::Socket { peer: Some(peer.address), shows: Field::Sack }),
        ..Finding::new(Cause::NoSack, 0.85, HostStatement::WithoutSack { connections: peer.connections(), again })
    })
}
