//! The labels: the required explanation of a scenario's captures.

use crate::net::config::Host;

/// A scenario's meaning, and the right explanation.
#[derive(Clone, Debug)]
pub struct Label {
    /// Causes that may cost most; the first is the intended one, the others describe the same.
    /// `none`: nothing is wrong.
    pub right: &'static [&'static str],
    /// Causes that the configuration rules out, even in addition to the right one.
    pub never: &'static [&'static str],
    /// Why.
    pub why: &'static str,
    /// The first cause need only be reported, since it costs little or no time.
    pub enough: bool,
    /// Ends whose captures cannot show it.
    pub unseen: &'static [Host],
}
