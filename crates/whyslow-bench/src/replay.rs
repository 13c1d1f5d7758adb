//! [`replay`]: sends the packets of a capture over a network interface, at a given rate.

use anyhow::{Context, bail};
use nix::ifaddrs::getifaddrs;
use nix::sys::socket::{
    AddressFamily, LinkAddr, MsgFlags, MultiHeaders, SockFlag, SockType, SockaddrLike, bind, sendmmsg, socket,
};
use std::fs::File;
use std::io::{self, BufReader, IoSlice, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// Packets of one system call.
const BATCH: usize = 64;
/// Shorter sleeps take longer than asked for.
const SHORTEST_SLEEP: Duration = Duration::from_micros(100);
/// The largest frame that a veth with the largest MTU takes.
const LARGEST: usize = 65_535 + 14;

/// How to replay.
#[derive(Clone, Debug)]
pub struct ReplaySettings {
    /// Name of the interface.
    pub interface: String,
    /// Bits per second of whole packets, Ethernet header included.
    pub rate: f64,
    /// End after this time, or with the capture.
    pub duration: Duration,
}

/// Counts of the replay.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Replayed {
    /// Packets.
    pub packets: u64,
    /// Bytes of whole packets.
    pub bytes: u64,
    /// Time from the first packet to the last.
    pub seconds: f64,
}

impl Replayed {
    /// The rate reached, in bits per second; below the requested one if the machine is too slow.
    pub fn rate(&self) -> f64 {
        if self.seconds > 0.0 { self.bytes as f64 * 8.0 / self.seconds } else { 0.0 }
    }
}

/// Sends the packets of a little-endian pcap file in their order. A packet of which less was
/// captured is filled with zeros to its length. The capture's times are not used: packets leave as
/// soon as the rate permits.
///
/// # Errors
/// If the file cannot be read, the interface does not exist, or it refuses packets (which needs
/// CAP_NET_RAW).
pub fn replay(path: &Path, settings: &ReplaySettings) -> anyhow::Result<Replayed> {
    let mut records = Records::open(path).with_context(|| path.display().to_string())?;
    let socket = packet_socket(&settings.interface)?;
    let mut headers = MultiHeaders::<LinkAddr>::preallocate(BATCH, None);
    let zeros = vec![0; LARGEST];
    let (begin, mut sent) = (Instant::now(), Replayed::default());
    let mut batch = Batch::default();
    while begin.elapsed() < settings.duration && batch.fill(&mut records)? {
        let slices = batch.slices(&zeros);
        let mut rest = slices.as_slice();
        while !rest.is_empty() {
            let addresses = vec![None; rest.len()];
            let result = sendmmsg(socket.as_raw_fd(), &mut headers, rest, &addresses, [], MsgFlags::empty());
            let count = result.with_context(|| format!("sending over {}", settings.interface))?.count();
            rest = rest.get(count.max(1)..).unwrap_or_default();
        }
        sent.packets += batch.packets.len() as u64;
        sent.bytes += batch.bytes();
        let due = Duration::from_secs_f64(sent.bytes as f64 * 8.0 / settings.rate);
        let early = due.saturating_sub(begin.elapsed());
        if early > SHORTEST_SLEEP {
            thread::sleep(early);
        }
    }
    sent.seconds = begin.elapsed().as_secs_f64();
    Ok(sent)
}

/// A socket that sends frames over this interface and receives none.
fn packet_socket(interface: &str) -> anyhow::Result<OwnedFd> {
    let addresses = getifaddrs().context("listing the interfaces")?;
    let of_link = |address: &nix::ifaddrs::InterfaceAddress| {
        address.interface_name == interface
            && address.address.as_ref().and_then(SockaddrLike::family) == Some(AddressFamily::Packet)
    };
    let Some(found) = addresses.into_iter().find(of_link) else { bail!("there is no interface {interface}") };
    let link =
        found.address.and_then(|address| address.as_link_addr().copied()).context("an interface without a link")?;
    let socket = socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, None);
    let socket = socket.context("opening a packet socket, which needs CAP_NET_RAW")?;
    bind(socket.as_raw_fd(), &link).with_context(|| format!("binding to {interface}"))?;
    Ok(socket)
}

/// Packets that leave together.
#[derive(Debug, Default)]
struct Batch {
    /// The captured bytes of all of them.
    data: Vec<u8>,
    /// Captured and whole length of each.
    packets: Vec<(usize, usize)>,
}

impl Batch {
    /// Replaces the packets by the next ones. Returns whether there are any.
    fn fill(&mut self, records: &mut Records) -> io::Result<bool> {
        self.data.clear();
        self.packets.clear();
        while self.packets.len() < BATCH
            && let Some(lengths) = records.next(&mut self.data)?
        {
            self.packets.push(lengths);
        }
        Ok(!self.packets.is_empty())
    }

