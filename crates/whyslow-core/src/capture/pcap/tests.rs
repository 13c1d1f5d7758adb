#![allow(clippy::unwrap_used)]

use crate::capture::build::{MICROS, MODIFIED, NANOS, PcapBuilder, RecordHeader};
use crate::capture::reader::tests::{Keep, read, slugs};
use crate::capture::{Clock, LinkType, Reader, Summary};
use proptest::prelude::*;
use whyslow_units::Time;

const SECOND: i64 = 1_000_000_000;

fn detail<'a>(summary: &'a Summary, slug: &str) -> &'a str {
    &summary.problems.iter().find(|problem| problem.slug == slug).unwrap().detail
}

/// Reads a file in pushes of this size.
fn read_in(file: &[u8], pushed: usize) -> (Keep, Summary) {
    let (mut keep, mut reader) = (Keep::default(), Reader::new());
    file.chunks(pushed).for_each(|chunk| reader.push(chunk, &mut keep).unwrap());
    let summary = reader.finish(&mut keep).unwrap();
    (keep, summary)
}

fn times(keep: &Keep) -> Vec<i64> {
    keep.packets.iter().map(|packet| packet.time).collect()
}

#[test]
fn microseconds_and_nanoseconds_in_both_orders() {
    for (magic, unit) in [(MICROS, 1_000), (NANOS, 1), (MODIFIED, 1_000)] {
        for big in [false, true] {
            let file = PcapBuilder::new(magic, big)
                .packet(1, 5, b"one")
                .record(RecordHeader::new(2, 999_999, 3, 1500), b"two")
                .bytes();
            let (keep, summary) = read(&file).unwrap();
            assert_eq!(times(&keep), [SECOND + 5 * unit, 2 * SECOND + 999_999 * unit]);
            assert_eq!(keep.packets[0].data, b"one");
            assert_eq!(keep.packets[1].data, b"two");
            assert_eq!((keep.packets[0].frame, keep.packets[0].original_len, keep.packets[0].link), (1, 3, 1));
            assert_eq!((keep.packets[1].frame, keep.packets[1].original_len), (2, 1500));
            assert_eq!(summary.format, "pcap");
            assert_eq!(summary.link_types, [LinkType(1)]);
            assert_eq!(summary.first_time, Some(Time(SECOND + 5 * unit)));
            assert_eq!(summary.last_time, Some(Time(2 * SECOND + 999_999 * unit)));
            assert_eq!(summary.clock, Clock::Absolute);
        }
    }
}

#[test]
fn ixia_has_a_longer_file_header() {
    let mut file = PcapBuilder::new(0x1c00_01ac, false).packet(1, 5, b"one");
    file.header_extra = vec![0; 4];
    let (keep, summary) = read(&file.bytes()).unwrap();
    assert_eq!(times(&keep), [SECOND + 5]);
    assert_eq!(summary.problems, []);
}

#[test]
fn file_without_records_has_no_packets() {
    let (_, summary) = read(&PcapBuilder::new(MICROS, false).bytes()).unwrap();
    assert_eq!(summary.packets, 0);
    assert_eq!(summary.first_time, None);
    assert_eq!(summary.link_types, [LinkType(1)]);
    assert_eq!(summary.problems, []);
}

#[test]
fn truncated_file_header_is_an_error() {
    let error = read(&PcapBuilder::new(MICROS, false).bytes()[..20]).unwrap_err();
    assert_eq!(error.offset, 20);
    assert!(error.message.contains("20 of 24 bytes"), "{error}");
}

#[test]
fn truncated_record_is_reported() {
    let file = PcapBuilder::new(MICROS, false).packet(1, 1, &[1; 60]).packet(1, 2, &[2; 60]).bytes();
    // The second record starts at byte 100.
    for left in [101, 115, 116, 175] {
        let (keep, summary) = read(&file[..left]).unwrap();
        assert_eq!(keep.packets.len(), 1, "cut at {left}");
        assert_eq!(slugs(&summary), [("torn-record", 1)]);
        assert!(detail(&summary, "torn-record").contains("byte 100"), "{}", detail(&summary, "torn-record"));
    }
    assert_eq!(read(&file[..100]).unwrap().1.problems, []);
    assert_eq!(read(&file).unwrap().1.problems, []);
}

