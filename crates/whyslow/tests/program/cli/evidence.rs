//! The output of other tools instead of a capture.

use super::{Folder, whyslow};
use crate::common::sample;
use serde_json::Value;

const SS: &str = "State Recv-Q Send-Q Local Address:Port Peer Address:Port\n\
                  ESTAB 0 2896000 10.10.0.5:443 10.20.0.9:51522\n\t cubic wscale:7,9 rto:292 rtt:91.7/0.3 mss:1448 cwnd:812 \
                  bytes_acked:47800001 data_segs_out:33238 busy:19400ms rwnd_limited:18900ms(97.4%) unacked:181 minrtt:91.2\n";
const PING: &str =
    "10 packets transmitted, 10 received, 0% packet loss, time 9012ms\nrtt min/avg/max/mdev = 13.1/14.4/17.0/0.2 ms\n";

fn schema() -> Value {
    serde_json::from_str(include_str!("../../../../../docs/schema/whyslow-evidence-2.schema.json")).unwrap()
}

#[test]
fn output_of_ss_is_explained_from_a_file_and_a_pipe() {
    let folder = Folder::new();
    let file = folder.put("ss.txt", SS.as_bytes());
    let printed = whyslow().arg(&file).output().unwrap();
    let text = String::from_utf8(printed.stdout).unwrap();
    assert!(printed.status.success() && text.starts_with("The peer's receive window was full for 18.9 s"), "{text}");
    let piped = whyslow().write_stdin(SS).output().unwrap();
    assert_eq!(String::from_utf8(piped.stdout).unwrap(), text);
    let chinese = whyslow().args(["--lang", "zh"]).arg(&file).output().unwrap();
    assert!(String::from_utf8(chinese.stdout).unwrap().contains("对端接收窗口"));
}

#[test]
fn compressed_texts_are_read() {
    let folder = Folder::new();
    let mut packed = Vec::new();
    std::io::Write::write_all(
        &mut flate2::write::GzEncoder::new(&mut packed, flate2::Compression::fast()),
        SS.as_bytes(),
    )
    .unwrap();
    let file = folder.put("ss.txt.gz", &packed);
    let printed = whyslow().arg(&file).output().unwrap();
    assert!(String::from_utf8(printed.stdout).unwrap().starts_with("The peer's receive window was full for 18.9 s"));
}

#[test]
fn json_of_evidence_fits_its_schema() {
    let folder = Folder::new();
    let ss = folder.put("ss.txt", SS.as_bytes());
    let ping = folder.put("ping.txt", PING.as_bytes());
    let printed = whyslow().arg("--json").args([&ss, &ping]).output().unwrap();
    let json: Value = serde_json::from_slice(&printed.stdout).unwrap();
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let errors: Vec<String> = validator.iter_errors(&json).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(json["subjects"][0]["findings"][0]["cause"], "receive-window");
    assert_eq!(json["inputs"][1]["sources"][0], "ping");
}

#[test]
fn exit_status_of_evidence_follows_fail_on() {
    let code =
        |text: &str, rule: &str| whyslow().args(["--fail-on", rule]).write_stdin(text).output().unwrap().status.code();
    assert_eq!(code(SS, "receive-window>10s"), Some(1));
    assert_eq!((code(SS, "loss"), code(PING, "any")), (Some(0), Some(0)));
    assert_eq!(code("hello\n", "any"), Some(2));
}

#[test]
fn every_cause_of_evidence_is_documented() {
    for slug in ["listen-overflow", "close-wait", "receive-drops", "checksum-errors"] {
        assert!(whyslow().args(["causes", slug]).output().unwrap().status.success(), "{slug}");
    }
}

/// A look at the server of `samples/sender-cap-server.pcap`, whose send buffer was full.
const CAPPED: &str = "ESTAB 0 0 10.77.0.2:5001 10.77.0.1:37468\n\t cubic wscale:7,7 rto:240 rtt:50.2/0.4 mss:1448 cwnd:40 \
                      bytes_acked:409601 busy:2090ms sndbuf_limited:1700ms(81.3%) minrtt:50.1\n";

#[test]
fn account_of_ss_answers_the_question_of_a_capture() {
    let folder = Folder::new();
    let ss = folder.put("ss.log", CAPPED.as_bytes());
    let capture = sample("sender-cap-server");
    let printed = whyslow().arg(&capture).arg(&ss).output().unwrap();
    let text = String::from_utf8(printed.stdout).unwrap();
    assert!(printed.status.success(), "{text}");
    assert!(text.contains("#1.2 sender-cap   confirmed"), "{text}");
    assert!(text.contains("the send buffer held the sender for 1.70 s of the 2.09 s with data to send"), "{text}");
    // The capture's own finding stays as it is.
    let alone = whyslow().arg(&capture).output().unwrap();
    assert!(text.starts_with(&*String::from_utf8(alone.stdout).unwrap()), "{text}");
    let other = CAPPED.replace("sndbuf_limited:1700ms(81.3%)", "rwnd_limited:1900ms(90.9%)");
    let other = folder.put("other.log", other.as_bytes());
    let chinese = whyslow().args(["--lang", "zh"]).arg(&capture).arg(&other).output().unwrap();
    assert!(String::from_utf8(chinese.stdout).unwrap().contains("不符"));
}

#[test]
fn answers_are_data_in_the_json_next_to_the_findings() {
    let folder = Folder::new();
    let ss = folder.put("ss.log", CAPPED.as_bytes());
    let capture = sample("sender-cap-server");
    let printed = whyslow().args(["--json", "--words"]).arg(&capture).arg(&ss).output().unwrap();
    let json: Value = serde_json::from_slice(&printed.stdout).unwrap();
    let schema: Value = serde_json::from_str(include_str!("../../../../../docs/schema/whyslow-2.schema.json")).unwrap();
    let errors: Vec<String> =
        jsonschema::validator_for(&schema).unwrap().iter_errors(&json).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let evidence: Vec<String> = jsonschema::validator_for(&self::schema())
        .unwrap()
        .iter_errors(&json["evidence"])
        .map(|error| error.to_string())
        .collect();
    assert!(evidence.is_empty(), "{evidence:?}");
    let answer = &json["answers"][0];
    assert_eq!((&answer["outcome"], &answer["question"]["kind"]), (&"confirms".into(), &"which-cap".into()));
    assert_eq!((&answer["reading"]["kind"], &answer["reading"]["limited_s"]), (&"send-buffer".into(), &1.7.into()));
    let alone = whyslow().args(["--json", "--words"]).arg(&capture).output().unwrap();
    let alone: Value = serde_json::from_slice(&alone.stdout).unwrap();
    assert_eq!((&alone["connections"], &alone["answers"]), (&json["connections"], &Value::Null));
    let lines = whyslow().arg("--jsonl").arg(&capture).arg(&ss).output().unwrap();
    let lines = String::from_utf8(lines.stdout).unwrap();
    let kinds: Vec<String> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|line| line.as_object().unwrap().keys().find(|key| *key != "schema").unwrap().clone())
        .collect();
    assert_eq!(kinds, ["capture", "connection", "answer", "evidence"]);
    assert_eq!(whyslow().arg("--tsv").arg(&capture).arg(&ss).output().unwrap().status.code(), Some(2));
}
