//! `whyslow-gateway`: S3 in front of another provider's storage, which sees only ciphertext.
//!
//! The binary is thin: arguments ([`cli`]) become settings, settings become calls of the library.

mod cli;
mod complain;

use anstream::ColorChoice;
use clap::Parser;
use cli::args::{Args, Color};
use complain::complain;
use std::process::ExitCode;
use whyslow_output::exit::FAILED;
use whyslow_output::{Output, is_broken_pipe};

/// Requests are many pieces of memory, taken and given back.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let args = Args::parse();
    let color = match args.color {
        Color::Auto => ColorChoice::Auto,
        Color::Always => ColorChoice::Always,
        Color::Never => ColorChoice::Never,
    };
    match cli::run(&args.task, Output::new(color)) {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("{error:#}"));
            ExitCode::from(FAILED)
        }
    }
}
