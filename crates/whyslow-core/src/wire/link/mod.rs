//! Link layers: from the first byte that was captured to the network layer.
//!
//! One file a family; [`decode`] is the list of what can be read.

pub(super) mod ethernet;
pub(super) mod ppp;

mod cooked;
mod ieee80211;
mod loopback;
mod minor;
mod names;
mod nflog;
mod pktap;

pub use names::link_type_name;
pub(super) use names::registered_name;

use super::around::{Around, Decoded, Inside};
use super::view::View;
use super::{Skip, ethertype, ip, llc};
use crate::capture::LinkType;

/// A packet that begins with the header of `link`.
pub(super) fn decode<'a>(around: Around, link: LinkType, view: View<'a>) -> Decoded<'a> {
    match link.0 {
        0 => loopback::null(around, view),
        1 => ethernet::decode(around, view),
        6 => minor::token_ring(around, view),
        7 => minor::arcnet(around, view, 2),
        8 => minor::slip(around, view),
        9 | 50 => ppp::hdlc(around, view),
        10 => minor::fddi(around, view),
        // DLT_RAW's own number differs between systems; some writers put it into files unchanged.
        12 | 14 | 101 | 228 | 229 => ip::decode(around, view),
        51 => ethertype::pppoe_session(around, view),
        19 | 100 | 106 => minor::atm_llc(around, view),
        104 => ppp::cisco_hdlc(around, view),
        105 => ieee80211::decode(around, view, false),
        107 => minor::frame_relay(around, view),
        108 => loopback::family_in_network_order(around, view),
        109 => loopback::enc(around, view),
        113 => cooked::v1(around, view),
        117 => loopback::pflog(around, view),
        119 => ieee80211::prism(around, view),
        122 => minor::ip_over_fibre_channel(around, view),
        123 => minor::sun_atm(around, view),
        127 => ieee80211::radiotap(around, view),
        129 => minor::arcnet(around, view, 4),
        138 => minor::ip_over_ieee1394(around, view),
        149 => pktap::private(around, view),
        163 => ieee80211::avs(around, view),
        166 => ppp::pppd(around, view),
        192 => ieee80211::ppi(around, view),
        204 => ppp::hdlc(around, view.skip(1)?),
        205 => ppp::cisco_hdlc(around, view.skip(1)?),
        206 => minor::frame_relay(around, view.skip(1)?),
        219 => ethertype::mpls(around, view),
        226 => minor::ipnet(around, view),
        239 => nflog::decode(around, view),
        240 => ethernet::decode(around, view.skip(4)?),
        // A pseudo-header, then the frame with its preamble.
        241 => ethernet::decode(around, view.skip(12)?),
        242 => minor::ip_over_infiniband(around, view),
        258 => pktap::decode(around, view),
        // The preamble.
        259 | 274 => ethernet::decode(around, view.skip(8)?),
        276 => cooked::v2(around, view),
        other => Err(Skip::LinkType(other)),
    }
}

/// Whether packets of this link type can be read.
pub fn is_supported(link: LinkType) -> bool {
    !matches!(decode(Around::new(inner), link, View::default()), Err(Skip::LinkType(_)))
}

/// Reads what lies within a packet or frame of any layer.
pub(super) fn inner(around: Around, inside: Inside, view: View<'_>) -> Decoded<'_> {
    match inside {
        Inside::Ip => ip::decode(around, view),
        Inside::Ethernet => ethernet::decode(around, view),
        Inside::Ppp => ppp::decode(around, view),
        Inside::Llc => llc::decode(around, view),
        Inside::Mpls => ethertype::mpls(around, view),
        Inside::EtherType(kind) => ethertype::decode(around, kind, view),
        Inside::Link(link) => decode(around, LinkType(link), view),
    }
}

#[cfg(test)]
mod tests;
