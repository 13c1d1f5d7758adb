//! Proxies of the environment.

use crate::probe;
use crate::servers::{Nginx, Server, respond};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};

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

/// A SOCKS5 proxy that wants this user, and hands over to one server; returns its requests.
fn socks_proxy(server: SocketAddr, user: Option<[&'static str; 2]>) -> (SocketAddr, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (asked, asks) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            // RFC 1928 sections 3 and 4, RFC 1929.
            let mut read = |count: usize| {
                let mut bytes = vec![0; count];
                stream.read_exact(&mut bytes).map(|()| bytes)
            };
            let Ok(hello) = read(2) else { continue };
            let _ = read(usize::from(hello[1]));
            let _ = stream.write_all(&[5, if user.is_some() { 2 } else { 0 }]);
            let mut read = |count: usize| {
                let mut bytes = vec![0; count];
                stream.read_exact(&mut bytes).map(|()| bytes)
            };
            if let Some(user) = user {
                let _ = read(1);
                let [name, password] = [(); 2].map(|()| {
                    let length = read(1).unwrap()[0];
                    String::from_utf8(read(usize::from(length)).unwrap()).unwrap()
                });
                assert_eq!([name.as_str(), password.as_str()], user);
                let _ = stream.write_all(&[1, 0]);
            }
            let mut read = |count: usize| {
                let mut bytes = vec![0; count];
                stream.read_exact(&mut bytes).map(|()| bytes)
            };
            let request = read(4).unwrap();
            let host = match request[3] {
                1 => read(4).unwrap().iter().map(u8::to_string).collect::<Vec<_>>().join("."),
                3 => {
                    let length = read(1).unwrap()[0];
                    String::from_utf8(read(usize::from(length)).unwrap()).unwrap()
                }
                kind => panic!("address of kind {kind}"),
            };
            let _ = read(2);
            asked.send(host).unwrap();
            let _ = stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
            let mut there = TcpStream::connect(server).unwrap();
            let (mut from, mut back) = (stream.try_clone().unwrap(), there.try_clone().unwrap());
            std::thread::spawn(move || {
                let _ = std::io::copy(&mut back, &mut from);
                let _ = from.shutdown(Shutdown::Both);
            });
            std::thread::spawn(move || {
                let _ = std::io::copy(&mut stream, &mut there);
                let _ = there.shutdown(Shutdown::Write);
            });
        }
    });
    (address, asks)
}

#[test]
fn a_socks_proxy_looks_up_the_name_or_does_not() {
    let server = Server::of_bytes(1_000);
    let (proxy, asked) = socks_proxy(server.address, None);
    let pin = format!("server.example:80:{}", server.address.ip());
    let url = "http://server.example/a";
    let printed = json(&mut probe(&[url, "-x", &format!("socks5://{proxy}"), "--resolve", &pin]));
    let hop = &printed["requests"][0]["hops"][0];
    assert_eq!((&hop["proxy"], &hop["body_bytes"]), (&proxy.to_string().into(), &1_000.into()));
    assert!(hop["times"]["tunnel_s"].as_f64() >= hop["times"]["connect_s"].as_f64(), "{}", hop["times"]);
    assert_eq!(asked.recv().unwrap(), "127.0.0.1");
    // A path and not the whole URL: the server is asked, and not the proxy.
    assert_eq!(server.got()[0].line, "GET /a HTTP/1.1");
    json(&mut probe(&[url, "-x", &format!("socks5h://{proxy}")]));
    assert_eq!(asked.recv().unwrap(), "server.example");
    json(probe(&[url]).env("all_proxy", format!("socks5h://{proxy}")));
    assert_eq!(asked.recv().unwrap(), "server.example");
}

#[test]
fn a_socks_proxy_is_given_the_user_and_tls_goes_through() {
    let Some(nginx) = Nginx::start(Server::of_bytes(10).address) else { return };
    let there = ([127, 0, 0, 1], nginx.port).into();
    let (proxy, asked) = socks_proxy(there, Some(["user", "secret"]));
    let [cacert, authority, ..] = nginx.trust();
    let option = format!("socks5h://user:secret@{proxy}");
    let printed = json(&mut probe(&[&nginx.url("/"), &cacert, &authority, "-x", &option]));
    assert_eq!(printed["requests"][0]["hops"][0]["status"], 200);
    assert_eq!(asked.recv().unwrap(), "localhost");
    assert!(!printed.to_string().contains("secret"), "a password is printed nowhere");
}

#[test]
fn a_socks_proxy_that_is_none_is_a_failure() {
    let http = Server::of_bytes(10);
    let output = probe(&["http://a.example/", "-x", &format!("socks5h://{}", http.address), "--max-time", "3s"]);
    let output = { output }.output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(message.contains("proxy: "), "{message}");
}
