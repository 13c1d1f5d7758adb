//! Clients that sign wrongly, lie about the bytes, or leave halfway: nothing is stored, and the
//! answer has the reason.

use crate::client::{ask, connect, put, receive, send};
use crate::pattern;
use crate::server::Server;
use std::io::Write;
use std::time::{Duration, SystemTime};

/// Nothing of it is there, neither under its name nor aside.
#[track_caller]
fn nothing_is_stored(server: &Server) {
    ask("GET", "/bucket/o").send(server).is(404, "NoSuchKey");
    assert_eq!(crate::files(server), 0);
}

#[test]
fn who_signs_wrongly_is_refused() {
    let server = Server::start();
    let mut wrong = put("/bucket/o", "x");
    wrong.secret = "another";
    wrong.send(&server).is(403, "SignatureDoesNotMatch");
    let mut unknown = put("/bucket/o", "x");
    unknown.key = "NOBODY";
    unknown.send(&server).is(403, "InvalidAccessKeyId");
    for ahead in [false, true] {
        let mut skewed = put("/bucket/o", "x");
        let hour = Duration::from_secs(3600);
        skewed.at = if ahead { SystemTime::now() + hour } else { SystemTime::now() - hour };
        skewed.send(&server).is(403, "RequestTimeTooSkewed");
    }
    let host = server.address;
    let head = format!("PUT /bucket/o HTTP/1.1\r\nhost: {host}\r\ncontent-length: 1\r\n");
    send(&server, format!("{head}\r\nx").as_bytes(), "PUT").is(403, "AccessDenied");
    let version_2 = format!("{head}authorization: AWS AKIDEXAMPLE:c2lnbmF0dXJl\r\n\r\nx");
    send(&server, version_2.as_bytes(), "PUT").is(400, "InvalidRequest");
    nothing_is_stored(&server);
    let record = server.record(|record| record.error.as_deref() == Some("SignatureDoesNotMatch"));
    assert_eq!((record.status, record.access_key.as_deref()), (Some(403), None));
}

#[test]
fn a_link_is_good_for_what_it_was_made_for() {
    let server = Server::start();
    put("/bucket/o", "by link").send_link(&server).ok();
    assert_eq!(ask("GET", "/bucket/o").send_link(&server).ok().text(), "by link");
    let mut old = ask("GET", "/bucket/o");
    old.at = SystemTime::now() - Duration::from_secs(61);
    old.send_link(&server).is(403, "AccessDenied");
    let mut long = ask("GET", "/bucket/o");
    long.expires = Duration::from_secs(604_801);
    long.send_link(&server).is(400, "AuthorizationQueryParametersError");
    let mut week = ask("GET", "/bucket/o");
    week.expires = Duration::from_secs(604_800);
    week.send_link(&server).ok();
    // A link to store an object does not permit a copy to that place.
    let copy = ask("PUT", "/bucket/p").unsigned("x-amz-copy-source", "/bucket/o");
    copy.send_link(&server).is(403, "AccessDenied");
    // A field that claims to cover it does not help.
    let says = "AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=host;x-amz-copy-source, Signature=c";
    let copy = ask("PUT", "/bucket/p").unsigned("x-amz-copy-source", "/bucket/o").unsigned("authorization", says);
    assert_eq!(copy.send_link(&server).status, 403);
    assert!(!server.stored("p").exists());
}

#[test]
fn wrong_checksums_store_nothing() {
    let server = Server::start();
    let wrong = [
        ("content-md5", "XUFAKrxLKna5cZ2REBfFkg=="),
        ("x-amz-checksum-crc32", "NhCmhg=="),
        ("x-amz-checksum-crc32c", "mnG7TA=="),
        ("x-amz-checksum-crc64nvme", "M3eFcAZSQlc="),
        ("x-amz-checksum-sha1", "qvTGHdzF6KLavt4PO0gs2a6pQ00="),
        ("x-amz-checksum-sha256", "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="),
    ];
    for (name, value) in wrong {
        for length in [4, 300_000] {
            put("/bucket/o", pattern(length)).with(name, value).send(&server).is(400, "BadDigest");
        }
        put("/bucket/right", "hello").with(name, value).send(&server).ok();
    }
    let hash = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    let hashed = |bytes: &str| put("/bucket/right", bytes).with("x-amz-content-sha256", hash);
    hashed("hello").send(&server).ok();
    hashed("jello").send(&server).is(400, "XAmzContentSHA256Mismatch");
    put("/bucket/o", "x").with("content-md5", "nonsense").send(&server).is(400, "InvalidDigest");
    assert_eq!(ask("GET", "/bucket/right").send(&server).ok().text(), "hello");
    ask("DELETE", "/bucket/right").send(&server).ok();
    nothing_is_stored(&server);
}

