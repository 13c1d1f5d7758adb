//! A netlink socket (netlink(7)): a request, and all of its answer; or the messages of groups.

use netlink_packet_core::{NLM_F_DUMP, NLM_F_DUMP_INTR, NLM_F_REQUEST, NetlinkBuffer};
use nix::sys::socket::sockopt::{RcvBuf, ReceiveTimeout};
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, sendto, setsockopt, socket,
};
use nix::sys::time::{TimeVal, TimeValLike};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// The kernel puts at most 32 KiB of a list into a datagram.
const BUFFER: usize = 64 * 1024;

/// The kernel answers at once: what takes longer never comes.
const PATIENCE_S: i64 = 2;

/// Messages of groups that wait to be read, bytes: some thousand of 400 bytes, which the kernel
/// counts as 1 KiB each. It grants up to `net.core.rmem_max`.
const WAITING: usize = 4 << 20;

/// Maximum number of readings of a list that changes.
const READINGS: usize = 3;

/// Kinds of messages that end an answer (linux/netlink.h).
const ERROR: u16 = 2;
const DONE: u16 = 3;

/// Bytes of a message's header.
const HEADER: usize = 16;

/// A netlink socket.
pub struct Netlink {
    socket: OwnedFd,
    sequence: u32,
    buffer: Vec<u8>,
}

/// Items of a list.
#[derive(Debug, PartialEq, Eq)]
pub struct List<T> {
    /// They.
    pub items: Vec<T>,
    /// Whether it changed each time it was read, so that some may lack and some be there twice.
    pub changed: bool,
}

impl Netlink {
    /// Opens a socket in the thread's network namespace.
    ///
    /// # Errors
    /// Errors of socket(2).
    pub fn open(protocol: SockProtocol) -> io::Result<Self> {
        let socket = socket(AddressFamily::Netlink, SockType::Datagram, SockFlag::SOCK_CLOEXEC, protocol)?;
        setsockopt(&socket, ReceiveTimeout, &TimeVal::seconds(PATIENCE_S))?;
        Ok(Self { socket, sequence: 0, buffer: vec![0; BUFFER] })
    }

    /// Opens a socket for the messages of these groups, a bit each.
    ///
    /// # Errors
    /// Those of socket(2) and bind(2).
    pub fn listen(protocol: SockProtocol, groups: u32) -> io::Result<Self> {
        let netlink = Self::open(protocol)?;
        setsockopt(&netlink.socket, RcvBuf, &WAITING)?;
        bind(netlink.socket.as_raw_fd(), &NetlinkAddr::new(0, groups))?;
        Ok(netlink)
    }

    /// Waits for messages of the groups, two seconds at most, and passes their bodies to `each`.
    /// Returns whether the kernel dropped messages, because too many were waiting.
    ///
    /// # Errors
    /// Those of recv(2).
    pub fn receive(&mut self, each: impl FnMut(&[u8])) -> io::Result<bool> {
        match recv(self.socket.as_raw_fd(), &mut self.buffer, MsgFlags::MSG_TRUNC) {
            Err(nix::Error::EINTR | nix::Error::EAGAIN) => Ok(false),
            Err(nix::Error::ENOBUFS) => Ok(true),
            received => {
                // These answer no request.
                let datagram = self.buffer.get(..received?).unwrap_or_default();
                let _ = parts(datagram, 0, each);
                Ok(false)
            }
        }
    }

    /// Asks for a list. `parse` makes an item of a message, or none of one that is of no interest.
    ///
    /// # Errors
    /// What the kernel answers, and those of send(2) and recv(2).
    pub fn list<T>(&mut self, kind: u16, body: &[u8], parse: impl Fn(&[u8]) -> Option<T>) -> io::Result<List<T>> {
        let mut items = Vec::new();
        for _ in 0..READINGS {
            items.clear();
            let changed = self.request(kind, NLM_F_DUMP, body, |message| items.extend(parse(message)))?;
            if !changed {
                return Ok(List { items, changed });
            }
        }
        Ok(List { items, changed: true })
    }

    /// Asks for one thing, in one message; `None` if `parse` returns `None`.
    ///
    /// # Errors
    /// What the kernel answers, and those of send(2) and recv(2).
    pub fn one<T>(&mut self, kind: u16, body: &[u8], parse: impl Fn(&[u8]) -> Option<T>) -> io::Result<Option<T>> {
        let mut answer = None;
        self.request(kind, 0, body, |message| answer = parse(message))?;
        Ok(answer)
    }

