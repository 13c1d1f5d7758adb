//! iperf3 and iperf.

use super::*;
use whyslow_analysis::cause::Cause;

/// An interval of stream 5.
fn line(second: u32, transfer: &str, rate: &str, tail: &str) -> String {
    format!("[  5]   {second}.00-{}.00   sec  {transfer}  {rate}  {tail}\n", second + 1)
}

fn test(rows: &[(&str, &str, &str)]) -> String {
    let head = "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n".to_owned();
    rows.iter().zip(0..).fold(head, |text, ((transfer, rate, tail), second)| text + &line(second, transfer, rate, tail))
}

const WINDOW: (&str, &str, &str) = ("11.2 MBytes", "94.4 Mbits/sec", "0    822 KBytes");

#[test]
fn window_that_never_opens_again_is_a_timeout() {
    let silent = ("0.00 Bytes", "0.00 bits/sec", "1   1.41 KBytes");
    let text = test(&[("84.8 KBytes", "694 Kbits/sec", "2   1.41 KBytes"), silent, silent, silent]);
    let subject = subject(&text);
    assert_eq!(subject.findings[0].statement, Statement::Stalled { seconds: 3.0, of_s: 4.0 });
    assert_eq!(causes(&text), ["timeout"]);
}

#[test]
fn line_rate_is_healthy_in_spite_of_some_retransmissions() {
    let row = ("112 MBytes", "941 Mbits/sec", "12    420 KBytes");
    let end = "[  5]   0.00-3.00   sec   337 MBytes   942 Mbits/sec   36             sender\n\
               [  5]   0.00-3.04   sec   336 MBytes   941 Mbits/sec                  receiver\n";
    healthy(&(test(&[row, row, row]) + end));
}

#[test]
fn window_needs_the_round_trip_which_a_ping_gives() {
    let text = test(&[("47.5 MBytes", "398 Mbits/sec", "0    822 KBytes"), WINDOW, WINDOW, WINDOW, WINDOW, WINDOW]);
    let alone = subject(&text);
    assert_eq!((alone.verdict, alone.findings.len()), (Verdict::Unknown, 0));
    assert!(alone.gaps.contains(&Limitation::NoRoundTrip));
    let ping = |least: f64| format!("rtt min/avg/max/mdev = {least}/{least}/{least}/0.2 ms\n");
    let both = |least: f64| {
        let report = read(&[("iperf", text.as_bytes()), ("ping", ping(least).as_bytes())]).unwrap();
        let of = report.subjects.into_iter().find(|subject| subject.source == crate::iperf::SOURCE).unwrap();
        of.findings.first().and_then(|finding| finding.cause).map(Slug::slug)
    };
    assert_eq!(both(68.1), Some("sender-cap"));
    // A window that takes three times the round trip waits in a queue: the link is full.
    assert_eq!(both(20.0), Some("bandwidth"));
}

#[test]
fn losses_and_parallel_connections_are_judged() {
    let lossy =
        test(&[("1.2 MBytes", "10 Mbits/sec", "31   21 KBytes"), ("1.1 MBytes", "9 Mbits/sec", "28   18 KBytes")]);
    assert_eq!(causes(&lossy), ["loss"]);
    let one = "[  5]   0.00-10.00  sec   119 MBytes   100 Mbits/sec    0             sender\n\
               [  5]   0.00-10.04  sec   119 MBytes   100 Mbits/sec                  receiver\n";
    let many = "[  5]   0.00-10.00  sec   119 MBytes   100 Mbits/sec    0             sender\n\
                [  7]   0.00-10.00  sec   119 MBytes   100 Mbits/sec    0             sender\n\
                [SUM]   0.00-10.00  sec   238 MBytes   200 Mbits/sec    0             sender\n\
                [SUM]   0.00-10.04  sec   238 MBytes   200 Mbits/sec                  receiver\n";
    let text = format!("Connecting to host a, port 5201\n{one}Connecting to host a, port 5201\n{many}");
    assert_eq!(causes(&text), ["-"]);
}

#[test]
fn datagrams_that_exceed_the_link_are_counted() {
    let text = "> [  5]   0.00-10.00  sec   596 MBytes   500 Mbits/sec  0.000 ms  0/431700 (0%)  sender\n\
                > [  5]   0.00-10.04  sec   113 MBytes   94.6 Mbits/sec  0.121 ms  349600/431700 (81%)  receiver\n";
    let subject = subject(text);
    assert_eq!(subject.findings[0].cause, Some(Cause::Bandwidth.into()));
    let fine = "[  5]   0.00-10.00  sec  1.25 MBytes  1.05 Mbits/sec  0.041 ms  0/906 (0%)  receiver\n";
    assert!(self::subject(fine).gaps.contains(&Limitation::UdpRate));
    healthy(fine);
}

#[test]
fn json_has_the_round_trip() {
    let interval = |cwnd: u32, rtt: u32| {
        format!(
            r#"{{"streams":[{{"socket":5,"seconds":1.0,"bytes":11800000,"bits_per_second":94400000.0,"retransmits":0,"snd_cwnd":{cwnd},"rtt":{rtt}}}],"sum":{{"omitted":false}}}}"#
        )
    };
    let json = |rtt: u32, least: u32| {
        let intervals = vec![interval(841_728, rtt); 4].join(",");
        format!(
            r#"{{"start":{{"connecting_to":{{"host":"a.example","port":5201}},"test_start":{{"protocol":"TCP"}}}},"intervals":[{intervals}],
            "end":{{"streams":[{{"sender":{{"mean_rtt":{rtt},"min_rtt":{least}}}}}],"sum_sent":{{"seconds":4,"bytes":47200000,"bits_per_second":94400000.0,"retransmits":0}},"cpu_utilization_percent":{{"host_total":2.1,"remote_total":4.0}}}}}}"#
        )
    };
    // 94.4 Mbit/s is what Fast Ethernet carries.
    healthy(&json(71_000, 70_000));
    let slow = json(71_000, 70_000)
        .replace("94400000.0", "64400000.0")
        .replace("11800000", "8050000")
        .replace("841728", "571000");
    assert_eq!(causes(&slow), ["sender-cap"]);
    let stream = format!(
        "{{\"event\":\"start\",\"data\":{{\"test_start\":{{\"protocol\":\"TCP\"}}}}}}\n{{\"event\":\"interval\",\"data\":{}}}\n",
        interval(841_728, 71_000)
    );
    assert_eq!(subject(&stream).source, crate::iperf::SOURCE);
}

#[test]
fn first_version_and_the_server_side_are_read() {
    let old = "[  3]  0.0- 1.0 sec   112 MBytes   941 Mbits/sec\n[  3]  1.0- 2.0 sec   112 MBytes   941 Mbits/sec\n\
               [  3]  0.0- 2.0 sec   224 MBytes   941 Mbits/sec\n";
    healthy(old);
    let server =
        "[  5]   0.00-1.00   sec  5.1 MBytes  42.8 Mbits/sec\n[  5]   1.00-2.00   sec  5.0 MBytes  42.0 Mbits/sec\n";
    assert_eq!(subject(server).verdict, Verdict::Unknown);
}
