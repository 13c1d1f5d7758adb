//! The receiver closed its window because its application did not read, and the sender had to stop.
//!
//! ## What it is
//! Data that the receiving program has not read stays in the socket's buffer. When that is full the
//! receiver offers a window of zero bytes, and the sender must wait, probing now and then, until
//! the program reads.
//!
//! ## How it is recognised
//! ACKs with a window of 0, silence, and then a window update that starts the sender again. The
//! cost is the time for which it was closed, whatever the number of closings and the pauses around
//! it. A window of less than a segment that is not closed counts as `receive-window`.
//!
//! ## What it is confused with
//! - `receive-window`: small but never closed; the buffer is small and the reader is quick.
//! - `host-cpu`: the receiving host as a whole is too slow. One capture cannot distinguish this
//!   from a slow application.
//! - Deliberate back-pressure: a player that has buffered enough, a download that is limited on
//!   purpose.
//!
//! ## The fix
//! Nothing in the network: make the receiving program read faster (a thread of its own, larger
//! reads, less work between two reads), and look whether its disk or its CPU is the reason. A proxy
//! that stops reading passes its client's slowness on: nginx `proxy_max_temp_file_size` and
//! `proxy_buffers`, `proxy_request_buffering on` for uploads, Envoy's buffer limits.
//!
//! ## To see that it worked
//! `nstat -az TcpExtTCPToZeroWindowAdv` on the receiver no longer rises while the transfer runs.
//!
//! ## References
//! RFC 9293 section 3.8.6.1.

use super::parts::{confirm, evidence, finding, remedy};
use super::rule::{Check, Rule};
use super::rule_input::TransferView;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{
    Actor, Finding, Frame, LimitingFactor, Measure, SendingAction, SendingQuestion, SendingStatement, Unit,
};
use whyslow_core::tcp::facts::Release;

pub(super) const RULE: Rule = Rule::new(Cause::ZeroWindow, Check::Transfer(check));

fn check(view: &TransferView<'_>) -> Option<Finding> {
    let lost = view.time(LimitingFactor::ZeroWindow);
    if !view.matters(lost, 0.1) {
        return None;
    }
    let direction = view.direction();
    let statement = SendingStatement::WindowClosed { closed_s: lost, whole_s: view.duration() };
    let mut found = finding(Cause::ZeroWindow, lost, view.trust(0.9), statement);
    found.evidence.push(evidence(Measure::Closings, direction.closings as f64, Unit::Times, &frames(view)));
    found.evidence.push(evidence(Measure::ClosedTime, lost.as_secs_f64(), Unit::Seconds, &[]));
    if direction.window_probes > 0 {
        found.evidence.push(evidence(Measure::WindowProbes, direction.window_probes as f64, Unit::Segments, &[]));
    }
    found.remedies = remedy(Actor::Application, SendingAction::ReadFaster { closings: direction.closings });
    found.to_confirm = confirm(SendingQuestion::SlowReaderOrBusyHost);
    Some(found)
}

/// From the last data before the first closed window that stopped the sender, to the data that the
/// last opening released. A round's frames would end where its data does: before the silence.
fn frames(view: &TransferView<'_>) -> Vec<Frame> {
    let mut shut = view.transfer.pauses.iter().filter(|gap| gap.closed.is_some() && gap.release != Release::Timer);
    match shut.next() {
        None => view.frames_of(LimitingFactor::ZeroWindow),
        Some(first) => vec![first.frames.0, shut.next_back().unwrap_or(first).frames.1],
    }
}

#[cfg(test)]
mod tests {
    use super::super::synthetic_transfer::{SyntheticTransfer, at_ms, gap};
    use super::*;
    use whyslow_core::tcp::facts::SendPause;

    #[test]
    fn evidence_spans_the_closed_window() {
        let mut scene = SyntheticTransfer::flights(&[60_000; 4]);
        let frame = |number| Frame { file: None, number };
        let shut = |from, to, frames| SendPause {
            closed: Some((from, to - from)),
            frames,
            ..gap(from, to, Release::WindowUpdate)
        };
        scene.transfer.pauses[1] = shut(at_ms(1100), at_ms(1180), (frame(11), frame(14)));
        scene.transfer.pauses[2] = shut(at_ms(1200), at_ms(1290), (frame(17), frame(19)));
        let found = scene.findings();
        let found = found.iter().find(|one| one.cause == Cause::ZeroWindow).expect("the window was closed");
        assert_eq!(found.evidence[0].frames, [frame(11), frame(19)]);
    }
}
