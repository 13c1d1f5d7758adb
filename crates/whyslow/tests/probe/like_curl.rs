//! Options that curl has, and many requests at once as load generators make them.

use crate::servers::{Nginx, Server, respond, self_signed_authority};
use crate::{json, run};
use std::time::Duration;

#[test]
fn a_connection_goes_elsewhere_and_the_host_stays() {
    let server = Server::of_bytes(10);
    let to = format!("example.org:80:127.0.0.1:{}", server.address.port());
    json(&["http://example.org/x", "--connect-to", &to]);
    let got = server.got();
    assert_eq!((got[0].line.as_str(), got[0].field("host")), ("GET /x HTTP/1.1", Some("example.org")));
}

#[test]
fn compressed_answers_are_asked_for_and_counted_as_they_come() {
    let server = Server::of_bytes(10);
    assert!(json(&[&server.url("/"), "--compressed"])["requests"][0]["hops"][0]["body_bytes"] == 10);
    assert_eq!(server.got()[0].field("accept-encoding"), Some("gzip, deflate, br, zstd"));
    json(&[&server.url("/")]);
    assert_eq!(server.got()[1].field("accept-encoding"), None);
}

#[test]
fn a_self_signed_certificate_that_is_named_is_trusted_for_its_name() {
    let server = Server::of_bytes(10);
    let Some(nginx) = Nginx::start_with(server.address, self_signed_authority, "") else { return };
    let [cacert, authority, resolve, pin] = nginx.trust();
    let printed = json(&[&nginx.url("/"), &cacert, &authority, &resolve, &pin]);
    assert_eq!(printed["requests"][0]["hops"][0]["status"], 200);
    // Not for another name, and not without being named.
    let other = format!("https://other.example:{}/", nginx.port);
    let to = format!("::127.0.0.1:{}", nginx.port);
    assert_eq!(run(&[&other, "--connect-to", &to, &cacert, &authority]).status.code(), Some(2));
    assert_eq!(run(&[&nginx.url("/"), &resolve, &pin]).status.code(), Some(2));
}

#[test]
fn a_certificate_of_ones_own_is_shown() {
    let server = Server::of_bytes(10);
    let lines = "ssl_client_certificate cert.pem; ssl_verify_client on;";
    let Some(nginx) = Nginx::start_with(server.address, self_signed_authority, lines) else { return };
    let [cacert, authority, resolve, pin] = nginx.trust();
    let key = nginx.folder.path().join("key.pem").display().to_string();
    let url = nginx.url("/");
    let trust = [url.as_str(), &cacert, &authority, &resolve, &pin];
    assert_eq!(run(&trust).status.code(), Some(2), "400: no required SSL certificate was sent");
    let printed = json(&[&trust[..], &["--cert", &authority, "--key", &key]].concat());
    assert_eq!(printed["requests"][0]["hops"][0]["status"], 200);
    let wrong = run(&[&trust[..], &["--cert", &authority, "--key", &authority]].concat());
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("--key"), "{wrong:?}");
}

#[test]
fn an_unknown_kind_of_proxy_of_an_option_is_not_the_environments() {
    let output = run(&["http://example.org/", "-x", "socks4://127.0.0.1:1080"]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("none of http://, socks5://") && message.contains("--proxy"), "{message}");
    assert!(!message.contains("environment") && !message.contains("all_proxy"), "{message}");
}

#[test]
fn another_name_in_tls_is_that_of_the_certificate() {
    let Some(nginx) = Nginx::start(Server::of_bytes(10).address) else { return };
    let [cacert, authority, ..] = nginx.trust();
    let url = format!("https://127.0.0.1:{}/", nginx.port);
    assert_eq!(run(&[&url, &cacert, &authority]).status.code(), Some(2), "the certificate is localhost's");
    let printed = json(&[&url, &cacert, &authority, "--sni", "localhost"]);
    assert_eq!(printed["requests"][0]["hops"][0]["status"], 200);
}

#[test]
fn tls_sessions_are_resumed_if_that_is_asked_for() {
    let Some(nginx) = Nginx::start(Server::of_bytes(10).address) else { return };
    let trust = nginx.trust();
    let [a, b, c, d] = trust.each_ref().map(String::as_str);
    let url = nginx.url("/");
    let handshakes = |more: &[&str]| {
        let printed = json(&[&[url.as_str(), a, b, c, d, "--repeat", "3"], more].concat());
        let requests = printed["requests"].as_array().unwrap().clone();
        requests.iter().map(|one| one["hops"][0]["tls"]["handshake"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(handshakes(&[]), ["full", "full", "full"]);
    assert_eq!(handshakes(&["--resume-tls"]), ["full", "resumed", "resumed"]);
}

#[test]
fn times_are_spread_over_cold_and_warm_connections_apart() {
    let server = Server::of_bytes(1_000);
    let printed = json(&[&server.url("/"), "--new", "--reuse", "--repeat", "30"]);
    let spread = printed["spread"].as_array().unwrap();
    assert_eq!(spread.len(), 2, "{spread:#?}");
    // The first request on a kept connection opens it.
    let kinds: Vec<_> = spread.iter().map(|one| (one["warm"].as_bool(), one["requests"].as_u64())).collect();
    assert_eq!(kinds, [(Some(false), Some(31)), (Some(true), Some(29))]);
    for one in spread {
        let of = |name: &str| one["total_s"][name].as_f64().unwrap();
        assert!(of("min") <= of("p50") && of("p50") <= of("p99") && of("p99") <= of("max"), "{one:#}");
        let bars = one["histogram"].as_array().unwrap();
        let sum: u64 = bars.iter().map(|bar| bar["requests"].as_u64().unwrap()).sum();
        assert_eq!(Some(sum), one["requests"].as_u64());
    }
    let page = crate::stdout(&[&server.url("/"), "--repeat", "60"]);
    for part in ["99 %", "mean of the total, new connections:", " after 60 (± ", "the slowest 5 of 60 requests"] {
        assert!(page.replace("\n  ", " ").contains(part), "{part}: {page}");
    }
    let full = crate::stdout(&[&server.url("/"), "--repeat", "12", "--full"]);
    assert!(!full.contains("the slowest"), "{full}");
}

#[test]
fn requests_are_made_at_the_same_time() {
    let server = Server::start(|_, stream| {
        std::thread::sleep(Duration::from_millis(100));
        respond(stream, "200 OK", b"ok");
    });
    let began = std::time::Instant::now();
    let printed = json(&[&server.url("/"), "--reuse", "--repeat", "20", "--concurrency", "10"]);
    assert_eq!(printed["requests"].as_array().unwrap().len(), 20);
    assert!(began.elapsed() < Duration::from_millis(1_900), "one after the other they take 2 s");
    let connections: std::collections::BTreeSet<usize> = server.got().iter().map(|got| got.connection).collect();
    assert!(connections.len() > 1 && connections.len() <= 10, "{connections:?}");
}

#[test]
fn requests_are_repeated_for_a_time() {
    let server = Server::start(|_, stream| {
        std::thread::sleep(Duration::from_millis(50));
        respond(stream, "200 OK", b"ok");
    });
    let printed = json(&[&server.url("/"), "--for", "400ms"]);
    let count = printed["requests"].as_array().unwrap().len();
    assert!((2..=9).contains(&count), "{count}");
}
