//! Owners of a socket, if they can be known.

use crate::lab::{alone, wait_for};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use whyslow_live::host::{Host, Namespaces, Options, State, Throttled};
use whyslow_testing::{Lack, skip};

/// A child that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A program that holds a connection, and then does this.
fn holder(port: u16, then: &str) -> Running {
    let script = format!("exec 3<>/dev/tcp/127.0.0.1/{port}; {then}");
    Running(Command::new("bash").args(["-c", &script]).stderr(Stdio::null()).spawn().unwrap())
}

#[test]
fn a_socket_may_have_several_processes() {
    alone(&["bash"], || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let child = holder(port, "(read -r line <&3; exit) & read -r line <&3; wait");
        let (_, socket) = wait_for(|socket| socket.remote.port() == port && socket.owners.len() == 2);
        assert!(socket.owners.iter().any(|owner| owner.pid == child.0.id()));
        assert!(socket.owners.iter().all(|owner| owner.name == "bash"), "{:?}", socket.owners);
        // Both read until the connection ends.
        drop(listener);
    });
}

/// A cgroup with a tenth of a processor, of either hierarchy.
struct Limited(PathBuf);

impl Limited {
    fn new() -> Option<Self> {
        let name = format!("docker-{:012x}{:052x}.scope", std::process::id(), 0);
        let settings: [(&str, &[(&str, &str)]); 3] = [
            ("/sys/fs/cgroup/cpu", &[("cpu.cfs_period_us", "10000"), ("cpu.cfs_quota_us", "1000")]),
            ("/sys/fs/cgroup/cpu,cpuacct", &[("cpu.cfs_period_us", "10000"), ("cpu.cfs_quota_us", "1000")]),
            ("/sys/fs/cgroup", &[("cpu.max", "1000 10000")]),
        ];
        settings.iter().find_map(|(root, files)| {
            let group = Path::new(root).join(&name);
            std::fs::create_dir(&group).ok()?;
            let limited = Self(group);
            let set = |(file, value): &(&str, &str)| std::fs::write(limited.0.join(file), value).is_ok();
            files.iter().all(set).then_some(limited)
        })
    }

    fn take(&self, child: &Running) {
        std::fs::write(self.0.join("cgroup.procs"), child.0.id().to_string()).unwrap();
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        // The kernel takes a moment to let go of a process that has ended.
        while std::fs::read_to_string(self.0.join("cgroup.procs")).is_ok_and(|procs| !procs.trim().is_empty()) {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let _ = std::fs::remove_dir(&self.0);
    }
}

#[test]
fn throttled_groups_are_reported() {
    let Some(group) = Limited::new() else {
        return skip(Lack::Machine, "no cgroup can be made that limits processors");
    };
    alone(&["bash"], || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let busy = holder(port, "while :; do :; done");
        group.take(&busy);
        // The kernel adds the time when a group runs again.
        let is_throttled = |stat: Throttled| stat.throttled >= 3 && stat.time_us > 1000;
        let (_, socket) = wait_for(|socket| {
            let owner = socket.owners.iter().find(|owner| owner.pid == busy.0.id());
            owner.is_some_and(|owner| owner.throttled.is_some_and(is_throttled))
        });
        let container = format!("docker {:012x}", std::process::id());
        assert_eq!(socket.owners[0].container.as_ref(), Some(&container));
        let stat = socket.owners[0].throttled.unwrap();
        assert!(stat.periods >= stat.throttled, "{stat:?}");
        // The listener's owner is not limited, or not by this.
        let (_, listener) = wait_for(|socket| socket.state == State::Listen);
        assert_ne!(listener.owners[0].throttled, Some(stat));
    });
}

/// Marks to the test below that it runs as the other user.
const OTHER_USER: &str = "WHYSLOW_TEST_OTHER_USER";

/// Credentials belong to a process: the test starts itself again, and does this there.
fn as_another_user() {
    let host = Host::read(&Options { namespaces: Namespaces::All, ..Options::default() });
    let namespace = &host.namespaces[0];
    let listener = namespace.sockets.iter().find(|socket| socket.state == State::Listen).unwrap();
    assert!(listener.inode != 0 && listener.owners.is_empty(), "{listener:?}");
    assert!(namespace.counters["Tcp.ActiveOpens"] > 0 && !namespace.sysctls.is_empty());
    assert!(namespace.sockets.iter().any(|socket| socket.info.is_some()));
    let is_missing = |what: &str| host.missing.iter().any(|missing| missing.what == what);
    assert!(
        is_missing("processes of other users") && is_missing("network namespaces of other users"),
        "{:#?}",
        host.missing
    );
    println!("{:#?}", host.missing);
}

#[test]
fn without_root_missing_data_is_listed() {
    if std::env::var_os(OTHER_USER).is_some() {
        return as_another_user();
    }
    alone(&[], || {
        let (_listener, _client, _server) = crate::lab::pair();
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "owners::without_root_missing_data_is_listed", "--nocapture"])
            .env(OTHER_USER, "")
            .uid(65_534)
            .gid(65_534)
            .output();
        let Ok(output) = output else {
            return skip(Lack::Machine, "other users cannot start the program of these tests where it lies");
        };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        assert!(text.contains("1 passed") && text.contains("CAP_SYS_PTRACE"), "{text}");
    });
}
