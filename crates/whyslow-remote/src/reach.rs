//! [`RedirectGuard`]: which addresses a redirect may lead to.
//!
//! A server on the Internet must not make this machine ask for what only this machine, or its
//! network, can reach (server-side request forgery): a service on loopback, or a cloud's metadata
//! at 169.254.169.254. So a redirect may lead to addresses that reach as far as those of the server
//! that was named, or farther. Names are checked when they are resolved, so that a name cannot
//! change its address between check and connection.

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{ClientBuilder, Url};
use std::env;
use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, OnceLock};

/// Maximum number of redirects that are followed.
const MOST: usize = 10;
/// Variables that name proxies. A proxy is this user's own choice.
const PROXIES: [&str; 6] = ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];

/// Which redirects are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Redirects {
    /// Redirects that do not lead from a wider network to a narrower one.
    #[default]
    Wider,
    /// All of them.
    All,
}

/// How far an address reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    /// This machine.
    Host,
    /// Its link: metadata services of clouds are there.
    Link,
    /// Private networks.
    Site,
    World,
}

impl Reach {
    fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => Self::of_v4(address),
            IpAddr::V6(address) => Self::of_v6(address),
        }
    }

    /// By the IANA IPv4 Special-Purpose Address Registry.
    fn of_v4(address: Ipv4Addr) -> Self {
        match address.octets() {
            [0 | 127, ..] => Self::Host,
            [169, 254, ..] | [224..=255, ..] => Self::Link,
            [10, ..]
            | [172, 16..=31, ..]
            | [192, 168, ..]
            | [100, 64..=127, ..]
            | [192, 0, 0, _]
            | [198, 18..=19, ..] => Self::Site,
            _ => Self::World,
        }
    }

    /// By the IANA IPv6 Special-Purpose Address Registry; an embedded IPv4 address counts as that.
    fn of_v6(address: Ipv6Addr) -> Self {
        let segments = address.segments();
        let embedded = |high: u16, low: u16| {
            let [a, b] = high.to_be_bytes();
            let [c, d] = low.to_be_bytes();
            Self::of_v4(Ipv4Addr::new(a, b, c, d))
        };
        match segments {
            [0, 0, 0, 0, 0, 0, 0, 0 | 1] => Self::Host,
            [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => embedded(high, low),
            [0x2002, high, low, ..] => embedded(high, low),
            [0xfe80..=0xfebf | 0xff00..=0xffff, ..] => Self::Link,
            [0xfc00..=0xfdff | 0xfec0..=0xfeff, ..] => Self::Site,
            _ => Self::World,
        }
    }
}

/// Why a redirect is not followed.
#[derive(Debug, thiserror::Error)]
#[error(
    "the server redirects to {to}, which only this machine or its network can reach; if you trust the server, allow it \
     with --allow-local-redirects"
)]
pub(crate) struct RefusedRedirect {
    to: String,
}

/// Decides on the redirects of one URL.
#[derive(Debug)]
pub(crate) struct RedirectGuard {
    /// The host that was named.
    host: String,
    /// How far it reaches; unset until it is resolved.
    reach: OnceLock<Reach>,
    proxies: Vec<String>,
}

impl RedirectGuard {
    pub(crate) fn new(url: &Url) -> Self {
        let reach = OnceLock::new();
        if let Some(address) = literal(url) {
            let _ = reach.set(Reach::of(address));
        }
        let host = |url: &Url| url.host_str().unwrap_or_default().to_owned();
        let proxies = PROXIES.iter().filter_map(|name| env::var(name).ok()).filter_map(|text| {
            let url = if text.contains("://") { text } else { format!("http://{text}") };
            Url::parse(&url).ok()
        });
        Self { host: host(url), reach, proxies: proxies.map(|url| host(&url)).collect() }
    }

    /// Adds it to a client.
    pub(crate) fn guard(self, builder: ClientBuilder) -> ClientBuilder {
        let guard = Arc::new(self);
        let policy = Arc::clone(&guard);
        builder.redirect(Policy::custom(move |attempt| policy.decide(attempt))).dns_resolver(Arc::new(Resolver(guard)))
    }

    fn decide(&self, attempt: Attempt<'_>) -> reqwest::redirect::Action {
        if attempt.previous().len() > MOST {
            return attempt.error("the server redirects without end");
        }
        match literal(attempt.url()) {
            Some(address) if !self.allows(address) => {
                let to = attempt.url().host_str().unwrap_or_default().to_owned();
                attempt.error(RefusedRedirect { to })
            }
            // A name is checked when it is resolved.
            _ => attempt.follow(),
        }
    }

    /// A host that was not resolved here, as behind a proxy, counts as one on the Internet.
    fn allows(&self, address: IpAddr) -> bool {
        Reach::of(address) >= *self.reach.get().unwrap_or(&Reach::World)
    }

    /// The addresses of a name that may be connected to.
    fn allowed(&self, name: &str, found: Vec<SocketAddr>) -> Result<Vec<SocketAddr>, RefusedRedirect> {
        if self.proxies.iter().any(|proxy| proxy == name) {
            return Ok(found);
        }
        if name == self.host
            && let Some(widest) = found.iter().map(|address| Reach::of(address.ip())).max()
            && self.reach.set(widest).is_ok()
        {
            return Ok(found);
        }
        let allowed: Vec<_> = found.into_iter().filter(|address| self.allows(address.ip())).collect();
        if allowed.is_empty() { Err(RefusedRedirect { to: name.to_owned() }) } else { Ok(allowed) }
    }
}

/// The address that is the host of a URL.
fn literal(url: &Url) -> Option<IpAddr> {
    url.host_str()?.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

struct Resolver(Arc<RedirectGuard>);

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = Arc::clone(&self.0);
        Box::pin(async move {
            let found: Vec<_> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let allowed = guard.allowed(name.as_str(), found)?;
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// The refusal among the causes of an error.
pub(crate) fn refusal(error: &(dyn Error + 'static)) -> Option<String> {
    let causes = std::iter::successors(Some(error), |error| (*error).source());
    causes.filter_map(|error| error.downcast_ref::<RefusedRedirect>()).map(ToString::to_string).next()
}

#[cfg(test)]
mod tests;
