//! Properties of the complete stage: it agrees with an independent writer of packets, the fast path
//! agrees with the general decoder, and no input makes it panic.
#![allow(clippy::unwrap_used)]

use super::testing::{cut_packet, ethernet, ipv4, ipv6, packet, read_verified, tcp, udp};
use super::*;
use etherparse::{
    IpAuthHeader, IpFragOffset, IpHeaders, IpNumber, Ipv4Extensions, Ipv4Header, Ipv4Options, Ipv6Extensions,
    Ipv6FragmentHeader, Ipv6Header, Ipv6RawExtHeader, Ipv6RoutingExtensions, PacketBuilder, SingleVlanHeader,
    TcpHeader, TcpOptionElement, VlanHeader, VlanId, VlanPcp,
};
use proptest::prelude::*;
use std::net::IpAddr;
use whyslow_units::SeqNumber;

/// Options that fit into a TCP header.
fn tcp_options() -> impl Strategy<Value = Vec<TcpOptionElement>> {
    use TcpOptionElement::*;
    let sack = (any::<(u32, u32)>(), proptest::collection::vec(any::<(u32, u32)>(), 0..4)).prop_map(|(first, more)| {
        let mut rest = [None; 3];
        rest.iter_mut().zip(more).for_each(|(slot, block)| *slot = Some(block));
        SelectiveAcknowledgement(first, rest)
    });
    let element = prop_oneof![
        Just(Noop),
        any::<u16>().prop_map(MaximumSegmentSize),
        any::<u8>().prop_map(WindowScale),
        Just(SelectiveAcknowledgementPermitted),
        any::<(u32, u32)>().prop_map(|(value, echo)| Timestamp(value, echo)),
        sack,
    ];
    let common = any::<(u32, u32)>().prop_map(|(value, echo)| vec![Noop, Noop, Timestamp(value, echo)]);
    prop_oneof![common, proptest::collection::vec(element, 0..6)]
        .prop_filter("more than 40 bytes", |list| TcpHeader::default().set_options(list).is_ok())
}

prop_compose! {
    fn tcp_header()(
        ports in any::<(u16, u16)>(),
        numbers in any::<(u32, u32)>(),
        window in any::<u16>(),
        flags in 0u16..0x200,
        options in tcp_options(),
    ) -> (TcpHeader, Vec<TcpOptionElement>) {
        let mut header = TcpHeader::new(ports.0, ports.1, numbers.0, window);
        header.acknowledgment_number = numbers.1;
        let has = |flag: Flags| flags & flag.0 != 0;
        (header.fin, header.syn, header.rst, header.psh) =
            (has(Flags::FIN), has(Flags::SYN), has(Flags::RST), has(Flags::PSH));
        (header.ack, header.urg, header.ece, header.cwr, header.ns) =
            (has(Flags::ACK), has(Flags::URG), has(Flags::ECE), has(Flags::CWR), has(Flags::AE));
        header.set_options(&options).unwrap();
        (header, options)
    }
}

prop_compose! {
    fn ipv4_header()(
        addresses in any::<([u8; 4], [u8; 4])>(),
        id in any::<u16>(),
        (dscp, ecn) in (0u8..64, 0u8..4),
        ttl in any::<u8>(),
        fragments in any::<(bool, bool)>(),
        option_words in prop_oneof![3 => Just(0usize), 1 => 1usize..=10],
        authenticated in proptest::bool::weighted(0.1),
    ) -> IpHeaders {
        let mut header = Ipv4Header::new(0, ttl, IpNumber::TCP, addresses.0, addresses.1).unwrap();
        header.identification = id;
        header.dscp = dscp.try_into().unwrap();
        header.ecn = ecn.try_into().unwrap();
        header.dont_fragment = fragments.0;
        header.more_fragments = fragments.1 && fragments.0;
        // No-operation options.
        header.options = Ipv4Options::try_from(&[1; 40][..option_words * 4]).unwrap();
        let auth = authenticated.then(|| IpAuthHeader::new(IpNumber::TCP, 1, 2, &[7; 12]).unwrap());
        IpHeaders::Ipv4(header, Ipv4Extensions { auth })
    }
}

