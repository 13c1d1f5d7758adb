//! HAR, NDT7 and tcp-info: JSON.

use super::*;

fn entry(started: &str, url: &str, status: u32, timings: &str) -> String {
    format!(
        r#"{{"startedDateTime":"2024-05-01T10:15:{started}Z","time":1,"request":{{"method":"GET","url":"{url}","headers":[]}},
        "response":{{"status":{status},"content":{{"text":"x"}}}},"cache":{{}},"timings":{{{timings}}}}}"#
    )
}

fn har(entries: &[String]) -> String {
    format!(r#"{{"log":{{"version":"1.2","creator":{{"name":"b"}},"pages":[],"entries":[{}]}}}}"#, entries.join(",\n"))
}

const QUICK: &str = r#""blocked":2,"dns":-1,"connect":-1,"ssl":-1,"send":0.1,"wait":20,"receive":5"#;

#[test]
fn slow_response_of_a_page_is_named_without_its_query() {
    let slow = QUICK.replace("\"wait\":20", "\"wait\":1800");
    let text = har(&[
        entry("01.000", "https://user:pw@web.example/", 200, QUICK),
        entry("01.100", "https://web.example/api/list?token=secret#x", 200, &slow),
    ]);
    let subject = subject(&text);
    assert_eq!(causes(&text), ["server-think"]);
    let Statement::Page(PageStatement::PagePhase { worst, worst_s, took_s, .. }) = &subject.findings[0].statement
    else {
        panic!("{subject:?}")
    };
    assert_eq!((worst.as_str(), *worst_s), ("web.example/api/list", 1.8));
    assert!((took_s - 1.82).abs() < 1e-6, "{took_s}");
    let printed = format!("{subject:?}");
    assert!(!printed.contains("secret") && !printed.contains("user") && !printed.contains("pw"));
}

#[test]
fn requests_that_wait_for_a_connection_count_once() {
    let queued = QUICK.replace("\"blocked\":2", "\"blocked\":900");
    let entries: Vec<String> =
        (0..6).map(|index| entry("01.000", &format!("https://web.example/{index}"), 200, &queued)).collect();
    let subject = subject(&har(&entries));
    assert!((subject.findings[0].cost_s.unwrap() - 0.9).abs() < 1e-4, "{subject:?}");
    assert!(matches!(subject.findings[0].remedies[0], Fix::Own { action: Advice::MoreStreams, .. }));
}

#[test]
fn redirects_and_connections_are_named() {
    let connect = r#""blocked":1,"dns":150,"connect":600,"ssl":400,"send":0,"wait":40,"receive":1"#;
    let text = har(&[
        entry("01.000", "http://web.example/", 301, connect),
        entry("02.000", "https://www.web.example/", 200, QUICK),
    ]);
    let subject = subject(&text);
    assert!(subject.findings.iter().any(|finding| matches!(
        finding.statement,
        Statement::Page(PageStatement::PageRedirects { count, .. }) if count == 1.0
    )));
    let phases: Vec<Phase> = subject
        .findings
        .iter()
        .filter_map(|finding| match finding.statement {
            Statement::Page(PageStatement::PagePhase { phase, .. }) => Some(phase),
            _ => None,
        })
        .collect();
    assert_eq!(phases, [Phase::Tls, Phase::Connect, Phase::Dns]);
}

#[test]
fn quick_page_is_healthy_and_a_cut_one_has_a_problem() {
    let text = har(&[
        entry("01.000", "https://web.example/", 200, QUICK),
        entry("01.010", "https://web.example/a", 200, QUICK),
    ]);
    healthy(&text);
    let cut = subject(&text[..text.len() - 40]);
    assert!(cut.gaps.contains(&Limitation::Cut), "{cut:?}");
    let quoted: String = text.lines().map(|line| format!("> {line}\n")).collect();
    healthy(&quoted);
}

fn snapshot(elapsed: u64, busy: u64, limited: u64, acked: u64) -> String {
    format!(
        r#"{{"AppInfo":{{"NumBytes":{acked}}},"ConnectionInfo":{{"Client":"[2001:db8::9]:40000","Server":"192.0.2.4:443"}},"TCPInfo":{{"State":1,
        "RTO":240000,"RTT":41000,"MinRTT":40000,"SndMSS":1448,"SndCwnd":80,"SndSsThresh":2147483647,"BytesAcked":{acked},"DataSegsOut":9000,
        "BusyTime":{busy},"RWndLimited":{limited},"SndBufLimited":0,"TotalRetrans":0,"Unacked":40,"NotsentBytes":900000,"ElapsedTime":{elapsed},
        "DeliveryRate":2500000,"PacingRate":-1,"SndWnd":65535}}}}"#
    )
}

fn ndt(snapshots: &[String]) -> String {
    format!(
        r#"{{"GitShortCommit":"a","ServerIP":"192.0.2.4","ServerPort":443,"Download":{{"ServerMeasurements":[{}]}}}}"#,
        snapshots.join(",")
    )
}

#[test]
fn window_of_the_client_is_named_from_a_speed_test() {
    let text =
        ndt(&[snapshot(250_000, 250_000, 100_000, 600_000), snapshot(10_000_000, 10_000_000, 9_100_000, 24_000_000)]);
    let subject = subject(&text);
    assert_eq!((subject.source.slug(), causes(&text)[0]), ("ndt7", "receive-window"));
    assert_eq!(subject.findings[0].cost_s, Some(9.0));
    assert_eq!(subject.name, "192.0.2.4:443 → [2001:db8::9]:40000");
}

#[test]
fn snapshots_one_a_line_are_read() {
    let line = |busy: u64, limited: u64| {
        snapshot(busy, busy, limited, 24_000_000).replace('\n', " ").replace("\"ConnectionInfo\"", "\"Other\"").replacen(
            '{',
            r#"{"Timestamp":"2024-05-01T10:15:01Z","InetDiagMsg":{"ID":{"IDiagSPort":443,"IDiagDPort":40000,"IDiagSrc":"192.0.2.4","IDiagDst":"192.0.2.9"}},"#,
            1,
        )
    };
    let text = format!("{}\n{}\n", line(300_000, 0), line(9_000_000, 8_000_000));
    let subject = subject(&text);
    assert_eq!(subject.name, "[192.0.2.4]:443 → [192.0.2.9]:40000");
    assert_eq!(causes(&text)[0], "receive-window");
}

#[test]
fn losses_of_a_speed_test_and_a_cut_file_are_read() {
    let lossy = |count: u32, acked: u64| {
        snapshot(9_000_000, 9_000_000, 0, acked).replace("\"TotalRetrans\":0", &format!("\"TotalRetrans\":{count}"))
    };
    let text = ndt(&[lossy(0, 600_000), lossy(900, 24_000_000).replace("9000,", "18000,")]);
    assert!(causes(&text).contains(&"loss"), "{:?}", causes(&text));
    let cut = &text[..text.len() - 30];
    assert!(report(cut).subjects[0].gaps.contains(&Limitation::Cut));
}

#[test]
fn other_json_is_not_evidence() {
    for text in [r#"{"entries":[1,2],"timings":{}}"#, r#"{"TCPInfo":{}}"#, r#"{"log":{"entries":[]}} "timings""#] {
        assert!(!is_evidence(text.as_bytes()), "{text}");
    }
}
