//! Requests that do not come from the page.

use super::View;
use rustix::process::Signal;
use std::io::{ErrorKind, Write};

/// Room for the program's other threads; a refused request needs a few kilobytes.
const LITTLE: u64 = 24 << 20;

/// Requests that do not come from the page, and the status that each gets.
fn forged(token: &str, host: &str, port: u16) -> Vec<(u16, String)> {
    let other = "0".repeat(token.len());
    let long = "a/../".repeat(20_000);
    let upper = token.to_uppercase();
    let get = |path: &str, headers: &str| format!("GET {path} HTTP/1.1\r\n{headers}\r\n");
    vec![
        // The secret.
        (403, get("/", host)),
        (403, get("/state", host)),
        (403, get(&format!("/{other}/state"), host)),
        (403, get(&format!("/{}/state", &token[1..]), host)),
        (403, get(&format!("/{token}0/state"), host)),
        (403, get(&format!("/{token}"), host)),
        (403, get(&format!("/{other}/open?name=a&rest=0"), host).replace("GET", "POST")),
        (403, get(&format!("/?{token}/state"), host)),
        // Whom it is meant for.
        (421, get(&format!("/{token}/state"), "Host: evil.example\r\n")),
        (421, get(&format!("/{token}/state"), &format!("Host: evil.example:{}\r\n", port))),
        (421, get(&format!("/{token}/state"), "Host: 127.0.0.1:1\r\n")),
        (421, get(&format!("/{token}/state"), &format!("Host: 127.0.0.1:{}@evil.example\r\n", port))),
        (421, get(&format!("/{token}/state"), "")),
        (421, get(&format!("http://evil.example/{token}/state"), host)),
        (400, get(&format!("/{token}/state"), &format!("{host}Host: evil.example\r\n"))),
        // The place of origin.
        (403, get(&format!("/{token}/state"), &format!("{host}Origin: http://evil.example\r\n"))),
        (403, get(&format!("/{token}/state"), &format!("{host}Origin: https://127.0.0.1:{}\r\n", port))),
        (403, get(&format!("/{token}/state"), &format!("{host}Origin: null\r\n"))),
        (400, get(&format!("/{token}/state"), &format!("{host}Origin: http://evil.example\r\nOrigin: null\r\n"))),
        // Odd paths.
        (403, get(&format!("//{token}/state"), host)),
        (403, get(&format!("/../{token}/state"), host)),
        (403, get(&format!("/%2e%2e/{token}/state"), host)),
        (403, get(&format!("/{token}%2fstate"), host)),
        (403, get(&format!("/%{:x}{}/state", token.as_bytes()[0], &token[1..]), host)),
        (
            if upper == token { 200 } else { 403 },
            get(&format!("/{upper}/state"), &format!("{host}Connection: close\r\n")),
        ),
        (404, get(&format!("/{token}/../state"), &format!("{host}Connection: close\r\n"))),
        (404, get(&format!("/{token}/%73tate"), &format!("{host}Connection: close\r\n"))),
        (404, get(&format!("/{token}/../../../../etc/passwd"), &format!("{host}Connection: close\r\n"))),
        (431, get(&format!("/{long}"), host)),
        (431, get(&format!("/{token}/{long}"), host)),
        (403, get("*", host).replace("GET", "OPTIONS")),
        // Requests that need the secret, in another form.
        (405, get(&format!("/{token}/open"), &format!("{host}Connection: close\r\n"))),
        (405, get(&format!("/{token}/state"), &format!("{host}Connection: close\r\n")).replace("GET", "DELETE")),
        (400, get(&format!("/{token}/state"), &format!("{host}Content-Length: 1000000000000000000\r\n"))),
        // Heads without end, and invalid ones.
        (431, get(&format!("/{token}/state"), &format!("{host}X: {}\r\n", "y".repeat(100_000)))),
        (431, get(&format!("/{token}/state"), &format!("{host}{}", "X: y\r\n".repeat(1_000)))),
        (400, "\0\0\0\r\n\r\n".to_owned()),
        (404, get(&format!("/{token}/state\u{202e}"), &format!("{host}Connection: close\r\n"))),
        (400, format!("GET /{token}/state HTTP/9.9\r\n{host}\r\n")),
        (400, format!("GET /{token}/state HTTP/1.1\r\n{host} folded: line\r\n\r\n")),
    ]
}

#[test]
fn foreign_requests_get_nothing_and_change_nothing() {
    let Some(view) = View::of_sample() else { return };
    let (token, host, before) = (view.token.clone(), view.host(), view.document());
    let own = format!("Host: localhost:{}\r\nOrigin: http://localhost:{}\r\n", view.port, view.port);
    assert_eq!(view.ask(format!("GET /{token}/state HTTP/1.1\r\n{own}Connection: close\r\n\r\n")).status, 200);

    for (status, request) in &forged(&token, &host, view.port) {
        let reply = view.ask(request);
        let start = &request[..request.len().min(200)];
        assert_eq!(reply.status, *status, "{start:?}: {:?}", String::from_utf8_lossy(&reply.body));
        assert!(!String::from_utf8_lossy(&reply.body).contains(&token), "the secret is told: {start:?}");
    }
    assert_eq!(view.state()["number"], 1);
    assert!(view.document() == before);
    assert_eq!(view.end(Signal::INT).code(), Some(0));
}

#[test]
fn the_body_of_a_refused_request_is_neither_awaited_nor_kept() {
    let Some(view) = View::of_sample() else { return };
    let before = view.most_memory();
    let foreign = |length: u64| format!("POST / HTTP/1.1\r\nHost: evil\r\nContent-Length: {length}\r\n\r\nx");
    assert_eq!(view.ask(foreign(1_000_000_000_000_000_000)).status, 421);
    assert_eq!(view.state()["state"], "ready");
    // More requests than the server may have threads.
    let held: Vec<_> = (0..64).map(|_| view.send(foreign(1_000_000_000))).collect();
    assert_eq!(view.state()["state"], "ready");
    for mut stream in held {
        assert_eq!(super::reply(&mut stream).status, 421);
    }
    // A client that goes on sending gets no response.
    let mut stream = view.send(foreign(1 << 30));
    let block = vec![0; 1 << 20];
    let sent = (0..1 << 10).map_while(|_| stream.write_all(&block).map_err(|error| error.kind()).ok()).count();
    assert!(sent < 1 << 10, "all of it was taken");
    let gone = stream.write_all(&block).unwrap_err().kind();
    assert!(matches!(gone, ErrorKind::BrokenPipe | ErrorKind::ConnectionReset), "{gone}");
    let most = view.most_memory();
    assert!(most < before + LITTLE, "{before} B before, {most} B after");
    assert_eq!(view.state()["number"], 1);
    view.end(Signal::INT);
}
