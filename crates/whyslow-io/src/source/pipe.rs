//! [`Pipe`]: a pipe, a terminal or the like, whose bytes may be long in coming.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::time::Duration;

/// After so long without bytes the reader is told that there are none yet.
const PATIENCE: Duration = Duration::from_millis(100);
/// What the system is asked to hold of a pipe, bytes: whoever writes is then seldom kept waiting.
/// That is as much as Linux gives to anyone who asks.
#[cfg(target_os = "linux")]
const ROOM: usize = 1 << 20;

/// Reads what is there. Fails with [`ErrorKind::WouldBlock`] when nothing has come for a while, so
/// that whoever reads can ask whether to go on; where that cannot be known it waits.
pub(crate) struct Pipe(File);

impl Pipe {
    pub(crate) fn new(file: File) -> Self {
        // As it is where it is no pipe, or may not grow.
        #[cfg(target_os = "linux")]
        let _ = rustix::pipe::fcntl_setpipe_size(&file, ROOM);
        Self(file)
    }

    /// Whether there is something to read, be it the end.
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
