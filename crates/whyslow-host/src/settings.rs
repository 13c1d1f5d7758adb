//! [`Settings`]: what to look at.

use whyslow_live::host::{Namespaces, Options, Prefix};

/// Which namespaces to read, and which of their connections to judge.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The network namespaces.
    pub namespaces: Namespaces,
    /// Only connections with these peers.
    pub peer: Option<Prefix>,
    /// Only connections of this process.
    pub process: Option<Process>,
}

/// A process, by number or by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Process {
    /// Its number.
    Number(u32),
    /// Its name (`comm`).
    Name(String),
}

impl Settings {
    pub(crate) fn options(&self) -> Options {
        Options { namespaces: self.namespaces.clone(), peer: self.peer, ..Options::default() }
    }

    /// Whether commands are pasted in the first namespace of a look.
    pub(crate) fn begins_with_own(&self) -> bool {
        matches!(self.namespaces, Namespaces::Own | Namespaces::All)
    }

    /// Whether figures of the whole machine are left out.
    pub fn is_part(&self) -> bool {
        self.peer.is_some() || self.process.is_some()
    }
}
