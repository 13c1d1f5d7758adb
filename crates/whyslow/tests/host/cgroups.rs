//! A control group that is out of its processor time, on the hierarchy that this machine has.

use crate::{checked, finding};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use whyslow_testing::{Lack, skip, tools};

/// Two programs' worth of work over a connection with itself.
const BUSY: &str = "
import socket, sys
listener = socket.create_server(('127.0.0.1', 9000))
client = socket.create_connection(listener.getsockname())
server, _ = listener.accept()
open(sys.argv[1], 'w').close()
while True:
    server.send(b'x')
    client.recv(1)
";

/// A group that may use a tenth of a processor; removed at the end.
struct Limited(PathBuf);

impl Limited {
    fn new() -> Option<Self> {
        let name = format!("whyslow-test-{}", std::process::id());
        let make = |root: &str, file: &str, limit: &str| {
            let group = Path::new(root).join(&name);
            std::fs::create_dir(&group).ok()?;
            let limited = Self(group);
            std::fs::write(limited.0.join(file), limit).ok().map(|()| limited)
        };
        let version_1 = ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"];
        let found = version_1.iter().find_map(|root| make(root, "cpu.cfs_quota_us", "10000"));
        found.or_else(|| make("/sys/fs/cgroup", "cpu.max", "10000 100000"))
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        // Its processes may still be ending.
        for _ in 0..100 {
            if std::fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn a_throttled_group_is_found_where_ip_netns_hides_its_hierarchy() {
    if !tools(&["ip", "python3"]) {
        return;
    }
    let name = format!("whyslow-test-{}", std::process::id());
    let ip = |arguments: &[&str]| Command::new("ip").args(arguments).stderr(Stdio::null()).status().unwrap().success();
    let Some(limited) = Limited::new() else {
        return skip(Lack::Machine, "no control group with a processor limit can be made");
    };
    if !ip(&["netns", "add", &name]) {
        return skip(Lack::Machine, "`ip netns add` is not allowed");
    }
    let inside = |program: &str, arguments: &[&str]| {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &name, program]).args(arguments);
        command
    };
    assert!(ip(&["-n", &name, "link", "set", "lo", "up"]));
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("busy.py"), BUSY).unwrap();
    let (script, ready) = (folder.path().join("busy.py"), folder.path().join("ready"));
    let mut busy = inside("python3", &[&script.display().to_string(), &ready.display().to_string()]).spawn().unwrap();
    while !ready.exists() {
        assert!(busy.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(20));
    }
    std::fs::write(limited.0.join("cgroup.procs"), busy.id().to_string()).unwrap();
    // On a machine that is busy with other work the group may seldom reach its limit.
    let look = || {
        std::thread::sleep(Duration::from_secs(3));
        inside(env!("CARGO_BIN_EXE_whyslow"), &["host", "--json"]).output().unwrap()
    };
    let is_found =
        |output: &std::process::Output| String::from_utf8_lossy(&output.stdout).contains("\"cpu-throttled\"");
    let output = (0..4).map(|_| look()).find(is_found).unwrap_or_else(look);
    busy.kill().unwrap();
    busy.wait().unwrap();
    ip(&["netns", "delete", &name]);
    let printed = checked(&String::from_utf8(output.stdout).unwrap());
    let found = finding(&printed, "cpu-throttled");
    // The command shows the account of that group, from in there.
    let command = found["remedies"][0]["command"].as_str().unwrap();
    let group = limited.0.file_name().unwrap().to_str().unwrap();
    assert!(command.contains("/root/sys/fs/cgroup") && command.contains(group), "{command}");
    let shown = Command::new("sh").args(["-c", command]).output().unwrap();
    assert!(String::from_utf8(shown.stdout).unwrap().contains("nr_throttled"), "{command}");
}
