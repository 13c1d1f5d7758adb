//! Captures of the samples with accounts as their kernels could have printed them.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::read;
use whyslow_analysis::SendingQuestion;
use whyslow_core::capture::Reader;
use whyslow_diagnosis::explain::Explainer;

macro_rules! sample {
    ($name:literal) => {
        explain(include_bytes!(concat!("../../../../samples/", $name, ".pcap")))
    };
}

fn explain(bytes: &[u8]) -> Analysis {
    let mut explainer = Explainer::new();
    explainer.begin_capture("sample");
    let mut reader = Reader::new();
    reader.push(bytes, &mut explainer).unwrap();
    let summary = reader.finish(&mut explainer).unwrap();
    explainer.end_capture(summary);
    explainer.finish()
}

/// A look at the server of a connection of the samples.
fn ss(port: u16, rest: &str) -> String {
    at("10.77.0.2:5001", &format!("10.77.0.1:{port}"), rest)
}

fn at(local: &str, remote: &str, rest: &str) -> String {
    format!(
        "State Recv-Q Send-Q Local Address:Port Peer Address:Port\nESTAB 0 0 {local} {remote}\n\t cubic wscale:7,7 rto:240 \
         mss:1448 cwnd:40 {rest}\n"
    )
}

#[track_caller]
fn answered(analysis: &Analysis, text: &str) -> Vec<(Outcome, Reading)> {
    let report = read(&[("ss.txt", text.as_bytes())]).unwrap();
    answers(analysis, &report).into_iter().map(|answer| (answer.outcome, answer.reading)).collect()
}

#[test]
fn full_send_buffer_confirms_a_sender_cap_and_answers_its_question() {
    let analysis = sample!("sender-cap-server");
    let text = ss(37468, "rtt:40/1 minrtt:39 bytes_acked:409601 busy:2090ms sndbuf_limited:1700ms(81.3%)");
    let report = read(&[("ss.txt", text.as_bytes())]).unwrap();
    let answers = answers(&analysis, &report);
    let answer = answers.first().unwrap();
    assert!(matches!(answer.question, Some(Question::Sending(SendingQuestion::WhichCap { .. }))), "{answer:?}");
    assert_eq!(answer.outcome, Outcome::Confirms);
    assert_eq!(answer.reading, Reading::SendBuffer { limited_s: 1.7, busy_s: 2.09 });
    assert_eq!((answer.connection, answer.transfer, answer.matched_by), (1, 2, MatchedBy::Addresses));
    assert_eq!(answer.evidence[0], Figure::new("sndbuf_limited", 1.7, whyslow_analysis::Unit::Seconds));
}

#[test]
fn full_peer_window_contradicts_a_sender_cap() {
    let analysis = sample!("sender-cap-server");
    let text = ss(37468, "rtt:40/1 minrtt:39 bytes_acked:409601 busy:2090ms rwnd_limited:1900ms(90%)");
    assert_eq!(
        answered(&analysis, &text),
        [(Outcome::Contradicts, Reading::PeerWindow { limited_s: 1.9, busy_s: 2.09 })]
    );
    // Busy all the time, and held by neither.
    let text = ss(37468, "rtt:40/1 minrtt:39 bytes_acked:409601 busy:2090ms");
    assert_eq!(answered(&analysis, &text), [(Outcome::Contradicts, Reading::NeitherBuffer { busy_s: 2.09 })]);
}

#[test]
fn receive_window_is_confirmed_only_if_the_kernel_counted_it() {
    let analysis = sample!("receive-window-server");
    let port = analysis.connections[0].client.port;
    let bytes = analysis.connections[0].transfers[1].bytes;
    let held = ss(port, &format!("rtt:40/1 minrtt:39 bytes_acked:{bytes} busy:9000ms rwnd_limited:8000ms(90%)"));
    assert!(answered(&analysis, &held).iter().all(|(outcome, _)| *outcome == Outcome::Confirms));
    assert!(!answered(&analysis, &held).is_empty());
    let free = ss(port, &format!("rtt:40/1 minrtt:39 bytes_acked:{bytes} busy:9000ms"));
    assert!(matches!(answered(&analysis, &free)[0], (Outcome::Contradicts, Reading::NeitherBuffer { .. })));
}

#[test]
fn threshold_of_the_kernel_is_compared_with_the_remembered_one() {
    let analysis = sample!("early-slow-start-exit-server");
    let ports: Vec<u16> = analysis.connections.iter().map(|connection| connection.client.port).collect();
    let with =
        |rest: &str| answered(&analysis, &ss(ports[1], &format!("rtt:60/1 minrtt:60 bytes_acked:500001 {rest}")));
    let findings = analysis.connections[1].transfers.iter().flat_map(|transfer| &transfer.findings);
    let segments = findings.flat_map(|finding| &finding.to_confirm).find_map(|question| match question {
        Question::Sending(SendingQuestion::RememberedThreshold { segments, .. }) => Some(*segments),
        _ => None,
    });
    let segments = segments.unwrap();
    assert_eq!(with(&format!("ssthresh:{segments}"))[0].0, Outcome::Confirms);
    assert_eq!(with("ssthresh:400")[0], (Outcome::Contradicts, Reading::Threshold { segments: 400.0 }));
    assert_eq!(with("")[0], (Outcome::Contradicts, Reading::NoThreshold { window: 40.0 }));
    // After a loss the threshold is another one.
    assert!(with("ssthresh:400 retrans:0/3").is_empty());
}

