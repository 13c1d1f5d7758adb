#![allow(clippy::unwrap_used)]

use super::*;
use crate::capture::build::{
    MICROS, MODIFIED, NANOS, PacketBlock, PcapBuilder as PcapFile, PcapNgBuilder as PcapNgFile, RecordHeader,
};
use crate::capture::{LinkType, Packet};
use proptest::prelude::*;
use std::net::IpAddr;
use whyslow_units::Time;

/// A packet that owns its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::capture) struct Got {
    pub(in crate::capture) frame: u64,
    pub(in crate::capture) time: i64,
    pub(in crate::capture) link: u16,
    pub(in crate::capture) data: Vec<u8>,
    pub(in crate::capture) original_len: u32,
}

/// Stores everything that it receives.
#[derive(Debug, Default)]
pub(in crate::capture) struct Keep {
    pub(in crate::capture) packets: Vec<Got>,
    pub(in crate::capture) names: Vec<(IpAddr, String)>,
    pub(in crate::capture) key_logs: Vec<(Vec<u8>, u64)>,
}

impl Sink for Keep {
    fn packet(&mut self, packet: &Packet<'_>) {
        let Packet { frame, time: Time(time), link: LinkType(link), data, original_len } = *packet;
        assert!(data.len() <= original_len as usize, "the original length is at least the captured length");
        self.packets.push(Got { frame, time, link, data: data.to_vec(), original_len });
    }

    fn host_name(&mut self, address: IpAddr, name: &str, stand_in: bool) {
        assert!(!stand_in);
        self.names.push((address, name.to_owned()));
    }

    fn key_log(&mut self, lines: &[u8], next_frame: u64) {
        self.key_logs.push((lines.to_vec(), next_frame));
    }
}

/// Reads a whole file at once.
pub(in crate::capture) fn read(bytes: &[u8]) -> Result<(Keep, Summary), CaptureError> {
    read_split(bytes, &[])
}

/// Reads a file in pieces of these sizes, repeated; without sizes as a whole.
fn read_split(mut bytes: &[u8], sizes: &[usize]) -> Result<(Keep, Summary), CaptureError> {
    let mut reader = Reader::new();
    let mut keep = Keep::default();
    let mut sizes = sizes.iter().cycle();
    while !bytes.is_empty() {
        let size = sizes.next().copied().unwrap_or(bytes.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(size);
        reader.push(first, &mut keep)?;
        bytes = rest;
    }
    let summary = reader.finish(&mut keep)?;
    assert_eq!(summary.packets, keep.packets.len() as u64);
    Ok((keep, summary))
}

/// The problems, as slug and count, in order.
pub(in crate::capture) fn slugs(summary: &Summary) -> Vec<(&str, u64)> {
    summary.problems.iter().map(|problem| (&*problem.slug, problem.count)).collect()
}

fn same_in_pieces(bytes: &[u8], sizes: &[usize]) -> Result<(), TestCaseError> {
    let show =
        |outcome: Result<(Keep, Summary), CaptureError>| outcome.map(|(k, s)| (k.packets, k.names, format!("{s:?}")));
    prop_assert_eq!(show(read_split(bytes, sizes)), show(read(bytes)));
    Ok(())
}

/// Packets in which half of the bytes could be part of a record's header, to test the search for
/// the next one.
fn data() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop_oneof![Just(0), Just(1), Just(6), any::<u8>()], 0..120)
}

prop_compose! {
    fn pcap()(
        magic in prop::sample::select(vec![MICROS, NANOS, MODIFIED]),
        big in any::<bool>(),
        snaplen in prop::sample::select(vec![0, 96, 65_535]),
        packets in prop::collection::vec((0_u32..20, 0_u32..1_200_000, 0_u32..3, data()), 0..12),
    ) -> Vec<u8> {
        let mut file = PcapFile::new(magic, big).snaplen(snaplen);
        for (seconds, fraction, more, data) in packets {
            let length = data.len() as u32;
            // Sometimes the original length is less than the captured one.
            file = file.record(RecordHeader::new(1_600_000_000 + seconds, fraction, length, (length + more).saturating_sub(1)), &data);
        }
        file.bytes()
    }
}

prop_compose! {
    fn pcapng()(
        big in any::<bool>(),
        blocks in prop::collection::vec((0_u8..10, any::<bool>(), any::<u32>(), data()), 0..12),
    ) -> Vec<u8> {
        let mut file = PcapNgFile::new(big).interface(1, 100, &[(9, vec![9])]);
        for (kind, flag, ticks, data) in blocks {
            let length = data.len() as u32;
            file = match kind {
                0 => file.interface(101, 0, &[(14, ticks.to_be_bytes().to_vec())]),
                1 => file.obsolete(u16::from(flag), 1, u64::from(ticks), &data),
                2 => file.simple(length, &data),
                3 => file.names(&[(1, b"\x0a\0\0\x01host\0".to_vec())]),
                4 => file.statistics(0, &[(5, vec![0, 0, 0, 1, 0, 0, 0, 0])]),
                5 if flag => file.section(big ^ (ticks & 1 == 1)).interface(1, 0, &[]),
                6 => file.block(ticks, &data),
                7 => file.block(0xbad, &data),
                _ => file.packet_block(PacketBlock { interface: u32::from(flag), ticks: u64::from(ticks), original: length, data: &data, options: &[(4, vec![1; 8]), (1, data.clone())] }),
            };
        }
        file.bytes
    }
}

