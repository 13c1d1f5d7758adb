//! Network namespaces that leave nothing behind: a namespace lives as long as a file descriptor of
//! this process, so it ends with the process, however that ends.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::thread::{self, JoinHandle};

use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::stat::Mode;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, Gid, Uid, fork, getegid, geteuid, write};

use super::contain;
use super::error::{Context, Error};

/// Acquires the right to create network namespaces. Does nothing if this process has it (root, or
/// inside a user namespace already); otherwise the process becomes root of a user namespace of its
/// own, mapped to its user.
///
/// Call it while the process has one thread. The error explains what forbids it.
pub fn enter() -> Result<(), Error> {
    let Err(denied) = try_network_namespace() else { return Ok(()) };
    if geteuid().is_root() {
        // Root that may not: a container. A user namespace might still be allowed.
        return become_root().map_err(|_| forbidden(denied));
    }
    match become_root() {
        Err(Errno::EINVAL) => Err(Error::Threads),
        Err(errno) => Err(forbidden(errno)),
        Ok(()) => try_network_namespace().map_err(forbidden),
    }
}

/// Makes `command` start as root of a new user namespace, as [`enter`] would, for programs that
/// already have threads. The spawn fails if that is forbidden.
pub fn enter_on_exec(command: &mut Command) -> &mut Command {
    // SAFETY: the hook runs between fork and exec and makes system calls only.
    unsafe { command.pre_exec(|| become_root().map_err(io::Error::from)) }
}

/// Tries in a child process whether a network namespace can be created, because trying changes the
/// process.
fn try_network_namespace() -> Result<(), Errno> {
    // SAFETY: the child makes system calls only and ends by _exit, which is sound with any number
    // of threads.
    match unsafe { fork() }? {
        ForkResult::Child => {
            let code = unshare(CloneFlags::CLONE_NEWNET).err().map_or(0, |errno| errno as i32);
            // SAFETY: ends the child without running this process's exit handlers.
            unsafe { libc::_exit(code) }
        }
        ForkResult::Parent { child } => match waitpid(child, None)? {
            WaitStatus::Exited(_, 0) => Ok(()),
            WaitStatus::Exited(_, code) => Err(Errno::from_raw(code)),
            // Seccomp may kill instead of refusing.
            _ => Err(Errno::EPERM),
        },
    }
}

/// Enters a new user namespace with this user mapped to root. System calls only, no allocation.
fn become_root() -> Result<(), Errno> {
    let (uid, gid) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER)?;
    // Without this an unprivileged process may not map its group (user_namespaces(7)).
    put("/proc/self/setgroups", b"deny")?;
    put_map("/proc/self/uid_map", uid.as_raw())?;
    put_map("/proc/self/gid_map", gid.as_raw())?;
    nix::unistd::setresgid(Gid::from_raw(0), Gid::from_raw(0), Gid::from_raw(0))?;
    nix::unistd::setresuid(Uid::from_raw(0), Uid::from_raw(0), Uid::from_raw(0))
}

fn put(path: &str, text: &[u8]) -> Result<(), Errno> {
    let file = open(path, OFlag::O_WRONLY | OFlag::O_CLOEXEC, Mode::empty())?;
    write(&file, text).map(|_| ())
}

