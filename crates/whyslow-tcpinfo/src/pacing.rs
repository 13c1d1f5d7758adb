//! How fast a socket may send.

use std::io;
use std::os::fd::BorrowedFd;

/// `SO_MAX_PACING_RATE` (include/uapi/asm-generic/socket.h).
const MAX_PACING_RATE: i32 = 47;

/// Spaces a socket's segments so that it sends no faster than `rate` bytes a second; none lifts
/// that. The kernel does the pacing itself where no queue discipline does (Linux 4.13).
///
/// # Errors
/// Errors of setsockopt(2).
pub fn limit_pacing(socket: BorrowedFd<'_>, rate: Option<u64>) -> io::Result<()> {
    crate::sys::setsockopt(socket, libc::SOL_SOCKET, MAX_PACING_RATE, &rate.unwrap_or(u64::MAX).to_ne_bytes())
}
