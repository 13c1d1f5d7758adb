//! `whyslow view`: the page on this machine.

use crate::kept::Kept;
use crate::settings::{PageTask, ViewTask};
use anyhow::{Context, bail};
use std::fs::File;
use std::process::{Command, Stdio};
use std::sync::Arc;
#[cfg(unix)]
use std::thread;
use whyslow_io::{Input, Reading};
use whyslow_serve::{Opening, Server};

/// Shows the captures on a local page until it is interrupted.
///
/// # Errors
/// When a file cannot be opened, the port cannot be had, or the program was built without the page.
pub(crate) fn run(task: &ViewTask) -> anyhow::Result<()> {
    check(&task.inputs)?;
    let mut kept = Kept::new(&task.inputs)?;
    let opening =
        (!task.inputs.is_empty()).then(|| Opening { names: kept.names(), ..Opening::of(kept.inputs().to_vec()) });
    show(opening, None, &mut kept, task.page)
}

/// What is misspelt is said here, and not on the page.
///
/// # Errors
/// When an input cannot be opened.
pub(crate) fn check(inputs: &[Input]) -> anyhow::Result<()> {
    for input in inputs {
        if let Input::Path(path) = input {
            if path.is_dir() {
                bail!("{}: this is a folder", path.display());
            }
            // A pipe can be opened once.
            if path.is_file() || !path.exists() {
                File::open(path).with_context(|| path.display().to_string())?;
            }
        }
    }
    Ok(())
}

/// Shows what is to be opened, or was read already, until it is interrupted.
///
/// # Errors
/// When the port cannot be had, or the program was built without the page.
pub(crate) fn show(
    opening: Option<Opening>,
    read: Option<Reading>,
    kept: &mut Kept,
    page: PageTask,
) -> anyhow::Result<()> {
    let server = Arc::new(Server::bind(page.port)?);
    match (opening, read) {
        (Some(opening), Some(reading)) => server.show(opening, reading),
        (Some(opening), None) => server.open(opening),
        (None, _) => {}
    }
    #[cfg(unix)]
    end_in_order(&server)?;
    kept.hand_over();
    let url = server.url();
    anstream::println!("{url}");
    anstream::eprintln!("whyslow: the page is open to this machine alone; end with Ctrl-C");
    if page.open {
        start_browser(&url);
    }
    server.run();
    Ok(())
}

/// The first signal ends it in order, so that what was dropped on the page leaves the disk.
#[cfg(unix)]
fn end_in_order(server: &Arc<Server>) -> anyhow::Result<()> {
    let signals = [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM];
    let mut signals = signal_hook::iterator::Signals::new(signals).context("cannot wait for an interrupt")?;
    let server = Arc::clone(server);
    thread::spawn(move || {
        if signals.forever().next().is_some() {
            server.stop();
        }
    });
    Ok(())
}

/// Whatever opens an address here; where nothing does, the address stands on stdout.
fn start_browser(url: &str) {
    let (program, first): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("cmd", &["/C", "start", ""])
    } else {
        ("xdg-open", &[])
    };
    let mut command = Command::new(program);
    command.args(first).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Err(error) = command.spawn() {
        anstream::eprintln!("whyslow: no browser was started ({program}: {error}); open the address in one");
    }
}
