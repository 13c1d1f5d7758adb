//! The documentation: every command in it runs, pages are generated if possible, and pictures show
//! the program. `CASEBOOK=update cargo test -p whyslow --test program docs` rewrites the generated
//! parts.

use crate::casebook::root;
use crate::whyslow;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use whyslow_analysis::cause::Cause;
use whyslow_diagnosis::cause_pages;

/// Commands that do not run here: a part of the command, and the reason. Their options are checked.
const NOT_RUN: &[(&str, &str)] = &[
    ("whyslow lab", "needs network namespaces: the lab's own tests run it"),
    ("whyslow prove", "needs network namespaces, unless it only prints the scenario"),
    ("whyslow watch", "watches this machine until Ctrl-C"),
    ("whyslow view", "serves a page until Ctrl-C"),
    ("--view", "serves a page until Ctrl-C"),
    ("whyslow mcp", "serves an assistant"),
    ("whyslow probe", "makes requests to the Internet"),
    ("whyslow host", "depends on this machine, and waits"),
    ("whyslow gateway", "needs keys and a store: the gateway's own tests run it"),
    ("--run", "connects to another machine, a container or a cluster"),
    ("https://", "reads from the Internet"),
    ("s3://", "reads from object storage"),
    ("docker run", "needs Docker"),
    ("man -l", "shows a pager"),
    ("NAME", "has a placeholder"),
    ("FILE", "has a placeholder"),
];

/// Tools in a command line that print a sample or nothing, instead of the real ones.
const STUBS: &[(&str, &str)] = &[
    ("ssh", "cat \"$SAMPLES/slow-start-client.pcap\""),
    ("tcpdump", "cat \"$SAMPLES/slow-start-client.pcap\""),
    ("ss", "cat \"$EVIDENCE/ss.txt\""),
    ("nstat", "cat \"$EVIDENCE/nstat.txt\""),
    ("iperf3", "cat \"$EVIDENCE/iperf.json\""),
    ("ethtool", "cat \"$EVIDENCE/ethtool.txt\""),
    ("strace", "cat \"$EVIDENCE/strace.txt\" >&2"),
    ("sleep", ":"),
];

/// Names of files in the documentation, and the samples that they stand for; all other captures are
/// the first one.
const FILES: &[(&str, &str)] = &[
    ("client.pcap", "loss-client.pcap"),
    ("server.pcap", "loss-server.pcap"),
    ("h3.pcap", "slow-start-server.pcap"),
    ("fast.pcap", "receive-window-client.pcap"),
    ("after.pcap", "receive-window-client.pcap"),
    ("direct.pcap", "receive-window-client.pcap"),
    ("day.pcap", "new-connection-each-time-server.pcap"),
    ("api.pcap", "new-connection-each-time-server.pcap"),
];

/// The pages in the order of their names: README and docs, without the gateway's, whose commands
/// need its keys.
fn pages() -> Vec<PathBuf> {
    let mut folders = vec![root().join("docs")];
    let mut pages = vec![root().join("README.md")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() && !entry.ends_with("gateway") {
                folders.push(entry);
            } else if entry.extension().is_some_and(|extension| extension == "md") {
                pages.push(entry);
            }
        }
    }
    pages.sort();
    pages
}

/// Lines of code on a page that call the program, without prompt, comment and continuation.
fn commands(page: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut lines = page.lines();
    let mut output = false;
    while let Some(line) = lines.next() {
        let Some(code) = line.strip_prefix("    ") else {
            output &= line.is_empty();
            continue;
        };
        let mut code = code.trim().to_owned();
        // Below a prompt stands what the command prints.
        output = (output && !code.starts_with("$ ")) || code.starts_with("$ ");
        if output && !code.starts_with("$ ") {
            continue;
        }
        while code.ends_with('\\') {
            code.pop();
            code += lines.next().unwrap_or_default().trim();
        }
        let code = code.trim_start_matches("$ ").split("  #").next().unwrap().trim();
        let parts = code.split(['|', ';', '&', '(']).map(str::trim);
        if parts.into_iter().any(|part| part == "whyslow" || part.starts_with("whyslow ")) && !code.contains('…') {
            commands.push(code.to_owned());
        }
    }
    commands
}

