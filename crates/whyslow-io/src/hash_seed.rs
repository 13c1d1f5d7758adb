//! The process's seed of the tables of connections: a capture cannot be made so that its
//! connections all fall to the same place of a table.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;
use whyslow_diagnosis::explain::HashSeed;

static SEED: OnceLock<HashSeed> = OnceLock::new();

/// Returns the seed: the one that was [set](set_hash_seed), else a random number.
pub fn hash_seed() -> HashSeed {
    *SEED.get_or_init(|| HashSeed::new(RandomState::new().hash_one("whyslow")))
}

/// Sets the seed to a random number, where the standard library has none: in a browser. Without
/// effect after the first capture.
pub fn set_hash_seed(number: u64) {
    let _ = SEED.set(HashSeed::new(number));
}
