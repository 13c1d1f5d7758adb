//! The kernel runs the programs on datagrams of a socket pair, which needs no rights.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::bpf::{STORE, attach};
use crate::watch::segment::tests::{ethernet, icmp_error, ipv4, ipv6};
use socket2::{Domain, Socket, Type};
use std::io::Read;

/// The accepted length of a packet; `None` if the program drops it.
fn accepted_length(program: &[Instruction], packet: &[u8]) -> Option<usize> {
    let (from, mut to) = Socket::pair(Domain::UNIX, Type::DGRAM, None).unwrap();
    attach(&to, program).unwrap();
    to.set_nonblocking(true).unwrap();
    // A datagram that is dropped is refused to its sender.
    let _ = from.send(packet);
    let mut space = [0; 2048];
    to.read(&mut space).ok()
}

/// The program for packets that begin with the network layer. A socket pair has no protocol, so it
/// is put in.
fn cooked_of(protocol: u32) -> Vec<Instruction> {
    let mut program = default::cooked();
    let load_immediate = 0;
    program[0] = Instruction { code: load_immediate, jumps: [0, 0], value: protocol };
    program
}

#[test]
fn tcp_passes_behind_tags_and_extension_headers() {
    let v4 = ipv4("10.0.0.1:1000", "10.0.0.2:80", 1, 2);
    let options: &[u8] = &[0; 7];
    let long: &[u8] = &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    for tags in [&[][..], &[0x8100], &[0x88a8, 0x8100]] {
        assert!(accepted_length(&default::ethernet(), &ethernet(tags, 0x0800, &v4)).is_some(), "{tags:?}");
        for extensions in [&[][..], &[(0, options)], &[(0, long), (43, options), (60, long), (44, options)]] {
            let v6 = ipv6("[2001:db8::1]:1", "[2001:db8::2]:2", extensions, 2);
            assert!(
                accepted_length(&default::ethernet(), &ethernet(tags, 0x86dd, &v6)).is_some(),
                "{tags:?} {extensions:?}"
            );
            assert!(accepted_length(&cooked_of(0x86dd), &v6).is_some());
        }
    }
    assert!(accepted_length(&cooked_of(0x0800), &v4).is_some());
    // Both tags in the packet, where the device has left them.
    assert!(accepted_length(&cooked_of(0x88a8), &ethernet(&[0x88a8, 0x8100], 0x0800, &v4)[14..]).is_some());
}

#[test]
fn icmp_passes_if_it_is_an_error() {
    let tcp = ipv4("10.0.0.1:1000", "10.0.0.2:80", 1, 2);
    for (kind, passes) in [(0, false), (3, true), (4, true), (5, false), (8, false), (11, true), (12, true)] {
        let icmp = icmp_error(kind, &tcp);
        assert_eq!(accepted_length(&default::ethernet(), &ethernet(&[], 0x0800, &icmp)).is_some(), passes, "{kind}");
        // It is a later fragment.
        let mut later = icmp;
        later[7] = 1;
        assert!(accepted_length(&cooked_of(0x0800), &later).is_none());
    }
    for (kind, passes) in [(1, true), (2, true), (127, true), (128, false), (135, false)] {
        let mut icmp = ipv6("[::1]:1", "[::2]:2", &[], 0);
        (icmp[6], icmp[40]) = (58, kind);
        assert_eq!(accepted_length(&cooked_of(0x86dd), &icmp).is_some(), passes, "{kind}");
    }
}

#[test]
fn nothing_else_passes() {
    let mut udp = ipv4("10.0.0.1:1000", "10.0.0.2:80", 1, 2);
    udp[9] = 17;
    assert!(accepted_length(&default::ethernet(), &ethernet(&[], 0x0800, &udp)).is_none());
    assert!(accepted_length(&default::ethernet(), &ethernet(&[], 0x0806, &[0; 40])).is_none());
    assert!(accepted_length(&default::ethernet(), &ethernet(&[0x8100; 3], 0x0800, &udp)).is_none());
    assert!(accepted_length(&default::ethernet(), &[0; 5]).is_none());
    let mut udp = ipv6("[::1]:1", "[::2]:2", &[], 0);
    udp[6] = 17;
    assert!(accepted_length(&cooked_of(0x86dd), &udp).is_none());
}

