//! Checks that every option that names a file or folder is known as an output or an input.

use crate::args::Args;
use clap::{Command, CommandFactory, ValueHint};
use std::any::TypeId;
use std::collections::BTreeSet;
use std::path::PathBuf;
use whyslow_cli::output::OutputPath;

#[path = "../tests/common/output_options.rs"]
#[expect(dead_code, reason = "the runs are for the tests of the program")]
mod listed;

type Names = BTreeSet<(String, String)>;

/// The options of a command and its subcommands that name files: outputs and inputs.
fn collect(command: &Command, path: &str, outputs: &mut Names, inputs: &mut Names) {
    for arg in command.get_arguments() {
        let (name, parsed) = ((path.to_owned(), arg.get_id().to_string()), arg.get_value_parser().type_id());
        if parsed == TypeId::of::<OutputPath>() {
            outputs.insert(name);
        } else if parsed == TypeId::of::<PathBuf>()
            || matches!(arg.get_value_hint(), ValueHint::FilePath | ValueHint::DirPath | ValueHint::AnyPath)
        {
            inputs.insert(name);
        }
    }
    for command in command.get_subcommands() {
        collect(command, format!("{path} {}", command.get_name()).trim_start(), outputs, inputs);
    }
}

#[test]
fn every_option_that_names_a_file_is_listed_as_output_or_input() {
    let (mut outputs, mut inputs) = (Names::new(), Names::new());
    collect(&Args::command(), "", &mut outputs, &mut inputs);
    let owned = |(command, option): (&str, &str)| (command.to_owned(), option.to_owned());
    let listed: Names = listed::OUTPUTS.iter().map(|(command, option, _)| owned((command, option))).collect();
    assert_eq!(outputs, listed, "list the option in tests/common/output_options.rs, with runs that must be refused");
    let listed: Names = listed::INPUTS.iter().copied().map(owned).collect();
    assert_eq!(inputs, listed, "an option that names a file to write has the type OutputPath");
}
