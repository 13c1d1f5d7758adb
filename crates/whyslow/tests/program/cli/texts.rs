//! tcpdump's text as it comes from tickets: with hosts hidden, lines left out, logs and pings
//! around it.

use super::compare::has_page;
use super::{Folder, whyslow};
use serde_json::Value;
use std::fs;

/// A page of an article: an upload of 1 kB, and 22 minutes later one of 300 kB of which few packets
/// are shown.
const ARTICLE: &str = "\
We asked the resolver first:

16:54:05.286416 IP client.46151 > resolver.53: 50311+ A? files.example. (31)
16:54:05.486416 IP resolver.53 > client.46151: 50311 1/0/0 A x.x.x.x (47)
16:54:06.286416 IP client.33666 > x.x.x.x.http: Flags [S], seq 2682796272, win 64240, options [mss 1460,sackOK,TS val 100 ecr 0,nop,wscale 7], length 0
16:54:06.486797 IP x.x.x.x.http > client.33666: Flags [S.], seq 2198055866, ack 2682796273, win 62643, options [mss 1460,sackOK,TS val 900 ecr 100,nop,wscale 7], length 0
16:54:06.486840 IP client.33666 > x.x.x.x.http: Flags [.], ack 1, win 502, options [nop,nop,TS val 300 ecr 900], length 0
16:54:06.486930 IP client.33666 > x.x.x.x.http: Flags [P.], seq 1:1001, ack 1, win 502, options [nop,nop,TS val 300 ecr 900], length 1000: HTTP: POST /up HTTP/1.1
16:54:06.687279 IP x.x.x.x.http > client.33666: Flags [.], ack 1001, win 477, options [nop,nop,TS val 1100 ecr 300], length 0
16:54:06.690277 IP x.x.x.x.http > client.33666: Flags [P.], seq 1:215, ack 1001, win 477, options [nop,nop,TS val 1103 ecr 300], length 214: HTTP: HTTP/1.1 200 OK
16:54:06.690314 IP client.33666 > x.x.x.x.http: Flags [.], ack 215, win 501, options [nop,nop,TS val 503 ecr 1103], length 0
16:54:06.692023 IP client.33666 > x.x.x.x.http: Flags [F.], seq 1001, ack 215, win 501, options [nop,nop,TS val 505 ecr 1103], length 0
16:54:06.892401 IP x.x.x.x.http > client.33666: Flags [F.], seq 215, ack 1002, win 477, options [nop,nop,TS val 1305 ecr 505], length 0
16:54:06.892448 IP client.33666 > x.x.x.x.http: Flags [.], ack 216, win 501, options [nop,nop,TS val 705 ecr 1305], length 0

and the larger one:

17:16:58.582538 IP client.59132 > x.x.x.x.http: Flags [S], seq 2857978823, win 64240, options [mss 1460,sackOK,TS val 5000 ecr 0,nop,wscale 7], length 0
17:16:58.783718 IP x.x.x.x.http > client.59132: Flags [S.], seq 4037665047, ack 2857978824, win 62643, options [mss 1460,sackOK,TS val 7000 ecr 5000,nop,wscale 7], length 0
17:16:58.784028 IP client.59132 > x.x.x.x.http: Flags [P.], seq 1:294, ack 1, win 502, options [nop,nop,TS val 5202 ecr 7000], length 293: HTTP: POST /up HTTP/1.1
17:16:59.186612 IP client.59132 > x.x.x.x.http: Flags [P.], seq 42286:43734, ack 1, win 502, options [nop,nop,TS val 5604 ecr 7403], length 1448: HTTP
17:16:59.387945 IP client.59132 > x.x.x.x.http: Flags [P.], seq 301758:303124, ack 1, win 502, options [nop,nop,TS val 5805 ecr 7604], length 1366: HTTP
17:16:59.594321 IP x.x.x.x.http > client.59132: Flags [P.], seq 1:215, ack 303124, win 442, options [nop,nop,TS val 7811 ecr 5805], length 214: HTTP: HTTP/1.1 200 OK
";

fn folder(text: &str) -> (Folder, String) {
    let folder = Folder::new();
    let path = folder.put("ticket.txt", text.as_bytes()).to_str().unwrap().to_owned();
    (folder, path)
}

