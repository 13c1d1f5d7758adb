#![allow(clippy::unwrap_used)]
use super::*;

#[test]
fn kernel_timestamps_are_put_on_the_runs_clock() {
    let epoch = Epoch::now();
    let clock = Clock::new(epoch);
    std::thread::sleep(std::time::Duration::from_millis(3));
    let real = read_clock(libc::CLOCK_REALTIME);
    let at = clock.at_realtime(real - 2_000_000);
    assert!(at.abs_diff(clock.now() - 2_000_000) < 1_000_000, "{at}");
}

#[test]
fn a_stepped_clock_counts_as_now() {
    let clock = Clock::new(Epoch::now());
    let real = read_clock(libc::CLOCK_REALTIME);
    for wrong in [real + 5_000_000_000, real - 5_000_000_000, 0, u64::MAX] {
        let (before, at) = (clock.now(), clock.at_realtime(wrong));
        assert!((before..=clock.now()).contains(&at), "{wrong}");
    }
}
