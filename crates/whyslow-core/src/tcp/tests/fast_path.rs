//! The fast paths give the same results as the general code.

use super::*;

mod plain_segments;
mod repeated_acks;
mod short_gaps;