#[test]
fn truncated_packets_are_a_short_snaplen() {
    let file = PcapBuilder::new(MICROS, false)
        .snaplen(96)
        .packet(1, 1, &[0; 60])
        .record(RecordHeader::new(1, 2, 96, 1514), &[0; 96]);
    let (_, summary) = read(&file.record(RecordHeader::new(1, 3, 96, 1514), &[0; 96]).bytes()).unwrap();
    assert_eq!(slugs(&summary), [("short-snaplen", 2)]);
    let detail = detail(&summary, "short-snaplen");
    assert!(detail.starts_with("2 of 3 packets"), "{detail}");
    assert!(detail.contains("(snapshot length: 96 bytes); first: frame 2"), "{detail}");
}

#[test]
fn snaplen_of_zero_is_unlimited() {
    let (keep, summary) = read(&PcapBuilder::new(MICROS, false).snaplen(0).packet(1, 1, &[0; 9000]).bytes()).unwrap();
    assert_eq!(keep.packets[0].data.len(), 9000);
    assert_eq!(summary.problems, []);
}

#[test]
fn packet_above_the_snaplen_is_read_completely() {
    let file = PcapBuilder::new(MICROS, false).snaplen(10).packet(1, 1, &[0; 60]).packet(1, 2, &[0; 70]).bytes();
    let (keep, summary) = read(&file).unwrap();
    assert_eq!(keep.packets.iter().map(|packet| packet.data.len()).collect::<Vec<_>>(), [60, 70]);
    assert_eq!(summary.problems, []);
}

#[test]
fn captured_length_above_the_original_is_reported() {
    let file = PcapBuilder::new(MICROS, false)
        .record(RecordHeader::new(1, 1, 60, 40), &[0; 60])
        .record(RecordHeader::new(1, 1, 60, 41), &[0; 60])
        .bytes();
    let (keep, summary) = read(&file).unwrap();
    assert_eq!(keep.packets[0].original_len, 60);
    assert_eq!(slugs(&summary), [("odd-length", 2)]);
    assert!(detail(&summary, "odd-length").contains("frame 1 at byte 24"), "{:?}", summary.problems);
}

#[test]
fn fraction_above_a_second_is_reported() {
    let file = PcapBuilder::new(MICROS, false).packet(1, 1_500_000, b"odd").packet(3, 0, b"right").bytes();
    let (keep, summary) = read(&file).unwrap();
    assert_eq!(times(&keep), [2_500_000_000, 3_000_000_000]);
    assert_eq!(slugs(&summary), [("odd-time", 1)]);
}

#[test]
fn times_beyond_2038_do_not_turn_negative() {
    let (keep, _) = read(&PcapBuilder::new(NANOS, false).packet(u32::MAX, u32::MAX, b"late").bytes()).unwrap();
    assert_eq!(times(&keep), [i64::from(u32::MAX) * (SECOND + 1)]);
}

#[test]
fn upper_half_of_the_link_type_is_ignored() {
    let mut file = PcapBuilder::new(MICROS, true).packet(1, 1, b"x");
    // An FCS of 4 bytes.
    file.network = 0x2400_0071;
    let (keep, summary) = read(&file.bytes()).unwrap();
    assert_eq!(keep.packets[0].link, 113);
    assert_eq!(summary.problems, []);
    file.network = 0x0001_0001;
    let (keep, summary) = read(&file.bytes()).unwrap();
    assert_eq!(keep.packets[0].link, 1);
    assert_eq!(slugs(&summary), [("odd-header", 1)]);
}

