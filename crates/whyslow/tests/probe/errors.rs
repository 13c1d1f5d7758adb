//! Requests that fail: the phase, the message, and no partial output.

use crate::run;
use crate::servers::{Nginx, Server, respond};
use std::io::Write;
use std::net::{Shutdown, TcpListener};
use std::thread::sleep;
use std::time::Duration;

/// The message of a failure; the status is 2, and stdout is empty.
#[track_caller]
fn complaint(arguments: &[&str]) -> String {
    let output = run(arguments);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    message
}

#[track_caller]
fn assert_complaint(arguments: &[&str], parts: &[&str]) {
    let message = complaint(arguments);
    for part in parts {
        assert!(message.contains(part), "{part:?} is not in {message}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    assert_complaint(&["ftp://a/"], &["URL:", "only http:// and https://"]);
    assert_complaint(&["http://a b/"], &["URL:"]);
    assert_complaint(&["http://a/", "--upload", "/no/such/file"], &["no such file", "as a size"]);
    assert_complaint(&["http://a/", "--fail-on", "sum>1s"], &["none of the figures"]);
    assert_complaint(&["http://a/", "--resolve", "a:80"], &["HOST:PORT:ADDRESS"]);
    assert_complaint(&[], &["<URL>..."]);
}

#[test]
fn unknown_names_and_closed_ports() {
    assert_complaint(&["http://nobody.invalid/"], &["DNS: nobody.invalid", "look at: the spelling"]);
    assert_complaint(&["http://127.0.0.1:1/"], &["connect:", "refused", "whether a server listens on port 1"]);
    assert_complaint(&["http://127.0.0.1:1/", "-6"], &["DNS: 127.0.0.1 has no IPv6 address"]);
}

#[test]
fn every_address_is_reported() {
    let pin = "two.example:1:127.0.0.1,127.0.0.2";
    assert_complaint(&["http://two.example:1/", "--resolve", pin], &["127.0.0.1:1: refused", "127.0.0.2:1: refused"]);
}

#[test]
fn answers_that_are_none() {
    let nothing = Server::start(|_, stream| stream.shutdown(Shutdown::Both).unwrap());
    assert_complaint(&[&nothing.url("/")], &["waiting for the answer:", "closed the connection without an answer"]);
    let garbage = Server::start(|_, stream| stream.write_all(b"SSH-2.0-OpenSSH\r\n\r\n").unwrap());
    assert_complaint(&[&garbage.url("/")], &["waiting for the answer:", "no HTTP"]);
    let half = Server::start(|_, stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf").unwrap();
        stream.shutdown(Shutdown::Both).unwrap();
    });
    assert_complaint(&[&half.url("/")], &["receiving the answer:", "ended after 4 B, and 1000 B were announced"]);
    // Requests with a response are printed next to the failed one.
    let output = run(&[&half.url("/"), &Server::of_bytes(10).url("/"), "--format", "curl"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stdout).unwrap().contains("size_download: 10\n"));
}

#[test]
fn errors_of_the_server_are_complete_answers() {
    let server = Server::start(|got, stream| {
        let status = if got.line.contains("/broken") { "503 Service Unavailable" } else { "404 Not Found" };
        respond(stream, status, b"no");
    });
    for (path, message) in [("/", "answered 404"), ("/broken", "answered 503")] {
        let output = run(&[&server.url(path)]);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8(output.stderr).unwrap().contains(message));
        assert!(String::from_utf8(output.stdout).unwrap().contains("answer, last byte"));
    }
}

#[test]
fn every_wait_has_a_limit() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    assert_complaint(&[&url, "--max-time", "200ms"], &["waiting for the answer: not done within 0.2 s"]);
    let slow = Server::start(|_, stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n").unwrap();
        sleep(Duration::from_secs(2));
    });
    assert_complaint(&[&slow.url("/"), "--max-time", "300ms"], &["receiving the answer: not done within 0.3 s"]);
    let tls = format!("https://{}/", silent.local_addr().unwrap());
    assert_complaint(&[&tls, "--max-time", "200ms"], &["TLS: not done within 0.2 s"]);
    let proxy = silent.local_addr().unwrap().to_string();
    assert_complaint(
        &["https://a.example/", "--proxy", &proxy, "--max-time", "200ms"],
        &["proxy: not done within 0.2 s"],
    );
    assert_complaint(&[&tls, "--connect-timeout", "200ms"], &["TLS: no handshake"]);
}

#[test]
fn failed_tls_has_a_reason() {
    let plain = Server::start(|_, stream| respond(stream, "400 Bad Request", b"no TLS here"));
    let url = format!("https://{}/", plain.address);
    assert_complaint(&[&url, "--max-time", "3s"], &["TLS:"]);
    let Some(nginx) = Nginx::start(plain.address) else { return };
    let [_, _, resolve, pin] = nginx.trust();
    assert_complaint(&[&nginx.url("/"), &resolve, &pin], &["TLS: the handshake with localhost failed", "look at:"]);
    let [cacert, authority, ..] = nginx.trust();
    let other = format!("https://127.0.0.1:{}/", nginx.port);
    assert_complaint(&[&other, &cacert, &authority], &["which names the certificate has"]);
    let insecure = run(&[&other, "--insecure", "--format", "httptest"]);
    assert_eq!(insecure.status.code(), Some(2), "it is answered 400");
    assert!(String::from_utf8(insecure.stdout).unwrap().starts_with("4 0 0 0 0 0 "));
    assert_complaint(&[&nginx.url("/"), "--cacert", "/etc/hostname"], &["--cacert /etc/hostname"]);
}
