//! zstd and xz without C, for a browser. Truncated or damaged input gives the data before the
//! damage, as with the decoders that other machines use.

use super::head::PeekedReader;
use lzma_rust2::{Action, Status, XzStream};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, ErrorKind, Read};

/// The memory limit of an xz stream, KiB: that of the other decoder.
const XZ_MEMORY: u32 = 256 << 10;
/// The largest window of a zstd frame, bytes: that of the other decoder.
const ZSTD_WINDOW: u64 = 1 << 27;
/// Compressed bytes of an xz stream that are held.
const ROOM: usize = 64 << 10;

/// A last block without content, and a checksum.
const LAST_BLOCK: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

/// Decodes all zstd frames of an input.
pub(super) struct ZstdFrames<R> {
    source: EndRecorder<PeekedReader<R>>,
    decoder: FrameDecoder,
    is_within: bool,
    /// The error that follows the bytes returned last.
    failed: Option<io::Error>,
}

impl<R: Read> ZstdFrames<R> {
    pub(super) fn new(reader: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(ZSTD_WINDOW);
        let source = EndRecorder { reader: PeekedReader::new(reader), end: None };
        Self { source, decoder, is_within: false, failed: None }
    }

    /// Begins the next frame; returns false at the end.
    fn begin(&mut self) -> io::Result<bool> {
        if self.source.reader.peek_frame()?.is_empty() {
            return Ok(false);
        }
        self.decoder.reset(&mut self.source).map_err(|error| self.source.why(error))?;
        self.is_within = true;
        Ok(true)
    }

    /// Decodes a block, or ends the frame.
    fn go_on(&mut self) -> io::Result<()> {
        if !self.decoder.is_finished() {
            if let Err(error) = self.decoder.decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1)) {
                self.failed = Some(self.source.why(error));
                // The decoder gives its window away when the frame ends.
                let _ = self.decoder.decode_blocks(LAST_BLOCK.as_slice(), BlockDecodingStrategy::All);
            }
            return Ok(());
        }
        self.is_within = false;
        let [stored, computed] = [self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum()];
        match stored.is_none_or(|stored| Some(stored) == computed) {
            true => Ok(()),
            false => Err(io::Error::other("Restored data doesn't match checksum")),
        }
    }
}

impl<R: Read> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.decoder.can_collect() > 0 {
                return self.decoder.read(buffer);
            }
            if let Some(error) = self.failed.take() {
                return Err(error);
            }
            if self.is_within {
                self.go_on()?;
            } else if !self.begin()? {
                return Ok(0);
            }
        }
    }
}

/// A reader that remembers how it ended: decoders hide that in errors of their own.
struct EndRecorder<R> {
    reader: R,
    end: Option<io::Error>,
}

impl<R> EndRecorder<R> {
    /// The reason for a decoder's error.
    fn why(&mut self, error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
        self.end.take().unwrap_or_else(|| io::Error::other(error))
    }
}

impl<R: Read> Read for EndRecorder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.reader.read(buffer) {
            Ok(0) if !buffer.is_empty() => {
                self.end = Some(ErrorKind::UnexpectedEof.into());
                Ok(0)
            }
            Err(error) if error.kind() != ErrorKind::Interrupted => {
                let kind = error.kind();
                self.end = Some(error);
                Err(kind.into())
            }
            read => read,
        }
    }
}

/// Decodes all xz streams of an input.
pub(super) struct XzStreams<R> {
    reader: R,
    stream: XzStream,
    room: Box<[u8]>,
    /// The bytes in it that are not decoded yet.
    held: std::ops::Range<usize>,
    at_end: bool,
    /// The error that follows the bytes returned last.
    failed: Option<io::Error>,
}

impl<R: Read> XzStreams<R> {
    pub(super) fn new(reader: R) -> Self {
        let room = vec![0; ROOM].into_boxed_slice();
        let stream = XzStream::new_mem_limit(true, XZ_MEMORY);
        Self { reader, stream, room, held: 0..0, at_end: false, failed: None }
    }

    /// Decodes a part of the held input; returns the number of bytes, and whether it was the last.
    fn decode(&mut self, buffer: &mut [u8]) -> io::Result<(usize, bool)> {
        let held = self.room.get(self.held.clone()).unwrap_or_default();
        let action = if self.at_end { Action::Finish } else { Action::Run };
        let before = self.stream.total_out();
        match self.stream.process(held, buffer, action) {
            Ok(done) => {
                self.held.start += done.bytes_consumed;
                let is_stuck = self.at_end && done.bytes_consumed == 0 && done.bytes_produced == 0;
                match matches!(done.status, Status::StreamEnd) {
                    false if is_stuck => Err(ErrorKind::UnexpectedEof.into()),
                    is_last => Ok((done.bytes_produced, is_last)),
                }
            }
            Err(error) => {
                let error = if self.at_end { ErrorKind::UnexpectedEof.into() } else { error };
                // It has decoded what lies before the error.
                match usize::try_from(self.stream.total_out() - before) {
                    Ok(decoded @ 1..) => {
                        self.failed = Some(error);
                        Ok((decoded.min(buffer.len()), false))
                    }
                    _ => Err(error),
                }
            }
        }
    }
}

