//! Uploads in parts.

use crate::backend::Backend;
use crate::client::{Ask, Got, ask, connect, put, receive};
use crate::pattern;
use crate::server::Server;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::io::Write;
use std::time::{Duration, Instant};

fn begin(server: &Server) -> String {
    let begun = ask("POST", "/bucket/large?uploads=").with("x-amz-meta-a", "1").send(server).ok();
    begun.tag("UploadId").unwrap()
}

fn part(server: &Server, id: &str, number: u32, bytes: Vec<u8>) -> String {
    let path = format!("/bucket/large?partNumber={number}&uploadId={id}");
    put(&path, bytes).send(server).ok().field("etag").unwrap()
}

fn completion(id: &str, parts: &[(u32, &str)]) -> Ask {
    let part =
        |(number, tag): &(u32, &str)| format!("<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag></Part>");
    let list: String = parts.iter().map(part).collect();
    let mut request = ask("POST", &format!("/bucket/large?uploadId={id}"));
    request.body = format!("<CompleteMultipartUpload>{list}</CompleteMultipartUpload>").into_bytes();
    request
}

fn complete(server: &Server, id: &str, parts: &[(u32, &str)]) -> Got {
    completion(id, parts).send(server)
}

/// A client that waits gets a header and white space, and the result in the document.
#[test]
fn a_client_that_waits_for_complete_is_kept_awake() {
    let backend = Backend::start();
    let server = Server::over(&backend, |options| options.limits.complete_patience = Duration::from_millis(500));
    backend.complete_slowly(Duration::from_millis(1200));
    for is_dropped in [false, true] {
        let id = begin(&server);
        let tag = part(&server, &id, 1, pattern(10));
        if is_dropped {
            ask("DELETE", &format!("/bucket/large?uploadId={id}")).send(&server).ok();
        }
        let mut stream = connect(&server);
        let request = completion(&id, &[(1, &tag)]).unsigned("connection", "close");
        stream.write_all(&request.bytes(&server)).unwrap();
        let began = Instant::now();
        let mut first = [0];
        stream.peek(&mut first).unwrap();
        let at_header = began.elapsed();
        let got = receive(&mut stream, "POST").unwrap();
        if is_dropped {
            // The part with the manifest is refused at once.
            got.is(404, "NoSuchUpload");
            continue;
        }
        assert!(began.elapsed() >= Duration::from_millis(1200) && at_header < began.elapsed());
        assert_eq!(got.status, 200);
        let text = got.text();
        let document = text.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '\0');
        assert!(text.contains("<CompleteMultipartUploadResult"), "{document}");
        assert!(text.matches(' ').count() >= 2, "white space came meanwhile: {text:?}");
    }
    assert!(ask("GET", "/bucket/large").send(&server).ok().body == pattern(10));
}

#[test]
fn parts_come_in_any_order_and_again() {
    let server = Server::start();
    let bytes = pattern(1_500_000);
    let id = begin(&server);
    let third = part(&server, &id, 3, bytes[1_000_000..].to_vec());
    let wrong = part(&server, &id, 1, pattern(7));
    let first = part(&server, &id, 1, bytes[..600_000].to_vec());
    let second = part(&server, &id, 2, bytes[600_000..1_000_000].to_vec());
    assert_ne!(wrong, first);
    let listed = ask("GET", &format!("/bucket/large?uploadId={id}")).send(&server).ok();
    assert_eq!(listed.text().matches("<Part>").count(), 3, "{}", listed.text());
    let uploads = ask("GET", "/bucket?uploads=").send(&server).ok();
    assert_eq!((uploads.tag("Key").as_deref(), uploads.tag("UploadId")), (Some("large"), Some(id.clone())));
    complete(&server, &id, &[(1, &wrong), (2, &second), (3, &third)]).is(400, "InvalidPart");
    complete(&server, &id, &[(2, &second), (1, &first)]).is(400, "InvalidPartOrder");
    complete(&server, &id, &[]).is(400, "MalformedXML");
    let done = complete(&server, &id, &[(1, &first), (2, &second), (3, &third)]).ok();
    let tag = done.tag("ETag").unwrap().replace("&quot;", "\"");
    let got = ask("GET", "/bucket/large").send(&server).ok();
    assert!(got.body == bytes);
    assert_eq!((got.field("etag"), got.field("x-amz-meta-a").as_deref()), (Some(tag.clone()), Some("1")));
    let listed = ask("GET", "/bucket?list-type=2").send(&server).ok();
    assert_eq!(listed.tag("Size").as_deref(), Some("1500000"));
    assert_eq!(listed.tag("ETag").map(|one| one.replace("&quot;", "\"")), Some(tag));
    let range = ask("GET", "/bucket/large").with("range", "bytes=599990-1000009").send(&server);
    assert_eq!((range.status, range.body.as_slice()), (206, &bytes[599_990..1_000_010]));
}