fn stdout(arguments: &[&str]) -> String {
    String::from_utf8(whyslow().args(arguments).assert().code(0).get_output().stdout.clone()).unwrap()
}

fn json(path: &str) -> Value {
    serde_json::from_str(&stdout(&["--json", path])).unwrap()
}

#[test]
fn elided_packets_have_no_verdict() {
    let (_folder, path) = folder(ARTICLE);
    let analysis = json(&path);
    assert_eq!(analysis["findings"].as_array().unwrap().len(), 0, "22 minutes apart is no series");
    let [whole, cut] = analysis["connections"].as_array().unwrap().as_slice() else { panic!("two connections") };
    assert!(whole["elided"].is_null() && whole["rtt_ms"]["p50"].is_number());
    assert!(!cut["elided"].as_array().unwrap().is_empty());
    let upload = &cut["transfers"][0];
    // Totals are reported: bytes and time, the handshake's round trip, the windows.
    assert_eq!((&upload["bytes"], &upload["elided"]), (&303_123.into(), &true.into()));
    assert!((upload["duration_s"].as_f64().unwrap() - 0.8103).abs() < 0.001);
    assert!((cut["rtt_ms"]["min"].as_f64().unwrap() - 201.2).abs() < 0.5 && cut["rtt_ms"]["p50"].is_null());
    assert_eq!(cut["directions"][0]["max_window"], 62_643);
    assert_eq!(cut["exchanges"][0]["request"]["bytes"], 303_123);
    // Rounds, limits and causes are not.
    assert_eq!(upload["rounds"].as_array().unwrap().len(), 0);
    assert_eq!((&upload["limits"][0]["limit"], upload["limits"].as_array().unwrap().len()), (&"unknown".into(), 1));
    assert_eq!((upload["findings"].as_array().unwrap().len(), &upload["model_s"]), (0, &Value::Null));
    let page = stdout(&[&path]);
    assert!(
        page.contains("the cause is unknown for 1 transfer")
            && !page.contains("healthy")
            && !page.contains("was held back"),
        "{page}"
    );
    let compared = stdout(&["compare", &format!("{path}#1.1"), &format!("{path}#2.1")]);
    let compared = compared.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        !compared.contains("faster") && compared.contains("A took 200 ms for 1,000 B, B 810 ms for 303,123 B"),
        "{compared}"
    );
}

#[test]
fn hidden_hosts_stay_as_written_in_all_output() {
    let (folder, path) = folder(ARTICLE);
    let first = format!("{path}#1");
    let mut pages = vec![stdout(&[&path]), stdout(&["--connection", "1", &path]), stdout(&["--json", &path])];
    pages.push(stdout(&["--jsonl", &path]));
    for kind in ["--csv", "--jsonl", "--markdown", "--svg"] {
        pages.push(stdout(&["export", kind, &first]));
    }
    pages.push(stdout(&["compare", &format!("{path}#1.1"), &format!("{path}#1.2")]));
    if has_page() {
        let report = folder.put("report.html", b"");
        whyslow().args(["report", &path, "-o", report.to_str().unwrap()]).assert().code(0);
        pages.push(fs::read_to_string(&report).unwrap());
    }
    for page in &pages {
        assert!(!page.contains("198.18."), "{page}");
    }
    assert!(pages[1].contains("client:33666 → x.x.x.x:80"), "{}", pages[1]);
    // A port that is hidden too is not made up.
    let portless = ARTICLE.replace("client.33666", "client").replace("x.x.x.x.http", "server-1.example");
    let (_folder, path) = self::folder(&portless);
    let page = stdout(&["--connection", "1", &path]);
    assert!(page.contains("client → server-1.example ") && !page.contains("198.18.") && !page.contains(":0"), "{page}");
    // Nor where a sentence names the host.
    let refused = "10:00:00.000000 IP client.1 > x.x.x.x: Flags [S], seq 5, win 9, length 0\n\
                   10:00:00.100000 IP x.x.x.x > client.1: Flags [R.], seq 0, ack 6, win 0, length 0\n";
    let (_folder, path) = self::folder(refused);
    let page = stdout(&[&path]);
    assert!(page.contains("x.x.x.x refused the connection"), "{page}");
    // Nor where a router does.
    let unreachable = "10:00:00.000000 IP client.1 > x.x.x.x.80: Flags [S], seq 5, win 9, length 0\n\
                       10:00:00.100000 IP gw > client: ICMP host x.x.x.x unreachable, length 36\n";
    let (_folder, path) = self::folder(unreachable);
    let page = stdout(&[&path]);
    assert!(page.contains("x.x.x.x:80 did not receive the SYN: gw cannot reach x.x.x.x "), "{page}");
    assert!(
        page.contains("ICMP: gw reports about the client's packets: the host cannot be reached (frame 2)"),
        "{page}"
    );
    let connection = &json(&path)["connections"][0];
    assert!(connection["icmp"][0]["by"] == "gw" && !connection.to_string().contains("198.18."), "{connection}");
}

