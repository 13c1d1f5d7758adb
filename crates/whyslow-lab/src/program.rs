//! A program on a host: it ends with this value. Where programs are, and whether one listens.

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use std::io;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The longest delay until a stop request is noticed.
const NOTICED_WITHIN: Duration = Duration::from_millis(50);
/// Polling interval on kernels without a descriptor for a process's exit.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// The folders of Debian's programs, searched before the user's own.
pub(crate) const PLACES: &str = "/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin";

/// Whether a program is in one of these places, or in the user's own.
pub(crate) fn is_installed(program: &str) -> bool {
    let databases = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let databases = databases.map(|version| version.path().join("bin"));
    let own = std::env::var_os("PATH").unwrap_or_default();
    let places = PLACES.split(':').map(PathBuf::from).chain(databases);
    places.chain(std::env::split_paths(&own)).any(|place| place.join(program).is_file())
}

/// A program that is killed when this is dropped.
pub(crate) struct Program(pub(crate) Child);

impl Program {
    /// Waits for its exit status; `None` if the run is stopped or the deadline passes first.
    pub(crate) fn wait(&mut self, stop: &AtomicBool, deadline: Option<Instant>) -> io::Result<Option<ExitStatus>> {
        let descriptor = descriptor(&self.0);
        loop {
            if let Some(status) = self.0.try_wait()? {
                return Ok(Some(status));
            }
            if stop.load(Ordering::Relaxed) || deadline.is_some_and(|deadline| Instant::now() > deadline) {
                return Ok(None);
            }
            match &descriptor {
                Some(descriptor) => {
                    let mut ended = [PollFd::new(descriptor.as_fd(), PollFlags::POLLIN)];
                    // A signal ends it early, and the loop sees why.
                    let _ = ppoll(&mut ended, Some(TimeSpec::from_duration(NOTICED_WITHIN)), None);
                }
                None => std::thread::sleep(BETWEEN_LOOKS),
            }
        }
    }
}

/// A descriptor that becomes readable when the process exits; `None` before Linux 5.3.
fn descriptor(child: &Child) -> Option<OwnedFd> {
    // SAFETY: takes numbers only. The process is a child that was not waited for, so the number is
    // its own.
    let descriptor = unsafe { libc::syscall(libc::SYS_pidfd_open, child.id(), 0) };
    let descriptor = i32::try_from(descriptor).ok().filter(|descriptor| *descriptor >= 0)?;
    // SAFETY: the kernel has just returned it, and it has no other owner.
    Some(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Whether this thread's network namespace has a TCP listener, on this port if one is named.
pub(crate) fn something_listens(port: Option<u16>) -> bool {
    ["/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"].iter().any(|table| {
        let text = std::fs::read_to_string(table).unwrap_or_default();
        // The second column is the address and port, in hexadecimal digits; the fourth the state:
        // 0A is LISTEN.
        text.lines().skip(1).any(|line| {
            let mut columns = line.split_whitespace().skip(1);
            let own = columns.next().and_then(|own| u16::from_str_radix(own.rsplit_once(':')?.1, 16).ok());
            columns.nth(1) == Some("0A") && port.is_none_or(|port| own == Some(port))
        })
    })
}
