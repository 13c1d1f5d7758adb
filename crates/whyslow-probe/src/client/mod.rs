//! Makes requests, and keeps the time of every step.
//!
//! ```text
//!   resolve ─▶ dial ─▶ wire ─▶ TLS ─▶ watched ─▶ hyper ─▶ Exchange
//!                │       │ (when each byte came)  │ (where the answer begins)
//!                │       └ sampler: TCP_INFO every few milliseconds
//!                └ capture: the connection's own packets, from its SYN on
//! ```
//!
//! - [`Client`] holds at most one connection and makes requests on it, or on a new one each.
//! - [`Exchange`](crate::Exchange) is the result of a request: each redirect is a
//!   [`Hop`](crate::Hop) with its times, the attempted addresses, and the kernel's data.
//!
//! Times are taken in this process, from the moment that the kernel hands bytes over: on a busy
//! machine they are later than the packets by as much as the process waits for a processor.
//! `TCP_INFO` and the capture are Linux'; elsewhere a request has its times alone.

pub(crate) mod body;
mod connection;
pub(crate) mod dial;
pub(crate) mod exchange;
pub(crate) mod failure;
mod http_client;
mod instrumented_stream;
pub(crate) mod options;
pub(crate) mod proxy;
pub(crate) mod request;
pub(crate) mod resolve;
mod response_detector;
pub(crate) mod sampler;
pub(crate) mod target;
mod timed_socket;
mod tls;

pub use http_client::Client;
