//! System calls that no safe wrapper offers: a device whose packets begin with the IP header, and
//! an option of packet sockets.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// `_IOW('T', 202, int)` of linux/if_tun.h.
const TUNSETIFF: u64 = 0x4004_54ca;
/// IFF_TUN and IFF_NO_PI.
const FLAGS: u16 = 0x1001;

/// Makes a device of this name, which exists as long as the file is open.
pub(crate) fn open_tun(name: &str) -> io::Result<File> {
    let file = File::options().read(true).write(true).open("/dev/net/tun")?;
    // `ifreq`: the name, flags, and room for what else it can be.
    let mut request = [0_u8; 40];
    request[..name.len()].copy_from_slice(name.as_bytes());
    request[16..18].copy_from_slice(&FLAGS.to_ne_bytes());
    // SAFETY: the request is as long as an `ifreq`, and the kernel reads and writes no more.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), TUNSETIFF as _, request.as_mut_ptr()) };
    if result == 0 { Ok(file) } else { Err(io::Error::last_os_error()) }
}

/// Packets of this socket begin with a `virtio_net_hdr`, so that the kernel cuts large ones.
pub(crate) fn let_kernel_cut(socket: impl AsFd) -> io::Result<()> {
    let on = 1_i32;
    let (value, length) = ((&raw const on).cast(), size_of::<i32>() as libc::socklen_t);
    let socket = socket.as_fd().as_raw_fd();
    // SAFETY: the value is readable for its length through the call; the descriptor is borrowed,
    // so it is open.
    let result = unsafe { libc::setsockopt(socket, libc::SOL_PACKET, libc::PACKET_VNET_HDR, value, length) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
