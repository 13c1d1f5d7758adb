//! What an operator should know when the gateway starts: what is open to others, and what makes
//! transfers slow that a command would mend.

use super::super::backend::Backend;
use super::super::options::Admin;
use super::settings::Settings;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use whyslow_gateway::pool::{Pool, Rights, WindowKeeping};
use whyslow_live::host::{Route, route_to};

/// From this round trip on a few of them are what a person waits for.
const LONG: Duration = Duration::from_millis(20);
/// Two round trips fewer for 1 MB than with 10 segments (RFC 6928); more bursts into queues.
const INITCWND: u32 = 40;

/// Sentences, the most important ones first.
pub(super) async fn of(settings: &Settings, backend: &Backend, listen: SocketAddr) -> Vec<String> {
    let mut all = Vec::new();
    if settings.tls.is_none() && !listen.ip().is_loopback() {
        all.push(format!(
            "warning: clients reach {listen} without TLS: what they store can be read on the way here (--tls-cert, --tls-key)"
        ));
    }
    if let Admin::At(address) = settings.admin
        && !address.ip().is_loopback()
    {
        all.push(format!("warning: whoever reaches {address} sees the names of objects and clients (--admin)"));
    }
    let Some(s3) = &backend.s3 else { return all };
    let pool = match &backend.bucket {
        Some(bucket) => s3.pool(bucket).ok(),
        None => s3.pools().into_iter().next(),
    };
    let Some(pool) = pool else { return all };
    if !pool.endpoint().is_tls {
        all.push(format!(
            "note: {} is reached without TLS: objects are sealed, their names may not be",
            pool.endpoint()
        ));
    }
    if settings.pool.warmth.connections > 0 && backend.bucket.is_none() {
        all.push("note: no connection is kept warm, as no bucket is named: --store s3://BUCKET".to_owned());
    }
    if pool.closes_after_answers() {
        all.push(format!(
            "warning: {} closes each connection with its answer (Connection: close): every request pays for a handshake and \
             slow start, and nothing can be kept warm. Have it keep connections (versitygw: --keep-alive)",
            pool.endpoint()
        ));
    } else {
        all.extend(windows(pool.keeping(), pool.rights()));
    }
    all.extend(initial_window(&pool).await);
    all
}

/// What idle connections lose.
fn windows(keeping: WindowKeeping, rights: &Rights) -> Option<String> {
    match keeping {
        WindowKeeping::Sysctl => None,
        WindowKeeping::Bbr => Some(
            "note: net.ipv4.tcp_slow_start_after_idle is 1, so BBR is used to the storage, which keeps its pace through \
             idle time"
                .to_owned(),
        ),
        WindowKeeping::OnDemand => {
            let how = if rights.can_set_sysctl {
                "start with --may-set-sysctl"
            } else {
                "as root: sysctl -w net.ipv4.tcp_slow_start_after_idle=0"
            };
            let bbr = if rights.has_bbr { "--no-bbr was given" } else { "BBR is not loaded, or not allowed" };
            Some(format!(
                "warning: connections lose their windows while they are idle (net.ipv4.tcp_slow_start_after_idle is 1, \
                 and {bbr}): an upload that comes at once starts with 10 segments. {how}"
            ))
        }
    }
}

/// How connections begin, where that costs much.
async fn initial_window(pool: &Pool) -> Option<String> {
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

/// The route as it is, with another initial window. None where a name in it is not to be pasted.
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
