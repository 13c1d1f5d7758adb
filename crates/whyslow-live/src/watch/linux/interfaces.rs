//! Names and kinds of network interfaces.

use crate::watch::error::WatchError;
use nix::ifaddrs::getifaddrs;
use nix::net::if_::{if_indextoname, if_nameindex, if_nametoindex};

/// The name of an interface, while it is there.
pub(in crate::watch) fn name(index: u32) -> Option<String> {
    // nix calls it a success when there is none, and gives an empty name.
    let name = if_indextoname(index).ok()?.into_string().ok()?;
    (!name.is_empty()).then_some(name)
}

/// Indexes and names of the named interfaces, each once.
pub(super) fn find(names: &[String]) -> Result<Vec<(u32, String)>, WatchError> {
    let find = |name: &String| {
        let index = if_nametoindex(name.as_str()).map_err(|_| {
            let known = all().into_iter().map(|(_, name)| name).collect();
            WatchError::NoInterface { name: name.clone(), known }
        })?;
        Ok((index, name.clone()))
    };
    let mut found: Vec<_> = names.iter().map(find).collect::<Result<_, WatchError>>()?;
    found.sort();
    found.dedup();
    Ok(found)
}

/// Indexes and names of all interfaces.
pub(super) fn all() -> Vec<(u32, String)> {
    let Ok(all) = if_nameindex() else { return Vec::new() };
    all.iter().map(|one| (one.index(), one.name().to_string_lossy().into_owned())).collect()
}

/// Whether its packets begin with Ethernet's header; the loopback device's do.
pub(super) fn has_ethernet_header(name: &str) -> bool {
    let Ok(mut addresses) = getifaddrs() else { return false };
    addresses.any(|address| {
        let link = address.address.as_ref().and_then(|address| address.as_link_addr());
        let kind = link.map(|link| link.hatype());
        address.interface_name == name && matches!(kind, Some(libc::ARPHRD_ETHER | libc::ARPHRD_LOOPBACK))
    })
}
