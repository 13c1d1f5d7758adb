//! Outputs: they never replace an input, are written whole or not at all, and errors have the
//! file's name.

#[cfg(unix)]
use super::compare::has_page;
use crate::{Folder, complaint, pcap, whyslow};
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
#[cfg(unix)]
use whyslow_testing::{Lack, skip};

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples").join(format!("{name}.pcap"))
}

/// A folder with a capture in it, `in.pcap`.
fn with_capture() -> (Folder, PathBuf, Vec<u8>) {
    let folder = Folder::new();
    let bytes = fs::read(sample("loss-server")).unwrap();
    let path = folder.put("in.pcap", &bytes);
    (folder, path, bytes)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

const FORMATS: [&str; 5] = ["--csv", "--jsonl", "--svg", "--png", "--markdown"];

#[test]
fn an_output_that_is_an_input_is_refused_by_whatever_name() {
    let (folder, input, bytes) = with_capture();
    let at = |name: &str| folder.0.path().join(name);
    fs::hard_link(&input, at("hard.pcap")).unwrap();
    let mut outputs = vec![input.clone(), at("hard.pcap")];
    outputs.push(at("./in.pcap"));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("in.pcap", at("soft.pcap")).unwrap();
        outputs.push(at("soft.pcap"));
    }
    let before = names(folder.0.path());
    let other = sample("loss-client");
    let is_refused = |args: &[&Path], output: &Path| {
        let error = complaint(whyslow().args(args).arg(output));
        assert!(error.contains("name another file for the output"), "{error}");
        let named = [output, &input].iter().any(|path| error.contains(&format!("whyslow: {}: is ", path.display())));
        assert!(named, "{error}");
        assert_eq!(fs::read(&input).unwrap(), bytes, "{}", output.display());
        assert_eq!(names(folder.0.path()), before);
    };
    for output in &outputs {
        for format in FORMATS {
            is_refused(&["export".as_ref(), &input, format.as_ref(), "-o".as_ref()], output);
        }
        // As one of several, of which another is written about.
        is_refused(&["export".as_ref(), &other, &input, "--csv".as_ref(), "--output".as_ref()], output);
        is_refused(&["report".as_ref(), &input, "-o".as_ref()], output);
        is_refused(&["report".as_ref(), &other, &input, "-o".as_ref()], output);
        is_refused(&["compare".as_ref(), &input, &other, "--report".as_ref()], output);
        is_refused(&["compare".as_ref(), &other, &input, "--report".as_ref()], output);
    }
    // Through a symbolic link to a file that is read.
    is_refused(&["export".as_ref(), outputs.last().unwrap(), "--csv".as_ref(), "-o".as_ref()], &input);
}

#[test]
fn graphs_that_would_hit_an_input_are_refused_and_none_is_there() {
    let (folder, input, bytes) = with_capture();
    fs::hard_link(&input, folder.0.path().join("in.pcap.1.s2c_rtt.xpl")).unwrap();
    let before = names(folder.0.path());
    let error = complaint(whyslow().arg("export").arg(&input).args(["--xplot", "-o"]).arg(folder.0.path()));
    assert!(error.contains("in.pcap.1.s2c_rtt.xpl: is the input"), "{error}");
    assert_eq!((fs::read(&input).unwrap(), names(folder.0.path())), (bytes, before));
}

/// Runs the program with this file, appended to, as stdout.
#[cfg_attr(not(unix), expect(dead_code, reason = "its tests are of Unix"))]
fn onto(output: &Path, args: &[&str], stdin: Stdio) -> Output {
    let file = OpenOptions::new().append(true).open(output).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow"));
    command.args(args).stdin(stdin).stdout(file).stderr(Stdio::piped()).output().unwrap()
}

