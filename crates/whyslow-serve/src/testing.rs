//! The bundled captures, for tests.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use whyslow_core::analysis::Analysis;
use whyslow_io::Input;

pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples").join(name).with_extension("pcap")
}

pub(crate) fn sample(name: &str) -> Analysis {
    whyslow_io::explain(&[Input::Path(path(name))], &whyslow_io::Stop::default(), &mut |_| {}).unwrap()
}
