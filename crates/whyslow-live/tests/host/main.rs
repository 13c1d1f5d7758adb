//! The data read from this machine is right, and agrees with `ss`, `ip`, `nstat` and `ethtool`.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod kernel;
mod lab;
mod many;
mod owners;
mod places;
mod sockets;
