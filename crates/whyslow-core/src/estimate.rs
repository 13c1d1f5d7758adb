//! What is estimated of a connection's hosts, a file an estimate. Each says what it is known by, or
//! why it is hidden.

pub(crate) mod product;
pub(crate) mod stack;
