//! Outputs in the style of public threads, and what must be concluded of them.
#![allow(clippy::unwrap_used)]

mod archives;
mod cards;
mod counters;
mod curl;
mod iperf;
mod netperf;
mod paths;
mod sockets;
mod traces;

use super::*;
use proptest::prelude::*;

/// The conclusions: causes in their order, `-` for a finding without one.
fn causes(text: &str) -> Vec<&'static str> {
    let report = report(text);
    let findings = report.subjects.iter().flat_map(|subject| &subject.findings);
    findings.map(|finding| finding.cause.map_or("-", Slug::slug)).collect()
}

#[track_caller]
fn report(text: &str) -> Report {
    assert!(is_evidence(text.as_bytes()), "{text}");
    read(&[("text", text.as_bytes())]).unwrap()
}

/// The one subject of a text.
#[track_caller]
fn subject(text: &str) -> Subject {
    let mut report = report(text);
    assert_eq!(report.subjects.len(), 1, "{:?}", report.subjects);
    report.subjects.pop().unwrap()
}

#[track_caller]
fn healthy(text: &str) {
    let subject = subject(text);
    assert!(subject.findings.is_empty(), "{:?}", subject.findings);
    assert_eq!(subject.verdict, Verdict::Healthy, "{subject:?}");
}

#[test]
fn packets_and_other_texts_are_not_evidence() {
    for text in [
        "10:45:49.051409 IP 192.0.2.1.44612 > 192.0.2.2.80: Flags [S], seq 1, win 64240, length 0\n",
        "hello, it is slow since Monday: 3 seconds\n",
        "    1   0.000000    192.0.2.1 → 192.0.2.2    TCP 74 40000 → 80 [SYN] Seq=0 Win=64240 Len=0 MSS=1460\n",
        "",
        "{\"a\": 1}",
        "\0\0\0\0 cwnd:10 rto:204 rtt:1/1 mss:1448",
    ] {
        assert!(!is_evidence(text.as_bytes()), "{text}");
    }
}

#[test]
fn every_tool_is_in_the_schema_and_in_the_documentation() {
    let schema = include_str!("../../../docs/schema/whyslow-evidence-2.schema.json");
    let docs = include_str!("../../../docs/evidence.md");
    for source in KINDS.iter().flat_map(|kind| kind.sources()) {
        assert!(schema.contains(&format!("\"{}\"", source.slug())), "{source:?}");
        assert!(docs.contains(source.slug()) || source.slug() == "counters", "{source:?}");
    }
    let mut slugs: Vec<&str> = KINDS.iter().flat_map(|kind| kind.sources()).map(|source| source.slug()).collect();
    slugs.sort_unstable();
    slugs.dedup();
    assert_eq!(slugs.len(), KINDS.iter().map(|kind| kind.sources().len()).sum::<usize>(), "one module a tool");
}

#[test]
fn what_no_output_shows_is_stated_where_nothing_was_found() {
    let text = "ESTAB 0 36 192.168.1.4:22 192.168.1.9:50312\n cubic rto:204 rtt:1.2/0.5 cwnd:10 bytes_acked:40213 \
                send 96.5Mbps lastsnd:3 app_limited unacked:1\n";
    assert!(subject(text).gaps.contains(&Limitation::OneEnd));
    assert!(
        subject("time_connect: 0.01 time_starttransfer: 0.02 time_total: 0.03\n")
            .gaps
            .contains(&Limitation::OneRequest)
    );
    assert!(KINDS.iter().all(|kind| !kind.cannot_show().is_empty()));
}

#[test]
fn year_of_many_digits_is_not_a_date() {
    assert_eq!(text::time("600000000000000000-05-01T10:15:01"), Some(36_901.0));
    assert!(text::time("2024-05-01T10:15:01").is_some_and(|seconds| seconds > 1e10));
}

/// Words of all formats in any order.
fn words() -> impl Strategy<Value = String> {
    let known = [
        "ESTAB",
        "0",
        "10.0.0.1:80",
        "10.0.0.2:5000",
        "cubic",
        "cwnd:10",
        "rto:204",
        "rtt:1/0.5",
        "retrans:0/99",
        "timer:(on,1sec,9)",
        "skmem:(r1,rb2)",
        "busy:9ms",
        "rwnd_limited:9s(99%)",
        "\n",
        "Recv-Q Send-Q",
        "TcpExtX 3 0.0",
        "TcpExt: A B",
        "TcpExt: 1 2",
        "Tcp:",
        "9 segments retransmited",
        "[  5]",
        "0.00-1.00",
        "sec",
        "MBytes",
        "1",
        "Mbits/sec",
        "9/10 (90%)",
        "sender",
        "time_total: 1,5",
        "time_connect: 0.1",
        "time_starttransfer: 9",
        "PING x",
        "64 bytes from",
        "time=1 ms",
        "packets transmitted,",
        "Loss% Snt",
        "1.|--",
        "0.0%",
        "traceroute to",
        "*",
        "9.9",
        "{\"intervals\":[{}]}",
        "{\"event\":\"start\",\"data\":{}}",
        "99999999999999999999",
        ">",
        "é",
        "10:15:01",
    ];
    prop::collection::vec(prop::sample::select(known.to_vec()), 0..80).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn any_words_are_read(text in words()) {
        if let Some(report) = read(&[("a", text.as_bytes()), ("b", b"x")]) {
            let json = serde_json::to_string(&report).unwrap();
            prop_assert!(!json.contains("null,\"unit\""), "{json}");
        }
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = (read(&[("a", &bytes)]), is_evidence(&bytes));
    }
}
