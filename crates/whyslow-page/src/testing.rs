//! The bundled captures, for tests of this crate and of those that give its page away.
#![allow(clippy::unwrap_used, reason = "tests alone use it")]

use std::path::{Path, PathBuf};
use whyslow_analysis::Analysis;
use whyslow_io::{Input, Reading, Stop};

/// The file of a sample.
pub fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples").join(name).with_extension("pcap")
}

/// The analysis of a sample.
pub fn sample(name: &str) -> Analysis {
    reading(&[&[name]]).analysis
}

/// Samples in groups, read.
pub fn reading(groups: &[&[&str]]) -> Reading {
    let inputs = |names: &&[&str]| names.iter().map(|name| Input::Path(path(name))).collect::<Vec<_>>();
    let groups: Vec<Vec<Input>> = groups.iter().map(inputs).collect();
    let groups: Vec<&[Input]> = groups.iter().map(Vec::as_slice).collect();
    whyslow_io::read(&groups, &Stop::default(), &mut |_| {}).unwrap()
}
