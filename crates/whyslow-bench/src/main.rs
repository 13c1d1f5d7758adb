//! `whyslow-bench`: makes the inputs of `make bench`.

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use whyslow_bench::make::recipes;

#[derive(Debug, Parser)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write inputs.
    Make {
        /// Which; all without a name.
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// Into this folder.
        #[arg(long, default_value = "target/bench", value_name = "DIR")]
        into: PathBuf,
        /// With so many times fewer packets.
        #[arg(long, default_value_t = 1, value_name = "N")]
        smaller: u64,
    },
}

fn main() -> anyhow::Result<()> {
    let Command::Make { names, into, smaller } = Args::parse().command;
    std::fs::create_dir_all(&into)?;
    for recipe in recipes() {
        if names.is_empty() || names.iter().any(|name| name == recipe.name) {
            let made = recipe.smaller(smaller).make(&into)?;
            anstream::eprintln!("{made:?}");
        }
    }
    Ok(())
}
