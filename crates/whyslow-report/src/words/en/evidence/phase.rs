//! Parts of a request.

use whyslow_evidence::Phase;

pub(super) fn name(phase: Phase) -> &'static str {
    match phase {
        Phase::Blocked => "waiting for a free connection",
        Phase::Dns => "the DNS lookup",
        Phase::Connect => "connecting",
        Phase::Tls => "the TLS handshake",
        Phase::Redirect => "redirects",
        Phase::Send => "sending the request",
        Phase::Wait => "the wait for the first byte",
        Phase::Download => "receiving the response",
    }
}
