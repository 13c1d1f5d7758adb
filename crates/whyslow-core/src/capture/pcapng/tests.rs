#![allow(clippy::unwrap_used)]

use super::time::Resolution;
use crate::capture::build::{PacketBlock, PcapNgBuilder};
use crate::capture::reader::tests::{Keep, read, slugs};
use crate::capture::{Clock, LinkType, Summary};
use std::net::IpAddr;
use whyslow_units::Time;

const SECOND: i64 = 1_000_000_000;

fn detail<'a>(summary: &'a Summary, slug: &str) -> &'a str {
    &summary.problems.iter().find(|problem| problem.slug == slug).unwrap().detail
}

fn times(keep: &Keep) -> Vec<i64> {
    keep.packets.iter().map(|packet| packet.time).collect()
}

/// 64 bits in the file's byte order.
fn u64_of(big: bool, value: u64) -> Vec<u8> {
    if big { value.to_be_bytes().to_vec() } else { value.to_le_bytes().to_vec() }
}

#[test]
fn interfaces_in_both_orders() {
    for big in [false, true] {
        let file = PcapNgBuilder::new(big)
            .interface(1, 262_144, &[(9, vec![9]), (2, b"eth0".to_vec())])
            .interface(101, 0, &[])
            .packet_block(PacketBlock {
                interface: 0,
                ticks: 7,
                original: 60,
                data: &[1; 60],
                options: &[(1, b"a comment".to_vec()), (2, vec![0; 4])],
            })
            .packet(1, 0x1_0000_0000, 1500, &[2; 61]);
        let (keep, summary) = read(&file.bytes).unwrap();
        assert_eq!(times(&keep), [7, 0x1_0000_0000 * 1000]);
        assert_eq!((keep.packets[0].link, keep.packets[1].link), (1, 101));
        assert_eq!((keep.packets[1].data.as_slice(), keep.packets[1].original_len), (&[2; 61][..], 1500));
        assert_eq!(keep.packets[1].frame, 2);
        assert_eq!(summary.format, "pcapng");
        assert_eq!(summary.link_types, [LinkType(1), LinkType(101)]);
        assert_eq!(slugs(&summary), [("short-snaplen", 1)]);
        assert!(detail(&summary, "short-snaplen").contains("none is declared"), "{:?}", summary.problems);
    }
}

/// The result is the same whether blocks with options or unusual fields are read individually, and
/// others in series.
#[test]
fn packet_options_do_not_change_packets() {
    let comment: &[(u16, Vec<u8>)] = &[(1, b"a comment".to_vec())];
    for big in [false, true] {
        // Whether each packet has options, as a bit set.
        let reads = [0u32, 0x3ff, 0x155, 0x2f0].map(|with| {
            let mut file = PcapNgBuilder::new(big).interface(1, 0, &[]).interface(113, 96, &[(9, vec![9])]);
            let ticks = [50, 60, 55, 90, 40, 70, 10_000_000, 80, 85, 90];
            for (at, ticks) in ticks.into_iter().enumerate() {
                let options = if with >> at & 1 != 0 { comment } else { &[] };
                let data = vec![at as u8; at * 7];
                // One packet claims less than was captured, another names an unknown interface.
                let (original, interface) = (if at == 5 { 3 } else { 64 }, if at == 7 { 9 } else { at as u32 % 2 });
                file = file.packet_block(PacketBlock { interface, ticks, original, data: &data, options });
            }
            let (keep, summary) = read(&file.bytes).unwrap();
            let packets: Vec<_> = keep.packets.iter().map(|packet| format!("{packet:?}")).collect();
            let places =
                summary.problems.iter().map(|problem| (problem.slug.clone(), problem.count)).collect::<Vec<_>>();
            (packets, summary.packets, (summary.first_time, summary.last_time), places)
        });
        assert_eq!(reads[0].0.len(), 9);
        assert_eq!(reads[0].2, (Some(Time(60)), Some(Time(SECOND * 10))));
        let slugs: Vec<_> = reads[0].3.iter().map(|(slug, _)| &**slug).collect();
        assert_eq!(slugs, ["odd-length", "undeclared-interface", "clock-step", "short-snaplen"]);
        assert!(reads.iter().all(|read| *read == reads[0]), "{reads:#?}");
    }
}

