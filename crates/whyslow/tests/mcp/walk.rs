//! From a question to an answer: explain, finding, the packets that it cites, and what its fix
//! would bring.

use crate::captures::KNOWN;
use crate::client::{Assistant, Pipes, samples};
use crate::sizes::Sizes;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Asks as an assistant does that follows the server's instructions, and checks each answer against
/// what is known. Returns the frames that were looked at.
#[track_caller]
pub fn walk(client: &mut impl Assistant, name: &str, cause: &str, sizes: &mut Sizes) -> usize {
    let files = json!([format!("{name}.pcap")]);
    let explained = client.call("explain", json!({"files": files}));
    sizes.add("explain", &explained);
    let verdict = &explained["structuredContent"];
    let findings = verdict["findings"].as_array().unwrap();
    let first = &findings[0];
    assert_eq!(first["cause"], cause, "{name}: {verdict}");
    let text = explained["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with(verdict["headline"].as_str().unwrap()), "{name}: {text}");
    let mut looked = 0;
    for listed in findings {
        let id = listed["id"].as_str().unwrap();
        assert!(text.contains(&format!("[{id}]")), "{name}: {id} is data alone");
        let found = client.call("finding", json!({"files": files, "id": id}));
        sizes.add("finding", &found);
        let finding = &found["structuredContent"];
        for member in ["id", "cause", "cost_s", "confidence", "about"] {
            assert_eq!(finding[member], listed[member], "{name} {id}");
        }
        let grade = finding["grade"].as_str().unwrap();
        assert!(["shown", "reproduced", "inferred", "contradicted"].contains(&grade), "{name} {id}: {grade}");
        assert!(found["content"][0]["text"].as_str().unwrap().contains(&format!("({grade})")), "{name} {id}");
        let evidence = finding["evidence"].as_array().unwrap();
        let cited = evidence.iter().filter_map(|one| one["frames"].as_array()).flatten();
        let cited: BTreeSet<&str> = cited.map(|frame| frame.as_str().unwrap()).collect();
        for (index, frame) in cited.iter().enumerate() {
            // The window of a few, and the frame alone of all others.
            let around = if index < 2 { Value::Null } else { json!(0) };
            let arguments = json!({
                "files": files, "frame": frame, "connection": finding["connection"], "around": around
            });
            let packets = client.call("packets", arguments);
            if index < 2 {
                sizes.add("packets", &packets);
            }
            is_there(&packets["structuredContent"], frame, &format!("{name} {id}"));
            looked += 1;
        }
        let predicted = client.call("predict", json!({"files": files, "id": id}));
        sizes.add("predict", &predicted);
        is_honest(&predicted["structuredContent"], &format!("{name} {id}"));
    }
    looked
}

/// Checks that a frame that a finding cites is among the packets that were given for it.
#[track_caller]
fn is_there(packets: &Value, frame: &str, what: &str) {
    assert_eq!(packets["found"], true, "{what}: frame {frame} of {packets}");
    let rows = packets["packets"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["frame"] == frame), "{what}: frame {frame} of {packets}");
    assert!(rows.len() <= 11, "{what}: {} rows", rows.len());
}

/// Checks that each remedy has an estimate, or that there is a reason why not.
#[track_caller]
fn is_honest(prediction: &Value, what: &str) {
    let remedies = prediction["remedies"].as_array().unwrap();
    let estimated = remedies.iter().filter(|remedy| remedy["predicted_s"].as_f64().is_some()).count();
    let reason = prediction["no_estimate"].as_str();
    assert_eq!(reason.is_none(), estimated == remedies.len() && estimated > 0, "{what}: {prediction}");
    if estimated > 0 && prediction["model_s"].is_number() {
        let (measured, model) = (prediction["measured_s"].as_f64().unwrap(), prediction["model_s"].as_f64().unwrap());
        assert!((model - measured).abs() <= 0.15 * measured + 1e-3, "{what}: {prediction}");
    }
}

#[test]
fn known_causes_are_found_and_each_cited_frame_is_there() {
    let mut client = Pipes::begun(&samples(), &[]);
    let mut sizes = Sizes::default();
    let looked: usize = KNOWN.iter().map(|(name, cause)| walk(&mut client, name, cause, &mut sizes)).sum();
    assert!(KNOWN.len() >= 20 && looked > 4 * KNOWN.len(), "{looked} frames of {} captures", KNOWN.len());
    for tool in ["compare", "causes"] {
        let arguments = match tool {
            "compare" => json!({"a": "slow-start-client.pcap", "b": "loss-client.pcap"}),
            _ => json!({}),
        };
        let result = client.call(tool, arguments);
        sizes.add(tool, &result);
    }
    let result = client.call("causes", json!({"cause": "receive-window"}));
    sizes.add("causes (one)", &result);
    sizes.add_value("tools/list", &client.ask("tools/list", json!({})).unwrap());
    sizes.check();
    let (status, errors) = client.end();
    assert_eq!((status, errors.as_str()), (Some(0), ""));
}

