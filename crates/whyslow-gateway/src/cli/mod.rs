//! The commands: the endpoint, its operations, and objects and keys on local files.

pub(crate) mod args;
mod backend;
mod check;
mod clean;
mod config;
mod init;
mod layout;
mod objects;
mod options;
#[cfg(test)]
mod options_listed;
mod place;
mod quantities;
mod secrets;
mod serve;
#[cfg(test)]
mod service_unit;
mod source;
mod stats;

use self::args::{Args, Gateway};
use clap::CommandFactory;
use std::process::ExitCode;
use whyslow_output::{Output, manual};

/// Runs a command.
///
/// # Errors
/// If a file cannot be read or written, a key does not fit, or an object is not as it was sealed.
pub(crate) fn run(task: &Gateway, mut out: Output) -> anyhow::Result<ExitCode> {
    let text = match task {
        Gateway::Keygen { output } => secrets::keygen(output)?,
        Gateway::Epoch { to, output } => secrets::epoch(&to.recipients, output)?,
        Gateway::Rekey { epoch, identities, to, output } => secrets::rekey(epoch, identities, &to.recipients, output)?,
        Gateway::Seal(seal) => objects::seal(seal)?,
        Gateway::Open(open) => {
            objects::open(open)?;
            String::new()
        }
        Gateway::Layout(stored) => layout::run(stored, out.table_width())?,
        Gateway::Init { folder, store } => {
            init::make(folder, store.as_ref())?;
            init::next(folder, store.as_ref())
        }
        Gateway::Serve(args) => return serve::run(args),
        Gateway::Stats(args) => stats::run(args, out.table_width())?,
        Gateway::Check(args) => return check::run(args, out),
        Gateway::Clean(args) => return clean::run(args, out),
        Gateway::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Args::command(), "whyslow-gateway", &mut script);
            out.write_bytes(&script)?;
            String::new()
        }
        Gateway::Man { output: None } => {
            out.write_bytes(&manual::pages(Args::command())?)?;
            String::new()
        }
        Gateway::Man { output: Some(folder) } => {
            manual::write(Args::command(), folder)?;
            String::new()
        }
    };
    out.write(&text)?;
    Ok(ExitCode::SUCCESS)
}
