//! System calls that no safe wrapper offers: options of a socket that are structures, and the
//! address of a packet socket.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// linux/sockios.h.
const SIOCETHTOOL: libc::Ioctl = 0x8946;

/// Reads an option into `space`. Returns how many bytes the kernel wrote, which differs between
/// kernels.
///
/// # Errors
/// Those of getsockopt(2).
#[allow(unsafe_code)]
pub(crate) fn getsockopt(socket: BorrowedFd<'_>, level: i32, name: i32, space: &mut [u8]) -> io::Result<usize> {
    let mut length = libc::socklen_t::try_from(space.len()).unwrap_or(libc::socklen_t::MAX);
    // SAFETY: `space` is writable for `length` bytes through the call, and the kernel writes no
    // more than that; the descriptor is borrowed, so it is open.
    let result =
        unsafe { libc::getsockopt(socket.as_raw_fd(), level, name, space.as_mut_ptr().cast(), &raw mut length) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(usize::try_from(length).unwrap_or(0).min(space.len()))
}

/// Sets an option that is a structure.
///
/// # Errors
/// Those of setsockopt(2).
#[allow(unsafe_code)]
pub(crate) fn setsockopt(socket: BorrowedFd<'_>, level: i32, name: i32, value: &[u8]) -> io::Result<()> {
    let length = libc::socklen_t::try_from(value.len()).unwrap_or(libc::socklen_t::MAX);
    // SAFETY: `value` is readable for `length` bytes through the call; the descriptor is borrowed,
    // so it is open.
    let result = unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, value.as_ptr().cast(), length) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

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
/// Those of bind(2).
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