/// Commands in the prose of a page, as code between single backquotes.
fn mentioned(page: &str) -> Vec<&str> {
    let prose = page.split('\n').filter(|line| !line.starts_with("    "));
    prose.flat_map(|line| line.split('`').skip(1).step_by(2)).filter(|code| code.starts_with("whyslow ")).collect()
}

/// Files that the commands of a page read, where they are not there yet.
fn put_files(folder: &Path, command: &str) {
    let samples = root().join("samples");
    let evidence = evidence();
    for word in command.split([' ', '\'', '"']).map(|word| word.split('#').next().unwrap()) {
        let name = word.replace('*', "1").replace('$', "");
        let path = folder.join(&name);
        let is_capture =
            [".pcap", ".pcapng", ".pcap.zst", ".pcap0", ".pcap1", ".pcap2"].iter().any(|end| name.ends_with(end));
        if name.starts_with(['/', '-', '<', '>']) || name.contains("://") || path.exists() {
            continue;
        }
        if is_capture {
            let sample =
                FILES.iter().find(|(file, _)| *file == name).map_or("slow-start-client.pcap", |(_, sample)| sample);
            fs::copy(samples.join(sample), path).unwrap();
        } else if name == "pasted.txt" {
            fs::copy(samples.join("derived/terse-text.txt"), path).unwrap();
        } else if name == "keys" {
            fs::write(path, "").unwrap();
        } else if let Some(text) = evidence.get(name.as_str()) {
            fs::write(path, text).unwrap();
        }
    }
}

/// Output of other tools, by the name of its file in the documentation.
fn evidence() -> BTreeMap<&'static str, String> {
    let ss = "State Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n\
              ESTAB 0 131072 10.0.0.1:40000 10.0.0.2:443\n\t cubic wscale:7,7 rto:304 rtt:100/0.2 mss:1448 cwnd:10 \
              bytes_sent:1000000 bytes_acked:990000 segs_out:800 segs_in:400 data_segs_out:798 send 1.2Mbps busy:9000ms \
              rwnd_limited:8000ms(88.9%) unacked:10 rcv_space:14600 minrtt:100 snd_wnd:14480\n";
    let ping = "PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.\n64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=100 ms\n\n\
                --- 10.0.0.2 ping statistics ---\n1 packets transmitted, 1 received, 0% packet loss, time 0ms\n\
                rtt min/avg/max/mdev = 100.0/100.0/100.0/0.0 ms\n";
    let iperf = "Connecting to host 10.0.0.2, port 5201\n[  5] local 10.0.0.1 port 40000 connected to 10.0.0.2 port 5201\n\
                 [ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n\
                 [  5]   0.00-1.00   sec  1.00 MBytes  8.39 Mbits/sec    0    100 KBytes\n\
                 [  5]   1.00-2.00   sec  1.00 MBytes  8.39 Mbits/sec    0    100 KBytes\n\
                 - - - - - - - - - - - - - - - - - - - - - - - - -\n[ ID] Interval           Transfer     Bitrate         Retr\n\
                 [  5]   0.00-2.00   sec  2.00 MBytes  8.39 Mbits/sec    0             sender\n\
                 [  5]   0.00-2.00   sec  2.00 MBytes  8.39 Mbits/sec                  receiver\n\niperf Done.\n";
    let nstat = "#kernel\nTcpActiveOpens 10 0.0\nTcpInSegs 100000 0.0\nTcpOutSegs 100000 0.0\nTcpRetransSegs 900 0.0\n\
                 TcpExtTCPTimeouts 20 0.0\nTcpExtTCPFastRetrans 800 0.0\n";
    let ethtool = "NIC statistics:\n     rx_packets: 100000\n     tx_packets: 100000\n     rx_missed_errors: 0\n     rx_dropped: 0\n";
    let strace = "10:00:00.000000 connect(3<TCP:[10.0.0.1:40000]>, {sa_family=AF_INET}, 16) = 0 <0.010000>\n\
                  10:00:00.020000 read(3<TCP:[10.0.0.1:40000->10.0.0.2:443]>, \"x\", 4096) = 1 <0.900000>\n\
                  10:00:00.930000 read(3<TCP:[10.0.0.1:40000->10.0.0.2:443]>, \"x\", 4096) = 1 <0.900000>\n";
    let har = r#"{"log":{"version":"1.2","creator":{"name":"x","version":"1"},"pages":[],"entries":[{"startedDateTime":
        "2026-01-01T00:00:00.000Z","time":900,"request":{"method":"GET","url":"http://example.org/","httpVersion":"HTTP/1.1",
        "headers":[],"cookies":[],"queryString":[],"headersSize":-1,"bodySize":0},"response":{"status":200,"statusText":"OK",
        "httpVersion":"HTTP/1.1","headers":[],"cookies":[],"content":{"size":10,"mimeType":"text/html"},"redirectURL":"",
        "headersSize":-1,"bodySize":10},"cache":{},"timings":{"blocked":0,"dns":10,"connect":20,"send":1,"wait":800,
        "receive":69,"ssl":-1}}]}}"#;
    let text = |text: &str| text.to_owned();
    BTreeMap::from([
        ("ss.txt", text(ss)),
        ("ss.log", text(ss)),
        ("ping.txt", text(ping)),
        ("iperf.txt", text(iperf)),
        ("iperf.json", text(iperf)),
        ("nstat.txt", text(nstat)),
        ("netstat.txt", text(nstat)),
        ("ethtool.txt", text(ethtool)),
        ("strace.txt", text(strace)),
        ("page.har", text(har)),
    ])
}

