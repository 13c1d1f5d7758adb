//! Many clients at once, and one bound of memory.

use super::pattern;
use super::running::{Place, ask};
use serde_json::Value;
use std::thread;

/// What all requests hold together, and what the program takes besides for itself and for 200
/// connections.
const BOUND: u64 = 64 << 20;
const BESIDES: u64 = 256 << 20;
const CLIENTS: usize = 200;
/// Twenty times the bound in all.
const BYTES: usize = 7_000_000;

#[test]
fn two_hundred_clients_share_one_bound_of_memory() {
    let place = Place::new();
    let gateway = place.serve(&["--memory", "64MiB"]);
    assert_eq!(gateway.ask("PUT", "/photos", b"").0, 200);
    let address = gateway.address;
    let (body, shared) = (pattern(BYTES, 1), std::sync::Barrier::new(CLIENTS));
    thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (body, shared) = (&body, &shared);
            scope.spawn(move || {
                shared.wait();
                // Twenty keys, so that the disk holds no more than it must.
                let path = format!("/photos/{}", client % 20);
                assert_eq!(ask(address, "PUT", &path, body).unwrap().0, 200);
                let (status, came) = ask(address, "GET", &path, b"").unwrap();
                assert!(status == 200 && came == *body);
            });
        }
    });
    let report: Value = serde_json::from_str(&gateway.administration("/stats").1).unwrap();
    let memory = |name: &str| report["memory"][name].as_u64().unwrap();
    assert_eq!((memory("limit"), memory("in_use")), (BOUND, 0));
    let peak = memory("peak");
    assert!(peak > 0 && peak <= BOUND, "{peak}");
    assert!(gateway.most_memory() <= BOUND + BESIDES, "{} B", gateway.most_memory());
    assert_eq!(gateway.close_waits(), 0);
    gateway.end();
}
