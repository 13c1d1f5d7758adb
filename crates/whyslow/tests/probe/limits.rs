//! Servers that send without end, that answer early, or that close: what a probe does with them.

use crate::run;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

/// A server that reads once on each connection, and then does something with it.
fn serve(answer: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, answer) = (stream.unwrap(), Arc::clone(&answer));
            std::thread::spawn(move || {
                let _ = stream.read(&mut [0; 4096]);
                answer(&mut stream);
            });
        }
    });
    url
}

/// The message for a failure.
#[track_caller]
fn complaint(arguments: &[&str]) -> String {
    let output = run(arguments);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    message
}

#[test]
fn interim_answers_without_end_are_read_no_further() {
    let url = serve(|stream| {
        let flood = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".repeat(1_000);
        while stream.write_all(&flood).is_ok() {}
    });
    let message = complaint(&[&url]);
    assert!(message.contains("more than 100 interim answers"), "{message}");
}

#[test]
fn a_head_without_end_is_read_no_further() {
    let url = serve(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nX: ");
        while stream.write_all(&[b'a'; 1_000]).is_ok() {}
    });
    let message = complaint(&[&url]);
    assert!(message.contains("256 KiB") || message.contains("too large"), "{message}");
}

#[test]
fn an_upload_that_is_answered_early_counts_what_left() {
    let url = serve(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
        // It reads no more, and its buffer is full soon. Closing at once would reset the connection
        // before the answer is read.
        sleep(Duration::from_secs(20));
    });
    let output = run(&[&url, "--upload", "64MB", "--json"]);
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let request = &printed["requests"][0];
    let hop = &request["hops"][0];
    let [sent, whole] = ["sent_bytes", "upload_bytes"].map(|name| hop[name].as_u64().unwrap());
    assert_eq!(whole, 64_000_000);
    assert!(sent < whole, "{sent} B");
    // The last sample comes after: the kernel had sent that much, the head included.
    let last = hop["samples"].as_array().unwrap().last().unwrap();
    assert!(sent <= last["bytes_sent"].as_u64().unwrap(), "{sent} B of {last}");
    assert_eq!(request["curl"]["size_upload"], sent);
    let [floor, total] = [&request["floor"]["seconds"], &hop["times"]["total_s"]].map(|time| time.as_f64().unwrap());
    assert!(floor <= total + 1e-3, "{floor} s of {total} s");
    let page = String::from_utf8(run(&[&url, "--upload", "64MB"]).stdout).unwrap();
    assert!(page.replace("\n      ", " ").contains("of 64,000,000 B sent"), "{page}");
}

#[test]
fn http_1_0_is_called_that_and_is_not_reused_in_silence() {
    let url = serve(|stream| {
        let _ = stream.write_all(b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok");
        let _ = stream.shutdown(std::net::Shutdown::Both);
    });
    let output = run(&[&url, "--reuse", "--repeat", "3", "--json"]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{message}");
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed["requests"][1]["hops"][0]["http"], "1.0");
    assert!(message.contains("--reuse: 2 of 2 requests needed a new connection"), "{message}");
    assert!(message.contains("it answers with HTTP/1.0"), "{message}");
}
