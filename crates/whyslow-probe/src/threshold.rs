//! [`Threshold`]: what a script holds a request to.

use crate::report::figures::Figure;
use std::fmt;

/// A figure and its limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    /// The compared figure.
    pub figure: Figure,
    /// How.
    pub relation: Relation,
    /// Seconds, or bits per second.
    pub bound: f64,
    /// The condition as typed.
    pub text: String,
}

/// How a figure that passes a threshold compares with its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
}

impl Threshold {
    /// Whether a figure of this value passes it.
    pub fn is_passed(&self, value: f64) -> bool {
        match self.relation {
            Relation::Above => value > self.bound,
            Relation::AtLeast => value >= self.bound,
            Relation::Below => value < self.bound,
            Relation::AtMost => value <= self.bound,
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
