#![allow(clippy::unwrap_used)]

use super::*;
use crate::capture::build::{ByteBuilder, MICROS, MODIFIED, NANOS, PcapNgBuilder};

#[test]
fn every_pcap_magic_in_both_orders() {
    for magic in [MICROS, NANOS, MODIFIED, 0x1c00_01ac, 0x1c00_01ab] {
        for bytes in [magic.to_le_bytes(), magic.to_be_bytes()] {
            let found = detect(&bytes, false).unwrap();
            assert!(matches!(found, Some(Format::Pcap(_))), "{magic:#x}: {found:?}");
            assert_eq!(found, detect(&bytes, true).unwrap());
        }
    }
}

#[test]
fn pcapng_needs_its_byte_order_magic() {
    for big in [false, true] {
        let file = PcapNgBuilder::new(big).bytes;
        assert_eq!(detect(&file, false), Ok(Some(Format::PcapNg)));
        assert_eq!(detect(&file[..11], false), Ok(None));
        assert_eq!(section_order(&file), Some(if big { Order::Big } else { Order::Little }));
    }
    let blank_lines = b"\n\r\r\n12:00:00.000000 IP 10.0.0.1.80 > 10.0.0.2.1: Flags [.], ack 1, win 9, length 0\n";
    assert_eq!(detect(blank_lines, true), Ok(Some(Format::Text)));
}

#[test]
fn text_is_detected() {
    for text in [
        &b"$ tcpdump -n tcp\n12:00:00.000000 IP 10.0.0.1.80 > 10.0.0.2.1: Flags [.]\n"[..],
        b"\xef\xbb\xbf12:00",
        b"12:00:00.0\xa0IP (in Latin-1, with a no-break space)",
        b"\x1b[32m12:00:00\x1b[0m",
        b"x",
    ] {
        assert_eq!(detect(text, true), Ok(Some(Format::Text)), "{}", text.escape_ascii());
    }
    assert_eq!(detect(b"12:00:00", false), Ok(None), "more may come");
}

#[test]
fn unsupported_formats_are_named_with_a_remedy() {
    let erf = {
        let record =
            ByteBuilder::new(false).u32(5).u32(1_600_000_000).raw(&[2, 4, 0, 32, 0, 0, 0, 20]).raw(&[0; 16]).bytes;
        [record.clone(), record].concat()
    };
    for (bytes, what, remedy) in [
        (&b""[..], "empty", ""),
        (b"\x1f\x8b\x08\x00aaaa", "gzip", "gunzip"),
        (b"\x28\xb5\x2f\xfdaaaa", "zstd", "zstd -d"),
        (b"\x04\x22\x4d\x18aaaa", "lz4", "lz4 -d"),
        (b"\xfd7zXZ\0aaaa", "xz", "xz -d"),
        (b"BZh91AY", "bzip2", "bunzip2"),
        (b"PK\x03\x04aaaa", "zip archive", "unpack"),
        (b"snoop\0\0\0\0\0\0\x02", "snoop", "editcap"),
        (b"RTSS\x05\x02", "Network Monitor", "editcap"),
        (b"\xff\xfe1\x002\x00", "UTF-16", "UTF-8"),
        (b"\x7fELF\x02\x01", "program", "no IP packets"),
        (&erf, "ERF", "editcap"),
        (b"\x00\x01\x02\x03\x04\x05", "00 01 02 03 04 05", "editcap"),
    ] {
        let error = detect(bytes, true).unwrap_err();
        assert_eq!(error.offset, 0);
        assert!(error.message.contains(what), "{error}");
        assert!(error.message.contains(remedy), "{error}");
    }
}

/// The same first bytes decide, whatever the size of the first push.
#[test]
fn size_of_the_first_push_changes_nothing() {
    let mut input = vec![b'a'; ENOUGH];
    assert_eq!(detect(&input, false), Ok(Some(Format::Text)));
    input.extend([0; 100_000]);
    assert_eq!(detect(&input, false), Ok(Some(Format::Text)));
}
