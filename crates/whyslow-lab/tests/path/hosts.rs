//! Hosts: settings, routes, a proxy in the middle.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Instant;

use whyslow_lab::link::config::Conditions;
use whyslow_lab::net::config::{Host, HostConfig, LinkPair};
use whyslow_lab::net::{Error, Path};

use crate::{config, delay};

fn with_sysctl(key: &str, value: &str) -> HostConfig {
    HostConfig { sysctls: [(key.to_owned(), value.to_owned())].into(), ..HostConfig::default() }
}

pub fn settings_are_ours_and_not_the_machines() {
    let mut config = config(Conditions::default(), Conditions::default());
    config.server = with_sysctl("net.ipv4.tcp_rmem", "4096 65536 65536");
    let path = Path::build(&config).unwrap();
    let (server, client) = (path.settings(Host::Server).unwrap(), path.settings(Host::Client).unwrap());
    assert_eq!(server["net.ipv4.tcp_rmem"], "4096 65536 65536");
    assert_eq!(client["net.ipv4.tcp_rmem"], "4096 131072 6291456");
    assert_eq!(client["net.ipv4.tcp_wmem"], "4096 16384 4194304");
    assert_eq!(client["net.ipv4.tcp_slow_start_after_idle"], "1");
    assert!(client.len() > 50, "all of them are kept: {}", client.len());
}

pub fn what_the_kernel_refuses_is_named() {
    let refused = |key: &str, value: &str| {
        let mut config = config(Conditions::default(), Conditions::default());
        config.client = with_sysctl(key, value);
        Path::build(&config).err().unwrap()
    };
    for (key, value) in
        [("net.ipv4.tcp_rmem", "a lot"), ("net.ipv4.tcp_nonsense", "1"), ("kernel.hostname", "x"), ("net..", "x")]
    {
        let error = refused(key, value);
        assert!(matches!(error, Error::Sysctl { host: "client", .. }), "{error:?}");
        assert!(error.to_string().contains(key) && error.to_string().contains(value), "{error}");
    }
    let mut config = config(Conditions::default(), Conditions::default());
    config.client.route.congestion_control = Some("perfect".to_owned());
    let error = Path::build(&config).err().unwrap();
    assert!(matches!(error, Error::Ip { .. }), "{error:?}");
    config.client.route.congestion_control = None;
    config.links[0].up.conditions.rate_bps = Some(0);
    let error = Path::build(&config).err().unwrap();
    assert_eq!(error.to_string(), "link 0 up: rate: must be more than 0");
    config.links.clear();
    assert!(matches!(Path::build(&config), Err(Error::Config(_))));
}

pub fn routes_carry_their_attributes() {
    let mut config = config(Conditions::default(), Conditions::default());
    config.server.route.initcwnd = Some(42);
    config.server.route.quickack = Some(true);
    let path = Path::build(&config).unwrap();
    let routes = path.routes(Host::Server).unwrap();
    for attribute in ["initcwnd 42", "quickack 1", "congctl cubic"] {
        assert!(routes.contains(attribute), "{routes}");
    }
    assert!(!path.routes(Host::Client).unwrap().contains("initcwnd"));
}

pub fn a_proxy_stands_between_two_links() {
    let mut config = config(delay(5), delay(5));
    config.proxy = Some(HostConfig::default());
    config.links.push(LinkPair::default());
    config.links[1].up.conditions = delay(20);
    config.links[1].down.conditions = delay(20);
    let mut path = Path::build(&config).unwrap();
    path.start(&[]).unwrap();
    let proxy = SocketAddr::new(path.address(Host::Proxy).unwrap(), 80);
    let server = SocketAddr::new(path.address(Host::Server).unwrap(), 80);
    let listen = |host, at| path.within(host, || TcpListener::bind(at)).unwrap().unwrap();
    let (at_proxy, at_server) = (listen(Host::Proxy, proxy), listen(Host::Server, server));
    let echo = path.thread(Host::Server, "server", move || {
        let (mut stream, _) = at_server.accept().unwrap();
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        stream.write_all(&byte).unwrap();
    });
    let carry = path.thread(Host::Proxy, "proxy", move || {
        let (mut near, _) = at_proxy.accept().unwrap();
        let mut far = TcpStream::connect(server).unwrap();
        let mut byte = [0];
        near.read_exact(&mut byte).unwrap();
        far.write_all(&byte).unwrap();
        far.read_exact(&mut byte).unwrap();
        near.write_all(&byte).unwrap();
    });
    let took = path
        .within(Host::Client, || {
            let mut stream = TcpStream::connect(proxy).unwrap();
            let start = Instant::now();
            let mut byte = [7];
            stream.write_all(&byte).unwrap();
            stream.read_exact(&mut byte).unwrap();
            assert_eq!(byte, [7]);
            start.elapsed()
        })
        .unwrap();
    echo.unwrap().join().unwrap();
    carry.unwrap().join().unwrap();
    // The proxy connects on when it is connected to: 10 ms on the near link, and twice 40 ms on the
    // far one at most.
    assert!((50..200).contains(&took.as_millis()), "{took:?}");
    let outcome = path.stop().unwrap();
    assert_eq!(outcome.links.len(), 4);
    assert!(outcome.links.iter().all(|log| log.counts.passed >= 3), "{:?}", outcome.links);
    // It carries bytes, not packets.
    let past = path.within(Host::Client, || {
        TcpStream::connect_timeout(&server, std::time::Duration::from_millis(300)).map(|_| ())
    });
    assert!(past.unwrap().is_err());
}
