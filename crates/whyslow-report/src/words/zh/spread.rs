//! The cost of a cause that several connections share.

use crate::words::quantity::time;
use whyslow_analysis::SpreadCost;

/// Elapsed time, and the sum where it differs.
pub(super) fn spread(cost: SpreadCost) -> String {
    let SpreadCost { elapsed_s, summed_s } = cost;
    if elapsed_s < summed_s {
        format!("耗时 {}（各连接合计 {}）", time(elapsed_s), time(summed_s))
    } else {
        format!("共耗时 {}", time(summed_s))
    }
}
