//! The network delivered packets twice.
//!
//! ## What it is
//! A switch with a loop or a flooding bond, two VPN paths, or a link layer that repeats a frame
//! whose acknowledgement it missed delivers the same packet twice. TCP discards the copy. The cost
//! is the link's capacity, and on some senders a window reduced for a loss that did not happen.
//!
//! ## How it is recognised
//! The receiver reports bytes that it had already (D-SACK, RFC 2883), though the sender sent them
//! once. Next to the receiver both copies are in the capture, alike to the IP number and the
//! timestamp. A probe of a closed window and a keep-alive give D-SACKs too, and do not count.
//!
//! ## What it is confused with
//! - a capture that has every packet twice (a mirror port for both directions of a link, several
//!   interfaces): the receiver reports no duplicates, and the capture has the problem
//!   `duplicate-frames`.
//! - `spurious-retransmission`: the sender sent the copy, with a new IP number.
//!
//! ## The fix
//! Look for a loop or a bond in broadcast mode (`cat /proc/net/bonding/*`: mode 3), a tunnel over
//! two paths, flooding of unknown addresses (MAC tables that time out before ARP does). A capture
//! on each hop shows where the second copy begins.
//!
//! ## To see that it worked
//! `nstat -az TcpExtTCPDSACKRecv` on the sender no longer rises while the transfer runs.
//!
//! ## References
//! RFC 2883, RFC 3708 (using D-SACKs to detect duplication), RFC 5560 (a metric for it).

use super::parts::{confirm, evidence, finding, remedy};
use super::rule::{Check, Rule};
use super::rule_input::ConnectionView;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::types::Side;
use whyslow_analysis::{Actor, Finding, LossAction, LossQuestion, LossStatement, Measure, Unit};
use whyslow_units::Nanos;

pub(super) const RULE: Rule = Rule::new(Cause::Duplication, Check::Connection(check));

/// Minimum number of duplicates, and …
const MIN: u64 = 3;
/// … least duplicates as a share of the segments: single duplicates cost nothing. Half and twice
/// change none of 2,061 captures.
const SHARE: f64 = 0.002;

fn check(view: &ConnectionView<'_>) -> Option<Finding> {
    let facts = view.facts;
    // An unseen segment may have been retransmitted unseen.
    if facts.capture_defects.unseen_bytes > 0 || facts.capture_defects.one_direction {
        return None;
    }
    let real = |side: Side| {
        let direction = &facts.directions[side];
        direction.duplicated.saturating_sub(direction.keep_alives + direction.window_probes)
    };
    let sender = if real(Side::A) >= real(Side::B) { Side::A } else { Side::B };
    let (direction, copies) = (&facts.directions[sender], real(sender));
    let share = copies as f64 / direction.packets.max(1) as f64;
    if copies < MIN || share < SHARE {
        return None;
    }
    // Time that the copies took at the rate at which bytes arrived.
    let rates = view.transfers[sender].iter().map(|(transfer, _)| transfer.acked_rate.p90);
    let rate = rates.fold(0.0, f64::max);
    let seconds = if rate > 0.0 { copies as f64 * direction.mss as f64 * 8.0 / rate } else { 0.0 };
    let lost = Nanos::from_secs_f64(seconds);
    let statement = LossStatement::DeliveredTwice { packets: copies, share, cost_s: lost };
    let mut found = finding(Cause::Duplication, lost, view.trust(0.8), statement);
    found.evidence.push(evidence(Measure::DsacksForSentOnce, copies as f64, Unit::Segments, &[]));
    let twice = facts.capture_defects.duplicate_frames;
    if twice > 0 {
        found.evidence.push(evidence(Measure::PacketsCapturedTwice, twice as f64, Unit::Packets, &[]));
    }
    found.remedies = remedy(Actor::Network, LossAction::FindDuplication);
    found.to_confirm = confirm(LossQuestion::DuplicationPlace);
    Some(found)
}
