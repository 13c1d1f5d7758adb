//! [`Log`]: a line for each request, written by a thread of its own, so that a slow disk or
//! terminal does not delay requests. Dropped lines are counted, and the count is
//! written.

use super::row::Row;
use crate::cli::options::LogFormat;
use anyhow::Context;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use whyslow_text::json;
use whyslow_text::units::{bytes, figure, thousands};

/// Lines that may wait to be written.
const ROOM: usize = 10_000;

/// The destination of lines.
pub(super) struct Log {
    format: LogFormat,
    /// `None` after the log has ended.
    lines: Mutex<Option<SyncSender<String>>>,
    state: Arc<State>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct State {
    dropped: AtomicU64,
    reopen: AtomicBool,
}

impl Log {
    /// Begins to write.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub(super) fn open(file: Option<&Path>, format: LogFormat) -> anyhow::Result<Self> {
        let out = file
            .map(append)
            .transpose()
            .with_context(|| format!("--log {}", file.map_or_else(String::new, |file| file.display().to_string())))?;
        let (lines, waiting) = sync_channel(ROOM);
        let state = Arc::new(State::default());
        let writer = Writer { file: file.map(Path::to_owned), out: out.map(BufWriter::new), state: Arc::clone(&state) };
        let writer = thread::Builder::new().name("log".to_owned()).spawn(move || writer.run(&waiting))?;
        Ok(Self { format, lines: Mutex::new(Some(lines)), state, writer: Mutex::new(Some(writer)) })
    }

    /// Writes a request's line, soon.
    pub(super) fn write(&self, row: &Row) {
        let line = match self.format {
            LogFormat::Text => text(row),
            LogFormat::Json => json_line(row),
        };
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lines) = &*lines
            && let Err(TrySendError::Full(_)) = lines.try_send(line)
        {
            self.state.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Opens the file again with the next line: the old one was moved away.
    pub(super) fn reopen(&self) {
        self.state.reopen.store(true, Ordering::Relaxed);
    }

    /// Writes the waiting lines.
    pub(super) fn end(&self) {
        drop(self.lines.lock().unwrap_or_else(PoisonError::into_inner).take());
        if let Some(writer) = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = writer.join();
        }
    }
}

fn json_line(row: &Row) -> String {
    let mut line = Vec::new();
    // Writing a row to memory does not fail.
    let _ = json::log_line(row, &mut line);
    String::from_utf8_lossy(&line).trim_end().to_owned()
}

fn append(file: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    // The log names objects, so only its owner may read it.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)
}

struct Writer {
    file: Option<PathBuf>,
    out: Option<BufWriter<File>>,
    state: Arc<State>,
}

impl Writer {
    fn run(mut self, waiting: &Receiver<String>) {
        while let Ok(line) = waiting.recv() {
            self.reopen();
            let result = self.write(&line, waiting);
            if let Err(error) = result {
                crate::complain::complain(&format!("the log cannot be written: {error}"));
            }
        }
    }

    fn write(&mut self, line: &str, waiting: &Receiver<String>) -> io::Result<()> {
        self.line(line)?;
        for line in waiting.try_iter().take(ROOM) {
            self.line(&line)?;
        }
        match self.state.dropped.swap(0, Ordering::Relaxed) {
            0 => {}
            count => self.line(&format!("# {count} lines are missing: they came faster than they could be written"))?,
        }
        self.out.as_mut().map_or(Ok(()), Write::flush)
    }

    fn line(&mut self, line: &str) -> io::Result<()> {
        match &mut self.out {
            Some(out) => writeln!(out, "{line}"),
            None => writeln!(io::stderr().lock(), "{line}"),
        }
    }

    fn reopen(&mut self) {
        if self.state.reopen.swap(false, Ordering::Relaxed)
            && let Some(file) = &self.file
        {
            match append(file) {
                Ok(new) => self.out = Some(BufWriter::new(new)),
                Err(error) => crate::complain::complain(&format!("{}: {error}", file.display())),
            }
        }
    }
}

