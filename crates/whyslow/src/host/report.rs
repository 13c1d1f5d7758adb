//! [`HostReport`]: a machine and its findings.

use super::finding::Finding;
use serde::Serialize;
use std::collections::BTreeMap;
use whyslow_live::host::Host;

/// A machine as it was judged.
#[derive(Debug)]
pub(super) struct HostReport {
    pub host: Host,
    pub findings: Vec<Finding>,
    /// Seconds since the look before, where there was one.
    pub over: Option<f64>,
    /// Counters of the first namespace that rose since then.
    pub changed: BTreeMap<String, Change>,
    /// Whether only some connections were asked for.
    pub is_part: bool,
}

/// How much a counter rose.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Change {
    pub count: u64,
    pub per_s: f64,
}
