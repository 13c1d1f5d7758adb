//! The tools that look at more than captures.

use crate::client::{Assistant, Pipes, samples};
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

#[test]
fn a_probe_reports_the_phases_of_a_request() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/x", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4_096]);
            thread::sleep(std::time::Duration::from_millis(50));
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello");
        }
    });
    let mut client = Pipes::begun(&samples(), &["--allow", "probe"]);
    let probed = client.data("probe", json!({"url": url, "repeat": 2}));
    let requests = probed["requests"].as_array().unwrap();
    assert_eq!(requests.len(), 2);
    for request in requests {
        assert_eq!((&request["status"], &request["bytes"]), (&200.into(), &5.into()), "{probed}");
        assert!(request["times"]["first_byte_s"].as_f64().unwrap() >= 0.05, "{probed}");
    }
    for url in ["file:///etc/passwd", "--help", "example.org", ""] {
        assert!(client.failure("probe", json!({"url": url})).contains("no http:// or https:// URL"), "{url}");
    }
    // No program listens at this port.
    let refused = client.failure("probe", json!({"url": "http://127.0.0.1:9/"}));
    assert!(refused.contains("refused") && refused.contains("look at"), "{refused}");
    assert!(client.failure("host", json!({})).contains("the tool host is off"));
}

#[cfg(target_os = "linux")]
#[test]
fn the_state_of_this_machine_is_read() {
    let mut client = Pipes::begun(&samples(), &["--allow=host"]);
    let host = client.data("host", json!({"peer": "127.0.0.1"}));
    assert!(host["kernel"].as_str().unwrap().contains('.') && host["findings"].is_array(), "{host}");
    let failure = client.failure("host", json!({"peer": "--json"}));
    assert!(failure.contains("host failed"), "{failure}");
}
