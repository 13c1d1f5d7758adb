//! All outputs: pages on stdout ([`Output`]), data on stdout or in files ([`Target`]), packets in a
//! file that grows ([`GrowingFile`]), and messages on stderr ([`complain`]).
//!
//! No command writes a file in another way, and no output replaces a file that the command reads
//! ([`Sources`]). Options that name an output have the type [`OutputPath`].

pub mod exit;
mod growing;
pub mod manual;
mod path;
mod place;
mod same;
mod target;

pub use growing::{GrowingFile, create_new};
pub use path::OutputPath;
pub use same::{Source, Sources};
pub use target::Target;

use anstream::{AutoStream, ColorChoice};
use std::io::{self, BufWriter, IsTerminal, Stderr, Stdout, Write, stderr, stdout};
use whyslow_text::{harmless_lines, harmless_page, json};

/// Columns if stdout is not a terminal, unless COLUMNS sets them.
const WIDTH: usize = 100;

/// Bytes that are handed to stdout at once: as many as a pipe holds.
const PIECE: usize = 64 << 10;

/// stdout, or stderr where a program's own output has stdout.
pub struct Output {
    color: ColorChoice,
    stream: Stream,
}

enum Stream {
    Out(BufWriter<AutoStream<Stdout>>),
    Err(BufWriter<AutoStream<Stderr>>),
}

impl Output {
    /// With styles where they are wanted.
    pub fn new(color: ColorChoice) -> Self {
        Self { color, stream: Stream::Out(BufWriter::new(AutoStream::new(stdout(), color))) }
    }

    /// Pages go to stderr from here on: stdout belongs to another program. Data of [`Self::raw`]
    /// and [`Self::json`] stays on stdout.
    #[must_use]
    pub fn to_stderr(self) -> Self {
        let stream = AutoStream::new(stderr(), self.color);
        Self { stream: Stream::Err(BufWriter::new(stream)), ..self }
    }

    /// Columns to lay a page out for: those of COLUMNS, or else the terminal's.
    pub fn width(&self) -> usize {
        let wanted = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let terminal = || match &self.stream {
            Stream::Out(_) => terminal_size::terminal_size_of(stdout()),
            Stream::Err(_) => terminal_size::terminal_size_of(stderr()),
        };
        let of_terminal = || terminal().map(|(width, _)| width.0.into());
        wanted.filter(|columns| *columns > 0).or_else(of_terminal).unwrap_or(WIDTH)
    }

    /// The same for a table with a line for each of many: as wide as it needs where that is no
    /// terminal's matter.
    pub fn table_width(&self) -> usize {
        let is_bounded = stdout().is_terminal() || std::env::var_os("COLUMNS").is_some();
        if is_bounded { self.width() } else { usize::MAX }
    }

    /// Prints a page, without its styles where they are not wanted. No other text in it steers the
    /// terminal, even if a renderer has not checked a text.
    ///
    /// # Errors
    /// Errors of stdout.
    pub fn write(&mut self, page: &str) -> io::Result<()> {
        let page = harmless_page(page);
        let stream: &mut dyn Write = match &mut self.stream {
            Stream::Out(stream) => stream,
            Stream::Err(stream) => stream,
        };
        stream.write_all(page.as_bytes())?;
        stream.flush()
    }

    /// Prints bytes as they are: they are for a program.
    ///
    /// # Errors
    /// Errors of stdout.
    pub fn write_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.raw(|out| out.write_all(bytes))
    }

    /// Prints a value as one indented JSON object and a line feed, its text harmless.
    ///
    /// # Errors
    /// Errors of stdout.
    pub fn json(&mut self, value: &impl serde::Serialize) -> io::Result<()> {
        self.raw(|out| json::object(value, out))
    }

    /// Prints what `print` writes, as it is.
    ///
    /// # Errors
    /// Errors of stdout.
    pub fn raw(&mut self, print: impl FnOnce(&mut BufWriter<io::StdoutLock<'_>>) -> io::Result<()>) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(PIECE, stdout().lock());
        print(&mut out)?;
        out.flush()
    }
}

/// Reports something on stderr behind the program's name. It may name files and hosts; it cannot
/// steer the terminal.
pub fn complain(program: &str, text: &str) {
    notify(&format!("{program}: {text}"));
}

/// The same without the program's name.
pub fn notify(text: &str) {
    anstream::eprintln!("{}", harmless_lines(text));
}

/// Prints a line on stdout at once.
pub fn print_line(text: &str) {
    anstream::println!("{}", harmless_lines(text));
}

/// Whether the reader of stdout has closed it, as `head` does: not an error to report.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
