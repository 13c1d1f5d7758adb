//! `whyslow watch`: why transfers are slow, as they end.
//!
//! ```text
//!   ring, files, pipe ─▶ intake ─▶ explainer ─▶ batches ─▶ lines, JSON, screen; metrics; page
//!                          └─────▶ recorder ─▶ file
//! ```
//!
//! One thread takes packets and explains them ([`feed`]); this one shows the reports.

mod args;
mod batch;
mod choice;
mod closed;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod feed;
mod growing_file;
mod holder;
mod intake;
mod json;
mod keep;
mod lines;
mod metrics;
#[cfg(target_os = "linux")]
mod owners;
mod page;
mod record;
mod screen;
mod source;
mod spans;
mod tally;

pub use args::Watch;
pub use metrics::server::start as serve_metrics;

use anyhow::{Context, anyhow};
use batch::{Batch, Counts, Order};
use choice::Choice;
#[cfg(not(target_os = "linux"))]
use elsewhere as owners;
use feed::Until;
use intake::Intake;
use json::Totals;
use keep::Keeper;
use metrics::Metrics;
use owners::Owners;
use page::Page;
use screen::Screen;
use signal_hook::flag::{register, register_conditional_shutdown};
use source::Source;
use spans::Spans;
use std::io::{IsTerminal, Write, stdin, stdout};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tally::Tally;
use whyslow_analysis::Problem;
use whyslow_cli::exit::FAILED;
use whyslow_cli::interrupt::ending;
use whyslow_cli::output::{Output, complain, is_broken_pipe, print_line};
use whyslow_diagnosis::explain::live::LiveExplainer;
use whyslow_units::{Nanos, Time};

/// Default: transfers that took longer are slow.
const SLOW: Nanos = Nanos::from_millis(1_000);
/// Batches that wait for an output.
const BATCHES: usize = 64;

/// All batches so far.
#[derive(Default)]
struct Accumulated {
    tally: Tally,
    counts: Counts,
    problems: Vec<Problem>,
    /// When the first packet came, and the time by now.
    first: Option<Time>,
    now: Time,
}

impl Accumulated {
    fn add(&mut self, batch: &Batch, choice: &Choice) {
        self.counts = batch.counts;
        self.now = batch.now;
        self.first = self.first.or_else(|| (batch.counts.packets > 0).then_some(batch.first));
        batch.records.iter().filter(|record| choice.concerns(record)).for_each(|record| self.tally.add(record));
        let closed = batch.closed.iter().filter(|closed| choice.concerns_closed(closed));
        closed.for_each(|closed| self.tally.closed.add(&closed.account));
        self.problems.extend(batch.problems.iter().cloned());
    }

    fn totals(&self, top: usize) -> Totals<'_> {
        let lasted = self.first.map_or(Nanos::ZERO, |first| self.now - first);
        let (tally, counts, problems) = (&self.tally, self.counts, self.problems.as_slice());
        Totals { tally, counts, problems, lasted, now: self.now, top }
    }
}

/// The threads that run in addition to the output.
struct Running {
    batches: Receiver<Batch>,
    orders: Sender<Order>,
    until: Until,
    feed: JoinHandle<()>,
    metrics: Option<Metrics>,
    spans: Option<Spans>,
    choice: Choice,
    page: Option<Page>,
    prints: Prints,
    top: usize,
}

/// The lines that go to stdout at once; the summary follows at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prints {
    Lines,
    Json,
    Nothing,
}

