//! Several network namespaces at once.

use crate::world::{folder, within};
use crate::{causes, checked};
use serde_json::Value;
use whyslow_testing::{Lack, skip};

/// Opens a connection to itself, whose one end it closes: the other stays in CLOSE_WAIT. Then it
/// makes the file that its argument names.
const HALF_CLOSED: &str = "
import socket, sys, time
listener = socket.create_server(('127.0.0.1', int(sys.argv[2])))
client = socket.create_connection(listener.getsockname())
client.sendall(b'x')
server, _ = listener.accept()
client.close()
time.sleep(0.5)
open(sys.argv[1], 'w').close()
time.sleep(60)
";

/// Ports of a namespace's sockets, here.
fn local_ports(namespace: &Value) -> Vec<String> {
    let sockets = namespace["sockets"].as_array().into_iter().flatten();
    sockets.filter_map(|socket| Some(socket["local"].as_str()?.rsplit(':').next()?.to_owned())).collect()
}

#[test]
fn all_of_them_are_read_each_with_its_own_sockets() {
    let folder = folder();
    std::fs::write(folder.path().join("half_closed.py"), HALF_CLOSED).unwrap();
    let script = "for n in 1 2; do
            unshare --net sh -c \"ip link set lo up; exec python3 half_closed.py ready$n 900$n\" &
        done
        for i in $(seq 300); do [ -e ready1 -a -e ready2 ] && break; sleep 0.1; done
        sleep 6; $W --netns all --json > all.json; $W --json > own.json; $W --netns all";
    let Some(output) = within(folder.path(), &["python3"], script) else { return };
    let complaint = String::from_utf8_lossy(&output.stderr);
    if !folder.path().join("ready2").exists() {
        return skip(Lack::Machine, complaint);
    }
    assert!(output.status.success(), "{complaint}");
    let read = |name: &str| checked(&std::fs::read_to_string(folder.path().join(name)).unwrap());
    let (all, own) = (read("all.json"), read("own.json"));
    let namespaces = all["host"]["namespaces"].as_array().unwrap();
    for port in ["9001", "9002"] {
        let with: Vec<_> = namespaces.iter().filter(|one| local_ports(one).iter().any(|local| local == port)).collect();
        assert_eq!(with.len(), 1, "{port}");
        let other = if port == "9001" { "9002" } else { "9001" };
        assert!(!local_ports(with[0]).iter().any(|local| local == other));
    }
    assert_eq!(local_ports(&own["host"]["namespaces"][0]), [""; 0], "nothing is in the own one");
    // Each has its finding, which names the namespace and how to enter it.
    let found = all["findings"].as_array().unwrap().iter().filter(|found| found["cause"] == "close-wait");
    let places: Vec<_> =
        found.map(|found| (found["namespace"].as_str(), found["remedies"][0]["command"].as_str())).collect();
    assert_eq!(places.len(), 2, "{:#}", all["findings"]);
    assert!(places.iter().all(|(place, _)| place.is_some()) && places[0].0 != places[1].0, "{places:?}");
    let enters = |command: &str| command.starts_with("nsenter ") || command.starts_with("ip netns exec ");
    assert!(places.iter().all(|(_, command)| command.is_some_and(enters)), "{places:?}");
    assert_eq!(causes(&own), [""; 0], "{:#}", own["findings"]);
    let page = String::from_utf8(output.stdout).unwrap();
    assert!(page.contains("close-wait"), "{page}");
}
