//! How captures are explained.

use std::num::NonZero;
use std::thread;

/// How captures are explained.
#[derive(Clone, Copy, Debug)]
pub struct ExplainOptions {
    /// On so many threads; what comes out does not depend on how many there are.
    pub threads: NonZero<usize>,
    /// What the path carries, payload bits per second, where somebody says so.
    pub path_rate: Option<f64>,
}

impl Default for ExplainOptions {
    /// On a thread for each processor, with what the captures show of the path.
    fn default() -> Self {
        Self { threads: thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN), path_rate: None }
    }
}