impl<R: Read> Read for XzStreams<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        loop {
            if self.held.is_empty() && !self.at_end {
                let read = self.reader.read(&mut self.room)?;
                (self.held, self.at_end) = (0..read, read == 0);
            }
            let (decoded, is_last) = self.decode(buffer)?;
            if decoded > 0 || is_last || buffer.is_empty() {
                return Ok(decoded);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::tests::{KINDS, compress, over, sample};
    use super::*;
    use crate::source::{Block, Compression, Filled, Source};
    use crate::stop::Stop;

    fn decoder(kind: Compression, bytes: &[u8]) -> Option<Box<dyn Read + Send>> {
        let bytes = io::Cursor::new(bytes.to_vec());
        match kind {
            Compression::Zstd => Some(Box::new(ZstdFrames::new(bytes))),
            Compression::Xz => Some(Box::new(XzStreams::new(bytes))),
            Compression::Gzip | Compression::Lz4 => None,
        }
    }

    /// The output of the decoder, and its error.
    fn drain(mut reader: Box<dyn Read + Send>) -> (Vec<u8>, Option<io::Error>) {
        let (mut out, mut piece) = (Vec::new(), vec![0; super::super::PIECE]);
        loop {
            match reader.read(&mut piece) {
                Ok(0) => return (out, None),
                Ok(read) => out.extend_from_slice(&piece[..read]),
                Err(error) => return (out, Some(error)),
            }
        }
    }

    fn pure() -> impl Iterator<Item = Compression> {
        KINDS.into_iter().filter(|kind| decoder(*kind, b"").is_some())
    }

    /// The output of the decoders of other machines.
    fn native(bytes: &[u8]) -> Vec<u8> {
        let Ok(mut source) = over(bytes) else { return Vec::new() };
        let mut out = Vec::new();
        let mut block = Block::with_room(40_000);
        while let Ok(Filled::Bytes) = source.fill(&mut block) {
            out.extend_from_slice(&block);
            block.clear();
        }
        out
    }

    #[test]
    fn streams_of_one_or_several_are_undone() {
        assert_eq!(pure().count(), 2);
        for kind in pure() {
            // Larger than a window, and than the held input.
            for (one, two) in [(sample(3_000_000), sample(100)), (sample(1), sample(0)), (vec![7; 1 << 20], sample(9))]
            {
                let stream = [compress(kind, &one), compress(kind, &two), compress(kind, &one)].concat();
                let (out, error) = drain(decoder(kind, &stream).unwrap());
                assert!(out == [one.clone(), two, one].concat() && error.is_none(), "{kind:?}: {error:?}");
            }
        }
    }

    #[test]
    fn what_breaks_off_gives_what_came_before() {
        let bytes = sample(300_000);
        for kind in pure() {
            let stream = compress(kind, &bytes);
            for cut in (13..stream.len() - 1).step_by(stream.len() / 53) {
                let (out, error) = drain(decoder(kind, &stream[..cut]).unwrap());
                assert_eq!(error.map(|error| error.kind()), Some(ErrorKind::UnexpectedEof), "{kind:?} at {cut}");
                // Within an xz chunk the decoders may stop a few bytes apart.
                let apart = if kind == Compression::Zstd { 0 } else { 64 };
                let other = native(&stream[..cut]).len();
                assert!(bytes.starts_with(&out), "{kind:?} at {cut}");
                assert!(out.len().abs_diff(other) <= apart, "{kind:?} at {cut}: {} bytes, {other}", out.len());
            }
        }
    }

    #[test]
    fn damage_ends_the_reading_and_never_panics() {
        let bytes = sample(50_000);
        for kind in pure() {
            let stream = compress(kind, &bytes);
            for place in (0..stream.len()).step_by(stream.len() / 61) {
                let mut bad = stream.clone();
                bad[place] ^= 0x41;
                let _ = drain(decoder(kind, &bad).unwrap());
            }
            let trailing = [stream, b"garbage behind the stream".to_vec()].concat();
            let (out, error) = drain(decoder(kind, &trailing).unwrap());
            assert!(out == bytes && error.is_some(), "{kind:?}: {} bytes, {error:?}", out.len());
        }
    }

    #[test]
    fn a_wrong_checksum_is_noticed_behind_the_bytes() {
        let bytes = sample(50_000);
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.include_checksum(true).unwrap();
        io::Write::write_all(&mut encoder, &bytes).unwrap();
        let mut stream = encoder.finish().unwrap();
        assert!(drain(decoder(Compression::Zstd, &stream).unwrap()).1.is_none());
        *stream.last_mut().unwrap() ^= 1;
        let (out, error) = drain(decoder(Compression::Zstd, &stream).unwrap());
        assert!(out == bytes && error.is_some());
    }

    #[test]
    fn a_window_that_would_take_too_much_memory_is_refused() {
        let zstd = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x01, 0x00, 0x00];
        assert!(drain(decoder(Compression::Zstd, &zstd).unwrap()).1.is_some());
        let mut options = liblzma::stream::LzmaOptions::new_preset(0).unwrap();
        options.dict_size(1 << 30);
        let mut filters = liblzma::stream::Filters::new();
        filters.lzma2(&options);
        let encoder = liblzma::stream::Stream::new_stream_encoder(&filters, liblzma::stream::Check::None).unwrap();
        let mut xz = liblzma::write::XzEncoder::new_stream(Vec::new(), encoder);
        io::Write::write_all(&mut xz, b"abc").unwrap();
        assert!(drain(decoder(Compression::Xz, &xz.finish().unwrap()).unwrap()).1.is_some());
    }

    #[test]
    fn a_failing_input_reports_the_reason() {
        struct Failing;
        impl Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("the disk is gone"))
            }
        }
        let stream = compress(Compression::Zstd, &sample(100_000));
        let reader = io::Cursor::new(stream[..20_000].to_vec()).chain(Failing);
        let source = Source::over("in".to_owned(), ZstdFrames::new(reader), false, &Stop::default());
        let mut block = Block::with_room(1 << 20);
        let error = source.and_then(|mut source| {
            while source.fill(&mut block)? == Filled::Bytes {
                block.clear();
            }
            Ok(())
        });
        assert!(error.unwrap_err().to_string().ends_with("the disk is gone"));
    }
}