#[cfg(unix)]
#[test]
fn stdout_that_is_an_input_is_refused_before_anything_is_read() {
    let (_folder, path, bytes) = with_capture();
    let (input, other) = (path.to_str().unwrap(), sample("loss-client").to_str().unwrap().to_owned());
    let cases: [&[&str]; 9] = [
        &[input],
        &["--json", &other, input],
        &["export", input, "--csv"],
        &["export", input, "--markdown", "-o", "-"],
        &["export", input, "--csv", "-o", "/dev/stdout"],
        &["report", input, "-o", "-"],
        &["compare", input, &other],
        &["compare", &other, input, "--report", "-"],
        &["view", input],
    ];
    for args in cases {
        let output = onto(&path, args, Stdio::null());
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(&format!("stdout is the input {input}")), "{args:?}: {}", stderr(&output));
        assert_eq!(fs::read(&path).unwrap(), bytes, "{args:?}");
    }
    let output = onto(&path, &["-"], Stdio::from(fs::File::open(&path).unwrap()));
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("stdout is the input -"), "{}", stderr(&output));
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[cfg(unix)]
#[test]
fn what_keeps_nothing_may_be_both_ends() {
    use std::io::Write;
    use std::net::Shutdown;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    // A socket, as a server like inetd starts a program for each connection.
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let both = [theirs.try_clone().unwrap(), theirs].map(|end| Stdio::from(OwnedFd::from(end)));
    let [stdin, stdout] = both;
    let mut child = Command::new(env!("CARGO_BIN_EXE_whyslow")).arg("-").stdin(stdin).stdout(stdout).spawn().unwrap();
    ours.write_all(&fs::read(sample("healthy-server")).unwrap()).unwrap();
    ours.shutdown(Shutdown::Write).unwrap();
    let mut page = String::new();
    ours.read_to_string(&mut page).unwrap();
    assert!(page.contains("(stdin, captured at the server)"), "{page}");
    assert!(child.wait().unwrap().success());
}

#[cfg(unix)]
#[test]
fn a_new_file_has_the_usual_mode_and_what_replaces_one_has_that_ones() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, input, _) = with_capture();
    let at = |name: &str| folder.0.path().join(name);
    let export = |mask: &str, name: &str| {
        let line = format!("umask {mask}; exec \"$0\" export \"$1\" --csv -o \"$2\"");
        let program = env!("CARGO_BIN_EXE_whyslow");
        let status = Command::new("sh").args(["-c", &line, program]).arg(&input).arg(at(name)).status().unwrap();
        assert!(status.success());
        fs::metadata(at(name)).unwrap().permissions().mode() & 0o7777
    };
    assert_eq!(export("022", "usual.csv"), 0o644);
    assert_eq!(export("077", "own.csv"), 0o600);
    let expected = fs::read(at("own.csv")).unwrap();
    assert_eq!(expected.iter().filter(|byte| **byte == b'\n').count(), 1_466);
    for mode in [0o600, 0o640, 0o666] {
        folder.put("there.csv", b"old");
        fs::set_permissions(at("there.csv"), PermissionsExt::from_mode(mode)).unwrap();
        assert_eq!(export("022", "there.csv"), mode);
        assert_eq!(fs::read(at("there.csv")).unwrap(), expected);
    }
    // A link's target is replaced, and the other name of a file with two names keeps the old
    // content.
    folder.put("one.csv", b"old");
    fs::hard_link(at("one.csv"), at("two.csv")).unwrap();
    std::os::unix::fs::symlink("one.csv", at("link.csv")).unwrap();
    export("022", "link.csv");
    assert!(at("link.csv").is_symlink());
    assert_eq!((fs::read(at("one.csv")).unwrap(), fs::read(at("two.csv")).unwrap()), (expected, b"old".to_vec()));
    let all = ["in.pcap", "link.csv", "one.csv", "own.csv", "there.csv", "two.csv", "usual.csv"];
    assert_eq!(names(folder.0.path()), all);
}

