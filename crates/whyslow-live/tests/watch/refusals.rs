//! Sources that cannot be watched, and the error messages.

use crate::net::{in_namespace, ip, options};
use std::time::Duration;
use whyslow_live::watch::{Ring, RingOptions};

/// The error message if nothing can be opened.
#[track_caller]
fn open_error(options: &RingOptions) -> String {
    Ring::open(options).unwrap_err().to_string()
}

#[test]
fn a_missing_interface_is_reported_with_the_existing_ones() {
    in_namespace(|| {
        ip("link add dull type veth peer name peer");
        assert_eq!(open_error(&options(&["eth7"])), "there is no interface `eth7`; there are lo, peer, dull");
        assert_eq!(
            open_error(&options(&["lo", "an interface"])),
            "there is no interface `an interface`; there are lo, peer, dull"
        );
    });
}

#[test]
fn options_have_bounds() {
    let with = |change: fn(&mut RingOptions)| {
        let mut options = options(&[]);
        change(&mut options);
        open_error(&options)
    };
    let least = "the ring's size is 100000 bytes: it must be 131072 to 4294967295 bytes";
    assert_eq!(with(|options| options.size = 100_000), least);
    let longest =
        "the snaplen is 262145 bytes: it must be 64 to 262144 bytes, for the headers and no more than a packet";
    assert_eq!(with(|options| options.snaplen = 262_145), longest);
    let hold = "the longest time that packets are held back is 2s: it must be 1 to 1000 ms";
    assert_eq!(with(|options| options.hold = Duration::from_secs(2)), hold);
}

#[test]
fn a_wrong_filter_is_refused_before_anything_is_opened() {
    if !whyslow_testing::tools(&["tcpdump"]) {
        return;
    }
    let filter = Some("tcp port nowhere".to_owned());
    let expected = "the filter is not understood: unknown port 'nowhere'\n  tcp port nowhere\n           ^^^^^^^";
    assert_eq!(open_error(&RingOptions { filter, ..options(&["lo"]) }), expected);
}

#[test]
fn a_filter_that_the_kernel_cannot_run_is_refused() {
    in_namespace(|| {
        if !whyslow_testing::tools(&["tcpdump"]) {
            return;
        }
        let filter = Some("ip6 protochain 6".to_owned());
        let error = open_error(&RingOptions { filter, ..options(&["lo"]) });
        assert!(error.contains("`ip6 protochain 6` cannot be used here"), "{error}");
    });
}
