//! `ss`: several kernels, wrapped, quoted, cut.

use super::*;
use whyslow_analysis::cause::Cause;

const WINDOW: &str = "\
> State    Recv-Q    Send-Q        Local Address:Port          Peer
> Address:Port     Process
> ESTAB    0         2896000       10.10.0.5:443
> 10.20.0.9:51522
>   cubic wscale:7,9 rto:292 rtt:91.7/0.3 mss:1448 pmtu:1500 rcvmss:536
> advmss:1448 cwnd:812 bytes_acked:47800001 segs_out:33240 data_segs_out:33238
> send 102Mbps lastsnd:8 pacing_rate 123Mbps delivery_rate 22.8Mbps
> busy:19400ms rwnd_limited:18900ms(97.4%) unacked:181 notsent:2600000 minrtt:91.2 snd_wnd:262144
";

#[test]
fn full_window_of_the_peer_in_a_quoted_mail_is_named_with_its_time() {
    let subject = subject(WINDOW);
    let finding = &subject.findings[0];
    assert_eq!(finding.cause, Some(Cause::ReceiveWindow.into()));
    assert_eq!((finding.cost_s, subject.name.as_str()), (Some(18.9), "10.10.0.5:443 → 10.20.0.9:51522"));
    assert!(finding.confidence >= 0.9 && subject.gaps.contains(&Limitation::SinceConnection));
}

#[test]
fn interactive_connection_is_healthy() {
    healthy(
        "ESTAB 0 36 192.168.1.4:22 192.168.1.9:50312 users:((\"sshd\",pid=812,fd=3))\n\t cubic wscale:7,7 rto:204 \
         rtt:1.2/0.5 ato:40 mss:1448 cwnd:10 bytes_acked:40213 segs_out:300 send 96.5Mbps lastsnd:3 app_limited unacked:1\n",
    );
}

#[test]
fn two_looks_with_times_count_between_them() {
    let look = |time: &str, retrans: u32, sent: u32, busy: u32| {
        format!(
            "{time}\nESTAB 0 1204224 10.0.0.2:8080 203.0.113.5:40222 timer:(on,312ms,0)\n\t reno wscale:8,7 rto:312 \
             rtt:110.4/8.1 mss:1400 cwnd:14 ssthresh:8 data_segs_out:{sent} retrans:2/{retrans} busy:{busy}ms unacked:12 \
             notsent:900000 minrtt:101\n"
        )
    };
    let lossy = look("Mon Jan  8 10:15:01 UTC 2024", 640, 15_900, 20_000)
        + &look("Mon Jan  8 10:15:11 UTC 2024", 990, 24_000, 30_000);
    let subject = subject(&lossy);
    assert_eq!(subject.over_s, Some(10.0));
    assert_eq!(subject.findings[0].statement, Statement::Lost { segments: 350.0, of: Some(8_100.0) });
    // Long past losses do not count.
    let past = look("10:15:01", 640, 15_900, 20_000) + &look("10:15:11", 641, 24_000, 30_000);
    assert!(!causes(&past).contains(&"loss"));
}

#[test]
fn application_that_writes_little_is_seen_between_two_looks() {
    let look = |time: &str, acked: u64, busy: u32| {
        format!(
            "{time}\nESTAB 0 0 10.0.0.2:80 10.0.0.9:4000\n cubic ts sack wscale:7,7 rto:201 rtt:0.8/0.2 mss:1448 cwnd:40 \
             bytes_acked:{acked} busy:{busy}ms lastsnd:40 app_limited minrtt:0.3\n"
        )
    };
    let text = look("2024-05-01 10:00:00", 5_000_000, 900) + &look("2024-05-01 10:00:10", 25_000_000, 3_900);
    let finding = &subject(&text).findings[0];
    assert_eq!(finding.statement, Statement::Application { idle_s: Some(7.0), over_s: Some(10.0) });
}

#[test]
fn other_limits_are_named() {
    let line = |rest: &str| format!("ESTAB 0 90000 10.0.0.2:80 10.0.0.9:4000 {rest}\n");
    let base = "cubic ts sack wscale:7,7 rto:250 mss:1448 bytes_acked:9000000 data_segs_out:6300";
    for (text, expected) in [
        (format!("{base} rtt:40/2 minrtt:39 cwnd:80 busy:9s sndbuf_limited:6s(66.7%) unacked:20"), "sender-cap"),
        (format!("{base} rtt:340/20 minrtt:22 cwnd:300 unacked:280 notsent:60000 busy:9s"), "bufferbloat"),
        (
            format!("{base} rtt:40/2 minrtt:39 cwnd:80 dsack_dups:150 retrans:0/170 unacked:20"),
            "spurious-retransmission",
        ),
        (format!("{base} rtt:80/2 minrtt:79 cwnd:40 unacked:40 notsent:60000"), "slow-start"),
        (format!("{base} rtt:80/2 minrtt:79 cwnd:24 ssthresh:17 unacked:24 notsent:60000"), "early-slow-start-exit"),
        (
            format!("{base} rtt:80/2 cwnd:1 ssthresh:7 backoff:6 unacked:9 timer:(on,25sec,6) retrans:1/9 lost:9"),
            "timeout",
        ),
        (format!("{base} rtt:80/2 cwnd:20 timer:(persist,1.2sec,4) unacked:0 notsent:90000"), "zero-window"),
        (format!("{base} rtt:20/2 cwnd:80 pacing_rate 10Mbps/10Mbps delivery_rate 9.9Mbps"), "pacing"),
        (
            "cubic ts sack rto:250 rtt:60/2 mss:1448 cwnd:80 unacked:45 notsent:60000 bytes_acked:9000000".to_owned(),
            "no-window-scaling",
        ),
    ] {
        assert_eq!(causes(&line(&text)).first(), Some(&expected), "{text}");
    }
}

#[test]
fn one_line_without_addresses_is_read() {
    assert_eq!(
        causes("cubic wscale:9,7 rto:236 rtt:35.1/0.4 mss:1448 cwnd:10 ssthresh:9 bytes_acked:2896000 retrans:0/112\n"),
        ["loss"]
    );
}

#[test]
fn queues_and_states_show_the_inactive_end() {
    let mut text = "State Recv-Q Send-Q Local Address:Port Peer Address:Port\n".to_owned();
    text += "LISTEN 129 128 *:8080 *:*\nLISTEN 0 128 *:22 *:*\nSYN-SENT 0 1 10.0.0.2:4410 198.51.100.1:443 timer:(on,3.1sec,3)\n";
    text += "ESTAB 212992 0 10.0.0.2:5000 10.0.0.9:4000\n";
    for port in 0..12 {
        text += &format!("CLOSE-WAIT 1 0 10.0.0.2:8080 10.0.0.9:{}\n", 3000 + port);
    }
    let mut found = causes(&text);
    found.sort_unstable();
    assert_eq!(found, ["close-wait", "listen-overflow", "no-answer", "zero-window"]);
}

#[test]
fn receiver_does_not_know_what_holds_the_sender() {
    let subject = subject(
        "ESTAB 0 0 10.0.0.2:50000 198.51.100.7:443\n cubic wscale:7,10 rto:230 rtt:29/1 ato:40 mss:1448 cwnd:10 \
         bytes_acked:900 bytes_received:88000000 segs_in:60000 lastrcv:4 rcv_rtt:29 rcv_space:60000 minrtt:28\n",
    );
    assert_eq!(subject.verdict, Verdict::Unknown);
    assert!(subject.gaps.contains(&Limitation::ReceiverSide));
}
