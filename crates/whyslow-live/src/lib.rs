//! Ask a server for something, and keep the time of every step; or look at what this machine knows
//! of its own connections; or take packets from it as they come.
//!
//! ```text
//!   resolve ─▶ dial ─▶ wire ─▶ TLS ─▶ watched ─▶ hyper ─▶ Exchange
//!                │       │ (when each byte came)  │ (where the answer begins)
//!                │       └ sampler: TCP_INFO every few milliseconds
//!                └ capture: the connection's own packets, from its SYN on
//! ```
//!
//! - [`Client`] holds at most one connection and makes requests on it, or on a new one each.
//! - [`Exchange`] is the result of a request: each redirect is a [`Hop`] with its times, the
//!   attempted addresses, and the kernel's data on the connection.
//! - [`capture`] records packets as pcapng, which is explained as any capture.
//! - [`host`] reads sockets, remembered metrics, settings and counters, and changes nothing.
//! - [`watch`] takes the packets of others, and keeps the last ones of every connection.
//!
//! Times are taken in this process, from the moment that the kernel hands bytes over: on a busy
//! machine they are later than the packets by as much as the process waits for a processor.
//! `TCP_INFO`, the capture, `host` and the ring of `watch` are Linux'; elsewhere a request has its
//! times alone.

mod body;
#[cfg(target_os = "linux")]
mod bpf;
pub mod capture;
mod client;
mod connection;
mod dial;
mod exchange;
mod failure;
#[cfg(target_os = "linux")]
pub mod host;
mod instrumented_stream;
mod options;
#[cfg(target_os = "linux")]
pub mod pacing;
mod pcapng;
mod proxy;
mod request;
mod resolve;
mod response_detector;
mod sampler;
#[cfg(target_os = "linux")]
mod sys;
mod target;
pub mod tcp_info;
mod timed_socket;
mod tls;
pub mod watch;

pub use body::{Form, Upload};
pub use client::Client;
pub use dial::{Attempt, Outcome};
pub use exchange::{Exchange, FirstRecord, Hop, Times, Tls};
pub use failure::{Failure, Phase};
pub use options::Options;
pub use proxy::Proxies;
pub use request::Ask;
pub use resolve::{Family, Pinned, Reroute};
pub use sampler::Sample;
pub use target::Target;
