//! `POST /upload/files`.

use crate::client::{Got, ask, send};
use crate::pattern;
use crate::server::{KEY, SECRET, Server};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

fn data(json: &str) -> Vec<u8> {
    format!("--B\r\nContent-Disposition: form-data; name=\"data\"\r\nContent-Type: application/json\r\n\r\n{json}\r\n")
        .into_bytes()
}

fn file(bytes: &[u8]) -> Vec<u8> {
    let head = "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"own.txt\"\r\nContent-Type: text/plain\r\n\r\n";
    [head.as_bytes(), bytes, b"\r\n"].concat()
}

fn post_as(server: &Server, parts: &[Vec<u8>], authorization: &str) -> Got {
    let body = [parts.concat(), b"--B--\r\n".to_vec()].concat();
    let head = format!(
        "POST /upload/files HTTP/1.1\r\nhost: {}\r\ncontent-type: multipart/form-data; boundary=B\r\n{authorization}content-length: {}\r\n\r\n",
        server.address,
        body.len()
    );
    send(server, &[head.into_bytes(), body].concat(), "POST")
}

fn post(server: &Server, parts: &[Vec<u8>]) -> Got {
    let pair = STANDARD.encode(format!("{KEY}:{SECRET}"));
    post_as(server, parts, &format!("authorization: Basic {pair}\r\n"))
}

/// A small file, with this description.
pub(crate) fn post_file(server: &Server, description: &str) -> Got {
    post(server, &[data(description), file(b"body")])
}

fn json(got: &Got) -> Value {
    serde_json::from_slice(&got.body).unwrap()
}

