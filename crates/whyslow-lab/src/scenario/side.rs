//! [`Side`]: one of the two ends.

use serde::{Deserialize, Serialize};

/// One of the two ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The end that connects.
    #[default]
    Client,
    /// The end that listens.
    Server,
}
