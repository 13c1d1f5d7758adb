//! More packets than can be taken.

use crate::flood::{ROUND, run};
use crate::net::{in_namespace, options};
use std::time::Duration;
use whyslow_live::watch::RingOptions;

#[test]
fn at_overload_every_packet_is_taken_or_counted_as_dropped() {
    in_namespace(|| {
        if !whyslow_testing::tools(&["ethtool"]) {
            return;
        }
        let packets = 120 * ROUND;
        let filter = Some("tcp port 80".to_owned()).filter(|_| whyslow_testing::tools(&["tcpdump"]));
        let options = RingOptions { size: 256 << 10, filter, ..options(&["left"]) };
        let run = run(&options, packets, 1000, Duration::from_millis(50));
        let counts = run.counts;
        assert!(counts.ring_drops > 0 && counts.ring_full > 0, "{counts:?}");
        assert_eq!(run.recorder.counts().packets, counts.packets);
        assert!(run.recorder.memory() <= 64 << 20);
    });
}
