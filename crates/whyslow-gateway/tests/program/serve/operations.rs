//! The view and the actions of operators.

use super::running::{Place, Running, answer, ask, until};
use super::{output, pattern};
use serde_json::Value;
use std::io::Write;
use std::process::Stdio;

#[test]
fn metrics_statistics_and_the_page() {
    let place = Place::new();
    let gateway = place.serve(&["--log", "log", "--log-format", "json"]);
    assert_eq!(gateway.administration("/ready"), (200, "ready\n".to_owned()));
    assert_eq!(gateway.ask("PUT", "/photos", b"").0, 200);
    assert_eq!(gateway.ask("PUT", "/photos/%3Cscript%3Ealert(1)%3C%2Fscript%3E", &pattern(1000, 0)).0, 200);
    assert_eq!(gateway.ask("GET", "/photos/nothing", b"").0, 404);
    until("all are counted", || gateway.administration("/stats").1.contains("\"requests\":3"));

    let (_, metrics) = gateway.administration("/metrics");
    for line in [
        "whyslow_gateway_requests_total{operation=\"PutObject\",status=\"2xx\"} 1",
        "whyslow_gateway_requests_total{operation=\"GetObject\",status=\"4xx\"} 1",
        "whyslow_gateway_received_bytes_total 1000",
        "whyslow_gateway_memory_limit_bytes 536870912",
        "whyslow_gateway_storage_bursts_total 0",
        "whyslow_gateway_request_seconds_count{operation=\"PutObject\"} 1",
    ] {
        assert!(metrics.lines().any(|one| one == line), "{line} is not in\n{metrics}");
    }
    // The exemplar of a bucket is a request in the log.
    let bucket = |line: &&str| {
        line.contains("request_seconds_bucket{") && line.contains("operation=\"PutObject\"") && line.contains(" # ")
    };
    let exemplar = metrics.lines().find(bucket).unwrap_or_else(|| panic!("no exemplar in\n{metrics}"));
    let id = exemplar.split_once("# {request_id=\"").unwrap().1.split_once('"').unwrap().0;
    assert!(id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{exemplar}");
    assert!(metrics.ends_with("# EOF\n") && !metrics.contains("script"));

    let (_, page) = gateway.administration("/");
    assert!(page.contains("photos/&lt;script&gt;alert(1)&lt;/script&gt;") && !page.contains("<script"), "{page}");

    let (code, printed, errors) = output(&mut place.command(&["stats", &gateway.admin_url()]));
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert!(
        printed.starts_with("3 requests since ") && printed.contains(", 1 refused, 0 failed; 1,000 B in, "),
        "{printed}"
    );
    assert!(printed.contains("No transfer went over a network yet"), "{printed}");
    let (_, json, _) = output(&mut place.command(&["stats", &gateway.admin_url(), "--json"]));
    let report: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["recent"][0]["error"], "NoSuchKey");
    assert_eq!(report["recent"][1]["key"], "<script>alert(1)</script>");
    assert_eq!(gateway.administration("/none").0, 404);
    // A page whose name leads here learns nothing.
    let mut stream = std::net::TcpStream::connect(gateway.admin).unwrap();
    stream.write_all(b"GET /stats HTTP/1.1\r\nhost: evil.example\r\n\r\n").unwrap();
    assert_eq!(answer(&mut stream).unwrap().0, 403);
    gateway.end();

    let log = std::fs::read_to_string(place.at("log")).unwrap();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    assert_eq!((&lines[1]["operation"], &lines[1]["bytes_in"]), (&"PutObject".into(), &1000.into()));
}

#[test]
fn stats_without_a_gateway_is_an_error() {
    let place = Place::new();
    let (code, printed, errors) = output(&mut place.command(&["stats", "http://127.0.0.1:1"]));
    assert_eq!((code, printed.as_str()), (Some(2), ""));
    assert!(errors.contains("is a gateway's administration at http://127.0.0.1:1?"), "{errors}");
}