#[test]
fn sections_have_their_own_order_and_interfaces() {
    let file = PcapNgBuilder::new(false).interface(1, 0, &[]).packet(0, 5, 1, b"a");
    let file = file.section(true).interface(113, 0, &[]).packet(0, 6, 1, b"b").packet(1, 7, 1, b"c");
    let (keep, summary) = read(&file.bytes).unwrap();
    assert_eq!(times(&keep), [5_000, 6_000]);
    assert_eq!((keep.packets[0].link, keep.packets[1].link), (1, 113));
    assert_eq!(slugs(&summary), [("undeclared-interface", 1)]);
    assert!(detail(&summary, "undeclared-interface").contains("interface 1"), "{:?}", summary.problems);
}

#[test]
fn declared_section_length_is_ignored() {
    for length in [0, 52, 1 << 40] {
        let mut file = PcapNgBuilder::new(false).interface(1, 0, &[]).packet(0, 5, 1, b"a");
        file.bytes[16..24].copy_from_slice(&i64::to_le_bytes(length));
        let (keep, summary) = read(&file.bytes).unwrap();
        assert_eq!(keep.packets.len(), 1);
        assert_eq!(summary.problems, []);
    }
}

#[test]
fn timestamp_resolutions_are_applied() {
    let nanos = |unit: u8, ticks: u64| {
        let mut resolution = Resolution::default();
        resolution.set_unit(unit);
        resolution.nanos(ticks)
    };
    assert_eq!(Resolution::default().nanos(3), 3_000);
    assert_eq!(nanos(0, 3), 3 * SECOND);
    assert_eq!(nanos(6, 3), 3_000);
    assert_eq!(nanos(9, 3), 3);
    assert_eq!(nanos(12, 3_999), 3);
    assert_eq!(nanos(19, u64::MAX), 1_844_674_407);
    assert_eq!(nanos(127, u64::MAX), 0);
    assert_eq!(nanos(0x80, 3), 3 * SECOND);
    assert_eq!(nanos(0x80 | 10, 1536), 3 * SECOND / 2);
    assert_eq!(nanos(0x80 | 32, 0x1_8000_0000), 3 * SECOND / 2);
    assert_eq!(nanos(0xff, u64::MAX), 0);
    assert_eq!(nanos(6, u64::MAX), i64::MAX, "what does not fit saturates");
    assert_eq!(nanos(0, u64::MAX), i64::MAX);
}

#[test]
fn offsets_may_be_negative() {
    for big in [false, true] {
        for (offset, time) in [(10, 15 * SECOND), (-10, -5 * SECOND), (i64::MIN, i64::MIN + 5 * SECOND)] {
            let file = PcapNgBuilder::new(big).interface(1, 0, &[(14, u64_of(big, offset as u64)), (9, vec![0])]);
            let (keep, _) = read(&file.packet(0, 5, 1, b"a").bytes).unwrap();
            assert_eq!(times(&keep), [time]);
        }
    }
}

#[test]
fn simple_packets_have_no_time() {
    let file = PcapNgBuilder::new(false).interface(1, 4, &[]).simple(100, b"data").simple(3, b"abc");
    let (keep, summary) = read(&file.bytes).unwrap();
    assert_eq!((keep.packets[0].data.as_slice(), keep.packets[0].original_len), (&b"data"[..], 100));
    assert_eq!(keep.packets[1].data, b"abc");
    assert_eq!(slugs(&summary), [("short-snaplen", 1), ("no-time", 2)]);
    assert_eq!((summary.clock, summary.first_time, summary.last_time), (Clock::None, None, None));

    // Among others they get the latest time, so that the clock does not seem to jump.
    let file = PcapNgBuilder::new(false).interface(1, 0, &[]).packet(0, 9, 1, b"a").simple(3, b"abc");
    let (keep, summary) = read(&file.bytes).unwrap();
    assert_eq!(times(&keep), [9_000, 9_000]);
    assert_eq!(slugs(&summary), [("no-time", 1)]);
    assert_eq!((summary.clock, summary.last_time), (Clock::Absolute, Some(Time(9_000))));
}

