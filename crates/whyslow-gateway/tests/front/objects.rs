//! Answers to S3's operations.

use crate::client::{Got, ask, put};
use crate::pattern;
use crate::server::Server;

fn get(server: &Server, path: &str) -> Got {
    ask("GET", path).send(server)
}

#[test]
fn an_object_is_stored_sealed_and_comes_back() {
    let server = Server::start();
    let bytes = pattern(200_000);
    let stored = put("/bucket/a/b.txt", bytes.clone())
        .with("content-type", "text/plain")
        .with("cache-control", "no-cache")
        .with("expires", "Fri, 01 Jan 2100 00:00:00 GMT")
        .with("x-amz-meta-colour", "blue")
        .send(&server)
        .ok();
    let tag = stored.field("etag").unwrap();
    assert!(tag.starts_with("\"w1-"), "{tag}");
    assert_eq!(stored.field("x-amz-checksum-crc64nvme").map(|sum| sum.len()), Some(12));
    let at_rest = std::fs::read(server.stored("a/b.txt")).unwrap();
    assert!(at_rest.starts_with(b"age-encryption.org/v1\n"));
    for method in ["GET", "HEAD"] {
        let got = ask(method, "/bucket/a/b.txt").send(&server).ok();
        assert_eq!(got.field("etag").as_ref(), Some(&tag));
        assert_eq!(got.field("content-length").as_deref(), Some("200000"));
        assert_eq!(got.field("content-type").as_deref(), Some("text/plain"));
        assert_eq!(got.field("cache-control").as_deref(), Some("no-cache"));
        assert_eq!(got.field("expires").as_deref(), Some("Fri, 01 Jan 2100 00:00:00 GMT"));
        assert_eq!(got.field("x-amz-meta-colour").as_deref(), Some("blue"));
        assert!(method == "HEAD" || got.body == bytes);
    }
    let listed = get(&server, "/bucket?list-type=2").ok();
    assert_eq!((listed.tag("Key").as_deref(), listed.tag("Size").as_deref()), (Some("a/b.txt"), Some("200000")));
    assert_eq!(listed.tag("ETag").map(|one| one.replace("&quot;", "\"")), Some(tag));
    let record = server.record(|record| record.operation.as_deref() == Some("PutObject"));
    assert_eq!((record.bytes_in, record.status, record.key.as_deref()), (200_000, Some(200), Some("a/b.txt")));
    assert_eq!(record.access_key.as_deref(), Some(crate::server::KEY));
    assert!(record.is_whole && record.error.is_none());
    let record = server.record(|record| record.operation.as_deref() == Some("GetObject") && record.is_whole);
    assert_eq!(record.bytes_out, 200_000);
    ask("DELETE", "/bucket/a/b.txt").send(&server).ok();
    get(&server, "/bucket/a/b.txt").is(404, "NoSuchKey");
    assert_eq!(server.record(|record| record.status == Some(404)).error.as_deref(), Some("NoSuchKey"));
}

#[test]
fn ranges_and_conditions() {
    let server = Server::start();
    let bytes = pattern(150_000);
    let tag = put("/bucket/o", bytes.clone()).send(&server).ok().field("etag").unwrap();
    for (range, first, end) in
        [("bytes=0-9", 0, 10), ("bytes=65530-131080", 65_530, 131_081), ("bytes=-5", 149_995, 150_000)]
    {
        let got = ask("GET", "/bucket/o").with("range", range).send(&server);
        assert_eq!((got.status, &got.body[..]), (206, &bytes[first..end]));
        assert_eq!(got.field("content-range"), Some(format!("bytes {first}-{}/150000", end - 1)));
        let head = ask("HEAD", "/bucket/o").with("range", range).send(&server);
        assert_eq!((head.status, head.field("content-length")), (206, Some((end - first).to_string())));
    }
    ask("GET", "/bucket/o").with("range", "bytes=150000-").send(&server).is(416, "InvalidRange");
    ask("GET", "/bucket/o").with("if-match", "\"other\"").send(&server).is(412, "PreconditionFailed");
    let same = ask("GET", "/bucket/o").with("if-none-match", &tag).send(&server);
    assert_eq!((same.status, same.body.len()), (304, 0));
    put("/bucket/o", "new").with("if-none-match", "*").send(&server).is(412, "PreconditionFailed");
    put("/bucket/o", "new").with("if-match", "\"w1-other\"").send(&server).is(412, "PreconditionFailed");
    for (only, status) in [(tag.as_str(), 206), ("\"w1-other\"", 200)] {
        let got = ask("GET", "/bucket/o").with("range", "bytes=0-9").with("if-range", only).send(&server);
        assert_eq!(got.status, status, "{only}");
    }
    put("/bucket/o", "new").with("if-match", &tag).send(&server).ok();
    assert_eq!(get(&server, "/bucket/o").body, b"new");
}

