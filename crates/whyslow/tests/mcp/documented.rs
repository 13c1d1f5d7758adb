//! The tools, sizes and session in docs/reference/mcp.md are as the program prints them.
//! `TABLES=update cargo test -p whyslow --test mcp` writes them.

use crate::captures::KNOWN;
use crate::client::{Assistant, Pipes, samples};
use crate::sizes::Sizes;
use crate::walk::walk;
use serde_json::{Value, json};
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

fn page() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/mcp.md")
}

/// The page with one part replaced.
fn with(page: &str, part: &str, text: &str) -> String {
    let (begin, end) = (format!("<!-- {part} -->\n"), format!("<!-- end of {part} -->"));
    let (before, rest) = page.split_once(&begin).unwrap_or_else(|| panic!("docs/reference/mcp.md has the part {part}"));
    let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("docs/reference/mcp.md ends the part {part}"));
    format!("{before}{begin}\n{}\n\n{end}{after}", text.trim_end())
}

fn tools(client: &mut impl Assistant) -> String {
    let listed = client.ask("tools/list", json!({})).unwrap();
    let mut out = "| tool | what it does | arguments |\n|---|---|---|\n".to_owned();
    for tool in listed["tools"].as_array().unwrap() {
        let schema = &tool["inputSchema"];
        let is_required = |name: &str| schema["required"].as_array().is_some_and(|all| all.contains(&json!(name)));
        let names = schema["properties"].as_object().unwrap().keys();
        let names = names.map(|name| if is_required(name) { format!("**`{name}`**") } else { format!("`{name}`") });
        let names = names.collect::<Vec<_>>().join(", ");
        let about = tool["description"].as_str().unwrap();
        let _ = writeln!(out, "| `{}` | {about} | {names} |", tool["name"].as_str().unwrap());
    }
    out
}

/// A session on one capture, with the answers as an assistant reads them.
fn session(client: &mut impl Assistant) -> String {
    let mut out = String::new();
    let file = "slow-start-client.pcap";
    let mut step = |tool: &str, arguments: Value| {
        let result = client.call(tool, arguments.clone());
        let text = result["content"][0]["text"].as_str().unwrap();
        let indented: String =
            text.trim_end().lines().map(|line| format!("    {line}").trim_end().to_owned() + "\n").collect();
        let _ = write!(out, "`{tool}` {arguments}:\n\n{indented}\n");
        result["structuredContent"].clone()
    };
    let id = step("explain", json!({"files": [file]}))["findings"][0]["id"].clone();
    let finding = step("finding", json!({"files": [file], "id": id}));
    let frame = &finding["evidence"][0]["frames"][0];
    step("packets", json!({"files": [file], "frame": frame, "connection": finding["connection"], "around": 2}));
    step("predict", json!({"files": [file], "id": id, "remedy": 2}));
    out
}

#[test]
fn the_page_is_true() {
    let written = fs::read_to_string(page()).unwrap();
    let mut all = Pipes::begun(&samples(), &["--allow=host,probe"]);
    let hello = Pipes::start(&samples(), &[]).begin();
    let claims = hello["instructions"].as_str().unwrap();
    let claims: String = claims.lines().map(|line| format!("> {line}").trim_end().to_owned() + "\n").collect();
    let mut client = Pipes::begun(&samples(), &[]);
    let mut sizes = Sizes::default();
    for (name, cause) in KNOWN {
        walk(&mut client, name, cause, &mut sizes);
    }
    let result = client.call("compare", json!({"a": "slow-start-client.pcap", "b": "loss-client.pcap"}));
    sizes.add("compare", &result);
    sizes.add("causes", &client.call("causes", json!({})));
    sizes.add("causes (one)", &client.call("causes", json!({"cause": "receive-window"})));
    sizes.add_value("tools/list", &client.ask("tools/list", json!({})).unwrap());
    sizes.check();
    let real = with(&written, "tools", &tools(&mut all));
    let real = with(&real, "claims", &claims);
    let real = with(&real, "sizes", &sizes.table());
    let real = with(&real, "session", &session(&mut client));
    if std::env::var_os("TABLES").is_some_and(|what| what == "update") {
        fs::write(page(), real).unwrap();
    } else {
        assert!(
            written == real,
            "docs/reference/mcp.md differs: TABLES=update cargo test -p whyslow --test mcp writes it"
        );
    }
}
