//! Outputs, as `whyslow_output` writes them: no command writes a file in another way, and no output
//! replaces a file that the command reads.

pub use whyslow_output::{Output, OutputPath, Sources, Target, create_new, is_broken_pipe, manual, notify, print_line};

use whyslow_io::Input;
use whyslow_output::Source;

/// Reports something on stderr. It may name files and hosts; it cannot steer the terminal.
pub fn complain(text: &str) {
    whyslow_output::complain("whyslow", text);
}

/// The inputs of a command, which no output may replace.
pub fn sources(inputs: &[Input]) -> Sources {
    Sources::of(inputs.iter().map(|input| match input {
        Input::Path(path) => Source::Path(path.clone()),
        Input::Stdin => Source::Stdin,
        Input::Object(_) => Source::Elsewhere(input.name()),
    }))
}
