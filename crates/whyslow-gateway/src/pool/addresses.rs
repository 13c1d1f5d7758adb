//! [`Addresses`]: a name's addresses, resolved regularly, and used evenly.

use super::error::PoolError;
use super::options::Endpoint;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A failed address comes last for this time.
const AVOIDED_FOR: Duration = Duration::from_secs(30);
/// A resolver that takes longer counts as failed.
const RESOLVE_WITHIN: Duration = Duration::from_secs(5);

/// The addresses of one endpoint.
#[derive(Debug)]
pub(crate) struct Addresses {
    host: String,
    port: u16,
    every: Duration,
    state: Arc<Mutex<State>>,
    /// Ensures that one lookup runs at a time.
    looking: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    resolved: Option<Instant>,
    known: Vec<SocketAddr>,
    connections: HashMap<SocketAddr, usize>,
    failed: HashMap<SocketAddr, Instant>,
}

/// A connection that counts for its address until it is dropped.
#[derive(Debug)]
pub(crate) struct InUse {
    state: Arc<Mutex<State>>,
    address: SocketAddr,
}

impl Drop for InUse {
    fn drop(&mut self) {
        let mut state = lock(&self.state);
        if let Some(count) = state.connections.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                state.connections.remove(&self.address);
            }
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Addresses {
    pub(crate) fn new(endpoint: &Endpoint, every: Duration) -> Self {
        let (host, port) = (endpoint.host.clone(), endpoint.port);
        Self { host, port, every, state: Arc::default(), looking: tokio::sync::Mutex::new(()) }
    }

    /// The addresses to try, in order: those with the fewest connections first, failed ones last.
    pub(crate) async fn in_order(&self) -> Result<Vec<SocketAddr>, PoolError> {
        let _one = self.looking.lock().await;
        let is_fresh = lock(&self.state).resolved.is_some_and(|at| at.elapsed() < self.every);
        if !is_fresh {
            match self.resolve().await {
                Ok(known) => {
                    let mut state = lock(&self.state);
                    state.resolved = Some(Instant::now());
                    state.failed.retain(|address, _| known.contains(address));
                    state.known = known;
                }
                // Old addresses are better than none.
                Err(error) if lock(&self.state).known.is_empty() => return Err(error),
                Err(_) => {}
            }
        }
        let mut state = lock(&self.state);
        state.failed.retain(|_, at| at.elapsed() < AVOIDED_FOR);
        let mut known = state.known.clone();
        known.sort_by_key(|address| {
            (state.failed.contains_key(address), state.connections.get(address).copied().unwrap_or(0))
        });
        Ok(known)
    }

    async fn resolve(&self) -> Result<Vec<SocketAddr>, PoolError> {
        if let Ok(address) = self.host.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(address, self.port)]);
        }
        let failed = |why: String| PoolError::Resolve { host: self.host.clone(), why };
        let looked_up = tokio::net::lookup_host((self.host.as_str(), self.port));
        let found = tokio::time::timeout(RESOLVE_WITHIN, looked_up).await;
        let found = found.map_err(|_| failed(format!("no answer in {} s", RESOLVE_WITHIN.as_secs())))?;
        let mut known = Vec::new();
        for address in found.map_err(|error| failed(error.to_string()))? {
            if !known.contains(&address) {
                known.push(address);
            }
        }
        if known.is_empty() { Err(failed("the answer has none".to_owned())) } else { Ok(known) }
    }

    /// Called when a connection to this address is open.
    pub(crate) fn connected(&self, address: SocketAddr) -> InUse {
        let mut state = lock(&self.state);
        state.failed.remove(&address);
        *state.connections.entry(address).or_default() += 1;
        InUse { state: Arc::clone(&self.state), address }
    }

    /// Called when this address accepted no connection.
    pub(crate) fn failed(&self, address: SocketAddr) {
        lock(&self.state).failed.insert(address, Instant::now());
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[tokio::test]
    async fn addresses_are_used_evenly_and_failed_ones_last() {
        let endpoint = Endpoint::parse("http://name.invalid:80").unwrap();
        let addresses = Addresses::new(&endpoint, Duration::from_secs(60));
        assert!(matches!(addresses.in_order().await, Err(PoolError::Resolve { .. })));
        let [a, b, c]: [SocketAddr; 3] =
            ["192.0.2.1:80", "192.0.2.2:80", "192.0.2.3:80"].map(|one| one.parse().unwrap());
        lock(&addresses.state).known = vec![a, b, c];
        let held = addresses.connected(a);
        addresses.failed(b);
        // Resolved addresses remain in use.
        assert_eq!(addresses.in_order().await.unwrap(), [c, a, b]);
        drop(held);
        let _other = addresses.connected(c);
        assert_eq!(addresses.in_order().await.unwrap(), [a, c, b]);
    }
}
