//! The server on standard input and output: a client starts the program and owns it.

use crate::server::Whyslow;
use crate::settings::Settings;
use rmcp::serve_server;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use std::io;
use std::time::Duration;
use tokio::runtime;

/// Longest message, bytes: requests have file names and numbers. A longer one is dropped.
const LONGEST: usize = 1 << 20;
/// Threads that read captures; more requests wait.
const WORKERS: usize = 6;
/// How long running work may delay the end.
const LAST: Duration = Duration::from_millis(500);

/// Serves until standard input ends.
///
/// # Errors
/// When the system refuses threads, or the client does not begin as the protocol asks.
pub fn serve_stdio(settings: Settings) -> io::Result<()> {
    let runtime = runtime::Builder::new_current_thread().enable_all().max_blocking_threads(WORKERS).build()?;
    let served = runtime.block_on(async {
        let (stdin, stdout) = rmcp::transport::stdio();
        let transport = AsyncRwTransport::new_server(stdin, stdout).with_max_line_length(LONGEST);
        match serve_server(Whyslow::new(settings), transport).await {
            Ok(running) => running.waiting().await.map(|_| ()).map_err(io::Error::other),
            // A client that was closed before it began.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => {
                Err(io::Error::new(io::ErrorKind::InvalidData, format!("the client's first message: {error}")))
            }
        }
    });
    // Reading for a client that is gone ends with the program.
    runtime.shutdown_timeout(LAST);
    served
}
