//! The two ends of a connection.

use whyslow_core::analysis::End;

/// The end as a noun.
pub(super) fn name(end: End) -> &'static str {
    match end {
        End::Client => "client",
        End::Server => "server",
    }
}
