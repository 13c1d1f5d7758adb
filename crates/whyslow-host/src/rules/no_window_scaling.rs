//! A connection has no window scaling: no more than 65,535 bytes can be on their way.
//!
//! ## What it is
//! The window field of TCP has 16 bits. Both ends must offer window scaling in their SYNs to go
//! beyond 65,535 bytes; where one does not, or a middlebox takes the option out, the rate is at
//! most 65,535 B / round trip.
//!
//! ## How it is recognised
//! A live connection without the option whose peer's window was full for a fifth of the time with
//! data to send and 100 ms or more (`rwnd_limited`), or which receives nine tenths of 65,535 bytes
//! in a round trip (`rcv_space`).
//!
//! ## What it is confused with
//! - `receive-window`: the option is there, and the buffer is small.
//!
//! ## The fix
//! `net.ipv4.tcp_window_scaling=1` where it is off; else the peer, or a firewall that takes the
//! option out.
//!
//! ## To see that it worked
//! `ss -tin` shows `wscale` for new connections.
//!
//! ## References
//! RFC 7323 section 2.

use crate::finding::{
    Extent, Field, Finding, HostAction, HostCheck, HostStatement, Place, Since, TcpOption, Who, figure, fix, text,
};
use crate::snapshot::{Live, Peer, Snapshot};
use whyslow_analysis::Unit;
use whyslow_analysis::cause::Cause;

/// TCPI_OPT_WSCALE.
const WSCALE: u8 = 4;
/// The largest window without it, bytes.
const WINDOW: u32 = 65_535;
/// Share of the time with data to send; and the least reported time, µs.
const SHARE: f64 = 0.2;
const LEAST_US: u64 = 100_000;

pub(super) fn check(snapshot: Snapshot<'_>) -> Vec<Finding> {
    let held =
        snapshot.live().filter(|live| live.info.options.is_some_and(|options| options & WSCALE == 0) && is_held(live));
    Peer::all(held).into_iter().filter_map(|peer| report(snapshot, &peer)).collect()
}

fn is_held(live: &Live<'_>) -> bool {
    let limited = live.grown(|info| info.rwnd_limited).unwrap_or(0);
    let busy = live.grown(|info| info.busy_time).unwrap_or(0);
    let sends = limited >= LEAST_US && limited as f64 >= SHARE * busy as f64;
    let receives = live.info.rcv_space.is_some_and(|space| space >= WINDOW / 10 * 9);
    sends || receives
}

fn report(snapshot: Snapshot<'_>, peer: &Peer<'_>) -> Option<Finding> {
    let worst = peer.connections.iter().max_by_key(|live| live.info.rwnd_limited)?;
    let rtt = worst.min_rtt().or(worst.rtt())?;
    let limited = peer.sum(|info| info.rwnd_limited) as f64 / 1e6;
    let most = f64::from(WINDOW) * 8.0 / rtt;
    let setting = snapshot.setting("net.ipv4.tcp_window_scaling");
    let is_off = setting == Some(0);
    let mut evidence = vec![
        figure("rwnd_limited", limited, Unit::Seconds, (Place::Sockets, snapshot.since_connections())),
        figure("rtt", rtt, Unit::Seconds, (Place::Socket, Since::Now)),
    ];
    evidence.extend(
        setting.map(|on| figure("net.ipv4.tcp_window_scaling", on as f64, Unit::One, (Place::Setting, Since::Now))),
    );
    evidence.push(text("socket", worst.line(), (Place::Socket, Since::Now)));
    let option = TcpOption::WindowScaling;
    let (who, action) = match is_off {
        true => (Who::Host, HostAction::SwitchOn { option }),
        false => (Who::Peer, HostAction::SwitchOnAtPeer { option }),
    };
    let command = is_off.then(|| snapshot.command("sysctl -w net.ipv4.tcp_window_scaling=1"));
    Some(Finding {
        namespace: snapshot.foreign_name(),
        peer: Some(peer.address),
        cost_s: (limited > 0.0).then_some(limited),
        extent: Some(Extent::HeldAt { rate_bps: most }),
        evidence,
        remedies: vec![fix(who, action, command)],
        verify: Some(HostCheck::Socket { peer: Some(peer.address), shows: Field::Wscale }),
        ..Finding::new(
            Cause::NoWindowScaling,
            0.9,
            HostStatement::WithoutScaling { connections: peer.connections(), most_bps: most },
        )
    })
}
