//! The two ends of a connection.

use whyslow_analysis::End;

/// The end as a noun.
pub(in crate::words) const fn name(end: End) -> &'static str {
    match end {
        End::Client => "客户端",
        End::Server => "服务器",
    }
}

/// The segment with which the end opens a connection, and a space as before any Chinese word.
pub(in crate::words) const fn syn(end: End) -> &'static str {
    match end {
        End::Client => "客户端的 SYN ",
        End::Server => "服务器的 SYN-ACK ",
    }
}