#[cfg(unix)]
#[test]
fn what_may_not_be_written_to_is_not_replaced() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    let (folder, input, _) = with_capture();
    let path = folder.put("kept.csv", b"old");
    fs::set_permissions(&path, PermissionsExt::from_mode(0o444)).unwrap();
    let program = folder.0.path().join("whyslow");
    fs::copy(env!("CARGO_BIN_EXE_whyslow"), &program).unwrap();
    let mut command = Command::new(program);
    command.arg("export").arg(&input).args(["--csv", "-o"]).arg(&path);
    if rustix::process::geteuid().is_root() {
        // Root may write to anything: use an ordinary user with all rights in this folder.
        fs::set_permissions(folder.0.path(), PermissionsExt::from_mode(0o777)).unwrap();
        command.uid(65_534).gid(65_534);
    }
    let done = command.output().unwrap();
    assert_eq!(done.status.code(), Some(2));
    assert!(stderr(&done).contains("kept.csv: Permission denied"), "{}", stderr(&done));
    assert_eq!(fs::read(&path).unwrap(), b"old");
}

/// Runs the program with a file size limit of 8 or 16 kB (the shells' units differ), with the
/// limit's signal ignored or not.
#[cfg(unix)]
fn limited(prepare: &str, args: &[&str]) -> Output {
    let line = format!("{prepare} ulimit -f 16; exec \"$0\" \"$@\"");
    Command::new("sh").args(["-c", &line, env!("CARGO_BIN_EXE_whyslow")]).args(args).output().unwrap()
}

#[cfg(unix)]
#[test]
fn without_space_only_the_old_file_stays() {
    let (folder, input, bytes) = with_capture();
    let output = folder.put("out", b"old");
    let (input, path) = (input.to_str().unwrap(), output.to_str().unwrap());
    for format in ["--csv", "--jsonl", "--svg", "--png"] {
        let done = limited("trap '' XFSZ;", &["export", input, format, "-o", path]);
        assert_eq!(done.status.code(), Some(2), "{format}: {}", stderr(&done));
        assert_eq!(stderr(&done), format!("whyslow: {path}: File too large (os error 27)\n"), "{format}");
        assert_eq!(fs::read(&output).unwrap(), b"old", "{format}");
        assert_eq!(names(folder.0.path()), ["in.pcap", "out"], "{format}");
    }
    assert_eq!(fs::read(input).unwrap(), bytes);
    // A signal that ends the program in the midst of it.
    #[cfg(target_os = "linux")]
    {
        let done = limited("", &["export", input, "--csv", "-o", path]);
        assert_eq!(done.status.code(), None, "{}", stderr(&done));
        assert_eq!(fs::read(&output).unwrap(), b"old");
        assert_eq!(names(folder.0.path()), ["in.pcap", "out"]);
    }
}

#[cfg(unix)]
#[test]
fn graphs_are_all_there_or_none_and_the_one_that_failed_is_named() {
    let (folder, input, _) = with_capture();
    let input = input.to_str().unwrap();
    let graphs = folder.0.path().join("new/graphs");
    let at = graphs.to_str().unwrap();
    let done = limited("trap '' XFSZ;", &["export", input, "--xplot", "-o", at]);
    assert_eq!(done.status.code(), Some(2), "{}", stderr(&done));
    let message = stderr(&done);
    assert!(message.starts_with(&format!("whyslow: {at}/in.pcap.1.")), "{message}");
    assert!(message.ends_with(".xpl: File too large (os error 27)\n") && message.lines().count() == 1, "{message}");
    assert_eq!(names(folder.0.path()), ["in.pcap"], "no folder was made for nothing");
    // Files of an earlier run stay.
    whyslow().args(["export", input, "--xplot", "-o", at]).assert().code(0);
    let all =
        || names(&graphs).into_iter().map(|name| (fs::read(graphs.join(&name)).unwrap(), name)).collect::<Vec<_>>();
    let before = all();
    assert_eq!(before.len(), 8);
    fs::copy(sample("loss-client"), input).unwrap();
    assert_eq!(limited("trap '' XFSZ;", &["export", input, "--xplot", "-o", at]).status.code(), Some(2));
    assert!(all() == before);
    // A path that is not a folder, and one that cannot be created.
    let file = folder.put("file", b"old");
    let error = complaint(whyslow().args(["export", input, "--xplot", "-o"]).arg(&file));
    assert!(error.contains("file: is no folder"), "{error}");
    let error = complaint(whyslow().args(["export", input, "--xplot", "-o"]).arg(file.join("below")));
    assert!(error.contains("file/below: Not a directory"), "{error}");
    assert_eq!(fs::read(&file).unwrap(), b"old");
    // A folder in place of an output file.
    fs::remove_dir_all(&graphs).unwrap();
    fs::create_dir_all(graphs.join("in.pcap.1.s2c_owin.xpl")).unwrap();
    let error = complaint(whyslow().args(["export", input, "--xplot", "-o", at]));
    assert!(error.contains("in.pcap.1.s2c_owin.xpl: is a directory"), "{error}");
    assert_eq!(names(&graphs), ["in.pcap.1.s2c_owin.xpl"]);
}