#[test]
fn parts_are_copied_and_uploads_dropped() {
    let server = Server::start();
    put("/bucket/from", pattern(300_000)).send(&server).ok();
    let id = begin(&server);
    let copied = ask("PUT", &format!("/bucket/large?partNumber=1&uploadId={id}"))
        .with("x-amz-copy-source", "/bucket/from")
        .with("x-amz-copy-source-range", "bytes=100000-199999");
    let tag = copied.send(&server).ok().tag("ETag").unwrap();
    complete(&server, &id, &[(1, &tag)]).ok();
    assert!(ask("GET", "/bucket/large").send(&server).ok().body == pattern(300_000)[100_000..200_000]);
    let id = begin(&server);
    let tag = part(&server, &id, 1, pattern(10));
    ask("DELETE", &format!("/bucket/large?uploadId={id}")).send(&server).ok();
    complete(&server, &id, &[(1, &tag)]).is(404, "NoSuchUpload");
    put("/bucket/large?partNumber=0&uploadId=x", "x").send(&server).is(400, "InvalidArgument");
    put("/bucket/large?partNumber=1&uploadId=x", "x").send(&server).is(404, "NoSuchUpload");
}

#[test]
fn a_part_with_a_wrong_checksum_is_not_stored() {
    let server = Server::start();
    let id = begin(&server);
    let path = format!("/bucket/large?partNumber=1&uploadId={id}");
    put(&path, "jello").with("x-amz-checksum-crc32", "NhCmhg==").send(&server).is(400, "BadDigest");
    let listed = ask("GET", &format!("/bucket/large?uploadId={id}")).send(&server).ok();
    assert_eq!(listed.text().matches("<Part>").count(), 0);
    let got = put(&path, "hello").with("x-amz-checksum-crc32", "NhCmhg==").send(&server).ok();
    assert_eq!(got.field("x-amz-checksum-crc32").as_deref(), Some("NhCmhg=="));
}

/// As boto3 sends it with `upload_fileobj(…, ExtraArgs={"ChecksumCRC32": …})`.
#[test]
fn checksum_at_completion_is_that_of_the_whole_object() {
    let server = Server::start();
    let bytes = pattern(300_000);
    let crc32 = STANDARD.encode(crc_fast::crc32_iso_hdlc(&bytes).to_be_bytes());
    let crc32c = STANDARD.encode(crc_fast::crc32_iscsi(&bytes).to_be_bytes());
    let crc64 = STANDARD.encode(crc_fast::crc64_nvme(&bytes).to_be_bytes());
    for (name, right, wrong) in [
        ("x-amz-checksum-crc32", &crc32, "NhCmhg=="),
        ("x-amz-checksum-crc32c", &crc32c, "mnG7TA=="),
        ("x-amz-checksum-crc64nvme", &crc64, "M3eFcAZSQlc="),
    ] {
        let id = begin(&server);
        let one = part(&server, &id, 1, bytes[..200_000].to_vec());
        let two = part(&server, &id, 2, bytes[200_000..].to_vec());
        let list = [(1, one.as_str()), (2, two.as_str())];
        let complete = |value: &str| {
            let request = completion(&id, &list).with(name, value).with("x-amz-checksum-type", "FULL_OBJECT");
            request.send(&server)
        };
        complete(wrong).is(400, "BadDigest");
        complete("nonsense").is(400, "InvalidRequest");
        let size = completion(&id, &list).with("x-amz-mp-object-size", "299999");
        size.send(&server).is(400, "InvalidRequest");
        // The upload is as it was.
        let done = complete(right).ok();
        let tag = format!("Checksum{}", name.trim_start_matches("x-amz-checksum-").to_uppercase());
        assert_eq!(done.tag(&tag).as_ref(), Some(right), "{}", done.text());
        assert_eq!(done.tag("ChecksumType").as_deref(), Some("FULL_OBJECT"));
        assert!(ask("GET", "/bucket/large").send(&server).ok().body == bytes);
    }
    // A checksum that could not be verified when the parts came is ignored, and not returned.
    let id = begin(&server);
    let one = part(&server, &id, 1, bytes.clone());
    let request = completion(&id, &[(1, &one)]).with("x-amz-checksum-sha256", &STANDARD.encode([0; 32]));
    let done = request.with("x-amz-checksum-type", "COMPOSITE").send(&server).ok();
    assert_eq!((done.tag("ChecksumSHA256"), done.tag("ChecksumCRC64NVME")), (None, Some(crc64)));
}

#[test]
fn document_of_a_completion_is_still_verified() {
    let server = Server::start();
    let id = begin(&server);
    let one = part(&server, &id, 1, pattern(10));
    completion(&id, &[(1, &one)]).with("content-md5", "XUFAKrxLKna5cZ2REBfFkg==").send(&server).is(400, "BadDigest");
    complete(&server, &id, &[(1, &one)]).ok();
}
