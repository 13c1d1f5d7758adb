//! [`NameLookup`]: the lookup of a name that a connection waited for.

use super::Frame;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use whyslow_units::Nanos;

/// The lookup (DNS) whose response named the server's address to the client shortly before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct NameLookup {
    /// The name.
    pub name: String,
    /// The name server that answered last.
    pub server: String,
    /// The name server that was asked first, if it did not answer and another did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silent_server: Option<String>,
    /// The first query.
    pub start_s: Nanos,
    /// Time from there to the last response before the connection.
    pub duration_s: Nanos,
    /// Number of queries, of all types.
    pub queries: u64,
    /// Queries that were sent again because no response came.
    pub unanswered: u64,
    /// Names with a search domain that were tried before, and failed.
    pub searched: u64,
    /// Frames of the first query and of the last response.
    pub frames: [Frame; 2],
}