    /// Sends a request, and passes the bodies of all messages of its response to `each`. Returns
    /// whether the list changed meanwhile.
    fn request(&mut self, kind: u16, flags: u16, body: &[u8], mut each: impl FnMut(&[u8])) -> io::Result<bool> {
        self.sequence = self.sequence.wrapping_add(1);
        let message = message(kind, flags | NLM_F_REQUEST, self.sequence, body);
        sendto(self.socket.as_raw_fd(), &message, &NetlinkAddr::new(0, 0), MsgFlags::empty())?;
        let (mut changed, mut count) = (false, 0);
        while flags & NLM_F_DUMP != 0 || count == 0 {
            let received = match recv(self.socket.as_raw_fd(), &mut self.buffer, MsgFlags::MSG_TRUNC) {
                Err(nix::Error::EINTR) => continue,
                received => received?,
            };
            let datagram = self.buffer.get(..received).ok_or_else(|| io::Error::other("an answer too long"))?;
            let each = |message: &[u8]| {
                count += 1;
                each(message);
            };
            match parts(datagram, self.sequence, each) {
                Part::More { changed: now } => changed |= now,
                Part::End { changed: now } => return Ok(changed | now),
                Part::Error(error) => return Err(error),
            }
        }
        Ok(changed)
    }
}

/// A request as it is sent.
fn message(kind: u16, flags: u16, sequence: u32, body: &[u8]) -> Vec<u8> {
    let length = HEADER + body.len();
    let mut bytes = vec![0; length];
    let mut message = NetlinkBuffer::new(&mut bytes);
    message.set_length(u32::try_from(length).unwrap_or(u32::MAX));
    message.set_message_type(kind);
    message.set_flags(flags);
    message.set_sequence_number(sequence);
    message.payload_mut().copy_from_slice(body);
    bytes
}

/// What a datagram is to the answer that it is part of.
#[derive(Debug)]
enum Part {
    More { changed: bool },
    End { changed: bool },
    Error(io::Error),
}

/// Hands over the bodies of a datagram's messages that answer a request.
fn parts(mut datagram: &[u8], sequence: u32, mut each: impl FnMut(&[u8])) -> Part {
    let mut changed = false;
    while let Ok(message) = NetlinkBuffer::new_checked(datagram) {
        if message.sequence_number() == sequence {
            changed |= message.flags() & NLM_F_DUMP_INTR != 0;
            let body = message.payload();
            match message.message_type() {
                // Both hold an error number, negative; 0 is a receipt.
                ERROR | DONE => match crate::attributes::at(body, 0).map_or(0, i32::from_ne_bytes) {
                    number if number < 0 => {
                        return Part::Error(io::Error::from_raw_os_error(number.saturating_neg()));
                    }
                    _ => return Part::End { changed },
                },
                _ => each(body),
            }
        }
        let length = usize::try_from(message.length()).unwrap_or(usize::MAX);
        datagram = datagram.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Part::More { changed }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn answer(messages: &[(u16, u16, u32, &[u8])]) -> Vec<u8> {
        let padded = |&(kind, flags, sequence, body): &(u16, u16, u32, &[u8])| {
            let mut bytes = message(kind, flags, sequence, body);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            bytes
        };
        messages.iter().flat_map(padded).collect()
    }

    #[test]
    fn an_answer_is_read_to_its_end() {
        let mut bodies = Vec::new();
        let datagram = answer(&[(20, 2, 7, b"one"), (20, 2, 6, b"of an old request"), (20, 2, 7, b"two")]);
        let part = parts(&datagram, 7, |body| bodies.push(body.to_vec()));
        assert!(matches!(part, Part::More { changed: false }));
        assert_eq!(bodies, [b"one", b"two"]);
        let done = answer(&[(20, 2, 7, b"three"), (DONE, 2 | NLM_F_DUMP_INTR, 7, &0_i32.to_ne_bytes())]);
        assert!(matches!(parts(&done, 7, |_| ()), Part::End { changed: true }));
    }

    #[test]
    fn the_kernels_refusal_is_an_error() {
        for kind in [ERROR, DONE] {
            let refused = answer(&[(kind, 0, 7, &(-libc::EPERM).to_ne_bytes())]);
            let Part::Error(error) = parts(&refused, 7, |_| ()) else { panic!("an error") };
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        }
        let receipt = answer(&[(ERROR, 0, 7, &0_i32.to_ne_bytes())]);
        assert!(matches!(parts(&receipt, 7, |_| ()), Part::End { .. }));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..300), sequence in any::<u32>()) {
            let mut length = 0;
            let _ = parts(&bytes, sequence, |body| length += body.len());
            prop_assert!(length <= bytes.len());
        }

        #[test]
        fn a_damaged_answer_is_read(place in 0_usize..80, byte in any::<u8>()) {
            let mut bytes = answer(&[(20, 2, 7, b"one"), (20, 2, 7, b"twofold"), (DONE, 2, 7, &[0; 4])]);
            if let Some(there) = bytes.get_mut(place) {
                *there = byte;
            }
            let _ = parts(&bytes, 7, |_| ());
        }
    }
}
