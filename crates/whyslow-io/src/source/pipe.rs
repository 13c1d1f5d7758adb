//! [`Pipe`]: reads a pipe or terminal, and notices a stop request while no bytes come.

use std::fs::File;
use std::io::{self, ErrorKind, Read};

/// After this time without bytes, `read` returns, so that a stop request is noticed.
#[cfg(unix)]
const PATIENCE: std::time::Duration = std::time::Duration::from_millis(100);
/// The size requested for a pipe's buffer, bytes, so that its writer seldom blocks. Linux grants
/// this much to any user.
#[cfg(target_os = "linux")]
const ROOM: usize = 1 << 20;

/// Reads the available bytes. Fails with [`ErrorKind::WouldBlock`] if none come for a while, so
/// that the reader can check whether to go on. Blocks where that is unsupported.
pub(crate) struct Pipe(File);

impl Pipe {
    pub(crate) fn new(file: File) -> Self {
        // Unchanged if it is not a pipe, or may not grow.
        #[cfg(target_os = "linux")]
        let _ = rustix::pipe::fcntl_setpipe_size(&file, ROOM);
        Self(file)
    }

    /// Whether there are bytes to read, or the end.
    #[cfg(unix)]
    fn waits(&self) -> io::Result<bool> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let patience = Timespec { tv_sec: 0, tv_nsec: PATIENCE.subsec_nanos().into() };
        match poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&patience)) {
            Ok(ready) => Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    #[cfg(not(unix))]
    fn waits(&self) -> io::Result<bool> {
        Ok(true)
    }
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.waits()? {
            true => self.0.read(buffer),
            false => Err(ErrorKind::WouldBlock.into()),
        }
    }
}