#[test]
fn a_part_is_read_by_its_number() {
    let server = Server::start();
    let bytes = pattern(300_000);
    let id = ask("POST", "/bucket/m?uploads=").send(&server).ok().tag("UploadId").unwrap();
    let mut list = String::new();
    for (number, range) in [(2, 0..100_000), (5, 100_000..300_000), (7, 300_000..300_000)] {
        let path = format!("/bucket/m?partNumber={number}&uploadId={id}");
        let tag = put(&path, &bytes[range]).send(&server).ok().field("etag").unwrap();
        list.push_str(&format!("<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag></Part>"));
    }
    let mut complete = ask("POST", &format!("/bucket/m?uploadId={id}"));
    complete.body = format!("<CompleteMultipartUpload>{list}</CompleteMultipartUpload>").into_bytes();
    complete.send(&server).ok();
    for (number, first, end) in [(2, 0, 100_000), (5, 100_000, 300_000)] {
        let path = format!("/bucket/m?partNumber={number}");
        let got = get(&server, &path);
        assert_eq!((got.status, &got.body[..]), (206, &bytes[first..end]), "{}", got.head);
        assert_eq!(got.field("content-range"), Some(format!("bytes {first}-{}/300000", end - 1)));
        let head = ask("HEAD", &path).send(&server);
        assert_eq!((head.status, head.field("content-length")), (206, Some((end - first).to_string())));
        for one in [got, head] {
            assert_eq!(one.field("x-amz-mp-parts-count").as_deref(), Some("3"), "{}", one.head);
        }
    }
    let empty = get(&server, "/bucket/m?partNumber=7");
    assert_eq!((empty.status, empty.body.len(), empty.field("content-range")), (200, 0, None));
    get(&server, "/bucket/m?partNumber=1").is(416, "InvalidPartNumber");
    get(&server, "/bucket/m?partNumber=0").is(400, "InvalidArgument");
    ask("GET", "/bucket/m?partNumber=2").with("range", "bytes=0-9").send(&server).is(400, "InvalidRequest");
    ask("GET", "/bucket/m?partNumber=2").with("if-match", "\"w1-other\"").send(&server).is(412, "PreconditionFailed");
    // An object that was sent whole is one part, and does not count its parts.
    put("/bucket/single", bytes.clone()).send(&server).ok();
    let got = get(&server, "/bucket/single?partNumber=1");
    assert!(got.status == 206 && got.body == bytes && got.field("x-amz-mp-parts-count").is_none());
    get(&server, "/bucket/single?partNumber=2").is(416, "InvalidPartNumber");
    assert_eq!(get(&server, "/bucket/m").field("x-amz-mp-parts-count"), None);
}

#[test]
fn an_object_is_deleted_under_a_condition() {
    let server = Server::start();
    let old = put("/bucket/o", "old").send(&server).ok().field("etag").unwrap();
    let new = put("/bucket/o", "new").send(&server).ok().field("etag").unwrap();
    for tag in [old.as_str(), "\"none\""] {
        ask("DELETE", "/bucket/o").with("if-match", tag).send(&server).is(412, "PreconditionFailed");
    }
    assert_eq!(get(&server, "/bucket/o").body, b"new");
    assert_eq!(ask("DELETE", "/bucket/o").with("if-match", &new).send(&server).status, 204);
    ask("DELETE", "/bucket/o").with("if-match", "*").send(&server).is(404, "NoSuchKey");
    put("/bucket/o", "again").send(&server).ok();
    assert_eq!(ask("DELETE", "/bucket/o").with("if-match", "*").send(&server).status, 204);
    get(&server, "/bucket/o").is(404, "NoSuchKey");
}

#[test]
fn an_empty_object_and_names_of_all_kinds() {
    let server = Server::start();
    put("/bucket/empty", "").send(&server).ok();
    let got = get(&server, "/bucket/empty").ok();
    assert_eq!((got.status, got.body.len()), (200, 0));
    for path in ["/bucket/a%20b%2Bc", "/bucket/%C3%BC%26%3C", "/bucket/x~y(z)!'*"] {
        put(path, path).send(&server).ok();
        assert_eq!(get(&server, path).ok().text(), path);
    }
    let listed = get(&server, "/bucket?list-type=2&encoding-type=url").ok().text();
    assert!(listed.contains("<Key>a%20b%2Bc</Key>") && listed.contains("<Key>%C3%BC%26%3C</Key>"), "{listed}");
    put(&format!("/bucket/{}", "k".repeat(1025)), "x").send(&server).is(400, "KeyTooLongError");
}

