//! Servers that send without end, that answer early, or that close: what a probe does with them.

use crate::servers::{Nginx, Server};
use crate::{probe, run};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

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

/// A run's processor time (user and system), and how long it took.
fn processor_time(arguments: &[&str]) -> [Duration; 2] {
    let began = Instant::now();
    let mut child = probe(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // A process that has ended keeps its account until it is waited for (proc_pid_stat(5)).
    let stat = format!("/proc/{}/stat", child.id());
    let ticks = loop {
        let text = std::fs::read_to_string(&stat).unwrap();
        let fields: Vec<&str> = text.rsplit_once(") ").unwrap().1.split(' ').collect();
        if fields[0] == "Z" {
            break fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{arguments:?} does not end");
        sleep(Duration::from_millis(20));
    };
    let took = began.elapsed();
    assert_eq!(child.wait().unwrap().code(), Some(2), "{arguments:?}");
    // USER_HZ is 100.
    [Duration::from_millis(ticks * 10), took]
}

/// A peer that gives little costs little: much less processor time than time.
#[track_caller]
fn assert_waits(url: &str, more: &[&str]) {
    let arguments = [&[url, "--max-time", "3s"], more].concat();
    let [used, took] = processor_time(&arguments);
    assert!(used * 2 < took, "{used:?} of the processor in {took:?}");
}

#[test]
fn silent_and_trickling_servers_cost_little_processor_time() {
    assert_waits(&serve(|_| sleep(Duration::from_secs(20))), &[]);
    let trickle = |head: &'static [u8], piece: &'static [u8]| {
        serve(move |stream| {
            let _ = stream.write_all(head);
            while stream.write_all(piece).is_ok() {
                sleep(Duration::from_millis(5));
            }
        })
    };
    assert_waits(&trickle(b"HTTP/1.1 200 OK\r\nX: ", b"x"), &[]);
    assert_waits(&trickle(b"HTTP/1.1 200 OK\r\nContent-Length: 9999999\r\n\r\n", b"x"), &[]);
    assert_waits(&trickle(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"), &[]);
    // It reads nothing: the upload stands.
    assert_waits(&serve(|_| sleep(Duration::from_secs(20))), &["--upload", "64MB"]);
    // HTTP/2: SETTINGS, and then a byte of the body a frame.
    let two = b"\0\0\0\x04\0\0\0\0\0\0\0\x01\x01\x04\0\0\0\x01\x88";
    assert_waits(&trickle(two, b"\0\0\x01\0\0\0\0\0\x01x"), &["--http", "2"]);
}

#[test]
fn a_flood_of_http2_frames_is_read_no_further() {
    let flood = |frame: &'static [u8]| {
        let settings = b"\0\0\0\x04\0\0\0\0\0";
        serve(move |stream| {
            let _ = stream.write_all(settings);
            let many = frame.repeat(1_000);
            while stream.write_all(&many).is_ok() {}
        })
    };
    let ping = b"\0\0\x08\x06\0\0\0\0\x0012345678";
    let message = complaint(&[&flood(ping), "--http", "2", "--max-time", "30s"]);
    assert!(message.contains("more than 10,000 frames of HTTP/2"), "{message}");
    let push = b"\0\0\x07\x05\x04\0\0\0\x01\0\0\0\x02\x82\x86\x84";
    assert!(!complaint(&[&flood(push), "--http", "2", "--max-time", "30s"]).contains("--max-time"));
}

#[test]
fn trailers_and_chunk_extensions_without_end_are_read_no_further() {
    for (head, more) in [(&b"0\r\n"[..], &b"X-A: bbbbbbbbbbbbbbbbbbbb\r\n"[..]), (b"1;", b"xxxxxxxxxxxxxxxxxxxx")] {
        let url = serve(move |stream| {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
            let _ = stream.write_all(head);
            while stream.write_all(&more.repeat(100)).is_ok() {}
        });
        let message = complaint(&[&url, "--max-time", "30s"]);
        assert!(message.contains("receiving the answer") && !message.contains("--max-time"), "{message}");
    }
}

#[test]
fn redirects_without_end_are_followed_so_far() {
    let server = Server::start(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 302 Found\r\nLocation: /more\r\nContent-Length: 0\r\n\r\n");
    });
    let output = run(&[&server.url("/"), "--max-redirs", "3"]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("still redirected after 3 redirects (--max-redirs)"), "{message}");
    assert_eq!(server.got().len(), 4);
    // They are not followed.
    let output = run(&[&server.url("/"), "--max-redirs", "0"]);
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn escapes_in_headers_and_certificates_steer_no_terminal() {
    // CSI as one byte (0x9b) may stand in a header field.
    let url = serve(|stream| {
        let _ = stream.write_all(
            b"HTTP/1.1 302 Found\r\nLocation: http://a.invalid/\x9b31m\r\nContent-Type: text/\x9b2Jx\r\n\
              Content-Length: 0\r\n\r\n",
        );
    });
    let named = |folder: &std::path::Path| {
        let key = rcgen::generate_simple_self_signed(vec!["a\u{1b}[31m.example".to_owned()]).unwrap();
        std::fs::write(folder.join("cert.pem"), key.cert.pem()).unwrap();
        std::fs::write(folder.join("key.pem"), key.signing_key.serialize_pem()).unwrap();
    };
    let mut runs = vec![run(&[&url]), run(&[&url, "--max-redirs", "0"]), run(&[&url, "--max-redirs", "0", "--json"])];
    if let Some(nginx) = Nginx::start_with(Server::of_bytes(1).address, named, "") {
        let trust = nginx.trust();
        let [a, b, c, d] = trust.each_ref().map(String::as_str);
        runs.push(run(&[&nginx.url("/"), a, b, c, d]));
        assert_eq!(runs.last().unwrap().status.code(), Some(2));
    }
    for output in runs {
        for text in [output.stdout, output.stderr] {
            let text = String::from_utf8(text).unwrap();
            assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
        }
    }
}
