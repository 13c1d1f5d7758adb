//! ICMP errors.

use super::ends::name;
use crate::words::quantity::thousands;
use whyslow_analysis::{Fate, IcmpError};

pub(in crate::words) fn icmp_error(error: &IcmpError) -> String {
    let about = name(error.about);
    let size = error.size.filter(|_| matches!(error.kind, Fate::TooBig(_)));
    let size = size.map_or(String::new(), |size| format!(" of {} B", thousands(size.into())));
    let then = match error.obeyed {
        Some(true) => "; the sender then sends shorter ones",
        Some(false) => "; the sender ignores it",
        None => "",
    };
    format!("{} reports about the {about}'s packets{size}: {}{then}", error.by, fate(error.kind))
}

/// What an ICMP error reports, of several packets.
fn fate(fate: Fate) -> String {
    match fate {
        Fate::TooBig(Some(mtu)) => {
            format!("too long, at most {} B pass (fragmentation needed)", thousands(mtu.into()))
        }
        Fate::TooBig(None) => "too long (fragmentation needed)".to_owned(),
        Fate::NetworkUnreachable => "no route to their network".to_owned(),
        Fate::HostUnreachable => "the host cannot be reached".to_owned(),
        Fate::ProtocolUnreachable => "the host does not accept TCP".to_owned(),
        Fate::PortUnreachable => "the port is closed (port unreachable)".to_owned(),
        Fate::Prohibited => "a filter blocks them (administratively prohibited)".to_owned(),
        Fate::TimeExceeded => "time to live exceeded on the way".to_owned(),
    }
}
