//! System calls that no safe wrapper offers: options of a socket that are structures.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Reads an option into `space`. Returns how many bytes the kernel wrote, which differs between
/// kernels.
///
/// # Errors
/// Errors of getsockopt(2).
#[allow(unsafe_code)]
pub fn getsockopt(socket: BorrowedFd<'_>, level: i32, name: i32, space: &mut [u8]) -> io::Result<usize> {
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
/// Errors of setsockopt(2).
#[allow(unsafe_code)]
pub fn setsockopt(socket: BorrowedFd<'_>, level: i32, name: i32, value: &[u8]) -> io::Result<()> {
    let length = libc::socklen_t::try_from(value.len()).unwrap_or(libc::socklen_t::MAX);
    // SAFETY: `value` is readable for `length` bytes through the call; the descriptor is borrowed,
    // so it is open.
    let result = unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, value.as_ptr().cast(), length) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