#[test]
fn obsolete_packets() {
    for big in [false, true] {
        let file = PcapNgBuilder::new(big).interface(1, 0, &[]).interface(105, 0, &[]);
        let file = file.obsolete(1, 3, 5, b"abc").obsolete(0, 0xffff, 6, b"d");
        let (keep, summary) = read(&file.bytes).unwrap();
        assert_eq!(times(&keep), [5_000, 6_000]);
        assert_eq!((keep.packets[0].data.as_slice(), keep.packets[0].link), (&b"abc"[..], 105));
        assert_eq!(slugs(&summary), [("dropped-by-capture", 3)]);
    }
}

#[test]
fn drops_are_summed() {
    for big in [false, true] {
        let drops = |value| u64_of(big, value);
        let file = PcapNgBuilder::new(big)
            .interface(1, 0, &[])
            .interface(1, 0, &[])
            .packet_block(PacketBlock { interface: 0, ticks: 1, original: 1, data: b"a", options: &[(4, drops(2))] })
            .packet_block(PacketBlock {
                interface: 0,
                ticks: 2,
                original: 1,
                data: b"b",
                options: &[(1, b"odd length".to_vec()), (4, drops(3))],
            })
            // Counted from the start: the second one replaces the first.
            .statistics(0, &[(5, drops(4))])
            .statistics(0, &[(5, drops(6)), (7, drops(1))])
            .statistics(1, &[(4, drops(1000)), (5, drops(2))])
            .section(big)
            .interface(1, 0, &[])
            .statistics(0, &[(5, drops(10))]);
        let (_, summary) = read(&file.bytes).unwrap();
        assert_eq!(slugs(&summary), [("dropped-by-capture", 19)]);
        let detail = detail(&summary, "dropped-by-capture");
        assert!(detail.contains("5 by the packet blocks, 19 by"), "{detail}");
    }
}

#[test]
fn names_go_to_the_sink() {
    for big in [false, true] {
        let file = PcapNgBuilder::new(big).names(&[
            (1, b"\x0a\0\0\x01one.example\0also.example\0".to_vec()),
            (3, b"\x02\0\0\0\0\x01\x02\0hardware\0".to_vec()),
            (2, [&[0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1][..], b"six.ex\xffmple\0"].concat()),
        ]);
        let (keep, summary) = read(&file.bytes).unwrap();
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        assert_eq!(
            keep.names,
            [
                (address("10.0.0.1"), "one.example".to_owned()),
                (address("10.0.0.1"), "also.example".to_owned()),
                (address("2001:db8::1"), "six.ex\u{fffd}mple".to_owned()),
            ]
        );
        assert_eq!(summary.problems, []);
    }
}

#[test]
fn other_blocks_are_counted() {
    let file = PcapNgBuilder::new(false)
        .interface(1, 0, &[])
        .block(10, b"LKGW\0\0\0\0")
        .block(0xbad, b"\0\0\0\x01")
        .block(9, b"__REALTIME_TIMESTAMP=1\n")
        .block(0x4000_0bad, b"\0\0\0\x01")
        .block(0x204, &[0; 26])
        .block(0x77, b"")
        .packet(0, 1, 1, b"a");
    let (keep, summary) = read(&file.bytes).unwrap();
    assert_eq!(keep.packets[0].frame, 5, "custom, journal and system call blocks have frame numbers");
    assert_eq!(slugs(&summary), [("not-a-packet", 4), ("unknown-block", 1)]);
    assert!(detail(&summary, "unknown-block").contains("0x77 was passed over; first at byte 176"), "{summary:?}");
}

