//! Proxies of the environment.

use crate::probe;
use crate::servers::{Nginx, Server, respond};
use serde_json::Value;
use std::io::Write;
use std::net::TcpStream;
use std::process::Command;

/// A proxy: it opens tunnels, and answers other requests itself.
fn proxy() -> Server {
    Server::start(|got, stream| {
        let mut words = got.line.split(' ');
        let (Some("CONNECT"), Some(to)) = (words.next(), words.next()) else {
            return respond(stream, "200 OK", got.line.as_bytes());
        };
        if got.field("proxy-authorization") != Some("Basic dXNlcjpwYXNz") {
            return respond(stream, "407 Proxy Authentication Required", b"");
        }
        let mut there = TcpStream::connect(to).unwrap();
        stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").unwrap();
        let (mut from, mut back) = (stream.try_clone().unwrap(), there.try_clone().unwrap());
        let answers = std::thread::spawn(move || std::io::copy(&mut back, &mut from));
        let _ = std::io::copy(stream, &mut there);
        let _ = there.shutdown(std::net::Shutdown::Write);
        let _ = answers.join();
    })
}

#[track_caller]
fn json(command: &mut Command) -> Value {
    let output = command.arg("--json").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_proxy_is_asked_with_the_whole_url() {
    let proxy = proxy();
    let address = proxy.address.to_string();
    let printed = json(probe(&["http://server.example/a"]).env("http_proxy", &address));
    assert_eq!(printed["requests"][0]["hops"][0]["proxy"], address.as_str());
    assert_eq!(proxy.got()[0].line, "GET http://server.example/a HTTP/1.1");
    assert_eq!(proxy.got()[0].field("host"), Some("server.example"));
    let page = probe(&["http://server.example/a"]).env("http_proxy", &address).output().unwrap();
    assert!(String::from_utf8(page.stdout).unwrap().contains("between this machine and"));
    // Left out by name.
    let mut direct = probe(&["http://server.invalid/"]);
    let direct = direct.env("http_proxy", &address).env("no_proxy", ".invalid").output().unwrap();
    assert!(String::from_utf8(direct.stderr).unwrap().contains("DNS: server.invalid"));
}

#[test]
fn tls_goes_through_a_tunnel() {
    let Some(nginx) = Nginx::start(Server::of_bytes(1000).address) else { return };
    let proxy = proxy();
    let [cacert, authority, ..] = nginx.trust();
    let url = nginx.url("/");
    let with_user = format!("http://user:pass@{}", proxy.address);
    let printed = json(probe(&[&url, &cacert, &authority]).env("https_proxy", &with_user));
    let hop = &printed["requests"][0]["hops"][0];
    assert_eq!((&hop["body_bytes"], &hop["http"]), (&1000.into(), &"2".into()));
    let times = &hop["times"];
    let [connect, tunnel, tls] = ["connect_s", "tunnel_s", "appconnect_s"].map(|name| times[name].as_f64().unwrap());
    assert!(connect <= tunnel && tunnel <= tls, "{times}");
    // Neither user nor password is printed.
    assert!(!printed.to_string().contains("pass@"));
    let refused = probe(&[&url, &cacert, &authority, "--proxy", &proxy.address.to_string()]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let message = String::from_utf8(refused.stderr).unwrap();
    assert!(message.contains("proxy: ") && message.contains("407 Proxy Authentication Required"), "{message}");
}
