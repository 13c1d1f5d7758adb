//! Large packets to a peer vanish, and nobody says so.
//!
//! ## What it is
//! A link of the path takes smaller packets than both ends believe (a tunnel, PPPoE), and the ICMP
//! message that would say so is filtered. Small packets pass: the handshake works, and the first
//! full segment is sent again and again.
//!
//! ## How it is recognised
//! An established connection that has timed out three times in a row with a full segment or more on
//! its way, whose small segments had been acknowledged, and of whose full ones none had: less than
//! one has been acknowledged in all. The packets are larger than 1,280 bytes, which every IPv6 link
//! takes. It is a possible finding, unless MTU probing has found it on this machine
//! (`TcpExt.TCPMTUPSuccess`).
//!
//! ## What it is confused with
//! - a peer that is gone: then nothing passes, and it shows soon.
//!
//! ## The fix
//! Let ICMP "packet too big" pass (RFC 4821 says why); until then `net.ipv4.tcp_mtu_probing=1` lets
//! this machine find the size by itself.
//!
//! ## To see that it worked
//! `ss -tin` shows a smaller `mss` for the peer, and no timeouts in a row.
//!
//! ## References
//! RFC 2923 section 2.1, RFC 4821, RFC 8899.

use super::timeout::in_a_row;
use crate::host::causes::HostCause;
use crate::host::finding::{Finding, Fix, Since, Source, Who, figure, text};
use crate::host::look::{Live, Look, Peer, dst};
use whyslow_report::text::units;

/// Timeouts in a row.
const ROW: u8 = 3;
/// Every link of IPv6 takes so much (RFC 8200), bytes.
const SMALL: u32 = 1_280;

pub(super) fn check(look: Look<'_>) -> Vec<Finding> {
    Peer::all(look.live().filter(vanishes)).into_iter().filter_map(|peer| report(look, &peer)).collect()
}

/// Full segments vanish where small ones pass.
pub(super) fn vanishes(live: &Live<'_>) -> bool {
    let info = live.info;
    let (Some(mss), Some(acked)) = (info.snd_mss, info.bytes_acked) else { return false };
    let flight = u64::from(live.socket.send_queue);
    in_a_row(live) >= ROW && flight >= mss.into() && acked < mss.into() && info.pmtu.is_some_and(|mtu| mtu > SMALL)
}

fn report(look: Look<'_>, peer: &Peer<'_>) -> Option<Finding> {
    let worst = peer.connections.iter().max_by_key(|live| in_a_row(live))?;
    let setting = look.setting("net.ipv4.tcp_mtu_probing");
    let probed = look.counter("TcpExt.TCPMTUPSuccess").is_some_and(|count| count.boot > 0);
    let seconds = worst.info.last_data_sent.map(|ms| f64::from(ms) / 1e3);
    let now = (Source::Socket, Since::Now);
    let mut evidence = vec![figure("worst: timeouts in a row", in_a_row(worst).into(), "", now)];
    evidence.extend(worst.info.pmtu.map(|mtu| figure("worst: path MTU as believed", mtu.into(), "B", now)));
    evidence.extend(worst.info.bytes_acked.map(|acked| figure("worst: acknowledged in all", acked as f64, "B", now)));
    evidence.extend(setting.map(|on| figure("net.ipv4.tcp_mtu_probing", on as f64, "", (Source::Setting, Since::Now))));
    evidence.push(text("the worst", worst.line(), now));
    let is_off = setting == Some(0);
    Some(Finding {
        cause: HostCause::MtuBlackHole,
        namespace: look.foreign_name(),
        peer: Some(peer.address.to_string()),
        seconds,
        cost: seconds.map_or("now".to_owned(), |seconds| format!("{} so far", units::figure(seconds, "s"))),
        confidence: if probed { 0.75 } else { 0.55 },
        summary: format!(
            "full segments to {} vanish, and small ones passed: {} cannot go on",
            peer.address,
            peer.words()
        ),
        evidence,
        fix: Fix {
            who: if is_off { Who::Host } else { Who::Network },
            what: "let ICMP \"packet too big\" pass on the path; until then let this machine find the size by itself"
                .to_owned(),
            command: is_off.then(|| look.command("sysctl -w net.ipv4.tcp_mtu_probing=1")),
            verify: format!("`ss -tin {}` shows a smaller mss, and no timeouts in a row", dst(peer.address)),
        },
    })
}
