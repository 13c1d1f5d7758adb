//! The client of connections without a captured SYN.

use super::*;

/// A call of NFS 3, GETATTR (RFC 5531 section 9), and the reply's head.
const CALL: &[u8] = &[
    128, 0, 0, 96, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1, 134, 163, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0,
];
const REPLY: &[u8] = &[128, 0, 0, 96, 0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 0];

/// Side A has an ephemeral port, and side B the port of a service.
fn client(lines: &[(Side, &'static [u8])]) -> Side {
    let mut script = Script::new();
    let mut next = [1, 1];
    script.line(0.0, A, next, 0);
    for (at, &(from, payload)) in lines.iter().enumerate() {
        script.line(10.0 * (1.0 + at as f64), from, [next[from], next[!from]], 100).payload = payload;
        next[from] += 100;
    }
    script.run().client
}

#[test]
fn who_calls_is_the_client_whatever_the_ports_are() {
    assert_eq!(client(&[(A, CALL), (B, REPLY)]), A);
    assert_eq!(client(&[(B, CALL), (A, REPLY)]), B);
    assert_eq!(client(&[(B, &[]), (A, &[])]), A, "by the ports alone");
}
