//! [`Recorder`]: what passes the capture point, as pcap: Ethernet, IPv4 or IPv6, TCP with its
//! options and checksums, payload.

use super::Time;
use super::connection::{CLIENT, PassingPacket, SERVER};
use super::draw::Draw;
use super::host::{ACK, SYN};
use anyhow::Context;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// How the file is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pack {
    /// Without compression.
    Plain,
    /// One gzip member.
    Gzip,
    /// One zstd frame.
    Zstd,
    /// In this many files of about equal size, whose names end with their number.
    Rotated(u32),
}

/// 1 January 2026: that of the capture's first packet, seconds.
const EPOCH: u64 = 1_767_225_600;
const SERVER_PORT: u16 = 80;
/// Bytes from which payload is taken: incompressible, and no file format.
const POOL: usize = 1 << 16;

/// Writes packets.
pub(super) struct Recorder {
    out: PcapOutput,
    snaplen: usize,
    pool: Vec<u8>,
    frame: Vec<u8>,
    pub(super) packets: u64,
    /// Bytes of the capture, before compression.
    pub(super) bytes: u64,
    /// In a rotation set: the packets of a file.
    rotation: Option<u64>,
    path: PathBuf,
    files: Vec<PathBuf>,
}

enum PcapOutput {
    Plain(BufWriter<File>),
    Gzip(Box<flate2::write::GzEncoder<BufWriter<File>>>),
    Zstd(Box<zstd::Encoder<'static, BufWriter<File>>>),
}

impl PcapOutput {
    fn create(path: &Path, pack: Pack) -> io::Result<Self> {
        let file = BufWriter::with_capacity(1 << 20, File::create(path)?);
        Ok(match pack {
            Pack::Plain | Pack::Rotated(_) => Self::Plain(file),
            Pack::Gzip => Self::Gzip(Box::new(flate2::write::GzEncoder::new(file, flate2::Compression::fast()))),
            Pack::Zstd => Self::Zstd(Box::new(zstd::Encoder::new(file, 3)?)),
        })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(file) => file.write_all(bytes),
            Self::Gzip(file) => file.write_all(bytes),
            Self::Zstd(file) => file.write_all(bytes),
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Self::Plain(mut file) => file.flush(),
            Self::Gzip(file) => file.finish()?.flush(),
            Self::Zstd(file) => file.finish()?.flush(),
        }
    }
}

impl Recorder {
    /// Begins a capture that will have about this many packets.
    pub(super) fn create(path: &Path, pack: Pack, snaplen: usize, packets: u64) -> anyhow::Result<Self> {
        let rotation = match pack {
            Pack::Rotated(files) => Some(packets.div_ceil(files.max(1).into())),
            _ => None,
        };
        let first = if rotation.is_some() { numbered(path, 0) } else { path.to_owned() };
        let out = PcapOutput::create(&first, pack).with_context(|| first.display().to_string())?;
        let mut draw = Draw(0x5eed);
        let pool = (0..POOL / 8).flat_map(|_| draw.next().to_le_bytes()).collect();
        let (frame, path, files) = (Vec::with_capacity(2_048), path.to_owned(), vec![first]);
        let mut this = Self { out, snaplen, pool, frame, packets: 0, bytes: 0, rotation, path, files };
        this.header()?;
        Ok(this)
    }

    fn header(&mut self) -> io::Result<()> {
        let fields = [0xa1b2_c3d4, 0x0004_0002, 0, 0, self.snaplen as u32, 1];
        let header: Vec<u8> = fields.iter().flat_map(|field: &u32| field.to_le_bytes()).collect();
        self.bytes += header.len() as u64;
        self.out.write(&header)
    }

    /// Writes a packet of a connection.
    pub(super) fn segment(&mut self, seen: &PassingPacket<'_>) -> anyhow::Result<()> {
        let mut frame = std::mem::take(&mut self.frame);
        frame.clear();
        let (facts, packet) = (seen.connection, seen.packet);
        let mut options = [0; 40];
        let options = write_options(seen, &mut options);
        let length = packet.length as usize;
        let ends = ends(facts.number, facts.ipv6);
        let (from, to) = if seen.from == CLIENT { (ends[CLIENT], ends[SERVER]) } else { (ends[SERVER], ends[CLIENT]) };
        let ip = IpToWrite {
            from,
            to,
            id: packet.ip_id,
            length: 20 + options.len() + length,
            outgoing: seen.from == SERVER,
        };
        ip.write(&mut frame);
        let tcp = frame.len();
        let seq = facts.isn[seen.from].wrapping_add(packet.start as u32);
        let is_syn = packet.flags & SYN != 0;
        let acks = packet.flags & ACK != 0;
        let ack = if acks { facts.isn[1 - seen.from].wrapping_add(packet.ack as u32) } else { 0 };
        let window = if is_syn { packet.window.min(65_535) } else { packet.window >> SCALE };
        frame.extend(from.port().to_be_bytes());
        frame.extend(to.port().to_be_bytes());
        frame.extend(seq.to_be_bytes());
        frame.extend(ack.to_be_bytes());
        frame.extend([((20 + options.len()) as u8 / 4) << 4, packet.flags]);
        frame.extend((window as u16).to_be_bytes());
        frame.extend([0; 4]);
        frame.extend(options);
        let headers = frame.len();
        let original = headers + length;
        // Cut-off data has no bytes, and its checksum cannot be verified.
        let whole = original <= self.snaplen;
        let captured = if whole { length } else { self.snaplen.saturating_sub(headers) };
        self.payload(seen, captured, &mut frame);
        if whole {
            let sum = checksum(from, to, frame.get(tcp..).unwrap_or_default());
            if let Some(field) = frame.get_mut(tcp + 16..tcp + 18) {
                field.copy_from_slice(&sum.to_be_bytes());
            }
        }
        frame.truncate(self.snaplen);
        self.frame = frame;
        self.write(seen.time, original)
    }