#[test]
fn key_log_block_is_passed_on_with_the_next_frame() {
    for big in [false, true] {
        let word = |value: u32| if big { value.to_be_bytes() } else { value.to_le_bytes() };
        let block = |kind: u32, lines: &[u8], len: usize| {
            let padding = vec![0; lines.len().wrapping_neg() & 3];
            [&word(kind)[..], &word(len as u32), lines, &padding].concat()
        };
        let file = PcapNgBuilder::new(big)
            .interface(1, 0, &[])
            .block(10, &block(0x544c_534b, b"CLIENT_RANDOM a b\n# c", 21))
            .packet(0, 1, 1, b"a")
            .block(10, &block(0x5747_4b4c, b"LOCAL_STATIC_PRIVATE_KEY = x", 28))
            .block(10, &block(0x544c_534b, b"more", 4))
            .block(10, &block(0x544c_534b, b"more", 9));
        let (keep, summary) = read(&file.bytes).unwrap();
        assert_eq!(keep.key_logs, [(b"CLIENT_RANDOM a b\n# c".to_vec(), 1), (b"more".to_vec(), 2)]);
        assert_eq!(slugs(&summary), [("damaged-record", 1)]);
        assert!(detail(&summary, "damaged-record").contains("claims 9 bytes"), "{summary:?}");
    }
}

#[test]
fn truncated_block_is_reported() {
    let start = PcapNgBuilder::new(true).interface(1, 0, &[]).packet(0, 1, 60, &[1; 60]);
    let at = start.bytes.len();
    let file = start.packet(0, 2, 60, &[2; 60]).bytes;
    for left in [at + 1, at + 8, at + 30, file.len() - 1] {
        let (keep, summary) = read(&file[..left]).unwrap();
        assert_eq!(keep.packets.len(), 1, "cut at {left}");
        assert_eq!(slugs(&summary), [("torn-record", 1)]);
        assert!(detail(&summary, "torn-record").contains(&format!("byte {at}")), "{:?}", summary.problems);
    }
    assert_eq!(read(&file).unwrap().1.problems, []);
}

#[test]
fn truncated_section_header_is_an_error() {
    let error = read(&PcapNgBuilder::new(false).bytes[..20]).unwrap_err();
    assert!(error.message.contains("first section header"), "{error}");
}

#[test]
fn trailing_bytes_are_reported() {
    for (trailing, slug) in [(&[0; 16][..], "damaged-record"), (&[0; 5], "torn-record"), (b"\r\n", "torn-record")] {
        let file = PcapNgBuilder::new(false).interface(1, 0, &[]).packet(0, 1, 1, b"a");
        let (keep, summary) = read(&[&file.bytes, trailing].concat()).unwrap();
        assert_eq!(keep.packets.len(), 1);
        assert_eq!(slugs(&summary), [(slug, 1)]);
    }
}

/// A file of ten packets, and the offsets of their blocks.
fn ten(big: bool) -> (Vec<u8>, Vec<usize>) {
    let mut starts = Vec::new();
    let mut file = PcapNgBuilder::new(big).interface(1, 0, &[]);
    for at in 0..10 {
        starts.push(file.bytes.len());
        file = file.packet(0, at, 60, &[at as u8; 60]);
    }
    (file.bytes, starts)
}

#[test]
fn damage_loses_only_the_packets_it_touches() {
    for big in [false, true] {
        let (file, starts) = ten(big);
        let write = |at: usize, value: u32| {
            let mut file = file.clone();
            file[at..at + 4].copy_from_slice(&if big { value.to_be_bytes() } else { value.to_le_bytes() });
            file
        };
        // The lengths at either end: too small, too large, beyond the end, and into other blocks.
        for at in [starts[3] + 4, starts[4] - 4] {
            for claim in [0, 11, 88, 184, 2_000, 65_536, u32::MAX] {
                let (keep, summary) = read(&write(at, claim)).unwrap();
                let kept: Vec<u8> = keep.packets.iter().map(|packet| packet.data[0]).collect();
                assert_eq!(kept, [0, 1, 2, 4, 5, 6, 7, 8, 9], "claims {claim} at {at}");
                assert_eq!(slugs(&summary), [("damaged-record", 1)]);
                let detail = detail(&summary, "damaged-record");
                assert!(detail.contains(&format!("at byte {}", starts[3])), "{detail}");
                assert!(detail.ends_with("92 bytes were skipped in all"), "{detail}");
            }
        }
        // A captured length beyond the block.
        let (keep, summary) = read(&write(starts[3] + 20, 61)).unwrap();
        assert_eq!(keep.packets.len(), 9);
        assert_eq!(slugs(&summary), [("damaged-record", 1)]);
    }
}

