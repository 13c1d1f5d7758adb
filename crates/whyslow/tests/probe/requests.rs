//! Requests that are answered: times, figures, formats.

use crate::servers::{Nginx, Server, respond};
use crate::{json, run, seconds, stdout, times};
use std::io::Write;
use std::thread::sleep;
use std::time::Duration;

#[test]
fn every_step_has_its_time() {
    let server = Server::of_bytes(100_000);
    let printed = json(&[&server.url("/file?a=b")]);
    let request = &printed["requests"][0];
    let times = times(&printed, 0);
    let order = ["connect_s", "pretransfer_s", "posttransfer_s", "first_packet_s", "starttransfer_s", "total_s"];
    let order = order.map(|name| seconds(&times[name]));
    assert!(order.is_sorted() && order[0] > 0.0, "{times}");
    let curl = &request["curl"];
    assert_eq!((&curl["http_code"], &curl["size_download"]), (&200.into(), &100_000.into()));
    assert!(seconds(&curl["time_total"]) >= seconds(&times["total_s"]));
    assert_eq!(request["hops"][0]["attempts"][0]["outcome"], "connected");
    assert!(!request["hops"][0]["samples"].as_array().unwrap().is_empty());
    assert_eq!(server.got()[0].line, "GET /file?a=b HTTP/1.1");
}

