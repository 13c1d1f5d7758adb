//! Proxies as the environment names them, by curl's rules.

use crate::client::failure::{Failure, Phase};
use crate::client::target::Target;

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
    /// When it is none that can be asked.
    pub(crate) fn of(&self, target: &Target) -> Result<Option<Target>, Failure> {
        let Some(named) = (if target.tls { &self.https } else { &self.http }) else { return Ok(None) };
        if self.except.iter().any(|except| is_within(&target.host, except)) {
            return Ok(None);
        }
        let with_scheme = if named.contains("://") { named.clone() } else { format!("http://{named}") };
        if !with_scheme.starts_with("http://") {
            let what = format!("the proxy {named} is not asked by http://: only HTTP proxies are supported");
            let look_at = match self.is_option {
                true => "--proxy; for SOCKS, an HTTP proxy in front of it",
                false => "http_proxy, https_proxy, all_proxy; or --noproxy '*'",
            };
            return Err(Failure::new(Phase::Proxy, what).look_at(look_at));
        }
        let proxy = Target::parse(&with_scheme)?;
        // curl's default port of a proxy.
        let authority = with_scheme.trim_start_matches("http://").split('/').next().unwrap_or_default();
        let has_port = authority.ends_with(&format!(":{}", proxy.port));
        Ok(Some(if has_port { proxy } else { Target { port: 1080, ..proxy } }))
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
        let of = |url: &str| proxies.of(&Target::parse(url).unwrap()).unwrap().map(|proxy| proxy.host_and_port());
        assert_eq!(of("http://example.com/").as_deref(), Some("cache.example:3128"));
        for direct in ["http://example.org/", "https://www.example.org/", "http://a.local/", "http://10.0.0.1/"] {
            assert_eq!(of(direct), None, "{direct}");
        }
        assert!(of("http://notexample.org/").is_some());
        assert_eq!(Proxies::always("x", "*").of(&Target::parse("http://a/").unwrap()).unwrap(), None);
        let socks = Proxies::always("socks5://x:1080", "");
        let failure = socks.of(&Target::parse("http://a/").unwrap()).unwrap_err();
        assert_eq!(failure.phase, Phase::Proxy);
        assert!(failure.to_string().contains("--proxy") && !failure.to_string().contains("all_proxy"), "{failure}");
    }
}
