use super::*;

#[test]
fn rto_follows_rfc_6298() {
    let ms = Nanos::from_millis;
    let mut trips = RttEstimator::new(ms(80));
    assert_eq!(trips.rto(), ms(80 + 200), "never less than Linux' least");
    trips.on_sample(ms(160));
    // 7/8 and 1/8; 3/4 and 1/4 of how far off it was.
    assert_eq!((trips.srtt(), trips.rttvar), (ms(90), ms(50)));
    assert_eq!(trips.reordering_window(), ms(90 + 20), "a quarter of the least");
    for _ in 0..200 {
        trips.on_sample(ms(400));
    }
    assert!((trips.srtt() - ms(400)).0.abs() < 10 && trips.rttvar.0 < 10, "{trips:?}");
}

#[test]
fn longest_round_trip_does_not_overflow() {
    let mut trips = RttEstimator::new(Nanos(1));
    for rtt in [super::super::MAX_LENGTH, Nanos(0), super::super::MAX_LENGTH] {
        trips.on_sample(rtt);
        assert!(trips.rto() > RTO_MIN && trips.reordering_window() >= trips.srtt());
    }
}
