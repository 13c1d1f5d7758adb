//! [`Measurement`]: a quantity, and the frames that show it.

mod kind;
mod unit;

pub use kind::Measure;
pub use unit::Unit;

use crate::types::Frame;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// A quantity, and the frames that show it.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Measurement {
    /// Frames that show it; a first and a last frame are a range.
    pub frames: Vec<Frame>,
    /// Kind of the measurement.
    pub kind: Measure,
    /// The value, in `unit`.
    pub value: f64,
    /// The unit of `value`.
    pub unit: Unit,
}
