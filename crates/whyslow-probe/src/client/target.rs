//! [`Target`]: what a URL names.

use crate::client::failure::{Failure, Phase};
use http::Uri;
use std::fmt;
use std::net::IpAddr;

/// A URL of http or https.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Whether it is https.
    pub tls: bool,
    /// The host, without the brackets of an IPv6 address.
    pub host: String,
    /// The port, the scheme's own where none is named.
    pub port: u16,
    /// Path and query.
    pub path: String,
    /// `user:password`, where there is one.
    pub user: Option<String>,
}

impl Target {
    /// Reads a URL; without a scheme it is http's, as curl has it.
    ///
    /// # Errors
    /// When it is none, or of another scheme.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let wrong = |why: &str| Failure::new(Phase::Url, format!("`{text}`: {why}"));
        let text = text.split('#').next().unwrap_or_default();
        let full = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let uri: Uri = full.parse().map_err(|error| wrong(&format!("{error}")))?;
        let tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(wrong("only http:// and https:// can be asked")),
        };
        let authority = uri.authority().ok_or_else(|| wrong("it names no host"))?;
        let user = authority.as_str().rsplit_once('@').map(|(user, _)| user.to_owned());
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() {
            return Err(wrong("it names no host"));
        }
        let has_port = !authority.as_str().ends_with(authority.host());
        if has_port && authority.port_u16().is_none() {
            return Err(wrong("the port is no number up to 65535"));
        }
        let port = authority.port_u16().unwrap_or(if tls { 443 } else { 80 });
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Ok(Self { tls, host, port, path, user })
    }

    /// Where a `Location` leads from here (RFC 3986 section 5.2, for what servers send).
    ///
    /// # Errors
    /// When it leads to no URL of http or https.
    pub fn join(&self, location: &str) -> Result<Self, Failure> {
        let scheme = if self.tls { "https" } else { "http" };
        if location.contains("://") && !location.starts_with(['/', '?']) {
            return Self::parse(location);
        }
        if let Some(rest) = location.strip_prefix("//") {
            return Self::parse(&format!("{scheme}://{rest}"));
        }
        let here = self.path.split('?').next().unwrap_or("/");
        let path = if location.starts_with('/') {
            location.to_owned()
        } else if location.starts_with('?') {
            format!("{here}{location}")
        } else {
            let folder = here.rsplit_once('/').map_or("", |(folder, _)| folder);
            without_dots(&format!("{folder}/{location}"))
        };
        let found = Self::parse(&format!("{scheme}://{}{path}", self.authority()))?;
        Ok(Self { user: self.user.clone(), ..found })
    }

    /// `host`, or `host:port` where the port is not the scheme's own.
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        let own = if self.tls { 443 } else { 80 };
        if self.port == own { host } else { format!("{host}:{}", self.port) }
    }

    /// The URL with another host.
    pub(crate) fn with_authority(&self, authority: &str) -> String {
        let scheme = if self.tls { "https" } else { "http" };
        format!("{scheme}://{authority}{}", self.path)
    }

    /// `host:port`, always.
    pub fn host_and_port(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        format!("{host}:{}", self.port)
    }

    /// Whether the other one is asked on the same connection.
    pub fn same_origin(&self, other: &Self) -> bool {
        (self.tls, &self.host, self.port) == (other.tls, &other.host, other.port)
    }

    /// The address, where the host is one.
    pub fn address(&self) -> Option<IpAddr> {
        self.host.parse().ok()
    }
}

/// Without user and password: nothing prints these.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with_authority(&self.authority()))
    }
}

/// Takes `.` and `..` out of a path; the query stays.
fn without_dots(path: &str) -> String {
    let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
    let mut kept: Vec<&str> = Vec::new();
    let mut parts = path.split('/').peekable();
    while let Some(part) = parts.next() {
        match part {
            "." | ".." => {
                if part == ".." && kept.len() > 1 {
                    kept.pop();
                }
                if parts.peek().is_none() {
                    kept.push("");
                }
            }
            part => kept.push(part),
        }
    }
    let path = kept.join("/");
    query.map_or(path.clone(), |query| format!("{path}?{query}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn urls_are_read() {
        let target = Target::parse("https://user:pw@[2001:db8::1]:8443/a?b#c").unwrap();
        assert_eq!((target.tls, target.host.as_str(), target.port), (true, "2001:db8::1", 8443));
        assert_eq!((target.path.as_str(), target.user.as_deref()), ("/a?b", Some("user:pw")));
        assert_eq!(target.to_string(), "https://[2001:db8::1]:8443/a?b");
        assert_eq!(Target::parse("example.org").unwrap().to_string(), "http://example.org/");
        assert_eq!(Target::parse("example.org:81/x").unwrap().port, 81);
    }

    #[test]
    fn an_invalid_url_is_refused() {
        for text in ["ftp://a/", "http://", "http:///x", "http://a:99999/", "http://a b/", ""] {
            assert_eq!(Target::parse(text).unwrap_err().phase, Phase::Url, "{text}");
        }
    }

    #[test]
    fn locations_are_followed() {
        let here = Target::parse("http://a:81/b/c?d").unwrap();
        let to = |location: &str| here.join(location).unwrap().to_string();
        assert_eq!(to("https://x/y"), "https://x/y");
        assert_eq!(to("//x/y"), "http://x/y");
        assert_eq!(to("/y?back=http://z/"), "http://a:81/y?back=http://z/");
        assert_eq!(to("y"), "http://a:81/b/y");
        assert_eq!(to("../y"), "http://a:81/y");
        assert_eq!(to("./"), "http://a:81/b/");
        assert_eq!(to("?e"), "http://a:81/b/c?e");
    }
}
