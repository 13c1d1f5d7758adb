//! JSON as the page shows it, compressed.

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

/// The same, a little larger and in a fraction of the time: to know about how much it is.
pub(crate) fn compress_quickly(content: &impl Serialize) -> Vec<u8> {
    gzip(content, Compression::fast())
}

/// Writing to memory does not fail, and nothing here has maps that JSON could not write.
fn gzip(content: &impl Serialize, how: Compression) -> Vec<u8> {
    // JSON comes in pieces of a few bytes, each of which would be a step of the compression.
    let mut gzip = BufWriter::with_capacity(PIECE, GzEncoder::new(Vec::new(), how));
    let written = json::to_people(content, &mut gzip);
    debug_assert!(written.is_ok());
    gzip.into_inner().ok().and_then(|gzip| gzip.finish().ok()).unwrap_or_default()
}
