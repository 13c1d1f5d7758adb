//! Packets by hand; also those of other tests.
#![allow(clippy::unwrap_used)]

use super::*;
use proptest::prelude::*;

fn end(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn tcp(from: SocketAddr, to: SocketAddr, sequence: u32, flags: u8) -> Vec<u8> {
    let mut out = [from.port().to_be_bytes(), to.port().to_be_bytes()].concat();
    out.extend(sequence.to_be_bytes());
    out.extend([0, 0, 0, 0, 0x50, flags, 0xff, 0xff, 0, 0, 0, 0]);
    out
}

fn ipv4_header(from: IpAddr, to: IpAddr, protocol: u8, inside: &[u8]) -> Vec<u8> {
    let (IpAddr::V4(from), IpAddr::V4(to)) = (from, to) else { panic!("IPv4 is asked for") };
    let mut out = vec![0x45, 0];
    out.extend((20 + inside.len() as u16).to_be_bytes());
    out.extend([0, 0, 0, 0, 64, protocol, 0, 0]);
    out.extend(from.octets());
    out.extend(to.octets());
    out.extend(inside);
    out
}

/// A TCP segment in IPv4.
pub(crate) fn ipv4(from: &str, to: &str, sequence: u32, flags: u8) -> Vec<u8> {
    let (from, to) = (end(from), end(to));
    ipv4_header(from.ip(), to.ip(), TCP, &tcp(from, to, sequence, flags))
}

/// The same in IPv6, after these extension headers.
pub(crate) fn ipv6(from: &str, to: &str, extensions: &[(u8, &[u8])], flags: u8) -> Vec<u8> {
    let (from, to) = (end(from), end(to));
    let (IpAddr::V6(source), IpAddr::V6(destination)) = (from.ip(), to.ip()) else { panic!("IPv6 is asked for") };
    let mut out = vec![0x60, 0, 0, 0, 0, 0, extensions.first().map_or(TCP, |extension| extension.0), 64];
    out.extend(source.octets());
    out.extend(destination.octets());
    for (index, (_, bytes)) in extensions.iter().enumerate() {
        out.push(extensions.get(index + 1).map_or(TCP, |next| next.0));
        out.extend(*bytes);
    }
    out.extend(tcp(from, to, 1, flags));
    out
}

/// An ICMP error that quotes a packet.
pub(crate) fn icmp_error(kind: u8, quoted: &[u8]) -> Vec<u8> {
    let mut inside = vec![kind, 0, 0, 0, 0, 0, 0, 0];
    inside.extend(&quoted[..quoted.len().min(28)]);
    ipv4_header(end("10.9.9.9:0").ip(), end("10.0.0.1:0").ip(), ICMP, &inside)
}

pub(crate) fn ethernet(tags: &[u16], kind: u16, inside: &[u8]) -> Vec<u8> {
    let mut out = vec![2; 12];
    for tag in tags {
        out.extend(tag.to_be_bytes());
        out.extend([0, 7]);
    }
    out.extend(kind.to_be_bytes());
    out.extend(inside);
    out
}

pub(crate) fn sll2(kind: u16, inside: &[u8]) -> Vec<u8> {
    [&kind.to_be_bytes()[..], &[0; 18], inside].concat()
}

#[test]
fn ends_are_found_behind_every_header() {
    let (from, to) = ("10.0.0.1:1000", "10.0.0.2:80");
    let packet = ipv4(from, to, 7, Segment::SYN);
    let expected = Some(Segment { from: end(from), to: end(to), tcp: Some((7, Segment::SYN)) });
    assert_eq!(Segment::parse(RAW, &packet), expected);
    assert_eq!(Segment::parse(ETHERNET, &ethernet(&[], 0x0800, &packet)), expected);
    assert_eq!(Segment::parse(ETHERNET, &ethernet(&[0x88a8, 0x8100], 0x0800, &packet)), expected);
    assert_eq!(Segment::parse(LINUX_SLL2, &sll2(0x0800, &packet)), expected);
    assert_eq!(Segment::parse(LINUX_SLL2, &sll2(0x0806, &packet)), None);
    assert_eq!(Segment::parse(9999, &packet), None);
    let (from, to) = ("[2001:db8::1]:1000", "[2001:db8::2]:80");
    let options: &[u8] = &[0, 1, 2, 3, 4, 5, 6];
    let longer: &[u8] = &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let first_fragment: &[u8] = &[0, 0, 1, 0, 0, 0, 9];
    for extensions in [&[][..], &[(0, options)], &[(0, longer), (60, options), (44, first_fragment)]] {
        let segment = Segment::parse(RAW, &ipv6(from, to, extensions, Segment::ACK));
        assert_eq!(segment, Some(Segment { from: end(from), to: end(to), tcp: Some((1, Segment::ACK)) }));
    }
    let later_fragment: &[u8] = &[0, 0x10, 0, 0, 0, 0, 9];
    assert_eq!(Segment::parse(RAW, &ipv6(from, to, &[(44, later_fragment)], 0)), None);
}

#[test]
fn an_icmp_error_belongs_to_the_connection_that_it_is_about() {
    let sent = ipv4("10.0.0.1:1000", "10.0.0.2:80", 7, Segment::ACK);
    let error = Segment::parse(RAW, &icmp_error(3, &sent)).unwrap();
    assert_eq!(error.connection(), Segment::parse(RAW, &sent).unwrap().connection());
    assert!(!error.has(Segment::SYN | Segment::FIN | Segment::RST));
    // An echo request quotes nothing.
    assert_eq!(Segment::parse(RAW, &icmp_error(8, &sent)), None);
}

#[test]
fn both_directions_are_one_connection() {
    let [a, b] = ["10.0.0.1:1000", "10.0.0.2:80"].map(end);
    assert_eq!(Connection::new(a, b), Connection::new(b, a));
    assert_eq!(Connection::new(end("[::ffff:10.0.0.1]:1000"), b), Connection::new(a, b));
    assert_eq!(Connection::new(b, a).ends(), [a, b]);
}

proptest! {
    #[test]
    fn no_bytes_panic(link in prop::sample::select(vec![ETHERNET, LINUX_SLL2, RAW]), bytes: Vec<u8>) {
        let _ = Segment::parse(link, &bytes);
    }

    #[test]
    fn a_cut_packet_panics_nowhere(length in 0_usize..120) {
        let packet = ethernet(&[0x8100], 0x86dd, &ipv6("[::1]:1", "[::2]:2", &[(0, &[0; 7]), (60, &[0; 7])], 2));
        let _ = Segment::parse(ETHERNET, &packet[..length.min(packet.len())]);
    }
}
