//! Wrong inputs and arguments: each error names what to do.

use crate::{Folder, pcap, whyslow};
use std::fs;

/// Arguments, in a folder with the files of [`folder`].
const WRONG: &[&str] = &[
    // Words that are not files.
    "slow-start",
    "explain slow-start",
    "explain early-slow-start-exit slow.pcap",
    "version",
    "explain version",
    "cuases slow-start",
    "explain compare",
    "causes slow-strat",
    // Files that do not exist or cannot be read.
    "slwo.pcap",
    "no-such-folder/slow.pcap",
    "*.pcapng",
    "slow.pcap#99",
    "www.example.com/slow.pcap",
    "ftp://example.com/slow.pcap",
    "s3://bucket",
    "folder",
    "view folder",
    "report folder -o page.html",
    "empty.pcap",
    // Files that are something else.
    "picture.png",
    "archive.zip",
    "page.html",
    "values.json",
    "words.txt",
    "utf16.txt",
    "program",
    "zeros",
    "compressed.gz",
    "monitor.cap",
    // Options.
    "--connection abc slow.pcap",
    "--connection 0 slow.pcap",
    "--connection 7 slow.pcap",
    "--filter foo:bar slow.pcap",
    "--filter rt>50 slow.pcap",
    "--filter rtt>fast slow.pcap",
    "--filter hots:192.0.2.1 slow.pcap",
    "--slower-than 2 slow.pcap",
    "--fail-on slow-strat slow.pcap",
    "--from 1s slow.pcap",
    "--jsno slow.pcap",
    "--json man",
    "compare slow.pcap slow.pcap",
    "export slow.pcap",
    "export slow.pcap#9 --csv",
    "export slow.pcap --svg --size big",
    "predict --bytes 1MB",
    "predict --bytes 1MB --rtt 100",
    "probe example.com --upload no-such-file",
    "watch no-such.pcap",
    "stitch folder",
];

fn folder() -> Folder {
    let folder = Folder::new();
    folder.put("slow.pcap", &pcap::file(&pcap::slow()));
    fs::create_dir(folder.0.path().join("folder")).unwrap();
    let text = |text: &str| text.repeat(200).into_bytes();
    for (name, bytes) in [
        ("empty.pcap", Vec::new()),
        ("picture.png", b"\x89PNG\r\n\x1a\n0123456789".to_vec()),
        ("archive.zip", b"PK\x03\x04\x14\0\0\0".to_vec()),
        ("page.html", text("<!doctype html>\n<title>Sign in</title>\n")),
        ("values.json", text("{ \"schema\": \"whyslow/1\" }\n")),
        ("words.txt", text("The quick brown fox.\n")),
        ("utf16.txt", [&[0xff, 0xfe][..], b"1\x002\x00\n\x00"].concat()),
        ("program", b"\x7fELF\x02\x01\x01".to_vec()),
        ("zeros", vec![0; 4096]),
        ("compressed.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\0\xff\xff\xff\xff".to_vec()),
        ("monitor.cap", b"GMBU\0\x02\x01\0".to_vec()),
    ] {
        folder.put(name, &bytes);
    }
    folder
}

/// An error message has a hint if it contains one of these.
const HINTS: &[&str] = &[
    "did you mean",
    "try '--help'",
    "`whyslow ",
    " as in ",
    " as `",
    "as `",
    "help:",
    "name ",
    "check ",
    "write ",
    "give ",
    "convert",
    "unpack",
    "decompress",
    "save it",
    "captures are read from",
    "no file matches",
    "are chosen",
    "is chosen",
    "possible values",
    "begins with its scheme",
    "there are no IP packets",
    "holds one, which is 1",
    "stands before",
    "tcpdump",
    "have numbers from 1",
    "whyslow condense",
    "fetch or copy it again",
];

#[test]
fn wrong_inputs_are_answered_with_what_to_do() {
    assert!(WRONG.len() >= 40);
    let folder = folder();
    let mut page = String::new();
    for arguments in WRONG {
        let words: Vec<&str> = arguments.split(' ').collect();
        let output = whyslow().current_dir(folder.0.path()).args(&words).assert().get_output().clone();
        let [stdout, stderr] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        let code = output.status.code().unwrap();
        // One file of two was read.
        let is_part = arguments.matches(".pcap").count() == 1 && words.len() == 3 && words[0] == "explain";
        assert_eq!(code, if is_part { 1 } else { 2 }, "{arguments}: {stderr}");
        assert_eq!(stdout.is_empty(), !is_part, "{arguments}: {stdout}");
        assert!(HINTS.iter().any(|hint| stderr.contains(hint)), "{arguments}: no hint: {stderr}");
        assert!(!stderr.contains("panicked") && stderr.lines().count() <= 12, "{arguments}: {stderr}");
        page += &format!("$ whyslow {arguments}\n{}\n\n", stderr.trim_end());
    }
    insta::assert_snapshot!("wrong-inputs", page.trim_end());
}
