#![allow(clippy::unwrap_used)]

use super::*;
use std::io::Write;

pub(super) const KINDS: [Compression; 4] = [Compression::Gzip, Compression::Zstd, Compression::Lz4, Compression::Xz];

pub(super) fn compress(kind: Compression, bytes: &[u8]) -> Vec<u8> {
    match kind {
        Compression::Gzip => {
            let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            out.write_all(bytes).unwrap();
            out.finish().unwrap()
        }
        Compression::Zstd => zstd::encode_all(bytes, 1).unwrap(),
        Compression::Lz4 => {
            let mut out = lz4_flex::frame::FrameEncoder::new(Vec::new());
            out.write_all(bytes).unwrap();
            out.finish().unwrap()
        }
        Compression::Xz => {
            let mut out = liblzma::write::XzEncoder::new(Vec::new(), 1);
            out.write_all(bytes).unwrap();
            out.finish().unwrap()
        }
    }
}

/// Bytes that do not compress to nothing.
pub(super) fn sample(length: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let step = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 28) as u8
    };
    (0..length).map(step).collect()
}

pub(super) fn over(bytes: &[u8]) -> Result<Source, Error> {
    Source::over("in".to_owned(), io::Cursor::new(bytes.to_vec()), false, &Stop::default())
}

/// Everything a source gives, and how it ends.
fn drain(source: &mut Source) -> Result<(Vec<u8>, Filled), Error> {
    let mut out = Vec::new();
    let mut block = Block::with_room(40_000);
    loop {
        block.clear();
        match source.fill(&mut block)? {
            Filled::Bytes => out.extend_from_slice(&block),
            end => return Ok((out, end)),
        }
    }
}

/// The next bytes, at most this number.
fn take(source: &mut Source, most: usize) -> Result<Vec<u8>, Filled> {
    let mut block = Block::with_room(most);
    match source.fill(&mut block).unwrap() {
        Filled::Bytes => Ok(block.to_vec()),
        end => Err(end),
    }
}

#[test]
fn every_compression_is_detected_by_its_bytes() {
    let bytes = sample(300_000);
    assert_eq!(drain(&mut over(&bytes).unwrap()).unwrap(), (bytes.clone(), Filled::End));
    for kind in KINDS {
        let mut source = over(&compress(kind, &bytes)).unwrap();
        assert_eq!(source.compression, Some(kind));
        assert_eq!(drain(&mut source).unwrap(), (bytes.clone(), Filled::End), "{kind:?}");
    }
}

#[test]
fn several_members_follow_each_other() {
    let (one, two) = (sample(70_000), sample(100));
    for kind in KINDS {
        let stream = [compress(kind, &one), compress(kind, &two), compress(kind, &one)].concat();
        let expected = [one.clone(), two.clone(), one.clone()].concat();
        assert_eq!(drain(&mut over(&stream).unwrap()).unwrap(), (expected, Filled::End), "{kind:?}");
    }
}

#[test]
fn skippable_frames_are_passed_over() {
    let bytes = sample(5_000);
    let skippable =
        |length: u32| [&[0x5a, 0x2a, 0x4d, 0x18][..], &length.to_le_bytes(), &vec![7; length as usize]].concat();
    for kind in [Compression::Zstd, Compression::Lz4] {
        let frame = compress(kind, &bytes);
        let stream = [skippable(100_000), skippable(0), frame.clone(), skippable(3), frame, skippable(0)].concat();
        let expected = [bytes.clone(), bytes.clone()].concat();
        assert_eq!(drain(&mut over(&stream).unwrap()).unwrap(), (expected, Filled::End), "{kind:?}");
    }
}

#[test]
fn a_truncated_stream_gives_its_bytes_and_a_problem() {
    let bytes = sample(400_000);
    for kind in KINDS {
        let stream = compress(kind, &bytes);
        for cut in (1..stream.len()).step_by(stream.len() / 97).chain(stream.len() - 20..stream.len()) {
            let Ok(mut source) = over(&stream[..cut]) else { panic!("{kind:?} at {cut}") };
            match drain(&mut source) {
                Ok((out, Filled::Torn(detail))) => {
                    assert!(bytes.starts_with(&out), "{kind:?} at {cut}");
                    // At most a block before the cut is lost: that of the format, or
                    // a decoder's own.
                    let block = match kind {
                        Compression::Gzip | Compression::Xz => 70_000,
                        Compression::Zstd => 140_000,
                        Compression::Lz4 => 270_000,
                    };
                    let expected = bytes.len() * cut / stream.len();
                    assert!(out.len() + block > expected, "{kind:?} at {cut}: {} of {expected}", out.len());
                    assert!(detail.contains(kind.name()) && detail.contains("cut short"), "{detail}");
                    // Asked again it returns the same.
                    assert_eq!(take(&mut source, 8), Err(Filled::Torn(detail)));
                }
                Err(Error::Compressed { .. }) => {}
                // Too short for a magic number: no compression is seen.
                Ok((out, Filled::End)) => assert!(cut < 6 && out.len() == cut, "{kind:?} at {cut}"),
                other => panic!("{kind:?} at {cut}: {other:?}"),
            }
        }
    }
}

