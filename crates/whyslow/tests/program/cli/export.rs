//! `whyslow export`: its output, the output's place, and its errors.

use crate::{Folder, complaint, json, pcap, whyslow};
use serde_json::Value;
use std::fs;

fn sample(name: &str) -> String {
    format!("{}/../../samples/{name}.pcap", env!("CARGO_MANIFEST_DIR"))
}

fn exported(args: &[&str]) -> Vec<u8> {
    whyslow().arg("export").args(args).assert().code(0).stderr("").get_output().stdout.clone()
}

fn text(args: &[&str]) -> String {
    String::from_utf8(exported(args)).unwrap()
}

#[test]
fn packets_with_their_verdicts() {
    let file = sample("loss-server");
    let csv = text(&[&file, "--csv"]);
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let column = |name| rows[0].iter().position(|title| *title == name).unwrap();
    assert_eq!(rows.len() - 1, 1_465, "each packet of the capture has a row");
    assert_eq!(rows.iter().filter(|row| row[column("kind")] == "fast-retransmission").count(), 7);
    assert_eq!(rows.iter().filter(|row| row[column("notes")].contains("duplicate-ack")).count(), 286);
    // Wireshark's frame 5 and 6: the first two segments of the answer.
    assert_eq!([rows[6][column("seq")], rows[6][column("len")]], ["1", "1448"]);
    let lines = text(&[&file, "--jsonl"]);
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!((&first["schema"], &first["flags"]), (&"whyslow-packets/1".into(), &"S".into()));
    assert_eq!(lines.lines().count(), rows.len() - 1);
}

#[test]
fn a_table_has_the_figures_of_the_json() {
    for (file, kind) in
        [("loss-server", "sack"), ("zero-window-client", "window"), ("nagle-delayed-ack-client", "rtt_ms")]
    {
        let file = sample(file);
        let csv = text(&[&file, "--csv"]);
        let mut rows = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let titles = rows.next().unwrap();
        let lines = text(&[&file, "--jsonl"]);
        let mut compared = 0;
        for (row, line) in rows.zip(lines.lines()) {
            let object: Value = serde_json::from_str(line).unwrap();
            assert_eq!(object.as_object().unwrap().len(), titles.len() + 1, "all members but the schema are columns");
            for (title, cell) in titles.iter().zip(row) {
                let at = || format!("{file}, frame {}, {title}: {cell}", object["frame"]);
                match &object[*title] {
                    Value::Null => assert_eq!(cell, "", "{}", at()),
                    Value::Number(number) => {
                        assert_eq!(cell.parse::<f64>().unwrap(), number.as_f64().unwrap(), "{}", at());
                        compared += usize::from(*title == kind);
                    }
                    Value::String(text) => assert_eq!(cell, text, "{}", at()),
                    Value::Array(list) => {
                        let parts: Vec<String> = list
                            .iter()
                            .map(|part| part.as_str().map_or_else(|| format!("{}-{}", part[0], part[1]), str::to_owned))
                            .collect();
                        assert_eq!(cell, parts.join(" "), "{}", at());
                        compared += usize::from(*title == kind && !list.is_empty());
                    }
                    other => panic!("{other}"),
                }
            }
        }
        assert!(compared > 10, "{kind}");
        assert_eq!(csv.lines().count(), lines.lines().count() + 1);
    }
}

#[test]
fn a_picture_of_every_track() {
    let file = sample("timeout-server");
    for track in ["time-sequence", "in-flight", "rtt", "throughput", "window", "io"] {
        let svg = text(&[&file, "--svg", "--track", track]);
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{track}");
    }
    assert!(text(&[&file, "--svg"]).contains(">T</text>"), "the timer's copies have their letter");
    let folder = Folder::new();
    let path = folder.put("a.png", b"");
    let name = path.to_str().unwrap();
    whyslow().args(["export", &file, "--png", "--size", "400x300", "-o", name]).assert().code(0).stdout("").stderr("");
    let png = fs::read(path).unwrap();
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    // IHDR: width and height.
    assert_eq!((&png[16..20], &png[20..24]), (&400_u32.to_be_bytes()[..], &300_u32.to_be_bytes()[..]));
}

#[test]
fn a_shorter_time_shows_only_what_is_in_it() {
    let file = sample("loss-server");
    let whole = text(&[&file, "--svg"]);
    let early = text(&[&file, "--svg", "--to", "0.1"]);
    assert!(whole.contains(">F</text>") && !early.contains(">F</text>"));
}

#[test]
fn graphs_for_xplot_are_eight_files() {
    let folder = Folder::new();
    let inside = folder.put("x", b"").with_file_name("graphs");
    let file = format!("{}#1", sample("loss-server"));
    let output = whyslow().args(["export", &file, "--xplot", "-o"]).arg(&inside).assert().code(0).stdout("");
    let printed = String::from_utf8(output.get_output().stderr.clone()).unwrap();
    let names: Vec<_> = printed.lines().map(|path| path.rsplit_once("loss-server.pcap.1.").unwrap().1).collect();
    let expected = ["c2s_tsg", "c2s_tput", "c2s_rtt", "c2s_owin", "s2c_tsg", "s2c_tput", "s2c_rtt", "s2c_owin"];
    assert_eq!(names, expected.map(|name| format!("{name}.xpl")));
    let graph = fs::read_to_string(inside.join("loss-server.pcap.1.s2c_tsg.xpl")).unwrap();
    assert_eq!(graph.matches("\nF\n").count(), 7);
    assert!(graph.ends_with("go\n"));
}

