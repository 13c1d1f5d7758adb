//! The values that a host remembers of an earlier connection to its peer (`ip tcp_metrics`).
//!
//! The kernel writes an entry when a connection ends, and copies into a new one what the route to
//! the peer is locked at. For a moment the peer's address is the host's own, and the host connects
//! with itself: no packet of that leaves it.

use super::device::{self, Interface};
use super::error::{Context, Error};
use super::namespace::Namespace;
use socket2::{Domain, Socket, Type};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

/// Makes a host remember this slow-start threshold, in segments, of the peer of a device.
pub(super) fn remember(host: &Namespace, interface: &Interface, ssthresh: u32) -> Result<(), Error> {
    let Interface { address, peer, .. } = interface;
    let taking = format!(
        "address add {peer}/32 dev lo\nroute replace local {peer} dev lo table local ssthresh lock {ssthresh}\n"
    );
    device::ip(host, "taking the peer's address", &taking, None)?;
    let met = host.within(|| meet(*address, *peer))?.doing("connecting the host with itself");
    let returning = format!("address del {peer}/32 dev lo\nroute del local {peer} dev lo table local\n");
    device::ip(host, "giving the peer's address back", &returning, None)?;
    met
}

/// Opens a connection between the two, and closes it.
fn meet(own: Ipv4Addr, peer: Ipv4Addr) -> io::Result<()> {
    let listener = TcpListener::bind((peer, 0))?;
    let client = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    client.bind(&SocketAddr::from((own, 0)).into())?;
    client.connect(&listener.local_addr()?.into())?;
    let (mut server, _) = listener.accept()?;
    // The end that closes first saves its metrics when the other end has acknowledged that.
    drop(client);
    io::copy(&mut server, &mut io::sink())?;
    Ok(())
}
