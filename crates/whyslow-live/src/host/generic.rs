//! Generic netlink: families that the kernel numbers as they come (linux/genetlink.h).

use nix::sys::socket::SockProtocol;
use std::io;
use whyslow_tcpinfo::attributes::{find, put, u16_at};
use whyslow_tcpinfo::netlink::{List, Netlink};

/// The family that knows the others.
const CONTROL: u16 = 0x10;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;

/// Bytes of a message's header within netlink's: command, version, nothing.
const HEADER: usize = 4;

/// A family, and a socket to ask it.
pub(super) struct Family {
    netlink: Netlink,
    number: u16,
}

impl Family {
    /// Finds a family by its name.
    ///
    /// # Errors
    /// ENOENT where the kernel does not have it; those of a socket.
    pub fn open(name: &str) -> io::Result<Self> {
        let mut netlink = Netlink::open(SockProtocol::NetlinkGeneric)?;
        let mut request = header(CTRL_CMD_GETFAMILY);
        put(&mut request, CTRL_ATTR_FAMILY_NAME, &[name.as_bytes(), &[0]].concat());
        let number = netlink.one(CONTROL, &request, |message| {
            find(message.get(HEADER..)?, CTRL_ATTR_FAMILY_ID).and_then(|value| u16_at(value, 0))
        })?;
        let number = number.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        Ok(Self { netlink, number })
    }

    /// Asks for a list. `parse` takes the attributes of a message.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn list<T>(
        &mut self,
        command: u8,
        attributes: &[u8],
        parse: impl Fn(&[u8]) -> Option<T>,
    ) -> io::Result<List<T>> {
        let request = [header(command).as_slice(), attributes].concat();
        self.netlink.list(self.number, &request, |message| parse(message.get(HEADER..)?))
    }
}

fn header(command: u8) -> Vec<u8> {
    vec![command, 1, 0, 0]
}
