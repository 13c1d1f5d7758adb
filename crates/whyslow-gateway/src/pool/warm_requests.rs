//! [`WarmRequests`]: requests that a pool may send by itself.

use super::body::Body;
use async_trait::async_trait;
use http::Request;
use std::fmt::Debug;

/// Requests whose only purpose is the connection.
#[async_trait]
pub trait WarmRequests: Send + Sync + Debug {
    /// A small request that changes nothing.
    async fn heartbeat(&self) -> Option<Request<()>>;

    /// A request with a body of this many bytes that leaves nothing behind.
    async fn burst(&self, bytes: u64) -> Option<(Request<()>, Body)>;

    /// Called when the server refused a burst.
    async fn burst_refused(&self);
}
