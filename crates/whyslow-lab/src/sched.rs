//! Real-time priority for a thread that must wake up on time.

use nix::errno::Errno;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;

/// The shortest turn that the kernel grants (sched(7), sched_setattr(2)).
const SHORTEST_TURN_NS: u64 = 100_000;

/// Claims as much as this user may for the calling thread: a place before every ordinary thread
/// (SCHED_FIFO), or else short turns, which come sooner (Linux 6.12); and timers that are not
/// rounded. What is not granted shows as lateness.
pub(crate) fn claim() {
    let _ = nix::sys::prctl::set_timerslack(1);
    let _ = set(libc::SCHED_FIFO, 2, 0).or_else(|_| set(libc::SCHED_OTHER, 0, SHORTEST_TURN_NS));
}

/// A place before every ordinary thread, behind the emulator, for the only program of a host: this
/// machine's other load is not part of that host. Not granted, the priority stays the same.
pub(crate) fn claim_host() {
    let _ = set(libc::SCHED_FIFO, 1, 0);
}

fn set(policy: libc::c_int, priority: u32, turn_ns: u64) -> nix::Result<()> {
    // SAFETY: sched_attr is plain data for which all zeroes are valid.
    let mut attributes: libc::sched_attr = unsafe { std::mem::zeroed() };
    attributes.size = size_of::<libc::sched_attr>() as u32;
    attributes.sched_policy = policy as u32;
    attributes.sched_priority = priority;
    attributes.sched_runtime = turn_ns;
    // SAFETY: the kernel reads `size` bytes of the attributes; 0 is the calling thread.
    let result = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    Errno::result(result).map(|_| ())
}

/// Binds the calling thread to one processor. One that is not there leaves the choice to the
/// kernel.
pub(crate) fn pin(cpu: usize) {
    let mut set = CpuSet::new();
    let _ = set.set(cpu).and_then(|()| sched_setaffinity(Pid::from_raw(0), &set));
}
