//! JSON for the page, compressed where it is sent.

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use std::io::BufWriter;
use whyslow_report::render::json;

/// Bytes that are compressed at once.
const PIECE: usize = 1 << 16;

/// gzip of a value's JSON.
pub(crate) fn compress(content: &impl Serialize) -> Vec<u8> {
    gzip(content, Compression::default())
}

/// The same, slightly larger and much faster: for an estimate of the size.
pub fn compress_quickly(content: &impl Serialize) -> Vec<u8> {
    gzip(content, Compression::fast())
}

/// The same as it is.
pub(crate) fn plain(content: &impl Serialize) -> Vec<u8> {
    let mut json = Vec::new();
    let written = json::to_people(content, &mut json);
    debug_assert!(written.is_ok());
    json
}

/// Writing to memory does not fail, and no map here has keys that JSON cannot write.
fn gzip(content: &impl Serialize, how: Compression) -> Vec<u8> {
    // JSON comes in pieces of a few bytes, each of which would be a step of the compression.
    let mut gzip = BufWriter::with_capacity(PIECE, GzEncoder::new(Vec::new(), how));
    let written = json::to_people(content, &mut gzip);
    debug_assert!(written.is_ok());
    gzip.into_inner().ok().and_then(|gzip| gzip.finish().ok()).unwrap_or_default()
}