/// The line up to the first tool that this machine lacks; the program itself is never cut.
fn with_what_is_here(command: &str) -> String {
    let tools = ["jq", "duckdb", "awk", "sort", "head"];
    let mut kept: Vec<&str> = Vec::new();
    for part in command.split(" | ") {
        let tool = part.split_whitespace().next().unwrap_or_default();
        let is_here =
            || Command::new("sh").args(["-c", &format!("command -v {tool}")]).output().unwrap().status.success();
        if tools.contains(&tool) && !is_here() {
            break;
        }
        kept.push(part);
    }
    kept.join(" | ")
}

/// The program with its options as typed and `--help`: unknown options and values are errors.
fn check_options(command: &str) -> Result<(), String> {
    for part in command.split([';', '|', '&', '(', '>']).map(str::trim).filter(|part| part.starts_with("whyslow ")) {
        let part = part.split(" -- ").next().unwrap().trim_end_matches(')');
        let words: Vec<&str> = part.split_whitespace().skip(1).collect();
        let names: Vec<&str> = words.iter().copied().filter(|word| word.starts_with("--")).collect();
        let commands: Vec<&str> = words.iter().copied().take_while(|word| !word.starts_with('-')).collect();
        // The gateway is a program of its own.
        if commands.first() == Some(&"gateway") {
            continue;
        }
        // `lab run` has options of its own.
        let depth = if commands.first() == Some(&"lab") { 2 } else { 1 };
        let mut help = whyslow();
        let mut path = commands
            .iter()
            .take(depth)
            .filter(|word| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'));
        help.args(path.by_ref().copied().collect::<Vec<_>>()).arg("--help");
        let output = help.output().unwrap();
        let help = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.status.success() {
            return Err(format!("`{part}`: {}", String::from_utf8_lossy(&output.stderr)));
        }
        for name in names.iter().map(|name| name.split('=').next().unwrap()) {
            if !help.contains(name) {
                return Err(format!("`{part}`: there is no option {name}"));
            }
        }
    }
    Ok(())
}

#[test]
fn every_command_in_the_documentation_runs() {
    let tools = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| {
        let path = tools.path().join(name);
        fs::write(&path, text).unwrap();
        let mut mode = fs::metadata(&path).unwrap().permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
        fs::set_permissions(&path, mode).unwrap();
    };
    for (name, script) in STUBS {
        put(name, &format!("#!/bin/sh\n{script}\n"));
    }
    for (name, text) in evidence() {
        put(name, &text);
    }
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_whyslow"), tools.path().join("whyslow")).unwrap();
    let path = format!("{}:{}", tools.path().display(), std::env::var("PATH").unwrap());
    let (mut run, mut wrong) = (0, String::new());
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(root().join("samples"), folder.path().join("samples")).unwrap();
        fs::create_dir(folder.path().join("docs")).unwrap();
        for command in mentioned(&text) {
            if let Err(error) = check_options(command) {
                let _ = writeln!(wrong, "{}: `{command}`\n    {error}", page.display());
            }
        }
        for command in commands(&text) {
            let skipped =
                NOT_RUN.iter().any(|(part, _)| command.contains(part)) && !command.contains("prove --scenario");
            let result = if skipped {
                check_options(&command)
            } else {
                run += 1;
                put_files(folder.path(), &command);
                let output = Command::new("sh")
                    .args(["-c", &with_what_is_here(&command)])
                    .env("PATH", &path)
                    .env("SAMPLES", root().join("samples"))
                    .env("EVIDENCE", tools.path())
                    .stdin(std::process::Stdio::null())
                    .current_dir(folder.path())
                    .output()
                    .unwrap();
                let fails = command.contains("--fail-on") && output.status.code() == Some(1);
                let error = String::from_utf8_lossy(&output.stderr).into_owned();
                // Without Node there is no page to write.
                let good = output.status.success() || fails || error.contains("built without the page");
                good.then_some(()).ok_or(error)
            };
            if let Err(error) = result {
                let _ = writeln!(wrong, "{}: {command}\n    {}", page.display(), error.trim());
            }
        }
    }
    assert!(wrong.is_empty(), "commands that do not run:\n{wrong}");
    assert!(run >= 80, "only {run} commands were found");
}