#[cfg(unix)]
#[test]
fn a_page_is_written_whole_or_not_at_all() {
    use std::os::unix::fs::PermissionsExt;
    if !has_page() {
        skip(Lack::Machine, "the page is not built: Node is missing");
        return;
    }
    let (folder, input, _) = with_capture();
    let page = folder.put("page.html", b"old");
    fs::set_permissions(&page, PermissionsExt::from_mode(0o640)).unwrap();
    let (input, other, page) = (input.to_str().unwrap(), sample("loss-client"), page.to_str().unwrap());
    let commands =
        [vec!["report", input, "-o", page], vec!["compare", input, other.to_str().unwrap(), "--report", page]];
    for args in &commands {
        let done = limited("trap '' XFSZ;", args);
        assert_eq!(done.status.code(), Some(2), "{}", stderr(&done));
        assert_eq!(stderr(&done), format!("whyslow: {page}: File too large (os error 27)\n"));
        assert_eq!((fs::read(page).unwrap(), names(folder.0.path()).len()), (b"old".to_vec(), 2));
    }
    for args in &commands {
        whyslow().args(args).assert().code(0).stdout("").stderr("");
        assert!(fs::read(page).unwrap().starts_with(b"<!doctype html>"));
        assert_eq!(fs::metadata(page).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(names(folder.0.path()).len(), 2);
    }
}

/// A disk that is full, in a namespace of its own.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_old_file() {
    let (folder, input, _) = with_capture();
    let disk = folder.0.path().join("disk");
    fs::create_dir(&disk).unwrap();
    let script = r#"
        mount -t tmpfs -o size=96k none "$2" || exit 77
        cd "$2"
        echo old > out.csv
        "$0" export "$1" --csv -o out.csv; echo "status $?"
        "$0" export "$1" --xplot -o graphs; echo "status $?"
        cat out.csv; ls -A"#;
    let mut command = Command::new("unshare");
    let arguments = ["-Urm", "sh", "-c", script, env!("CARGO_BIN_EXE_whyslow")];
    let done = match command.args(arguments).arg(&input).arg(&disk).output() {
        Ok(done) if done.status.success() => done,
        other => return skip(Lack::Machine, format!("no file system can be mounted here: {other:?}")),
    };
    assert_eq!(
        String::from_utf8(done.stdout.clone()).unwrap(),
        "status 2\nstatus 2\nold\nout.csv\n",
        "{}",
        stderr(&done)
    );
    let message = stderr(&done);
    assert!(message.contains("whyslow: out.csv: No space left on device (os error 28)\n"), "{message}");
    assert!(
        message.contains("whyslow: graphs/in.pcap.1.") && message.contains(".xpl: No space left on device"),
        "{message}"
    );
}

