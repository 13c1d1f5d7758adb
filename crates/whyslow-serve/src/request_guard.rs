//! Access: only the page at this server's own address.
//!
//! Any page in the same browser can send requests to 127.0.0.1, but does not know the secret in the
//! path. The Host header must name this server, so a foreign name that resolves to 127.0.0.1 (DNS
//! rebinding) gets nothing. The Origin header, if present, must be this server's. All of this is in
//! a request's head; its body is not read before.

use hyper::StatusCode;
use hyper::header::{HOST, HeaderMap, HeaderName, ORIGIN};
use hyper::http::request::Parts;

/// Random bytes of the secret.
const BYTES: usize = 16;

/// What a request must show.
#[derive(Clone, Debug)]
pub(crate) struct RequestGuard {
    port: u16,
    token: String,
}

/// Why a request is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    /// HTTP status.
    pub(crate) status: StatusCode,
    /// In plain words.
    pub(crate) why: &'static str,
}

impl RequestGuard {
    /// A guard with a new secret.
    ///
    /// # Errors
    /// When the system provides no random numbers.
    pub(crate) fn new(port: u16) -> Result<Self, getrandom::Error> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes)?;
        Ok(Self { port, token: bytes.iter().map(|byte| format!("{byte:02x}")).collect() })
    }

    /// The URL of the page.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// Checks a request's head, and returns its path without the secret.
    ///
    /// # Errors
    /// When it does not come from this server's own page.
    pub(crate) fn authorize<'a>(&self, head: &'a Parts) -> Result<&'a str, Refused> {
        // The address may name the server as well; both must be right (RFC 9112 section 3.2.2).
        if head.uri.authority().is_some_and(|authority| !self.is_own(authority.as_str())) {
            return Err(WRONG_ORIGIN);
        }
        self.check(head.uri.path(), only(&head.headers, HOST)?, only(&head.headers, ORIGIN)?)
    }

    fn check<'a>(&self, path: &'a str, host: Option<&str>, origin: Option<&str>) -> Result<&'a str, Refused> {
        if !host.is_some_and(|host| self.is_own(host)) {
            return Err(WRONG_ORIGIN);
        }
        if origin.is_some_and(|origin| !origin.strip_prefix("http://").is_some_and(|host| self.is_own(host))) {
            return Err(Refused { status: StatusCode::FORBIDDEN, why: "this server answers its own page alone" });
        }
        let refused = Refused {
            status: StatusCode::FORBIDDEN,
            why: "the address lacks this run's secret: open the one that whyslow printed",
        };
        let (token, rest) = path.strip_prefix('/').and_then(|path| path.split_once('/')).ok_or(refused)?;
        if !same(token.as_bytes(), self.token.as_bytes()) {
            return Err(refused);
        }
        Ok(rest)
    }

    fn is_own(&self, host: &str) -> bool {
        let port = host.strip_prefix("127.0.0.1:").or_else(|| host.strip_prefix("localhost:"));
        port.and_then(|port| port.parse().ok()) == Some(self.port)
    }
}

const WRONG_ORIGIN: Refused =
    Refused { status: StatusCode::MISDIRECTED_REQUEST, why: "this server answers for 127.0.0.1 and its port alone" };

/// A header that must not be repeated: another reader might use the other value.
fn only(headers: &HeaderMap, name: HeaderName) -> Result<Option<&str>, Refused> {
    let mut values = headers.get_all(name).iter();
    let (first, second) = (values.next(), values.next());
    let first = first.map(|value| value.to_str().ok()).map_or(Some(None), |text| text.map(Some));
    match (first, second) {
        (Some(first), None) => Ok(first),
        _ => Err(Refused {
            status: StatusCode::BAD_REQUEST,
            why: "a header that says who asks is no text, or there twice",
        }),
    }
}

/// Compares in constant time.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const HOST: Option<&str> = Some("127.0.0.1:8080");

    fn guard() -> RequestGuard {
        RequestGuard { port: 8080, token: "c0ffee".into() }
    }

    fn head(path: &str, headers: &[(&str, &str)]) -> Parts {
        let request = hyper::Request::get(path);
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn the_own_page_is_admitted() {
        assert_eq!(guard().check("/c0ffee/state", HOST, None), Ok("state"));
        assert_eq!(guard().check("/c0ffee/", Some("localhost:8080"), Some("http://localhost:8080")), Ok(""));
        assert_eq!(guard().url(), "http://127.0.0.1:8080/c0ffee/");
        let head = head("/c0ffee/state?c=1", &[("Host", "127.0.0.1:8080"), ("Origin", "http://127.0.0.1:8080")]);
        assert_eq!(guard().authorize(&head), Ok("state"));
    }

    #[test]
    fn no_other_host_is_local() {
        let status = |path, host, origin| guard().check(path, host, origin).unwrap_err().status.as_u16();
        assert_eq!(status("/c0ffee/", Some("evil.example:8080"), None), 421);
        assert_eq!(status("/c0ffee/", Some("127.0.0.1"), None), 421);
        assert_eq!(status("/c0ffee/", Some("127.0.0.1:80"), None), 421);
        assert_eq!(status("/c0ffee/", None, None), 421);
        assert_eq!(status("/c0ffee/", HOST, Some("http://evil.example")), 403);
        assert_eq!(status("/c0ffee/", HOST, Some("http://127.0.0.1:81")), 403);
        assert_eq!(status("/c0ffee/", HOST, Some("null")), 403);
        for path in ["/", "/c0ffee", "/c0ffeE/", "/c0ffee0/", "/other/state", "", "*"] {
            assert_eq!(status(path, HOST, None), 403, "{path}");
        }
    }

    #[test]
    fn a_contradictory_head_is_refused() {
        let status = |path, headers: &[_]| guard().authorize(&head(path, headers)).unwrap_err().status.as_u16();
        let own = ("Host", "127.0.0.1:8080");
        assert_eq!(status("http://evil.example/c0ffee/", &[own]), 421);
        assert_eq!(status("http://127.0.0.1:8080/c0ffee/", &[("Host", "evil.example")]), 421);
        assert_eq!(status("/c0ffee/", &[own, ("Host", "evil.example")]), 400);
        assert_eq!(status("/c0ffee/", &[own, own]), 400);
        let origins = [own, ("Origin", "http://127.0.0.1:8080"), ("Origin", "http://evil.example")];
        assert_eq!(status("/c0ffee/", &origins), 400);
        assert_eq!(status("/c0ffee/", &[own, ("Origin", "http://127.0.0.1:8080\u{e9}")]), 400);
    }

    #[test]
    fn secrets_differ_from_run_to_run() {
        let (a, b) = (RequestGuard::new(1).unwrap(), RequestGuard::new(1).unwrap());
        assert_eq!(a.token.len(), 2 * BYTES);
        assert_ne!(a.token, b.token);
    }
}
