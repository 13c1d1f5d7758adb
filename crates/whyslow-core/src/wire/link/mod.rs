//! Link layers: from the first captured byte to the network layer.
//!
//! There is one file per family; [`decode`] lists the supported link types.

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

use super::context::{DecodeContext, Decoded, Inside};
use super::view::View;
use super::{Skip, ethertype, ip, llc};
use crate::capture::{LinkType, qlog};

/// Decodes a packet that begins with the header of `link`.
pub(super) fn decode<'a>(context: DecodeContext, link: LinkType, view: View<'a>) -> Decoded<'a> {
    match link.0 {
        0 => loopback::null(context, view),
        1 => ethernet::decode(context, view),
        6 => minor::token_ring(context, view),
        7 => minor::arcnet(context, view, 2),
        8 => minor::slip(context, view),
        9 | 50 => ppp::hdlc(context, view),
        10 => minor::fddi(context, view),
        // The number of DLT_RAW differs between systems; some writers put it into files unchanged.
        12 | 14 | 101 | 228 | 229 => ip::decode(context, view),
        link if link == qlog::record::LINK.0 => ip::decode(context, view),
        51 => ethertype::pppoe_session(context, view),
        19 | 100 | 106 => minor::atm_llc(context, view),
        104 => ppp::cisco_hdlc(context, view),
        105 => ieee80211::decode(context, view, false),
        107 => minor::frame_relay(context, view),
        108 => loopback::family_in_network_order(context, view),
        109 => loopback::enc(context, view),
        113 => cooked::v1(context, view),
        117 => loopback::pflog(context, view),
        119 => ieee80211::prism(context, view),
        122 => minor::ip_over_fibre_channel(context, view),
        123 => minor::sun_atm(context, view),
        127 => ieee80211::radiotap(context, view),
        129 => minor::arcnet(context, view, 4),
        138 => minor::ip_over_ieee1394(context, view),
        149 => pktap::private(context, view),
        163 => ieee80211::avs(context, view),
        166 => ppp::pppd(context, view),
        192 => ieee80211::ppi(context, view),
        204 => ppp::hdlc(context, view.skip(1)?),
        205 => ppp::cisco_hdlc(context, view.skip(1)?),
        206 => minor::frame_relay(context, view.skip(1)?),
        219 => ethertype::mpls(context, view),
        226 => minor::ipnet(context, view),
        239 => nflog::decode(context, view),
        240 => ethernet::decode(context, view.skip(4)?),
        // A pseudo-header, then the frame with its preamble.
        241 => ethernet::decode(context, view.skip(12)?),
        242 => minor::ip_over_infiniband(context, view),
        258 => pktap::decode(context, view),
        // Skip the preamble.
        259 | 274 => ethernet::decode(context, view.skip(8)?),
        276 => cooked::v2(context, view),
        other => Err(Skip::LinkType(other)),
    }
}

/// Whether packets of this link type are supported.
#[cfg(test)]
pub fn is_supported(link: LinkType) -> bool {
    !matches!(decode(DecodeContext::new(inner), link, View::default()), Err(Skip::LinkType(_)))
}

/// Decodes a packet inside a packet or frame of any layer.
pub(super) fn inner(context: DecodeContext, inside: Inside, view: View<'_>) -> Decoded<'_> {
    match inside {
        Inside::Ip => ip::decode(context, view),
        Inside::Ethernet => ethernet::decode(context, view),
        Inside::Ppp => ppp::decode(context, view),
        Inside::Llc => llc::decode(context, view),
        Inside::Mpls => ethertype::mpls(context, view),
        Inside::EtherType(kind) => ethertype::decode(context, kind, view),
        Inside::Link(link) => decode(context, LinkType(link), view),
    }
}

#[cfg(test)]
mod tests;
