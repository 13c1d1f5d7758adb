//! Captures behind URLs and in object storage: the findings equal those of the file.

#[path = "../../../../../whyslow-gateway/tests/program/serve/running.rs"]
#[expect(dead_code, reason = "most of it is for the gateway's own tests")]
mod running;
mod server;

use crate::common;
use assert_cmd::Command;
use running::{Place, Running};
use serde_json::Value;
use server::{Served, Server};
use std::fs;
use std::path::PathBuf;

const SECRET: &str = "a-secret-of-this-test";

/// The program, without the user's credentials and proxies.
fn whyslow() -> Command {
    let mut command = crate::whyslow();
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy().to_lowercase();
        if ["aws_", "google_", "azure_"].iter().any(|start| text.starts_with(start)) || text.ends_with("_proxy") {
            command.env_remove(&name);
        }
    }
    command.env("HOME", "/nonexistent");
    command
}

fn json(command: &mut Command) -> Value {
    let output = command.arg("--json").assert().code(0).stderr("");
    serde_json::from_slice(&output.get_output().stdout).unwrap()
}

/// The result for local files, under these names.
fn local(samples: &[&str], names: &[&str]) -> Value {
    let paths: Vec<PathBuf> = samples.iter().map(|name| common::sample(name)).collect();
    let mut text = serde_json::to_string(&crate::json(&paths)).unwrap();
    for (path, name) in paths.iter().zip(names) {
        text = text.replace(path.to_str().unwrap(), name);
    }
    serde_json::from_str(&text).unwrap()
}

/// stderr of a run that fails.
fn complaint(arguments: &[&str]) -> String {
    crate::complaint(whyslow().args(arguments))
}

fn sample(name: &str) -> Vec<u8> {
    fs::read(common::sample(name)).unwrap()
}

fn served(name: &str) -> Served {
    Served { body: sample(name), ..Served::default() }
}

#[test]
fn a_url_gives_what_its_file_gives() {
    let server = Server::start();
    let url = server.put("/a.pcap", served("loss-client"));
    assert_eq!(json(whyslow().arg(&url)), local(&["loss-client"], &[&url]));
    let compressed = Served { body: zstd::encode_all(&*sample("loss-client"), 1).unwrap(), ..Served::default() };
    let compressed = server.put("/a.pcap.zst", compressed);
    assert_eq!(json(whyslow().arg(&compressed)), local(&["loss-client"], &[&compressed]));
    // The signature of a URL is not repeated.
    let signed = json(whyslow().arg(format!("{url}?signature=hush")));
    assert_eq!(signed["captures"][0]["path"], format!("{url}?…"));
    assert!(server.requests().iter().any(|head| head.starts_with("get /a.pcap?signature=hush ")));
    // Both ends are compared packet by packet, which reads them again.
    let other = server.put("/b.pcap", served("loss-server"));
    assert_eq!(json(whyslow().args([&url, &other])), local(&["loss-client", "loss-server"], &[&url, &other]));
    // One connection of it, and two transfers.
    whyslow().args(["compare", &format!("{url}#1"), &other]).assert().code(0).stderr("");
    whyslow().args(["export", "--csv", &format!("{url}#1")]).assert().code(0).stderr("");
}

#[test]
fn a_broken_connection_is_resumed_where_it_broke() {
    let server = Server::start();
    let body = sample("loss-client");
    let (first, second) = (body.len() / 3, body.len() / 4);
    let url = server.put("/a.pcap", Served { cuts: vec![first, second], ..served("loss-client") });
    assert_eq!(json(whyslow().arg(&url)), local(&["loss-client"], &[&url]));
    for start in [first, first + second] {
        let range = format!("range: bytes={start}-\r\n");
        let resumed = server.requests().into_iter().find(|head| head.contains(&range)).unwrap();
        assert!(resumed.contains(&format!("if-match: \"{}\"\r\n", body.len())), "{resumed}");
    }
}

