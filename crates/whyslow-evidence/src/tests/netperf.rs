//! netperf: classic tables and omni.

use super::*;
use whyslow_analysis::cause::Cause;

const STREAM: &str = "MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to srv.example () port 0 AF_INET\n\
    Recv   Send    Send\nSocket Socket  Message  Elapsed\nSize   Size    Size     Time     Throughput\n\
    bytes  bytes   bytes    secs.    10^6bits/sec\n\n131072  16384  16384    10.03     RATE\n";
const RR: &str = "MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to srv.example () port 0 AF_INET : first burst 0\n\
    Local /Remote\nSocket Size   Request  Resp.   Elapsed  Trans.\nSend   Recv   Size     Size    Time     Rate\n\
    bytes  Bytes  bytes    bytes   secs.    per sec\n\n16384  131072 1        1       10.00    RATE\n16384  131072\n";

#[test]
fn line_rate_is_healthy_and_less_is_unknown() {
    healthy(&STREAM.replace("RATE", "941.44"));
    let slow = subject(&STREAM.replace("RATE", "213.80"));
    assert_eq!((slow.verdict, slow.name.as_str()), (Verdict::Unknown, "srv.example"));
    assert!(slow.gaps.contains(&Limitation::WhichLimit));
    assert_eq!(slow.figures[0].value, 213.8e6);
}

#[test]
fn transactions_as_long_as_a_delayed_ack_are_named() {
    assert_eq!(causes(&RR.replace("RATE", "24.6")), ["nagle-delayed-ack"]);
    assert_eq!(causes(&RR.replace("RATE", "11.9")), ["path-latency"]);
    healthy(&RR.replace("RATE", "16694.10"));
}

#[test]
fn quoted_and_wrapped_output_is_read() {
    let text = RR.replace("RATE", "24.6").replace("AF_INET to", "AF_INET\nto").replace('\n', "\n> ");
    let subject = subject(&format!("> {text}"));
    assert_eq!((subject.name.as_str(), subject.findings.len()), ("srv.example", 1));
}

#[test]
fn names_of_omni_are_read() {
    let text = "OMNI Send TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 192.0.2.8 () port 0 AF_INET\nTHROUGHPUT=71.20\n\
                THROUGHPUT_UNITS=10^6bits/s\nELAPSED_TIME=10.01\nLOCAL_TRANSPORT_RETRANS=1900\nPROTOCOL=TCP\nLOCAL_CPU_UTIL=2.10\n";
    let subject = subject(text);
    assert_eq!(subject.findings[0].cause, Some(Cause::Loss.into()));
    let rr = "MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 () port 0 AF_INET to 192.0.2.8 () port 0 AF_INET : first burst 0\n\
              THROUGHPUT=900.1\nTHROUGHPUT_UNITS=Trans/s\nMEAN_LATENCY=1110.5\nP99_LATENCY=212000\n";
    assert!(matches!(self::subject(rr).findings[0].statement, Statement::Varies { .. }));
}

#[test]
fn cut_output_has_no_result() {
    let cut = STREAM.split("131072").next().unwrap();
    assert!(!is_evidence(cut.as_bytes()));
}