    /// A SYN of a flood: each from another address.
    pub(super) fn flood(&mut self, time: Time, number: u32) -> anyhow::Result<()> {
        self.frame.clear();
        // A step through all addresses by an odd number meets each of them once.
        let source = number.wrapping_mul(0x9e37_79b1).to_be_bytes();
        let from = (source, 1_024 + (number % 60_000) as u16).into();
        let to = ([192, 0, 2, 10], SERVER_PORT).into();
        let id = number as u16;
        IpToWrite { from, to, id, length: 20, outgoing: false }.write(&mut self.frame);
        let tcp = self.frame.len();
        self.frame.extend(from.port().to_be_bytes());
        self.frame.extend(to.port().to_be_bytes());
        self.frame.extend(number.wrapping_mul(2_654_435_761).to_be_bytes());
        self.frame.extend([0, 0, 0, 0, 0x50, SYN, 0x04, 0, 0, 0, 0, 0]);
        let sum = checksum(from, to, &self.frame[tcp..]);
        self.frame[tcp + 16..tcp + 18].copy_from_slice(&sum.to_be_bytes());
        let original = self.frame.len();
        self.write(time, original)
    }

    /// Payload: the newest message's first line and headers, and bytes without meaning.
    fn payload(&self, seen: &PassingPacket<'_>, length: usize, frame: &mut Vec<u8>) {
        let (start, size) = seen.connection.message[seen.from];
        let begin = frame.len();
        let place = (seen.packet.start as usize).wrapping_add(seen.connection.number as usize * 4_099);
        let mut left = length;
        let mut from = place % POOL;
        while left > 0 {
            let piece = self.pool.get(from..).unwrap_or_default();
            let piece = piece.get(..left).unwrap_or(piece);
            frame.extend_from_slice(piece);
            left -= piece.len();
            from = 0;
        }
        let head = head(seen.from, size);
        let Some(skipped) = seen.packet.start.checked_sub(start) else { return };
        if let Some(head) = head.as_bytes().get(skipped as usize..)
            && let Some(room) = frame.get_mut(begin..)
        {
            let fits = head.len().min(room.len());
            room[..fits].copy_from_slice(&head[..fits]);
        }
    }

    fn write(&mut self, time: Time, original: usize) -> anyhow::Result<()> {
        if self.packets > 0 && self.rotation.is_some_and(|most| self.packets.is_multiple_of(most)) {
            let next = numbered(&self.path, self.files.len());
            std::mem::replace(&mut self.out, PcapOutput::create(&next, Pack::Plain)?).finish()?;
            self.files.push(next);
            self.header()?;
        }
        let (seconds, micros) = (EPOCH + time / 1_000_000_000, time / 1_000 % 1_000_000);
        let fields = [seconds as u32, micros as u32, self.frame.len() as u32, original as u32];
        let mut header = [0; 16];
        for (room, field) in header.chunks_exact_mut(4).zip(fields) {
            room.copy_from_slice(&field.to_le_bytes());
        }
        self.out.write(&header)?;
        self.out.write(&self.frame)?;
        self.packets += 1;
        self.bytes += (header.len() + self.frame.len()) as u64;
        Ok(())
    }

    /// Finishes the capture, and returns its files.
    pub(super) fn finish(self) -> anyhow::Result<Vec<PathBuf>> {
        self.out.finish()?;
        Ok(self.files)
    }
}

fn numbered(path: &Path, number: usize) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}

/// The window scale of both ends.
const SCALE: u8 = 7;

/// The bytes before a message's payload.
fn head(from: usize, size: u64) -> String {
    if from == SERVER {
        format!("HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: {size}\r\n\r\n")
    } else if size < 2_000 {
        "GET /object HTTP/1.1\r\nHost: files.example\r\nAccept: */*\r\n\r\n".to_owned()
    } else {
        format!("PUT /object HTTP/1.1\r\nHost: files.example\r\nContent-Length: {size}\r\n\r\n")
    }
}

