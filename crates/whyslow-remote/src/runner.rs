//! [`Runner`]: the thread that looks after connections, for callers that wait.

use std::future::Future;
use std::io;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::AbortHandle;

/// A runtime with one thread, so that bytes keep coming while the caller works on others.
#[derive(Debug)]
pub(crate) struct Runner {
    handle: Handle,
    /// The process that has the thread: one that was forked off it has not.
    process: u32,
    /// There until this is dropped.
    runtime: Option<Runtime>,
}

impl Runner {
    /// # Errors
    /// When the system refuses a thread.
    pub(crate) fn start() -> io::Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(1).thread_name("remote").enable_all().build()?;
        Ok(Self { handle: runtime.handle().clone(), process: std::process::id(), runtime: Some(runtime) })
    }

    /// Checks that the thread is there.
    ///
    /// # Errors
    /// In a process that was forked off the one that started it.
    pub(crate) fn check(&self) -> io::Result<()> {
        if self.process == std::process::id() {
            return Ok(());
        }
        Err(io::Error::other("it was opened before this process was forked off: open it again"))
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
        let Some(runtime) = self.runtime.take() else { return };
        match self.check() {
            Ok(()) => runtime.shutdown_background(),
            // The receiver is gone.
            Err(_) => std::mem::forget(runtime),
        }
    }
}
