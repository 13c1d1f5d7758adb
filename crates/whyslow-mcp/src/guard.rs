//! [`Guard`]: which HTTP requests are answered.
//!
//! Any page in a browser on this machine can send requests to 127.0.0.1, and so can every local
//! user. So a request must carry the token, its Host must be this server (or a foreign name that
//! resolves to 127.0.0.1 would do, by DNS rebinding), and its Origin, if it has one, too. All of
//! this is checked before the body is read.

use crate::token::Token;
use http::header::{AUTHORIZATION, HOST, HeaderMap, HeaderName, ORIGIN};
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use std::net::SocketAddr;

/// The only path.
pub(crate) const PATH: &str = "/mcp";

/// The credentials that a request must have.
#[derive(Debug)]
pub(crate) struct Guard {
    /// The server's address as Host and Origin may name it.
    authorities: Vec<String>,
    token: Token,
}

/// Why a request is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) status: StatusCode,
    pub(crate) why: &'static str,
}

const WRONG_HOST: Refused =
    Refused { status: StatusCode::MISDIRECTED_REQUEST, why: "this server answers for its loopback address alone" };
const WRONG_ORIGIN: Refused = Refused { status: StatusCode::FORBIDDEN, why: "web pages are not answered" };
const TWICE: Refused =
    Refused { status: StatusCode::BAD_REQUEST, why: "a header that says who asks is no text, or there twice" };
const NO_TOKEN: Refused = Refused {
    status: StatusCode::UNAUTHORIZED,
    why: "the token is missing or wrong: send `Authorization: Bearer TOKEN` with the token that whyslow mcp printed",
};
const NO_PATH: Refused = Refused { status: StatusCode::NOT_FOUND, why: "the server is at /mcp" };

impl Guard {
    pub(crate) fn new(address: SocketAddr, token: Token) -> Self {
        let authorities = vec![address.to_string(), format!("localhost:{}", address.port())];
        Self { authorities, token }
    }

    /// The names that Host may have.
    pub(crate) fn authorities(&self) -> &[String] {
        &self.authorities
    }

    /// Checks a request's head.
    ///
    /// # Errors
    /// When it is not a client's that has the token.
    pub(crate) fn check(&self, head: &Parts) -> Result<(), Refused> {
        // The address may name the server as well; both must be right (RFC 9112 section 3.2.2).
        if head.uri.authority().is_some_and(|authority| !self.is_own(authority.as_str())) {
            return Err(WRONG_HOST);
        }
        if !only(&head.headers, HOST)?.is_some_and(|host| self.is_own(host)) {
            return Err(WRONG_HOST);
        }
        let is_own = |origin: &str| origin.strip_prefix("http://").is_some_and(|host| self.is_own(host));
        if only(&head.headers, ORIGIN)?.is_some_and(|origin| !is_own(origin)) {
            return Err(WRONG_ORIGIN);
        }
        let bearer = |value: &str| {
            let (scheme, token) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().to_owned())
        };
        let given = only(&head.headers, AUTHORIZATION)?.and_then(bearer);
        if !given.is_some_and(|given| self.token.is(&given)) {
            return Err(NO_TOKEN);
        }
        if head.uri.path() == PATH { Ok(()) } else { Err(NO_PATH) }
    }

    fn is_own(&self, authority: &str) -> bool {
        self.authorities.iter().any(|own| own.eq_ignore_ascii_case(authority))
    }
}

/// A header that must not be repeated: another reader might use the other value.
fn only(headers: &HeaderMap, name: HeaderName) -> Result<Option<&str>, Refused> {
    let mut values = headers.get_all(name).iter();
    match (values.next().map(HeaderValue::to_str), values.next()) {
        (None, _) => Ok(None),
        (Some(Ok(text)), None) => Ok(Some(text)),
        _ => Err(TWICE),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const HOST: (&str, &str) = ("Host", "127.0.0.1:8722");
    const TOKEN: (&str, &str) = ("Authorization", "Bearer 0123456789abcdef");

    fn status(path: &str, headers: &[(&str, &str)]) -> u16 {
        let guard = Guard::new("127.0.0.1:8722".parse().unwrap(), Token::given("0123456789abcdef").unwrap());
        let request =
            headers.iter().fold(http::Request::post(path), |request, (name, value)| request.header(*name, *value));
        let head = request.body(()).unwrap().into_parts().0;
        guard.check(&head).map_or_else(|refused| refused.status.as_u16(), |()| 200)
    }

    #[test]
    fn clients_with_the_token_are_admitted() {
        assert_eq!(status("/mcp", &[HOST, TOKEN]), 200);
        assert_eq!(status("/mcp", &[("Host", "LocalHost:8722"), TOKEN, ("Origin", "http://127.0.0.1:8722")]), 200);
        assert_eq!(status("/mcp", &[HOST, ("Authorization", "bearer  0123456789abcdef")]), 200);
    }

    #[test]
    fn others_are_not() {
        for host in ["evil.example:8722", "127.0.0.1", "127.0.0.1:80", "127.0.0.2:8722", ""] {
            assert_eq!(status("/mcp", &[("Host", host), TOKEN]), 421, "{host}");
        }
        assert_eq!(status("/mcp", &[TOKEN]), 421);
        assert_eq!(status("http://evil.example/mcp", &[HOST, TOKEN]), 421);
        for origin in ["http://evil.example", "null", "https://127.0.0.1:8722", "http://127.0.0.1:81"] {
            assert_eq!(status("/mcp", &[HOST, TOKEN, ("Origin", origin)]), 403, "{origin}");
        }
        for token in ["Bearer 0123456789abcdee", "Bearer ", "Bearer", "Basic 0123456789abcdef", "0123456789abcdef"] {
            assert_eq!(status("/mcp", &[HOST, ("Authorization", token)]), 401, "{token}");
        }
        assert_eq!(status("/mcp", &[HOST]), 401);
        assert_eq!(status("/mcp?token=0123456789abcdef", &[HOST]), 401);
        assert_eq!(status("/", &[HOST, TOKEN]), 404);
        assert_eq!(status("/mcp", &[HOST, HOST, TOKEN]), 400);
        assert_eq!(status("/mcp", &[HOST, TOKEN, TOKEN]), 400);
    }
}
