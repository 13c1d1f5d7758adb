//! Handshake, schemas, resources, prompts, completions, progress and cancellation.

use crate::client::{Assistant, Pipes, samples};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::time::{Duration, Instant};

#[test]
fn the_server_sends_its_name_and_its_rules() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = Pipes::start(&samples(), &[]);
        let hello =
            json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let result = client.ask("initialize", hello).unwrap();
        assert_eq!(result["protocolVersion"], version);
        assert_eq!(result["serverInfo"]["name"], "whyslow");
        let instructions = result["instructions"].as_str().unwrap();
        assert!(instructions.contains("Every frame number you cite must come from a tool's result"), "{instructions}");
        for capability in ["tools", "resources", "prompts", "completions"] {
            assert!(result["capabilities"][capability].is_object(), "{result}");
        }
    }
}

#[test]
fn tools_have_schemas_and_answers_keep_to_them() {
    let mut client = Pipes::begun(&samples(), &["--allow", "host,probe"]);
    let listed = client.ask("tools/list", json!({})).unwrap();
    let tools = listed["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["explain", "finding", "packets", "predict", "compare", "causes", "host", "probe"]);
    let file = "tls-client.pcap";
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        assert_eq!(tool["annotations"]["readOnlyHint"], name != "probe", "{name}");
        assert_eq!(tool["annotations"]["openWorldHint"], name == "probe", "{name}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{name}");
        let arguments = match name {
            "explain" => json!({"files": [file]}),
            "finding" | "predict" => json!({"files": [file], "id": "1.1/slow-start"}),
            "packets" => json!({"files": [file], "frame": "7", "around": 2}),
            "compare" => json!({"a": file, "b": "slow-start-client.pcap"}),
            "causes" => json!({"cause": "loss"}),
            _ => continue,
        };
        let arguments = match name {
            "finding" | "predict" => {
                let id = client.data("explain", json!({"files": file}))["findings"][0]["id"].clone();
                json!({"files": [file], "id": id})
            }
            _ => arguments,
        };
        let input = jsonschema::validator_for(&tool["inputSchema"]).unwrap();
        input.validate(&arguments).unwrap_or_else(|error| panic!("{name}: {error}"));
        let output = jsonschema::validator_for(&tool["outputSchema"]).unwrap();
        let data = client.data(name, arguments);
        output.validate(&data).unwrap_or_else(|error| panic!("{name}: {error} in {data}"));
        assert!(!output.is_valid(&json!({"x": 1})), "{name}");
    }
    let mut client = Pipes::begun(&samples(), &[]);
    let listed = client.ask("tools/list", json!({})).unwrap();
    assert_eq!(listed["tools"].as_array().unwrap().len(), 6);
}

#[test]
fn reports_are_resources() {
    let mut client = Pipes::begun(&samples(), &[]);
    assert_eq!(client.ask("resources/list", json!({})).unwrap()["resources"], json!([]));
    let templates = client.ask("resources/templates/list", json!({})).unwrap();
    assert_eq!(templates["resourceTemplates"][0]["uriTemplate"], "whyslow://report/markdown{?file*}");
    // A tool that is not open yet.
    let mut read =
        |uri: &str| client.ask("resources/read", json!({"uri": uri})).map(|read| read["contents"][0].clone());
    let markdown = read("whyslow://report/markdown?file=slow-start-client.pcap").unwrap();
    assert_eq!(markdown["mimeType"], "text/markdown");
    let text = markdown["text"].as_str().unwrap();
    assert!(text.contains("**slow-start**") && text.contains("Fix:"), "{text}");
    assert!(text.len() < 16_000, "{}", text.len());
    let json_report = read("whyslow://report/json?file=loss-client.pcap&file=loss-server.pcap").unwrap();
    let report: Value = serde_json::from_str(json_report["text"].as_str().unwrap()).unwrap();
    assert_eq!((&report["schema"], report["pairs"].as_array().unwrap().len()), (&"whyslow/2".into(), 1));
    for uri in ["", "file:///etc/passwd", "whyslow://report/html?file=a", "whyslow://report/json?file=%00"] {
        let error = read(uri).unwrap_err();
        assert!(error["message"].as_str().unwrap().contains("Hint:"), "{error}");
    }
    let listed = client.ask("resources/list", json!({})).unwrap();
    let listed = listed["resources"].as_array().unwrap().clone();
    assert_eq!(listed.len(), 4);
    for resource in listed {
        assert!(client.ask("resources/read", json!({"uri": resource["uri"]})).is_ok(), "{resource}");
    }
}

