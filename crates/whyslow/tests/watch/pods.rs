//! Connections of a pod: a control group and files as the kubelet makes them, and a network of its
//! own.

use crate::checked;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use whyslow_testing::{Lack, skip, tools};

const UID: &str = "0e3b2a4c-9f1d-4b7e-8c6a-5d4f3e2b1a09";
const ID: &str = "4f2a09c1be77d0a1b2c3d4e5f60718293a4b5c6d7e8f90010203040506070809";

/// Answers after a second and a half.
const SLOW_SERVER: &str = "
import http.server, time
class Slow(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        time.sleep(1.5)
        self.send_response(200)
        self.send_header('Content-Length', '3')
        self.end_headers()
        self.wfile.write(b'ok\\n')
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(('0.0.0.0', 8080), Slow)
open('serving', 'w').close()
server.serve_forever()
";

/// A node with one pod: the pod runs `server.py` and the node asks it. `$group` is the pod's
/// control group in the first hierarchy that lets this user make one.
const NODE: &str = "
for place in /sys/fs/cgroup/*/ /sys/fs/cgroup/; do
    mkdir -p $place/kubepods/pod$POD_UID/$POD_ID 2>/dev/null && [ -e $place/kubepods/pod$POD_UID/$POD_ID/cgroup.procs ] &&
        group=$place/kubepods/pod$POD_UID/$POD_ID && break
done
[ -n \"$group\" ] || exit 77
mount --make-rprivate / && mount --bind log /var/log || exit 77
ip link set lo up
unshare --net sh -c \"echo \\$\\$ >$group/cgroup.procs || exit; : >started; until ip link show eth0 >/dev/null 2>&1; do sleep 0.05; done
    ip link set lo up; ip address add 10.1.0.5/24 dev eth0; ip link set eth0 up; exec python3 server.py\" & pod=$!
for i in $(seq 100); do [ -e started ] && break; sleep 0.05; done
ip link add to-pod type veth peer name eth0 netns $pod || exit 77
ip address add 10.1.0.1/24 dev to-pod; ip link set to-pod up
for i in $(seq 400); do [ -e serving ] && break; sleep 0.05; done
";
const END: &str = "
kill $pod; wait $pod 2>/dev/null
for i in $(seq 40); do rmdir $group && break; sleep 0.05; done
rmdir ${group%/*} ${group%/*/*} 2>/dev/null; exit 0
";

/// Runs a script on the node; `None` if that is not possible here.
fn on_node(folder: &Path, script: &str) -> Option<Output> {
    if !tools(&["unshare", "ip", "python3", "curl", "mount"]) {
        return None;
    }
    std::fs::write(folder.join("server.py"), SLOW_SERVER).unwrap();
    std::fs::create_dir_all(folder.join(format!("log/pods/shop_web-7d9f-x2x_{UID}/app"))).unwrap();
    std::fs::create_dir_all(folder.join("log/containers")).unwrap();
    std::fs::write(folder.join(format!("log/containers/web-7d9f-x2x_shop_app-{ID}.log")), "").unwrap();
    let mut command = Command::new("unshare");
    command.args(["--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]);
    command.args(["sh", "-c", &format!("{NODE}{script}{END}")]).current_dir(folder).stdin(Stdio::null());
    command.env("POD_UID", UID).env("POD_ID", ID).env("W", env!("CARGO_BIN_EXE_whyslow")).env_remove("NO_COLOR");
    let output = command.output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.code() == Some(77) || message.contains("Operation not permitted") {
        skip(Lack::Machine, message);
        return None;
    }
    Some(output)
}

fn transfers(text: &str) -> Vec<Value> {
    text.lines().map(checked).filter(|line| line["type"] == "transfer").collect()
}

#[test]
fn slow_transfers_have_their_pod_and_filters_select_it() {
    let folder = tempfile::tempdir().unwrap();
    // Connections that open and close between two readings of the sockets are known by the pod's
    // address.
    let script = "
for one in all:--metrics=10.1.0.1:9464 pod:--pod=shop/web-* other:--namespace=bank; do
    $W watch --node -i to-pod --jsonl --slower-than 500ms --for 90s ${one#*:} >${one%%:*} 2>${one%%:*}.err &
    all=\"$all $!\"
done
for name in all pod other; do for i in $(seq 100); do grep -qs listening $name.err && break; sleep 0.1; done; done
for i in 1 2; do curl -so /dev/null http://10.1.0.5:8080/; done
for i in $(seq 100); do
    curl -s http://10.1.0.1:9464/metrics >metrics
    grep -q '^whyslow_connections 0' metrics && grep -q '^whyslow_pod_transfers_total.* 4' metrics && break; sleep 0.2
done
kill -INT $all
wait $all
cat *.err >&2";
    let Some(output) = on_node(folder.path(), script) else { return };
    let message = String::from_utf8_lossy(&output.stderr);
    let read = |name: &str| transfers(&std::fs::read_to_string(folder.path().join(name)).unwrap());
    let all = read("all");
    assert_eq!(all.len(), 2, "{message}");
    for line in &all {
        let holders = &line["holders"];
        let pod = &holders["server"]["pod"];
        assert_eq!((&pod["namespace"], &pod["name"]), (&"shop".into(), &"web-7d9f-x2x".into()), "{holders:#}");
        assert_eq!((&pod["uid"], &pod["container"]), (&UID.into(), &"app".into()), "{holders:#}");
        assert!(holders["server"]["process"].as_str().unwrap().starts_with("python"), "{holders:#}");
        assert_eq!(holders["server"]["container"], "containerd 4f2a09c1be77");
        assert_eq!(holders["client"]["pod"], Value::Null, "{holders:#}");
    }
    let metrics = std::fs::read_to_string(folder.path().join("metrics")).unwrap();
    for line in [
        // A request and a response each.
        "whyslow_pod_transfers_total{namespace=\"shop\",pod=\"web-7d9f-x2x\"} 4",
        // Both have ended.
        "whyslow_connections 0",
    ] {
        assert!(metrics.lines().any(|printed| printed == line), "{line} is not in {metrics}");
    }
    let lost = "whyslow_pod_lost_seconds_total{cause=\"server-think\",namespace=\"shop\",pod=\"web-7d9f-x2x\"} ";
    let lost = metrics.lines().find_map(|line| line.strip_prefix(lost)).unwrap_or_else(|| panic!("{metrics}"));
    assert!(lost.parse::<f64>().unwrap() > 2.5, "{metrics}");
    assert_eq!(read("pod").len(), 2);
    assert_eq!(read("other").len(), 0);
}