/// A line for people. Text of clients is quoted and escaped, so that it cannot end a line or
/// control a terminal.
fn text(row: &Row) -> String {
    let word = |text: &Option<String>| text.as_deref().map_or_else(|| "-".to_owned(), quoted);
    let status = row.status.map_or_else(|| "-".to_owned(), |status| status.to_string());
    let mut line = format!(
        "{} {} {} {} {} {} {status} in {} out {} took {}",
        row.time,
        row.id,
        row.client,
        word(&row.access_key),
        row.operation.as_deref().map_or_else(|| quoted(&row.method), str::to_owned),
        quoted(&row.object()),
        bytes(row.bytes_in),
        bytes(row.bytes_out),
        seconds(row.took_s),
    );
    let mut more = |text: String| line.push_str(&text);
    if row.client_s > 0.0 {
        more(format!(" client {}", seconds(row.client_s)));
    }
    if row.sealing_s > 0.0 {
        more(format!(" sealing {}", seconds(row.sealing_s)));
    }
    if let Some(way) = &row.storage {
        let age = if way.reused { "reused" } else { "new" };
        more(format!("; storage: connection {} {age}", way.connection));
        if let Some(window) = way.window_at_start {
            more(format!(" window {} B", thousands(window)));
        }
        for phase in &way.phases {
            more(format!(" {} {}", phase.phase, seconds(phase.seconds)));
        }
        if let Some(first) = way.limits.first() {
            more(format!("; limited by {} {}", first.limit, seconds(first.seconds)));
        }
    }
    if let Some(error) = &row.error {
        more(format!(
            "; {} {}",
            quoted(error),
            row.message.as_deref().map_or_else(String::new, |text| format!("{text:?}"))
        ));
    }
    if !row.is_whole && row.status.is_some() {
        more("; the answer was cut".to_owned());
    }
    line
}

fn seconds(value: f64) -> String {
    figure(value, "s")
}

/// A plain word unchanged, other text in quotation marks.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\\' | ';');
    if !text.is_empty() && text.chars().all(is_plain) { text.to_owned() } else { format!("{text:?}") }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::time::{Duration, SystemTime};
    use whyslow_gateway::front::{Record, Request, Times};

    fn row(key: &str) -> Row {
        Row::new(&Record {
            request: Request {
                id: "00000000000000aa".to_owned(),
                client: ([127, 0, 0, 1], 5000).into(),
                access_key: Some("one".to_owned()),
                method: "PUT".to_owned(),
                operation: Some("PutObject".into()),
                bucket: Some("photos".to_owned()),
                key: Some(key.to_owned()),
                status: Some(200),
                error: None,
                message: None,
                bytes_in: 1_000_000,
                bytes_out: 0,
                is_whole: true,
            },
            at: SystemTime::UNIX_EPOCH,
            sealing: Duration::from_millis(1),
            times: Times { answer: Duration::from_millis(250), ..Times::default() },
            transfer: None,
        })
    }

    #[test]
    fn a_line_has_operation_and_times() {
        assert_eq!(
            text(&row("a.jpg")),
            "1970-01-01T00:00:00.000000000Z 00000000000000aa 127.0.0.1:5000 one PutObject photos/a.jpg 200 \
             in 1,000,000 B out 0 B took 250 ms sealing 1.00 ms"
        );
    }

    #[test]
    fn a_key_ends_no_line_and_steers_no_terminal() {
        let line = text(&row("a b\n2026 \u{1b}[31m \"; limited by x\u{202e}"));
        assert!(line.contains(r#""photos/a b\n2026 \u{1b}[31m \"; limited by x\u{202e}""#), "{line}");
    }

    #[test]
    fn lines_are_written_and_the_file_is_opened_anew() {
        let folder = tempfile::tempdir().unwrap();
        let (file, moved) = (folder.path().join("log"), folder.path().join("log.1"));
        let log = Log::open(Some(&file), LogFormat::Json).unwrap();
        log.write(&row("one"));
        while std::fs::read_to_string(&file).unwrap().is_empty() {
            thread::sleep(std::time::Duration::from_millis(1));
        }
        std::fs::rename(&file, &moved).unwrap();
        log.reopen();
        log.write(&row("two"));
        log.end();
        let key = |file: &Path| {
            let row: Row = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
            row.request.key.unwrap()
        };
        assert_eq!((key(&moved), key(&file)), ("one".to_owned(), "two".to_owned()));
    }
}
