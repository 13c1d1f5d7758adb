//! `curl --trace-time` and `strace`.

use super::*;

const TRACE: &str = "\
10:15:01.000100 == Info: Host web.example:443 was resolved.
10:15:01.020000 == Info:   Trying 192.0.2.7:443...
10:15:01.050000 == Info: Connected to web.example (192.0.2.7) port 443
10:15:01.090000 == Info: TLSv1.3 (OUT), TLS handshake, Finished (20):
10:15:01.090100 == Info: SSL connection using TLSv1.3 / TLS_AES_128_GCM_SHA256
10:15:01.091000 => Send header, 83 bytes (0x53)
0000: GET /report?token=abc HTTP/1.1
10:15:03.391000 <= Recv header, 17 bytes (0x11)
10:15:03.391200 <= Recv data, 1200 bytes (0x4b0)
";

#[test]
fn server_that_thinks_is_seen_in_a_trace() {
    assert_eq!(causes(TRACE), ["server-think"]);
    let report = report(TRACE);
    assert_eq!(report.subjects[0].source.slug(), "curl-trace");
    assert!((report.subjects[0].findings[0].cost_s.unwrap() - 2.27).abs() < 0.01);
    // The address of a page is not printed.
    assert!(!format!("{report:?}").contains("token"));
}

#[test]
fn silence_in_a_response_is_a_stall() {
    let text = "23:59:59.900000 * Trying 192.0.2.7:80...\n23:59:59.910000 * Connected to web.example (192.0.2.7) port 80\n\
                23:59:59.911000 > GET / HTTP/1.1\n23:59:59.930000 < HTTP/1.1 200 OK\n00:00:00.100000 { [1460 bytes data]\n\
                00:00:02.600000 { [1460 bytes data]\n";
    let subject = subject(text);
    let stall = subject.findings.iter().find(|finding| matches!(finding.statement, Statement::Stalled { .. })).unwrap();
    assert!((stall.cost_s.unwrap() - 2.5).abs() < 0.001, "{subject:?}");
}

#[test]
fn requests_on_one_connection_are_separated() {
    let second = "10:15:03.400000 == Info: Re-using existing connection with host web.example\n\
                  10:15:03.401000 => Send header, 83 bytes (0x53)\n10:15:03.431000 <= Recv header, 17 bytes (0x11)\n";
    let report = report(&format!("{TRACE}{second}"));
    assert_eq!(report.subjects.len(), 2);
    assert!(report.subjects[1].findings.is_empty(), "{:?}", report.subjects[1]);
}

#[test]
fn quoted_and_cut_traces_are_read() {
    let quoted: String = TRACE.lines().map(|line| format!("> {line}\n")).collect();
    assert_eq!(causes(&quoted), ["server-think"]);
    let cut = TRACE.split("10:15:03").next().unwrap();
    assert!(!is_evidence(cut.as_bytes()), "there is no response");
    healthy(&TRACE.replace("10:15:03", "10:15:01").replace("01.391", "01.121"));
}

const CALLS: &str = "\
socket(AF_INET, SOCK_STREAM|SOCK_CLOEXEC, IPPROTO_TCP) = 7 <0.000020>
10:15:01.000000 connect(7, {sa_family=AF_INET, sin_port=htons(5432), sin_addr=inet_addr(\"192.0.2.30\")}, 16) = 0 <0.001200>
10:15:01.002000 sendto(7, \"SELECT\"..., 40, MSG_NOSIGNAL, NULL, 0) = 40 <0.000031>
10:15:01.003000 poll([{fd=7, events=POLLIN|POLLERR}], 1, -1) = 1 ([{fd=7, revents=POLLIN}]) <1.800200>
10:15:02.804000 recvfrom(7, \"T\"..., 16384, 0, NULL, NULL) = 412 <0.000020>
10:15:02.805000 openat(AT_FDCWD, \"/tmp/out\", O_WRONLY) = 8 <0.000040>
10:15:02.806000 write(8, \"x\"..., 4096) = 4096 <0.000100>
10:15:03.003000 exit_group(0) = ?
";

#[test]
fn wait_for_a_peer_is_named_with_its_address() {
    let subject = subject(CALLS);
    let Statement::Calls(CallStatement::Waited { call, on, took_s, whole_s, calls, .. }) =
        &subject.findings[0].statement
    else {
        panic!("{subject:?}")
    };
    assert_eq!((*call, on.as_str(), *calls), (Call::Receive, "192.0.2.30:5432", 2.0));
    assert!((took_s - 1.80022).abs() < 1e-6 && (whole_s - 2.003).abs() < 1e-6);
    assert!(subject.findings[0].to_confirm.contains(&Limitation::PeerOrNetwork));
}

#[test]
fn wait_for_the_kernel_and_for_files_are_separated() {
    let text = "1700000000.000000 write(5<TCP:[192.0.2.1:40000->192.0.2.9:443]>, \"x\"..., 65536) = 65536 <0.900000>\n\
                1700000000.900100 read(4</srv/data/big.bin>, \"y\"..., 65536) = 65536 <0.300000>\n\
                1700000001.200200 write(5<TCP:[192.0.2.1:40000->192.0.2.9:443]>, \"x\"..., 65536) = 65536 <0.700000>\n\
                1700000001.900300 close(5) = 0 <0.000010>\n";
    let subject = subject(text);
    let of = |at: usize| match &subject.findings[at].statement {
        Statement::Calls(CallStatement::Waited { call, on, .. }) => (*call, on.clone()),
        other => panic!("{other:?}"),
    };
    assert_eq!(of(0), (Call::Send, "192.0.2.9:443".to_owned()));
    assert_eq!(of(1), (Call::Disk, "/srv/data/big.bin".to_owned()));
}

#[test]
fn interrupted_calls_of_several_processes_are_joined() {
    let text = "[pid  812] 10:15:01.000000 recvfrom(9,  <unfinished ...>\n[pid  813] 10:15:01.000100 nanosleep({tv_sec=0}, NULL) = 0 <0.000060>\n\
                [pid  812] 10:15:01.700000 <... recvfrom resumed>\"a\"..., 100, 0, NULL, NULL) = 5 <0.699900>\n";
    let subject = subject(text);
    assert!((subject.findings[0].cost_s.unwrap() - 0.6999).abs() < 1e-6, "{subject:?}");
}

#[test]
fn times_between_lines_are_used_without_times_of_calls() {
    let text = "> 10:15:01.000000 recvfrom(7, \"x\"..., 100, 0,\n> NULL, NULL) = 10\n> 10:15:02.000000 sendto(7, \"x\"..., 10, 0, NULL, 0) = 10\n\
                > 10:15:02.000100 close(7) = 0\n";
    let subject = subject(text);
    assert!(subject.gaps.contains(&Limitation::NoCallTimes));
    assert!((subject.findings[0].cost_s.unwrap() - 1.0).abs() < 1e-6 && subject.findings[0].confidence < 0.6);
    let relative = "     0.000000 recvfrom(7, \"x\"..., 100, 0, NULL, NULL) = 10\n     1.500000 sendto(7, \"x\"..., 10, 0, NULL, 0) = 10\n     \
                    0.000100 close(7) = 0\n";
    assert!((self::subject(relative).findings[0].cost_s.unwrap() - 1.5).abs() < 1e-6);
}

#[test]
fn prose_with_calls_is_not_a_trace() {
    assert!(!is_evidence(b"we call read(7) and then write(7) for 3 seconds\n"));
}
