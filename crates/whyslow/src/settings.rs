//! What the arguments mean: every default filled in, every choice made.

use crate::args::{Args, Color, Command, Explain, Report, View};
use anstream::ColorChoice;
use clap::CommandFactory;
use clap::error::ErrorKind;
use clap_complete::Shell;
use std::io::{IsTerminal, stdin};
use std::num::NonZero;
use std::path::PathBuf;
use std::thread::available_parallelism;
use whyslow_io::{ExplainOptions, Input};

/// Of many connections, so many are told of.
pub(crate) const TOP: usize = 3;

/// What to do, and how to print it.
#[derive(Debug)]
pub(crate) struct Settings {
    pub task: Task,
    pub color: ColorChoice,
}

/// What to do.
#[derive(Debug)]
pub(crate) enum Task {
    Explain(ExplainTask),
    Compare(crate::compare::Compare),
    Export(Box<crate::export::Export>),
    HelpCause(Option<String>),
    Predict(Box<crate::predict::Predict>),
    Probe(Box<crate::probe::Probe>),
    #[cfg(target_os = "linux")]
    Lab(crate::lab::args::Lab),
    View(ViewTask),
    Report(ReportTask),
    Completions(Shell),
    Man,
    /// There is nothing to read: say how it is used.
    Usage,
}

#[derive(Debug)]
pub(crate) struct ExplainTask {
    pub inputs: Vec<Input>,
    pub format: Format,
    /// The one connection to tell of.
    pub connection: Option<u64>,
    /// Causes that make the exit status 1.
    pub fail_on: Vec<String>,
    /// How they are explained.
    pub how: ExplainOptions,
    /// Why the captures end before what they show did, where that is known: what comes of them is
    /// partial.
    pub cut: Option<String>,
}

/// The page on this machine.
#[derive(Debug)]
pub(crate) struct ViewTask {
    pub inputs: Vec<Input>,
    pub page: PageTask,
}

/// How the page is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageTask {
    /// 0 is any free one.
    pub port: u16,
    /// Whether to start the browser.
    pub open: bool,
}

/// The page in a file.
#[derive(Debug)]
pub(crate) struct ReportTask {
    pub inputs: Vec<Input>,
    /// `-` is stdout.
    pub output: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// For a person, telling of so many connections.
    Terminal {
        top: usize,
    },
    Json,
    JsonLines,
}

impl Settings {
    /// Makes sense of the arguments.
    ///
    /// # Errors
    /// When there are files or options in front of a command: nothing of what was typed is passed
    /// over.
    pub(crate) fn resolve(args: Args) -> Result<Self, clap::Error> {
        if args.command.is_some() && args.explain != Explain::default() {
            let message = "a command stands before files and options; a file that is named like a command is ./NAME";
            return Err(Args::command().error(ErrorKind::ArgumentConflict, message));
        }
        let color = match args.color {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        };
        let task = match args.command {
            None => explain(args.explain),
            Some(Command::Explain(args)) => explain(args),
            Some(Command::Compare(task)) => Task::Compare(task),
            Some(Command::Export(task)) => Task::Export(task),
            Some(Command::HelpCause { slug }) => Task::HelpCause(slug),
            Some(Command::Predict(predict)) => Task::Predict(predict),
            Some(Command::Probe(probe)) => Task::Probe(probe),
            #[cfg(target_os = "linux")]
            Some(Command::Lab(lab)) => Task::Lab(lab),
            Some(Command::View(View { files, port, open })) => {
                Task::View(ViewTask { inputs: inputs(&files), page: PageTask { port, open } })
            }
            Some(Command::Report(Report { files, output })) => {
                Task::Report(ReportTask { inputs: inputs(&files), output })
            }
            Some(Command::Completions { shell }) => Task::Completions(shell),
            Some(Command::Man) => Task::Man,
        };
        Ok(Self { task, color })
    }
}

fn explain(args: Explain) -> Task {
    let inputs: Vec<_> = match args.files.as_slice() {
        [] if stdin().is_terminal() => return Task::Usage,
        [] => vec![Input::Stdin],
        files => inputs(files),
    };
    let format = match (args.json, args.jsonl) {
        (true, _) => Format::Json,
        (_, true) => Format::JsonLines,
        _ => Format::Terminal { top: args.top.unwrap_or(TOP) },
    };
    let how = ExplainOptions { threads: threads(args.threads), path_rate: args.path_rate };
    let (connection, fail_on) = (args.connection, args.fail_on);
    Task::Explain(ExplainTask { inputs, format, connection, fail_on, how, cut: None })
}

/// As many threads as asked for, or one for each processor.
pub(crate) fn threads(asked: Option<NonZero<usize>>) -> NonZero<usize> {
    asked.or(available_parallelism().ok()).unwrap_or(NonZero::<usize>::MIN)
}

fn inputs(files: &[PathBuf]) -> Vec<Input> {
    files.iter().map(PathBuf::as_path).map(crate::place::input).collect()
}