#[test]
fn lists_go_on_where_they_ended() {
    let server = Server::start();
    for key in ["a/1", "a/2", "b", "c/1", "d"] {
        put(&format!("/bucket/{key}"), "x").send(&server).ok();
    }
    for version in ["&list-type=2", ""] {
        let (mut found, mut place) = (Vec::new(), String::new());
        for _ in 0..10 {
            let got = get(&server, &format!("/bucket?delimiter=%2F&max-keys=1{version}{place}")).ok();
            let text = got.text();
            let prefix = text.split_once("<CommonPrefixes>").and_then(|(_, rest)| rest.split_once("</Prefix>"));
            found.push(got.tag("Key").or(prefix.map(|(prefix, _)| prefix.replace("<Prefix>", ""))).unwrap());
            let next = got.tag("NextContinuationToken").map(|token| format!("&continuation-token={token}"));
            let marker = got.tag("NextMarker").map(|marker| format!("&marker={}", marker.replace('/', "%2F")));
            let Some(next) = next.or(marker) else { break };
            place = next;
        }
        assert_eq!(found, ["a/", "b", "c/", "d"], "{version:?}");
    }
    let none = get(&server, "/bucket?list-type=2&max-keys=0").ok();
    assert_eq!((none.tag("KeyCount").as_deref(), none.tag("IsTruncated").as_deref()), (Some("0"), Some("false")));
    get(&server, "/bucket?list-type=2&continuation-token=_w").is(400, "InvalidArgument");
    get(&server, "/absent?list-type=2").is(404, "NoSuchBucket");
}

#[test]
fn deleting_many_lists_each_result() {
    let server = Server::start();
    for key in ["1", "2", "3"] {
        put(&format!("/bucket/{key}"), "x").send(&server).ok();
    }
    let document = "<Delete><Object><Key>1</Key></Object><Object><Key>2</Key></Object>\
        <Object><Key>3</Key><VersionId>v</VersionId></Object></Delete>";
    let mut delete = ask("POST", "/bucket?delete=");
    delete.body = document.as_bytes().to_vec();
    let got = delete.send(&server).ok();
    let text = got.text();
    assert_eq!((text.matches("<Deleted>").count(), text.matches("<Error>").count()), (2, 1), "{text}");
    assert!(server.stored("3").exists() && !server.stored("1").exists());
    // A document is verified like an object.
    let mut wrong = ask("POST", "/bucket?delete=").with("content-md5", "XUFAKrxLKna5cZ2REBfFkg==");
    wrong.body = document.replace("<VersionId>v</VersionId>", "").into_bytes();
    wrong.send(&server).is(400, "BadDigest");
    assert!(server.stored("3").exists());
}

#[test]
fn copies_keep_or_replace_what_is_stored_with_them() {
    let server = Server::start();
    put("/bucket/from", pattern(1000)).with("x-amz-meta-a", "1").send(&server).ok();
    let copy = |to: &str| ask("PUT", to).with("x-amz-copy-source", "/bucket/from");
    copy("/bucket/to").send(&server).ok();
    assert_eq!(get(&server, "/bucket/to").ok().field("x-amz-meta-a").as_deref(), Some("1"));
    let replaced = copy("/bucket/other").with("x-amz-metadata-directive", "REPLACE").with("x-amz-meta-b", "2");
    replaced.send(&server).ok();
    let got = get(&server, "/bucket/other").ok();
    assert_eq!((got.field("x-amz-meta-a"), got.field("x-amz-meta-b")), (None, Some("2".to_owned())));
    assert_eq!(got.body, pattern(1000));
    copy("/bucket/from").send(&server).is(400, "InvalidRequest");
    copy("/bucket/x").with("x-amz-copy-source-if-match", "\"w1-no\"").send(&server).is(412, "PreconditionFailed");
    ask("PUT", "/bucket/x").with("x-amz-copy-source", "/bucket/absent").send(&server).is(404, "NoSuchKey");
}

#[test]
fn buckets_come_and_go() {
    let server = Server::start();
    ask("PUT", "/second").send(&server).ok();
    let listed = get(&server, "/").ok().text();
    assert!(listed.contains("<Name>bucket</Name>") && listed.contains("<Name>second</Name>"), "{listed}");
    assert_eq!(ask("HEAD", "/second").send(&server).status, 200);
    assert_eq!(ask("HEAD", "/third").send(&server).status, 404);
    get(&server, "/second?location").ok();
    get(&server, "/second?versioning").ok();
    put("/second/o", "x").send(&server).ok();
    ask("DELETE", "/second").send(&server).is(409, "BucketNotEmpty");
    ask("DELETE", "/second/o").send(&server).ok();
    ask("DELETE", "/second").send(&server).ok();
    get(&server, "/second?list-type=2").is(404, "NoSuchBucket");
}

#[test]
fn what_is_not_done_here_is_said() {
    let server = Server::start();
    put("/bucket/o", "x").with("x-amz-acl", "public-read").send(&server).is(501, "NotImplemented");
    assert!(!server.stored("o").exists());
    ask("PUT", "/bucket?policy=").send(&server).is(501, "NotImplemented");
    put("/bucket/o", "x").send(&server).ok();
    get(&server, "/bucket/o?versionId=3").is(501, "NotImplemented");
    let delete = ask("DELETE", "/bucket/o").with("x-amz-if-match-size", "1");
    delete.send(&server).is(501, "NotImplemented");
    assert!(server.stored("o").exists());
}

#[test]
fn a_bucket_may_be_a_host() {
    let server = Server::start();
    put("/bucket/o", "by path").send(&server).ok();
    let port = server.address.port();
    let got = ask("GET", "/o").send_as(&server, &format!("bucket.localhost:{port}"));
    assert_eq!(got.ok().text(), "by path");
}