#[test]
fn what_cannot_be_resumed_is_an_error() {
    let server = Server::start();
    let cut = |served: Served| Served { cuts: vec![100_000], ..served };
    let url = server.put("/a", cut(Served { is_replaced: true, ..served("loss-client") }));
    let replaced = complaint(&[&url]);
    assert!(replaced.starts_with(&format!("whyslow: {url}: byte 100000: the object was replaced")), "{replaced}");
    let url = server.put("/b", Served { has_no_ranges: true, cuts: vec![100_000; 2], ..served("loss-client") });
    let unranged = complaint(&[&url]);
    assert!(unranged.contains("byte 100000: ") && unranged.contains("gives no ranges"), "{unranged}");
    let url = server.put("/c", cut(Served { has_no_version: true, ..served("loss-client") }));
    let unversioned = complaint(&[&url]);
    assert!(unversioned.contains("byte 100000: ") && unversioned.contains("neither ETag nor date"), "{unversioned}");
}

#[test]
fn an_unreadable_url_has_a_reason() {
    let server = Server::start();
    let status = |path, status| server.put(path, Served { status: Some(status), ..Served::default() });
    let (address, gone) = (server.address, server.url("/gone.pcap"));
    for (url, why) in [
        ("ftp://host/a.pcap".to_owned(), "unknown scheme `ftp`; captures are read from s3://, gs://, az://, http://"),
        (gone, "the server answers 404 Not Found; check the path"),
        (status("/denied", "403 Forbidden"), "403 Forbidden; a URL that is signed may have expired"),
        (status("/down", "503 Service Unavailable"), "503 Service Unavailable (tried 4 times)"),
        (format!("https://{address}/a.pcap"), "TLS failed: "),
        (format!("http://{address}/*.pcap"), "name its files one by one"),
        ("http://127.0.0.1:1/a.pcap".to_owned(), "refused"),
        ("s3://bucket".to_owned(), "names no object; name those in it, as in s3://bucket/*.pcap"),
        ("s3:///key".to_owned(), "names no bucket; write s3://BUCKET/KEY"),
    ] {
        let message = complaint(&[&url]);
        assert!(message.starts_with(&format!("whyslow: {url}: ")) && message.contains(why), "{message}");
    }
    // A missing input among several has a line of its own.
    let url = server.put("/a.pcap", served("loss-client"));
    let table = whyslow().args(["--table", &url, &server.url("/gone.pcap")]).assert().code(1);
    let table = String::from_utf8(table.get_output().stdout.clone()).unwrap();
    assert!(table.contains("404 Not Found"), "{table}");
}

/// A gateway with objects that can only be read with the key.
fn gateway(place: &Place) -> Running {
    let open = place.serve(&[]);
    assert_eq!(open.ask("PUT", "/traces", b"").0, 200);
    let compressed = zstd::encode_all(&*sample("loss-server"), 1).unwrap();
    for (key, body) in [
        ("day/client-1.pcap", sample("loss-client")),
        ("day/server-1.pcap.zst", compressed),
        ("day/deeper/client-2.pcap", sample("slow-start-client")),
        ("day/notes.txt", b"no capture".to_vec()),
    ] {
        assert_eq!(open.ask("PUT", &format!("/traces/{key}"), &body).0, 200);
    }
    open.end();
    let mut command = place.command(&["serve", "--store", "file:store", "--access-key", "me=env:SECRET"]);
    command.env("SECRET", SECRET);
    Running::start(command, &[])
}

/// The program with the key.
fn signed(gateway: &Running) -> Command {
    let mut command = whyslow();
    command.env("AWS_ENDPOINT_URL", gateway.url()).env("AWS_ACCESS_KEY_ID", "me").env("AWS_SECRET_ACCESS_KEY", SECRET);
    command
}