#[test]
fn a_frame_that_ends_at_a_block_is_cut_short_too() {
    // lz4 without a checksum and without its end mark: the only sign is that the input ends.
    let stream = compress(Compression::Lz4, &sample(1 << 20));
    let whole = stream.len() - 4;
    let (out, end) = drain(&mut over(&stream[..whole]).unwrap()).unwrap();
    assert_eq!(out.len(), 1 << 20);
    assert!(matches!(end, Filled::Torn(_)), "{end:?}");
}

#[test]
fn damage_ends_the_reading_and_never_panics() {
    let bytes = sample(50_000);
    for kind in KINDS {
        let stream = compress(kind, &bytes);
        for place in (0..stream.len()).step_by(stream.len() / 61) {
            let mut bad = stream.clone();
            bad[place] ^= 0x41;
            if let Ok(mut source) = over(&bad) {
                let _ = drain(&mut source);
            }
        }
        let trailing = [stream, b"garbage behind the stream".to_vec()].concat();
        let (out, end) = drain(&mut over(&trailing).unwrap()).unwrap();
        assert!(out == bytes, "{kind:?}: {} bytes", out.len());
        assert!(matches!(end, Filled::Torn(_)), "{kind:?} {end:?}");
    }
}

#[test]
fn a_bomb_streams() {
    let mut bomb = compress(Compression::Gzip, &vec![0; 4 << 20]);
    bomb = bomb.repeat(16);
    let mut source = over(&bomb).unwrap();
    let mut block = Block::with_room(1 << 16);
    let mut total = 0;
    while source.fill(&mut block).unwrap() == Filled::Bytes {
        total += block.len();
        block.clear();
    }
    assert_eq!(total, 64 << 20);
    assert_eq!(source.raw_bytes(), bomb.len() as u64);
}

#[test]
fn a_window_that_would_take_too_much_memory_is_refused() {
    // A zstd frame header that asks for a window of 2 GiB, and an xz stream that asks for a
    // dictionary of 1 GiB.
    let zstd = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x01, 0x00, 0x00];
    assert!(matches!(drain(&mut over(&zstd).unwrap()), Err(Error::Compressed { kind: "zstd", .. })));
    let mut options = liblzma::stream::LzmaOptions::new_preset(0).unwrap();
    options.dict_size(1 << 30);
    let mut filters = liblzma::stream::Filters::new();
    filters.lzma2(&options);
    let encoder = liblzma::stream::Stream::new_stream_encoder(&filters, liblzma::stream::Check::None).unwrap();
    let mut xz = liblzma::write::XzEncoder::new_stream(Vec::new(), encoder);
    xz.write_all(b"abc").unwrap();
    assert!(matches!(drain(&mut over(&xz.finish().unwrap()).unwrap()), Err(Error::Compressed { kind: "xz", .. })));
}

/// Gives one byte a time, and fails in the end.
struct Dripping(io::Cursor<Vec<u8>>, bool);

impl Read for Dripping {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let interrupted = !std::mem::replace(&mut self.1, true);
        if interrupted {
            return Err(io::ErrorKind::Interrupted.into());
        }
        self.1 = false;
        let length = buffer.len().min(1);
        match self.0.read(&mut buffer[..length])? {
            0 if length > 0 => Err(io::Error::other("the disk is gone")),
            read => Ok(read),
        }
    }
}

#[test]
fn an_input_that_fails_is_an_error_whatever_was_read() {
    let bytes = sample(2_000);
    let stored = [(bytes.clone(), false), (bytes.clone(), true)];
    for (stored, coming) in stored.into_iter().chain(KINDS.map(|kind| (compress(kind, &bytes), false))) {
        let length = stored.len() as u64;
        let mut source =
            Source::over("in".to_owned(), Dripping(io::Cursor::new(stored), false), coming, &Stop::default()).unwrap();
        let error = drain(&mut source).unwrap_err();
        assert!(matches!(&error, Error::Read { offset, .. } if *offset == length), "{error}");
        assert_eq!(error.to_string(), format!("in: byte {length}: the disk is gone"));
    }
}

#[test]
fn bytes_that_are_put_back_are_read_again() {
    let bytes = sample(10_000);
    let mut source = over(&compress(Compression::Xz, &bytes)).unwrap();
    let mut head = Block::with_room(100);
    assert_eq!(source.fill(&mut head).unwrap(), Filled::Bytes);
    assert_eq!(*head, bytes[..100]);
    source.put_back(head);
    assert_eq!(drain(&mut source).unwrap(), (bytes, Filled::End));
}

