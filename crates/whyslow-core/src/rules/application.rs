//! The sending program had nothing to send.
//!
//! ## What it is
//! TCP can only send what it is given. A program that reads a slow disk, computes, waits for another service or writes in
//! small pieces leaves the connection idle though every window has room.
//!
//! ## How it is recognised
//! Pauses that nothing in the capture ended: no ACK, no window update, no timer. Before them the sender's buffer had run
//! empty: everything was acknowledged, or the last segment was shorter than the MSS.
//!
//! ## What it is confused with
//! - `receive-window`, `sender-cap`: the pause ends with an ACK.
//! - `host-cpu`: the host was too busy to send; no short segment before the pause. A capture cannot prove it.
//! - `pacing`: even spacing by a rate limit.
//!
//! ## The fix
//! Look at the sending program: read ahead, write larger pieces, do the slow part in parallel with the sending. A proxy that sends
//! what it gets from elsewhere waits for its own upstream: nginx `proxy_buffers`, `proxy_buffering on`, `output_buffers` and `aio threads` for
//! slow disks; HAProxy `tune.bufsize`; Envoy `per_connection_buffer_limit_bytes`. A client that uploads: read the file ahead of the socket.
//!
//! ## References
//! Araujo et al. 2016, "A longitudinal analysis of Internet rate limitations"; RFC 7661.

use super::say::{count, evidence, finding, fix, time};
use super::{Check, Rule, TransferCase};
use crate::analysis::{Actor, Finding, Limit};
use crate::tcp::facts::Release;
use crate::units::Nanos;

pub(super) const RULE: Rule =
    Rule { slug: "application", source: include_str!("application.rs"), check: Check::Transfer(check) };

fn check(case: &TransferCase<'_>) -> Option<Finding> {
    let lost = case.time(Limit::Application);
    if !case.matters(lost, 0.15) {
        return None;
    }
    let pauses = case.transfer.gaps.iter().filter(|gap| gap.release == Release::Nothing && (gap.ran_dry || gap.idle));
    let longest = pauses.clone().max_by_key(|gap| gap.end - gap.start)?;
    let number = pauses.clone().count() as u64;
    let summary = format!(
        "the sending program had nothing to send for {} of {}, in {}",
        time(lost),
        time(case.duration()),
        count(number, "pause"),
    );
    let confidence = if case.share(lost) >= 0.5 { 0.9 } else { 0.7 };
    let mut found = finding("application", lost, case.trust(confidence), summary);
    let length: Nanos = longest.end - longest.start;
    let frames = [longest.frames.0, longest.frames.1];
    found.evidence.push(evidence("pauses", number as f64, "pauses", &[]));
    found.evidence.push(evidence("longest pause", length.as_secs_f64(), "s", &frames));
    found.evidence.push(evidence("last segment before it", longest.before_len as f64, "B", &frames[..1]));
    found.fix = fix(
        Actor::Application,
        "look at the program that sends: read ahead, write larger pieces, and do not wait for others between writes",
        None,
    );
    Some(found)
}