    fn bytes(&self) -> u64 {
        self.packets.iter().map(|(_, whole)| *whole as u64).sum()
    }

    /// The packets as a system call takes them: what was captured, and zeros.
    fn slices<'a>(&'a self, zeros: &'a [u8]) -> Vec<[IoSlice<'a>; 2]> {
        let mut rest = self.data.as_slice();
        let slice = |&(captured, whole): &(usize, usize)| {
            let (data, after) = rest.split_at_checked(captured).unwrap_or((rest, &[]));
            rest = after;
            [IoSlice::new(data), IoSlice::new(zeros.get(..whole - captured).unwrap_or_default())]
        };
        self.packets.iter().map(slice).collect()
    }
}

/// The records of a little-endian pcap file.
#[derive(Debug)]
struct Records<R = BufReader<File>>(R);

impl Records {
    fn open(path: &Path) -> anyhow::Result<Self> {
        Self::new(BufReader::with_capacity(1 << 20, File::open(path)?))
    }
}

impl<R: Read> Records<R> {
    /// Reads the file's header.
    fn new(mut input: R) -> anyhow::Result<Self> {
        let mut header = [0; 24];
        input.read_exact(&mut header).context("the file ends within its header")?;
        let magic = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
        if !matches!(magic, 0xa1b2_c3d4 | 0xa1b2_3c4d) || header.get(20) != Some(&1) {
            bail!("this is not a little-endian pcap file of Ethernet packets, as `whyslow-bench make` writes them");
        }
        Ok(Self(input))
    }

    /// Appends the next packet to `data`. Returns its captured and its whole length; `None` at the
    /// end.
    fn next(&mut self, data: &mut Vec<u8>) -> io::Result<Option<(usize, usize)>> {
        let mut header = [0; 16];
        match self.0.read_exact(&mut header) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            other => other?,
        }
        let [captured, whole] = [8, 12].map(|at| {
            header.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |field| u32::from_le_bytes(*field)) as usize
        });
        if captured > LARGEST || whole > LARGEST {
            return Err(io::Error::other(format!("a packet of {whole} bytes: an interface takes {LARGEST}")));
        }
        let before = data.len();
        data.resize(before + captured, 0);
        self.0.read_exact(data.get_mut(before..).unwrap_or_default())?;
        Ok(Some((captured, whole.max(captured))))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::make::recipes;

    fn pcap(packets: &[(&[u8], u32)]) -> Vec<u8> {
        let mut file = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0];
        for (data, whole) in packets {
            file.extend([0; 8]);
            file.extend((data.len() as u32).to_le_bytes());
            file.extend(whole.to_le_bytes());
            file.extend(*data);
        }
        file
    }

    #[test]
    fn cut_packets_are_filled_with_zeros() {
        let file = pcap(&[(b"whole", 5), (b"cut", 8)]);
        let mut records = Records::new(file.as_slice()).unwrap();
        let mut data = Vec::new();
        let packets: Vec<_> = std::iter::from_fn(|| records.next(&mut data).unwrap()).collect();
        let batch = Batch { data, packets };
        let sent: Vec<_> = batch.slices(&[0; 16]).iter().map(|parts| [&*parts[0], &*parts[1]].concat()).collect();
        assert_eq!(sent, [b"whole".to_vec(), b"cut\0\0\0\0\0".to_vec()]);
        assert_eq!(batch.bytes(), 13);
    }

    #[test]
    fn files_of_another_kind_and_jumbo_packets_are_refused() {
        assert!(Records::new(&[0; 24][..]).is_err());
        assert!(Records::new(&pcap(&[])[..23]).is_err());
        let file = pcap(&[(b"jumbo", 70_000)]);
        assert!(Records::new(file.as_slice()).unwrap().next(&mut Vec::new()).is_err());
    }

    #[test]
    fn all_packets_of_an_input_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let recipe = recipes().into_iter().find(|recipe| recipe.name == "bulk").unwrap().smaller(10_000);
        let made = recipe.make(folder.path()).unwrap();
        let (mut records, mut batch, mut packets) = (Records::open(&made.files[0]).unwrap(), Batch::default(), 0);
        while batch.fill(&mut records).unwrap() {
            packets += batch.packets.len() as u64;
        }
        assert_eq!(packets, made.packets);
    }

    #[test]
    fn unknown_interface_is_an_error() {
        assert!(packet_socket("no-such-link").unwrap_err().to_string().contains("no-such-link"));
    }
}
