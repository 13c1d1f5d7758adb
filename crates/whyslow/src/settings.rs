//! The settings that the arguments mean: every default filled in, every choice made.

use crate::args::{Args, Color, Command, Explain, Report, Shape, View};
use crate::fail_on::FailOn;
use anstream::ColorChoice;
use clap::CommandFactory;
use clap::error::ErrorKind;
use clap_complete::Shell;
use std::io::{IsTerminal, stdin};
use std::num::NonZero;
use std::path::PathBuf;
use std::thread::available_parallelism;
use whyslow_cli::language;
use whyslow_cli::output::OutputPath;
use whyslow_cli::place::{TransferPlace, inputs};
use whyslow_cli::select::Selection;
use whyslow_diagnosis::compare::TransferName;
use whyslow_io::{ExplainOptions, Input};
use whyslow_report::words::Lang;

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
    Capture(Box<crate::capture::args::Capture>),
    Compare(crate::compare::args::Compare),
    #[cfg(feature = "export")]
    Export(Box<crate::export::args::Export>),
    Condense(crate::condense::Condense),
    Gateway(crate::gateway::Gateway),
    Causes(Option<String>),
    Predict(Box<crate::predict::Predict>),
    Probe(Box<crate::probe::args::Probe>),
    #[cfg(target_os = "linux")]
    Host(Box<crate::host::args::HostArgs>),
    #[cfg(target_os = "linux")]
    Lab(crate::lab::args::Lab),
    #[cfg(target_os = "linux")]
    Prove(Box<whyslow_prove::Prove>),
    View(ViewTask),
    #[cfg(feature = "mcp")]
    Mcp(crate::mcp::Mcp),
    Watch(Box<whyslow_watch::Watch>),
    Report(ReportTask),
    /// Only on Linux, for this reason.
    #[cfg(not(target_os = "linux"))]
    LinuxOnly(&'static str),
    Completions(Shell),
    /// To stdout, or into a folder.
    Man(Option<OutputPath>),
    /// There is nothing to read: print the usage.
    Usage,
}

#[derive(Clone, Debug)]
pub(crate) struct ExplainTask {
    pub inputs: Vec<Input>,
    pub format: Format,
    /// The connections to explain.
    pub selection: Selection,
    /// What makes the exit status 1.
    pub fail_on: Vec<FailOn>,
    /// An earlier run to compare with.
    pub baseline: Option<PathBuf>,
    /// Minimum cost that is called slow.
    pub threshold: whyslow_units::Nanos,
    /// How they are explained.
    pub how: ExplainOptions,
    /// Why the captures end before the recorded transfer did, if known: the results are partial.
    pub cut: Option<String>,
    /// The inputs are condensed captures, and one of them that is lost costs only itself.
    pub stitched: bool,
}

/// The page on this machine.
#[derive(Debug)]
pub(crate) struct ViewTask {
    pub inputs: Vec<Input>,
    /// The connection or transfer to show at first.
    pub show: TransferName,
    /// A proof's document.
    pub proof: Option<PathBuf>,
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
    /// The connection or transfer to show at first.
    pub show: TransferName,
    /// `-` is stdout.
    pub output: OutputPath,
    /// A proof's document.
    pub proof: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// For a person, with this many connections.
    Terminal {
        top: Option<usize>,
        lang: Lang,
    },
    /// When it was slow, why, and the fix: a line each.
    Summary {
        /// Its language.
        lang: Lang,
    },
    /// A line a transfer.
    Brief,
    /// The same for programs.
    Tsv,
    /// A line a file.
    Table,
    /// For build servers.
    Junit,
    Github,
    Markdown,
    Json {
        /// With the sentences about the data.
        words: bool,
    },
    JsonLines,
}

impl Settings {
    /// Turns the arguments into settings.
    ///
    /// # Errors
    /// If files or options precede a command: no argument is ignored. If a URL has no object name.
    pub(crate) fn resolve(args: Args) -> anyhow::Result<Self> {
        if args.command.is_some() && args.explain != Explain::default() {
            let message = "a command stands before files and options; a file that is named like a command is ./NAME";
            return Err(Args::command().error(ErrorKind::ArgumentConflict, message).into());
        }
        if args.allow_local_redirects {
            whyslow_cli::place::allow_local_redirects();
        }
        args.keylog.into_iter().for_each(whyslow_cli::keylog::give);
        let color = match args.color {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        };
        let task = match args.command {
            None => {
                is_not_a_command(&args.explain.files)?;
                explain(args.explain)?
            }
            Some(command) => of_command(command)?,
        };
        Ok(Self { task, color })
    }
}

