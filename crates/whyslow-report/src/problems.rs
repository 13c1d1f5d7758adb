//! Which problems of a capture bear on its verdict.

use whyslow_analysis::{PARTIAL, Problem};

/// The slug of the note that connections were left out on request: no fault of the capture.
pub const SELECTION: &str = "selection";

/// Slugs of problems that change no verdict: what they take away was not needed, or was made up
/// for.
const MINOR: &[&str] = &[
    "bad-checksum",
    "bad-checksums",
    "duplicate-frames",
    "ecn-marks",
    "icmp-unmatched",
    "ip-fragment",
    "malformed-options",
    "malformed-packet",
    "not-compared",
    "offload",
    "quic",
    "short-snaplen",
    "terse-text",
];

/// Whether a problem changes no verdict.
pub(crate) fn is_minor(problem: &Problem) -> bool {
    MINOR.contains(&problem.slug.as_str())
}

/// Whether a problem bears on the verdict.
pub(crate) fn is_grave(problem: &Problem) -> bool {
    problem.slug != PARTIAL && problem.slug != SELECTION && !is_minor(problem)
}
