//! [`Allowed`]: what reaches further than captures.

/// The tools that look at more than captures. Both are off unless they are turned on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    /// `host`: the state of this machine.
    pub host: bool,
    /// `probe`: requests to others.
    pub probe: bool,
}