fn chunked(body: &[u8], decoded: usize) -> crate::client::Ask {
    put("/bucket/o", body)
        .with("content-encoding", "aws-chunked")
        .with("x-amz-content-sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER")
        .with("x-amz-decoded-content-length", &decoded.to_string())
        .with("x-amz-trailer", "x-amz-checksum-crc32")
}

#[test]
fn trailers_are_verified_before_anything_is_stored() {
    let server = Server::start();
    let body = |sum: &str| format!("2\r\nhe\r\n3\r\nllo\r\n0\r\nx-amz-checksum-crc32:{sum}\r\n\r\n").into_bytes();
    chunked(&body("AAAAAA=="), 5).send(&server).is(400, "BadDigest");
    chunked(&body("nonsense"), 5).send(&server).is(400, "MalformedTrailerError");
    chunked(b"5\r\nhello\r\n0\r\n\r\n", 5).send(&server).is(400, "MalformedTrailerError");
    chunked(&body("NhCmhg=="), 4).send(&server).is(400, "IncompleteBody");
    chunked(&body("NhCmhg=="), 6).send(&server).is(400, "IncompleteBody");
    chunked(b"2\r\nhello", 5).send(&server).is(400, "InvalidRequest");
    nothing_is_stored(&server);
    let got = chunked(&body("NhCmhg=="), 5).send(&server).ok();
    assert_eq!(got.field("x-amz-checksum-crc32").as_deref(), Some("NhCmhg=="));
    let got = ask("GET", "/bucket/o").send(&server).ok();
    assert_eq!((got.text().as_str(), got.field("content-encoding")), ("hello", None));
}

#[test]
fn who_goes_in_the_middle_leaves_nothing() {
    let server = Server::start();
    for length in [1_000, 500_000] {
        let bytes = put("/bucket/o", pattern(length)).bytes(&server);
        let mut stream = connect(&server);
        stream.write_all(&bytes[..bytes.len() - 10]).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        // A client that can send no more gets an answer, or not.
        if let Some(got) = receive(&mut stream, "PUT") {
            got.is(400, "IncompleteBody");
        }
        let record =
            server.record(|record| record.bytes_in as usize > length / 2 && record.bytes_in as usize <= length);
        assert!(record.status != Some(200));
        drop(stream);
    }
    crate::until("nothing aside", || crate::files(&server) == 0);
    nothing_is_stored(&server);
}

#[test]
fn lengths_that_are_missing_or_too_large() {
    let server = Server::with(|options| options.limits.object_bytes = 1_000);
    put("/bucket/o", pattern(1_001)).send(&server).is(400, "EntityTooLarge");
    let unknown = put("/bucket/o", "1\r\nx\r\n0\r\n\r\n").with("transfer-encoding", "chunked");
    unknown.send(&server).is(411, "MissingContentLength");
    nothing_is_stored(&server);
    put("/bucket/o", pattern(1_000)).send(&server).ok();
}