#[test]
fn nothing_is_an_error_with_a_name() {
    let empty = |bytes: &[u8]| drain(&mut over(bytes).unwrap()).unwrap_err().to_string();
    assert_eq!(empty(b""), "in is empty: it holds no capture");
    for kind in KINDS {
        assert_eq!(empty(&compress(kind, b"")), "in is empty: it holds no capture");
    }
}

#[test]
fn a_stop_ends_the_input_behind_what_was_given_out() {
    for (coming, stored) in [(false, sample(1 << 20)), (true, sample(1 << 20))]
        .into_iter()
        .chain(KINDS.map(|kind| (false, compress(kind, &sample(1 << 20)))))
    {
        let stop = Stop::default();
        let mut source = Source::over("in".to_owned(), io::Cursor::new(stored), coming, &stop).unwrap();
        let bytes = take(&mut source, 1_000).unwrap();
        assert!(sample(1 << 20).starts_with(&bytes));
        assert!(!stop.is_cut());
        stop.flag().store(true, Ordering::Relaxed);
        assert_eq!(take(&mut source, 1_000), Err(Filled::End));
        assert!(stop.is_cut());
        let torn = Problem { slug: "torn-record".into(), count: 1, detail: String::new() };
        let summary = source.complete_summary(Summary { problems: vec![torn], ..Summary::default() });
        let [partial] = summary.problems.as_slice() else { panic!("{:?}", summary.problems) };
        assert_eq!(partial.slug, "partial");
    }
}

#[test]
fn what_comes_is_given_out_without_waiting_for_more() {
    let (reader, mut writer) = pipe();
    writer.write_all(b"12345678").unwrap();
    let mut source = Source::over("-".to_owned(), reader, true, &Stop::default()).unwrap();
    assert_eq!(take(&mut source, 100).unwrap(), b"12345678");
    for message in [&b"one"[..], b"another"] {
        writer.write_all(message).unwrap();
        assert_eq!(take(&mut source, 100).unwrap(), message);
    }
    // Longer than the reader's patience.
    let late = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(250));
        writer.write_all(b"late").unwrap();
    });
    assert_eq!(take(&mut source, 100).unwrap(), b"late");
    late.join().unwrap();
    assert_eq!(take(&mut source, 100), Err(Filled::End));
}

#[test]
fn a_stop_ends_a_wait_without_data() {
    let plain = (sample(20), 20);
    // All but the end of the stream: the data given out is complete.
    let gzip = compress(Compression::Gzip, &sample(100_000));
    for ((stored, length), compressed) in [(plain, false), ((gzip[..gzip.len() - 9].to_vec(), 100_000), true)] {
        let stop = Stop::default();
        let (reader, mut writer) = pipe();
        writer.write_all(&stored).unwrap();
        let mut source = Source::over("-".to_owned(), reader, true, &stop).unwrap();
        assert_eq!(source.is_compressed(), compressed);
        // A decompressed block is filled before it is given out.
        let room = length.min(50_000);
        let mut read = 0;
        while read < room {
            read += take(&mut source, room).unwrap().len();
        }
        let flag = stop.flag();
        let asked = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(20));
            flag.store(true, Ordering::Relaxed);
        });
        // The rest of the data may be given out before the request to stop arrives.
        let rest = take(&mut source, 1 << 20);
        assert!(rest.is_err() || compressed, "{rest:?}");
        assert_eq!(take(&mut source, 64), Err(Filled::End));
        asked.join().unwrap();
        assert!(stop.is_cut());
    }
}

#[test]
fn dropping_a_reader_ends_its_wait() {
    let (reader, mut writer) = pipe();
    writer.write_all(&sample(20)).unwrap();
    let mut source = Source::over("-".to_owned(), reader, true, &Stop::default()).unwrap();
    let gauge = source.gauge();
    while gauge.bytes() < 20 {
        take(&mut source, 64).unwrap();
    }
    let asked = std::thread::spawn(move || gauge.give_up());
    while take(&mut source, 64).is_ok() {}
    asked.join().unwrap();
}

#[test]
fn a_read_error_is_not_the_end() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            panic!("as a decoder with a fault does");
        }
    }
    let reader = io::Cursor::new(sample(100_000)).chain(Broken);
    let mut source = Source::over("in".to_owned(), reader, false, &Stop::default()).unwrap();
    let error = drain(&mut source).unwrap_err();
    assert_eq!(error.to_string(), "in: byte 100000: whatever reads it has failed");
}

/// A pipe, and who writes to it.
fn pipe() -> (Pipe, io::PipeWriter) {
    #[cfg(unix)]
    use std::os::fd::OwnedFd as Handle;
    #[cfg(windows)]
    use std::os::windows::io::OwnedHandle as Handle;
    let (reader, writer) = io::pipe().unwrap();
    (Pipe::new(File::from(Handle::from(reader))), writer)
}
