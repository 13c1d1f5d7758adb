//! The two ends of a connection.

use whyslow_analysis::End;

/// The end as a noun.
pub(in crate::words) const fn name(end: End) -> &'static str {
    match end {
        End::Client => "client",
        End::Server => "server",
    }
}

/// The segment with which the end opens a connection.
pub(in crate::words) const fn syn(end: End) -> &'static str {
    match end {
        End::Client => "the client's SYN",
        End::Server => "the server's SYN-ACK",
    }
}
