//! What sources share.

use crate::intake::Intake;
use std::time::Duration;
use whyslow_analysis::Problem;
use whyslow_core::capture::{CaptureError, Reader};

/// How long to wait for packets.
pub(super) const WAIT: Duration = Duration::from_millis(100);

/// The result of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    /// There may be more at once.
    More,
    /// Nothing more for now.
    Nothing,
    /// There will be no more.
    End,
}

/// Ends a capture: returns its problems.
///
/// # Errors
/// When it was none.
pub(super) fn summarize(reader: Reader, intake: &mut Intake) -> Result<(), CaptureError> {
    let summary = reader.finish(intake)?;
    intake.add_problems(
        summary.problems.iter().map(|problem| Problem::new(&problem.slug, problem.count, problem.detail.clone())),
    );
    Ok(())
}
