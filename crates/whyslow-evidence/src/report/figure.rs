//! [`Figure`]: a quantity of an output.

use serde::Serialize;
use whyslow_core::analysis::Unit;

/// A quantity under the name that the tool gives it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// As `rwnd_limited`, `TcpExt.ListenOverflows`, `time_connect`.
    pub name: String,
    /// In `unit`.
    pub value: f64,
    /// The unit of `value`.
    pub unit: Unit,
}

impl Figure {
    pub(crate) fn new(name: impl Into<String>, value: f64, unit: Unit) -> Self {
        Self { name: name.into(), value, unit }
    }
}
