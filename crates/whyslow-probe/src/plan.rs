//! [`Plan`]: which requests are made.

use crate::client::body::Upload;
use crate::client::options::Options;
use crate::client::request::Ask;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The most requests of a series: each keeps the kernel's data on it.
pub const MOST_REQUESTS: u32 = 10_000;

/// The task.
#[derive(Debug)]
pub struct Plan {
    /// Options of all requests.
    pub options: Options,
    /// A URL as it was typed, without user and password, and what to ask for there.
    pub asks: Vec<(String, Ask)>,
    /// Each is made for each of `asks`.
    pub series: Vec<Series>,
    /// How many requests are made of each series.
    pub repeat: u32,
    /// The time in which the requests of a series begin.
    pub over: Option<Duration>,
    /// How many at the same time.
    pub concurrency: u32,
    /// The pause between requests.
    pub idle: Duration,
}

/// Whether requests share a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Series {
    /// Each request has a connection of its own.
    New,
    /// All requests share one.
    Reuse,
}

impl Plan {
    /// The files that are sent.
    pub fn files(&self) -> Vec<PathBuf> {
        let uploads = self.asks.iter().filter_map(|(_, ask)| ask.upload.as_ref());
        uploads.flat_map(Upload::files).map(Path::to_owned).collect()
    }
}
