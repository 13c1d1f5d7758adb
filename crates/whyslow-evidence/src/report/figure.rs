//! [`Figure`]: a quantity of an output.

use super::host::{Origin, Place, Since};
use serde::Serialize;
use whyslow_analysis::Unit;

/// A quantity under the name that the tool gives it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// As `rwnd_limited`, `TcpExt.ListenOverflows`, `time_connect`.
    pub name: String,
    /// In `unit`.
    pub value: f64,
    /// The unit of `value`.
    pub unit: Unit,
    /// A socket's line, a route or a kernel's release, which has no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its source, if the tool's name does not imply it.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub from: Option<Origin>,
}

impl Figure {
    pub(crate) fn new(name: impl Into<String>, value: f64, unit: Unit) -> Self {
        Self { name: name.into(), value, unit, text: None, from: None }
    }

    /// A figure of a machine.
    pub fn of_host(name: impl Into<String>, value: f64, unit: Unit, (source, since): (Place, Since)) -> Self {
        Self { from: Some(Origin { source, since }), ..Self::new(name, value, unit) }
    }

    /// A text of a machine.
    pub fn text_of_host(name: impl Into<String>, text: impl Into<String>, from: (Place, Since)) -> Self {
        Self { text: Some(text.into()), ..Self::of_host(name, 0.0, Unit::One, from) }
    }
}
