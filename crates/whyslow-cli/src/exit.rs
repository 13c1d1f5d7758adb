//! Exit codes other than success.

/// The input was read, and a cause that was asked for with `--fail-on` was found in it.
pub const FOUND: u8 = 1;
/// Some of several inputs could not be read; the others were.
pub const IN_PART: u8 = 1;

pub use whyslow_output::exit::FAILED;
