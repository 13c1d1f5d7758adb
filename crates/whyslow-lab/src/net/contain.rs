//! Programs that cannot outlive this process.
//!
//! A program runs in its own PID namespace. When the namespace's first process exits, the kernel
//! kills the rest; and that first process dies with this one, even by SIGKILL. Two small processes
//! stand in between:
//!
//! ```text
//! this process ── waiter ── first process of the namespace ── the program
//!                 (exits as  (reaps)
//!                 the program
//!                 did)
//! ```

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, SyncSender, channel, sync_channel};
use std::thread;

use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{SigHandler, Signal, signal};
use nix::sys::wait::{WaitStatus, wait, waitpid};
use nix::unistd::{ForkResult, Pid, fork, getpid, getppid};

/// Makes `command` run contained inside `namespace`, with this file as /etc/resolv.conf.
pub(super) fn prepare(command: &mut Command, namespace: OwnedFd, resolver: Option<CString>) {
    let parent = getpid();
    // SAFETY: `contain` and `show_resolver` make system calls only, as is asked of code between
    // fork and exec.
    unsafe {
        command.pre_exec(move || {
            resolver.as_deref().map_or(Ok(()), show_resolver)?;
            contain(&namespace, parent).map_err(io::Error::from)
        })
    };
}

/// Puts the file in the place of /etc/resolv.conf, for this process and its children.
fn show_resolver(file: &CStr) -> Result<(), Errno> {
    const NONE: Option<&CStr> = None;
    unshare(CloneFlags::CLONE_NEWNS)?;
    mount(NONE, c"/", NONE, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NONE)?;
    match mount(Some(file), c"/etc/resolv.conf", NONE, MsFlags::MS_BIND, NONE) {
        // A machine without one has no resolver to hide.
        Err(Errno::ENOENT) => Ok(()),
        mounted => mounted,
    }
}

/// Starts it from a thread that lives as long as this process: the kernel sends the parent-death
/// signal when the *thread* that forked ends.
pub(super) fn spawn(command: Command) -> io::Result<Child> {
    type Job = (Command, SyncSender<io::Result<Child>>);
    static SPAWNER: OnceLock<Sender<Job>> = OnceLock::new();
    let spawner = SPAWNER.get_or_init(|| {
        let (sender, jobs) = channel::<Job>();
        let serve = move || {
            for (mut command, answer) in jobs {
                // The requester waits for the answer.
                let _ = answer.send(command.spawn());
            }
        };
        // Without the thread the channel is closed, and each spawn returns an error.
        let _ = thread::Builder::new().name("spawner".to_owned()).spawn(serve);
        sender
    });
    let (answer, child) = sync_channel(1);
    let stopped = || io::Error::other("the spawner thread is not running");
    spawner.send((command, answer)).map_err(|_| stopped())?;
    child.recv().map_err(|_| stopped())?
}

/// Runs in the child; returns in the process that becomes the program.
fn contain(namespace: &OwnedFd, parent: Pid) -> Result<(), Errno> {
    set_pdeathsig(Signal::SIGKILL)?;
    if getppid() != parent {
        return Err(Errno::ESRCH);
    }
    setns(namespace, CloneFlags::CLONE_NEWNET)?;
    unshare(CloneFlags::CLONE_NEWPID)?;
    // SAFETY: both sides go on with system calls only.
    if let ForkResult::Parent { child } = unsafe { fork() }? {
        detach();
        end_as(waitpid(child, None));
    }
    set_pdeathsig(Signal::SIGKILL)?;
    // SAFETY: as above.
    if let ForkResult::Parent { child } = unsafe { fork() }? {
        detach();
        loop {
            match wait() {
                Ok(status) if status.pid() != Some(child) => {}
                status => end_as(status),
            }
        }
    }
    Ok(())
}

/// Keeps only the standard streams open, and leaves the terminal's signals to the program.
fn detach() {
    // SAFETY: closes descriptors that this process does not use; it runs no destructors.
    unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, 0) };
    for number in [Signal::SIGINT, Signal::SIGQUIT, Signal::SIGTSTP, Signal::SIGTTIN, Signal::SIGTTOU, Signal::SIGHUP] {
        // SAFETY: ignoring a signal installs no handler. It cannot fail for these.
        let _ = unsafe { signal(number, SigHandler::SigIgn) };
    }
}

/// Exits as another process did; a signal becomes 128 + its number, as in shells.
fn end_as(status: Result<WaitStatus, Errno>) -> ! {
    let code = match status {
        Ok(WaitStatus::Exited(_, code)) => code,
        Ok(WaitStatus::Signaled(_, number, _)) => 128 + number as i32,
        _ => 255,
    };
    // SAFETY: ends a forked process without running the exit handlers that it shares with its
    // parent.
    unsafe { libc::_exit(code) }
}
