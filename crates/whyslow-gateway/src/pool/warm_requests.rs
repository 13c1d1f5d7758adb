//! [`WarmRequests`]: what a pool may send of its own accord.

use super::body::Body;
use async_trait::async_trait;
use http::Request;
use std::fmt::Debug;

/// Requests that are made for the sake of connections alone.
#[async_trait]
pub trait WarmRequests: Send + Sync + Debug {
    /// A small one that changes nothing.
    async fn heartbeat(&self) -> Option<Request<()>>;

    /// A request with a body of this many bytes that leaves nothing behind.
    async fn burst(&self, bytes: u64) -> Option<(Request<()>, Body)>;

    /// The server did not take a burst.
    async fn burst_refused(&self);
}