/// Addresses and ports of a connection: 64 of them share a client's address, and there are four
/// servers.
fn ends(number: u32, ipv6: bool) -> [std::net::SocketAddr; 2] {
    let host = number / 64;
    let port = 32_768 + (number % 64) as u16 * 431 + (host % 431) as u16;
    let server = (number % 4) as u8;
    if ipv6 {
        let client = [0x2001, 0xdb8, 1, 0, 0, 0, (host >> 16) as u16, host as u16];
        [(client, port).into(), ([0x2001, 0xdb8, 2, 0, 0, 0, 0, 10 + u16::from(server)], SERVER_PORT).into()]
    } else {
        let [_, a, b, c] = (host + 1).to_be_bytes();
        [([10, a, b, c], port).into(), ([192, 0, 2, 10 + server], SERVER_PORT).into()]
    }
}

fn write_options<'a>(seen: &PassingPacket<'_>, room: &'a mut [u8; 40]) -> &'a [u8] {
    let mut length = 0;
    let mut put = |bytes: &[u8]| {
        if let Some(room) = room.get_mut(length..length + bytes.len()) {
            room.copy_from_slice(bytes);
            length += bytes.len();
        }
    };
    let packet = seen.packet;
    let syn = packet.flags & SYN != 0;
    if syn {
        let [high, low] = (seen.connection.mss[seen.from] as u16).to_be_bytes();
        put(&[2, 4, high, low, 4, 2]);
    } else {
        put(&[1, 1]);
    }
    put(&[8, 10]);
    put(&packet.stamps.0.to_be_bytes());
    put(&packet.stamps.1.to_be_bytes());
    if syn {
        put(&[1, 3, 3, SCALE]);
    }
    let blocks = packet.blocks.iter().filter(|block| block.1 > 0).count();
    if blocks > 0 {
        put(&[1, 1, 5, 2 + 8 * blocks as u8]);
        let isn = seen.connection.isn[1 - seen.from];
        for block in packet.blocks.iter().take(blocks) {
            put(&isn.wrapping_add(block.0 as u32).to_be_bytes());
            put(&isn.wrapping_add(block.1 as u32).to_be_bytes());
        }
    }
    room.get(..length).unwrap_or_default()
}

/// Ethernet and IP headers in front of `length` bytes.
struct IpToWrite {
    from: std::net::SocketAddr,
    to: std::net::SocketAddr,
    id: u16,
    length: usize,
    outgoing: bool,
}

impl IpToWrite {
    fn write(&self, frame: &mut Vec<u8>) {
        let Self { from, to, id, length, outgoing } = *self;
        const HERE: [u8; 6] = [2, 0, 0, 0, 0, 1];
        const THERE: [u8; 6] = [2, 0, 0, 0, 0, 2];
        let macs = if outgoing { [THERE, HERE] } else { [HERE, THERE] };
        frame.extend(macs.as_flattened());
        // Next to the server: what comes in has passed routers.
        let ttl = if outgoing { 64 } else { 53 };
        match (from.ip(), to.ip()) {
            (std::net::IpAddr::V4(from), std::net::IpAddr::V4(to)) => {
                frame.extend([8, 0]);
                let begin = frame.len();
                frame.extend([0x45, 0]);
                frame.extend(((20 + length) as u16).to_be_bytes());
                frame.extend(id.to_be_bytes());
                frame.extend([0x40, 0, ttl, 6, 0, 0]);
                frame.extend(from.octets());
                frame.extend(to.octets());
                let sum = !fold(sum(frame.get(begin..).unwrap_or_default()));
                if let Some(field) = frame.get_mut(begin + 10..begin + 12) {
                    field.copy_from_slice(&sum.to_be_bytes());
                }
            }
            (std::net::IpAddr::V6(from), std::net::IpAddr::V6(to)) => {
                frame.extend([0x86, 0xdd, 0x60, 0, 0, 0]);
                frame.extend((length as u16).to_be_bytes());
                frame.extend([6, ttl]);
                frame.extend(from.octets());
                frame.extend(to.octets());
            }
            _ => {}
        }
    }
}

/// The TCP checksum of a segment whose checksum field is 0.
fn checksum(from: std::net::SocketAddr, to: std::net::SocketAddr, segment: &[u8]) -> u16 {
    let address = |address: std::net::IpAddr| match address {
        std::net::IpAddr::V4(address) => sum(&address.octets()),
        std::net::IpAddr::V6(address) => sum(&address.octets()),
    };
    !fold(address(from.ip()) + address(to.ip()) + 6 + segment.len() as u64 + sum(segment))
}

fn sum(bytes: &[u8]) -> u64 {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let sum: u64 = pairs.iter().map(|pair| u64::from(u16::from_be_bytes(*pair))).sum();
    sum + rest.first().map_or(0, |last| u64::from(*last) << 8)
}

fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}