#[test]
fn the_prompt_names_the_file_and_files_are_completed() {
    let mut client = Pipes::begun(&samples(), &[]);
    let prompts = client.ask("prompts/list", json!({})).unwrap();
    assert_eq!(prompts["prompts"][0]["name"], "why_slow");
    let get = json!({"name": "why_slow", "arguments": {"file": "loss-client.pcap", "question": "a slow backup"}});
    let prompt = client.ask("prompts/get", get).unwrap();
    let text = prompt["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("`loss-client.pcap`") && text.contains("a slow backup"), "{text}");
    assert!(client.ask("prompts/get", json!({"name": "why_slow"})).is_err());
    assert!(client.ask("prompts/get", json!({"name": "other", "arguments": {"file": "x"}})).is_err());
    let complete = json!({
        "ref": {"type": "ref/prompt", "name": "why_slow"}, "argument": {"name": "file", "value": "slow-"}
    });
    let completed = client.ask("completion/complete", complete).unwrap();
    assert_eq!(completed["completion"]["values"], json!(["slow-start-client.pcap", "slow-start-server.pcap"]));
}

/// A capture that takes a while: the packets of a sample again and again, an hour apart.
fn large(folder: &std::path::Path, megabytes: usize) {
    let sample = fs::read(samples().join("loss-client.pcap")).unwrap();
    let (head, packets) = sample.split_at(24);
    let mut file = std::io::BufWriter::new(fs::File::create(folder.join("large.pcap")).unwrap());
    file.write_all(head).unwrap();
    let mut again = packets.to_vec();
    for _ in 0..(megabytes << 20) / packets.len() {
        let mut at = 0;
        while at < again.len() {
            let seconds = u32::from_le_bytes(again[at..at + 4].try_into().unwrap()) + 3_600;
            again[at..at + 4].copy_from_slice(&seconds.to_le_bytes());
            at += 16 + u32::from_le_bytes(again[at + 8..at + 12].try_into().unwrap()) as usize;
        }
        file.write_all(&again).unwrap();
    }
    file.flush().unwrap();
}

#[test]
fn long_work_is_reported_and_can_be_cancelled() {
    let tree = tempfile::tempdir().unwrap();
    large(tree.path(), 64);
    let mut client = Pipes::begun(tree.path(), &[]);
    let call = |token: &str| json!({"name": "explain", "arguments": {"files": "large.pcap"}, "_meta": {"progressToken": token}});
    // Progress, until it is cancelled.
    let id = client.request("tools/call", call("a"));
    let first = client.message().unwrap();
    assert_eq!((&first["method"], &first["params"]["progressToken"]), (&"notifications/progress".into(), &"a".into()));
    let total = first["params"]["total"].as_f64().unwrap();
    assert_eq!(total as u64, fs::metadata(tree.path().join("large.pcap")).unwrap().len());
    assert!(first["params"]["progress"].as_f64().unwrap() <= total);
    let since = Instant::now();
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    // Other requests are answered at once, and none with this id any more.
    assert!(client.ask("ping", json!({})).is_ok());
    assert!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());
    assert!(client.notifications.iter().all(|message| message["id"] != id));
    // The next call reads it from the beginning, to the end.
    client.notifications.clear();
    let id = client.request("tools/call", call("b"));
    let result = client.answer(id).unwrap();
    assert_eq!(result["isError"], false, "{result}");
    let progress = client.notifications.iter().filter(|one| one["params"]["progressToken"] == "b");
    let progress: Vec<f64> = progress.map(|one| one["params"]["progress"].as_f64().unwrap()).collect();
    assert!(!progress.is_empty() && progress.is_sorted_by(|a, b| a < b), "{progress:?}");
    // A call without a token has no progress notifications.
    client.notifications.clear();
    client.data("explain", json!({"files": "large.pcap"}));
    assert!(client.notifications.is_empty(), "{:?}", client.notifications);
}

#[test]
fn what_is_asked_at_the_end_is_still_answered() {
    let mut client = Pipes::begun(&samples(), &[]);
    let arguments = json!({"name": "explain", "arguments": {"files": "loss-client.pcap"}});
    let ids: Vec<_> = (0..4).map(|_| client.request("tools/call", arguments.clone())).collect();
    let mut met = Vec::new();
    while met.len() < ids.len() {
        met.push(client.message().unwrap()["id"].as_u64().unwrap());
    }
    met.sort_unstable();
    assert_eq!(met, ids);
    let (status, _) = client.end();
    assert_eq!(status, Some(0));
}