prop_compose! {
    fn ipv6_header()(
        addresses in any::<([u8; 16], [u8; 16])>(),
        traffic_class in any::<u8>(),
        hop_limit in any::<u8>(),
        present in any::<[bool; 6]>(),
        extensions in any::<bool>(),
        units in 0usize..4,
        more in any::<bool>(),
    ) -> IpHeaders {
        let header = Ipv6Header {
            traffic_class,
            hop_limit,
            source: addresses.0,
            destination: addresses.1,
            next_header: IpNumber::TCP,
            ..Ipv6Header::default()
        };
        // Padding options; the routing header has no segments left.
        let raw = || Ipv6RawExtHeader::new_raw(IpNumber::TCP, &vec![0; 6 + units * 8]).unwrap();
        let has = |index: usize| extensions && present[index];
        let mut exts = Ipv6Extensions {
            hop_by_hop_options: has(0).then(raw),
            destination_options: has(1).then(raw),
            routing: has(2).then(|| Ipv6RoutingExtensions {
                routing: raw(),
                final_destination_options: has(3).then(raw),
            }),
            fragment: has(4).then(|| Ipv6FragmentHeader::new(IpNumber::TCP, IpFragOffset::ZERO, more, 77)),
            auth: has(5).then(|| IpAuthHeader::new(IpNumber::TCP, 1, 2, &[7; 12]).unwrap()),
        };
        let mut header = header;
        header.next_header = exts.set_next_headers(IpNumber::TCP);
        IpHeaders::Ipv6(header, exts)
    }
}

fn expected_options(list: &[TcpOptionElement]) -> Options {
    let mut options = Options::default();
    for element in list {
        match element {
            TcpOptionElement::Noop => {}
            TcpOptionElement::MaximumSegmentSize(mss) => options.mss = Some(*mss),
            TcpOptionElement::WindowScale(shift) => options.window_scale = Some(*shift),
            TcpOptionElement::SelectiveAcknowledgementPermitted => options.sack_permitted = true,
            TcpOptionElement::SelectiveAcknowledgement(first, more) => {
                for (left, right) in std::iter::once(first).chain(more.iter().flatten()) {
                    options.sack.push(SeqNumber(*left), SeqNumber(*right));
                }
            }
            TcpOptionElement::Timestamp(value, echo) => options.timestamps = Some((*value, *echo)),
        }
    }
    options
}

/// A packet written by etherparse, after `tags` VLAN tags.
fn written(ip: &IpHeaders, tcp: &TcpHeader, tags: usize, payload: &[u8]) -> Vec<u8> {
    let builder = PacketBuilder::ethernet2([2; 6], [4; 6]);
    let tag = |id: u16| SingleVlanHeader {
        vlan_id: VlanId::try_new(id).unwrap(),
        pcp: VlanPcp::ZERO,
        drop_eligible_indicator: false,
        ether_type: etherparse::EtherType::IPV4,
    };
    let ip_builder = match tags {
        0 => builder.ip(ip.clone()),
        1 => builder.vlan(VlanHeader::Single(tag(7))).ip(ip.clone()),
        _ => builder.double_vlan(VlanId::try_new(7).unwrap(), VlanId::try_new(8).unwrap()).ip(ip.clone()),
    };
    let mut frame = Vec::new();
    ip_builder.tcp_header(tcp.clone()).write_to_vec(&mut frame, payload).unwrap();
    frame
}

/// The segment in it, and whether its checksum can be verified. The caller's `read` supplies flags,
/// options and the checksum result.
fn expected_segment<'a>(ip: &IpHeaders, tcp: &TcpHeader, payload: &'a [u8], read: &Segment<'_>) -> (Segment<'a>, bool) {
    let (src, dst, ip_id, ttl, ecn, fragment, summable) = match ip {
        IpHeaders::Ipv4(v4, _) => (
            IpAddr::from(v4.source),
            IpAddr::from(v4.destination),
            Some(v4.identification),
            v4.time_to_live,
            v4.ecn.value(),
            v4.more_fragments,
            v4.options.is_empty(),
        ),
        IpHeaders::Ipv6(v6, exts) => (
            IpAddr::from(v6.source),
            IpAddr::from(v6.destination),
            None,
            v6.hop_limit,
            v6.traffic_class & 3,
            exts.fragment.as_ref().is_some_and(|it| it.more_fragments),
            true,
        ),
    };
    let segment = Segment {
        src,
        dst,
        src_port: tcp.source_port,
        dst_port: tcp.destination_port,
        seq: SeqNumber(tcp.sequence_number),
        ack: SeqNumber(tcp.acknowledgment_number),
        flags: read.flags,
        window: tcp.window_size,
        payload_len: payload.len() as u32,
        payload,
        options: read.options,
        ip_id,
        ttl,
        ecn,
        checksum: read.checksum,
        fragment,
        tunnels: 0,
    };
    (segment, summable && !fragment)
}

