//! TCP sockets over netlink's sock_diag (sock_diag(7), linux/inet_diag.h).

use super::{Memory, Prefix, Socket, State, Timer, TimerKind};
use crate::tcp_info::TcpInfo;
use nix::sys::socket::SockProtocol;
use std::io;
use std::net::{IpAddr, SocketAddr, SocketAddrV6};
use whyslow_tcpinfo::attributes::{at, read, text, u32_at, u64_at};
use whyslow_tcpinfo::netlink::{List, Netlink};

const SOCK_DIAG_BY_FAMILY: u16 = 20;

/// Attributes (`INET_DIAG_*`).
const INFO: u16 = 2;
const CONG: u16 = 4;
const SKMEMINFO: u16 = 7;
const MARK: u16 = 15;
const CGROUP_ID: u16 = 21;

/// States from ESTABLISHED to CLOSING: all that have a place on the wire.
const STATES: u32 = 0xffe;

/// `struct inet_diag_sockid`: ports, addresses, device and cookie.
const ID: usize = 4;
/// The member after it in `struct inet_diag_msg`.
const EXPIRES: usize = ID + 48;
const ATTRIBUTES: usize = EXPIRES + 20;

/// A socket, and the number of the cgroup that made it.
pub(super) struct Found {
    pub socket: Socket,
    pub cgroup: Option<u64>,
}