#[test]
fn requests_without_keys_need_no_auth() {
    let server = Server::with(|options| options.access = whyslow_gateway::front::Access::Everybody);
    let host = server.address;
    let plain = format!("PUT /bucket/o HTTP/1.1\r\nhost: {host}\r\ncontent-length: 1\r\n\r\nx");
    send(&server, plain.as_bytes(), "PUT").ok();
    let mut other = ask("GET", "/bucket/o");
    other.secret = "another";
    assert_eq!(other.send(&server).ok().text(), "x");
    assert_eq!(ask("GET", "/bucket/o").send_link(&server).ok().text(), "x");
    assert_eq!(server.record(|record| record.operation.as_deref() == Some("GetObject")).access_key, None);
    // Signed chunks are decoded, although no secret is known.
    let body = b"1;chunk-signature=0\r\ny\r\n0;chunk-signature=0\r\n\r\n";
    let signed = put("/bucket/o", &body[..])
        .with("x-amz-content-sha256", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD")
        .with("x-amz-decoded-content-length", "1");
    signed.send(&server).ok();
    assert_eq!(ask("GET", "/bucket/o").send(&server).ok().text(), "y");
}

#[test]
fn chunks_with_wrong_signatures_store_nothing() {
    let server = Server::start();
    let body = b"1;chunk-signature=0\r\ny\r\n0;chunk-signature=0\r\n\r\n";
    let signed = put("/bucket/o", &body[..])
        .with("x-amz-content-sha256", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD")
        .with("x-amz-decoded-content-length", "1");
    signed.send(&server).is(403, "SignatureDoesNotMatch");
    nothing_is_stored(&server);
}

#[test]
fn object_whose_beginning_was_changed_is_502() {
    let server = Server::start();
    let file = server.stored("o");
    for at in [100, 300] {
        put("/bucket/o", pattern(300_000)).send(&server).ok();
        let mut stored = std::fs::read(&file).unwrap();
        stored[at] ^= 1;
        std::fs::OpenOptions::new().write(true).open(&file).unwrap().write_all(&stored).unwrap();
        ask("GET", "/bucket/o").send(&server).is(502, "ObjectNotAuthentic");
    }
}

/// As `cp -r` leaves a bucket: a list without its keys would empty a mirror.
#[test]
fn list_of_files_without_attributes_is_an_error_that_names_the_key() {
    let server = Server::start();
    put("/bucket/folder/a", pattern(10)).send(&server).ok();
    put("/bucket/folder/b", pattern(10)).send(&server).ok();
    let file = server.stored("folder/b");
    let bytes = std::fs::read(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    std::fs::write(&file, bytes).unwrap();
    for path in ["/bucket?list-type=2", "/bucket", "/bucket?list-type=2&prefix=folder%2F", "/bucket/folder/b"] {
        let got = ask("GET", path).send(&server);
        got.is(502, "ObjectNotSealed");
        assert!(got.text().contains("copied without its extended attribute"), "{}", got.text());
        assert!(path.ends_with('b') || got.text().contains("`folder/b`"), "{}", got.text());
        assert!(!got.text().contains(file.parent().unwrap().to_str().unwrap()), "{}", got.text());
        let record = server.record(|record| record.error.as_deref() == Some("ObjectNotSealed"));
        assert!(record.request.message.unwrap().contains(file.to_str().unwrap()), "the log names the file");
    }
}

/// Clients must not learn where the store is.
#[test]
fn answers_name_no_folders_of_the_machine() {
    let server = Server::start();
    put("/bucket/a", pattern(10)).send(&server).ok();
    let got = put("/bucket/a/b", "x").send(&server);
    got.is(400, "InvalidRequest");
    let folder = server.stored("");
    assert!(!got.text().contains(folder.parent().unwrap().to_str().unwrap()), "{}", got.text());
}

#[test]
fn an_object_that_was_changed_is_cut_short_and_recorded() {
    let server = Server::start();
    put("/bucket/o", pattern(300_000)).send(&server).ok();
    let file = server.stored("o");
    let mut stored = std::fs::read(&file).unwrap();
    stored[200_000] ^= 1;
    std::fs::OpenOptions::new().write(true).open(&file).unwrap().write_all(&stored).unwrap();
    let got = ask("GET", "/bucket/o").send(&server);
    assert_eq!(got.field("content-length").as_deref(), Some("300000"));
    assert!(got.body.len() < 300_000 && pattern(300_000).starts_with(&got.body), "{}", got.body.len());
    let record = server.record(|record| record.operation.as_deref() == Some("GetObject"));
    assert!(!record.is_whole && record.error.is_some(), "{record:?}");
}
