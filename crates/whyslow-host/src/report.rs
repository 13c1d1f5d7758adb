//! [`HostReport`]: a machine and its findings.

use crate::finding::Finding;
use serde::Serialize;
use std::collections::BTreeMap;
use whyslow_live::host::Host;

/// A machine as it was judged.
#[derive(Debug)]
pub struct HostReport {
    /// The data of the machine.
    pub host: Host,
    /// The findings, the worst first.
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
pub struct Change {
    /// The increase.
    pub count: u64,
    /// A second, on average.
    pub per_s: f64,
}
