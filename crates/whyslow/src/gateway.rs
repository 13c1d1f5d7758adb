//! `whyslow gateway`: starts `whyslow-gateway`, a program of its own, with the same arguments.

use anstream::ColorChoice;
use std::env::{consts::EXE_SUFFIX, current_exe};
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use whyslow_cli::exit::FAILED;
use whyslow_cli::output::complain;

/// The arguments that are passed on.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Gateway {
    /// Arguments of `whyslow-gateway`; its `--help` lists them.
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Becomes the other program.
///
/// # Errors
/// If the program exists and cannot be started.
pub(crate) fn run(task: &Gateway, color: ColorChoice) -> anyhow::Result<ExitCode> {
    let program = program();
    let mut command = Command::new(&program);
    match color {
        ColorChoice::Always => _ = command.args(["--color", "always"]),
        ColorChoice::Never => _ = command.args(["--color", "never"]),
        _ => {}
    }
    match become_it(command.args(&task.arguments)) {
        Ok(code) => Ok(code),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            complain(
                "the gateway is a program of its own, and `whyslow-gateway` is neither beside this one nor on PATH: \
                 install the release's package whyslow-gateway, or `cargo install whyslow-gateway`",
            );
            Ok(FAILED.into())
        }
        Err(error) => Err(anyhow::Error::new(error).context(program.display().to_string())),
    }
}

/// The gateway next to this program, or else the one in PATH.
fn program() -> PathBuf {
    let name = format!("whyslow-gateway{EXE_SUFFIX}");
    let beside = current_exe().ok().map(|own| own.with_file_name(&name)).filter(|path| path.is_file());
    beside.unwrap_or_else(|| name.into())
}

/// In place of this process: signals and exit status are the gateway's.
#[cfg(unix)]
fn become_it(command: &mut Command) -> io::Result<ExitCode> {
    Err(std::os::unix::process::CommandExt::exec(command))
}

#[cfg(not(unix))]
fn become_it(command: &mut Command) -> io::Result<ExitCode> {
    let code = command.status()?.code();
    Ok(ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(FAILED)))
}