#[test]
fn an_interim_answer_is_none() {
    let server = Server::start(|_, stream| {
        stream.write_all(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n").unwrap();
        sleep(Duration::from_millis(200));
        respond(stream, "200 OK", b"hello");
    });
    let printed = json(&[&server.url("/")]);
    assert!(seconds(&times(&printed, 0)["first_packet_s"]) >= 0.2, "{}", times(&printed, 0));
}

#[test]
fn the_first_byte_is_of_the_answer_and_not_of_tls_or_http2() {
    let server = Server::start(|_, stream| {
        sleep(Duration::from_millis(300));
        respond(stream, "200 OK", &[b'x'; 1000]);
    });
    let Some(nginx) = Nginx::start(server.address) else { return };
    let trust = nginx.trust();
    let [a, b, c, d] = trust.each_ref().map(String::as_str);
    for (version, spoken) in [("2", "2"), ("1.1", "1.1")] {
        let wait = |printed: &serde_json::Value| {
            let hop = &printed["requests"][0]["hops"][0];
            assert_eq!((&hop["http"], &hop["tls"]["version"]), (&spoken.into(), &"1.3".into()));
            assert!(hop["first_record"].as_u64().unwrap() > 5);
            seconds(&hop["times"]["first_packet_s"]) - seconds(&hop["times"]["posttransfer_s"])
        };
        // Session tickets and SETTINGS come at once. A busy machine may note late that it has sent.
        let waits: Vec<f64> = (0..5).map(|_| wait(&json(&[&nginx.url("/"), a, b, c, d, "--http", version]))).collect();
        assert!(waits.iter().any(|wait| *wait >= 0.299), "HTTP/{version}: {waits:?}");
    }
}

#[test]
fn redirects_are_followed_and_listed() {
    let other = Server::of_bytes(10);
    let there = other.url("/there");
    let server = Server::start(move |got, stream| {
        let to = if got.line.contains("/first") { "/second?x" } else { there.as_str() };
        let head = format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
    });
    let printed = json(&[&server.url("/first"), "-H", "Authorization: secret", "-H", "X-Mine: yes"]);
    let hops = printed["requests"][0]["hops"].as_array().unwrap();
    assert_eq!(hops.iter().map(|hop| hop["reused"].as_bool().unwrap()).collect::<Vec<_>>(), [false, true, false]);
    assert_eq!(printed["requests"][0]["curl"]["num_redirects"], 2);
    assert!(seconds(&printed["requests"][0]["curl"]["time_redirect"]) > 0.0);
    let (here, away) = (server.got(), other.got());
    assert_eq!(here[1].field("authorization"), Some("secret"));
    // Headers for one server are sent to no other.
    assert_eq!((away[0].field("authorization"), away[0].field("x-mine")), (None, Some("yes")));
    let output = run(&[&server.url("/first"), "--max-redirs", "0", "--format", "curl"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("http_code: 302\n"));
}

#[test]
fn a_password_is_sent_and_printed_nowhere() {
    let server = Server::of_bytes(10);
    let url = format!("http://user:secret@{}/", server.address);
    for format in [&["--json"][..], &["--format", "httptest"], &["--format", "curl"], &[], &["--repeat", "2"]] {
        let output = run(&[&[url.as_str()], format].concat());
        assert!(!String::from_utf8(output.stdout).unwrap().contains("secret"), "{format:?}");
    }
    assert_eq!(server.got()[0].field("authorization"), Some("Basic dXNlcjpzZWNyZXQ="));
}

#[test]
fn what_is_sent_arrives() {
    let server = Server::start(|_, stream| respond(stream, "201 Created", b""));
    let printed = json(&[&server.url("/up"), "--upload", "300kB", "-H", "X-A: b"]);
    let got = &server.got()[0];
    assert_eq!((got.line.as_str(), got.body.len(), got.field("x-a")), ("PUT /up HTTP/1.1", 300_000, Some("b")));
    let times = times(&printed, 0);
    assert!(seconds(&times["sent_s"]) <= seconds(&times["acknowledged_s"]), "{times}");
    stdout(&[&server.url("/form"), "--form", "note=hello", "--form", "file=@Cargo.toml;type=text/plain"]);
    let form = server.got()[1].clone();
    let text = String::from_utf8(form.body.clone()).unwrap();
    assert!(
        form.line.starts_with("POST /form") && form.field("content-type").unwrap().starts_with("multipart/form-data")
    );
    assert!(text.contains("name=\"note\"\r\n\r\nhello") && text.contains("filename=\"Cargo.toml\""), "{text}");
}

#[test]
fn requests_share_a_connection_or_do_not() {
    let server = Server::of_bytes(1000);
    let url = server.url("/");
    stdout(&[&url, "--repeat", "3"]);
    stdout(&[&url, "--repeat", "3", "--reuse", "--idle", "10ms"]);
    let printed = json(&[&url, "--repeat", "2", "--new", "--reuse"]);
    let connections: Vec<usize> = server.got().iter().map(|got| got.connection).collect();
    assert_eq!(connections, [0, 1, 2, 3, 3, 3, 4, 5, 6, 6]);
    let requests = printed["requests"].as_array().unwrap();
    assert_eq!(
        requests.iter().map(|request| request["series"].as_str().unwrap()).collect::<Vec<_>>(),
        ["new", "new", "reuse", "reuse"]
    );
    // A server that closes the connection is connected to again.
    let closing = Server::start(|_, stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n").unwrap();
        stream.shutdown(std::net::Shutdown::Both).unwrap();
    });
    stdout(&[&closing.url("/"), "--repeat", "2", "--reuse", "--idle", "50ms"]);
    assert_eq!(closing.got().len(), 2);
}

#[test]
fn sizes_are_asked_for_one_after_the_other() {
    let server = Server::start(|got, stream| {
        let range = got.field("range").unwrap().strip_prefix("bytes=0-").unwrap();
        let count = range.parse::<usize>().unwrap() + 1;
        respond(stream, "206 Partial Content", &vec![b'x'; count]);
    });
    let page = stdout(&[&server.url("/"), "--sizes", "1k,20k"]);
    assert!(page.contains("1,000 B") && page.contains("20,000 B"), "{page}");
    let whole = Server::of_bytes(100);
    assert!(stdout(&[&whole.url("/"), "--sizes", "10"]).contains("does not send parts") || whole.got().len() == 1);
}

#[test]
fn other_tools_formats_are_printed() {
    let server = Server::of_bytes(12_345);
    let url = server.url("/");
    let line = stdout(&[&url, "--format", "httptest"]);
    let fields: Vec<&str> = line.split_whitespace().collect();
    assert_eq!((fields.len(), fields[0], fields[5], fields[7]), (8, "0", "12345", url.as_str()));
    assert!(fields[1..5].iter().all(|time| time.split_once('.').is_some_and(|(_, digits)| digits.len() == 4)));
    let curl = stdout(&[&url, "--format", "curl"]);
    assert!(curl.contains("\ntime_total: 0.") && curl.contains("\nsize_download: 12345\n"), "{curl}");
    let output = run(&["http://127.0.0.1:1/", "--format", "httptest"]);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "2 0 0 0 0 0 http://127.0.0.1:1/\n");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn thresholds_make_the_exit_status() {
    let server = Server::start(|_, stream| {
        sleep(Duration::from_millis(60));
        respond(stream, "200 OK", b"");
    });
    let url = server.url("/");
    let passed = run(&[&url, "--fail-on", "total>50ms", "--fail-on", "connect>20s"]);
    assert_eq!(passed.status.code(), Some(1));
    let message = String::from_utf8(passed.stderr).unwrap();
    assert!(message.contains("total>50ms: total is") && !message.contains("connect>20s"), "{message}");
    assert_eq!(run(&[&url, "--fail-on", "first-byte>20s"]).status.code(), Some(0));
}

#[test]
fn urls_stand_side_by_side() {
    let (small, large) = (Server::of_bytes(10), Server::of_bytes(200_000));
    let printed = json(&[&small.url("/"), &large.url("/")]);
    let beside = printed["side_by_side"].as_array().unwrap();
    assert_eq!(beside.len(), 2);
    assert!(seconds(&beside[1]["amplification"]) > seconds(&beside[0]["amplification"]));
    let page = stdout(&[&small.url("/"), &large.url("/")]);
    assert!(page.starts_with("A and B take the same time") || page.contains("is faster by"), "{page}");
    let steps: Vec<&str> = page.lines().skip(3).filter_map(|line| line.split_whitespace().next()).collect();
    assert!(steps.starts_with(&["A", "connect", "first", "the", "total", "bytes"]), "{page}");
    assert!(page.lines().take_while(|line| !line.is_empty()).count() <= 10, "{page}");
    let full = stdout(&[&small.url("/"), &large.url("/"), "--full"]);
    assert!(full.contains("side by side, the fastest request of each"), "{full}");
}

#[test]
fn large_bodies_go_both_ways_over_http2() {
    let server = Server::start(|got, stream| {
        let body = if got.line.starts_with("GET") { vec![b'x'; 3_000_000] } else { Vec::new() };
        respond(stream, "200 OK", &body);
    });
    let Some(nginx) = Nginx::start(server.address) else { return };
    let trust = nginx.trust();
    let [a, b, c, d] = trust.each_ref().map(String::as_str);
    let url = nginx.url("/");
    let down = json(&[&url, a, b, c, d, "-H", "Host: other.example", "--reuse", "--repeat", "2"]);
    assert_eq!(down["requests"][1]["hops"][0]["body_bytes"], 3_000_000);
    assert_eq!(down["requests"][1]["hops"][0]["reused"], true);
    let up = json(&[&url, a, b, c, d, "--upload", "3MB"]);
    let hop = &up["requests"][0]["hops"][0];
    assert_eq!((&hop["http"], &hop["sent_bytes"]), (&"2".into(), &3_000_000.into()));
    let times = &hop["times"];
    let order = ["posttransfer_s", "sent_s", "acknowledged_s"].map(|name| seconds(&times[name]));
    assert!(order.is_sorted(), "{times}");
    assert_eq!(server.got().last().unwrap().body.len(), 3_000_000);
}

#[test]
fn both_families_are_asked() {
    let Ok(listener) = std::net::TcpListener::bind("[::1]:0") else {
        return whyslow_testing::skip(whyslow_testing::Lack::Machine, "there is no IPv6 here");
    };
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 4096];
            let _ = std::io::Read::read(&mut stream, &mut request);
            respond(&mut stream, "200 OK", b"six");
        }
    });
    let (url, pin) = (format!("http://both.example:{port}/"), format!("both.example:{port}:127.0.0.1,::1"));
    // No program listens at the IPv4 address.
    let printed = json(&[&url, "--resolve", &pin]);
    let attempts = printed["requests"][0]["hops"][0]["attempts"].as_array().unwrap();
    assert_eq!((&attempts[0]["outcome"], &attempts[1]["outcome"]), (&"failed".into(), &"connected".into()));
    assert!(stdout(&[&format!("http://[::1]:{port}/")]).contains("3 B in"));
    assert_eq!(run(&[&url, "--resolve", &pin, "-4"]).status.code(), Some(2));
    let six = json(&[&url, "--resolve", &pin, "-6"]);
    assert_eq!(six["requests"][0]["hops"][0]["attempts"].as_array().unwrap().len(), 1);
    if six["recording"]["missing"].is_null() {
        assert!(!six["analysis"]["connections"][0]["handshake"].is_null());
    }
}
