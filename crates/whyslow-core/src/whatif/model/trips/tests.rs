use super::*;

#[test]
fn follows_round_trips_as_rfc_6298_says() {
    let ms = Nanos::from_millis;
    let mut trips = Trips::new(ms(80));
    assert_eq!(trips.timer(), ms(80 + 200), "never less than Linux' least");
    trips.measure(ms(160));
    // 7/8 and 1/8; 3/4 and 1/4 of how far off it was.
    assert_eq!((trips.smooth(), trips.variation), (ms(90), ms(50)));
    assert_eq!(trips.patience(), ms(90 + 20), "a quarter of the least");
    for _ in 0..200 {
        trips.measure(ms(400));
    }
    assert!((trips.smooth() - ms(400)).0.abs() < 10 && trips.variation.0 < 10, "{trips:?}");
}

#[test]
fn the_longest_round_trip_overflows_nothing() {
    let mut trips = Trips::new(Nanos(1));
    for rtt in [super::super::LATEST, Nanos(0), super::super::LATEST] {
        trips.measure(rtt);
        assert!(trips.timer() > LEAST_TIMER && trips.patience() >= trips.smooth());
    }
}