#[test]
fn old_versions_swap_the_lengths() {
    for (version, first, second) in [((2, 2), 1500, 4), ((543, 0), 1500, 4), ((2, 3), 1500, 4), ((2, 3), 4, 1500)] {
        let mut file = PcapBuilder::new(MICROS, false).record(RecordHeader::new(1, 1, first, second), b"data");
        file.version = version;
        let (keep, summary) = read(&file.bytes()).unwrap();
        assert_eq!((keep.packets[0].data.as_slice(), keep.packets[0].original_len), (&b"data"[..], 1500));
        assert_eq!(slugs(&summary), [("short-snaplen", 1)]);
    }
}

#[test]
fn aix_has_its_own_link_types_and_nanoseconds() {
    let mut file = PcapBuilder::new(MICROS, true).packet(1, 7, b"data");
    file.version = (2, 2);
    file.network = 6;
    let (keep, summary) = read(&file.bytes()).unwrap();
    assert_eq!((keep.packets[0].link, keep.packets[0].time), (1, SECOND + 7));
    assert_eq!(summary.link_types, [LinkType(1)]);
}

#[test]
fn an_unknown_version_is_read_and_reported() {
    let mut file = PcapBuilder::new(MICROS, false).packet(1, 1, b"data");
    file.version = (2, 5);
    let (keep, summary) = read(&file.bytes()).unwrap();
    assert_eq!(keep.packets.len(), 1);
    assert_eq!(slugs(&summary), [("odd-header", 1)]);
    assert!(detail(&summary, "odd-header").contains("2.5"));
}

#[test]
fn clock_step_is_reported() {
    let file = PcapBuilder::new(MICROS, false)
        .packet(100, 0, b"a")
        .packet(100, 50_000, b"b")
        .packet(100, 10_000, b"from another queue")
        .packet(97, 0, b"set back by 3 s")
        .packet(98, 0, b"e")
        .packet(1_600_000_000, 0, b"set forward by years")
        .packet(1_600_007_200, 0, b"two hours of silence are not a step");
    let (keep, summary) = read(&file.bytes()).unwrap();
    assert_eq!(keep.packets.len(), 7);
    assert_eq!(slugs(&summary), [("clock-step", 2)]);
    assert!(detail(&summary, "clock-step").contains("back by 3.01 s at frame 4"), "{:?}", summary.problems);
    assert_eq!(summary.first_time, Some(Time(97 * SECOND)));
}

#[test]
fn first_and_last_time_are_minimum_and_maximum() {
    let file =
        [50, 60, 55, 90, 40, 70].iter().fold(PcapBuilder::new(MICROS, false), |file, at| file.packet(1, *at, b"x"));
    for pushed in [1, 40, 1000] {
        let (keep, summary) = read_in(&file.bytes(), pushed);
        assert_eq!(keep.packets.len(), 6);
        let micro = |at: i64| Some(Time(SECOND + at * 1_000));
        assert_eq!((summary.first_time, summary.last_time), (micro(40), micro(90)));
    }
}

#[test]
fn short_snaplen_names_the_longest_captured_length() {
    let lengths = [(0, 9), (7, 7), (3, 9), (2, 9), (5, 5)];
    let file = lengths.iter().fold(PcapBuilder::new(MICROS, false), |file, (captured, original)| {
        file.record(RecordHeader::new(1, 1, *captured, *original), &[0; 9][..*captured as usize])
    });
    let (_, summary) = read(&file.bytes()).unwrap();
    let detail = detail(&summary, "short-snaplen");
    assert!(detail.starts_with("3 of 5 packets"), "{detail}");
    assert!(detail.contains("truncated at 3 bytes") && detail.ends_with("first: frame 1"), "{detail}");
}

/// Ten packets in a plain file, with records of 76 bytes.
fn ten() -> PcapBuilder {
    (0..10).fold(PcapBuilder::new(MICROS, false), |file, at| file.packet(1_600_000_000, at * 1000, &[at as u8; 60]))
}

