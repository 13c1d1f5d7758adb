//! [`Failure`]: what went wrong, in which phase, and what to look at.

use serde::Serialize;
use std::fmt;

/// How far a request came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// The address or an option is invalid.
    Url,
    /// Looking up the name.
    Dns,
    /// Connecting.
    Connect,
    /// Asking a proxy for a tunnel.
    Proxy,
    /// The TLS handshake.
    Tls,
    /// Sending the request.
    Send,
    /// Waiting for the answer.
    Wait,
    /// Receiving the answer.
    Transfer,
}

impl Phase {
    /// Its name in JSON and metrics.
    pub(crate) fn slug(self) -> &'static str {
        match self {
            Self::Url => "url",
            Self::Dns => "dns",
            Self::Connect => "connect",
            Self::Proxy => "proxy",
            Self::Tls => "tls",
            Self::Send => "send",
            Self::Wait => "wait",
            Self::Transfer => "transfer",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Url => "URL",
            Self::Dns => "DNS",
            Self::Connect => "connect",
            Self::Proxy => "proxy",
            Self::Tls => "TLS",
            Self::Send => "sending the request",
            Self::Wait => "waiting for the answer",
            Self::Transfer => "receiving the answer",
        })
    }
}

/// A request that was not answered in full.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{phase}: {what}{}", look_at.as_ref().map_or(String::new(), |look_at| format!("\n  look at: {look_at}")))]
pub struct Failure {
    /// How far it came.
    pub phase: Phase,
    /// What happened.
    pub what: String,
    /// A hint.
    pub look_at: Option<String>,
}

impl Failure {
    pub(crate) fn new(phase: Phase, what: impl Into<String>) -> Self {
        Self { phase, what: what.into(), look_at: None }
    }

    #[must_use]
    pub(crate) fn look_at(mut self, look_at: impl Into<String>) -> Self {
        self.look_at = Some(look_at.into());
        self
    }
}
