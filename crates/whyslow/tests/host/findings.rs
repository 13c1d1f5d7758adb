//! Findings on a machine by itself.

use crate::world::{START_NGINX, UNTIL_READY, folder, json_within, within};
use crate::{causes, checked, figure, finding};
use std::process::Command;
use whyslow_testing::{Lack, skip};

#[test]
fn a_healthy_machine_is_reported_as_healthy() {
    let script = format!("{START_NGINX} for i in 1 2 3 4 5; do curl -so /dev/null http://127.0.0.1:8080/small; done;");
    let needs = ["nginx", "curl"];
    let Some(printed) = json_within(&needs, &format!("{script} $W --json")) else { return };
    assert_eq!(causes(&printed), [""; 0], "{:#}", printed["findings"]);
    assert!(printed["host"]["namespaces"][0]["sockets"].as_array().unwrap().len() >= 2);
    let folder = folder();
    let output = within(folder.path(), &needs, &format!("{script} $W --process nginx")).unwrap();
    let page = String::from_utf8(output.stdout).unwrap();
    assert!(page.starts_with("Nothing here makes these connections slow"), "{page}");
    assert!(page.contains("looked at Linux") && page.contains("nginx[") && page.contains("2 LISTEN"), "{page}");
}

#[test]
fn unclosed_connections_are_reported_with_their_process() {
    // nginx closes after a second; five seconds later nothing will close them any more.
    let script = format!(
        "{START_NGINX} python3 holds.py & sleep 7
        for i in $(seq 20); do $W --json > look; grep -q '\"cause\": \"close-wait\"' look && break; sleep 1; done; cat look"
    );
    let Some(printed) = json_within(&["nginx", "curl", "python3"], &script) else { return };
    let found = finding(&printed, "close-wait");
    assert_eq!(figure(found, "CLOSE-WAIT"), 3.0);
    assert!(figure(found, "last_ack_recv") >= 5.0);
    assert!(figure(found, "idle before FIN") >= 0.9);
    assert_eq!(found["statement"]["kind"], "held-open");
    let name = found["statement"]["by"]["name"].as_str().unwrap();
    assert!(name.starts_with("python"), "{name}");
    assert_eq!(found["remedies"][0]["actor"], "program");
}

#[test]
fn close_wait_is_watched_from_its_beginning() {
    let folder = folder();
    // It has looked once before there is anything to close.
    let script = format!(
        "{START_NGINX} $W --watch 1s --count 12 --json >watched & watch=$!
        until [ -s watched ]; do sleep 0.1; done; python3 holds.py & wait $watch; cat watched"
    );
    let Some(output) = within(folder.path(), &["nginx", "curl", "python3"], &script) else { return };
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 12);
    let printed = checked(text.lines().last().unwrap());
    assert!(printed["over_s"].as_f64().unwrap() >= 0.9);
    assert!(figure(finding(&printed, "close-wait"), "CLOSE-WAIT, watched") >= 5.0);
    assert_eq!(checked(text.lines().next().unwrap())["over_s"], serde_json::Value::Null);
}

#[test]
fn a_listener_that_overflows_is_named() {
    let script = format!(
        "python3 accepts_none.py & {UNTIL_READY}
        for i in 1 2 3 4 5 6 7 8; do curl -s --max-time 30 http://127.0.0.1:9000/ & done; sleep 5; $W --json"
    );
    let Some(printed) = json_within(&["python3", "curl"], &script) else { return };
    let found = finding(&printed, "listen-overflow");
    assert_eq!(figure(found, "Send-Q (backlog)"), 2.0);
    // One more than the backlog; another may be leaving.
    assert!(figure(found, "Recv-Q") >= 3.0, "{found:#}");
    assert!(figure(found, "drops") >= 1.0);
    assert!(figure(found, "TcpExt.ListenOverflows") >= 1.0);
    assert_eq!(found["statement"]["listener"]["address"], "127.0.0.1:9000");
    assert!(found["confidence"].as_f64().unwrap() >= 0.9, "{found:#}");
    // The network is not involved.
    assert_eq!(causes(&printed), ["listen-overflow"]);
}

