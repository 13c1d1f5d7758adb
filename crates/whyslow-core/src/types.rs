//! Types that several stages share.

mod side;

pub use side::Side;
