//! Clears the kernel's metrics cache of earlier peers (`ip tcp_metrics flush`) over generic
//! netlink.
//!
//! A flush needs real root. An ordinary user is root of a user namespace only; for them the lab
//! sets the kernel to ignore the cached threshold, which has the same effect on the next
//! connection.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const NLM_F_REQUEST_ACK: u16 = 5;
const GENL_ID_CTRL: u16 = 16;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;
const TCP_METRICS_CMD_DEL: u8 = 2;
const NLMSG_ERROR: u16 = 2;
/// Netlink's header and generic netlink's.
const HEADERS: usize = 20;

/// While this is 1 the slow-start threshold is neither remembered nor taken from memory.
const IGNORE: &str = "/proc/sys/net/ipv4/tcp_no_ssthresh_metrics_save";

/// Makes the next connection start as if it were the first.
pub fn forget() -> io::Result<()> {
    match flush() {
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => std::fs::write(IGNORE, "1"),
        done => done,
    }
}

/// Drops every entry of this namespace's cache.
fn flush() -> io::Result<()> {
    // SAFETY: socket takes numbers only; the descriptor is owned from here on.
    let socket = unsafe {
        let fd = libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, libc::NETLINK_GENERIC);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        OwnedFd::from_raw_fd(fd)
    };
    let mut name = vec![16, 0];
    name.extend_from_slice(&CTRL_ATTR_FAMILY_NAME.to_ne_bytes());
    name.extend_from_slice(b"tcp_metrics\0");
    let reply = ask(&socket, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, &name)?;
    let family = family_id(&reply).ok_or_else(|| io::Error::other("this kernel keeps no tcp_metrics"))?;
    ask(&socket, family, TCP_METRICS_CMD_DEL, &[]).map(|_| ())
}

/// Sends one request and reads its answer; an error answer is an error.
fn ask(socket: &OwnedFd, kind: u16, command: u8, attributes: &[u8]) -> io::Result<Vec<u8>> {
    let len = u32::try_from(HEADERS + attributes.len()).map_err(io::Error::other)?;
    let mut message = Vec::with_capacity(HEADERS + attributes.len());
    message.extend_from_slice(&len.to_ne_bytes());
    message.extend_from_slice(&kind.to_ne_bytes());
    message.extend_from_slice(&NLM_F_REQUEST_ACK.to_ne_bytes());
    message.extend_from_slice(&[0; 8]);
    message.extend_from_slice(&[command, 1, 0, 0]);
    message.extend_from_slice(attributes);
    // SAFETY: the pointer and the length are those of one vector.
    let sent = unsafe { libc::send(socket.as_raw_fd(), message.as_ptr().cast(), message.len(), 0) };
    if sent < 0 {
        return Err(io::Error::last_os_error());
    }
    let mut answer = Vec::new();
    loop {
        let mut buffer = vec![0_u8; 8192];
        // SAFETY: as above; the kernel writes at most the length given.
        let got = unsafe { libc::recv(socket.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0) };
        buffer.truncate(usize::try_from(got).map_err(|_| io::Error::last_os_error())?);
        let kind = buffer.get(4..6).and_then(|b| b.try_into().ok()).map(u16::from_ne_bytes);
        if kind != Some(NLMSG_ERROR) {
            answer = buffer;
            continue;
        }
        // The acknowledgement, which ends the answer; its number is 0 or a negated errno.
        let code = buffer.get(16..20).and_then(|b| b.try_into().ok()).map_or(-libc::EPROTO, i32::from_ne_bytes);
        return if code == 0 { Ok(answer) } else { Err(io::Error::from_raw_os_error(-code)) };
    }
}

fn family_id(answer: &[u8]) -> Option<u16> {
    let mut attributes = answer.get(HEADERS..)?;
    while let [l0, l1, k0, k1, rest @ ..] = attributes {
        let len = usize::from(u16::from_ne_bytes([*l0, *l1])).max(4);
        if u16::from_ne_bytes([*k0, *k1]) == CTRL_ATTR_FAMILY_ID {
            return Some(u16::from_ne_bytes([*rest.first()?, *rest.get(1)?]));
        }
        attributes = attributes.get(len.next_multiple_of(4)..)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::family_id;

    #[test]
    fn finds_the_family_among_other_attributes() {
        let mut answer = vec![0; 20];
        for (kind, value) in [(2_u16, &b"tcp_metrics\0"[..]), (1, &[0x1c, 0, 0, 0]), (3, &[1, 0, 0, 0])] {
            // The name's length is not a multiple of 4 once its terminator is cut off.
            let len = u16::try_from(4 + value.len()).unwrap_or(4) - u16::from(kind == 2);
            answer.extend_from_slice(&len.to_ne_bytes());
            answer.extend_from_slice(&kind.to_ne_bytes());
            answer.extend_from_slice(value);
        }
        assert_eq!(family_id(&answer), Some(0x1c));
        assert_eq!(family_id(&answer[..36]), None);
        assert_eq!(family_id(&[]), None);
        assert_eq!(family_id(&[[0; 20].as_slice(), &[0, 0, 9, 9]].concat()), None, "a length of 0 does not loop");
    }
}