#[test]
fn the_layout_of_what_is_stored() {
    let place = Place::new();
    for hidden in [false, true] {
        let names = format!("--encrypt-names={hidden}");
        // A bucket keeps its settings.
        std::fs::create_dir_all(place.at("store/photos")).unwrap();
        std::fs::remove_dir_all(place.at("store/photos")).unwrap();
        let gateway = place.serve(&[&names]);
        assert_eq!(gateway.ask("PUT", "/photos", b"").0, 200);
        assert_eq!(gateway.ask("PUT", "/photos/a/one", &pattern(100_000, 0)).0, 200);
        let (_, answer) = gateway.ask("POST", "/photos/large?uploads", b"");
        let answer = String::from_utf8(answer).unwrap();
        let id = answer.split_once("<UploadId>").unwrap().1.split_once('<').unwrap().0;
        let mut list = String::new();
        for number in [1, 3] {
            let path = format!("/photos/large?partNumber={number}&uploadId={id}");
            let (status, head) = gateway.head_of("PUT", &path, &pattern(70_000, number));
            assert_eq!(status, 200, "{head}");
            let tag = head.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap();
            list.push_str(&format!("<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag></Part>"));
        }
        let list = format!("<CompleteMultipartUpload>{list}</CompleteMultipartUpload>");
        assert_eq!(gateway.ask("POST", &format!("/photos/large?uploadId={id}"), list.as_bytes()).0, 200);
        gateway.end();
        let layout = |key: &str| output(&mut place.command(&["layout", key, "--store", "file:store", &names]));
        let (code, printed, errors) = layout("photos/a/one");
        assert_eq!((code, errors.as_str()), (Some(0), ""));
        assert!(printed.contains(": 100,000 B of plaintext in 100,308 B, 1 slice\n"), "{printed}");
        let (code, printed, errors) = layout("photos/large");
        assert_eq!((code, errors.as_str()), (Some(0), ""));
        assert!(printed.contains(": 140,000 B of plaintext in ") && printed.contains(", 2 slices\n"), "{printed}");
        let rows: Vec<Vec<&str>> = printed.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[2], ["1", "0", "70,308", "B", "0", "70,000", "B"]);
        assert_eq!(rows[3], ["3", "70,308", "70,308", "B", "70,000", "70,000", "B"]);
        let (code, printed, errors) = layout("photos/none");
        assert_eq!((code, printed.as_str()), (Some(2), ""));
        assert!(errors.contains("photos/none in file:store"), "{errors}");
        let (code, _, errors) = layout("photos");
        assert!(code == Some(2) && errors.contains("photos: file:store needs BUCKET/KEY"), "{errors}");
    }
    let (code, _, errors) = output(&mut place.command(&["layout", "file", "--metadata", "1.single.x"]));
    assert!(code == Some(2) && errors.contains("--name"), "{errors}");
}

#[test]
fn check_names_the_damaged_objects() {
    for hidden in [false, true] {
        let (place, names) = (Place::new(), format!("--encrypt-names={hidden}"));
        let gateway = place.serve(&[&names]);
        assert_eq!(gateway.ask("PUT", "/photos", b"").0, 200);
        for key in ["a", "b", "folder/c"] {
            assert_eq!(gateway.ask("PUT", &format!("/photos/{key}"), &pattern(100_000, 0)).0, 200);
        }
        gateway.end();
        let check = |more: &[&str]| {
            let (code, printed, errors) = output(place.command(&["check", "--store", "file:store", &names]).args(more));
            assert_eq!(errors, "", "{printed}");
            (code, printed)
        };
        let whole = |text: &str| (Some(0), format!("whole: {text} of plaintext; 0 damaged\n"));
        assert_eq!(check(&[]), whole("3 objects, 300,000 B"));
        assert_eq!(check(&["--bucket", "photos", "--prefix", "folder/"]), whole("1 object, 100,000 B"));
        // A bit of the second chunk of one, and an object under another name.
        let folder = place.at("store/photos");
        let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|path| path.is_file());
        files.sort();
        let mut stored = std::fs::read(&files[0]).unwrap();
        stored[70_000] ^= 1;
        // In place, so that its metadata stays.
        let mut file = std::fs::OpenOptions::new().write(true).open(&files[0]).unwrap();
        file.write_all(&stored).unwrap();
        let moved = std::process::Command::new("cp").arg("-a").args([&files[1], &folder.join("moved")]).status();
        assert!(moved.unwrap().success());
        let (code, printed) = check(&[]);
        assert_eq!(code, Some(1));
        let lines: Vec<_> = printed.lines().collect();
        assert_eq!(lines.len(), 3, "{printed}");
        assert!(lines.iter().any(|line| line.starts_with("damaged: photos/moved: ")), "{printed}");
        assert!(lines.iter().filter(|line| line.starts_with("damaged: photos/")).count() == 2, "{printed}");
        assert_eq!(lines[2], "whole: 2 objects, 200,000 B of plaintext; 2 damaged");
        // Heads and ends alone do not show the bit.
        let (code, printed) = check(&["--heads"]);
        assert_eq!((code, printed.lines().count()), (Some(1), 2), "{printed}");
    }
}