#[test]
fn objects_of_s3_give_what_their_files_give() {
    if whyslow_testing::neighbour("whyslow-gateway").is_none() {
        return;
    }
    let place = Place::new();
    let gateway = gateway(&place);
    let (client, server) = ("s3://traces/day/client-1.pcap", "s3://traces/day/server-1.pcap.zst");
    assert_eq!(json(signed(&gateway).arg(client)), local(&["loss-client"], &[client]));
    let both = local(&["loss-client", "loss-server"], &[client, server]);
    assert_eq!(json(signed(&gateway).args([client, server])), both);
    assert_eq!(json(signed(&gateway).arg("s3://traces/day/*-1.pcap*")), both);
    assert_eq!(json(signed(&gateway).arg("s3://traces/*/?e*er-1.pcap.zst")), local(&["loss-server"], &[server]));
    let deeper = "s3://traces/day/deeper/client-2.pcap";
    assert_eq!(json(signed(&gateway).arg("s3://traces/d*/*/c*")), local(&["slow-start-client"], &[deeper]));
    // Parts that are read separately, and explained together.
    let parts = place.at("parts");
    signed(&gateway).args(["condense", "s3://traces/day/*-1.*", "--out"]).arg(&parts).assert().code(0).stderr("");
    let stitched = json(whyslow().arg("merge").arg(&parts));
    assert_eq!(stitched["connections"], both["connections"]);
    let report = place.at("report.html");
    let written = signed(&gateway).args(["report", client, "-o"]).arg(&report).assert().get_output().clone();
    let has_page = !String::from_utf8_lossy(&written.stderr).contains("without the page");
    assert_eq!(written.status.success(), has_page, "{written:?}");
}

#[test]
fn an_unreadable_s3_object_has_a_reason() {
    if whyslow_testing::neighbour("whyslow-gateway").is_none() {
        return;
    }
    let place = Place::new();
    let gateway = gateway(&place);
    let refused = |command: &mut Command, url: &str| crate::complaint(command.arg(url));
    for (url, why) in [
        ("s3://traces/day/gone.pcap", "the bucket traces has no such object"),
        ("s3://nothing/day/gone.pcap", "there is no bucket nothing"),
        ("s3://nothing/*", "there is no bucket nothing"),
        ("s3://traces/day/*.pcapng", "no object matches"),
    ] {
        let message = refused(&mut signed(&gateway), url);
        assert!(message.starts_with(&format!("whyslow: {url}: ")) && message.contains(why), "{message}");
    }
    let url = "s3://traces/day/client-1.pcap";
    let anonymous = refused(whyslow().env("AWS_ENDPOINT_URL", gateway.url()), url);
    assert!(anonymous.contains("access is denied (AccessDenied): it was asked without credentials"), "{anonymous}");
    assert!(anonymous.contains("none of AWS_ACCESS_KEY_ID, "), "{anonymous}");
    let wrong = refused(signed(&gateway).env("AWS_SECRET_ACCESS_KEY", "wrong"), url);
    assert!(wrong.contains("(SignatureDoesNotMatch): the credentials are those of AWS_ACCESS_KEY_ID"), "{wrong}");
    assert!(!wrong.contains(SECRET), "{wrong}");
    let several = crate::complaint(signed(&gateway).args(["compare", "s3://traces/day/*-1*", url]));
    assert!(several.contains("2 objects match; name one"), "{several}");
}

#[test]
fn an_object_of_s3_is_resumed_and_a_changed_one_is_an_error() {
    let server = Server::start();
    let s3 = || {
        let mut command = whyslow();
        command.env("AWS_ENDPOINT_URL", server.url(""));
        command
    };
    server.put("/traces/a.pcap", Served { cuts: vec![100_000, 50_000], ..served("loss-client") });
    let url = "s3://traces/a.pcap";
    assert_eq!(json(s3().arg(url)), local(&["loss-client"], &[url]));
    assert!(server.requests().iter().any(|head| head.contains("range: bytes=150000-")));
    server.put("/traces/b.pcap", Served { cuts: vec![100_000], is_replaced: true, ..served("loss-client") });
    let message = crate::complaint(s3().arg("s3://traces/b.pcap"));
    assert!(message.contains("byte 100000: the object was replaced"), "{message}");
    // Another one between the first pass and the second.
    server.put("/traces/c.pcap", Served { is_replaced: true, ..served("loss-client") });
    let message = crate::complaint(s3().args(["export", "--csv", "s3://traces/c.pcap"]));
    assert!(message.contains("s3://traces/c.pcap: the object was replaced"), "{message}");
}

