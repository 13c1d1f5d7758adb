//! Runs tests that need namespaces: as the current user and, if that is root, as an ordinary user
//! too.
//!
//! Namespaces are entered while the process has one thread, and one test runs at a time so that
//! none disturbs another's timing. So these programs bring their own `main`. If the kernel forbids
//! namespaces, they report it and test nothing.

use std::os::unix::process::CommandExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, ExitCode};
use std::time::Instant;

use whyslow_lab::net;
use whyslow_testing::{Lack, skip};

/// One test.
pub struct Test {
    pub name: &'static str,
    pub run: fn(),
    /// Whether root leaves it out when it runs all again as an ordinary user.
    pub once: bool,
}

/// Lists tests with the names of their functions.
macro_rules! tests {
    ($($test:path),* $(,)?) => {
        &[$($crate::runner::Test { name: stringify!($test), run: $test, once: false }),*]
    };
}
pub(crate) use tests;

/// Set where root runs all this again as an ordinary user.
const AGAIN: &str = "WHYSLOW_TESTS_AGAIN";

/// Runs the tests whose names contain the first argument that is not an option, as libtest does.
pub fn run(tests: &[&[Test]]) -> ExitCode {
    let is_again = std::env::var_os(AGAIN).is_some();
    let is_root = nix::unistd::geteuid().is_root();
    let who = if is_root { "root" } else { "an ordinary user" };
    let is_good_as_user = !is_root || is_good_as_user();
    if let Err(error) = net::enter() {
        skip(Lack::Machine, format!("as {who}: {error}"));
        return ExitCode::from(u8::from(!is_good_as_user));
    }
    let filter = std::env::args().skip(1).find(|arg| !arg.starts_with('-')).unwrap_or_default();
    let is_wanted = |test: &&Test| test.name.contains(&filter) && !(is_again && test.once);
    let mut failed = 0;
    for test in tests.iter().copied().flatten().filter(is_wanted) {
        let (start, skips) = (Instant::now(), whyslow_testing::skips());
        let is_good = catch_unwind(AssertUnwindSafe(test.run)).is_ok();
        failed += usize::from(!is_good);
        let verdict = match is_good {
            true if whyslow_testing::skips() > skips => "skipped",
            true => "ok",
            false => "FAILED",
        };
        println!("test {} as {who} ... {verdict} ({:.1} s)", test.name, start.elapsed().as_secs_f64());
    }
    ExitCode::from(u8::from(failed > 0 || !is_good_as_user))
}

/// Runs all this again as an ordinary user; true when that went well or cannot be.
fn is_good_as_user() -> bool {
    let arguments = std::env::args().skip(1);
    let run = std::env::current_exe().and_then(|program| {
        Command::new(program).args(arguments).env(AGAIN, "1").uid(65_534).gid(65_534).current_dir("/").status()
    });
    match run {
        Ok(status) => status.success(),
        Err(error) => {
            skip(Lack::Machine, format!("as an ordinary user: this program cannot be started as one: {error}"));
            true
        }
    }
}
