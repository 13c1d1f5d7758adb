//! How many packets the ring and the recorder take, of a flood between two namespaces:
//! `cargo bench -p whyslow-live`. It wants root, and a machine that does nothing else.
#![allow(clippy::unwrap_used, missing_docs)]

#[cfg(not(target_os = "linux"))]
fn main() {}

// Shared with the tests, which use more of them.
#[cfg(target_os = "linux")]
#[path = "../tests/watch/flood.rs"]
mod flood;
#[cfg(target_os = "linux")]
#[allow(dead_code)]
#[path = "../tests/watch/net.rs"]
mod net;
#[cfg(target_os = "linux")]
#[allow(dead_code)]
#[path = "../tests/watch/sys.rs"]
mod sys;

#[cfg(target_os = "linux")]
fn main() {
    use std::io::Write;
    use std::time::Duration;
    use whyslow_live::watch::{RingCounts, RingOptions};

    net::in_namespace(|| {
        flood::renice(-10);
        for interfaces in [&["left"][..], &[]] {
            for payload in [100, 1448] {
                let options = RingOptions { size: 64 << 20, ..net::options(interfaces) };
                let packets = 4000 * flood::ROUND;
                let run = flood::run(&options, packets, payload, Duration::ZERO);
                let RingCounts { packets: taken, ring_drops, interface_drops, .. } = run.counts;
                let rate = packets as f64 / run.sending.as_secs_f64();
                let each = run.computing.as_nanos() as f64 / taken as f64;
                let text = format!(
                    "{interfaces:?}, {payload} B of payload: {packets} packets sent in {:.2?} ({rate:.0}/s), {taken} taken, \
                     {ring_drops} dropped by the ring, {interface_drops} before it; ring and recorder {each:.0} ns a packet \
                     ({:.0}/s on one core)\n",
                    run.sending,
                    1e9 / each
                );
                std::io::stdout().write_all(text.as_bytes()).unwrap();
            }
        }
    });
}