#[test]
fn a_silent_host_is_named() {
    // A black hole: its packets go to a device where no host has that address.
    let script = "ip link add hole type veth peer name end; ip link set hole up; ip link set end up;
        ip address add 10.9.9.1/24 dev hole;
        ip neigh add 10.9.9.9 lladdr 02:00:00:00:00:01 dev hole;
        curl -s --max-time 20 http://10.9.9.9/ & sleep 5; $W --json";
    let Some(printed) = json_within(&["curl"], script) else { return };
    if printed["host"]["namespaces"][0]["sockets"].as_array().unwrap().is_empty() {
        return skip(Lack::Machine, "no pair of devices can be made");
    }
    // Members that join the snapshots of many machines.
    let host = &printed["host"];
    assert_eq!(host["namespaces"][0]["addresses"], serde_json::json!(["10.9.9.1"]));
    assert!(host["name"].as_str().unwrap().len() > 1 && host["boot_id"].as_str().unwrap().len() == 36, "{host:#}");
    assert!(host["unix_s"].as_f64().unwrap() > 1.7e9, "{host:#}");
    let found = finding(&printed, "no-answer");
    assert_eq!(
        (&found["statement"]["kind"], &found["statement"]["target"]),
        (&"no-syn-ack".into(), &"10.9.9.9:80".into())
    );
    assert!(found["cost_s"].as_f64().unwrap() >= 2.0);
}

/// A black hole behind a device, and a transfer over the loopback device next to it.
const DEAD_ADDRESS: &str = "
import socket, threading, time
held = []
for port in range(40):
    one = socket.socket()
    one.setblocking(False)
    one.connect_ex(('10.9.9.9', 80 + port))
    held.append(one)
listener = socket.create_server(('127.0.0.1', 9000))
client = socket.create_connection(listener.getsockname())
server, _ = listener.accept()
client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
for _ in range(1000):
    client.sendall(b'x')
    server.recv(1)
time.sleep(9)
open('ready', 'w').close()
time.sleep(60)
";

#[test]
fn syns_to_a_dead_address_are_not_loss() {
    let folder = folder();
    std::fs::write(folder.path().join("dead.py"), DEAD_ADDRESS).unwrap();
    let script = format!(
        "ip link add hole type veth peer name end && ip link set hole up && ip link set end up &&
        ip address add 10.9.9.1/24 dev hole && ip neigh add 10.9.9.9 lladdr 02:00:00:00:00:01 dev hole || exit 77
        python3 dead.py & {UNTIL_READY} $W --json"
    );
    let Some(output) = within(folder.path(), &["python3"], &script) else { return };
    if output.status.code() == Some(77) {
        return skip(Lack::Machine, "no pair of devices can be made");
    }
    let printed = checked(&String::from_utf8(output.stdout).unwrap());
    let counters = &printed["host"]["namespaces"][0]["counters"];
    let [again, sent] = ["Tcp.RetransSegs", "Tcp.OutSegs"].map(|name| counters[name].as_u64().unwrap());
    assert!(again >= 100 && sent >= 1_000 && again * 50 >= sent, "{again} of {sent}");
    let mut causes = causes(&printed);
    causes.dedup();
    assert_eq!(causes, ["no-answer"]);
}

/// Sends for four seconds over the loopback device.
const SENDS: &str = "
import socket, threading, time
listener = socket.create_server(('127.0.0.1', 9000))
def read():
    server, _ = listener.accept()
    while server.recv(65536):
        pass
threading.Thread(target=read, daemon=True).start()
client = socket.create_connection(listener.getsockname())
open('ready', 'w').close()
end = time.time() + 4
while time.time() < end:
    client.sendall(b'x' * 16384)
open('sent', 'w').close()
time.sleep(60)
";