/// Writes `0 ID 1` without allocating.
fn put_map(path: &str, id: u32) -> Result<(), Errno> {
    let mut text = *b"0            1";
    let mut rest = id;
    for place in text.iter_mut().skip(2).take(10).rev() {
        *place = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    put(path, &text)
}

/// Explains what most likely forbids namespaces, and what would allow them.
fn forbidden(errno: Errno) -> Error {
    let setting = |path: &str| fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
    let reason = if setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns").as_deref() == Some("1") {
        "AppArmor restricts user namespaces of ordinary users (as Ubuntu does since 23.10). Run as root, or allow them: \
         sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0"
            .to_owned()
    } else if setting("/proc/sys/kernel/unprivileged_userns_clone").as_deref() == Some("0") {
        "user namespaces of ordinary users are turned off. Run as root, or allow them: \
         sudo sysctl kernel.unprivileged_userns_clone=1"
            .to_owned()
    } else if setting("/proc/sys/user/max_user_namespaces").as_deref() == Some("0") {
        "no user namespace is allowed. Run as root, or allow them: sudo sysctl user.max_user_namespaces=10000"
            .to_owned()
    } else if setting("/proc/sys/user/max_net_namespaces").as_deref() == Some("0") {
        "no network namespace is allowed. Allow them: sudo sysctl user.max_net_namespaces=10000".to_owned()
    } else if setting("/proc/self/status").is_some_and(|status| status.contains("\nSeccomp:\t2")) {
        format!(
            "a seccomp filter refuses them ({errno}), as in most containers. Run outside the container, or start it with \
             --privileged (or --security-opt seccomp=unconfined --cap-add SYS_ADMIN)"
        )
    } else {
        format!("the kernel says {errno}. Run as root")
    };
    Error::Forbidden { reason }
}

/// A network namespace.
#[derive(Debug)]
pub struct Namespace {
    name: &'static str,
    handle: OwnedFd,
}

impl Namespace {
    /// Creates an empty namespace. `name` is for messages.
    pub fn new(name: &'static str) -> Result<Self, Error> {
        let make = || {
            unshare(CloneFlags::CLONE_NEWNET)?;
            open("/proc/thread-self/ns/net", OFlag::O_RDONLY | OFlag::O_CLOEXEC, Mode::empty())
        };
        // A separate thread, so that only its namespace changes.
        let handle = thread::scope(|scope| join(scope.spawn(make))).map_err(|errno: Errno| match errno {
            Errno::EPERM | Errno::ENOSPC | Errno::ENOSYS => forbidden(errno),
            _ => Error::Os { what: format!("making the {name}'s network namespace"), source: errno.into() },
        })?;
        Ok(Self { name, handle })
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Runs `work` inside and waits. Its sockets belong to the namespace wherever they are used
    /// later.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, Error> {
        let fd = self.handle.as_fd();
        let result =
            thread::scope(|scope| join(scope.spawn(move || setns(fd, CloneFlags::CLONE_NEWNET).map(|()| work()))));
        result.doing(format!("entering the {}'s network namespace", self.name))
    }

    /// Runs `work` inside on a thread with this name.
    pub fn thread<T: Send + 'static>(
        &self,
        name: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<JoinHandle<T>, Error> {
        // A thread inherits the namespace of the thread that starts it.
        self.within(|| thread::Builder::new().name(name.to_owned()).spawn(work))?
            .doing(format!("starting a thread in the {}'s network namespace", self.name))
    }

    /// Starts `command` inside. It and all its descendants are killed when this process ends, in
    /// whatever way; its descendants also when it exits itself. It sees the file `resolver`, if
    /// there is one, as /etc/resolv.conf.
    pub fn spawn(&self, mut command: Command, resolver: Option<&std::path::Path>) -> Result<Child, Error> {
        let what = || format!("starting {:?} on the {}", command.get_program(), self.name);
        let what = what();
        let namespace = self.handle.try_clone().doing(&*what)?;
        let resolver = resolver.map(|file| CString::new(file.as_os_str().as_bytes())).transpose();
        let resolver = resolver.map_err(io::Error::from).doing(&*what)?;
        contain::prepare(&mut command, namespace, resolver);
        contain::spawn(command).doing(what)
    }

    /// The handle, for a child to inherit.
    pub(super) fn handle(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

trait Join<T> {
    fn wait(self) -> thread::Result<T>;
}

impl<T> Join<T> for JoinHandle<T> {
    fn wait(self) -> thread::Result<T> {
        self.join()
    }
}

impl<T> Join<T> for thread::ScopedJoinHandle<'_, T> {
    fn wait(self) -> thread::Result<T> {
        self.join()
    }
}

/// A thread's result; a panic is propagated.
fn join<T>(handle: impl Join<T>) -> T {
    handle.wait().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
