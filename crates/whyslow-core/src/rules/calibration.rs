//! How often what a rule is so sure of is right: rules weigh their evidence against each other, and
//! this is measured.
//!
//! Over transfers whose cause is known (`whyslow lab score`, and of real programs with `--real`),
//! findings were right more often than their rules say, at every level of confidence from a half
//! on. So the line below, through what was measured, is put behind the rules: a confidence that is
//! printed is the share of such findings that is right (Murphy and Winkler 1977, "Reliability of
//! subjective probability forecasts").

use crate::analysis::{Connection, Finding};

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

/// Puts what was measured in place of what rules say; once, when nothing weighs confidences any
/// more.
pub(crate) fn calibrate(connections: &mut [Connection], over: &mut [Finding]) {
    for connection in connections {
        connection.findings.iter_mut().for_each(measure);
        connection.transfers.iter_mut().flat_map(|transfer| &mut transfer.findings).for_each(measure);
    }
    over.iter_mut().for_each(measure);
}

fn measure(finding: &mut Finding) {
    finding.confidence = calibrated(finding.confidence);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_surer_stays_surer() {
        let all: Vec<f64> = (0..=100).map(|n| calibrated(f64::from(n) / 100.0)).collect();
        assert!(all.is_sorted() && all[0] == 0.0 && all[100] == 1.0);
        assert_eq!([calibrated(0.4), calibrated(0.6), calibrated(0.85)], [0.4, 0.76, 0.96]);
        assert!(MEASURED.iter().all(|(said, share)| share >= said), "nothing was right less often than was said");
    }
}