#[test]
fn damaged_first_section_header_loses_no_packet() {
    for big in [false, true] {
        let (mut file, _) = ten(big);
        file[5] ^= 0x40;
        let (keep, summary) = read(&file).unwrap();
        assert_eq!(keep.packets.len(), 10);
        assert_eq!(slugs(&summary), [("damaged-record", 1)]);
    }
}

#[test]
fn length_without_padding_is_accepted() {
    let mut file = PcapNgBuilder::new(false).interface(1, 0, &[]);
    let start = file.bytes.len();
    file = file.packet(0, 1, 5, b"12345").packet(0, 2, 1, b"6");
    // 40 bytes with the padding; 37 without.
    for at in [start + 4, start + 36] {
        assert_eq!(file.bytes[at], 40);
        file.bytes[at] = 37;
    }
    let (keep, summary) = read(&file.bytes).unwrap();
    assert_eq!(keep.packets.len(), 2);
    assert_eq!(summary.problems, []);
}

#[test]
fn damaged_options_lose_no_packet() {
    let mut file = PcapNgBuilder::new(false).interface(1, 0, &[]).packet_block(PacketBlock {
        interface: 0,
        ticks: 1,
        original: 4,
        data: b"data",
        options: &[(1, b"comment".to_vec())],
    });
    let option_length = file.bytes.len() - 4 - 4 - 8 - 2;
    assert_eq!(file.bytes[option_length], 7);
    file.bytes[option_length] = 200;
    let (keep, summary) = read(&file.bytes).unwrap();
    assert_eq!(keep.packets.len(), 1);
    assert_eq!(slugs(&summary), [("damaged-options", 1)]);
}

#[test]
fn captured_length_above_the_original_is_reported() {
    let (keep, summary) = read(&PcapNgBuilder::new(false).interface(1, 0, &[]).packet(0, 1, 3, b"data").bytes).unwrap();
    assert_eq!(keep.packets[0].original_len, 4);
    assert_eq!(slugs(&summary), [("odd-length", 1)]);
}

#[test]
fn an_unknown_version_is_read_and_reported() {
    let mut file = PcapNgBuilder::new(false).interface(1, 0, &[]).packet(0, 1, 1, b"a");
    file.bytes[12] = 2;
    let (keep, summary) = read(&file.bytes).unwrap();
    assert_eq!(keep.packets.len(), 1);
    assert_eq!(slugs(&summary), [("odd-header", 1)]);
}

#[test]
fn clock_steps_are_detected_per_interface() {
    let packet = |file: PcapNgBuilder, interface, seconds: u64| file.packet(interface, seconds * 1_000_000, 1, b"a");
    let file = PcapNgBuilder::new(false).interface(1, 0, &[]).interface(1, 0, &[]);
    // Two interfaces alternate, the second one with a clock one second behind: not a step.
    let file = [(0, 10), (1, 9), (0, 11), (1, 10)].iter().fold(file, |file, (at, time)| packet(file, *at, *time));
    assert_eq!(read(&file.bytes).unwrap().1.problems, []);
    let (_, summary) = read(&packet(file, 1, 5).bytes).unwrap();
    assert_eq!(slugs(&summary), [("clock-step", 1)]);
    assert!(detail(&summary, "clock-step").contains("back by 5 s at frame 5"), "{:?}", summary.problems);
}

#[test]
fn packet_without_an_interface_is_reported() {
    let file = PcapNgBuilder::new(false).simple(1, b"a").packet(0, 1, 1, b"b").statistics(0, &[]);
    let (keep, summary) = read(&file.bytes).unwrap();
    assert_eq!(keep.packets, []);
    assert_eq!(slugs(&summary), [("undeclared-interface", 3)]);
    assert_eq!(summary.link_types, []);
}
