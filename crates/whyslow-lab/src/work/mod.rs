//! The programs at the two ends: small, blocking, one connection at a time.
//!
//! Both ends get the same [`Work`](crate::scenario::work::Work), so they need no protocol to agree
//! on how much to send. Each runs as a process of its own inside its host's namespace (see
//! [`crate::agent`]).

pub mod credit;
pub mod metrics;
pub mod one;
pub mod proxy;
pub mod script;
pub mod socket;
pub mod stream;
pub mod transfers;
pub mod turns;

use crate::sample::{Accuracy, Series, now};
use serde::{Deserialize, Serialize};
use std::io;
use std::time::Duration;

/// The application's record of one transfer, upload or turn. Times are nanoseconds since the Unix
/// epoch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// Index of the connection that carried the transfer.
    pub connection: usize,
    /// The connect call, if the connection was made for this transfer; else the request.
    pub start: u64,
    /// The first byte of the request was handed to the socket.
    pub request: u64,
    /// The first byte of the answer was read.
    pub first_byte: u64,
    /// The last byte of the answer was read.
    pub end: u64,
    /// Payload, in the direction that the workload is about.
    pub bytes: u64,
}

/// The application's record of one connection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// The connect call was made (the accept call returned).
    pub start: u64,
    /// Time when `connect` returned.
    pub connected: u64,
    /// TLS was ready; absent without TLS.
    pub secured: Option<u64>,
    /// SO_RCVBUF as the kernel has it after the socket was set up.
    pub rcvbuf: u64,
    /// SO_SNDBUF likewise.
    pub sndbuf: u64,
    /// Congestion control in force.
    pub congestion: String,
    /// TCP_NODELAY in force.
    pub nodelay: bool,
}

/// The complete report of one end.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// Connections in order.
    pub connections: Vec<Opened>,
    /// Transfers in order.
    pub transfers: Vec<Transfer>,
    /// The kernel's account of each connection.
    pub sockets: Vec<Series>,
    /// How regular the readings were.
    pub sampling: Accuracy,
    /// User and system time of the program, microseconds.
    pub cpu_us: u64,
    /// Time in which the program was ready to run and had no processor, microseconds.
    #[serde(default)]
    pub waited_us: u64,
}

/// Sleeps until a moment of the wall clock; one that has passed does not wait.
fn sleep_until(ns: u64) {
    let left = ns.saturating_sub(now());
    if left > 0 {
        std::thread::sleep(Duration::from_nanos(left));
    }
}

/// An error with its operation.
fn during(what: &str) -> impl Fn(io::Error) -> io::Error + '_ {
    move |e| io::Error::new(e.kind(), format!("{what}: {e}"))
}

#[cfg(test)]
mod tests;
