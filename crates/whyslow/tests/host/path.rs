//! Over a path of the lab: what only distance shows.

use crate::world::folder;
use crate::{causes, checked, figure, finding};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use whyslow_testing::{Lack, skip, tools};

/// As [`over`], 100 ms.
#[track_caller]
fn over_100_ms(folder: &Path, server: &str, client: &str) -> Option<()> {
    over(&["--rtt", "100ms"], folder, server, client)
}

/// Runs nginx and a script at the two ends of a path, if there can be paths here; `$W` is `whyslow
/// host`.
#[track_caller]
fn over(path: &[&str], folder: &Path, server: &str, client: &str) -> Option<()> {
    if !tools(&["nginx", "curl", "ip", "sysctl"]) {
        return None;
    }
    // A path shares its processors with no other one.
    static ONE: Mutex<()> = Mutex::new(());
    let _alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let here = folder.display();
    let program = env!("CARGO_BIN_EXE_whyslow");
    let write = |name: &str, script: &str| {
        let script = format!("cd {here}; W='{program} host'\n{script}");
        std::fs::write(folder.join(name), script).unwrap();
        format!("exec sh {here}/{name}")
    };
    let server = write("server.sh", &format!("{server}\nexec nginx -p . -c nginx.conf -e stderr"));
    let client = write("client.sh", client);
    let results = folder.join("results").display().to_string();
    let mut command = Command::new(program);
    command.args(["lab", "exec"]).args(path);
    command.args(["--server", &server, "--client", &client, "--out", &results]);
    let output = command.output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    if message.contains("namespaces are not allowed") || message.contains("is not installed") {
        skip(Lack::Machine, message);
        return None;
    }
    Some(())
}

#[track_caller]
fn read_json(folder: &Path, name: &str) -> Value {
    checked(&std::fs::read_to_string(folder.join(name)).unwrap())
}

#[test]
fn a_threshold_that_acts_is_found_and_one_that_does_not_is_not() {
    let folder = folder();
    // A new entry begins with the route's threshold; without it the next connections show the
    // entry's alone.
    let client = "sysctl -qw net.ipv4.tcp_no_ssthresh_metrics_save=0 net.ipv4.tcp_no_metrics_save=0
        route=$(ip route show | head -n 1)
        ip route change $route ssthresh 8
        curl -so /dev/null http://$SERVER:8080/small; sleep 0.5
        ip route change $route
        ip tcp_metrics > metrics
        $W --json > acts.json
        $W --json --fail-on stale-ssthresh > /dev/null; echo $? > status
        sysctl -qw net.ipv4.tcp_no_ssthresh_metrics_save=1
        $W --json > idle.json
        ip tcp_metrics delete $SERVER; sysctl -qw net.ipv4.tcp_no_ssthresh_metrics_save=0
        $W --json > gone.json";
    if over_100_ms(folder.path(), "", client).is_none() {
        return;
    }
    let remembered = std::fs::read_to_string(folder.path().join("metrics")).unwrap();
    assert!(remembered.contains("ssthresh 8 "), "{remembered}");
    let acts = read_json(folder.path(), "acts.json");
    let found = finding(&acts, "stale-ssthresh");
    assert_eq!((figure(found, "ssthresh"), figure(found, "net.ipv4.tcp_no_ssthresh_metrics_save")), (8.0, 0.0));
    assert!(figure(found, "saved of 10 MB") > figure(found, "saved of 1 MB"));
    let command = found["remedies"][0]["command"].as_str().unwrap();
    assert!(command.contains("tcp_no_ssthresh_metrics_save=1; ip tcp_metrics delete 10."), "{command}");
    assert_eq!(std::fs::read_to_string(folder.path().join("status")).unwrap(), "1\n");
    for name in ["idle.json", "gone.json"] {
        assert_eq!(causes(&read_json(folder.path(), name)), [""; 0], "{name}");
    }
}

#[test]
fn clients_that_give_up_are_not_overflow() {
    let folder = folder();
    std::fs::write(folder.path().join("big"), vec![b'x'; 30_000_000]).unwrap();
    let client = "for i in 1 2 3 4 5; do curl -so /dev/null --max-time 0.8 http://$SERVER:8080/big; done; sleep 1
        touch done; for i in $(seq 200); do [ -e looked ] && break; sleep 0.1; done";
    let server =
        "(for i in $(seq 400); do [ -e done ] && break; sleep 0.1; done; $W --json > look.json; touch looked) &";
    if over(&["--rtt", "50ms", "--rate", "50mbit"], folder.path(), server, client).is_none() {
        return;
    }
    let printed = read_json(folder.path(), "look.json");
    let sockets = printed["host"]["namespaces"][0]["sockets"].as_array().unwrap();
    let drops = sockets.iter().filter(|socket| socket["state"] == "listen").map(|socket| socket["drops"].as_u64());
    assert!(drops.flatten().any(|drops| drops > 0), "late segments count as drops of the listener");
    assert_eq!(causes(&printed), [""; 0], "{:#}", printed["findings"]);
}

