//! Short ways give what the general ways give.

use super::*;

mod plain_segments;
mod repeated_acks;
mod short_gaps;
