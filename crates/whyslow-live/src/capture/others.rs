//! Recording on systems that do not support it.

use super::{Format, Recorded};
use std::io::{self, Write};
use std::net::SocketAddr;

/// This system offers no packet sockets.
#[derive(Debug)]
pub struct Recorder;

/// This platform has no recorder.
#[derive(Debug)]
pub enum RecorderSocket {}

impl RecorderSocket {
    /// # Errors
    /// Always.
    pub fn open() -> io::Result<Self> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "packets are recorded on Linux alone"))
    }
}

impl Recorder {
    /// # Errors
    /// Cannot fail on this system, which has no packet sockets.
    pub fn start(
        socket: RecorderSocket,
        _format: Format,
        _snaplen: u32,
        _out: Box<dyn Write + Send>,
    ) -> io::Result<Self> {
        match socket {}
    }

    pub fn expect(&self, _port: u16, _remote: SocketAddr) -> io::Result<()> {
        Ok(())
    }

    /// # Errors
    /// Never.
    pub fn finish(self) -> io::Result<Recorded> {
        Ok(Recorded::default())
    }
}