#[test]
fn pings_and_lookups_are_reported_with_the_connections() {
    let ping = "PING x.x.x.x (x.x.x.x) 56(84) bytes of data.\n64 bytes from x.x.x.x: icmp_seq=1 ttl=56 time=200.6 ms\n\
                64 bytes from x.x.x.x: icmp_seq=3 ttl=56 time=201.2 ms\n\n";
    let (_folder, path) = folder(&format!("{ping}{ARTICLE}"));
    let capture = &json(&path)["captures"][0];
    let round_trips = serde_json::json!({ "min": 200.6, "avg": 200.9, "max": 201.2 });
    assert_eq!(capture["pings"].as_array().unwrap().len(), 1);
    assert_eq!((&capture["pings"][0]["sent"], &capture["pings"][0]["received"]), (&3.into(), &2.into()));
    assert_eq!(capture["pings"][0]["rtt_ms"], round_trips);
    let lookup = &capture["lookups"][0];
    assert_eq!(
        (&lookup["name"], &lookup["client"], &lookup["duration_s"]),
        (&"files.example".into(), &"client".into(), &0.2.into())
    );
    let page = stdout(&[&path]);
    assert!(page.contains("ping x.x.x.x: 3 sent, 2 answered (33 % lost); round trip minimum 201 ms"), "{page}");
    assert!(page.contains("DNS A files.example: resolved by resolver in 200 ms"), "{page}");
    // Ping's words alone are read too; packets have no such members.
    let (_folder, alone) = self::folder(ping);
    assert!(stdout(&[&alone]).contains("min 201 ms, avg 201 ms, max 201 ms"));
    let sample = format!("{}/../../samples/slow-start-client.pcap", env!("CARGO_MANIFEST_DIR"));
    assert!(json(&sample)["captures"][0]["pings"].is_null());
}

#[test]
fn what_a_log_put_before_the_lines_changes_nothing() {
    let (_folder, plain) = folder(ARTICLE);
    let expected = json(&plain)["connections"].clone();
    for before in ["Nov 22 10:00:00 host tcpdump[123]: ", "2026-01-01T10:00:00.123Z ", "[pod/x/c] ", "pod-7  | "] {
        for ends in ["\n", "\r\n", "\r"] {
            let text: String = ARTICLE.lines().map(|line| format!("{before}{line}{ends}")).collect();
            let (_folder, path) = folder(&text);
            assert_eq!(json(&path)["connections"], expected, "{before}");
        }
    }
}

#[test]
fn of_a_logs_whole_seconds_nothing_is_concluded() {
    let own = |line: &str| {
        line.split_once(' ')
            .filter(|_| line.starts_with("1"))
            .map(|(_, rest)| format!("Nov 22 10:00:00 host tcpdump[1]: {rest}\n"))
    };
    let text: String = ARTICLE.lines().filter_map(own).collect();
    let (_folder, path) = folder(&text);
    let analysis = json(&path);
    assert_eq!(analysis["captures"][0]["problems"][0]["slug"], "coarse-times");
    assert_eq!(
        (&analysis["captures"][0]["duration_s"], &analysis["captures"][0]["first_time"]),
        (&Value::Null, &Value::Null)
    );
    for connection in analysis["connections"].as_array().unwrap() {
        assert_eq!((&connection["rtt_ms"]["min"], connection["findings"].as_array().unwrap().len()), (&Value::Null, 0));
        assert!(connection["transfers"].as_array().unwrap().iter().all(|transfer| transfer["rate_bps"].is_null()));
    }
    let page = stdout(&["--connection", "1", &path]);
    assert!(page.contains("! coarse-times") && !page.contains("0 ms down") && !page.contains(" in 0 ms"), "{page}");
}