#[test]
fn damage_loses_only_the_packets_it_touches() {
    // The captured length of the fourth record, which starts at byte 252.
    let damage = |value: u32| {
        let mut file = ten().bytes();
        file[260..264].copy_from_slice(&value.to_le_bytes());
        file
    };
    for claim in [u32::MAX, 300_000, 61_000, 65_536, 61, 77] {
        let (keep, summary) = read(&damage(claim)).unwrap();
        let kept: Vec<u8> = keep.packets.iter().map(|packet| packet.data[0]).collect();
        assert_eq!(kept, [0, 1, 2, 4, 5, 6, 7, 8, 9], "claims {claim}");
        assert_eq!(keep.packets[3].frame, 4);
        assert_eq!(slugs(&summary), [("damaged-record", 1)], "claims {claim}");
        let detail = detail(&summary, "damaged-record");
        assert!(detail.contains("at byte 252") && detail.contains("76 bytes were skipped"), "{detail}");
    }
}

#[test]
fn missing_bytes_lose_only_their_packets() {
    let mut file = ten().bytes();
    file.drain(300..420);
    let (keep, summary) = read(&file).unwrap();
    assert_eq!(keep.packets.len(), 8, "{summary:?}");
    assert_eq!(keep.packets[7].data, [9; 60]);
    assert_eq!(slugs(&summary), [("damaged-record", 1)]);
}

#[test]
fn damage_to_the_end_is_reported() {
    let mut file = ten().bytes();
    file.truncate(252);
    file.extend([0xff; 1000]);
    let (keep, summary) = read(&file).unwrap();
    assert_eq!(keep.packets.len(), 3);
    assert_eq!(slugs(&summary), [("damaged-record", 1)]);
    let detail = detail(&summary, "damaged-record");
    assert!(
        detail.ends_with("1000 bytes were skipped in all, and nothing readable was found after byte 252"),
        "{detail}"
    );
}

#[test]
fn long_packet_of_an_unbounded_link_type_is_read() {
    for (network, longest) in [(1, 262_144), (231, 128 << 20), (279, 8 << 20)] {
        let mut file = PcapBuilder::new(MICROS, false).snaplen(0).packet(1, 1, &vec![0; 262_145]);
        file.network = network;
        let (keep, _) = read(&file.bytes()).unwrap();
        assert_eq!(keep.packets.len(), usize::from(longest > 262_144), "link type {network}");
    }
}

/// Runs one of the two loops over a file's records: returns the packets, the number of consumed
/// bytes, and the final state.
fn looped<const USUAL: bool>(file: &[u8], end: bool) -> String {
    let (header, records) = file.split_first_chunk().unwrap();
    let mut pcap = super::PcapReader::new(super::Variant::from_magic(*file.first_chunk().unwrap()).unwrap());
    pcap.begin(header);
    assert!(pcap.is_usual());
    let mut keep = Keep::default();
    let progress = pcap.records::<USUAL, _>(records, end, &mut keep);
    format!("{:?} {progress:?} {pcap:?}", keep.packets)
}

proptest! {
    #[test]
    fn fast_loop_agrees_with_the_general_loop(
        records in prop::collection::vec(
            (
                prop_oneof![8 => 0u32..3, 1 => any::<u32>()],
                prop_oneof![8 => 0u32..1_000_000, 1 => any::<u32>()],
                prop_oneof![8 => 0u32..70, 1 => any::<u32>()],
                0usize..70,
                any::<bool>(),
            ),
            0..20,
        ),
        snaplen in prop_oneof![Just(0u32), Just(64)],
        end in any::<bool>(),
    ) {
        let mut file = PcapBuilder::new(MICROS, false).snaplen(snaplen);
        for (step, (seconds, fraction, original, captured, honest)) in (0u32..).zip(records) {
            let original = if honest { original.max(captured as u32) } else { original };
            file = file.record(RecordHeader::new(seconds.saturating_add(step), fraction, captured as u32, original), &vec![7; captured]);
        }
        prop_assert_eq!(looped::<true>(&file.bytes(), end), looped::<false>(&file.bytes(), end));
    }
}
