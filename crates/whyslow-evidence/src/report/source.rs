//! [`Source`]: the tool that printed an output.

use serde::Serialize;

/// A tool whose output is read, by its public name. Each module of an input defines its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Source(&'static str);

impl Source {
    /// A tool with this public name: a slug.
    pub(crate) const fn new(slug: &'static str) -> Self {
        Self(slug)
    }

    /// Its public name.
    pub fn slug(self) -> &'static str {
        self.0
    }
}
