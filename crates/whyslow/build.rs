//! Packs the fonts of pictures: as they are they would be 0.7 MB of the program.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let out = env::var("OUT_DIR").expect("cargo sets it");
    let fonts = [("sans", epaint_default_fonts::UBUNTU_LIGHT), ("signs", epaint_default_fonts::HACK_REGULAR)];
    for (name, font) in fonts {
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(font).expect("memory can be written");
        let packed = packed.finish().expect("memory can be written");
        fs::write(Path::new(&out).join(format!("{name}.ttf.gz")), packed).expect("cargo's folder can be written");
    }
}