/// Watches until it is ended, or nothing more can come.
///
/// # Errors
/// If there is nothing to watch, permission is denied, or the input is not a capture.
pub fn run(task: &Watch, out: Output) -> anyhow::Result<ExitCode> {
    #[cfg(target_os = "linux")]
    if task.name_owners {
        // It ends with the watch, which closes the pipe.
        let _ = owners::report_owners(reach(task), stdout().lock());
        return Ok(ExitCode::SUCCESS);
    }
    let from = task.from();
    task.check(&from)?;
    let has_keys = stdin().is_terminal() || (from != args::From::Pipe && !task.until_eof);
    let prints = match (task.jsonl, task.lines) {
        (true, _) => Prints::Json,
        (_, false) if task.view.is_some() => Prints::Nothing,
        _ => Prints::Lines,
    };
    let is_line_mode = task.lines || task.closed;
    let is_screen = prints == Prints::Lines && !is_line_mode && stdout().is_terminal() && has_keys;
    task.view.map(|_| whyslow_serve::page()).transpose()?;
    let slow = task.slower_than.unwrap_or(SLOW);
    let sources = source::sources(&from);
    sources.refuse_stdout()?;
    let source = Source::open(&from, task.snaplen, task.ring)?;
    let mut explainer = LiveExplainer::new();
    explainer.set_hash_seed(whyslow_io::hash_seed());
    explainer.set_path_rate(task.path_rate);
    let owners = owners_of(&from, &mut explainer, task)?;
    #[cfg(target_os = "linux")]
    let closed = task.closed.then(closed::ClosedFeed::listen).transpose().context("--closed")?;
    #[cfg(not(target_os = "linux"))]
    let closed = None;
    let keeper = match (&task.keep, is_screen || task.view.is_some()) {
        (None, false) => Keeper::default(),
        _ => Keeper::new(task, slow, &sources)?,
    };
    let metrics = task.metrics.map(|address| Metrics::serve(address, task.servers())).transpose()?;
    let spans = task.otlp.clone().map(Spans::start).transpose().context("--otlp")?;
    let until = Until { stop: listen()?, at: task.duration.map(|time| Instant::now() + duration(time)) };
    if task.until_eof {
        stop_at_eof(Arc::clone(&until.stop))?;
    }
    if !source.name().is_empty() {
        explainer.begin_capture(source.name());
    }
    let (send, batches) = sync_channel(BATCHES);
    let (orders, ordered) = channel();
    let page = task.view.map(|port| Page::open(port, from.name(), orders.clone(), task.top)).transpose()?;
    if let Some(page) = &page {
        print_address(page.url(), prints);
    }
    let intake = Intake::new(explainer, keeper, owners, closed);
    let end = until.clone();
    let feed = thread::Builder::new()
        .name("feed".to_owned())
        .spawn(move || feed::run(intake, source, &end, &send, &ordered))?;
    let slower_than = if is_screen || prints != Prints::Lines { task.slower_than } else { Some(slow) };
    let choice = Choice { selection: task.selection(), holder: task.holder(), cause: task.cause, slower_than };
    let running = Running { batches, orders, until, feed, metrics, spans, choice, page, prints, top: task.top };
    match is_screen {
        true => on_screen(running, out),
        false => on_lines(running),
    }
}

/// Whose programs are looked for.
#[cfg(target_os = "linux")]
fn reach(task: &Watch) -> whyslow_live::watch::Reach {
    use whyslow_live::watch::Reach;
    if task.node { Reach::Node } else { Reach::Own }
}

/// Where this machine is watched: what is known of its connections, and no more rights from then
/// on.
#[cfg(target_os = "linux")]
fn owners_of(from: &args::From, explainer: &mut LiveExplainer, task: &Watch) -> anyhow::Result<Option<Owners>> {
    use owners::Helper;
    use whyslow_live::watch::{FileUse, Rights, User, drop_rights};
    let args::From::Interfaces(names, _) = from else { return Ok(None) };
    // What only rights can see is seen before they are dropped.
    let (known, missing) = Owners::join(explainer, reach(task));
    missing.iter().for_each(|missing| complain(missing));
    // The file of --keep is renamed when it is full, so its folder must remain writable. The user
    // of sudo owns the file.
    let kept: Vec<(&Path, FileUse)> =
        task.keep.iter().map(|path| -> (&Path, FileUse) { (path, FileUse::Replace) }).collect();
    let rights = match User::of_sudo() {
        Some(_) => Rights::none(User::instead_of_root()),
        None => Rights::least(&kept),
    };
    let helper = Helper::start(reach(task));
    drop_rights(rights)?;
    known.keep_looking(helper)?;
    let names = if names.is_empty() { "all interfaces".to_owned() } else { names.join(", ") };
    complain(&format!("listening on {names}, {} bytes of each packet; end with Ctrl-C", task.snaplen));
    Ok(Some(known))
}

#[cfg(not(target_os = "linux"))]
fn owners_of(_: &args::From, _: &mut LiveExplainer, _: &Watch) -> anyhow::Result<Option<Owners>> {
    Ok(None)
}

/// Where the page is: on stdout, unless something else goes there.
fn print_address(url: &str, prints: Prints) {
    match prints {
        Prints::Nothing => print_line(url),
        Prints::Lines | Prints::Json => complain(url),
    }
    complain("the page is open to this machine alone; end with Ctrl-C");
}

fn duration(time: Nanos) -> Duration {
    Duration::from_nanos(time.0.unsigned_abs())
}

