//! `ping`, `mtr`, `traceroute`.

use super::*;

#[test]
fn pings_of_three_systems_are_read() {
    healthy(
        "PING a.example (192.0.2.1) 56(84) bytes of data.\n64 bytes from 192.0.2.1: icmp_seq=1 ttl=57 time=14.1 ms\n\
         --- a.example ping statistics ---\n10 packets transmitted, 10 received, 0% packet loss, time 9012ms\n\
         rtt min/avg/max/mdev = 13.102/14.400/17.001/0.220 ms\n",
    );
    let mac = "120 packets transmitted, 108 packets received, 10.0% packet loss\nround-trip min/avg/max/stddev = 11.1/12.2/19.3/1.4 ms\n";
    assert_eq!(causes(mac), ["loss"]);
    let windows = "Pinging 192.0.2.1 with 32 bytes of data:\nReply from 192.0.2.1: bytes=32 time=14ms TTL=57\n\n\
                   Packets: Sent = 4, Received = 4, Lost = 0 (0% loss),\n    Minimum = 14ms, Maximum = 340ms, Average = 95ms\n";
    assert_eq!(causes(windows), ["bufferbloat"]);
    let silent = subject("5 packets transmitted, 0 received, 100% packet loss, time 4090ms\n");
    assert!(silent.findings[0].confidence < 0.5);
}

const HEAD: &str = "HOST: me                       Loss%   Snt   Last   Avg  Best  Wrst StDev\n";

#[test]
fn loss_that_ends_between_is_not_a_fault() {
    let text = format!(
        "{HEAD}  1.|-- 192.168.2.1                0.0%    60    0.7   0.9   0.4   3.8   0.5\n  2.|-- ???                       100.0    60    0.0   0.0   0.0   0.0   0.0\n  \
         3.|-- 198.51.100.1              60.0%    60   12.3  12.5  11.9  14.8   0.4\n  4.|-- 203.0.113.9                0.0%    60   13.0  13.3  12.4  20.7   0.4\n"
    );
    healthy(&text);
    assert!(subject(&text).gaps.contains(&Limitation::HopsLimitReplies));
}

#[test]
fn loss_that_stays_is_named_with_its_hop() {
    let text = format!(
        "> {HEAD}>   1.|-- 192.168.2.1     0.0%   200    0.7   0.9   0.4   3.8   0.5\n>   2.|-- 198.51.100.1   12.0%   200   12.3  12.5  11.9  14.8   0.4\n>   \
         3.|-- 203.0.113.9    11.5%   200   13.0  13.3  12.4  20.7   0.4\n"
    );
    let from = Some("198.51.100.1".to_owned());
    assert_eq!(subject(&text).findings[0].statement, Statement::ProbesLost { share: 0.115, of: 200.0, from });
}

#[test]
fn hop_that_adds_most_of_the_round_trip_is_named() {
    let text = "traceroute to a.example (203.0.113.9), 30 hops max, 60 byte packets\n 1  gw (192.168.1.1)  0.512 ms  0.498 ms  0.601 ms\n \
                2  * * *\n 3  r1.example (198.51.100.1)  9.1 ms  9.4 ms  9.2 ms\n 4  r2.example (198.51.100.9)  92.2 ms  92.1 ms  92.4 ms\n \
                5  203.0.113.9 (203.0.113.9)  93.0 ms  93.2 ms  92.9 ms\n";
    let finding = &subject(text).findings[0];
    assert!(matches!(&finding.statement, Statement::Jump { hop, .. } if hop == "r2.example"), "{finding:?}");
}

#[test]
fn slow_reply_of_one_hop_alone_is_not_a_fault() {
    healthy(
        "Tracing route to a.example [203.0.113.9]\n\n  1    <1 ms    <1 ms    <1 ms  192.168.1.1\n  2   140 ms   151 ms   139 ms  198.51.100.1\n  \
         3    11 ms    12 ms    11 ms  203.0.113.9\n",
    );
}
