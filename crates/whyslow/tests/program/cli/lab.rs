//! The lab's command line: what is listed, shown and refused. Nothing here needs namespaces.

use crate::{Folder, complaint, whyslow};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Stdio;

fn stdout(args: &[&str]) -> String {
    let output = whyslow().args(args).assert().code(0).stderr("").get_output().stdout.clone();
    String::from_utf8(output).unwrap()
}

#[test]
fn every_experiment_is_listed_and_printed_as_a_start_for_ones_own() {
    let list = stdout(&["lab", "list"]);
    let names: Vec<&str> = list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    for name in ["buffers", "slow-start", "idle-restart", "reuse", "long-fat", "stale-ssthresh", "two-servers"] {
        assert!(names.contains(&name), "{list}");
    }
    for name in names {
        let text = stdout(&["lab", "list", name]);
        assert!(text.contains(&format!("name = \"{name}\"")), "{text}");
    }
    assert!(complaint(whyslow().args(["lab", "list", "nosuch"])).contains("allowed: slow-start"));
}

#[test]
fn bad_input_names_file_line_key_and_what_is_allowed_and_starts_nothing() {
    let folder = Folder::new();
    let out = folder.0.path().join("results");
    let refused = |text: &str, arguments: &[&str]| {
        let file = folder.put("slow.toml", text.as_bytes());
        complaint(whyslow().args(["lab", "run"]).arg(file).arg("--out").arg(&out).args(arguments))
    };
    let unknown = refused("cause = \"loss\"\n\n[path.down]\nrat = \"8mbit\"\n", &[]);
    assert!(unknown.contains("slow.toml:4:1") && unknown.contains("`path.down.rat`"), "{unknown}");
    assert!(
        unknown.contains("unknown key `rat`") && unknown.contains("allowed: `rate`, `trace`, `queue`"),
        "{unknown}"
    );
    let unit = refused("[path]\nrtt = 100\n", &[]);
    assert!(unit.contains("slow.toml:2:7") && unit.contains("has no unit") && unit.contains("100ms"), "{unit}");
    let impossible = refused("[path.down]\nrate = \"0mbit\"\n", &[]);
    assert!(impossible.contains("slow.toml:2:8") && impossible.contains("`path.down.rate`"), "{impossible}");
    let set = refused("[path]\nrtt = \"1ms\"\n", &["--set", "path.down.rate=8"]);
    assert!(set.contains("the command line") && set.contains("path.down.rate=8"), "{set}");
    let set = refused("", &["--set", "path.rtt"]);
    assert!(set.contains("KEY=VALUE"), "{set}");
    let none = refused("name = \"x\"\n[matrix]\n\"path.rtt\" = [\"1ms\", \"2ms\"]\n", &["--repeat", "0"]);
    assert!(none.contains("--repeat"), "{none}");
    let missing = complaint(whyslow().args(["lab", "run", "no/such/file.toml"]));
    assert!(missing.contains("no/such/file.toml"), "{missing}");
    assert!(!out.exists(), "nothing was started");
}

#[test]
fn a_run_does_not_replace_the_file_that_describes_it() {
    let folder = Folder::new();
    let at = |name: &str| folder.0.path().join(name);
    let text = "name = \"mine\"\n[[case]]\nname = \"a\"\n[[case]]\nname = \"b\"\n";
    for inside in ["mine/b-1", "mine/a-2.partial"] {
        std::fs::create_dir_all(at(inside)).unwrap();
        let file = folder.put(Path::new(inside).join("mine.toml"), text.as_bytes());
        std::os::unix::fs::symlink(&file, at("link.toml")).unwrap();
        for name in [&file, &at("link.toml")] {
            let run = |more: &[&str]| {
                let mut command = whyslow();
                command.args(["lab", "run"]).arg(name).arg("--out").arg(folder.0.path()).args(more);
                complaint(&mut command)
            };
            let error = run(&["--repeat", "2"]);
            assert!(error.contains("which is replaced: name another folder"), "{error}");
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        }
        // The output goes to no other file.
        let onto = std::fs::OpenOptions::new().append(true).open(&file).unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_whyslow"));
        let done = command.args(["lab", "list"]).arg(&file).stdout(onto).stderr(Stdio::piped()).output().unwrap();
        assert!(String::from_utf8(done.stderr).unwrap().contains("stdout is the input"));
        assert_eq!((done.status.code(), std::fs::read_to_string(&file).unwrap().as_str()), (Some(2), text));
        std::fs::remove_file(at("link.toml")).unwrap();
    }
}

#[test]
fn quantities_of_options_need_their_unit() {
    let exec = |arguments: &[&str]| {
        complaint(whyslow().args(["lab", "exec", "--server", "true", "--client", "true"]).args(arguments))
    };
    let rtt = exec(&["--rtt", "100"]);
    assert!(rtt.contains("'100' for '--rtt <TIME>'") && rtt.contains("100ms"), "{rtt}");
    assert!(exec(&["--loss", "1"]).contains("1%"));
    assert!(exec(&["--rate", "8m"]).contains("8mbit"));
    assert!(exec(&["--queue", "64KiB"]).contains("--rate"), "a queue stands in front of a rate");
    assert!(exec(&["--set", "client.windowscaling=false"]).contains("did you mean `window_scaling`?"));
    assert!(exec(&["--profile", "5g"]).contains("satellite"));
    assert!(exec(&["--down", "/nonexistent/trace"]).contains("path.down.trace"));
    assert!(complaint(whyslow().args(["lab", "exec", "--server", "true"])).contains("--client"));
}

/// A result as `lab run` leaves it.
fn result(label: &str, goodput: f64) -> Value {
    json!({
        "schema": "whyslow-truth/1", "experiment": "mine", "label": label, "values": {}, "repetition": 1, "key": "0",
        "cause": "loss", "voided": 0, "problems": [], "confirmed": true, "claims": [],
        "figures": { "goodput": goodput, "rtt": 0.1, "retransmitted": 7.0 },
    })
}

#[test]
fn results_are_shown_as_a_table_csv_and_json() {
    let folder = Folder::new();
    for (label, goodput) in [("near", 8e6), ("far", 1e6)] {
        let place = folder.0.path().join("mine").join(format!("{label}-1"));
        std::fs::create_dir_all(&place).unwrap();
        std::fs::write(place.join("result.json"), result(label, goodput).to_string()).unwrap();
    }
    let path = folder.0.path().to_str().unwrap();
    let table = stdout(&["lab", "show", path]);
    assert!(table.contains("8.00 Mbit/s") && table.contains("100 ms") && table.contains("duplicate_acks"), "{table}");
    let csv = stdout(&["lab", "show", path, "--csv", "--columns", "goodput,retransmitted"]);
    assert_eq!(csv, "run,goodput,retransmitted,cause,remark\nfar,1000000,7,loss,\nnear,8000000,7,loss,\n");
    let all: Value = serde_json::from_str(&stdout(&["lab", "show", path, "--json"])).unwrap();
    assert_eq!(all[1]["figures"]["goodput"], 8e6);
    let unknown = complaint(whyslow().args(["lab", "show", path, "--columns", "speed"]));
    assert!(unknown.contains("there is no figure `speed`") && unknown.contains("goodput"), "{unknown}");
    let empty = Folder::new();
    assert!(complaint(whyslow().args(["lab", "show"]).arg(empty.0.path())).contains("no results there"));
    assert!(complaint(whyslow().args(["lab", "show", "/no/such/folder"])).contains("/no/such/folder"));
}
