//! Effects of other connections on a transfer, from the flows to its findings.

mod other_work;
mod queue;
mod shared_link;

use super::{Across, together};
use crate::together::LargestFlows;
use whyslow_analysis::Connection;

/// Concludes connections that are known by their entries alone.
fn conclude(flows: &LargestFlows, connections: &mut [Connection]) -> Across {
    together(flows, &[], connections)
}
