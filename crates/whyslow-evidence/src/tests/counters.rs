//! `nstat`, `netstat -s`, `/proc/net/netstat`.

use super::*;

#[test]
fn overflows_and_losses_of_netstat_are_named() {
    let text = "\
Tcp:
    48211 active connections openings
    902113 passive connection openings
    5120043 segments received
    7410032 segments send out
    188210 segments retransmited
TcpExt:
    22438 times the listen queue of a socket overflowed
    22438 SYNs to LISTEN sockets dropped
    TCPTimeouts: 41200
    TCPSynRetrans: 40
";
    assert_eq!(causes(text), ["listen-overflow", "loss", "timeout"]);
    assert!(subject(text).gaps.contains(&Limitation::SinceBoot));
}

#[test]
fn usual_counts_are_healthy() {
    healthy(
        "#kernel\nTcpActiveOpens 120 0.0\nTcpPassiveOpens 90 0.0\nTcpInSegs 120031 0.0\nTcpOutSegs 130022 0.0\n\
         TcpRetransSegs 23 0.0\nTcpExtTCPTimeouts 3 0.0\nTcpExtListenOverflows 0 0.0\nTcpExtTW 300 0.0\nTcpExtTCPLossProbes 12 0.0\n",
    );
}

#[test]
fn two_looks_of_proc_count_between_them() {
    let look = |sent: u32, again: u32, pruned: u32, came: u32| {
        format!(
            "Tcp: RtoAlgorithm RtoMin MaxConn InSegs OutSegs RetransSegs\nTcp: 1 200 -1 {came} {sent} {again}\n\
             TcpExt: SyncookiesSent RcvPruned TCPBacklogDrop\nTcpExt: 0 {pruned} 3\n"
        )
    };
    let text =
        format!("10:00:00\n{}10:00:30\n{}", look(500_000, 90_000, 10, 400_000), look(700_000, 90_010, 900, 900_000));
    let subject = subject(&text);
    assert_eq!(subject.over_s, Some(30.0));
    // Losses were before; drops are now.
    let statement = Statement::ReceiveDrops { segments: 890.0, of: Some(500_000.0) };
    assert_eq!(subject.findings.iter().map(|finding| finding.statement.clone()).collect::<Vec<_>>(), [statement]);
}

#[test]
fn share_needs_the_segments_sent() {
    let subject = subject("$ nstat -az | grep -i retrans\nTcpRetransSegs 48213 0.0\nTcpExtTCPLostRetransmit 812 0.0\n");
    assert_eq!((subject.verdict, subject.findings.len()), (Verdict::Unknown, 0));
    assert!(subject.gaps.contains(&Limitation::NoDenominator));
}

#[test]
fn buffers_of_udp_and_damage_are_named() {
    let udp = "Udp:\n    900000 packets received\n    31 packets to unknown port received\n    8100 packet receive errors\n    \
               RcvbufErrors: 8100\n    InCsumErrors: 0\n";
    assert_eq!(causes(udp), ["receive-drops"]);
    let damaged = "TcpInSegs 100000 0.0\nTcpOutSegs 90000 0.0\nTcpRetransSegs 12 0.0\nTcpInCsumErrors 812 0.0\n";
    assert_eq!(causes(damaged), ["checksum-errors"]);
}

#[test]
fn other_systems_are_read() {
    let windows = "TCP Statistics for IPv4\n\n  Active Opens = 9000\n  Segments Received = 4000000\n  Segments Sent = 5000000\n  \
                   Segments Retransmitted = 240000\n";
    assert_eq!(causes(windows), ["loss"]);
    let mac = "tcp:\n\t900000 packets sent\n\t\t800000 data packets (990000000 bytes)\n\t\t41 data packets (51000 bytes) retransmitted\n\
               \t850000 packets received\n\t12 retransmit timeouts\n\t0 listen queue overflows\n";
    healthy(mac);
}
