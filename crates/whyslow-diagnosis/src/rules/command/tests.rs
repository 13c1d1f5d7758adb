#![allow(clippy::unwrap_used)]
use super::*;

#[test]
fn buffer_is_sized_for_the_given_path_rate() {
    let scene = crate::rules::synthetic_transfer::SyntheticTransfer::flights(&[60_000; 20]);
    let needed = |path_rate| {
        scene.judge(|view| {
            let context = crate::estimate::Context { path_rate, ..view.context };
            buffer_for(&TransferView { context, ..*view }).unwrap()
        })
    };
    // Twice 20 Mbit/s over 100 ms, in steps of 64 KiB.
    let given = needed(Some(20e6));
    assert_eq!((given.bytes, given.rate, given.sized_by), (524_288, RateSource::Given, SizedBy::BandwidthDelay));
    let guess = needed(None);
    assert_eq!((guess.bytes, guess.rate), (983_040, RateSource::Guess), "eight times the measured rate");
}