#[test]
fn what_passes_is_cut_to_the_snaplen() {
    let program = program(None, CaptureTarget::Ethernet("any"), 128).unwrap();
    let returned: Vec<u32> = program.iter().filter(|line| line.code == RETURN).map(|line| line.value).collect();
    assert!(returned.contains(&128) && returned.iter().all(|value| [0, 128].contains(value)));
    let several = [(3, "a".to_owned()), (300, "b".to_owned())];
    let program = super::program(None, CaptureTarget::Cooked(&several), 128).unwrap();
    assert!([3, 300].iter().all(|index| program.iter().any(|line| line.value == *index)));
    let many: Vec<_> = (0..201).map(|index| (index, "x".to_owned())).collect();
    let error = super::program(None, CaptureTarget::Cooked(&many), 128).unwrap_err().to_string();
    assert_eq!(error, "the number of interfaces is 201: it must be 200 at most; without a name all are watched");
}

#[test]
fn an_expression_is_compiled_for_what_packets_begin_with() {
    if !whyslow_testing::tools(&["tcpdump"]) {
        return;
    }
    let web = ethernet(&[], 0x0800, &ipv4("10.0.0.1:1000", "10.0.0.2:80", 1, 2));
    let other = ethernet(&[], 0x0800, &ipv4("10.0.0.1:1000", "10.0.0.2:81", 1, 2));
    let on_ethernet = compile("tcp port 80 and host 10.0.0.1", CaptureTarget::Ethernet("eth0")).unwrap();
    assert!(accepted_length(&on_ethernet, &web).is_some() && accepted_length(&on_ethernet, &other).is_none());
    let mut on_any = compile("tcp port 80 and host 10.0.0.1", CaptureTarget::Cooked(&[])).unwrap();
    let protocol = ancillary(libc::SKF_AD_PROTOCOL);
    for line in on_any.iter_mut().filter(|line| line.value == protocol) {
        *line = Instruction { code: 0, jumps: [0, 0], value: 0x0800 };
    }
    assert!(accepted_length(&on_any, &web[14..]).is_some() && accepted_length(&on_any, &other[14..]).is_none());
}

/// The error of an expression.
fn compile_error(expression: &str, watched: CaptureTarget<'_>) -> String {
    compile(expression, watched).unwrap_err().to_string()
}

#[test]
fn an_error_in_an_expression_is_named_and_marked() {
    if !whyslow_testing::tools(&["tcpdump"]) {
        return;
    }
    let ethernet = CaptureTarget::Ethernet("eth0");
    assert_eq!(
        compile_error("tcp and port foo", ethernet),
        "the filter is not understood: unknown port 'foo'\n  tcp and port foo\n               ^^^"
    );
    // If libpcap does not name the place, the error has no carets.
    assert_eq!(compile_error("tcp port and", ethernet), "the filter is not understood: syntax error\n  tcp port and");
    // An expression is not an option.
    assert!(compile_error("-w /tmp/x", ethernet).starts_with("the filter is not understood: syntax error"));
    let error = compile_error("ether host 02:00:00:00:00:01", CaptureTarget::Cooked(&[]));
    assert!(error.contains("ethernet addresses supported only on ethernet"), "{error}");
    let error = compile_error("link[4:2] = 6", CaptureTarget::Cooked(&[]));
    assert!(error.ends_with("to do: name one Ethernet interface with -i"), "{error}");
}

#[test]
fn words_are_found_where_they_stand_alone() {
    assert_eq!(find_word("host foo.example and port foo", "foo"), Some(26..29));
    assert_eq!(find_word("port 8%", "%"), Some(6..7));
    assert_eq!(find_word("tcp", "udp"), None);
    assert_eq!(quoted("unknown host 'x'"), Some("x"));
    assert_eq!(quoted("syntax error"), None);
}

#[test]
fn only_a_whole_listing_is_a_program() {
    assert_eq!(parse("1\n6 0 0 262144\n"), Some(vec![Instruction { code: 6, jumps: [0, 0], value: 262_144 }]));
    for wrong in ["", "0\n", "2\n6 0 0 1\n", "1\n6 0 0\n", "1\n6 0 0 1 2\n", "(000) ret #0\n"] {
        assert_eq!(parse(wrong), None, "{wrong:?}");
    }
}

#[test]
fn what_reads_no_packet_is_not_moved() {
    let keep = |code, value| Instruction { code, jumps: [0, 0], value };
    let program = [keep(STORE, 3), keep(0x80, 0), keep(RETURN, 5), keep(LOAD_WORD, ancillary(4))];
    assert_eq!(cooked::from_linux_sll(&program).unwrap(), program);
    let moved = cooked::from_linux_sll(&[keep(0xb1, 16), keep(0x48, 18), keep(0x28, 14)]).unwrap();
    assert_eq!(moved, [keep(0xb1, 0), keep(0x48, 2), keep(0x28, ancillary(libc::SKF_AD_PROTOCOL))]);
}
