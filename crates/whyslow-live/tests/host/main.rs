//! What is read of this machine is what is there, and what `ss`, `ip`, `nstat` and `ethtool` show.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod kernel;
mod lab;
mod many;
mod owners;
mod places;
mod sockets;
