//! Kept files: readable by this user alone, and removed at the end.

use super::{View, loss, reply, until};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

const SIGNALS: [Signal; 3] = [Signal::INT, Signal::TERM, Signal::HUP];

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// The program with an open umask: new files are accessible to all unless it restricts them.
fn careless() -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "umask 0; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_whyslow")]);
    command
}

/// A capture whose packets come again and again: long to read.
fn long(times: usize) -> Vec<u8> {
    let file = loss();
    let (head, packets) = file.split_at(24);
    [head.to_vec(), packets.repeat(times)].concat()
}

#[test]
fn what_is_kept_is_for_this_user_alone() {
    let Some(view) = View::new(&mut careless(), &["view"]) else { return };
    let file = loss();
    let whole = [view.upload(file.len()).into_bytes(), file].concat();
    let _coming = view.send(view.upload(1_000_000) + "x");
    assert_eq!(view.ask(whole).status, 202);
    assert_eq!(view.settled()["state"], "ready");
    until("both files are kept", || (view.stored_files().len() >= 3).then_some(()));
    for path in view.stored_files() {
        assert_eq!(mode(&path), if path.is_dir() { 0o700 } else { 0o600 }, "{}", path.display());
    }
    view.end(Signal::INT);
}

#[test]
fn nothing_stays_whatever_is_under_way() {
    for signal in SIGNALS {
        let Some(view) = View::of_sample() else { return };
        // While files come: one of a drop that came, one that comes.
        let file = loss();
        let query = "name=a.pcap&set=a&of=2&rest=1";
        let first = view.upload_with(&format!("Content-Length: {}\r\n", file.len()), query);
        assert_eq!(view.ask([first.into_bytes(), file].concat()).status, 202);
        let _coming = view.send([view.upload(1_000_000).into_bytes(), vec![0; 300_000]].concat());
        until("both files are kept", || (view.stored_files().len() >= 3).then_some(()));
        assert_eq!(view.end(signal).code(), Some(0));

        // While a file is read, be it that a fast machine needs a longer one.
        let mut times = 50;
        loop {
            let Some(view) = View::of_sample() else { return };
            let file = long(times);
            assert_eq!(view.ask([view.upload(file.len()).into_bytes(), file].concat()).status, 202);
            let is_read = view.state()["state"] == "reading";
            assert_eq!(view.stored_files().len(), 2);
            assert_eq!(view.end(signal).code(), Some(0));
            if is_read {
                break;
            }
            times *= 2;
        }

        // When it is open.
        let Some(view) = View::of_sample() else { return };
        let file = loss();
        assert_eq!(view.ask([view.upload(file.len()).into_bytes(), file].concat()).status, 202);
        assert_eq!(view.settled()["state"], "ready");
        assert_eq!(view.end(signal).code(), Some(0));
    }
}

#[test]
fn nothing_stays_of_a_pipe() {
    let orders: [(&[&str], Signal, i32); 4] = [
        (&["export", "-", "--csv"], Signal::TERM, 143),
        (&["export", "-", "--csv"], Signal::HUP, 129),
        (&["report", "-", "-o", "-"], Signal::TERM, 143),
        (&["view", "-"], Signal::TERM, 143),
    ];
    for (args, signal, code) in orders {
        let temporary = tempfile::tempdir().unwrap();
        let mut child = careless()
            .args(args)
            .env("TMPDIR", temporary.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // It may be that there is no page to show.
        let _ = stdin.write_all(&loss());
        let kept = || fs::read_dir(temporary.path()).unwrap().flatten().map(|entry| entry.path()).collect::<Vec<_>>();
        // The folder comes first, and then the file in it.
        let file = until("a file is kept", || {
            let file = kept().first().and_then(|folder| fs::read_dir(folder).ok()?.flatten().next());
            (file.is_some() || child.try_wait().unwrap().is_some()).then_some(file)
        });
        let Some(file) = file else {
            super::without_page(child);
            continue;
        };
        assert_eq!(mode(&file.path()), 0o600);
        assert_eq!(mode(&kept()[0]), 0o700);
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(until("it ends", || child.try_wait().unwrap()).code(), Some(code), "{args:?}");
        assert_eq!(kept().len(), 0, "{args:?}");
        drop(stdin);
    }
}

#[test]
fn the_first_ctrl_c_ends_the_pipe_and_shows_what_came() {
    let temporary = tempfile::tempdir().unwrap();
    let mut child = careless()
        .args(["export", "-", "--csv"])
        .env("TMPDIR", temporary.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let file = loss();
    stdin.write_all(&file).unwrap();
    let kept = || {
        fs::read_dir(temporary.path())
            .unwrap()
            .flatten()
            .find_map(|folder| fs::read_dir(folder.path()).ok()?.flatten().next())
    };
    let all = file.len() as u64;
    until("all is kept", || kept()?.metadata().ok().filter(|kept| kept.len() == all));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout.starts_with(b"frame,"));
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
    drop(stdin);
}

#[test]
fn a_program_that_is_to_outlive_its_terminal_does() {
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_whyslow")]);
    let Some(view) = View::new(&mut command, &["view"]) else { return };
    kill_process(Pid::from_child(&view.child), Signal::HUP).unwrap();
    assert_eq!(view.state()["state"], "empty");
    assert_eq!(view.end(Signal::TERM).code(), Some(0));
}

#[test]
fn the_secret_is_in_nobodys_arguments() {
    let folder = tempfile::tempdir().unwrap();
    // Prints its arguments, and the content of the file in its argument.
    let browser = folder.path().join("xdg-open");
    let (called, done) = (folder.path().join("called"), folder.path().join("done"));
    let (to, end) = (called.display(), done.display());
    let script = format!(
        "#!/bin/sh\n{{ printf '%s\\n' \"$@\"; stat -c %a \"$1\" \"$(dirname \"$1\")\"; cat \"$1\"; }} >{to}\nmv {to} {end}\n"
    );
    fs::write(&browser, script).unwrap();
    fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let Some(view) = View::new(careless().env("PATH", path), &["view", "--open"]) else { return };
    until("the browser was called", || done.exists().then_some(()));
    let mut lines = BufReader::new(fs::File::open(&done).unwrap()).lines().map(Result::unwrap);
    let argument = lines.next().unwrap();
    assert!(Path::new(&argument).starts_with(view.temporary.path()), "{argument}");
    assert!(!argument.contains(&view.token));
    assert_eq!([lines.next().unwrap(), lines.next().unwrap()], ["600", "700"]);
    let url = format!("http://127.0.0.1:{}/{}/", view.port, view.token);
    let leads: Vec<_> = lines.filter(|line| line.contains(&url)).collect();
    assert!(leads.iter().any(|line| line.contains("http-equiv=\"refresh\"")), "{leads:?}");
    assert_eq!(view.end(Signal::INT).code(), Some(0));
}

#[test]
fn an_end_while_a_file_is_sent_away_is_an_end() {
    let Some(view) = View::of_sample() else { return };
    // Does not read the response.
    let mut stream = view.send(format!("GET /{}/slice?c=1&from=0&to=9 HTTP/1.1\r\n{}\r\n", view.token, view.host()));
    assert_eq!(view.state()["state"], "ready");
    assert_eq!(view.end(Signal::TERM).code(), Some(0));
    let _ = reply(&mut stream);
}