/// Asks for a megabyte on one connection, with pauses.
const ASKS_AGAIN: &str = "
import http.client, os, time
one = http.client.HTTPConnection(os.environ['SERVER'], 8080)
for turn in range(3):
    one.request('GET', '/mb')
    one.getresponse().read()
    time.sleep(0.5)
open('asked', 'w').close()
for _ in range(400):
    if os.path.exists('looked'):
        break
    time.sleep(0.1)
";

#[test]
fn an_idle_connection_of_a_live_server_will_restart() {
    let folder = folder();
    std::fs::write(folder.path().join("mb"), vec![b'x'; 1_000_000]).unwrap();
    std::fs::write(folder.path().join("asks_again.py"), ASKS_AGAIN).unwrap();
    let nginx = std::fs::read_to_string(folder.path().join("nginx.conf")).unwrap();
    let nginx = nginx.replace("keepalive_timeout 1s", "keepalive_timeout 300s");
    std::fs::write(folder.path().join("nginx.conf"), nginx).unwrap();
    let server = "ip route change $(ip route show | head -n 1) congctl cubic
        sysctl -qw net.ipv4.tcp_slow_start_after_idle=1
        (for i in $(seq 400); do [ -e asked ] && break; sleep 0.1; done; sleep 1
        for i in 1 2 3; do $W --json > look$i.json; done
        sysctl -qw net.ipv4.tcp_slow_start_after_idle=0; $W --json > off.json; touch looked) &";
    let path = ["--rtt", "100ms", "--rate", "200mbit"];
    if !tools(&["python3"]) || over(&path, folder.path(), server, "python3 asks_again.py").is_none() {
        return;
    }
    for look in 1..=3 {
        let printed = read_json(folder.path(), &format!("look{look}.json"));
        let found = finding(&printed, "restart-after-idle");
        assert!(figure(found, "cwnd") > 10.0, "{found:#}");
        assert!(found["cost_s"].as_f64().unwrap() >= 0.1, "{found:#}");
    }
    assert_eq!(causes(&read_json(folder.path(), "off.json")), [""; 0]);
}

#[test]
fn a_small_receive_buffer_on_a_long_path_is_found_at_both_ends() {
    let folder = folder();
    std::fs::write(folder.path().join("big"), vec![b'x'; 30_000_000]).unwrap();
    // A busy machine shows it in one look of several: the window grows now and then.
    let look = |name: &str| {
        let found = r#"'"cause": "receive-window"'"#;
        format!("for i in $(seq 20); do $W --json > {name}; grep -q {found} {name} && break; sleep 0.5; done")
    };
    let client = format!(
        "sysctl -qw net.ipv4.tcp_rmem='4096 16384 65536'
        curl -so /dev/null --max-time 60 http://$SERVER:8080/big & P=$!; sleep 3; touch now
        {}; for i in $(seq 400); do [ -e looked ] && break; sleep 0.1; done; kill $P",
        look("client.json")
    );
    let server = format!(
        "(for i in $(seq 200); do [ -e now ] && break; sleep 0.1; done; {}; touch looked) &",
        look("server.json")
    );
    let (server, client) = (server.as_str(), client.as_str());
    if over_100_ms(folder.path(), server, client).is_none() {
        return;
    }
    let client = read_json(folder.path(), "client.json");
    let own = finding(&client, "receive-window");
    assert_eq!(own["remedies"][0]["actor"], "host");
    assert!(own["remedies"][0]["command"].as_str().unwrap().contains("net.ipv4.tcp_rmem"), "{own:#}");
    // Not from the rate that this buffer allows.
    assert!(own["remedies"][0]["command"].as_str().unwrap().contains("6291456"), "{own:#}");
    assert!(figure(own, "rcv_rtt") >= 0.09);
    let server = read_json(folder.path(), "server.json");
    let peers = finding(&server, "receive-window");
    assert_eq!((&peers["remedies"][0]["actor"], &peers["remedies"][0]["command"]), (&"peer".into(), &Value::Null));
    assert!(peers["cost_s"].as_f64().unwrap() >= 0.5, "{peers:#}");
}
