//! Large packets to a peer vanish silently.
//!
//! ## What it is
//! A link of the path takes smaller packets than both ends assume (a tunnel, PPPoE), and a firewall
//! filters the ICMP message about it. Small packets pass: the handshake works, and the first full
//! segment is sent again and again.
//!
//! ## How it is recognised
//! An established connection that has timed out three times in a row with a full segment or more on
//! its way, whose small segments had been acknowledged, and of whose full ones none had: less than
//! one has been acknowledged in all. The packets are larger than 1,280 bytes, which every IPv6 link
//! takes. It is a possible finding, unless MTU probing has found it on this machine
//! (`TcpExt.TCPMTUPSuccess`).
//!
//! ## What it is confused with
//! - a peer that is gone: then nothing passes, and it shows soon;
//! - heavy loss, which stops some connections at their first segments: full segments of other
//!   connections to the same peer pass.
//!
//! ## The fix
//! Let ICMP "packet too big" pass (RFC 4821 gives the reasons); until then
//! `net.ipv4.tcp_mtu_probing=1` lets this machine find the size by itself.
//!
//! ## To see that it worked
//! `ss -tin` shows a smaller `mss` for the peer, and no timeouts in a row.
//!
//! ## References
//! RFC 2923 section 2.1, RFC 4821, RFC 8899.

use crate::finding::{
    Extent, Field, Finding, HostAction, HostCheck, HostStatement, Place, Since, Who, figure, fix, text,
};
use crate::snapshot::{Live, Peer, Snapshot};
use whyslow_analysis::Unit;
use whyslow_analysis::cause::Cause;

/// Timeouts in a row.
const ROW: u8 = 3;
/// Minimum MTU of IPv6 links (RFC 8200), bytes.
const SMALL: u32 = 1_280;

pub(super) fn check(snapshot: Snapshot<'_>) -> Vec<Finding> {
    let peers = Peer::all(snapshot.live().filter(vanishes)).into_iter();
    peers.filter(|peer| !is_passed_by_others(snapshot, peer)).filter_map(|peer| report(snapshot, &peer)).collect()
}

/// Whether full segments of other connections reach the peer with the same MTU: then a smaller
/// link does not stop these.
fn is_passed_by_others(snapshot: Snapshot<'_>, peer: &Peer<'_>) -> bool {
    let mtu = peer.connections.iter().filter_map(|live| live.info.pmtu).min();
    snapshot.live().any(|live| live.peer() == peer.address && live.info.pmtu >= mtu && sends_full_segments(&live))
}

/// Whether the peer acknowledged full segments: the mean delivered one has more than half.
fn sends_full_segments(live: &Live<'_>) -> bool {
    let info = live.info;
    let (Some(mss), Some(acked), Some(delivered)) = (info.snd_mss, info.bytes_acked, info.delivered) else {
        return false;
    };
    acked >= u64::from(mss) && acked * 2 > u64::from(delivered) * u64::from(mss)
}

/// Full segments vanish where small ones pass.
fn vanishes(live: &Live<'_>) -> bool {
    let info = live.info;
    let (Some(mss), Some(acked)) = (info.snd_mss, info.bytes_acked) else { return false };
    let flight = u64::from(live.socket.send_queue);
    live.timeouts_in_a_row() >= ROW
        && flight >= mss.into()
        && acked < mss.into()
        && info.pmtu.is_some_and(|mtu| mtu > SMALL)
}

fn report(snapshot: Snapshot<'_>, peer: &Peer<'_>) -> Option<Finding> {
    let worst = peer.connections.iter().max_by_key(|live| live.timeouts_in_a_row())?;
    let setting = snapshot.setting("net.ipv4.tcp_mtu_probing");
    let probed = snapshot.counter("TcpExt.TCPMTUPSuccess").is_some_and(|count| count.boot > 0);
    let seconds = worst.info.last_data_sent.map(|ms| f64::from(ms) / 1e3);
    let now = (Place::Socket, Since::Now);
    let mut evidence = vec![figure("timeouts in a row", worst.timeouts_in_a_row().into(), Unit::One, now)];
    evidence.extend(worst.info.pmtu.map(|mtu| figure("pmtu", mtu.into(), Unit::Bytes, now)));
    evidence.extend(worst.info.bytes_acked.map(|acked| figure("bytes_acked", acked as f64, Unit::Bytes, now)));
    evidence.extend(
        setting.map(|on| figure("net.ipv4.tcp_mtu_probing", on as f64, Unit::One, (Place::Setting, Since::Now))),
    );
    evidence.push(text("socket", worst.line(), now));
    let is_off = setting == Some(0);
    let who = if is_off { Who::Host } else { Who::Network };
    let command = is_off.then(|| snapshot.command("sysctl -w net.ipv4.tcp_mtu_probing=1"));
    let confidence = if probed { 0.75 } else { 0.55 };
    Some(Finding {
        namespace: snapshot.foreign_name(),
        peer: Some(peer.address),
        cost_s: seconds,
        extent: Some(seconds.map_or(Extent::Now, |seconds| Extent::SoFar { seconds, at_least: false })),
        evidence,
        remedies: vec![fix(who, HostAction::LetTooBigPass, command)],
        verify: Some(HostCheck::Socket { peer: Some(peer.address), shows: Field::SmallerMss }),
        ..Finding::new(
            Cause::MtuBlackHole,
            confidence,
            HostStatement::FullSegmentsVanish { connections: peer.connections() },
        )
    })
}
