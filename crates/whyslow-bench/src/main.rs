//! `whyslow-bench`: what `make bench` calls.

use anyhow::{Context, bail};
use clap::{Parser, Subcommand};
use std::fs;
use std::path::{Path, PathBuf};
#[cfg(target_os = "linux")]
use std::time::Duration;
use whyslow_bench::growth::{GrowthSettings, growth};
use whyslow_bench::make::recipes;
#[cfg(target_os = "linux")]
use whyslow_bench::replay::{ReplaySettings, replay};
use whyslow_bench::run::{Settings, run};
use whyslow_bench::walk::walk;

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
        /// Divide the number of packets by this.
        #[arg(long, default_value_t = 1, value_name = "N")]
        smaller: u64,
    },
    /// Run whyslow and other programs on the inputs in turn, and print the results.
    Run {
        /// Inputs; all without a name.
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// The program to measure.
        #[arg(long, default_value = "target/release/whyslow", value_name = "FILE")]
        whyslow: PathBuf,
        /// Where the inputs are, or are put.
        #[arg(long, default_value = "target/bench", value_name = "DIR")]
        folder: PathBuf,
        /// Divide the number of packets of the inputs by this.
        #[arg(long, default_value_t = 1, value_name = "N")]
        smaller: u64,
        /// How often each program runs.
        #[arg(long, default_value_t = 5, value_name = "N")]
        rounds: u32,
        /// Write the report there as well.
        #[arg(long, value_name = "FILE")]
        into: Option<PathBuf>,
    },
    /// Run whyslow on hostile inputs of one, two and four times a size, and print how processor
    /// time and memory grow.
    Growth {
        /// Inputs; all without a name.
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// The program to measure.
        #[arg(long, default_value = "target/release/whyslow", value_name = "FILE")]
        whyslow: PathBuf,
        /// Where the inputs are put for their run.
        #[arg(long, default_value = "target/growth", value_name = "DIR")]
        folder: PathBuf,
        /// Inputs this many times as large.
        #[arg(long, default_value_t = 1.0, value_name = "N")]
        scale: f64,
    },
    /// Send the packets of an input over an interface, at a given rate, for `make watch-rate`.
    #[cfg(target_os = "linux")]
    Replay {
        /// A pcap file.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Send over this interface.
        #[arg(long, value_name = "NAME")]
        interface: String,
        /// Megabits of whole packets per second.
        #[arg(long, value_name = "N")]
        mbit: f64,
        /// End after this time, or with the file.
        #[arg(long = "for", default_value_t = 10.0, value_name = "SECONDS")]
        seconds: f64,
    },
    /// Go from record to record of pcap files: a yardstick.
    Walk {
        /// The files.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

fn main() -> anyhow::Result<()> {
    match Args::parse().command {
        Command::Make { names, into, smaller } => make(&names, &into, smaller),
        Command::Run { names: only, whyslow, folder, smaller, rounds, into } => {
            let settings = Settings { whyslow, folder, smaller, rounds, only };
            let mut keep = |report: &str| into.as_deref().map_or(Ok(()), |into| keep(report, into));
            let report = run(&settings, &mut |step| anstream::eprintln!("{step}"), &mut keep)?;
            keep(&report)?;
            anstream::print!("{report}");
            Ok(())
        }
        Command::Growth { names: only, whyslow, folder, scale } => {
            let settings = GrowthSettings { whyslow, folder, scale, only };
            let table = growth(&settings, &mut |line| anstream::eprintln!("{line}"))?;
            anstream::print!("{table}");
            Ok(())
        }
        #[cfg(target_os = "linux")]
        Command::Replay { file, interface, mbit, seconds } => {
            anyhow::ensure!(mbit > 0.0, "--mbit is more than 0");
            let duration = Duration::try_from_secs_f64(seconds).context("--for")?;
            let sent = replay(&file, &ReplaySettings { interface, rate: mbit * 1e6, duration })?;
            anstream::println!("{} packets, {} bytes, {:.2} s", sent.packets, sent.bytes, sent.seconds);
            Ok(())
        }
        Command::Walk { files } => {
            for file in files {
                let packets = walk(&file).with_context(|| file.display().to_string())?;
                anstream::println!("{}: {packets} packets", file.display());
            }
            Ok(())
        }
    }
}

fn keep(report: &str, into: &Path) -> anyhow::Result<()> {
    let folder = into.parent().context("the report's file has no folder")?;
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    fs::write(into, report).with_context(|| into.display().to_string())
}

fn make(names: &[String], into: &Path, smaller: u64) -> anyhow::Result<()> {
    let known = recipes();
    if let Some(unknown) = names.iter().find(|name| known.iter().all(|recipe| recipe.name != **name)) {
        let names: Vec<_> = known.iter().map(|recipe| recipe.name).collect();
        bail!("there is no input {unknown}: there are {}", names.join(", "));
    }
    fs::create_dir_all(into).with_context(|| into.display().to_string())?;
    for recipe in known.into_iter().filter(|recipe| names.is_empty() || names.iter().any(|name| name == recipe.name)) {
        let made = recipe.smaller(smaller).make(into)?;
        let (packets, connections) = (made.packets, made.connections);
        for file in made.files {
            anstream::println!("{}", file.display());
        }
        anstream::eprintln!("{packets} packets, {connections} connections, {} segments retransmitted", made.resent);
    }
    Ok(())
}