/// The task of a command.
fn of_command(command: Command) -> anyhow::Result<Task> {
    Ok(match command {
        Command::Explain(args) => {
            is_not_a_command(&args.files)?;
            explain(args)?
        }
        Command::Condense(task) => Task::Condense(task),
        Command::Merge(args) => stitch(args)?,
        Command::Capture(task) => Task::Capture(task),
        Command::Compare(task) => Task::Compare(task),
        #[cfg(feature = "export")]
        Command::Export(task) => Task::Export(task),
        Command::Gateway(task) => Task::Gateway(task),
        Command::Causes { slug } => Task::Causes(slug),
        Command::Predict(predict) => Task::Predict(predict),
        Command::Probe(probe) => Task::Probe(probe),
        #[cfg(target_os = "linux")]
        Command::Host(host) => Task::Host(host),
        #[cfg(target_os = "linux")]
        Command::Lab(lab) => Task::Lab(lab),
        #[cfg(not(target_os = "linux"))]
        Command::Host(_) => Task::LinuxOnly(
            "whyslow host works on Linux only: it reads sockets, settings and counters from Linux' kernel",
        ),
        #[cfg(not(target_os = "linux"))]
        Command::Lab(_) => Task::LinuxOnly("whyslow lab works on Linux only: its hosts are Linux' network namespaces"),
        Command::Watch(watch) => Task::Watch(watch),
        #[cfg(feature = "mcp")]
        Command::Mcp(mcp) => Task::Mcp(mcp),
        #[cfg(target_os = "linux")]
        Command::Prove(prove) => Task::Prove(prove),
        #[cfg(not(target_os = "linux"))]
        Command::Prove(_) => Task::LinuxOnly(
            "prove makes the transfer again on Linux' TCP, in network namespaces: run it on a Linux machine or in a \
                 virtual one, with the same file; `whyslow FILE` explains it here",
        ),
        Command::View(View { files, port, open, proof }) => {
            let (inputs, show) = named(&files)?;
            Task::View(ViewTask { inputs, show, proof, page: PageTask { port, open } })
        }
        Command::Report(Report { files, output, proof }) => {
            let (inputs, show) = named(&files)?;
            Task::Report(ReportTask { inputs, show, output, proof })
        }
        Command::Completions { shell } => Task::Completions(shell),
        Command::Man { output } => Task::Man(output),
    })
}

/// # Errors
/// When the first file is none, and nearly the name of a command.
fn is_not_a_command(files: &[PathBuf]) -> Result<(), clap::Error> {
    let Some(first) = files.first().filter(|first| !first.exists()).and_then(|first| first.to_str()) else {
        return Ok(());
    };
    let commands = Args::command();
    let names = commands.get_subcommands().filter(|command| !command.is_hide_set()).map(|command| command.get_name());
    let near = names.map(|name| (strsim::jaro_winkler(first, name), name)).max_by(|a, b| a.0.total_cmp(&b.0));
    match near {
        Some((likeness, name)) if likeness > 0.85 && !first.contains(['.', '/']) => {
            let message = format!("there is no file `{first}`; did you mean the command `{name}`?");
            Err(Args::command().error(ErrorKind::InvalidSubcommand, message))
        }
        _ => Ok(()),
    }
}

/// The inputs that files name, and the connection or transfer of a single one.
///
/// # Errors
/// When a URL names nothing.
fn named(files: &[PathBuf]) -> anyhow::Result<(Vec<Input>, TransferName)> {
    let [one] = files else { return Ok((inputs(files)?, TransferName::default())) };
    let places = TransferPlace::all(one)?;
    let which = places.first().map_or_else(TransferName::default, |place| place.which);
    Ok((places.into_iter().map(|place| place.input).collect(), which))
}

/// # Errors
/// When a URL names nothing.
fn explain(mut args: Explain) -> anyhow::Result<Task> {
    let inputs = match args.files.as_slice() {
        [] if stdin().is_terminal() => return Ok(Task::Usage),
        [] => vec![Input::Stdin],
        files => {
            let (inputs, which) = named(files)?;
            args.selection.connection = args.selection.connection.or(which.connection);
            args.selection.transfer = which.transfer;
            inputs
        }
    };
    let how = ExplainOptions { threads: threads(args.threads), path_rate: args.path_rate, keys: None, messages: true };
    let (selection, fail_on) = (args.selection, args.fail_on);
    let threshold = args.threshold.unwrap_or(whyslow_diagnosis::ranking::DEFAULT_THRESHOLD);
    let format = format(&args.shape);
    if args.baseline.is_none() && fail_on.iter().any(FailOn::needs_baseline) {
        let message = "--fail-on slower compares with a run that --baseline names";
        return Err(Args::command().error(ErrorKind::MissingRequiredArgument, message).into());
    }
    Ok(Task::Explain(ExplainTask {
        inputs,
        format,
        selection,
        fail_on,
        baseline: args.baseline,
        threshold,
        how,
        cut: None,
        stitched: false,
    }))
}

/// # Errors
/// When there is nothing to stitch.
fn stitch(args: Explain) -> anyhow::Result<Task> {
    let files = crate::condensed_files::files(&args.files)
        .map_err(|error| Args::command().error(ErrorKind::ValueValidation, format!("{error:#}")))?;
    Ok(match explain(Explain { files, ..args })? {
        Task::Explain(task) => Task::Explain(ExplainTask { stitched: true, ..task }),
        other => other,
    })
}

fn format(shape: &Shape) -> Format {
    match shape {
        Shape { json: true, words, .. } => Format::Json { words: *words },
        Shape { jsonl: true, .. } => Format::JsonLines,
        Shape { summary: true, lang, .. } => Format::Summary { lang: language::chosen(*lang) },
        Shape { brief: true, .. } => Format::Brief,
        Shape { tsv: true, .. } => Format::Tsv,
        Shape { table: true, .. } => Format::Table,
        Shape { junit: true, .. } => Format::Junit,
        Shape { github: true, .. } => Format::Github,
        Shape { markdown: true, .. } => Format::Markdown,
        Shape { top, lang, .. } => Format::Terminal { top: *top, lang: language::chosen(*lang) },
    }
}

/// As many threads as asked for, or one for each processor.
pub(crate) fn threads(asked: Option<NonZero<usize>>) -> NonZero<usize> {
    asked.or(available_parallelism().ok()).unwrap_or(NonZero::<usize>::MIN)
}
