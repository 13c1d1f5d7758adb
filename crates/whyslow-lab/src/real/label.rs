//! What must be said of a scenario's captures.

use crate::net::config::Host;

/// What a scenario is, and what must be said of it.
#[derive(Clone, Debug)]
pub struct Label {
    /// Causes that may cost most; the first one is what was meant, the others say the same of it in
    /// other words. `none`: nothing is wrong.
    pub right: &'static [&'static str],
    /// Causes that the configuration rules out, beside the right one too.
    pub never: &'static [&'static str],
    /// Why.
    pub why: &'static str,
    /// The first of them is right when it is said at all, since it costs little or no time.
    pub enough: bool,
    /// Ends whose captures have never seen it.
    pub unseen: &'static [Host],
}
