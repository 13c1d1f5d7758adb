//! System calls that no safe wrapper offers: requests of ethtool, and the address of a packet
//! socket.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// linux/sockios.h.
const SIOCETHTOOL: libc::Ioctl = 0x8946;

/// Gives a request of ethtool (linux/ethtool.h) to a device of the socket's network namespace; the
/// kernel writes its answer over the request.
///
/// # Errors
/// Those of SIOCETHTOOL, as EOPNOTSUPP where the driver has no answer; EINVAL for a name that is no
/// device's.
#[allow(unsafe_code)]
pub(crate) fn ethtool(socket: BorrowedFd<'_>, device: &str, request: &mut [u64]) -> io::Result<()> {
    let mut name: [libc::c_char; libc::IFNAMSIZ] = [0; libc::IFNAMSIZ];
    if device.len() >= name.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (to, from) in name.iter_mut().zip(device.bytes()) {
        *to = libc::c_char::from_ne_bytes([from]);
    }
    let data = libc::__c_anonymous_ifr_ifru { ifru_data: request.as_mut_ptr().cast() };
    let mut argument = libc::ifreq { ifr_name: name, ifr_ifru: data };
    // SAFETY: `argument` and `request` are writable through the call, and the descriptor is
    // borrowed, so it is open. The kernel writes as much as the driver has of what the request asks
    // for: callers leave room for more than the driver announced.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL, &raw mut argument) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Binds a packet socket to an interface, or with 0 to all, for packets of every protocol.
///
/// # Errors
/// Errors of bind(2).
#[allow(unsafe_code)]
pub(crate) fn bind_to_interface(socket: BorrowedFd<'_>, interface: u32) -> io::Result<()> {
    let mut address = [0_u8; size_of::<libc::sockaddr_ll>()];
    address[..2].copy_from_slice(&(libc::AF_PACKET as u16).to_ne_bytes());
    address[2..4].copy_from_slice(&(libc::ETH_P_ALL as u16).to_be_bytes());
    address[4..8].copy_from_slice(&interface.to_ne_bytes());
    // SAFETY: `address` is as long as a `sockaddr_ll` and readable through the call; the kernel
    // copies it without a demand on its alignment. The descriptor is borrowed, so it is open.
    let result = unsafe { libc::bind(socket.as_raw_fd(), address.as_ptr().cast(), address.len() as libc::socklen_t) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
