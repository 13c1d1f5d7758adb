//! Looks at what this machine knows of its own connections, and takes packets from it as they come.
//!
//! - [`capture`] records packets as pcapng, which is explained as any capture.
//! - [`host`] reads sockets, remembered metrics, settings and counters, and changes nothing.
//! - [`tcp_info`] is the kernel's account of a connection (`whyslow-tcpinfo`).
//! - [`watch`] takes the packets of others, and keeps the last ones of every connection.
//!
//! All of it is Linux'; elsewhere there is nothing to see.

#[cfg(target_os = "linux")]
mod bpf;
pub mod capture;
#[cfg(target_os = "linux")]
pub mod host;
mod pcapng;
#[cfg(target_os = "linux")]
mod sys;
pub mod watch;

pub use whyslow_tcpinfo::tcp_info;
