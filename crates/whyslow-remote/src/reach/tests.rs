#![allow(clippy::unwrap_used)]

use super::*;

fn guard(url: &str) -> RedirectGuard {
    RedirectGuard { proxies: vec!["proxy".to_owned()], ..RedirectGuard::new(&Url::parse(url).unwrap()) }
}

fn at(addresses: &[&str]) -> Vec<SocketAddr> {
    addresses.iter().map(|address| SocketAddr::new(address.parse().unwrap(), 0)).collect()
}

#[test]
fn an_address_reaches_this_machine_its_link_its_site_or_the_world() {
    for (reach, addresses) in [
        (Reach::Host, &["127.0.0.1", "127.9.9.9", "0.0.0.0", "::", "::1", "::ffff:127.0.0.1", "::127.0.0.1"][..]),
        (Reach::Host, &["64:ff9b::7f00:1", "2002:7f00:1::1"]),
        (
            Reach::Link,
            &["169.254.169.254", "::ffff:169.254.169.254", "fe80::1", "ff02::1", "224.0.0.1", "255.255.255.255"],
        ),
        (
            Reach::Site,
            &["10.0.0.1", "172.16.0.1", "172.31.9.9", "192.168.1.1", "100.64.0.1", "fd00::1", "::ffff:10.1.1.1"],
        ),
        (Reach::World, &["192.0.2.1", "172.32.0.1", "8.8.8.8", "2001:db8::1", "::ffff:8.8.8.8"]),
    ] {
        for address in addresses {
            assert_eq!(Reach::of(address.parse().unwrap()), reach, "{address}");
        }
    }
}

#[test]
fn a_redirect_leads_to_a_network_as_wide_or_wider() {
    let addresses = ["127.0.0.1", "169.254.169.254", "10.0.0.1", "192.0.2.9"];
    for (url, allowed) in [
        ("http://192.0.2.1/", 1),
        ("http://10.9.9.9/", 2),
        ("http://[fe80::1]/", 3),
        ("http://127.0.0.1/", 4),
        ("http://name/", 1),
    ] {
        let guard = guard(url);
        let count = addresses.iter().filter(|address| guard.allows(address.parse().unwrap())).count();
        assert_eq!(count, allowed, "{url}");
    }
}

#[test]
fn a_name_that_changes_its_address_after_a_redirect_is_refused() {
    let guard = guard("https://name/a.pcap");
    // The server that was named may be anywhere.
    assert_eq!(guard.allowed("name", at(&["192.0.2.1", "10.0.0.1"])).unwrap().len(), 2);
    assert_eq!(guard.allowed("name", at(&["192.0.2.1", "127.0.0.1"])).unwrap(), at(&["192.0.2.1"]));
    let refused = guard.allowed("name", at(&["127.0.0.1"])).unwrap_err().to_string();
    assert!(refused.contains("redirects to name,") && refused.contains("--allow-local-redirects"), "{refused}");
    assert!(guard.allowed("other", at(&["169.254.169.254"])).is_err());
    assert_eq!(guard.allowed("proxy", at(&["127.0.0.1"])).unwrap().len(), 1);
}

#[test]
fn a_server_in_a_private_network_may_redirect_within_it() {
    let guard = guard("https://files.internal/a.pcap");
    assert!(guard.allowed("files.internal", at(&["10.0.0.1"])).is_ok());
    assert!(guard.allowed("storage.internal", at(&["10.0.0.2"])).is_ok());
    assert!(guard.allowed("localhost", at(&["127.0.0.1", "::1"])).is_err());
}
