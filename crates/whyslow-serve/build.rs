//! Takes the page into the crate where `make web` has built it, compressed. Without it all the rest
//! still builds, with a note.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::path::Path;
use std::{env, fs};

fn main() {
    let dist = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../../web/dist");
    // The folder is always there: a missing path would make cargo build this crate again every
    // time.
    println!("cargo:rerun-if-changed={}", dist.display());
    let page = fs::read(dist.join("index.html")).unwrap_or_default();
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&page).expect("memory can be written");
    let packed = packed.finish().expect("memory can be written");
    let out = Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join("page.html.gz");
    fs::write(out, packed).expect("cargo's folder can be written");
}