#[test]
fn drops_of_the_own_queue_are_not_reported_as_the_networks() {
    let folder = folder();
    std::fs::write(folder.path().join("sends.py"), SENDS).unwrap();
    let script = "ip link set lo mtu 1500; ethtool -K lo tso off gso off 2>/dev/null
        tc qdisc add dev lo root tbf rate 20mbit burst 10kb limit 20kb || exit 77
        python3 sends.py & for i in $(seq 300); do [ -e sent ] && break; sleep 0.1; done; $W --json";
    let Some(output) = within(folder.path(), &["python3", "tc"], script) else { return };
    if output.status.code() == Some(77) {
        return skip(Lack::Machine, "this kernel has no tbf");
    }
    let printed = checked(&String::from_utf8(output.stdout).unwrap());
    let found = finding(&printed, "qdisc-drops");
    assert!(figure(found, "lo tbf dropped") >= 10.0);
    assert_eq!(found["remedies"][0]["command"], "tc -s qdisc show dev lo");
    assert!(!causes(&printed).iter().any(|cause| cause == "loss" || cause == "lost-retransmission"), "{printed:#}");
}

/// Transfers for twelve seconds as fast as the processors let it.
const AT_FULL_SPEED: &str = "
import socket, threading, time
listener = socket.create_server(('127.0.0.1', 9000))
def read():
    server, _ = listener.accept()
    space = bytearray(1 << 17)
    while server.recv_into(space):
        pass
threading.Thread(target=read, daemon=True).start()
client = socket.create_connection(listener.getsockname())
open('ready', 'w').close()
end = time.time() + 12
while time.time() < end:
    client.sendall(b'x' * (1 << 17))
";

#[test]
fn a_transfer_at_full_speed_on_loopback_is_healthy() {
    let folder = folder();
    std::fs::write(folder.path().join("full.py"), AT_FULL_SPEED).unwrap();
    let script = format!("python3 full.py & {UNTIL_READY} for i in 1 2 3 4 5 6 7 8; do $W --json > look$i; done");
    if within(folder.path(), &["python3"], &script).is_none() {
        return;
    }
    for look in 1..=8 {
        let printed = checked(&std::fs::read_to_string(folder.path().join(format!("look{look}"))).unwrap());
        assert_eq!(causes(&printed), [""; 0], "look {look}: {:#}", printed["findings"]);
    }
}

#[test]
fn thousands_of_sockets_are_a_screen() {
    let folder = folder();
    let script = format!("python3 many.py & {UNTIL_READY} $W; $W --json > all.json");
    let Some(output) = within(folder.path(), &["python3"], &script) else { return };
    let page = String::from_utf8(output.stdout).unwrap();
    assert!(page.lines().count() <= 50, "{page}");
    assert!(page.contains("2,001 sockets") && page.contains("more peers"), "{page}");
    let printed = checked(&std::fs::read_to_string(folder.path().join("all.json")).unwrap());
    assert_eq!(printed["host"]["namespaces"][0]["sockets"].as_array().unwrap().len(), 2_001);
    assert!(printed["peers"].as_array().unwrap().len() >= 100);
}

#[test]
fn without_root_missing_parts_are_reported() {
    let folder = folder();
    // All users may look at it, and start it.
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), permissions).unwrap();
    let program = folder.path().join("whyslow");
    std::fs::copy(env!("CARGO_BIN_EXE_whyslow"), &program).unwrap();
    let is_root = rustix::process::geteuid().is_root();
    let mut command = if is_root { Command::new("setpriv") } else { Command::new(&program) };
    if is_root {
        if !whyslow_testing::tools(&["setpriv"]) {
            return;
        }
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&program);
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let output = command.args(["host", "--json"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = checked(&String::from_utf8(output.stdout).unwrap());
    let port = listener.local_addr().unwrap().to_string();
    let sockets = printed["host"]["namespaces"][0]["sockets"].as_array().unwrap();
    let own = sockets.iter().find(|socket| socket["local"] == *port).unwrap();
    if is_root {
        assert_eq!(own["owners"].as_array().unwrap().len(), 0);
        let missing = printed["host"]["missing"].as_array().unwrap();
        assert!(missing.iter().any(|missing| missing["what"].as_str().unwrap().contains("processes")), "{missing:?}");
    }
}
