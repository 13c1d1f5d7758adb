//! [`Endpoint`]: where the collector listens.

use http::Uri;
use std::str::FromStr;
use thiserror::Error;

/// The path of traces below a base address. Source: OTLP specification, "OTLP/HTTP Request".
const TRACES: &str = "/v1/traces";
/// Source: IANA, Service Name and Transport Protocol Port Number Registry (OTLP/HTTP).
const PORT: u16 = 4318;

/// The base address of a collector, as `http://127.0.0.1:4318`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Host and port, as the header `Host` has them.
    pub(crate) authority: String,
    /// The host to connect to, without the brackets of IPv6.
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) path: String,
}

/// A text that is not the address of a collector.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "`{0}` is not the address of a collector, as `http://127.0.0.1:4318`; TLS is left to a collector on this machine"
)]
pub struct InvalidEndpoint(String);

impl FromStr for Endpoint {
    type Err = InvalidEndpoint;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || InvalidEndpoint(text.to_owned());
        let uri: Uri = text.parse().map_err(|_| invalid())?;
        let authority = uri.authority().filter(|_| uri.scheme_str() == Some("http")).ok_or_else(invalid)?;
        // Names and passwords would be sent in clear.
        if authority.as_str().contains('@') || authority.host().is_empty() || uri.query().is_some() {
            return Err(invalid());
        }
        let has_port = authority.as_str().len() > authority.host().len();
        if has_port && authority.port_u16().is_none() {
            return Err(invalid());
        }
        Ok(Self {
            authority: authority.as_str().to_owned(),
            host: authority.host().trim_start_matches('[').trim_end_matches(']').to_owned(),
            port: authority.port_u16().unwrap_or(PORT),
            path: format!("{}{TRACES}", uri.path().trim_end_matches('/')),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_base_address_gets_the_path_of_traces() {
        let parts = |text: &str| {
            let endpoint: Endpoint = text.parse().unwrap();
            (endpoint.authority, endpoint.host, endpoint.port, endpoint.path)
        };
        let expect = |authority: &str, host: &str, port, path: &str| {
            (authority.to_owned(), host.to_owned(), port, path.to_owned())
        };
        assert_eq!(parts("http://127.0.0.1:4318"), expect("127.0.0.1:4318", "127.0.0.1", 4318, "/v1/traces"));
        assert_eq!(parts("http://collector/"), expect("collector", "collector", 4318, "/v1/traces"));
        assert_eq!(parts("http://[::1]:80/otlp/"), expect("[::1]:80", "::1", 80, "/otlp/v1/traces"));
    }

    #[test]
    fn what_is_not_a_plain_address_is_refused() {
        for text in ["", "127.0.0.1:4318", "https://collector", "http://", "http://a:b@c", "http://a?b", "http://a:x"] {
            assert_eq!(text.parse::<Endpoint>(), Err(InvalidEndpoint(text.to_owned())), "{text}");
        }
    }
}
