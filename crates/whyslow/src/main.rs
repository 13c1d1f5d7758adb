//! The binary: arguments, settings, calls.
fn main() {}