#[test]
fn a_summary_for_a_ticket() {
    let summary = text(&[&sample("receive-window-client"), "--markdown"]);
    assert!(summary.starts_with("### 10.77.0.1:50536 → 10.77.0.2:5001\n"), "{summary}");
    assert!(
        summary.contains("**receive-window** (2.21 s, certain): the receiver's window of 18,824 B was full"),
        "{summary}"
    );
    assert!(summary.contains("<details><summary>23 rounds</summary>"), "{summary}");
}

/// The rows of a table without their frames, and the frames.
fn rows(csv: &str) -> (Vec<String>, Vec<String>) {
    csv.lines()
        .skip(1)
        .map(|line| line.split_once(',').map(|(frame, rest)| (rest.to_owned(), frame.to_owned())).unwrap())
        .unzip()
}

#[test]
fn files_that_continue_each_other_are_one_capture() {
    let folder = Folder::new();
    let packets =
        pcap::merged((0..4).map(|n| pcap::slow_on(40_000 + n, 1_700_000_000_000_000 + 300_000 * u64::from(n))));
    let whole = folder.put("whole.pcap", &pcap::file(&packets));
    let third = packets.len() / 3;
    let parts: Vec<String> = [&packets[..third], &packets[third..2 * third], &packets[2 * third..]]
        .iter()
        .enumerate()
        .map(|(n, part)| folder.put(format!("part-{n}.pcap"), &pcap::file(part)).to_str().unwrap().to_owned())
        .collect();
    let whole = whole.to_str().unwrap();
    for id in ["1", "2", "4"] {
        let (expected, numbers) = rows(&text(&[&format!("{whole}#{id}"), "--csv"]));
        // Whatever their order.
        let (got, frames) = rows(&text(&[&parts[2], &parts[0], &parts[1], "--connection", id, "--csv"]));
        assert_eq!(got, expected, "connection {id}");
        for (frame, number) in frames.iter().zip(&numbers) {
            let (file, within) = frame.split_once(':').unwrap();
            let before = (file.parse::<usize>().unwrap() - 1) * third;
            assert_eq!(before + within.parse::<usize>().unwrap(), number.parse::<usize>().unwrap(), "{frame}");
        }
    }
    let picture = |args: &[&str]| text(&[args, &["--svg"]].concat());
    let set = picture(&[&parts[0], &parts[1], &parts[2], "--connection", "2"]);
    assert_eq!(set, picture(&[&format!("{whole}#2")]));
    // If there are two places, the connection's own capture is read.
    let (two, frames) = rows(&text(&[&sample("loss-server"), &sample("loss-client"), "--connection", "2", "--csv"]));
    let second = json(&[sample("loss-server").into(), sample("loss-client").into()])["captures"][1]["path"].clone();
    assert_eq!(two, rows(&text(&[second.as_str().unwrap(), "--csv"])).0);
    assert!(frames.iter().all(|frame| frame.starts_with("2:")));
}

#[test]
fn what_comes_through_a_pipe_is_kept_for_as_long_as_it_is_needed() {
    let folder = Folder::new();
    let temporary = folder.put("x", b"").with_file_name("temporary");
    fs::create_dir(&temporary).unwrap();
    let bytes = fs::read(sample("loss-server")).unwrap();
    let piped = |args: &[&str]| {
        let mut command = whyslow();
        command.args(["export", "-"]).args(args).env("TMPDIR", &temporary).write_stdin(bytes.clone());
        command.assert().code(0).get_output().clone()
    };
    let output = piped(&["--csv"]);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), text(&[&sample("loss-server"), "--csv"]));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains(&format!("{} B came", with_separators(bytes.len()))), "{stderr}");
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0, "nothing stays");
    // Input that is read once is not kept.
    assert!(piped(&["--markdown"]).stderr.is_empty());
    let graphs = folder.put("y", b"").with_file_name("graphs");
    let output = piped(&["--xplot", "-o", graphs.to_str().unwrap()]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("stdin.1.s2c_tsg.xpl"));
    // An error names the pipe, not the temporary file with its data.
    let output = whyslow().args(["export", "-", "--csv"]).write_stdin("x").assert().code(2).get_output().clone();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("whyslow: -: byte 1: no packet was found in 1 line of text"), "{stderr}");
}

fn with_separators(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap()).collect();
    groups.join(",")
}

#[test]
fn what_cannot_be_exported_is_refused_with_a_reason() {
    let file = sample("loss-server");
    let refused = |args: &[&str]| complaint(whyslow().arg("export").args(args));
    assert!(refused(&[&file]).contains("--csv"));
    assert!(refused(&[&file, "--csv", "--svg"]).contains("cannot be used with"));
    assert!(refused(&[&format!("{file}#2"), "--csv"]).contains("there is no connection 2"));
    assert!(
        refused(&[&format!("{file}#1.2"), "--csv"])
            .contains("a transfer is not exported alone: name its connection, as")
    );
    let several = refused(&[&format!("{file}#1"), &sample("loss-client"), "--csv"]);
    assert!(several.contains("name it as `--connection 1`, by the number that `whyslow explain` has"), "{several}");
    assert!(refused(&[&format!("{file}#1"), "--connection", "2", "--csv"]).contains("name it once"));
    assert!(refused(&[&file, "--connection", "7", "--csv"]).contains("there is no connection 7: the input holds one"));
    let folder = Folder::new();
    let inside = folder.put("x", b"").parent().unwrap().to_str().unwrap().to_owned();
    assert!(refused(&[&inside, "--csv"]).contains("is a directory"));
    assert!(refused(&[&file, "--svg", "--size", "9x9"]).contains("out of range"));
    assert!(refused(&[&file, "--svg", "--from", "1e9"]).contains("there is nothing from"));
    assert!(refused(&["missing.pcap", "--csv"]).contains("missing.pcap"));
}
