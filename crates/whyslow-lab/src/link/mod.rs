//! The link emulator: what one direction of a link does to packets, in pure virtual time.

pub mod config;
