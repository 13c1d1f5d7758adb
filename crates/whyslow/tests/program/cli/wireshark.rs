//! The plugin for Wireshark, `wireshark/whyslow.lua`, run by tshark.

use crate::{Folder, json, json_with_words};
use std::path::PathBuf;
use std::process::Command;

fn file(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// The output of tshark for a sample with the plugin: stdout, then the plugin's own lines of
/// stderr.
fn plugin(sample: &str, program: &str, arguments: &[&str], options: &[&str]) -> (String, String) {
    let mut tshark = Command::new("tshark");
    // Without the user's settings and plugins.
    let home = Folder::new();
    tshark.env("WHYSLOW_PROGRAM", env!("CARGO_BIN_EXE_whyslow"));
    tshark.env("HOME", home.put("none", b"").parent().unwrap()).env_remove("XDG_CONFIG_HOME");
    tshark.arg("-q").arg("-r").arg(file(&format!("samples/{sample}.pcap")));
    tshark.arg("-o").arg(format!("whyslow.program:{program}"));
    tshark.arg("-X").arg(format!("lua_script:{}", file("wireshark/whyslow.lua").display()));
    for argument in arguments {
        tshark.arg("-X").arg(format!("lua_script1:{argument}"));
    }
    let output = tshark.args(options).output().unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    (stdout, stderr.lines().filter(|line| line.starts_with("whyslow: ")).collect())
}

fn report(sample: &str, arguments: &[&str]) -> String {
    let (report, complaint) = plugin(sample, env!("CARGO_BIN_EXE_whyslow"), arguments, &[]);
    assert_eq!(complaint, "");
    report
}

/// The frames behind `figure`, first piece of evidence of that name.
fn frames(report: &str, figure: &str) -> Vec<u64> {
    let line = report.lines().find(|line| line.contains(figure)).unwrap_or_else(|| panic!("{figure}: {report}"));
    let (_, named) = line.split_once("   frame").unwrap();
    named.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
}

/// The findings that the report numbers.
fn findings(report: &str) -> usize {
    report.lines().filter(|line| line.starts_with("  [")).count()
}

#[test]
fn frames_and_figures_are_those_of_the_json() {
    if !whyslow_testing::tools(&["tshark"]) {
        return;
    }
    for sample in ["loss-server", "slow-start-client", "new-connection-each-time-server", "tls-server"] {
        let report = report(sample, &["why-slow"]);
        let analysis = json_with_words(&file(&format!("samples/{sample}.pcap")));
        let connections = analysis["connections"].as_array().unwrap();
        let all: Vec<_> = connections
            .iter()
            .flat_map(|one| one["transfers"].as_array().unwrap().iter().chain([one]))
            .chain([&analysis])
            .flat_map(|holder| holder["findings"].as_array().unwrap())
            .collect();
        assert_eq!(findings(&report), all.len(), "{report}");
        for words in analysis["words"]["en"]["findings"].as_array().unwrap() {
            assert!(report.contains(words["summary"].as_str().unwrap()), "{words}: {report}");
        }
        for finding in all {
            for evidence in finding["evidence"].as_array().unwrap() {
                let frames: Vec<_> = evidence["frames"].as_array().unwrap().iter().map(ToString::to_string).collect();
                let separator = if frames.len() == 2 { "–" } else { ", " };
                assert!(report.contains(&frames.join(separator)), "{evidence}: {report}");
            }
        }
    }
}

#[test]
fn frames_are_numbered_as_in_the_open_file_whatever_the_filter_takes_away() {
    if !whyslow_testing::tools(&["tshark"]) {
        return;
    }
    let all = report("new-connection-each-time-server", &["why-slow"]);
    let some = report("new-connection-each-time-server", &["filter=frame.number > 36"]);
    let figure = "connections one after the other";
    assert_eq!(frames(&all, figure)[..6], [1, 37, 73, 109, 145, 181]);
    assert_eq!(frames(&some, figure)[..5], [37, 73, 109, 145, 181]);
    assert!(
        some.contains("frames 37–360") && !some.contains("tcp.stream 0 ") && some.contains("tcp.stream 9 "),
        "{some}"
    );
    assert!(some.contains("first: frame 40"), "problems too: {some}");
}

#[test]
fn one_stream_of_several_is_found_by_its_number() {
    if !whyslow_testing::tools(&["tshark"]) {
        return;
    }
    let report = report("new-connection-each-time-server", &["stream=4"]);
    let analysis = json(&[file("samples/new-connection-each-time-server.pcap")]);
    let connection = &analysis["connections"][4];
    assert_eq!(connection["tcp_stream"], 4);
    let first = connection["first_frame"].as_u64().unwrap();
    assert!(report.contains(&format!("36 packets, frames {first}–{}, 1 TCP connection", first + 35)), "{report}");
    let evidence = &connection["transfers"][1]["findings"][0]["evidence"][0];
    let expected: Vec<_> = evidence["frames"].as_array().unwrap().iter().map(|one| one.as_u64().unwrap()).collect();
    assert_eq!(frames(&report, "rounds that opened the window"), expected);
    let range = format!("(tcp.stream in {{4}} and frame.number in {{{}..{}}})", expected[0], expected[1]);
    assert!(report.contains(&range), "{report}");
}

#[test]
fn streams_are_numbered_as_tshark_numbers_them() {
    if !whyslow_testing::tools(&["tshark"]) {
        return;
    }
    for sample in ["new-connection-each-time-server", "shared-bottleneck-client", "early-slow-start-exit-client"] {
        let path = file(&format!("samples/{sample}.pcap"));
        let mut tshark = Command::new("tshark");
        tshark.arg("-r").arg(&path).args(["-T", "fields", "-e", "tcp.stream", "-e", "frame.number"]);
        let printed = String::from_utf8(tshark.output().unwrap().stdout).unwrap();
        for connection in json(&[path])["connections"].as_array().unwrap() {
            let line = format!("{}\t{}", connection["tcp_stream"], connection["first_frame"]);
            assert!(printed.lines().any(|one| one == line), "{sample}: {line}");
        }
    }
}

#[test]
fn errors_come_with_their_fix() {
    if !whyslow_testing::tools(&["tshark"]) {
        return;
    }
    let program = env!("CARGO_BIN_EXE_whyslow");
    let no_file = ["-o", "whyslow.folder:/no/such/folder"];
    for (program, argument, options, expected) in [
        ("/no/such'; echo injected; '", "why-slow", &[][..], "is not found or cannot be started. Install whyslow"),
        ("/bin/true", "why-slow", &[], "does not print the JSON of whyslow. Set the right program"),
        (program, "why-slow", &no_file, "Set another temporary folder"),
        (program, "filter=udp", &[], "check the filter"),
        (program, "filter=tcp.=", &[], "is not understood"),
        (program, "nonsense", &[], "give why-slow, stream=NUMBER or filter=EXPRESSION"),
    ] {
        let (report, complaint) = plugin("loss-server", program, &[argument], options);
        assert_eq!(report, "", "{argument}");
        if options.is_empty() {
            assert!(complaint.contains(expected), "{complaint}");
        } else {
            assert!(complaint.contains("cannot be written to /no/such/folder: "), "{complaint}");
        }
    }
}

#[test]
fn tshark_that_is_not_asked_prints_nothing() {
    if whyslow_testing::tools(&["tshark"]) {
        assert_eq!(plugin("loss-server", env!("CARGO_BIN_EXE_whyslow"), &[], &[]), (String::new(), String::new()));
    }
}

#[cfg(unix)]
#[test]
fn the_copy_keeps_nanoseconds_and_lengths() {
    use std::os::unix::fs::PermissionsExt;
    if !whyslow_testing::tools(&["tshark"]) {
        return;
    }
    let folder = Folder::new();
    let program = folder.put("whyslow", b"#!/bin/sh\ncp \"$1\" \"$0.pcap\"; exec \"$WHYSLOW_PROGRAM\" \"$@\"\n");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
    let (report, complaint) = plugin("loss-server", program.to_str().unwrap(), &["why-slow"], &[]);
    assert!(report.contains("7 segments") && complaint.is_empty(), "{report}{complaint}");
    let [copy, original] = [program.with_extension("pcap"), file("samples/loss-server.pcap")].map(|path| json(&[path]));
    assert_eq!(copy["captures"][0]["first_time"], "2026-11-21T02:56:03.488298068Z");
    assert_eq!(copy["connections"], original["connections"]);
}

#[test]
fn nothing_is_left_in_the_temporary_folder() {
    if !whyslow_testing::tools(&["tshark"]) {
        return;
    }
    let folder = Folder::new();
    let path = folder.put("it's here", b"").parent().unwrap().to_owned();
    let option = format!("whyslow.folder:{}", path.display());
    let (report, complaint) = plugin("loss-server", env!("CARGO_BIN_EXE_whyslow"), &["why-slow"], &["-o", &option]);
    assert!(report.contains("1,465 packets") && complaint.is_empty(), "{report}{complaint}");
    assert_eq!(std::fs::read_dir(path).unwrap().count(), 1);
}

/// In a folder where others can look, and however new files are usually made, only this user can
/// read the copy; another user cannot have made it.
#[cfg(target_os = "linux")]
#[test]
fn the_copy_is_for_this_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    if !whyslow_testing::tools(&["tshark"]) {
        return;
    }
    let folder = Folder::new();
    let seen = folder.0.path().join("seen");
    let script =
        format!("#!/bin/sh\nstat -c '%a' \"$1\" \"${{1%/*}}\" >{}\nexec \"$WHYSLOW_PROGRAM\" \"$@\"\n", seen.display());
    let program = folder.put("whyslow", script.as_bytes());
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let own = folder.0.path().join("it's shared");
    std::fs::create_dir(&own).unwrap();
    std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o1777)).unwrap();
    let option = format!("whyslow.folder:{}", own.display());
    for options in [&[][..], &["-o", &option]] {
        let (report, complaint) = plugin("loss-server", program.to_str().unwrap(), &["why-slow"], options);
        assert!(report.contains("7 segments") && complaint.is_empty(), "{report}{complaint}");
        assert_eq!(std::fs::read_to_string(&seen).unwrap(), "600\n700\n", "{options:?}");
        assert_eq!(std::fs::read_dir(&own).unwrap().count(), 0);
    }
}