#[test]
fn healthy_and_inconclusive_captures_are_reported_as_such() {
    let mut client = Pipes::begun(&samples(), &[]);
    let healthy = client.data("explain", json!({"files": "healthy-server.pcap"}));
    assert_eq!((&healthy["status"], &healthy["findings"]), (&"healthy".into(), &json!([])));
    let failure = client.failure("finding", json!({"files": "healthy-server.pcap", "id": "1.1/loss"}));
    assert!(failure.contains("no findings"), "{failure}");
}

#[test]
fn captures_of_both_ends_are_read_together() {
    let mut client = Pipes::begun(&samples(), &[]);
    let files = json!(["loss-client.pcap", "loss-server.pcap"]);
    let both = client.data("explain", json!({"files": files}));
    assert!(!both["between_captures"].as_array().unwrap().is_empty(), "{both}");
    let id = &both["findings"][0]["id"];
    let finding = client.data("finding", json!({"files": files, "id": id}));
    let frames = finding["evidence"].as_array().unwrap().iter().find_map(|one| one["frames"].as_array()).unwrap();
    let frame = frames[0].as_str().unwrap();
    assert!(frame.contains(':'), "{frame}");
    let packets = client.data("packets", json!({"files": files, "frame": frame}));
    is_there(&packets, frame, "both ends");
    let failure = client.failure("packets", json!({"files": files, "frame": 1}));
    assert!(failure.contains("FILE:NUMBER"), "{failure}");
}

#[test]
fn lists_are_cut_and_go_on_with_a_cursor() {
    let mut client = Pipes::begun(&samples(), &[]);
    let files = "new-connection-each-time-server.pcap";
    let (mut ids, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let page = client.data("explain", json!({"files": files, "limit": 3, "cursor": cursor}));
        let findings = page["findings"].as_array().unwrap();
        assert!(findings.len() <= 3);
        ids.extend(findings.iter().map(|one| one["id"].as_str().unwrap().to_owned()));
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            assert_eq!(page["findings_total"], ids.len());
            break;
        }
    }
    assert!(ids.len() > 3 && ids.iter().collect::<BTreeSet<_>>().len() == ids.len(), "{ids:?}");
    let of_one = client.data("explain", json!({"files": files, "connection": 2}));
    assert!(of_one["findings_total"].as_u64() < Some(ids.len() as u64), "{of_one}");
    let of_cause = client.data("explain", json!({"files": files, "cause": "new-connection-each-time"}));
    assert_eq!(of_cause["findings"][0]["id"], "all/new-connection-each-time");
}

#[test]
fn two_transfers_are_compared() {
    let mut client = Pipes::begun(&samples(), &[]);
    let arguments = json!({"a": "slow-start-client.pcap", "b": "loss-client.pcap#1.2"});
    let compared = client.data("compare", arguments);
    assert_eq!(compared["b"]["transfer"], "loss-client.pcap#1.2");
    let phases = compared["phases"].as_array().unwrap();
    for phase in phases {
        let seconds = ["a_s", "b_s", "difference_s"].map(|name| phase[name].as_f64().unwrap());
        assert!((seconds[1] - seconds[0] - seconds[2]).abs() < 1e-6, "{phase}");
    }
    let id = compared["a"]["finding"].as_str().unwrap();
    assert!(client.data("finding", json!({"files": "slow-start-client.pcap", "id": id}))["remedies"].is_array());
    let one = "slow-start-client.pcap";
    assert!(client.failure("compare", json!({"a": one, "b": one})).contains("are one transfer"));
    let none = client.failure("compare", json!({"a": one, "b": format!("{one}#9")}));
    assert!(none.contains("there is no connection 9"), "{none}");
}

#[test]
fn sentences_come_in_the_language_of_the_option() {
    let mut client = Pipes::begun(&samples(), &["--lang=zh"]);
    let explained = client.data("explain", json!({"files": "slow-start-client.pcap"}));
    assert!(explained["headline"].as_str().unwrap().contains('。'), "{explained}");
}
