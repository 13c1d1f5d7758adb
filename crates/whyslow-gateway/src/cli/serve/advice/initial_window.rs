//! The initial window of new connections, as the route sets it (ip-route(8)).

use std::net::IpAddr;
use std::time::Duration;
use whyslow_gateway::pool::Pool;
use whyslow_tcpinfo::routes::{Route, route_to};

/// From this round trip on, a few round trips are noticeable.
const LONG: Duration = Duration::from_millis(20);
/// Two round trips fewer for 1 MB than with 10 segments (RFC 6928); more bursts into queues.
const INITCWND: u32 = 40;

/// A warning about the initial window, if it costs much.
pub(super) async fn of(pool: &Pool) -> Option<String> {
    let rtt = pool.rtt().filter(|rtt| *rtt >= LONG)?;
    let endpoint = pool.endpoint();
    let mut addresses = tokio::net::lookup_host((endpoint.host.as_str(), endpoint.port)).await.ok()?;
    let address = addresses.next()?.ip();
    let route = tokio::task::spawn_blocking(move || route_to(address)).await.ok()?.ok()??;
    if route.initcwnd.is_some_and(|segments| segments >= INITCWND) {
        return None;
    }
    Some(format!(
        "note: the storage is {} ms away, and new connections begin with {} segments: this would save two round trips of \
         each: {}",
        rtt.as_millis(),
        route.initcwnd.unwrap_or(10),
        command(&route, address)?
    ))
}

/// The present route, with another initial window. `None` if a name in it is not safe to paste.
fn command(route: &Route, address: IpAddr) -> Option<String> {
    let ip = if address.is_ipv6() { "ip -6" } else { "ip" };
    let mut words: Vec<&str> = route.text.split_whitespace().collect();
    if let Some(at) = words.iter().position(|word| *word == "initcwnd") {
        words.drain(at..words.len().min(at + 2));
    }
    let text = words.join(" ");
    let is_harmless = text.chars().all(|c| c.is_ascii_alphanumeric() || " .:/-_".contains(c));
    is_harmless.then(|| format!("{ip} route change {text} initcwnd {INITCWND}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(text: &str) -> Route {
        Route {
            to: "default".to_owned(),
            via: None,
            device: None,
            initcwnd: None,
            initrwnd: None,
            congestion_control: None,
            others: Vec::new(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn the_command_keeps_what_the_route_has() {
        let of = |text| command(&route(text), [192, 0, 2, 7].into());
        let expected = "ip route change default via 192.0.2.1 dev eth0 proto dhcp metric 100 initcwnd 40";
        assert_eq!(of("default via 192.0.2.1 dev eth0 proto dhcp metric 100").as_deref(), Some(expected));
        let expected = "ip route change default dev eth0 mtu 1400 initcwnd 40";
        assert_eq!(of("default dev eth0 initcwnd 20 mtu 1400").as_deref(), Some(expected));
        assert_eq!(of("default dev $(reboot)"), None);
    }
}
