//! Proxies as options and the environment name them, by curl's rules.

use crate::client::failure::{Failure, Phase};
use crate::client::target::Target;

/// The proxy of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proxy {
    /// Its host, port and user.
    pub at: Target,
    /// The protocol.
    pub kind: ProxyKind,
}

/// The protocol of a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProxyKind {
    /// HTTP: whole URLs, and `CONNECT` for TLS.
    Http,
    /// SOCKS5 (RFC 1928); this machine looks up the target's name (`socks5://`).
    Socks5,
    /// SOCKS5; the proxy looks it up (`socks5h://`).
    Socks5Named,
}

impl ProxyKind {
    const SCHEMES: [(&'static str, Self); 3] =
        [("http://", Self::Http), ("socks5://", Self::Socks5), ("socks5h://", Self::Socks5Named)];
}

/// Which proxy stands for which URL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proxies {
    http: Option<String>,
    https: Option<String>,
    except: Vec<String>,
    /// Whether an option names it, and not the environment.
    is_option: bool,
}

impl Proxies {
    /// Those of the environment: `http_proxy` (lower case alone, for `HTTP_PROXY` can come from a
    /// request where a web server starts programs), `https_proxy`, `all_proxy`, `no_proxy`.
    pub fn from_environment() -> Self {
        let either = |name: &str| variable(name).or_else(|| variable(&name.to_uppercase()));
        let all = either("all_proxy");
        Self {
            http: variable("http_proxy").or_else(|| all.clone()),
            https: either("https_proxy").or(all),
            except: either("no_proxy").map_or(Vec::new(), |list| split(&list)),
            is_option: false,
        }
    }

    /// This proxy for all but these hosts.
    pub fn always(proxy: &str, except: &str) -> Self {
        Self { http: Some(proxy.to_owned()), https: Some(proxy.to_owned()), except: split(except), is_option: true }
    }

    /// The same with further exceptions.
    #[must_use]
    pub fn but(mut self, except: &str) -> Self {
        self.except.extend(split(except));
        self
    }

    /// The proxy to ask for a URL.
    ///
    /// # Errors
    /// Returns an error if it is not a URL of a supported proxy.
    pub(crate) fn of(&self, target: &Target) -> Result<Option<Proxy>, Failure> {
        let Some(named) = (if target.tls { &self.https } else { &self.http }) else { return Ok(None) };
        if self.except.iter().any(|except| is_within(&target.host, except)) {
            return Ok(None);
        }
        let with_scheme = if named.contains("://") { named.clone() } else { format!("http://{named}") };
        let known =
            ProxyKind::SCHEMES.iter().find_map(|(scheme, kind)| Some((with_scheme.strip_prefix(scheme)?, *kind)));
        let Some((rest, kind)) = known else {
            let what = format!("the proxy {} is none of http://, socks5:// and socks5h://", without_user(named));
            let look_at = match self.is_option {
                true => "--proxy",
                false => "http_proxy, https_proxy, all_proxy; or --noproxy '*'",
            };
            return Err(Failure::new(Phase::Proxy, what).look_at(look_at));
        };
        let proxy = Target::parse(&format!("http://{rest}"))?;
        // curl's default port of a proxy.
        let authority = rest.split('/').next().unwrap_or_default();
        let has_port = authority.ends_with(&format!(":{}", proxy.port));
        Ok(Some(Proxy { at: if has_port { proxy } else { Target { port: 1080, ..proxy } }, kind }))
    }
}

/// A URL without user and password, which nothing prints.
fn without_user(url: &str) -> String {
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://{rest}"),
        (None, Some((_, rest))) => rest.to_owned(),
        _ => url.to_owned(),
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn split(list: &str) -> Vec<String> {
    list.split([',', ' ']).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Whether a host is a name of `no_proxy`, or under it.
fn is_within(host: &str, name: &str) -> bool {
    let name = name.trim_start_matches('.');
    name == "*"
        || host.eq_ignore_ascii_case(name)
        || (host.len() > name.len()
            && host.is_char_boundary(host.len() - name.len())
            && host[host.len() - name.len()..].eq_ignore_ascii_case(name)
            && host.as_bytes()[host.len() - name.len() - 1] == b'.')
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn proxies_stand_for_all_but_some() {
        let proxies = Proxies::always("cache.example:3128", "example.org,.local 10.0.0.1");
        let of = |url: &str| proxies.of(&Target::parse(url).unwrap()).unwrap().map(|proxy| proxy.at.host_and_port());
        assert_eq!(of("http://example.com/").as_deref(), Some("cache.example:3128"));
        for direct in ["http://example.org/", "https://www.example.org/", "http://a.local/", "http://10.0.0.1/"] {
            assert_eq!(of(direct), None, "{direct}");
        }
        assert!(of("http://notexample.org/").is_some());
        assert_eq!(Proxies::always("x", "*").of(&Target::parse("http://a/").unwrap()).unwrap(), None);
    }

    #[test]
    fn proxies_speak_http_or_socks() {
        let of = |proxy: &str| Proxies::always(proxy, "").of(&Target::parse("https://a/").unwrap());
        let kind = |proxy: &str| {
            let proxy = of(proxy).unwrap().unwrap();
            (proxy.kind, proxy.at.host_and_port())
        };
        assert_eq!(kind("x:3128"), (ProxyKind::Http, "x:3128".to_owned()));
        assert_eq!(kind("socks5://x"), (ProxyKind::Socks5, "x:1080".to_owned()));
        assert_eq!(kind("socks5h://user:pw@x:9050"), (ProxyKind::Socks5Named, "x:9050".to_owned()));
        let failure = of("socks4://user:secret@x:1080").unwrap_err();
        assert_eq!(failure.phase, Phase::Proxy);
        let text = failure.to_string();
        assert!(text.contains("--proxy") && !text.contains("all_proxy") && !text.contains("secret"), "{text}");
    }
}