#[test]
fn incomplete_uploads_are_dropped() {
    let place = Place::new();
    let gateway = place.serve(&[]);
    assert_eq!(gateway.ask("PUT", "/photos", b"").0, 200);
    let (status, answer) = gateway.ask("POST", "/photos/large?uploads", b"");
    let answer = String::from_utf8(answer).unwrap();
    assert_eq!(status, 200, "{answer}");
    let id = answer.split_once("<UploadId>").unwrap().1.split_once('<').unwrap().0.to_owned();
    let part = format!("/photos/large?partNumber=1&uploadId={id}");
    assert_eq!(gateway.ask("PUT", &part, &pattern(100_000, 0)).0, 200);
    gateway.end();
    let clean = |more: &[&str]| {
        let (code, printed, errors) = output(place.command(&["clean", "--store", "file:store"]).args(more));
        assert_eq!((code, errors.as_str()), (Some(0), ""));
        printed
    };
    assert_eq!(clean(&[]), "no upload is that old\n");
    let listed = clean(&["--older-than", "0s"]);
    assert!(listed.starts_with("1 upload, 100,") && listed.contains("`--yes` drops them"), "{listed}");
    assert!(listed.contains("photos/large"), "{listed}");
    assert!(clean(&["--older-than", "0s", "--yes"]).starts_with("1 upload dropped, 100,"));
    assert_eq!(clean(&["--older-than", "0s"]), "no upload is that old\n");
    let gateway = place.serve(&[]);
    assert_eq!(gateway.ask("PUT", &part, b"x").0, 404);
}

/// It closes each connection behind its answer, so that nothing can be kept warm.
#[test]
fn in_front_of_s3_transfers_say_what_limited_them() {
    if !whyslow_testing::rare_tools(&["moto_server"]) {
        return;
    }
    let place = Place::new();
    let moto = Moto::start();
    assert_eq!(output(&mut place.command(&["init", "keys", "--store", "s3://photos"])).0, Some(0));
    let with = |arguments: &[&str]| {
        let mut command = place.command(arguments);
        command.env("AWS_ACCESS_KEY_ID", "test").env("AWS_SECRET_ACCESS_KEY", "hush");
        command.args(["--config", "keys/gateway.toml", "--endpoint", &format!("http://{}", moto.address)]);
        command
    };
    let (code, _, errors) = output(&mut with(&["serve", "--no-auth"]));
    assert!(code == Some(2) && errors.contains("there is no such bucket"), "{errors}");
    assert_eq!(ask(moto.address, "PUT", "/photos", b"").unwrap().0, 200);
    let gateway = Running::start(with(&["serve"]), &["--no-auth"]);
    assert_eq!(gateway.ask("PUT", "/photos/one", &pattern(1_000_000, 0)).0, 200);
    assert!(gateway.ask("GET", "/photos/one", b"").1 == pattern(1_000_000, 0));
    let report: Value = serde_json::from_str(&gateway.administration("/stats").1).unwrap();
    let slowest = report["slowest"].as_array().unwrap();
    for (operation, direction) in [("PutObject", "sent"), ("GetObject", "received")] {
        let one = slowest.iter().find(|one| one["operation"] == operation).unwrap();
        let way = &one["storage"];
        assert_eq!((&way[direction], &way["reused"]), (&1_000_532.into(), &false.into()));
        let took: f64 = way["limits"].as_array().unwrap().iter().map(|one| one["seconds"].as_f64().unwrap()).sum();
        assert!(took > 0.0 && took <= one["took_s"].as_f64().unwrap(), "{one}");
    }
    let (_, printed, _) = output(&mut place.command(&["stats", &gateway.admin_url()]));
    assert!(printed.contains("What limited 2 transfers\n") && printed.contains("photos/one"), "{printed}");
    let stderr = gateway.end();
    assert!(stderr.contains("; storage: connection ") && stderr.contains(" new window "), "{stderr}");
    assert!(!stderr.contains("hush"));
    let (_, uploads) = ask(moto.address, "GET", "/photos?uploads", b"").unwrap();
    assert!(!String::from_utf8_lossy(&uploads).contains("<Upload>"), "none is left over");
    let (code, printed, errors) = output(&mut with(&["clean", "--older-than", "0s"]));
    assert_eq!((code, printed.as_str(), errors.as_str()), (Some(0), "no upload is that old\n", ""));
}

/// A server of S3, which ends with the test.
struct Moto {
    child: std::process::Child,
    address: std::net::SocketAddr,
}

impl Moto {
    fn start() -> Self {
        let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut command = std::process::Command::new("moto_server");
        command.args(["-H", "127.0.0.1", "-p", &address.port().to_string()]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        until("it listens", || std::net::TcpStream::connect(address).is_ok());
        Self { child, address }
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
