//! Takes the page into the crate where `make web` has built it. Without it all the rest still
//! builds, and says so.

use std::path::Path;
use std::{env, fs};

fn main() {
    let dist = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../../web/dist");
    // The folder is always there: a missing path would make cargo build this crate again every
    // time.
    println!("cargo:rerun-if-changed={}", dist.display());
    let page = dist.join("index.html");
    let expression = if page.is_file() { format!("Some(include_str!({page:?}))") } else { "None".to_owned() };
    let out = Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join("page.rs");
    fs::write(out, expression).expect("cargo's folder can be written");
}