#[test]
fn a_file_is_stored_whether_or_not_its_size_is_known() {
    let server = Server::with(|options| options.form_bucket = Some("bucket".to_owned()));
    // Sizes around the part size of 8 MiB.
    for (length, parts) in [(0, 1), (1_000, 1), (8 << 20, 1), ((8 << 20) + 1, 2), (20_000_000, 3)] {
        let bytes = pattern(length);
        let got = post(&server, &[data(r#"{"name": "a b"}"#), file(&bytes)]).ok();
        let answer = json(&got);
        assert_eq!((answer["bucket"].as_str(), answer["key"].as_str()), (Some("bucket"), Some("a b")));
        assert_eq!((answer["size"].as_u64(), answer["parts"].as_u64()), (Some(length as u64), Some(parts)));
        let seconds = &answer["seconds"];
        assert!(seconds["total"].as_f64() > seconds["sealing"].as_f64() && seconds["storage"].is_null());
        assert!(seconds["sealing"].as_f64().unwrap() > 0.0);
        let stored = ask("GET", "/bucket/a%20b").send(&server).ok();
        assert!(stored.body == bytes);
        assert_eq!(stored.field("content-type").as_deref(), Some("text/plain"));
        assert_eq!(stored.field("etag").as_deref(), Some(format!("\"{}\"", answer["etag"].as_str().unwrap()).as_str()));
    }
    let known =
        data(r#"{"key": "known", "size": 100000, "content_type": "image/png", "metadata": {"A": "1"}, "other": []}"#);
    post(&server, &[known, file(&pattern(100_000))]).ok();
    let stored = ask("GET", "/bucket/known").send(&server).ok();
    assert_eq!(stored.field("content-type").as_deref(), Some("image/png"));
    assert_eq!(stored.field("x-amz-meta-a").as_deref(), Some("1"));
    assert_eq!(json(&post(&server, &[file(b"x")]))["key"], "own.txt");
    let record = server.record(|record| record.operation.as_deref() == Some("UploadFiles"));
    assert_eq!((record.key.as_deref(), record.access_key.as_deref()), (Some("own.txt"), Some(KEY)));
}

#[test]
fn what_is_wrong_with_a_form_is_said_and_nothing_is_stored() {
    let server = Server::start();
    let named = r#"{"bucket": "bucket", "key": "o"}"#;
    let sized = |size: u32| data(&format!(r#"{{"bucket": "bucket", "key": "o", "size": {size}}}"#));
    let wrong: [(&[Vec<u8>], u16, &str); 10] = [
        (&[file(b"x")], 400, "InvalidArgument"),
        (&[data(named)], 400, "InvalidArgument"),
        (&[data("{"), file(b"x")], 400, "InvalidArgument"),
        (&[data(named), data(named), file(b"x")], 400, "InvalidArgument"),
        (&[data(r#"{"bucket": "../etc", "key": "o"}"#), file(b"x")], 400, "InvalidBucketName"),
        (&[data(r#"{"bucket": "absent", "key": "o"}"#), file(b"x")], 404, "NoSuchBucket"),
        (&[sized(2), file(b"x")], 400, "IncompleteBody"),
        (&[sized(2), file(b"xyz")], 400, "IncompleteBody"),
        (&[data(named), file(b"x"), data(named)], 400, "InvalidArgument"),
        (&[sized(1), file(b"x"), data(named)], 400, "InvalidArgument"),
    ];
    for (parts, status, code) in wrong {
        let got = post(&server, parts);
        let what = String::from_utf8_lossy(&parts.concat()).into_owned();
        assert_eq!((got.status, json(&got)["error"].as_str()), (status, Some(code)), "{what}\n{}", got.text());
        assert!(!json(&got)["message"].as_str().unwrap().is_empty());
    }
    let got = post(&server, &[data(&format!(r#"{{"name": "{}"}}"#, "x".repeat(70_000))), file(b"x")]);
    assert_eq!(json(&got)["error"], "EntityTooLarge");
    assert_eq!(crate::files(&server), 0);
}

#[test]
fn forms_want_a_key_and_a_secret() {
    let server = Server::start();
    let form = [data(r#"{"bucket": "bucket", "key": "o"}"#), file(b"x")];
    for authorization in ["", "authorization: Basic QTpC\r\n", "authorization: Bearer x\r\n"] {
        let got = post_as(&server, &form, authorization);
        assert_eq!((got.status, json(&got)["error"].as_str()), (401, Some("AccessDenied")), "{authorization}");
        assert!(got.field("www-authenticate").is_some());
    }
    let open = Server::with(|options| options.access = whyslow_gateway::front::Access::Everybody);
    post_as(&open, &form, "").ok();
    // A browser's form is for a bucket, and not for an object.
    let head = |path: &str| {
        let form = "content-type: multipart/form-data; boundary=B";
        format!("POST {path} HTTP/1.1\r\nhost: {}\r\n{form}\r\ncontent-length: 0\r\n\r\n", open.address)
    };
    send(&open, head("/bucket/key").as_bytes(), "POST").is(501, "NotImplemented");
    send(&open, head("/bucket").as_bytes(), "POST").is(400, "IncompleteBody");
}

fn field(name: &str, value: &str) -> Vec<u8> {
    format!("--B\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n").into_bytes()
}

/// As a browser sends it; `missing` bytes of the body do not come.
fn browse(server: &Server, parts: &[Vec<u8>], missing: usize) -> Got {
    let body = [parts.concat(), b"--B--\r\n".to_vec()].concat();
    let head = format!(
        "POST /bucket HTTP/1.1\r\nhost: {}\r\ncontent-type: multipart/form-data; boundary=B\r\ncontent-length: {}\r\n\r\n",
        server.address,
        body.len()
    );
    let mut stream = crate::client::connect(server);
    use std::io::Write;
    stream.write_all(&[head.as_bytes(), &body[..body.len() - missing]].concat()).unwrap();
    if missing > 0 {
        stream.shutdown(std::net::Shutdown::Write).unwrap();
    }
    crate::client::receive(&mut stream, "POST").unwrap()
}

#[test]
fn browsers_form_that_ends_early_stores_nothing() {
    let server = Server::with(|options| options.access = whyslow_gateway::front::Access::Everybody);
    for length in [1000, 9 << 20] {
        let form = [field("key", "o"), file(&pattern(length))];
        browse(&server, &form, 100).is(400, "IncompleteBody");
        assert_eq!(crate::files(&server), 0);
        assert_eq!(browse(&server, &form, 0).status, 204);
        assert!(ask("GET", "/bucket/o").send(&server).ok().body == pattern(length));
        ask("DELETE", "/bucket/o").send(&server);
    }
    let record = server.record(|record| record.operation.as_deref() == Some("PostObject"));
    assert_eq!((record.bucket.as_deref(), record.key.as_deref()), (Some("bucket"), Some("o")));
}

#[test]
fn browsers_form_has_bounds() {
    let server = Server::with(|options| options.access = whyslow_gateway::front::Access::Everybody);
    let long = "x".repeat(70_000);
    browse(&server, &[field("key", "o"), field("x-amz-meta-a", &long), file(b"x")], 0).is(400, "EntityTooLarge");
    let many: Vec<_> = (0..300).map(|n| field(&n.to_string(), "x")).collect();
    browse(&server, &[many.concat(), field("key", "o"), file(b"x")], 0).is(400, "InvalidArgument");
    browse(&server, &[field("key", "o"), field("Key", "p"), file(b"x")], 0).is(400, "InvalidArgument");
    assert_eq!(crate::files(&server), 0);
}

#[test]
fn a_form_that_is_cut_or_endless_is_refused() {
    let server = Server::start();
    let mut half = file(&pattern(100_000));
    half.truncate(60_000);
    let body = [data(r#"{"bucket": "bucket", "key": "o"}"#), half].concat();
    let pair = STANDARD.encode(format!("{KEY}:{SECRET}"));
    let head = format!(
        "POST /upload/files HTTP/1.1\r\nhost: h\r\ncontent-type: multipart/form-data; boundary=B\r\nauthorization: Basic {pair}\r\n"
    );
    let cut = [format!("{head}content-length: {}\r\n\r\n", body.len()).into_bytes(), body].concat();
    let got = send(&server, &cut, "POST");
    assert_eq!((got.status, json(&got)["error"].as_str()), (400, Some("IncompleteBody")));
    let endless = vec![b'a'; 3 << 20];
    let heads = [format!("{head}content-length: {}\r\n\r\n", endless.len()).into_bytes(), endless].concat();
    let got = send(&server, &heads, "POST");
    assert_eq!((got.status, json(&got)["error"].as_str()), (400, Some("InvalidArgument")));
    assert_eq!(crate::files(&server), 0);
}
