//! [`Judged`]: a machine and what was found on it.

use super::finding::Finding;
use whyslow_live::host::Host;

/// A machine as it was judged.
#[derive(Debug)]
pub(super) struct Judged {
    pub host: Host,
    pub findings: Vec<Finding>,
    /// Seconds since the look before, where there was one.
    pub over: Option<f64>,
    /// Whether only some connections were asked for.
    pub is_part: bool,
}