/// Damage: overwritten bytes, and the part of the file that is left.
fn damage() -> impl Strategy<Value = (Vec<(prop::sample::Index, u8)>, prop::sample::Index)> {
    (prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6), any::<prop::sample::Index>())
}

fn spoil(mut bytes: Vec<u8>, (overwritten, left): (Vec<(prop::sample::Index, u8)>, prop::sample::Index)) -> Vec<u8> {
    for (at, value) in overwritten {
        let at = at.index(bytes.len());
        // Keeps the magic number, because the reader rejects any other.
        if at >= 12 {
            bytes[at] = value;
        }
    }
    bytes.truncate(left.index(bytes.len() + 1));
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn split_changes_no_packet(
        file in prop_oneof![pcap(), pcapng()],
        sizes in prop::collection::vec(1_usize..200, 1..6),
    ) {
        same_in_pieces(&file, &sizes)?;
    }

    #[test]
    fn split_of_a_damaged_file_changes_no_packet(
        file in prop_oneof![pcap(), pcapng()],
        damage in damage(),
        sizes in prop::collection::vec(1_usize..200, 1..6),
    ) {
        same_in_pieces(&spoil(file, damage), &sizes)?;
    }

    #[test]
    fn valid_file_is_read_completely(file in pcap()) {
        let (keep, summary) = read(&file).unwrap();
        let given: usize = keep.packets.iter().map(|packet| packet.data.len()).sum();
        let header = if file.starts_with(&MODIFIED.to_le_bytes()) || file.starts_with(&MODIFIED.to_be_bytes()) { 24 } else { 16 };
        if slugs(&summary).iter().all(|(slug, _)| *slug != "damaged-record") {
            prop_assert_eq!(given + keep.packets.len() * header + 24, file.len());
        }
    }
}

#[test]
fn one_byte_at_a_time() {
    let file = PcapFile::new(NANOS, true).packet(1, 2, b"first").packet(1, 3, b"second").bytes();
    let (keep, summary) = read_split(&file, &[1]).unwrap();
    assert_eq!(keep.packets.len(), 2);
    assert_eq!(keep.packets[1].data, b"second");
    assert_eq!(summary.problems, []);
}

#[test]
fn empty_pushes_are_harmless() {
    let file = PcapFile::new(MICROS, false).packet(1, 2, b"first").bytes();
    let mut reader = Reader::new();
    let mut keep = Keep::default();
    for piece in [&[][..], &file[..30], &[], &file[30..], &[]] {
        reader.push(piece, &mut keep).unwrap();
    }
    reader.finish(&mut keep).unwrap();
    assert_eq!(keep.packets.len(), 1);
}

#[test]
fn wrong_length_allocates_nothing() {
    // A record that claims 262,144 bytes, of which 100 arrive, byte by byte.
    let file =
        PcapFile::new(MICROS, false).snaplen(0).record(RecordHeader::new(1, 2, 262_144, 262_144), &[0; 100]).bytes();
    let mut reader = Reader::new();
    for byte in &file {
        reader.push(&[*byte], &mut Keep::default()).unwrap();
    }
    let State::Pcap(stream) = &reader.state else { panic!("a pcap file") };
    assert!(stream.carry.capacity() <= 256, "{} bytes are buffered", stream.carry.capacity());
}

#[test]
fn large_buffer_is_released() {
    let big = vec![7; 2 << 20];
    let file = PcapNgFile::new(false).block(0x77, &big).interface(1, 0, &[]).packet(0, 1, 1, b"x").bytes;
    let mut reader = Reader::new();
    let mut keep = Keep::default();
    for piece in file.chunks(60_000) {
        reader.push(piece, &mut keep).unwrap();
    }
    let State::PcapNg(stream) = &reader.state else { panic!("a pcapng file") };
    assert!(stream.carry.capacity() <= KEEP);
    assert_eq!(reader.finish(&mut keep).unwrap().packets, 1);
}

/// A file in which every byte may begin a record must not need more memory than its size.
#[test]
fn searching_is_linear() {
    let mut file = PcapNgFile::new(false).bytes;
    // Every eight bytes could begin an interface block of nearly 1 MiB.
    for _ in 0..(4 << 20) / 8 {
        file.extend([1, 0, 0, 0, 0xf0, 0xff, 0x0f, 0]);
    }
    let begun = std::time::Instant::now();
    let (keep, _) = read_split(&file, &[4096]).unwrap();
    assert_eq!(keep.packets, []);
    assert!(begun.elapsed().as_secs() < 20, "took {:?}", begun.elapsed());
}
