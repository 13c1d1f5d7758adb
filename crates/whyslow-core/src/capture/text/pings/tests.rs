#![allow(clippy::unwrap_used)]

use super::super::tests::{read, try_read};
use crate::capture::Ping;
use whyslow_units::Nanos;

fn ping(text: &str) -> Ping {
    let mut pings = read(text).summary.pings;
    assert_eq!(pings.len(), 1, "{pings:?}");
    pings.remove(0)
}

fn micros(ping: &Ping) -> Option<[i64; 3]> {
    ping.round_trips.map(|times| times.map(|time| time.0 / 1_000))
}

const LINUX: &str = "$ ping -c 4 www.example.com\n\
    PING www.example.com (192.0.2.9) 56(84) bytes of data.\n\
    64 bytes from 192.0.2.9: icmp_seq=1 ttl=56 time=11.6 ms\n\
    64 bytes from 192.0.2.9: icmp_seq=2 ttl=56 time=12.2 ms\n\
    64 bytes from 192.0.2.9: icmp_seq=2 ttl=56 time=19.0 ms (DUP!)\n\
    64 bytes from 192.0.2.9: icmp_seq=4 ttl=56 time=11.9 ms\n";

#[test]
fn ping_output_is_read() {
    let shown = ping(LINUX);
    assert_eq!((shown.to.as_str(), shown.from.as_deref()), ("www.example.com", None));
    assert_eq!((shown.sent, shown.received), (Some(4), Some(3)));
    assert_eq!(micros(&shown), Some([11_600, 11_900, 12_200]));
}

#[test]
fn ping_counts_take_precedence_over_lines() {
    let whole = ping(&format!(
        "{LINUX}\n--- www.example.com ping statistics ---\n\
         40 packets transmitted, 38 received, 5% packet loss, time 39005ms\n\
         rtt min/avg/max/mdev = 11.511/11.702/31.001/0.214 ms\n"
    ));
    assert_eq!((whole.sent, whole.received), (Some(40), Some(38)));
    assert_eq!(micros(&whole), Some([11_511, 11_702, 31_001]));
}

#[test]
fn omitted_lines_make_the_loss_unknown() {
    let cut = ping(&format!("{LINUX}...\n64 bytes from 192.0.2.9: icmp_seq=99 ttl=56 time=11.0 ms\n"));
    assert_eq!((cut.sent, cut.received), (None, None));
    assert_eq!(micros(&cut).unwrap()[0], 11_000);
}

#[test]
fn other_systems() {
    let mac = ping(
        "PING example.com (192.0.2.9): 56 data bytes\n\
         64 bytes from 192.0.2.9: icmp_seq=0 ttl=56 time=10.000 ms\n\
         Request timeout for icmp_seq 1\n\
         64 bytes from 192.0.2.9: icmp_seq=2 ttl=56 time=20.000 ms\n\
         3 packets transmitted, 2 packets received, 33.3% packet loss\n\
         round-trip min/avg/max/stddev = 10.000/15.000/20.000/5.000 ms\n",
    );
    assert_eq!((mac.sent, mac.received, micros(&mac)), (Some(3), Some(2), Some([10_000, 15_000, 20_000])));
    let windows = ping(
        "Pinging example.com [192.0.2.9] with 32 bytes of data:\n\
         Reply from 192.0.2.9: bytes=32 time=11ms TTL=56\n\
         Request timed out.\n\
         Reply from 192.0.2.9: bytes=32 time<1ms TTL=56\n",
    );
    assert_eq!((windows.to.as_str(), windows.sent, windows.received), ("example.com", Some(3), Some(2)));
    let counted = ping(
        "Reply from 192.0.2.9: bytes=32 time=11ms TTL=56\n\n\
         Ping statistics for 192.0.2.9:\n    Packets: Sent = 4, Received = 3, Lost = 1 (25% loss),\n\
         Approximate round trip times in milli-seconds:\n    Minimum = 11ms, Maximum = 14ms, Average = 12ms\n",
    );
    assert_eq!((counted.sent, counted.received), (Some(4), Some(3)));
    assert_eq!(micros(&counted), Some([11_000, 12_000, 14_000]));
}

#[test]
fn echoes_among_packets() {
    let line = |ms: u32, what: &str| format!("10:00:{:02}.{:03}000 IP {what}, length 64\n", ms / 1000, ms % 1000);
    let ask = |ms, seq| line(ms, &format!("10.0.x.y > 192.0.2.9: ICMP echo request, id 7, seq {seq}"));
    let answer = |ms, seq| line(ms, &format!("192.0.2.9 > 10.0.x.y: ICMP echo reply, id 7, seq {seq}"));
    let text = [ask(0, 1), answer(20, 1), ask(1000, 2), ask(2000, 3), answer(2030, 3), ask(3000, 4)].concat();
    let seen = ping(&text);
    assert_eq!((seen.from.as_deref(), seen.to.as_str()), (Some("10.0.x.y"), "192.0.2.9"));
    // The response to the last one may come after the end of the text.
    assert_eq!((seen.sent, seen.received), (Some(3), Some(2)));
    assert_eq!(micros(&seen), Some([20_000, 25_000, 30_000]));
    let v6 = ping(
        "10:00:00.1 IP6 2001:db8::1 > 2001:db8::9: ICMP6, echo request, id 3, seq 1, length 64\n\
         10:00:00.2 IP6 2001:db8::9 > 2001:db8::1: ICMP6, echo reply, id 3, seq 1, length 64\n",
    );
    assert_eq!((v6.sent, v6.received, v6.round_trips.unwrap()[0]), (Some(1), Some(1), Nanos::from_millis(100)));
}

#[test]
fn ping_output_is_accepted_and_prose_is_not() {
    assert_eq!(try_read(LINUX.as_bytes(), 3).unwrap().summary.packets, 0);
    assert!(try_read(b"64 packets transmitted, and none came back.\nPING me.\n", 3).is_err());
}
