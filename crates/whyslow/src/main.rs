//! `whyslow`: explains from a packet capture why each TCP transfer was slow.
//!
//! The binary is thin: arguments ([`args`]) become settings ([`settings`]), settings become calls
//! of the libraries. stdout is data, stderr is progress and complaints; nothing is printed on
//! stdout before all input was read.

mod args;
mod capture;
mod ci;
mod compare;
mod condense;
mod condensed_files;
mod evidence;
mod explain;
#[cfg(feature = "export")]
mod export;
mod fail_on;
mod gateway;
// A machine's TCP state is read in Linux' format.
#[cfg(target_os = "linux")]
mod host;
// Namespaces are Linux's.
#[cfg(target_os = "linux")]
mod lab;
#[cfg(feature = "mcp")]
mod mcp;
// Some commands are Linux' alone.
#[cfg(all(test, target_os = "linux", feature = "eval", feature = "parquet"))]
mod output_options;
mod predict;
mod probe;
mod report;
mod settings;
mod table;
mod view;

use crate::args::Args;
use crate::settings::{Settings, Task};
use clap::{CommandFactory, Parser};
use std::process::ExitCode;
use whyslow_cli::exit::FAILED;
use whyslow_cli::output::{Output, complain, is_broken_pipe, manual};
use whyslow_cli::{cause_pages, hints};

/// Many short connections are many small pieces of memory, taken and given back.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // The lab starts this program again as the programs at the two ends.
    #[cfg(target_os = "linux")]
    if let Some(code) = whyslow_lab::agent::maybe_run() {
        return ExitCode::from(u8::try_from(code).unwrap_or(FAILED));
    }
    match Settings::resolve(Args::parse()).and_then(|settings| run(&settings)) {
        Ok(code) => code,
        Err(error) if error.is::<clap::Error>() => {
            error.downcast::<clap::Error>().map_or(FAILED.into(), |error| error.exit())
        }
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let hint = hints::of(&error).map(|hint| format!("; {hint}")).unwrap_or_default();
            complain(&format!("{error:#}{hint}"));
            ExitCode::from(FAILED)
        }
    }
}

fn run(settings: &Settings) -> anyhow::Result<ExitCode> {
    let mut out = Output::new(settings.color);
    match &settings.task {
        Task::Explain(task) => return explain::run(task, out),
        Task::Predict(task) => return predict::run(task, out),
        Task::Probe(task) => return probe::run(task, out),
        #[cfg(target_os = "linux")]
        Task::Host(task) => return host::run(task, out),
        Task::Watch(task) => return whyslow_watch::run(task, out),
        Task::View(task) => view::run(task)?,
        #[cfg(feature = "mcp")]
        Task::Mcp(task) => mcp::run(task)?,
        Task::Report(task) => return report::run(task),
        Task::Capture(task) => return capture::run(task, out),
        Task::Compare(task) => return compare::run(task, out),
        #[cfg(feature = "export")]
        Task::Export(task) => return export::run(task),
        Task::Condense(task) => return condense::run(task),
        Task::Gateway(task) => return gateway::run(task, settings.color),
        Task::Causes(None) => out.write(&cause_pages::list(out.width()))?,
        Task::Causes(Some(slug)) => out.write(&cause_pages::one(slug, out.width())?)?,
        #[cfg(target_os = "linux")]
        Task::Lab(lab) => return lab::run(lab, out),
        #[cfg(not(target_os = "linux"))]
        Task::LinuxOnly(reason) => anyhow::bail!(*reason),
        #[cfg(target_os = "linux")]
        Task::Prove(task) => return whyslow_prove::run(task, out),
        Task::Completions(shell) => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Args::command(), "whyslow", &mut script);
            out.write_bytes(&script)?;
        }
        Task::Man(None) => out.write_bytes(&manual::pages(Args::command())?)?,
        Task::Man(Some(folder)) => manual::write(Args::command(), folder)?,
        Task::Usage => {
            anstream::eprint!("{}", Args::command().render_help().ansi());
            return Ok(ExitCode::from(FAILED));
        }
    }
    Ok(ExitCode::SUCCESS)
}
