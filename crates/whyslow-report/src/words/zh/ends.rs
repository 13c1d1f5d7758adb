//! The two ends of a connection.

use whyslow_core::analysis::End;

/// The end as a noun.
pub(super) fn name(end: End) -> &'static str {
    match end {
        End::Client => "客户端",
        End::Server => "服务器",
    }
}