#[test]
fn google_and_azure_are_asked_the_same_way() {
    let server = Server::start();
    server.put("/traces/a.pcap", Served { cuts: vec![100_000, 100_000], ..served("loss-client") });
    let (google, azure) = ("gs://traces/a.pcap", "az://traces/a.pcap");
    let mut command = whyslow();
    command.env("GOOGLE_BASE_URL", server.url(""));
    assert_eq!(json(command.arg(google)), local(&["loss-client"], &[google]));
    let mut command = whyslow();
    command.env("AZURE_STORAGE_ENDPOINT", server.url("")).env("AZURE_STORAGE_ACCOUNT_NAME", "me");
    assert_eq!(json(command.arg(azure)), local(&["loss-client"], &[azure]));
    let message = complaint(&[azure]);
    assert!(
        message.starts_with(&format!("whyslow: {azure}: ")) && message.to_lowercase().contains("account"),
        "{message}"
    );
}

#[test]
fn a_redirect_from_the_internet_to_this_machine_is_refused_unless_allowed() {
    let server = Server::start();
    let local = server.url("/secret.pcap");
    // The server is the proxy through which a host on the Internet is asked.
    let named = "http://captures.example/a.pcap";
    let redirect = |to: &str| {
        let status = format!("302 Found\r\nlocation: {to}").leak();
        server.put(named, Served { status: Some(status), ..Served::default() });
    };
    let proxied = |url: &str| {
        let mut command = whyslow();
        command.env("http_proxy", server.url("")).arg(url);
        command
    };
    server.put(&local, served("loss-client"));
    for to in [local.as_str(), "http://[::1]/a", "http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/a"] {
        redirect(to);
        let message = crate::complaint(&mut proxied(named));
        assert!(message.contains("redirects to ") && message.contains("--allow-local-redirects"), "{message}");
    }
    assert!(!server.requests().iter().any(|head| head.contains("secret.pcap")));
    redirect(&local);
    let found = json(proxied(named).arg("--allow-local-redirects"));
    assert_eq!(found["connections"], local_findings()["connections"]);
    // A redirect within this machine is allowed if it began here.
    let status = format!("302 Found\r\nlocation: {local}").leak();
    let moved = server.put("/moved.pcap", Served { status: Some(status), ..Served::default() });
    server.put("/secret.pcap", served("loss-client"));
    assert_eq!(json(whyslow().arg(&moved))["connections"], local_findings()["connections"]);
}

fn local_findings() -> Value {
    crate::json(&[common::sample("loss-client")])
}

/// A page of a list of S3.
fn page(keys: &[&str], next: Option<&str>) -> Served {
    let entries = keys.iter().map(|key| {
        format!(
            "<Contents><Key>{key}</Key><LastModified>2026-11-22T10:00:00.000Z</LastModified><Size>1</Size></Contents>"
        )
    });
    let next = next.map(|next| format!("<NextContinuationToken>{next}</NextContinuationToken>")).unwrap_or_default();
    let body = format!("<ListBucketResult>{}{next}</ListBucketResult>", entries.collect::<String>());
    Served { body: body.into_bytes(), ..Served::default() }
}

#[test]
fn a_hostile_list_of_s3_neither_blocks_a_pattern_nor_goes_on_for_ever() {
    let server = Server::start();
    let s3 = || {
        let mut command = whyslow();
        command.env("AWS_ENDPOINT_URL", server.url(""));
        command
    };
    server.put("/traces/a.pcap", served("loss-client"));
    server.put("/traces", page(&["../a.pcap", "x/../a.pcap", "a.pcap", "b//.pcap"], None));
    let url = "s3://traces/a.pcap";
    assert_eq!(json(s3().arg("s3://traces/*.pcap")), local(&["loss-client"], &[url]));
    server.put("/traces", page(&[], Some("again")));
    let message = crate::complaint(s3().arg("s3://traces/*.pcap"));
    assert!(message.contains("the store's list does not end"), "{message}");
    let lists = server.requests().iter().filter(|head| head.contains("list-type=2")).count();
    assert_eq!(lists, 3);
    // Larger than any list.
    let body = [&b"<ListBucketResult>"[..], &vec![b' '; 33 << 20]].concat();
    server.put("/traces", Served { body, ..Served::default() });
    let message = crate::complaint(s3().arg("s3://traces/*.pcap"));
    assert!(message.contains("more than 32 MiB"), "{message}");
}