#[test]
fn an_input_that_cannot_be_read_leaves_the_old_file() {
    let (folder, input, bytes) = with_capture();
    let output = folder.put("out.csv", b"old");
    fs::write(&input, &bytes[..20]).unwrap();
    for args in [&["--csv"][..], &["--connection", "9", "--csv"], &["--svg", "--from", "1e9"]] {
        complaint(whyslow().arg("export").arg(&input).args(args).arg("-o").arg(&output));
        assert_eq!(fs::read(&output).unwrap(), b"old");
        assert_eq!(names(folder.0.path()), ["in.pcap", "out.csv"]);
        // Then of a readable capture whose other parts are unreadable.
        fs::write(&input, &bytes).unwrap();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn special_files_are_written_directly() {
    let (folder, input, _) = with_capture();
    let input = input.to_str().unwrap();
    let expected = whyslow().args(["export", input, "--csv"]).assert().code(0).get_output().stdout.clone();
    let program = env!("CARGO_BIN_EXE_whyslow");
    let shell = |line: &str| {
        let done = Command::new("sh").args(["-c", line, program, input]).current_dir(folder.0.path()).output().unwrap();
        assert!(done.status.success(), "{line}: {}", stderr(&done));
        done.stdout
    };
    whyslow().args(["export", input, "--csv", "-o", "/dev/null"]).assert().code(0).stdout("").stderr("");
    for name in ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        whyslow().args(["export", input, "--csv", "-o", name]).assert().code(0).stdout(expected.clone());
        // Text that is in stdout's file already stays.
        shell(&format!("{{ echo head; \"$0\" export \"$1\" --csv -o {name}; }} > all.csv"));
        assert_eq!(fs::read(folder.0.path().join("all.csv")).unwrap(), [b"head\n", expected.as_slice()].concat());
    }
    shell("{ echo head >&3; \"$0\" export \"$1\" --csv -o /dev/fd/3; } 3> three.csv");
    assert_eq!(fs::read(folder.0.path().join("three.csv")).unwrap(), [b"head\n", expected.as_slice()].concat());
    assert_eq!(shell("mkfifo pipe; cat pipe & \"$0\" export \"$1\" --csv -o pipe; wait"), expected);
    for args in [&["--csv"][..], &["--markdown"], &["--png"]] {
        let error = complaint(whyslow().args(["export", input, "-o", "/dev/full"]).args(args));
        assert_eq!(error, "whyslow: /dev/full: No space left on device (os error 28)\n");
    }
    assert_eq!(names(folder.0.path()), ["all.csv", "in.pcap", "pipe", "three.csv"]);
}

#[test]
fn a_capture_that_shrinks_while_it_is_read_is_an_error() {
    let folder = Folder::new();
    let mut conversation = pcap::Conversation::open(40_000, 1_700_000_000_000_000, 100_000);
    // A row is printed when 65,536 more packets were read.
    conversation.download(100_000, &[250; 320]);
    let packets = conversation.close(100_000);
    assert!(packets.len() > 100_000);
    let bytes = pcap::heads(&packets);
    let path = folder.put("shrinks.pcap", &bytes);
    let mut child = Command::new(env!("CARGO_BIN_EXE_whyslow"))
        .args(["export", path.to_str().unwrap(), "--csv"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The second pass is running, and waits: only the first row is read, and there is more than a
    // pipe holds.
    let mut rows = BufReader::with_capacity(64, child.stdout.take().unwrap());
    let mut row = String::new();
    rows.read_line(&mut row).unwrap();
    assert!(row.starts_with("frame,"), "{row}");
    OpenOptions::new().write(true).open(&path).unwrap().set_len(bytes.len() as u64 / 8 * 7).unwrap();
    let mut rest = Vec::new();
    rows.read_to_end(&mut rest).unwrap();
    let given = rest.iter().filter(|byte| **byte == b'\n').count();
    assert!(given < packets.len(), "{given} of {} rows", packets.len());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let message = stderr(&output);
    assert!(message.contains("shrinks.pcap: has changed while it was read: "), "{message}");
    assert!(message.contains(&format!("{} packets at first", packets.len())), "{message}");
}
