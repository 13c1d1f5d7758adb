//! How captures are explained.

use std::num::NonZero;
use std::sync::Arc;
use std::thread;
use whyslow_core::tls::KeyLog;

/// How captures are explained.
#[derive(Clone, Debug)]
pub struct ExplainOptions {
    /// The number of threads. It does not affect the result.
    pub threads: NonZero<usize>,
    /// The path's capacity, payload bits per second, if the user knows it.
    pub path_rate: Option<f64>,
    /// Secrets of TLS connections, in addition to those in the captures themselves.
    pub keys: Option<Arc<KeyLog>>,
    /// Messages of protocols above TCP are read in clear: their requests have names. Condensed
    /// captures do not hold them, and give the same analysis without.
    pub messages: bool,
}

impl Default for ExplainOptions {
    /// One thread for each processor; the path's capacity is taken from the captures.
    fn default() -> Self {
        let threads = thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        Self { threads, path_rate: None, keys: None, messages: true }
    }
}