proptest! {
    /// Packets written by etherparse are read back, complete or truncated.
    #[test]
    fn reads_what_etherparse_writes(
        ip in prop_oneof![ipv4_header(), ipv6_header()],
        (tcp, options) in tcp_header(),
        tags in 0usize..3,
        payload in proptest::collection::vec(any::<u8>(), 0..60),
        padding in 0usize..20,
        kept in 0usize..300,
    ) {
        let mut frame = written(&ip, &tcp, tags, &payload);
        let headers = frame.len() - payload.len();
        frame.extend(std::iter::repeat_n(0xee, padding));

        let segment = read_verified(1, &frame).unwrap();
        let (expected, summable) = expected_segment(&ip, &tcp, &payload, &segment);
        let read_options = segment.options;
        prop_assert_eq!(segment, expected);
        prop_assert_eq!(read_options, expected_options(&options));
        for (flag, set) in [
            (Flags::FIN, tcp.fin), (Flags::SYN, tcp.syn), (Flags::RST, tcp.rst), (Flags::PSH, tcp.psh),
            (Flags::ACK, tcp.ack), (Flags::URG, tcp.urg), (Flags::ECE, tcp.ece), (Flags::CWR, tcp.cwr),
            (Flags::AE, tcp.ns),
        ] {
            prop_assert_eq!(segment.flags.has(flag), set);
        }
        if summable {
            prop_assert_eq!(segment.checksum, Checksum::Good);
            if let Some(last) = payload.len().checked_sub(1) {
                let mut wrong = frame.clone();
                wrong[headers + last] ^= 0x5a;
                prop_assert_ne!(read_verified(1, &wrong).unwrap().checksum, Checksum::Good);
            }
        }

        let kept = kept.min(frame.len());
        match decode(&cut_packet(1, &frame[..kept], frame.len())) {
            Ok(cut) => {
                prop_assert_eq!((cut.seq, cut.payload_len), (segment.seq, segment.payload_len));
                prop_assert_eq!(cut.payload, &payload[..kept.saturating_sub(headers).min(payload.len())]);
            }
            Err(skip) => {
                prop_assert_eq!(skip, Skip::Cut);
                prop_assert!(kept < headers);
            }
        }
    }

    /// The fast path and the general decoder agree on packets near the conditions of the fast path.
    #[test]
    fn fast_path_agrees_with_the_general_decoder(
        v6 in any::<bool>(),
        options in prop_oneof![
            Just(vec![]),
            Just(vec![1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]),
            proptest::collection::vec(any::<u8>(), 0..40),
        ],
        payload in proptest::collection::vec(any::<u8>(), 0..40),
        changes in proptest::collection::vec((0usize..90, any::<u8>()), 0..3),
        kept in prop_oneof![Just(usize::MAX), 0usize..120],
        more_on_the_wire in prop_oneof![Just(0usize), 0usize..40],
    ) {
        let inside = tcp(&options, &payload);
        let mut frame =
            if v6 { ethernet(0x86dd, &ipv6(6, &inside)) } else { ethernet(0x0800, &ipv4(6, &inside)) };
        for (at, value) in changes {
            if let Some(byte) = frame.get_mut(at) {
                *byte = value;
            }
        }
        let captured = &frame[..kept.min(frame.len())];
        for original_len in [frame.len(), captured.len() + more_on_the_wire, captured.len() / 2] {
            let packet = cut_packet(1, captured, original_len);
            for verify in [false, true] {
                let context = DecodeContext { verify, ..DecodeContext::new(link::inner) };
                prop_assert_eq!(decode_with(context, &packet), decode_layers(context, &packet));
            }
        }
    }

    /// Random bytes after the first bytes of each link type's header.
    #[test]
    fn noise_never_panics(link in any_link(), bytes in proptest::collection::vec(any::<u8>(), 0..200), more in 0usize..9000) {
        check(&cut_packet(link, &bytes, bytes.len() + more));
    }

    /// Packets of every layer with changed, removed and inserted bytes.
    #[test]
    fn damaged_packets_never_panic(
        link in any_link(),
        seed in 0usize..SEEDS,
        shift in 0usize..80,
        changes in proptest::collection::vec((0usize..200, any::<u8>()), 0..8),
        kept in 0usize..220,
        more in prop_oneof![Just(0usize), 0usize..9000],
    ) {
        for prefix in [0, shift] {
            let mut bytes = vec![0; prefix];
            bytes.extend(seeds().swap_remove(seed));
            for (at, value) in &changes {
                if let Some(byte) = bytes.get_mut(*at) {
                    *byte = *value;
                }
            }
            bytes.truncate(kept);
            let original_len = bytes.len() + more;
            for link in [link, 1, 101] {
                check(&cut_packet(link, &bytes, original_len));
            }
        }
    }
}

