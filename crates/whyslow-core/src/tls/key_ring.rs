//! [`KeyRing`]: all secrets available to an analysis, from a key log and from captures.

use super::key_log::{KeyLog, MAX_CONNECTIONS, Random, Secrets};
use hashbrown::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use whyslow_analysis::types::Frame;

/// The secrets available to an analysis. Clones share them.
///
/// Secrets in a capture are valid only after their position in it, so that the result does not
/// depend on the number of threads that read the packets.
#[derive(Clone, Default)]
pub struct KeyRing(Arc<Shared>);

#[derive(Default)]
struct Shared {
    log: Arc<KeyLog>,
    captured: RwLock<Captured>,
}

/// Secrets, with the position after which they are valid.
type Captured = HashMap<Random, Vec<(Frame, Secrets)>, foldhash::fast::FixedState>;

/// Maximum number of blocks that name one connection: a program that logs each secret separately
/// writes five.
const MAX_BLOCKS: usize = 8;

impl std::fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeyRing")
    }
}

impl From<Arc<KeyLog>> for KeyRing {
    fn from(log: Arc<KeyLog>) -> Self {
        Self(Arc::new(Shared { log, captured: RwLock::default() }))
    }
}

impl KeyRing {
    /// Adds the secrets of a block that precedes this position in a capture.
    pub fn read_block(&self, text: &[u8], place: Frame) {
        let mut captured = self.0.captured.write().unwrap_or_else(PoisonError::into_inner);
        for (random, secrets) in KeyLog::new(text).into_connections() {
            let is_full = captured.len() >= MAX_CONNECTIONS && !captured.contains_key(&random);
            if is_full {
                continue;
            }
            let blocks = captured.entry(random).or_default();
            // Each thread that reads the capture calls this with the same block.
            let is_known = blocks.contains(&(place, secrets));
            if !is_known && blocks.len() < MAX_BLOCKS {
                blocks.push((place, secrets));
            }
        }
    }

    /// Whether captures contain secrets: then those of a connection may still follow.
    pub(super) fn may_grow(&self) -> bool {
        !self.0.captured.read().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// The secrets of a connection that are known at this position.
    pub(super) fn find(&self, random: &Random, place: Frame) -> Option<Secrets> {
        let logged = self.0.log.find(random).copied();
        let captured = self.0.captured.read().unwrap_or_else(PoisonError::into_inner);
        let blocks = captured.get(random).into_iter().flatten().filter(|(from, _)| *from <= place);
        blocks.fold(logged, |found, (_, secrets)| {
            let mut all = found.unwrap_or_default();
            all.add(secrets);
            Some(all)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_valid_after_their_block() {
        let ring = KeyRing::default();
        let text = format!("CLIENT_RANDOM {} {}", "ab".repeat(32), "cd".repeat(48));
        let place = |number| Frame { file: Some(0), number };
        ring.read_block(text.as_bytes(), place(9));
        ring.read_block(text.as_bytes(), place(9));
        assert!(ring.find(&[0xab; 32], place(8)).is_none());
        assert!(ring.find(&[0xab; 32], place(9)).is_some());
        assert!(ring.find(&[0xab; 32], Frame { file: Some(1), number: 1 }).is_some());
    }
}
