//! Why a packet contains no segment.

use super::datagram::Datagram;
use super::icmp_error::{self, Icmp};
use super::link;
use crate::capture::LinkType;
use std::fmt;

/// Why a packet contains no segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Skip {
    /// Unknown link type: its LINKTYPE_ value.
    LinkType(u16),
    /// Not IP: the EtherType or equivalent (a PPP protocol; under 0x100 also an LLC service access
    /// point).
    NotIp(u16),
    /// IP, but not TCP: the protocol number.
    NotTcp(u8),
    /// An ICMP error about a TCP segment.
    Icmp(Icmp),
    /// UDP with a QUIC packet.
    Quic(Datagram),
    /// UDP with a message of DNS.
    Dns(Datagram),
    /// UDP that may be of a known QUIC connection; its content alone does not show it.
    Udp(Datagram),
    /// A truncated ICMP error about TCP: the quoted part does not identify the segment.
    IcmpCut,
    /// A frame without a readable packet; its kind in a few words.
    NoPacket(&'static str),
    /// A fragment that is not the first, or too short for the TCP header.
    Fragment,
    /// The snapshot length truncated the headers.
    Cut,
    /// An inconsistent header; the inconsistency in a few words.
    Malformed(&'static str),
}

impl Skip {
    /// The reason under which it is counted: all ICMP errors are counted together.
    #[must_use]
    pub fn counted(self) -> Self {
        match self {
            Self::Icmp(error) if error.from.0.is_ipv6() => Self::NotTcp(icmp_error::V6),
            Self::Icmp(_) => Self::NotTcp(icmp_error::V4),
            Self::Quic(_) => Self::Quic(Datagram::ANY),
            Self::Dns(_) | Self::Udp(_) => Self::NotTcp(17),
            other => other,
        }
    }
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::LinkType(value) => match link::registered_name(LinkType(value)) {
                Some(name) => write!(f, "LINKTYPE_{name} ({value}): not read"),
                None => write!(f, "link type {value}, which is not a registered one: not read"),
            },
            Self::NotIp(value) => match network_name(value) {
                Some(name) => write!(f, "not IP: {name} (0x{value:04x})"),
                None => write!(f, "not IP: protocol 0x{value:04x}"),
            },
            Self::NotTcp(value) => match transport_name(value) {
                Some(name) => write!(f, "not TCP: {name}"),
                None => write!(f, "not TCP: IP protocol {value}"),
            },
            Self::Quic(_) => f.write_str("QUIC of connections whose beginning was not captured: not read"),
            Self::Icmp(_) | Self::Dns(_) | Self::Udp(_) => self.counted().fmt(f),
            Self::IcmpCut => f.write_str("an ICMP error that quotes too little of a TCP segment to tell which one"),
            Self::NoPacket(what) => f.write_str(what),
            Self::Fragment => f.write_str("an IP fragment without the TCP header"),
            Self::Cut => f.write_str("cut by the snapshot length before the end of its headers"),
            Self::Malformed(what) => f.write_str(what),
        }
    }
}

/// EtherTypes, PPP protocols and LLC access points that are common where people capture TCP.
fn network_name(value: u16) -> Option<&'static str> {
    Some(match value {
        0x0006 => "IP by an unusual LLC",
        0x0042 => "spanning tree",
        0x0023 | 0x00fe => "an OSI protocol such as IS-IS",
        0x002d | 0x002f => "a compressed TCP/IP header",
        0x003d => "PPP multilink",
        0x00aa => "a vendor's protocol by SNAP",
        0x00e0 | 0x00ff | 0x8137 | 0x8138 => "IPX",
        0x00f0 => "NetBIOS",
        0x00fd => "compressed or encrypted PPP",
        0x0806 => "ARP",
        0x0842 => "wake on LAN",
        0x2000 => "CDP",
        0x22f0 => "AVTP",
        0x22f3 => "TRILL",
        0x6002..=0x6007 => "DEC",
        0x8035 => "RARP",
        0x8021 => "PPP IPCP",
        0x8057 => "PPP IPv6CP",
        0x8281 => "PPP MPLSCP",
        0x80fd => "PPP CCP",
        0x80f3 => "AARP",
        0x809b => "AppleTalk",
        0x8100 | 0x88a8 => "VLAN",
        0x8808 => "Ethernet flow control",
        0x8809 => "a slow protocol such as LACP",
        0x8847 | 0x8848 => "MPLS with an unknown payload",
        0x8863 => "PPPoE discovery",
        0x8870 => "a jumbo LLC frame",
        0x888e => "802.1X",
        0x8892 => "PROFINET",
        0x88a2 => "ATA over Ethernet",
        0x88a4 => "EtherCAT",
        0x88b5 | 0x88b6 => "an experimental protocol",
        0x88cc => "LLDP",
        0x88e5 => "MACsec",
        0x88f7 => "PTP",
        0x8902 => "Ethernet CFM",
        0x8906 => "FCoE",
        0x8914 => "FIP",
        0x8915 => "RoCE",
        0x9000 => "a loopback test",
        0xc021 => "PPP LCP",
        0xc023 => "PPP PAP",
        0xc025 => "PPP link quality",
        0xc223 => "PPP CHAP",
        _ => return None,
    })
}

/// Common IP protocols other than TCP.
fn transport_name(value: u8) -> Option<&'static str> {
    Some(match value {
        1 => "ICMP",
        2 => "IGMP",
        17 => "UDP",
        33 => "DCCP",
        46 => "RSVP",
        50 => "ESP (encrypted)",
        58 => "ICMPv6",
        59 => "an IPv6 packet without payload",
        88 => "EIGRP",
        89 => "OSPF",
        103 => "PIM",
        108 => "IPComp (compressed)",
        112 => "VRRP",
        115 => "L2TPv3",
        132 => "SCTP",
        136 => "UDP-Lite",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_plain_english() {
        let cases = [
            (Skip::LinkType(187), "LINKTYPE_BLUETOOTH_HCI_H4 (187): not read"),
            (Skip::LinkType(40000), "link type 40000, which is not a registered one: not read"),
            (Skip::NotIp(0x0806), "not IP: ARP (0x0806)"),
            (Skip::NotIp(0x1234), "not IP: protocol 0x1234"),
            (Skip::NotTcp(17), "not TCP: UDP"),
            (Skip::NotTcp(200), "not TCP: IP protocol 200"),
            (Skip::NoPacket("an encrypted 802.11 frame"), "an encrypted 802.11 frame"),
            (Skip::Malformed("the packet ends inside a header"), "the packet ends inside a header"),
        ];
        for (skip, text) in cases {
            assert_eq!(skip.to_string(), text);
        }
    }
}
