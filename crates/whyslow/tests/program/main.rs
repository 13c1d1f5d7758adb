//! The program over whole captures, and as its users meet it.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

mod casebook;
mod cli;
#[path = "../common/mod.rs"]
mod common;
#[cfg(target_os = "linux")]
mod docs;
#[cfg(target_os = "linux")]
mod fixes;
mod known_answers;
mod misses;
mod pairs;
mod samples;
mod series;
mod statements;
mod wild;

// What the tests of the command line share.
use cli::{Folder, complaint, json, json_with_words, pcap, whyslow};