/// Compares a page with its generated text: `CASEBOOK=update` writes it.
#[track_caller]
fn generated(path: &str, text: &str) {
    let path = root().join(path);
    if std::env::var_os("CASEBOOK").is_some_and(|wish| wish == "update") {
        fs::write(&path, text).unwrap();
    } else {
        let written = fs::read_to_string(&path).unwrap_or_default();
        assert!(written == text, "CASEBOOK=update cargo test -p whyslow --test program docs writes {}", path.display());
    }
}

fn help(command: &[&str]) -> String {
    let output = whyslow().env("COLUMNS", "100").args(command).arg("--help").output().unwrap();
    assert!(output.status.success(), "{command:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The names below `Commands:` in a help text.
fn subcommands(help: &str) -> Vec<String> {
    let listed = help.split_once("\nCommands:\n").map_or("", |(_, rest)| rest.split("\n\n").next().unwrap());
    let names = listed.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.map(|line| line.split_whitespace().next().unwrap().to_owned());
    names.filter(|name| name != "help").collect()
}

#[cfg(feature = "remote")]
#[test]
fn the_options_are_those_of_the_program() {
    let mut text =
        "# All options\n\nFor those who look up an option: the output of `--help` of each command. Generated.\n"
            .to_owned();
    let whole = help(&[]);
    let _ = write!(text, "\n## whyslow\n\n{}", indented(&whole));
    // The gateway's program has its own.
    for command in subcommands(&whole).into_iter().filter(|command| command != "gateway") {
        let page = help(&[&command]);
        let _ = write!(text, "\n## whyslow {command}\n\n{}", indented(&page));
        for inner in subcommands(&page) {
            let _ = write!(text, "\n### whyslow {command} {inner}\n\n{}", indented(&help(&[&command, &inner])));
        }
    }
    generated("docs/reference/options.md", &text);
}

fn indented(text: &str) -> String {
    text.trim_end().lines().map(|line| format!("    {line}").trim_end().to_owned() + "\n").collect()
}

#[cfg(target_os = "linux")]
#[test]
fn the_causes_are_those_of_the_rules() {
    // Headings of the rule come below the cause's.
    let below = |about: &str| -> String {
        let lines = about.lines().map(|line| match line.starts_with('#') {
            true => format!("#{line}\n"),
            false => format!("{line}\n"),
        });
        lines.collect::<String>().trim().to_owned()
    };
    let mut text = "# All causes\n\nFor those who look up a cause: the documentation of its rule, which `whyslow causes NAME` prints. \
                    Generated.\n"
        .to_owned();
    for cause in Cause::ALL {
        let slug = cause.slug();
        let about = below(&cause_pages::of(*cause));
        let _ = write!(text, "\n## {slug}\n\n{about}\n\n[A recorded case](../../casebook/{slug}.md)\n");
    }
    text += "\n# Found by `whyslow host` alone\n";
    for cause in whyslow_host::causes::ALL.iter().filter(|cause| Cause::from_slug(cause.slug()).is_none()) {
        let _ = write!(text, "\n## {cause}\n\n{}\n", below(&whyslow_host::causes::markdown(*cause)));
    }
    generated("docs/reference/causes.md", &text);
}

/// One line for each member of an object in a schema: its name, type and description.
fn members(text: &mut String, object: &Value) {
    let Some(properties) = object["properties"].as_object() else { return };
    *text += "\n| member | type | |\n|---|---|---|\n";
    for (name, member) in properties {
        let about = member["description"].as_str().unwrap_or_default().replace('|', "\\|").replace('\n', " ");
        let _ = writeln!(text, "| `{name}` | {} | {about} |", kind(member));
    }
}

/// The type of a value in a schema, with a link to an object of the same page.
fn kind(member: &Value) -> String {
    if let Some(name) = member["$ref"].as_str().and_then(|name| name.strip_prefix("#/$defs/")) {
        return format!("[{name}](#{name})");
    }
    if let Some(any) = member["anyOf"].as_array().or_else(|| member["oneOf"].as_array()) {
        return any.iter().map(kind).collect::<Vec<_>>().join(" or ");
    }
    if let Some(values) = member["enum"].as_array() {
        return values
            .iter()
            .map(|value| format!("`{}`", value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
            .collect::<Vec<_>>()
            .join(", ");
    }
    if let Some(value) = member.get("const") {
        return format!("`{}`", value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    }
    let one = |name: &str| match name {
        "array" if member["items"].is_object() => format!("list of {}", kind(&member["items"])),
        "array" => "list".to_owned(),
        name => name.to_owned(),
    };
    match &member["type"] {
        Value::String(name) => one(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).map(one).collect::<Vec<_>>().join(" or "),
        _ => String::new(),
    }
}

#[test]
fn the_members_are_those_of_the_schema() {
    let schema = fs::read_to_string(root().join("docs/schema/whyslow-2.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let mut text = "# All members of whyslow/2\n\nFor those who look up a member of the JSON: the schema \
                    [whyslow-2](../schema/whyslow-2.schema.json) as tables. [How to read it](../json.md). Generated.\n"
        .to_owned();
    for (name, object) in schema["$defs"].as_object().unwrap() {
        let about = object["description"].as_str().unwrap_or_default();
        let _ = writeln!(text, "\n## {name}\n\n{about}");
        if object["properties"].is_object() {
            members(&mut text, object);
        } else if !kind(object).is_empty() {
            let _ = writeln!(text, "\nOne of: {}", kind(object));
        }
    }
    generated("docs/reference/json.md", &text);
}

/// The pictures of the tutorial are what its commands write.
#[test]
fn the_pictures_are_the_programs() {
    let tutorial = fs::read_to_string(root().join("docs/tutorial.md")).unwrap();
    let exports: Vec<String> = commands(&tutorial).into_iter().filter(|command| command.contains("--svg")).collect();
    assert_eq!(exports.len(), 2);
    let folder = tempfile::tempdir().unwrap();
    for command in exports {
        let (rest, picture) = command.rsplit_once(" -o ").unwrap();
        let made = folder.path().join("picture.svg");
        let words = rest.trim_start_matches("whyslow ").split(' ');
        whyslow().current_dir(root()).args(words).arg("-o").arg(&made).assert().success();
        generated(picture, &fs::read_to_string(made).unwrap());
    }
}

/// All pages of the documentation are in its index, or in an index that it names.
#[test]
fn the_index_names_every_page() {
    let index = fs::read_to_string(root().join("docs/README.md")).unwrap();
    for page in pages() {
        let name = page.strip_prefix(root().join("docs")).map(|name| name.display().to_string()).unwrap_or_default();
        let listed = name.is_empty() || name == "README.md" || index.contains(&format!("({name}"));
        assert!(listed, "docs/README.md does not name {name}");
    }
}

#[test]
fn commands_are_found_in_code_alone() {
    let page = "`whyslow a`\n\n    whyslow b.pcap   # a comment\n    x | whyslow \\\n        c\n    $ whyslow d\n    whyslow prints\n\nwhyslow e\n\n    import whyslow\n";
    assert_eq!(commands(page), ["whyslow b.pcap", "x | whyslow c", "whyslow d"]);
    assert!(check_options("whyslow probe https://example.org/ --no-such-option").is_err());
}