#[test]
fn losses_without_retransmissions_of_the_kernel_are_contradicted_at_the_end_alone() {
    let analysis = sample!("random-loss-server");
    let with =
        |bytes: u64, rest: &str| answered(&analysis, &ss(34540, &format!("rtt:60/1 bytes_acked:{bytes} {rest}")));
    assert_eq!(with(1_300_001, "retrans:0/31")[0], (Outcome::Confirms, Reading::Retransmitted { segments: 31.0 }));
    assert_eq!(with(1_300_001, "")[0], (Outcome::Contradicts, Reading::NotRetransmitted));
    assert!(with(900_000, "").is_empty(), "a look in the middle");
    assert!(with(90_000, "retrans:0/3").is_empty(), "a look at the beginning");
    assert!(with(90_000_000, "retrans:0/3").is_empty(), "counts of other transfers");
}

#[test]
fn queue_at_the_sender_decides_between_a_queue_and_a_policer() {
    let analysis = sample!("policer-server");
    let port = analysis.connections[0].client.port;
    let with = |rest: &str| answered(&analysis, &ss(port, &format!("bytes_acked:1500001 unacked:9 {rest}")));
    assert!(matches!(with("rtt:61/2 minrtt:60")[0], (Outcome::Confirms, Reading::NoQueue { .. })));
    assert!(matches!(with("rtt:260/2 minrtt:60")[0], (Outcome::Contradicts, Reading::Queue { .. })));
    assert!(with("rtt:95/2 minrtt:60").is_empty(), "between both");
}

#[test]
fn unread_data_at_the_receiver_confirms_a_slow_reader() {
    let analysis = sample!("zero-window-client");
    let line = |unread: u32| {
        format!(
            "ESTAB {unread} 0 10.77.0.1:33010 10.77.0.2:5001\n\t cubic wscale:7,7 rto:240 rtt:20/1 mss:1448 cwnd:10 \
             bytes_acked:10 bytes_received:300000\n"
        )
    };
    let found = answered(&analysis, &line(200_000));
    assert_eq!(found, [(Outcome::Confirms, Reading::Unread { bytes: 200_000.0 })]);
    assert!(answered(&analysis, &line(2_000)).is_empty());
}

#[test]
fn accounts_are_matched_through_address_translation() {
    let analysis = sample!("sender-cap-server");
    let rest = "rtt:40/1 minrtt:39 bytes_acked:409601 busy:2090ms sndbuf_limited:1700ms(81.3%)";
    let by = |text: &str| {
        let report = read(&[("ss.txt", text.as_bytes())]).unwrap();
        answers(&analysis, &report).first().map(|answer| answer.matched_by)
    };
    assert_eq!(by(&at("[::ffff:10.77.0.2]:5001", "[::ffff:10.77.0.1]:37468", rest)), Some(MatchedBy::Addresses));
    assert_eq!(by(&at("10.77.0.2:5001", "198.51.100.7:37468", rest)), Some(MatchedBy::Ports));
    assert_eq!(by(&at("10.77.0.2%eth0:5001", "198.51.100.7:2201", rest)), Some(MatchedBy::OneEnd));
    // Another amount of data is another connection.
    let other = rest.replace("409601", "700000");
    assert_eq!(by(&at("10.77.0.2:5001", "198.51.100.7:2201", &other)), None);
    assert_eq!(by(&at("192.0.2.9:5001", "198.51.100.7:37468", rest)), None);
    // Two sockets that may be it.
    let both = at("10.77.0.2:5001", "198.51.100.7:2201", rest) + &at("10.77.0.2:5001", "198.51.100.8:2202", rest);
    assert_eq!(by(&both), None);
}

#[test]
fn account_of_a_connection_that_has_ended_is_the_last_one_with_figures() {
    let analysis = sample!("sender-cap-server");
    let closing = ss(37468, "rtt:40/1 minrtt:39 bytes_acked:409601 busy:2090ms sndbuf_limited:1700ms(81.3%)")
        .replace("ESTAB", "FIN-WAIT-1");
    let over = "TIME-WAIT 0 0 10.77.0.2:5001 10.77.0.1:37468 timer:(timewait,59sec,0)\n";
    let text = format!("10:15:01\n{closing}10:15:02\n{over}");
    assert_eq!(answered(&analysis, &text), [(Outcome::Confirms, Reading::SendBuffer { limited_s: 1.7, busy_s: 2.09 })]);
}

#[test]
fn idle_sender_differs_from_one_with_data() {
    let analysis = sample!("application-server");
    let text = ss(60726, "rtt:40/1 minrtt:39 bytes_acked:400001 busy:300ms app_limited");
    let found = answered(&analysis, &text);
    assert!(
        matches!(found[0], (Outcome::Confirms, Reading::NoData { idle_s: Some(idle), .. }) if idle > 1.6),
        "{found:?}"
    );
    let text = ss(60726, "rtt:40/1 minrtt:39 bytes_acked:400001 busy:1960ms");
    assert!(matches!(answered(&analysis, &text)[0], (Outcome::Contradicts, Reading::DataReady { .. })));
}
