//! `together`: effects of connections on each other.
//!
//! Bottlenecks that they share (`bottleneck`, `joint`), queues in which they stand (`queue`), waits
//! for one another (`waiting`), and causes that most connections of a server or path have in common
//! (`common`). All of it is read from connections as they are: the effect on each connection's
//! findings is an [`Influence`], which `conclude` applies.

mod bottleneck;
mod common;
mod flows;
mod influence;
mod joint;
mod queue;
#[cfg(test)]
pub(crate) mod synthetic_transfer;
mod waiting;

pub(crate) use common::check as check_common;
pub use flows::LargestFlows;
#[cfg(test)]
pub(crate) use flows::{Flow, MAX_FLOWS};
pub(crate) use influence::{Influence, SharedLink, Together};

use whyslow_analysis::Connection;

/// Finds the effects of concurrent connections on each other.
pub(crate) fn find(flows: &LargestFlows, connections: &[Connection]) -> Together {
    let mut together = Together::default();
    for mut shared in bottleneck::find(flows.iter()) {
        shared.let_go = flows.let_go();
        joint::find(&shared, connections, &mut together);
    }
    queue::find(flows, connections, &mut together);
    waiting::find(connections, &mut together);
    together
}