/// The first signal ends it in order, the next one at once.
fn listen() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in ending() {
        register_conditional_shutdown(signal, whyslow_cli::interrupt::ended_by(signal).into(), Arc::clone(&stop))?;
        register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

/// The other end of standard input may end in any way.
fn stop_at_eof(stop: Arc<AtomicBool>) -> std::io::Result<()> {
    thread::Builder::new().name("eof".to_owned()).spawn(move || {
        let _ = std::io::copy(&mut stdin().lock(), &mut std::io::sink());
        stop.store(true, Ordering::Relaxed);
    })?;
    Ok(())
}

/// Prints lines as they come, for a person or for a program; and shows the page.
fn on_lines(running: Running) -> anyhow::Result<ExitCode> {
    let mut all = Accumulated::default();
    let Running { batches, orders, until, feed, metrics, spans, choice, mut page, prints, top } = running;
    drop(orders);
    let mut failed = None;
    let mut print = || -> anyhow::Result<()> {
        let mut out = std::io::BufWriter::new(stdout().lock());
        for mut batch in &batches {
            batch.notes.iter().for_each(|note| complain(note));
            all.add(&batch, &choice);
            metrics.iter().for_each(|metrics| metrics.add(&batch, &choice));
            spans.iter().for_each(|spans| spans.add(&batch, &choice));
            if let Some(page) = &mut page {
                page.add(&batch, &choice, &mut all.tally, &all.problems);
            }
            print_batch(&batch, &choice, prints, &mut out)?;
            failed = failed.take().or(batch.failed.take());
            if batch.done {
                break;
            }
        }
        match prints {
            Prints::Json => json::summary(&all.totals(top), &mut out)?,
            Prints::Lines | Prints::Nothing => out.write_all(lines::summary(&all.totals(top)).as_bytes())?,
        }
        Ok(out.flush()?)
    };
    match print() {
        Err(error) if is_broken_pipe(&error) => return Ok(ExitCode::SUCCESS),
        printed => printed.context("stdout")?,
    }
    if let Some(page) = page {
        // An input that is not a capture has nothing to show.
        if all.counts.packets > 0 || failed.is_none() {
            if !until.stop.load(Ordering::Relaxed) {
                complain("the watch has ended; the page stays until Ctrl-C");
            }
            page.stay(&until);
        }
        until.stop.store(true, Ordering::Relaxed);
        page.close();
    }
    drop(batches);
    finish_spans(spans);
    ended(feed, failed)
}

/// Sends the last spans.
fn finish_spans(spans: Option<Spans>) {
    if let Some(failure) = spans.and_then(Spans::finish) {
        complain(&format!("--otlp: {failure}"));
    }
}

/// Prints a batch.
fn print_batch(batch: &Batch, choice: &Choice, prints: Prints, out: &mut impl Write) -> anyhow::Result<()> {
    for record in batch.records.iter().filter(|record| choice.concerns(record) && choice.lists(record)) {
        match prints {
            Prints::Json => json::record(record, out)?,
            Prints::Lines => writeln!(out, "{}", lines::record(record))?,
            Prints::Nothing => {}
        }
    }
    for closed in batch.closed.iter().filter(|closed| choice.concerns_closed(closed) && choice.lists_closed(closed)) {
        match prints {
            Prints::Json => json::closed(closed, out)?,
            Prints::Lines => writeln!(out, "{}", lines::closed(closed))?,
            Prints::Nothing => {}
        }
    }
    for finding in &batch.together {
        match prints {
            Prints::Json => json::together(finding, batch.now, out)?,
            Prints::Lines => writeln!(out, "{}", lines::together(finding, batch.now))?,
            Prints::Nothing => {}
        }
    }
    Ok(out.flush()?)
}

/// Shows it on the terminal's screen; the summary stays there at the end.
fn on_screen(running: Running, mut out: Output) -> anyhow::Result<ExitCode> {
    let Running { batches, orders, until, feed, metrics, spans, choice, top, .. } = running;
    let mut all = Accumulated::default();
    let mut failed = None;
    let mut notes = Vec::new();
    {
        let mut screen = Screen::open(orders, top)?;
        let mut is_done = false;
        while !is_done {
            match batches.recv_timeout(Duration::from_millis(50)) {
                Ok(mut batch) => {
                    all.add(&batch, &choice);
                    metrics.iter().for_each(|metrics| metrics.add(&batch, &choice));
                    spans.iter().for_each(|spans| spans.add(&batch, &choice));
                    failed = failed.or(batch.failed.take());
                    is_done = batch.done;
                    notes.extend(batch.notes.iter().filter(|_| batch.done).cloned());
                    batch.records.retain(|record| choice.concerns(record) && choice.lists(record));
                    screen.add(batch, &mut all.tally);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if screen.turn(&mut all.tally)? {
                until.stop.store(true, Ordering::Relaxed);
            }
        }
    }
    notes.iter().for_each(|note| complain(note));
    out.write(&lines::summary(&all.totals(top)))?;
    drop(batches);
    finish_spans(spans);
    ended(feed, failed)
}

fn ended(feed: JoinHandle<()>, failed: Option<anyhow::Error>) -> anyhow::Result<ExitCode> {
    feed.join().map_err(|_| anyhow!("the analysis broke off; what was told until then is right"))?;
    match failed {
        Some(error) => {
            complain(&format!("{error:#}"));
            Ok(ExitCode::from(FAILED))
        }
        None => Ok(ExitCode::SUCCESS),
    }
}
