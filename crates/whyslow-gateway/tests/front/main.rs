//! The endpoint that clients see: hostile clients of our own, and real ones.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod backend;
mod client;
mod forms;
mod hostile;
mod limits;
mod nightly;
mod objects;
mod programs;
mod rights;
mod server;
mod store_suite;
mod torn;
mod transfers;
mod uploads;

/// Bytes that differ from place to place.
fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|n| (n ^ n >> 8 ^ n >> 16) as u8).collect()
}

/// Objects in the bucket, without the gateway's own.
fn files(server: &server::Server) -> usize {
    let is_ours = |entry: &std::fs::DirEntry| entry.file_name() == ".whyslow-gateway";
    std::fs::read_dir(server.stored("")).unwrap().filter(|entry| !is_ours(entry.as_ref().unwrap())).count()
}

/// Waits until the condition holds; it does not measure time.
fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..2000 {
        if holds() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("not within 20 s: {what}");
}
