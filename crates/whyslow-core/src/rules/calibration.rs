//! How often what a rule is so sure of is right: rules weigh their evidence against each other, and
//! this is measured.
//!
//! Over transfers whose cause is known (`whyslow lab score`, and of real programs with `--real`),
//! findings were right more often than their rules say, at every level of confidence from a half
//! on. So the line below, through what was measured, is put behind the rules: a confidence that is
//! printed is the share of such findings that is right (Murphy and Winkler 1977, "Reliability of
//! subjective probability forecasts").

use super::{is_fully_modelled, is_inferred};
use crate::analysis::{CommonQuestion, Connection, Finding, Transfer};
use crate::units::Nanos;

/// What a rule says, and the share that is right; straight between them. Below a half too few were
/// ever said to know.
const MEASURED: [(f64, f64); 7] =
    [(0.0, 0.0), (0.5, 0.5), (0.6, 0.76), (0.7, 0.88), (0.8, 0.95), (0.9, 0.97), (1.0, 1.0)];

/// The share of findings of this confidence that is right, to a hundredth.
fn calibrated(confidence: f64) -> f64 {
    let confidence = confidence.clamp(0.0, 1.0);
    let after = MEASURED.iter().position(|&(said, _)| said >= confidence).unwrap_or(MEASURED.len() - 1).max(1);
    let ((from, low), (to, high)) = (MEASURED[after - 1], MEASURED[after]);
    let share = low + (confidence - from) / (to - from) * (high - low);
    (share * 100.0).round() / 100.0
}

/// Sets the confidence of each finding, once, after all other stages.
///
/// A rule's own confidence is replaced by the share that was measured, less what the model of the
/// same transfer contradicts.
pub(crate) fn calibrate(connections: &mut [Connection], over: &mut [Finding]) {
    for connection in connections {
        // What was measured is TCP's: of QUIC less shows, and the rules' own bound holds.
        let measure = if connection.quic.is_some() { |_: &mut Finding| {} } else { measure };
        connection.findings.iter_mut().for_each(measure);
        for transfer in &mut connection.transfers {
            doubt_contradicted(transfer);
            transfer.findings.iter_mut().for_each(measure);
            cap_contradicted(transfer);
        }
    }
    over.iter_mut().for_each(measure);
}

fn measure(finding: &mut Finding) {
    finding.confidence = calibrated(finding.confidence);
}

/// A transfer took this many times what the model takes with all the limits that were found: then
/// something else held it.
const CONTRADICTION_FACTOR: f64 = 2.0;
/// The share of the confidence in a cause that is left then.
const CONTRADICTED_CONFIDENCE: f64 = 0.6;

/// Lowers the confidence in causes that took most of the time and that the model plays whole, if
/// the model with them takes less than half of the time.
fn doubt_contradicted(transfer: &mut Transfer) {
    let measured = transfer.duration_s;
    let Some(model) = transfer.model_s.filter(|model| model.scale(CONTRADICTION_FACTOR) < measured) else { return };
    if transfer.model_skipped {
        return;
    }
    let is_most = |finding: &&mut Finding| finding.cost_s.0 * 2 >= measured.0 && is_fully_modelled(finding.cause);
    for finding in transfer.findings.iter_mut().filter(is_most) {
        finding.confidence = (finding.confidence * CONTRADICTED_CONFIDENCE * 100.0).round() / 100.0;
        let question = CommonQuestion::ModelTooFast { model_s: model, measured_s: measured };
        finding.to_confirm.insert(0, question.into());
    }
}

/// A model that is further from the measured time than this share of it contradicts what it was
/// built from.
const MODEL_TOLERANCE: f64 = 0.3;
/// The highest confidence that is not called certain.
const LIKELY: f64 = 0.89;

/// Lowers the confidence of findings inferred from flights and rates, if the model built from
/// the same inference does not reproduce the transfer.
fn cap_contradicted(transfer: &mut Transfer) {
    let measured = transfer.duration_s;
    let is_off = |model: &Nanos| (*model - measured).0.abs() as f64 > MODEL_TOLERANCE * measured.0 as f64;
    let Some(model) = transfer.model_s.filter(is_off) else { return };
    let is_certain = |finding: &&mut Finding| finding.confidence > LIKELY && is_inferred(finding.cause);
    for finding in transfer.findings.iter_mut().filter(is_certain) {
        finding.confidence = LIKELY;
        let question = CommonQuestion::ModelDisagrees { model_s: model, measured_s: measured };
        finding.to_confirm.insert(0, question.into());
    }
}

#[cfg(test)]
mod tests {
    use super::super::say;
    use super::*;
    use crate::analysis::{Limit, SendingStatement};
    use crate::cause::Cause;
    use crate::compare::tests::{connection, transfer};

    fn ms(millis: i64) -> Nanos {
        Nanos::from_millis(millis)
    }

    /// A transfer of this length with these causes, each at 0.9, after calibration against a model
    /// of 500 ms.
    fn against_model(duration: i64, causes: &[Cause]) -> Vec<Finding> {
        let mut transfer = transfer(100, Limit::SlowStart, &[10_000, 20_000, 40_000, 80_000, 5_000], None);
        (transfer.duration_s, transfer.model_s) = (ms(duration), Some(ms(500)));
        let found = |cause: &Cause| {
            say::finding(*cause, ms(duration), 0.9, SendingStatement::WindowClosed { closed_s: ms(1), whole_s: ms(1) })
        };
        transfer.findings = causes.iter().map(found).collect();
        let mut connections = [connection(1, 100, vec![transfer])];
        calibrate(&mut connections, &mut []);
        connections[0].transfers[0].findings.clone()
    }

    #[test]
    fn cause_with_model_half_as_long_loses_confidence() {
        let found = against_model(2_000, &[Cause::SlowStart, Cause::Loss]);
        assert!(found[0].confidence < 0.7 && !found[0].to_confirm.is_empty(), "{found:?}");
        assert_eq!(found[1].confidence, calibrated(0.9), "of losses the model plays a part only");
    }

    #[test]
    fn inferred_cause_is_certain_only_if_the_model_reproduces_the_transfer() {
        for cause in [Cause::SlowStart, Cause::SenderCap, Cause::Bandwidth, Cause::ReceiveWindow] {
            let is_certain = |duration: i64| against_model(duration, &[cause])[0].confidence >= 0.9;
            assert_eq!([300, 390, 500, 700, 750].map(is_certain), [false, true, true, true, false], "{cause}");
        }
        let found = against_model(750, &[Cause::SenderCap, Cause::ZeroWindow]);
        let question = CommonQuestion::ModelDisagrees { model_s: ms(500), measured_s: ms(750) };
        assert_eq!(found[0].to_confirm, [question.into()]);
        assert!(found[1].confidence >= 0.9 && found[1].to_confirm.is_empty(), "packets prove a closed window");
    }

    #[test]
    fn what_is_surer_stays_surer() {
        let all: Vec<f64> = (0..=100).map(|n| calibrated(f64::from(n) / 100.0)).collect();
        assert!(all.is_sorted() && all[0] == 0.0 && all[100] == 1.0);
        assert_eq!([calibrated(0.4), calibrated(0.6), calibrated(0.85)], [0.4, 0.76, 0.96]);
        assert!(MEASURED.iter().all(|(said, share)| share >= said), "nothing was right less often than was said");
    }
}
