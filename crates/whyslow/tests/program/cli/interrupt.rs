//! Ctrl-C: what is known by then is printed, and marked.

use crate::{Folder, pcap};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

/// More than what a pipe and the reading thread hold: once all of it is written, some of it was
/// explained.
const ENOUGH: usize = 4 << 20;

fn capture() -> (Vec<u8>, usize) {
    let mut connections = 40;
    loop {
        let packets = pcap::merged((0..connections).map(|n| pcap::slow_on(20_000 + n, 1_700_000_000_000_000)));
        let bytes = pcap::file(&packets);
        if bytes.len() > ENOUGH {
            return (bytes, packets.len());
        }
        connections *= 2;
    }
}

/// The program, which has read a part of its standard input, and waits for more.
fn reading(args: &[&str]) -> (Child, ChildStdin, usize) {
    let (bytes, packets) = capture();
    let mut child = Command::new(env!("CARGO_BIN_EXE_whyslow"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&bytes).unwrap();
    (child, stdin, packets)
}

fn interrupt(child: &Child) {
    kill_process(Pid::from_child(child), Signal::INT).unwrap();
}

#[test]
fn the_first_prints_what_is_known() {
    let (child, stdin, packets) = reading(&["--json", "-"]);
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(stderr, "whyslow: reading was stopped: this is what is known of what was read\n");
    let analysis: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(analysis["partial"], true);
    let capture = &analysis["captures"][0];
    let known = capture["packets"].as_u64().unwrap();
    assert!(known > 0 && known <= packets as u64, "{known} of {packets}");
    let problems: Vec<_> = capture["problems"].as_array().unwrap().iter().map(|problem| &problem["slug"]).collect();
    assert_eq!(problems, ["partial"], "no record is torn: it goes on");
    assert!(!analysis["connections"].as_array().unwrap().is_empty());
    drop(stdin);
}

#[test]
fn the_page_reports_it_first() {
    let (child, stdin, _) = reading(&["-"]);
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let page = String::from_utf8(output.stdout).unwrap();
    assert!(page.starts_with("partial: reading was stopped after "), "{page}");
    drop(stdin);
}

#[cfg(target_os = "linux")]
#[test]
fn the_second_ends_it_at_once() {
    let (mut child, stdin, _) = reading(&["--json", "-"]);
    let mut stdout = child.stdout.take().unwrap();
    // The output does not fit into the pipe, so the program waits for its reader and cannot end by
    // itself. A pipe of the default size (64 KiB) may hold all that a busy machine had read.
    rustix::pipe::fcntl_setpipe_size(&stdout, 4_096).unwrap();
    interrupt(&child);
    let mut stderr = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut stderr).unwrap();
    assert!(stderr.contains("reading was stopped"), "{stderr}");
    let mut first = [0; 1];
    stdout.read_exact(&mut first).unwrap();
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let mut printed = Vec::new();
    stdout.read_to_end(&mut printed).unwrap();
    assert!(!printed.ends_with(b"}\n"), "it printed everything: {} bytes", printed.len());
    drop(stdin);
}

#[test]
fn what_was_read_to_its_end_is_not_partial() {
    let folder = Folder::new();
    let file = folder.put("slow.pcap", &pcap::file(&pcap::slow()));
    let analysis = crate::json(&[file]);
    assert_eq!(analysis.get("partial"), None);
}

/// `ss` in a loop, or `strace`: what came before Ctrl-C is explained.
#[test]
fn a_live_text_of_another_tool_is_explained_when_it_is_stopped() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_whyslow"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let look = |busy: u32| {
        format!(
            "ESTAB 0 2896000 10.10.0.5:443 10.20.0.9:51522\n\t cubic wscale:7,9 rto:292 rtt:91.7/0.3 mss:1448 cwnd:812 \
             bytes_acked:47800001 busy:{busy}ms rwnd_limited:{busy}ms(97.4%) unacked:181 minrtt:91.2\n"
        )
    };
    for second in 0..3 {
        stdin.write_all(format!("10:15:0{second}\n{}", look(1_000 * (second + 1))).as_bytes()).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(300));
    }
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(130), "{text}");
    assert!(text.starts_with("The peer's receive window was full"), "{text}");
    drop(stdin);
}
