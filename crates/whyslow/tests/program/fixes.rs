//! Printed commands: complete, valid in a shell, and with the effect on a real kernel that the fix
//! describes.

use crate::common;
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

/// Every command of a fix over all samples, with its cause.
fn commands() -> BTreeMap<String, String> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples");
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "pcap") {
            collect(&common::explain(&path), &mut found);
        }
    }
    found
}

fn collect(value: &Value, found: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(map) => {
            if let (Some(cause), Some(command)) = (
                map.get("cause"),
                map.get("remedies")
                    .and_then(|all| all.as_array()?.iter().find_map(|one| one["commands"]["linux"].as_str())),
            ) {
                found.insert(command.to_owned(), cause.as_str().unwrap().to_owned());
            }
            map.values().for_each(|value| collect(value, found));
        }
        Value::Array(all) => all.iter().for_each(|value| collect(value, found)),
        _ => {}
    }
}

fn is_c(command: &str) -> bool {
    command.starts_with("setsockopt(")
}

#[test]
fn commands_are_whole() {
    let found = commands();
    assert!(found.len() > 12, "{found:?}");
    for (command, cause) in &found {
        if is_c(command) {
            continue;
        }
        let status = Command::new("sh").args(["-n", "-c", command]).status().unwrap();
        assert!(status.success(), "{cause}: {command}");
        assert!(!command.contains("GATEWAY"), "{cause}: {command}");
        // Only queues of routers, whose interfaces no capture shows.
        assert!(!command.contains("DEV") || ["bufferbloat", "ecn"].contains(&cause.as_str()), "{cause}: {command}");
        // An absolute setting lowers a larger value.
        let outright = ["rmem=\"4", "wmem=\"4"].iter().any(|set| command.contains(set));
        assert!(!outright, "{cause}: {command}");
    }
}

/// In a network of its own, with a route that leads nowhere.
fn alone(script: &str) -> Option<String> {
    let host = "ip link set lo up; ip link add d0 type veth peer name d1; ip link set d1 up; ip link set d0 up; \
                ip addr add 192.0.2.2/24 dev d0; ip route add default via 192.0.2.1";
    let output = Command::new("unshare").args(["-n", "sh", "-ec", &format!("{host}; {script}")]).output().unwrap();
    if !output.status.success() {
        eprintln!("{}", String::from_utf8_lossy(&output.stderr));
    }
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
}

#[test]
fn commands_have_their_effect_on_this_kernel() {
    if !whyslow_testing::tools(&["unshare", "ip", "sysctl"]) {
        return;
    }
    if alone("true").is_none() {
        whyslow_testing::skip(whyslow_testing::Lack::Device, "no network of its own may be made here");
        return;
    }
    let mut tried = 0;
    for (command, cause) in commands() {
        if command.starts_with("sysctl") && command.contains("mem=") {
            let name = if command.contains("rmem") { "net.ipv4.tcp_rmem" } else { "net.ipv4.tcp_wmem" };
            let script = format!("sysctl -n {name}; {command} >/dev/null; sysctl -n {name}");
            let printed = alone(&script).unwrap_or_else(|| panic!("{cause}: {command}"));
            let values = |line: &str| line.split_whitespace().map(|n| n.parse::<u64>().unwrap()).collect::<Vec<_>>();
            let [before, after] = [0, 1].map(|nth| values(printed.lines().nth(nth).unwrap()));
            assert!(
                before.iter().zip(&after).all(|(before, after)| before <= after),
                "{cause}: {before:?} to {after:?}"
            );
            tried += 1;
        } else if command.starts_with("ip route change") {
            let printed =
                alone(&format!("{command}; ip route show default")).unwrap_or_else(|| panic!("{cause}: {command}"));
            let attribute = command.rsplit(") ").next().unwrap();
            let locked = attribute.replace("500ms", "lock 500ms");
            assert!(printed.contains(attribute) || printed.contains(&locked), "{cause}: {command}: {printed}");
            assert!(printed.contains("via 192.0.2.1 dev d0"), "{printed}");
            tried += 1;
        } else if command.starts_with("sysctl") && !command.contains("congestion") {
            alone(&command).unwrap_or_else(|| panic!("{cause}: {command}"));
            tried += 1;
        }
    }
    assert!(tried > 5);
}
