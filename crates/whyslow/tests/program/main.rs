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

// Helpers of the tests of the command line.
use cli::{Folder, complaint, json, json_with_words, pcap, whyslow};
