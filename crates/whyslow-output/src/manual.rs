//! The manual pages of a program, made from its arguments.

use crate::{Sources, Target};
use anyhow::Context;
use clap::Command;
use clap_mangen::Man;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// The program's page and those of its commands, each with the name that it goes by.
fn all(mut program: Command) -> Vec<Command> {
    program.build();
    let mut pages = vec![program.clone()];
    add(&program, program.get_name(), &mut pages);
    pages
}

fn add(of: &Command, name: &str, pages: &mut Vec<Command>) {
    for command in of.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help") {
        let name = format!("{name}-{}", command.get_name());
        pages.push(command.clone().display_name(name.clone()));
        add(command, &name, pages);
    }
}

/// All pages, one after the other.
///
/// # Errors
/// None that writing into memory has not.
pub fn pages(program: Command) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    for command in all(program) {
        Man::new(command).render(&mut out)?;
    }
    Ok(out)
}

/// A file a page, `whyslow-compare.1`.
///
/// # Errors
/// When the folder or a file cannot be written.
pub fn write(program: Command, folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    for command in all(program) {
        let name = format!("{}.1", command.get_display_name().unwrap_or_else(|| command.get_name()));
        let mut page = Vec::new();
        Man::new(command).render(&mut page)?;
        let mut target = Target::open(Some(&folder.join(name)), &Sources::default())?;
        target.write_all(&page)?;
        target.finish()?;
    }
    Ok(())
}
