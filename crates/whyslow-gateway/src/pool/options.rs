//! The server, and the options of a pool.

use super::tls::Trust;
use std::fmt;
use std::time::Duration;

/// A server: scheme, host and port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// Whether TLS is used.
    pub is_tls: bool,
    /// A name or an address, IPv6 without brackets.
    pub host: String,
    /// The TCP port.
    pub port: u16,
}

/// An error of an endpoint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no endpoint: {why}")]
pub struct EndpointError {
    text: String,
    why: &'static str,
}

impl Endpoint {
    /// Reads `https://HOST[:PORT]` or `http://HOST[:PORT]`.
    ///
    /// # Errors
    /// If it is anything else, for example with a path or a user.
    pub fn parse(text: &str) -> Result<Self, EndpointError> {
        let wrong = |why| EndpointError { text: text.to_owned(), why };
        let uri: http::Uri = text.parse().map_err(|_| wrong("it is not http://HOST or https://HOST"))?;
        let is_tls = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(wrong("it must begin with https:// or http://")),
        };
        let authority = uri.authority().ok_or_else(|| wrong("it names no host"))?;
        if authority.as_str().contains('@') {
            return Err(wrong("a user or password does not belong there"));
        }
        if !matches!(uri.path(), "" | "/") || uri.query().is_some() {
            return Err(wrong("a path does not belong there"));
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() {
            return Err(wrong("it names no host"));
        }
        Ok(Self { is_tls, host, port: authority.port_u16().unwrap_or(if is_tls { 443 } else { 80 }) })
    }

    /// As in the Host header (RFC 9110 section 7.2).
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        match (self.is_tls, self.port) {
            (true, 443) | (false, 80) => host,
            (_, port) => format!("{host}:{port}"),
        }
    }

    /// The same server under another name, for virtual-host style.
    #[must_use]
    pub fn with_host(&self, host: String) -> Self {
        Self { host, ..self.clone() }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_tls { "https" } else { "http" };
        write!(f, "{scheme}://{}", self.authority())
    }
}

/// Options of a pool. The defaults suit S3 over a long path.
#[derive(Clone, Debug)]
pub struct PoolOptions {
    /// Maximum number of connections at once, idle ones too.
    pub max_connections: usize,
    /// Maximum number of requests that wait for one; the next is refused.
    pub max_waiting: usize,
    /// Time for which resolved names are kept.
    pub resolve_every: Duration,
    /// Deadlines.
    pub timeouts: Timeouts,
    /// The trusted authorities.
    pub trust: Trust,
    /// The connections to keep warm.
    pub warmth: Warmth,
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self {
            max_connections: 64,
            max_waiting: 1024,
            resolve_every: Duration::from_secs(30),
            timeouts: Timeouts::default(),
            trust: Trust::System,
            warmth: Warmth::default(),
        }
    }
}

/// Deadlines. None of them limits a transfer that moves.
#[derive(Clone, Debug)]
pub struct Timeouts {
    /// Maximum wait for a free connection.
    pub queue: Duration,
    /// Maximum time of TCP's handshake with one address.
    pub connect: Duration,
    /// Maximum time of the TLS handshake.
    pub tls: Duration,
    /// Maximum time between the end of a request and the beginning of its answer.
    pub answer: Duration,
    /// In each period of this length …
    pub stall: Duration,
    /// … this many bytes must move, unless this side has no bytes to send or does not read.
    pub stall_bytes: u64,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            queue: Duration::from_secs(30),
            connect: Duration::from_secs(5),
            tls: Duration::from_secs(10),
            answer: Duration::from_secs(60),
            stall: Duration::from_secs(10),
            stall_bytes: 64 << 10,
        }
    }
}

/// The connections to keep warm, and the permitted cost.
#[derive(Clone, Debug)]
pub struct Warmth {
    /// Number of connections that stay open.
    pub connections: usize,
    /// They stay open for this time after the last request.
    pub keep_for: Duration,
    /// Bytes that a kept connection should be able to send at once.
    pub window: u64,
    /// Maximum bytes of bursts in an hour.
    pub burst_bytes_an_hour: u64,
    /// Whether `net.ipv4.tcp_slow_start_after_idle` may be set to 0 for this network namespace.
    pub may_set_sysctl: bool,
    /// Whether BBR may be chosen for the sockets where CUBIC would lose its window.
    pub may_use_bbr: bool,
    /// The first guess of the server's idle limit.
    pub idle_limit_guess: Duration,
    /// Maximum idle time of a connection.
    pub idle_cap: Duration,
}

impl Default for Warmth {
    fn default() -> Self {
        Self {
            connections: 4,
            keep_for: Duration::from_secs(3600),
            window: 1 << 20,
            burst_bytes_an_hour: 1 << 30,
            may_set_sysctl: false,
            may_use_bbr: true,
            idle_limit_guess: Duration::from_secs(5),
            idle_cap: Duration::from_secs(60),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn endpoints_are_read_and_printed() {
        for (text, printed) in [
            ("https://s3.example.org", "https://s3.example.org"),
            ("https://s3.example.org:443/", "https://s3.example.org"),
            ("http://10.0.0.1:9000", "http://10.0.0.1:9000"),
            ("http://[2001:db8::1]:9000", "http://[2001:db8::1]:9000"),
        ] {
            assert_eq!(Endpoint::parse(text).unwrap().to_string(), printed);
        }
        for wrong in ["", "s3.example.org", "ftp://host", "https://", "https://user:pw@host", "https://host/path"] {
            assert!(Endpoint::parse(wrong).is_err(), "{wrong}");
        }
    }
}
