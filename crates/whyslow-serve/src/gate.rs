//! Who may ask: only the page at this server's own address.
//!
//! Any page in the same browser can send requests to 127.0.0.1. The secret in the path is what it does not know. The Host
//! header must name this server, so that a foreign name which resolves to 127.0.0.1 (DNS rebinding) gets nothing, and the
//! Origin header, where there is one, must be this server's.

/// Random bytes of the secret.
const BYTES: usize = 16;

/// What a request must show.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    port: u16,
    token: String,
}

/// Why a request is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    /// HTTP status.
    pub(crate) status: u16,
    /// In plain words.
    pub(crate) why: &'static str,
}

impl Gate {
    /// With a secret that is new.
    ///
    /// # Errors
    /// When the system gives no random numbers.
    pub(crate) fn new(port: u16) -> Result<Self, getrandom::Error> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes)?;
        Ok(Self { port, token: bytes.iter().map(|byte| format!("{byte:02x}")).collect() })
    }

    /// Where the page is.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// Lets a request pass, and gives what it asks for: its path without the secret.
    ///
    /// # Errors
    /// When it does not come from this server's own page.
    pub(crate) fn admit<'a>(
        &self,
        path: &'a str,
        host: Option<&str>,
        origin: Option<&str>,
    ) -> Result<&'a str, Refused> {
        if !host.is_some_and(|host| self.is_own(host)) {
            return Err(Refused { status: 421, why: "this server answers for 127.0.0.1 and its port alone" });
        }
        if origin.is_some_and(|origin| !origin.strip_prefix("http://").is_some_and(|host| self.is_own(host))) {
            return Err(Refused { status: 403, why: "this server answers its own page alone" });
        }
        let refused =
            Refused { status: 403, why: "the address lacks this run's secret: open the one that whyslow printed" };
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

/// Takes as long for a wrong secret as for one that is nearly right.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const HOST: Option<&str> = Some("127.0.0.1:8080");

    fn gate() -> Gate {
        Gate { port: 8080, token: "c0ffee".into() }
    }

    #[test]
    fn the_own_page_is_admitted() {
        assert_eq!(gate().admit("/c0ffee/state", HOST, None), Ok("state"));
        assert_eq!(gate().admit("/c0ffee/", Some("localhost:8080"), Some("http://localhost:8080")), Ok(""));
        assert_eq!(gate().url(), "http://127.0.0.1:8080/c0ffee/");
    }

    #[test]
    fn nobody_else_is() {
        let status = |path, host, origin| gate().admit(path, host, origin).unwrap_err().status;
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
    fn secrets_differ_from_run_to_run() {
        let (a, b) = (Gate::new(1).unwrap(), Gate::new(1).unwrap());
        assert_eq!(a.token.len(), 2 * BYTES);
        assert_ne!(a.token, b.token);
    }
}
