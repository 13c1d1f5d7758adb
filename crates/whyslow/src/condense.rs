//! `whyslow condense`: captures become condensed ones, each by itself.

use anyhow::{Context, bail};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use whyslow_cli::exit::FAILED;
use whyslow_cli::interrupt::{INTERRUPTED, Interrupt};
use whyslow_cli::output::{OutputPath, Target, complain, sources};
use whyslow_cli::{Meter, keylog};
use whyslow_io::{Input, ScanError, Scanned};

/// What the name of a condensed capture ends with.
pub(crate) const SUFFIX: &str = ".condensed.zst";

#[derive(Debug, clap::Args)]
pub(crate) struct Condense {
    /// Captures, which are read one by one.
    #[arg(value_name = "FILE", required = true, value_hint = clap::ValueHint::FilePath)]
    pub files: Vec<PathBuf>,

    /// Write the condensed captures into this folder, which is created: NAME.condensed.zst
    /// for each FILE.
    #[arg(long = "output", alias = "out", short = 'o', value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
    pub out: OutputPath,
}

/// Condenses one capture after the other. The condensed output names a capture that cannot be read,
/// and the exit status is 2.
///
/// # Errors
/// When something cannot be written, or two captures have one name.
pub(crate) fn run(task: &Condense) -> anyhow::Result<ExitCode> {
    let inputs = whyslow_cli::place::inputs(&task.files)?;
    let targets = targets(&inputs, &task.out)?;
    let sources = keylog::protected(sources(&inputs));
    fs::create_dir_all(&task.out).with_context(|| task.out.display().to_string())?;
    let mut interrupt = Interrupt::listen()?;
    let stop = interrupt.stop();
    let (mut meter, mut code) = (Meter::new(), ExitCode::SUCCESS);
    for (input, path) in inputs.iter().zip(&targets) {
        let target = Target::open(Some(path), &sources)?;
        let scanned = whyslow_io::scan_into(
            input,
            &stop,
            &mut |progress| {
                interrupt.has_read();
                meter.update(progress);
            },
            target,
        );
        match scanned {
            Ok((Scanned { partial: true, .. }, _)) => {
                complain(&format!("{}: reading was stopped: it was not condensed", input.name()));
                code = ExitCode::from(INTERRUPTED);
                break;
            }
            Ok((_, target)) => target.finish()?,
            Err(ScanError::Read(error)) => {
                let why = error.to_string();
                complain(&why);
                whyslow_io::unread(input, &why, Target::open(Some(path), &sources)?)?.finish()?;
                code = ExitCode::from(FAILED);
            }
            Err(error) => return Err(error.into()),
        }
    }
    interrupt.is_done();
    Ok(code)
}

/// The file of each.
///
/// # Errors
/// When two would be written to one place.
fn targets(inputs: &[Input], folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut known = HashSet::new();
    let mut targets = Vec::new();
    for input in inputs {
        let name = match input {
            Input::Stdin => "stdin".to_owned(),
            Input::Path(path) => path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
            Input::Object(object) => object.name().rsplit('/').next().unwrap_or_default().to_owned(),
        };
        if !known.insert(name.clone()) {
            bail!("two captures are named {name}: scan them into different folders, and stitch both");
        }
        targets.push(folder.join(name + SUFFIX));
    }
    Ok(targets)
}
