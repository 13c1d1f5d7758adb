//! The bundled captures, for tests.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use whyslow_core::analysis::Analysis;
use whyslow_io::{Input, Reading, Stop};

pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples").join(name).with_extension("pcap")
}

pub(crate) fn sample(name: &str) -> Analysis {
    reading(&[&[name]]).analysis
}

/// Samples in groups.
pub(crate) fn reading(groups: &[&[&str]]) -> Reading {
    let inputs = |names: &&[&str]| names.iter().map(|name| Input::Path(path(name))).collect::<Vec<_>>();
    let groups: Vec<Vec<Input>> = groups.iter().map(inputs).collect();
    let groups: Vec<&[Input]> = groups.iter().map(Vec::as_slice).collect();
    whyslow_io::read(&groups, &Stop::default(), &mut |_| {}).unwrap()
}