/// Every supported link type, and a few unsupported ones.
fn any_link() -> impl Strategy<Value = u16> {
    let known: Vec<u16> = (0..300).filter(|link| is_supported(crate::capture::LinkType(*link))).collect();
    prop_oneof![20 => proptest::sample::select(known), 1 => any::<u16>()]
}

const SEEDS: usize = 14;

/// Packets that reach every tunnel decoder.
fn seeds() -> Vec<Vec<u8>> {
    let inner = ipv4(6, &tcp(&[2, 4, 5, 0xb4, 5, 10, 0, 0, 0, 1, 0, 0, 0, 9], b"payload"));
    let frame = ethernet(0x0800, &inner);
    let over_udp = |port: u16, head: &[u8], inside: &[u8]| ipv4(17, &udp(port, &[head, inside].concat()));
    let over_gre = |head: &[u8], inside: &[u8]| ipv4(47, &[head, inside].concat());
    let seeds = vec![
        ipv6(0, &[&[6, 0, 0xc2, 4, 0, 0, 1, 0], &inner[20..]].concat()),
        ipv6(4, &inner),
        over_gre(&[0xf0, 0, 0x08, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0], &inner),
        over_gre(&[0x30, 0x81, 0x88, 0x0b, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0xff, 3, 0, 0x21], &inner),
        over_gre(
            &[0x10, 0, 0x22, 0xeb, 0, 0, 0, 1, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0],
            &frame,
        ),
        over_udp(4789, &[8, 0, 0, 0, 0, 0, 9, 0], &frame),
        over_udp(4790, &[0x0c, 0, 0, 4, 0, 0, 9, 0, 0, 2, 1, 3, 0, 0, 0, 0], &frame),
        over_udp(6081, &[1, 0, 0x65, 0x58, 0, 0, 9, 0, 0, 0, 0, 0], &frame),
        over_udp(2152, &[0x34, 0xff, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0, 9, 0], &inner),
        over_udp(1701, &[0x4a, 2, 0, 99, 0, 1, 0, 2, 0, 3, 0, 4, 0, 2, 0, 0, 0, 0x21], &inner),
        over_udp(3544, &[0, 1, 1, 2, 9, 8, 7, 0, 0, 0, 0, 0, 0, 0, 1, 0], &ipv6(6, &inner[20..])),
        ethernet(0x8100, &[&[0, 7, 0x88, 0x47, 0, 1, 0x11, 64, 0, 0, 0, 0], &frame[..]].concat()),
        ethernet(0x8864, &[&[0x11, 0, 0, 1, 0, 80, 0, 0x31, 0, 1], &frame[..]].concat()),
        ethernet(60, &[&[0xaa, 0xaa, 3, 0, 0, 0, 0x81, 0, 0, 7, 0x08, 0], &inner[..]].concat()),
    ];
    assert_eq!(seeds.len(), SEEDS);
    seeds
}

/// Checks the invariants that hold for any packet.
#[track_caller]
fn check(packet: &crate::capture::Packet<'_>) {
    for read in [decode(packet), decode_verified(packet)] {
        match read {
            Ok(segment) => {
                assert!(segment.payload.len() <= segment.payload_len as usize);
                assert!(segment.payload.len() <= packet.data.len());
                assert!(segment.options.sack.as_slice().len() <= 4);
                assert!(segment.tunnels <= DecodeContext::MAX_DEPTH);
            }
            Err(skip) => assert!(!skip.to_string().is_empty()),
        }
    }
}

#[test]
fn a_segment_stays_small() {
    // It is copied for every packet: little more than two cache lines.
    assert!(size_of::<Result<Segment<'_>, Skip>>() <= 144);
}

#[test]
fn unsupported_link_type_is_reported() {
    let skip = decode(&packet(187, &[0; 100])).unwrap_err();
    assert_eq!(skip.to_string(), "LINKTYPE_BLUETOOTH_HCI_H4 (187): not read");
}
