//! `whyslow view`: the page on this machine.

use crate::report;
use crate::settings::{PageTask, ViewTask};
use anyhow::Context;
use std::fs::File;
use std::io::Write;
use std::process::{Command, Stdio};
#[cfg(unix)]
use std::{process, thread};
use tempfile::NamedTempFile;
#[cfg(unix)]
use whyslow_cli::interrupt::{ended_by, ending};
use whyslow_cli::output::{complain, print_line, sources};
use whyslow_cli::place::Readable;
use whyslow_cli::{SpooledInputs, keylog};
use whyslow_io::{Error, Input, Reading, Scratch};
#[cfg(unix)]
use whyslow_serve::Stopper;
use whyslow_serve::{Opening, Server};

/// Shows the captures on a local page until it is interrupted.
///
/// # Errors
/// When a file cannot be opened, the port cannot be had, or the program was built without the page.
pub(crate) fn run(task: &ViewTask) -> anyhow::Result<()> {
    sources(&task.inputs).and_files(&task.proof).refuse_stdout()?;
    let inputs = Readable::of(&task.inputs)?.inputs;
    check(&inputs)?;
    let proof = report::proof(task.proof.as_deref())?;
    let mut kept = SpooledInputs::new(&inputs)?;
    let keys = keylog::options()?.keys;
    let opening =
        || Opening { names: kept.names(), show: task.show, proof, keys, ..Opening::of(kept.inputs().to_vec()) };
    let opening = (!inputs.is_empty()).then(opening);
    show(opening, None, &mut kept, task.page)
}

/// Misspelt names are reported here, and not on the page.
///
/// # Errors
/// When an input cannot be opened.
pub(crate) fn check(inputs: &[Input]) -> anyhow::Result<()> {
    for input in inputs {
        if let Input::Object(object) = input {
            object.check().with_context(|| object.name().to_owned())?;
        }
        if let Input::Path(path) = input {
            if path.is_dir() {
                return Err(Error::Directory { name: input.name() }.into());
            }
            // A pipe can be opened once.
            if path.is_file() || !path.exists() {
                File::open(path).map_err(|cause| Error::Open { name: input.name(), cause })?;
            }
        }
    }
    Ok(())
}

/// Shows the inputs, or an analysis that was made already, until it is interrupted.
///
/// # Errors
/// When the port cannot be had, or the program was built without the page.
pub(crate) fn show(
    opening: Option<Opening>,
    read: Option<Reading>,
    kept: &mut SpooledInputs,
    page: PageTask,
) -> anyhow::Result<()> {
    let server = Server::bind(page.port, kept.scratch().clone())?;
    #[cfg(unix)]
    end_in_order(server.stopper(), kept.scratch().clone())?;
    kept.hand_over();
    match (opening, read) {
        (Some(opening), Some(reading)) => server.show(opening, reading),
        (Some(opening), None) => server.open(opening),
        (None, _) => {}
    }
    let url = server.url();
    print_line(&url);
    complain("the page is open to this machine alone; end with Ctrl-C");
    // It stays until the end, because a browser does not report when it has read it.
    let _door = if page.open { start_browser(&url, kept.scratch()) } else { None };
    server.run();
    Ok(())
}

/// The first signal ends the page in order, and the next one immediately. In both cases no file
/// remains that was dropped on the page.
#[cfg(unix)]
fn end_in_order(stopper: Stopper, scratch: Scratch) -> anyhow::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new(ending()).context("cannot wait for an interrupt")?;
    thread::spawn(move || {
        let mut signals = signals.forever();
        if signals.next().is_some() {
            stopper.stop();
        }
        if let Some(signal) = signals.next() {
            scratch.end();
            process::exit(ended_by(signal).into());
        }
    });
    Ok(())
}

/// Opens the page with this system's opener; without one, the address is printed on stdout. The
/// opener gets a file that redirects to the page: all users of this machine see the arguments of
/// programs, and the address contains the secret.
fn start_browser(url: &str, scratch: &Scratch) -> Option<NamedTempFile> {
    let door = scratch.file(".html").and_then(|mut file| {
        file.write_all(door(url).as_bytes())?;
        Ok(file)
    });
    let door = match door {
        Ok(door) => door,
        Err(error) => {
            complain(&format!("no browser was started ({error}); open the address in one"));
            return None;
        }
    };
    let (program, first): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("cmd", &["/C", "start", ""])
    } else {
        ("xdg-open", &[])
    };
    let mut command = Command::new(program);
    command.args(first).arg(door.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Err(error) = command.spawn() {
        complain(&format!("no browser was started ({program}: {error}); open the address in one"));
    }
    Some(door)
}

/// A page that leads to an address of ours, which has nothing in it that markup would take
/// otherwise.
fn door(url: &str) -> String {
    format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta http-equiv=\"refresh\" content=\"0; url={url}\">\n<title>whyslow</title>\n<a href=\"{url}\">whyslow</a>\n"
    )
}
