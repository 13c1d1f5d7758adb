//! Files that a client may not read, and requests that must do no harm.

use crate::client::{Assistant, Pipes, samples};
use serde_json::{Value, json};
use std::fs;

#[test]
fn files_outside_of_the_folders_are_refused() {
    let tree = tempfile::tempdir().unwrap();
    let inside = tree.path().join("in");
    fs::create_dir(&inside).unwrap();
    let sample = samples().join("loss-client.pcap");
    fs::copy(&sample, inside.join("a.pcap")).unwrap();
    fs::copy(&sample, tree.path().join("b.pcap")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(tree.path().join("b.pcap"), inside.join("link.pcap")).unwrap();
    let mut client = Pipes::begun(&inside, &[]);
    assert_eq!(client.data("explain", json!({"files": "a.pcap"}))["findings"][0]["cause"], "loss");
    let outside = tree.path().join("b.pcap").display().to_string();
    for name in ["../b.pcap", "x/../../b.pcap", "/etc/passwd", &outside] {
        for (tool, arguments) in [
            ("explain", json!({"files": name})),
            ("finding", json!({"files": ["a.pcap", name], "id": "1.2/loss"})),
            ("packets", json!({"files": name, "frame": 1})),
            ("predict", json!({"files": name, "id": "1.2/loss"})),
            ("compare", json!({"a": "a.pcap", "b": format!("{name}#1")})),
        ] {
            let failure = client.failure(tool, arguments);
            assert!(failure.contains("outside of the allowed folders") && failure.contains("--dir"), "{failure}");
            assert!(failure.contains(inside.to_str().unwrap()), "{failure}");
        }
        let uri = format!("whyslow://report/json?file={name}");
        let error = client.ask("resources/read", json!({"uri": uri})).unwrap_err();
        assert!(error["message"].as_str().unwrap().contains("outside"), "{error}");
    }
    #[cfg(unix)]
    assert!(client.failure("explain", json!({"files": "link.pcap"})).contains("leads out"));
    let missing = client.failure("explain", json!({"files": "A.pcap"}));
    assert!(missing.contains("captures there: a.pcap"), "{missing}");
    for (name, why) in [("a\0.pcap", "NUL"), ("", "empty"), ("s3://bucket/a.pcap", "URL"), (".", "regular file")] {
        let failure = client.failure("explain", json!({"files": name}));
        assert!(failure.contains(why), "{failure}");
    }
}

#[test]
fn wrong_arguments_are_answered_with_what_to_do() {
    let mut client = Pipes::begun(&samples(), &[]);
    let file = "loss-client.pcap";
    for (tool, arguments, why) in [
        ("explain", json!({}), "missing field `files`"),
        ("explain", json!({"files": []}), "give 1 to 16 capture files"),
        ("explain", json!({"files": vec![file; 17]}), "17 files were given"),
        ("explain", json!({"files": file, "path": "x"}), "unknown field `path`"),
        ("explain", json!({"files": file, "limit": -1}), "the arguments are wrong"),
        ("explain", json!({"files": file, "cursor": "x"}), "cursor"),
        ("explain", json!({"files": file, "connection": 7}), "there is no connection 7"),
        ("explain", json!({"files": file, "cause": "gremlins"}), "there is no cause `gremlins`"),
        ("explain", json!({"files": "README.md"}), "Hint: give a capture"),
        ("finding", json!({"files": file, "id": "1.2/gremlins"}), "take an id that `explain` lists"),
        ("packets", json!({"files": file, "frame": "x"}), "is no frame"),
        ("packets", json!({"files": file, "frame": 0}), "numbered from 1"),
        ("packets", json!({"files": file, "frame": "9:1"}), "is no frame"),
        ("packets", json!({"files": file, "frame": 99_999_999}), "not a TCP segment"),
        ("packets", json!({"files": file, "frame": 1, "connection": 5}), "there is no connection 5"),
        ("predict", json!({"files": file, "id": "1.2/loss", "remedy": 99}), "there is no remedy 99"),
        ("causes", json!({"cause": "gremlins"}), "there is no cause"),
        ("host", json!({}), "the tool host is off"),
        ("probe", json!({"url": "http://127.0.0.1/"}), "--allow probe"),
    ] {
        let failure = client.failure(tool, arguments);
        assert!(failure.contains(why), "{tool}: {failure}");
    }
    for name in ["", "Explain", "../explain", "x\0y", &"x".repeat(10_000)] {
        let error = client.ask("tools/call", json!({"name": name, "arguments": {}})).unwrap_err();
        assert_eq!(error["code"], -32602, "{error}");
        assert!(error.to_string().len() < 1_000);
    }
    for method in ["tools/none", "resources/subscribe", "logging/setLevel", ""] {
        assert!(client.ask(method, json!({"uri": "x", "level": "info"})).is_err(), "{method}");
    }
}

#[test]
fn malformed_messages_do_not_end_the_server() {
    let mut client = Pipes::begun(&samples(), &[]);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let long =
        format!(r#"{{"jsonrpc":"2.0","id":9001,"method":"tools/list","params":{{"x":"{}"}}}}"#, "y".repeat(8 << 20));
    let nested = format!(r#"{{"jsonrpc":"2.0","id":9002,"method":"tools/call","params":{deep}}}"#);
    let lines: Vec<&[u8]> = vec![
        b"",
        b"{",
        b"null",
        b"7",
        b"[]",
        b"\"x\"",
        b"{}",
        b"\xff\xfe\x00",
        b"Content-Length: 7",
        deep.as_bytes(),
        br#"{"jsonrpc":"1.0","id":1,"method":"tools/list"}"#,
        br#"{"jsonrpc":"2.0","id":{},"method":"tools/list"}"#,
        br#"{"jsonrpc":"2.0","id":9003,"method":7}"#,
        br#"{"jsonrpc":"2.0","id":9004,"method":"tools/call"}"#,
        br#"{"jsonrpc":"2.0","id":9005,"method":"tools/call","params":{"name":7}}"#,
        br#"{"jsonrpc":"2.0","id":9006,"result":{}}"#,
        br#"{"jsonrpc":"2.0","method":"notifications/none"}"#,
        br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":12345}}"#,
        br#"[{"jsonrpc":"2.0","id":9007,"method":"tools/list"}]"#,
        long.as_bytes(),
        nested.as_bytes(),
    ];
    for line in lines {
        client.raw(line);
        client.raw(b"\n");
        // The server still answers.
        assert!(client.ask("ping", json!({})).is_ok(), "{}", String::from_utf8_lossy(&line[..line.len().min(80)]));
    }
    assert!(client.data("explain", json!({"files": "loss-client.pcap"}))["findings"].is_array());
    let (status, errors) = client.end();
    assert_eq!(status, Some(0), "{errors}");
    assert!(!errors.contains("panic"), "{errors}");
}

#[test]
fn a_client_that_does_not_begin_as_it_must_ends_the_server_in_order() {
    for first in ["", "GET / HTTP/1.1\n\n", "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"] {
        let mut client = Pipes::start(&samples(), &[]);
        client.raw(first.as_bytes());
        let (status, errors) = client.end();
        assert!(matches!(status, Some(0 | 2)), "{first}: {errors}");
        assert!(!errors.contains("panic"), "{errors}");
    }
}

#[test]
fn no_payload_leaves_the_server() {
    // A request line and its answer are in the clear there.
    let name = "derived/../programs/../slow-start-client.pcap";
    let bytes = fs::read(samples().join("slow-start-client.pcap")).unwrap();
    let mut client = Pipes::begun(&samples(), &[]);
    let packets = client.call("packets", json!({"files": name, "frame": 200, "around": 25}));
    let rows = packets["structuredContent"]["packets"].as_array().unwrap();
    assert_eq!(rows.len(), 51);
    let allowed = ["frame", "time_s", "from", "flags", "seq", "ack", "len", "window", "in_flight", "marks"];
    for row in rows {
        assert!(row.as_object().unwrap().keys().all(|member| allowed.contains(&member.as_str())), "{row}");
    }
    // Nothing of eight bytes or more that is in a packet's payload.
    let text = packets.to_string();
    for word in bytes.split(|byte| !byte.is_ascii_alphanumeric()).filter(|word| word.len() >= 8) {
        assert!(!text.contains(std::str::from_utf8(word).unwrap()), "{}", String::from_utf8_lossy(word));
    }
}

#[test]
fn a_capture_that_changed_is_read_again() {
    let tree = tempfile::tempdir().unwrap();
    let file = tree.path().join("a.pcap");
    let copy = |name: &str| fs::copy(samples().join(name), &file).unwrap();
    let mut client = Pipes::begun(tree.path(), &[]);
    let mut cause = || client.data("explain", json!({"files": "a.pcap"}))["findings"][0]["cause"].clone();
    copy("loss-client.pcap");
    assert_eq!([cause(), cause()], ["loss", "loss"]);
    copy("slow-start-client.pcap");
    assert_eq!(cause(), "slow-start");
    fs::remove_file(&file).unwrap();
    assert!(client.failure("explain", json!({"files": "a.pcap"})).contains("there is no file"));
}

#[test]
fn only_a_few_captures_are_kept() {
    let mut client = Pipes::begun(&samples(), &[]);
    let names = ["loss-client", "slow-start-client", "healthy-server", "reset-server", "policer-client", "tls-client"];
    for name in names {
        client.data("explain", json!({"files": format!("{name}.pcap")}));
    }
    let listed = client.ask("resources/list", json!({})).unwrap();
    let uris: Vec<_> = listed["resources"].as_array().unwrap().iter().map(|one| one["uri"].as_str().unwrap()).collect();
    assert_eq!(uris.len(), 8, "{uris:?}");
    assert_eq!(uris[0], "whyslow://report/markdown?file=tls-client.pcap");
    assert!(uris.iter().all(|uri| !uri.contains("loss-client")), "{uris:?}");
    assert_eq!(listed["nextCursor"], Value::Null);
}