/// All TCP sockets of the thread's network namespace. Given a prefix: those with such peers, and
/// the listeners.
///
/// # Errors
/// What the kernel answers; ENOENT where it is built without `INET_TCP_DIAG`.
pub(super) fn all(peer: Option<Prefix>) -> io::Result<List<Found>> {
    let mut netlink = Netlink::open(SockProtocol::NetlinkSockDiag)?;
    let wanted = |found: &Found| {
        let socket = &found.socket;
        socket.state == State::Listen || peer.is_none_or(|prefix| prefix.contains(socket.remote.ip()))
    };
    let mut all = List { items: Vec::new(), changed: false };
    for family in [libc::AF_INET, libc::AF_INET6] {
        match netlink.list(SOCK_DIAG_BY_FAMILY, &request(family), |message| parse(message).filter(wanted)) {
            Ok(mut found) => {
                all.items.append(&mut found.items);
                all.changed |= found.changed;
            }
            // A kernel without IPv6.
            Err(error) if family == libc::AF_INET6 && error.raw_os_error() == Some(libc::ENOENT) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(all)
}

/// A socket by the kernel's message about it.
pub(crate) fn of_message(message: &[u8]) -> Option<Socket> {
    parse(message).map(|found| found.socket)
}

/// `struct inet_diag_req_v2`.
fn request(family: i32) -> Vec<u8> {
    let extensions: u8 = [INFO, CONG, SKMEMINFO].iter().map(|kind| 1 << (kind - 1)).sum();
    let byte = |number: i32| u8::try_from(number).unwrap_or(0);
    let mut request = vec![byte(family), byte(libc::IPPROTO_TCP), extensions, 0];
    request.extend(STATES.to_ne_bytes());
    request.resize(request.len() + 48, 0);
    request
}

/// Reads a `struct inet_diag_msg` and its attributes; `None` if it is cut, or in an unknown state.
fn parse(message: &[u8]) -> Option<Found> {
    let &[family, state, timer, retransmits, ..] = message else { return None };
    let attributes = message.get(ATTRIBUTES..)?;
    let interface = u32_at(message, ID + 36)?;
    let endpoint = |port: usize, address: usize| endpoint(message, family, port, address, interface);
    let cookie = u64::from(u32_at(message, ID + 40)?) | u64::from(u32_at(message, ID + 44)?) << 32;
    let mut found = Found {
        socket: Socket {
            cookie: Some(cookie).filter(|&cookie| cookie != 0 && cookie != u64::MAX),
            state: state_of(state)?,
            local: endpoint(ID, ID + 4)?,
            remote: endpoint(ID + 2, ID + 20)?,
            recv_queue: u32_at(message, EXPIRES + 4)?,
            send_queue: u32_at(message, EXPIRES + 8)?,
            owners: Vec::new(),
            inode: u32_at(message, EXPIRES + 16)?.into(),
            uid: u32_at(message, EXPIRES + 12)?,
            cgroup: None,
            interface: Some(interface).filter(|&interface| interface != 0),
            mark: None,
            route: None,
            congestion_control: None,
            info: None,
            memory: None,
            timer: timer_of(timer, retransmits, u32_at(message, EXPIRES)?),
            drops: None,
        },
        cgroup: None,
    };
    read_attributes(attributes, &mut found);
    Some(found)
}

fn read_attributes(attributes: &[u8], found: &mut Found) {
    let socket = &mut found.socket;
    for (kind, value) in read(attributes) {
        match kind {
            // For a listener it holds the queue, which is known already.
            INFO if socket.state != State::Listen => socket.info = Some(TcpInfo::parse(value)),
            CONG => socket.congestion_control = Some(text(value)).filter(|name| !name.is_empty()),
            SKMEMINFO => {
                socket.memory = memory(value);
                socket.drops = u32_at(value, 32);
            }
            MARK => socket.mark = u32_at(value, 0).filter(|&mark| mark != 0),
            CGROUP_ID => found.cgroup = u64_at(value, 0),
            _ => {}
        }
    }
}

/// `SK_MEMINFO_*` (linux/sock_diag.h): numbers in a row.
fn memory(value: &[u8]) -> Option<Memory> {
    let number = |index: usize| u32_at(value, index * 4);
    Some(Memory {
        rmem_alloc: number(0)?,
        rcvbuf: number(1)?,
        wmem_alloc: number(2)?,
        sndbuf: number(3)?,
        wmem_queued: number(5)?,
        backlog: number(7).unwrap_or(0),
    })
}

/// An end of a connection. IPv4 in an IPv6 socket is shown as IPv4, as on the wire.
fn endpoint(message: &[u8], family: u8, port: usize, address: usize, interface: u32) -> Option<SocketAddr> {
    let port = u16::from_be_bytes(at(message, port)?);
    let ip: IpAddr = match i32::from(family) {
        libc::AF_INET => at::<4>(message, address)?.into(),
        libc::AF_INET6 => IpAddr::from(at::<16>(message, address)?).to_canonical(),
        _ => return None,
    };
    Some(match ip {
        IpAddr::V6(ip) if ip.is_unicast_link_local() => SocketAddrV6::new(ip, port, 0, interface).into(),
        ip => SocketAddr::new(ip, port),
    })
}

/// `include/net/tcp_states.h`.
fn state_of(number: u8) -> Option<State> {
    Some(match number {
        1 => State::Established,
        2 => State::SynSent,
        3 | 12 => State::SynReceived,
        4 => State::FinWait1,
        5 => State::FinWait2,
        6 => State::TimeWait,
        7 => State::Close,
        8 => State::CloseWait,
        9 => State::LastAck,
        10 => State::Listen,
        11 => State::Closing,
        _ => return None,
    })
}

/// `idiag_timer`, as `inet_sk_diag_fill` sets it.
fn timer_of(kind: u8, retransmits: u8, expires_ms: u32) -> Option<Timer> {
    let kind = match kind {
        1 => TimerKind::Retransmission,
        2 => TimerKind::Keepalive,
        3 => TimerKind::TimeWait,
        4 => TimerKind::Probe,
        _ => return None,
    };
    Some(Timer { kind, expires_ms, retransmits })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;
    use std::net::Ipv6Addr;
    use whyslow_tcpinfo::attributes::put;

    /// The kernel's message about a socket, with ports 80 and 5000.
    fn message(family: i32, state: u8, local: &[u8], remote: &[u8]) -> Vec<u8> {
        let mut bytes = vec![u8::try_from(family).unwrap(), state, 1, 3];
        bytes.extend([0, 80, 0x13, 0x88]);
        for address in [local, remote] {
            bytes.extend(address);
            bytes.resize(bytes.len() + 16 - address.len(), 0);
        }
        for number in [2_u32, 9, 1, 240, 10, 20, 1000, 777] {
            bytes.extend(number.to_ne_bytes());
        }
        assert_eq!(bytes.len(), ATTRIBUTES);
        bytes
    }

    #[test]
    fn a_socket_is_read() {
        let mut bytes = message(libc::AF_INET, 8, &[192, 0, 2, 1], &[192, 0, 2, 2]);
        let mut info = [0; 280];
        info[68..72].copy_from_slice(&25_800_u32.to_ne_bytes());
        put(&mut bytes, INFO, &info);
        put(&mut bytes, CONG, b"cubic\0");
        let memory: Vec<u8> = (1..=9_u32).flat_map(u32::to_ne_bytes).collect();
        put(&mut bytes, SKMEMINFO, &memory);
        put(&mut bytes, CGROUP_ID, &4711_u64.to_ne_bytes());
        let found = parse(&bytes).unwrap();
        let socket = found.socket;
        assert_eq!((socket.state, found.cgroup), (State::CloseWait, Some(4711)));
        assert_eq!((socket.local, socket.remote), ("192.0.2.1:80".parse().unwrap(), "192.0.2.2:5000".parse().unwrap()));
        assert_eq!((socket.cookie, socket.interface), (Some(0x1_0000_0009), Some(2)));
        assert_eq!((socket.recv_queue, socket.send_queue, socket.uid, socket.inode), (10, 20, 1000, 777));
        let timer = Timer { kind: TimerKind::Retransmission, expires_ms: 240, retransmits: 3 };
        assert_eq!(socket.timer, Some(timer));
        assert_eq!(socket.congestion_control.as_deref(), Some("cubic"));
        assert_eq!(socket.info.unwrap().rtt, Some(25_800));
        let memory = socket.memory.unwrap();
        assert_eq!((memory.rmem_alloc, memory.sndbuf, memory.wmem_queued, memory.backlog), (1, 4, 6, 8));
        assert_eq!(socket.drops, Some(9));
    }

    #[test]
    fn ipv4_in_ipv6_is_ipv4_and_link_local_has_its_device() {
        let mapped = "::ffff:192.0.2.1".parse::<Ipv6Addr>().unwrap().octets();
        let local = "fe80::1".parse::<Ipv6Addr>().unwrap().octets();
        let socket = parse(&message(libc::AF_INET6, 1, &local, &mapped)).unwrap().socket;
        assert_eq!(socket.remote, "192.0.2.1:5000".parse().unwrap());
        assert_eq!(socket.local, "[fe80::1%2]:80".parse().unwrap());
    }

    #[test]
    fn a_truncated_or_unknown_message_is_not_a_socket() {
        let bytes = message(libc::AF_INET, 1, &[192, 0, 2, 1], &[192, 0, 2, 2]);
        assert!((0..bytes.len()).all(|length| parse(&bytes[..length]).is_none()));
        assert!(parse(&message(libc::AF_INET, 13, &[], &[])).is_none());
        assert!(parse(&message(libc::AF_UNIX, 1, &[], &[])).is_none());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = parse(&bytes);
            let mut message = message(libc::AF_INET6, 1, &[], &[]);
            message.extend(bytes);
            prop_assert!(parse(&message).is_some());
        }
    }
}
