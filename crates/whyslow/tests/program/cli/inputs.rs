//! Readable inputs, and the error messages of unreadable ones.

use crate::{Folder, complaint, json, pcap, whyslow};
use serde_json::Value;
use std::io::Write;

/// Without the name of the input, which is all that may differ.
fn nameless(mut analysis: Value) -> Value {
    analysis["captures"][0]["path"] = Value::Null;
    analysis
}

fn from_stdin(bytes: Vec<u8>, args: &[&str]) -> Value {
    let output = whyslow().arg("--json").args(args).write_stdin(bytes).assert().code(0).stderr("");
    nameless(serde_json::from_slice(&output.get_output().stdout).unwrap())
}

#[test]
fn standard_input_and_every_compression_give_the_same_result() {
    let plain = pcap::file(&pcap::slow());
    let folder = Folder::new();
    let expected = nameless(json(&[folder.put("slow.pcap", &plain)]));
    assert_eq!(expected["captures"][0]["packets"], pcap::slow().len());
    assert_eq!(expected["connections"].as_array().unwrap().len(), 1);
    assert_eq!(from_stdin(plain.clone(), &["-"]), expected);
    assert_eq!(from_stdin(plain.clone(), &[]), expected);

    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&plain).unwrap();
    let mut lz4 = lz4_flex::frame::FrameEncoder::new(Vec::new());
    lz4.write_all(&plain).unwrap();
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 1);
    xz.write_all(&plain).unwrap();
    let packed =
        [gzip.finish().unwrap(), lz4.finish().unwrap(), xz.finish().unwrap(), zstd::encode_all(&plain[..], 1).unwrap()];
    for (index, bytes) in packed.into_iter().enumerate() {
        assert!(bytes.len() < plain.len());
        // The name does not show the compression: the bytes do.
        assert_eq!(nameless(json(&[folder.put(format!("packed{index}.pcap"), &bytes)])), expected, "{index}");
        assert_eq!(from_stdin(bytes, &["-"]), expected, "{index}");
    }
}

#[test]
fn a_compressed_capture_that_is_cut_short_is_read_as_far_as_it_goes() {
    let packets = pcap::merged((0..40).map(|n| pcap::slow_on(30_000 + n, 1_700_000_000_000_000)));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    gzip.write_all(&pcap::file(&packets)).unwrap();
    let bytes = gzip.finish().unwrap();
    let folder = Folder::new();
    let cut = json(&[folder.put("cut.pcap.gz", &bytes[..bytes.len() / 2])]);
    let problems = cut["captures"][0]["problems"].as_array().unwrap();
    let torn = problems.iter().find(|problem| problem["slug"] == "torn-compression").unwrap();
    assert!(torn["detail"]["text"].as_str().unwrap().starts_with("the gzip stream breaks off near byte "), "{torn}");
    let read = cut["captures"][0]["packets"].as_u64().unwrap();
    assert!(read.abs_diff(packets.len() as u64 / 2) < 100, "{read} of {}", packets.len());
}

#[test]
fn what_cannot_be_read_is_named() {
    let folder = Folder::new();
    let missing = folder.0.path().join("missing.pcap");
    assert!(complaint(whyslow().arg(&missing)).starts_with(&format!("whyslow: {}: ", missing.display())));
    let directory = complaint(whyslow().arg(folder.0.path()));
    assert!(directory.contains("is a directory; name the capture files in it"), "{directory}");
    let empty = folder.put("empty.pcap", b"");
    assert!(complaint(whyslow().arg(&empty)).contains("empty.pcap is empty: it holds no capture"));
    assert!(complaint(whyslow().arg("-").write_stdin("")).contains("stdin is empty"));
    let garbage = folder.put("garbage", &(0..=255).cycle().take(5_000).collect::<Vec<u8>>());
    let message = complaint(whyslow().arg(&garbage));
    assert!(message.contains("garbage: byte 0: "), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    let damaged = folder.put("damaged.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff");
    let message = complaint(whyslow().arg(&damaged));
    assert!(message.contains("damaged.gz: byte 16: the gzip stream cannot be read: "), "{message}");
    let mut zeros = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    zeros.write_all(&[0; 600]).unwrap();
    let packed = folder.put("packed.gz", &zeros.finish().unwrap());
    assert!(complaint(whyslow().arg(&packed)).contains("packed.gz: decompressed byte 0: "));
}

#[test]
fn one_input_of_several_that_cannot_be_read_is_skipped() {
    let folder = Folder::new();
    let good = folder.put("good.pcap", &pcap::file(&pcap::slow()));
    let other = folder.put("other.pcap", b"no capture at all\n");
    let missing = folder.0.path().join("missing.pcap");
    let printed = |arguments: &[&str], files: &[&std::path::PathBuf], status: i32| {
        let output = whyslow().args(arguments).args(files).assert().code(status).get_output().clone();
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap())
    };
    for format in ["--json", "--jsonl", "--tsv", "--brief", "--color=never", "--markdown", "--csv"] {
        let export = ["--markdown", "--csv"].contains(&format);
        let arguments = if export { vec!["export", format] } else { vec![format] };
        let [alone, _] = printed(&arguments, &[&good], 0);
        let [page, messages] = printed(&arguments, &[&missing, &good, &other, &folder.0.path().to_owned()], 1);
        assert_eq!(page, alone, "{format}");
        for name in ["missing.pcap: ", "other.pcap: ", "is a directory"] {
            assert!(messages.contains(name), "{format}: {messages}");
        }
        assert_eq!(messages.matches("; it is skipped").count(), 3, "{format}: {messages}");
        let none = complaint(whyslow().args(&arguments).args([&missing, &other]));
        assert!(none.contains("none of the 2 inputs can be read"), "{format}: {none}");
    }
    let [table, _] = printed(&["--table"], &[&missing, &good], 1);
    assert!(table.contains("good.pcap") && table.contains("No such file"), "{table}");
    // A cause that was found counts.
    printed(&["--fail-on", "slow-start"], &[&missing, &good], 1);
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let file = folder.put("secret.pcap", &pcap::file(&pcap::slow()));
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o0)).unwrap();
    if std::fs::File::open(&file).is_ok() {
        // The superuser reads everything: something else that opens and then fails.
        let complaint = complaint(whyslow().arg("/proc/self/mem"));
        assert!(complaint.starts_with("whyslow: /proc/self/mem: byte 0: "), "{complaint}");
    } else {
        assert!(complaint(whyslow().arg(&file)).contains("secret.pcap: "));
    }
}

#[cfg(unix)]
#[test]
fn names_that_are_not_text_are_accepted() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9\x1b[31m.pcap");
    let file = folder.put(name, &pcap::file(&pcap::slow()));
    let page = whyslow().arg(&file).assert().code(0).get_output().stdout.clone();
    assert!(!page.contains(&0x1b));
    assert_eq!(json(&[file])["connections"].as_array().unwrap().len(), 1);
}

#[test]
fn the_locale_does_not_matter() {
    let folder = Folder::new();
    let file = folder.put("slow.pcap", &pcap::file(&pcap::slow()));
    let page = |locale: &str| whyslow().env("LC_ALL", locale).arg(&file).assert().code(0).get_output().stdout.clone();
    assert_eq!(page("C"), page("C.UTF-8"));
}
