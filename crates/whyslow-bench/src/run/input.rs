//! [`Input`]: what the programs read. It is made once and kept.

use crate::make::{InputFiles, Recipe, VERSION};
use crate::walk::walk;
use anyhow::Context;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// Files that the programs read.
pub(super) struct Input {
    pub(super) name: &'static str,
    pub(super) files: Vec<PathBuf>,
    pub(super) packets: u64,
    pub(super) connections: u64,
}

impl Input {
    /// The name of the input that the lab records.
    pub(super) const LAB: &'static str = "lab";

    /// The input of a recipe, made in `folder` unless it is there.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn of_recipe(recipe: &Recipe, folder: &Path, notify: &mut dyn FnMut(&str)) -> anyhow::Result<Self> {
        let InputFiles { files, packets, connections, .. } = make(recipe, folder, notify)?;
        Ok(Self { name: recipe.name, files, packets, connections })
    }

    /// A download over this machine's own TCP stack, which `whyslow lab` records in `folder` unless
    /// it is there; `None` if namespaces are not allowed.
    pub(super) fn of_lab(whyslow: &Path, folder: &Path, notify: &mut dyn FnMut(&str)) -> Option<Self> {
        let folder = folder.join(Self::LAB);
        notify("making lab: a download over this machine's own TCP stack");
        let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join("lab.toml");
        let mut command = Command::new(whyslow);
        command
            .args(["lab", "run"])
            .arg(scenario)
            .arg("--out")
            .arg(&folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let file = folder.join("bench/bench-1/server.pcap");
        let packets = command.status().ok().filter(ExitStatus::success).and_then(|_| walk(&file).ok())?;
        Some(Self { name: Self::LAB, files: vec![file], packets, connections: 1 })
    }

    /// Reads the files once, so that every program finds them in memory.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub(super) fn warm_up(&self) -> anyhow::Result<()> {
        for file in &self.files {
            let mut open = File::open(file).with_context(|| file.display().to_string())?;
            io::copy(&mut open, &mut io::sink()).with_context(|| file.display().to_string())?;
        }
        Ok(())
    }
}

/// Makes an input, or takes the existing one. A file next to it holds the recipe: with another
/// recipe, or a changed generator, the input is made again.
fn make(recipe: &Recipe, folder: &Path, notify: &mut dyn FnMut(&str)) -> anyhow::Result<InputFiles> {
    let note = folder.join(format!("{}.made", recipe.name));
    let recipe_text = format!("{VERSION} {recipe:?}\n");
    if let Ok(text) = fs::read_to_string(&note)
        && let Some(made) = text.strip_prefix(&recipe_text).and_then(|made| InputFiles::parse(made, folder))
    {
        return Ok(made);
    }
    notify(&format!("making {}: {}", recipe.name, recipe.about));
    let made = recipe.make(folder)?;
    fs::write(&note, recipe_text + &made.to_text()).with_context(|| note.display().to_string())?;
    Ok(made)
}
