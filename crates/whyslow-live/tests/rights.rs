//! Rights are gone once the ring is open. The kernel keeps them for each thread, so that this is a
//! program of its own: it starts itself again, and gives up its rights before it has other threads.
#![allow(clippy::unwrap_used, missing_docs)]

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() {
    match std::env::var(linux::INSIDE) {
        Ok(who) => linux::inside(&who),
        Err(_) => linux::run_all(),
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::process::Command;
    use std::time::Duration;
    use whyslow_live::watch::{Rights, Ring, RingOptions, User, WatchError, drop_rights};
    use whyslow_testing::Lack;

    /// Selects the role of this program.
    pub(crate) const INSIDE: &str = "WHYSLOW_TEST_RIGHTS";

    pub(crate) fn run_all() {
        // Asked by cargo's and others' runners.
        if std::env::args().any(|argument| argument == "--list") {
            return;
        }
        if !nix::unistd::geteuid().is_root() {
            whyslow_testing::skip(Lack::Machine, "only root has rights to drop");
            return;
        }
        if !whyslow_testing::tools(&["unshare"]) {
            return;
        }
        for who in ["root", "nobody", "threads"] {
            let mut command = Command::new("unshare");
            command.args(["-n", "--"]).arg(std::env::current_exe().unwrap()).env(INSIDE, who);
            command.env("SUDO_UID", "1234").env("SUDO_GID", "1235");
            let output = command.output().unwrap();
            assert!(output.status.success(), "{who}: {}", String::from_utf8_lossy(&output.stderr));
            assert_eq!(output.stdout, b"done\n", "{who}");
        }
        std::io::stdout().write_all(b"test result: ok. 3 passed; 0 failed\n").unwrap();
    }

    fn options() -> RingOptions {
        RingOptions { interfaces: vec!["lo".into()], size: 1 << 20, ..RingOptions::default() }
    }

    pub(crate) fn inside(who: &str) {
        assert!(Command::new("ip").args(["link", "set", "lo", "up"]).status().unwrap().success());
        let mut ring = Ring::open(&options()).unwrap();
        if who == "threads" {
            let (_hold, wait) = std::sync::mpsc::channel::<()>();
            std::thread::spawn(move || wait.recv());
            let error = drop_rights(Rights::none(None)).unwrap_err().to_string();
            assert_eq!(error, "rights cannot be dropped: 1 threads were started before and have theirs");
        } else {
            let user = (who == "nobody").then_some(User { uid: 65_534, gid: 65_534 });
            drop_rights(Rights::none(user)).unwrap();
            nothing_is_left(user.map_or(0, |user| user.uid));
            // No ring can be opened, and this one goes on.
            let error = Ring::open(&options()).unwrap_err();
            assert!(matches!(error, WatchError::NotPermitted), "{error}");
            assert!(error.to_string().ends_with("sudo setcap cap_net_raw+ep $(command -v whyslow)"));
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            drop(TcpStream::connect(listener.local_addr().unwrap()).unwrap());
            let mut block = ring.next_block(Duration::from_secs(30)).unwrap().unwrap();
            assert!(block.packets().count() >= 3);
            drop(block);
            assert_eq!(ring.counts().ring_drops, 0);
        }
        std::io::stdout().write_all(b"done\n").unwrap();
    }

    fn nothing_is_left(uid: u32) {
        // Only root can become another user.
        let sudo = (uid == 0).then_some(User { uid: 1234, gid: 1235 });
        assert_eq!(User::of_sudo(), sudo);
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let has_line = |line: String| assert!(status.lines().any(|found| found == line), "{line} in {status}");
        for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
            has_line(format!("{set}:\t0000000000000000"));
        }
        has_line("NoNewPrivs:\t1".to_owned());
        has_line(format!("Uid:\t{uid}\t{uid}\t{uid}\t{uid}"));
    }
}
