//! JSON as the page shows it, compressed.

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use std::io::Write;
use whyslow_report::render::json;

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
    let mut gzip = GzEncoder::new(Vec::new(), how);
    let written = json::to_people(content, &mut gzip);
    debug_assert!(written.is_ok());
    let _ = gzip.flush();
    gzip.finish().unwrap_or_default()
}
