//! [`Runner`]: the thread that looks after connections, for callers that wait.

use std::future::Future;
use std::io;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::AbortHandle;

/// A runtime with one thread, so that bytes keep coming while the caller works on others.
#[derive(Debug)]
pub(crate) struct Runner {
    handle: Handle,
    /// There until this is dropped.
    runtime: Option<Runtime>,
}

impl Runner {
    /// # Errors
    /// When the system refuses a thread.
    pub(crate) fn start() -> io::Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(1).thread_name("remote").enable_all().build()?;
        Ok(Self { handle: runtime.handle().clone(), runtime: Some(runtime) })
    }

    /// Waits for this on the caller's thread.
    pub(crate) fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.handle.block_on(future)
    }

    /// Starts this on the runner's thread.
    pub(crate) fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        self.handle.spawn(future).abort_handle()
    }
}

impl Drop for Runner {
    /// A look-up of a name that hangs is not waited for.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
