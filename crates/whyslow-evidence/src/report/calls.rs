//! [`CallStatement`]: where a process waited, by its system calls.

use serde::Serialize;

/// Where a process waited, by its system calls.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum CallStatement {
    /// The process waited in calls of one kind.
    Waited {
        /// For what.
        call: Call,
        /// The peer, the file or the descriptor; empty for several.
        on: String,
        /// For how long.
        took_s: f64,
        /// Of the time that the trace covers.
        whole_s: f64,
        /// Calls.
        calls: f64,
        /// The longest one.
        longest_s: f64,
    },
}

/// What a process waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Call {
    /// Data of the peer.
    Receive,
    /// Room in the send buffer.
    Send,
    /// A connection.
    Connect,
    /// A file.
    Disk,
    /// A timer.
    Sleep,
    /// A lock, or another thread.
    Lock,
}
