#![allow(clippy::unwrap_used)]

use super::{CarriedWindow, grown};
use crate::estimate::synthetic_transfer::{MSS, context, flights, gap};
use crate::limit::attribute_time;
use whyslow_core::tcp::facts::{Loss, Release, TransferFacts};
use whyslow_units::Time;

fn over(transfers: &[&TransferFacts]) -> CarriedWindow {
    let context = context(100);
    let all: Vec<_> = transfers.iter().map(|&transfer| (transfer, attribute_time(transfer, &context))).collect();
    CarriedWindow::over(&all, &context).unwrap()
}

/// Slow start from ten segments on.
fn doubling() -> TransferFacts {
    flights(&[10 * MSS, 20 * MSS, 40 * MSS, 80 * MSS, 57 * MSS], Release::Ack)
}

#[test]
fn window_grows_by_one_up_to_twice_the_flight() {
    let unbounded = |window, segments| grown(window, segments, f64::INFINITY);
    assert_eq!(unbounded(10.0, 150.0), 160.0, "10 + 20 + 40 + 80 segments");
    assert_eq!(unbounded(10.0, 418.0), 428.0, "108 of the last ACKs find 214 segments in flight at most");
    assert_eq!(unbounded(10.0, 3.0), 10.0, "a window of which so little is used does not grow");
    assert_eq!(unbounded(10.0, 8.0), 16.0);
    assert_eq!(unbounded(500.0, 400.0), 800.0);
    assert_eq!(grown(10.0, 1000.0, 30.0), 60.0, "the receiver lets no more out");
}

#[test]
fn window_grows_across_transfers() {
    let one = over(&[&doubling()]);
    assert_eq!(one, CarriedWindow { cwnd: 10.0 + 207.0, grows: true });
    let two = over(&[&doubling(), &doubling()]);
    assert_eq!(two, CarriedWindow { cwnd: 2.0 * 207.0, grows: true }, "all 207 were in flight at once");
}

#[test]
fn small_messages_do_not_grow_the_window() {
    let small = flights(&[2 * MSS], Release::Ack);
    assert_eq!(over(&[&small; 40]).cwnd, 10.0);
}

#[test]
fn silences_separate_flights_within_a_transfer() {
    let mut parted = flights(&[4 * MSS; 30], Release::Ack);
    assert!(over(&[&parted]).cwnd > 100.0);
    for (n, silence) in (1..).zip(&mut parted.pauses) {
        *silence = gap(Time::from_millis(100 * n), Time::from_millis(100 * n + 90), Release::Nothing);
        (silence.idle, silence.snd_max) = (true, 1 + 4 * MSS * n as u64);
    }
    assert!(over(&[&parted]).cwnd <= 10.0, "twice what was in flight, or the window at first");
}

#[test]
fn loss_ends_growth() {
    let mut lossy = doubling();
    lossy.losses.push(Loss { seq: 10 * MSS, bytes: MSS, ..Loss::default() });
    let after = over(&[&lossy, &doubling()]);
    assert_eq!(
        after,
        CarriedWindow { cwnd: 80.0, grows: false },
        "of 80 in flight 56 are left, and 80 were seen again"
    );
    let needless = Loss { spurious: true, ..lossy.losses[0] };
    lossy.losses = vec![needless];
    assert!(over(&[&lossy]).grows);
}

#[test]
fn receive_window_bounds_the_carried_window() {
    let mut bounded = doubling();
    bounded.rounds.iter_mut().for_each(|round| round.window = Some(50 * MSS));
    bounded.max_in_flight = 50 * MSS;
    assert_eq!(over(&[&bounded]).cwnd, 100.0);
}
