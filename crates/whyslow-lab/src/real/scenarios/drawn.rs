//! The parts of a drawn row: a path and two programs.

use super::super::programs::Program;
use crate::draws::{Chance, Setting, bits, bytes, ms, set, verify};

/// One run.
#[derive(Clone, Debug)]
pub(crate) struct DrawnRun {
    pub settings: Vec<Setting>,
    pub server: Program,
    pub client: Program,
}

/// Words by which fixes name a program's own settings: how fast it reads, …
pub(super) const READ_FASTER: &str = "read faster";
/// … the condition that it waits for while it writes, …
pub(super) const BETWEEN: &str = "between";
/// … and that it asks for one thing after the other.
pub(super) const PIPELINE: &str = "batch or pipeline";

/// A path that no transfer fills.
pub(super) fn wide(rtt: f64) -> Vec<Setting> {
    let mut all = on_the_way(rtt);
    for direction in ["up", "down"] {
        all.extend([
            set(&format!("path.{direction}.rate"), "500mbit"),
            set(&format!("path.{direction}.queue"), "20MB"),
        ]);
    }
    all
}

/// A path whose rate is soon reached, in the direction named; the queue holds what passes in this
/// many seconds.
pub(super) fn tight(direction: &str, rtt: f64, rate: f64, queue: f64) -> Vec<Setting> {
    let mut all = on_the_way(rtt);
    let queue = (rate / 8.0 * queue).max(16.0 * 1514.0);
    all.extend([
        set(&format!("path.{direction}.rate"), bits(rate)),
        set(&format!("path.{direction}.queue"), bytes(queue)),
    ]);
    all
}

/// A round trip.
pub(super) fn on_the_way(rtt: f64) -> Vec<Setting> {
    vec![set("path.rtt", ms(rtt))]
}

/// A receiver whose buffer starts large.
pub(super) fn open(host: &str) -> Vec<Setting> {
    vec![set(&format!("{host}.tcp_rmem"), r#"["4KiB", "4MiB", "16MiB"]"#), set(&format!("{host}.initrwnd"), "1000")]
}

/// The client sends the payload.
pub(super) fn towards_the_server() -> Setting {
    set("work.upload.size", "1B")
}

/// A usual link, and the bytes that fill it for some seconds.
pub(super) fn full(chance: &mut Chance, direction: &str) -> (Vec<Setting>, f64, f64) {
    let (rtt, rate) = (chance.between(0.015, 0.06), chance.between(4e6, 40e6));
    let queue = chance.between(0.02, 0.05);
    let mut all = tight(direction, rtt, rate, queue);
    let claim = format!("{direction}.throughput >= {}", bits(0.6 * rate));
    all.push(verify(&[&claim]));
    (all, rate, rate / 8.0 * chance.between(4.0, 5.0))
}
