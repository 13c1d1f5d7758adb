//! What is open: captures that are being read, were read, or could not be.

use crate::graphs::{Answer, Graphs};
use crate::{Document, Opening, Sought};
use serde::Serialize;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use tempfile::TempDir;
use whyslow_core::analysis::Connection;
use whyslow_core::compare::{Comparison, Which};
use whyslow_core::units::Nanos;
use whyslow_io::{Input, Place, Progress, Reading, Stop};

/// One set of captures at a time; opening another closes it.
#[derive(Debug, Default)]
pub(crate) struct Desk {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// Counts what was opened: what an earlier reading still finds is no longer wanted.
    number: u64,
    state: State,
    /// Ends the reading that is under way.
    stop: Stop,
    /// Files that were dropped on the page, in parts of one set.
    pending: Vec<Upload>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Empty,
    Reading(String, Progress),
    /// With why what was to be opened beside it is not.
    Ready(Arc<Opened>, Option<String>),
    Failed(String),
}

/// A capture that came through the page: in a folder that goes with it.
#[derive(Debug)]
pub(crate) struct Upload {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) _folder: TempDir,
}

/// Captures that were read.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) document: Document,
    /// The graphs that were asked for last.
    graphs: Mutex<VecDeque<(Asked, Arc<Graphs>)>>,
    opening: Opening,
    /// Keeps the uploads that it came from.
    uploads: Vec<Arc<Upload>>,
}

/// A connection's graphs: all its time, or a range of it.
type Asked = (u64, Option<(Nanos, Nanos)>);

/// Graphs kept: of each at most 65 MB.
const MOST_GRAPHS: usize = 4;

impl Opened {
    fn new(reading: Reading, opening: Opening, uploads: Vec<Arc<Upload>>) -> Self {
        let document = Document::served(reading, &opening);
        Self { document, graphs: Mutex::default(), opening, uploads }
    }

    /// A connection's graphs in a time range.
    ///
    /// # Errors
    /// When there is no such connection, or it cannot be read once more.
    pub(crate) fn answer(&self, id: u64, range: Option<(Nanos, Nanos)>, columns: usize) -> Result<Answer, String> {
        let whole = self.graphs(id, None)?;
        let Some(asked) = range.filter(|range| !whole.is_fine(*range, columns)) else {
            return Ok(whole.answer(range, columns));
        };
        // A little more than is asked for, so that the next step finds it.
        let room = (asked.1 - asked.0).or_zero();
        Ok(self.graphs(id, Some((asked.0 - room, asked.1 + room)))?.answer(range, columns))
    }

    fn graphs(&self, id: u64, range: Option<(Nanos, Nanos)>) -> Result<Arc<Graphs>, String> {
        // Held while the capture is read: what two ask for is read once.
        let mut kept = self.graphs.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |(asked, graphs): &&(Asked, Arc<Graphs>)| {
            asked.0 == id
                && match (asked.1, range) {
                    (None, None) => true,
                    (Some(_), Some(range)) => graphs.holds(range),
                    _ => false,
                }
        };
        if let Some((_, graphs)) = kept.iter().find(fits) {
            return Ok(Arc::clone(graphs));
        }
        let (place, connection) = self.place(id)?;
        let graphs = Arc::new(Graphs::read(&place, connection, range)?);
        if kept.len() >= MOST_GRAPHS {
            kept.pop_front();
        }
        kept.push_back(((id, range), Arc::clone(&graphs)));
        Ok(graphs)
    }

    /// Where a connection can be read once more.
    ///
    /// # Errors
    /// When there is no such connection, or its capture came through a pipe.
    pub(crate) fn place(&self, id: u64) -> Result<(Place, &Connection), String> {
        let connection = self.document.connection(id).ok_or("there is no connection of this number")?;
        let place = self.document.place(connection);
        Ok((place.ok_or("the capture came through a pipe, which cannot be read twice")?, connection))
    }

    /// Two of its transfers side by side.
    ///
    /// # Errors
    /// When one is not there.
    pub(crate) fn compare(&self, spots: [Which; 2]) -> Result<Comparison, String> {
        self.document.compare(spots)
    }
}

/// How it stands, as the page is told.
#[derive(Debug, Serialize, PartialEq, Eq)]
pub(crate) struct Status {
    /// Which opening this is about.
    number: u64,
    /// `empty`, `reading`, `ready` or `failed`.
    state: &'static str,
    name: Option<String>,
    read: u64,
    total: Option<u64>,
    error: Option<String>,
}

impl Desk {
    /// Reads captures in the background.
    pub(crate) fn open(self: &Arc<Self>, opening: Opening) {
        self.start(opening, Vec::new(), None);
    }

    /// Shows captures that were read.
    pub(crate) fn show(&self, opening: Opening, reading: Reading) {
        let mut inner = self.lock();
        inner.number += 1;
        inner.state = State::Ready(Arc::new(Opened::new(reading, opening, Vec::new())), None);
    }

    /// Takes a capture from the page; with the last one of its set the reading begins. `beside`: it is to be compared with this
    /// transfer of what is open, which stays.
    pub(crate) fn take(self: &Arc<Self>, upload: Upload, is_last: bool, beside: Option<Which>) {
        let new: Vec<Arc<Upload>> = {
            let mut inner = self.lock();
            inner.pending.push(upload);
            if !is_last {
                return;
            }
            std::mem::take(&mut inner.pending).into_iter().map(Arc::new).collect()
        };
        let open = beside.and_then(|which| Some((which, self.opened()?)));
        let (mut opening, mut uploads) =
            open.as_ref().map_or_else(Default::default, |(_, open)| (open.opening.clone(), open.uploads.clone()));
        opening.names.extend(new.iter().map(|upload| (upload.path.display().to_string(), upload.name.clone())));
        opening.groups.push(new.iter().map(|upload| Input::Path(upload.path.clone())).collect());
        uploads.extend(new);
        let last = opening.groups.len() - 1;
        opening.compare = open.as_ref().map(|(which, _)| {
            // Of what is open the first group is meant where no transfer is.
            let group = which.connection.is_none().then_some(0);
            [Sought { group, which: *which }, Sought { group: Some(last), which: Which::default() }]
        });
        self.start(opening, uploads, open.map(|(_, open)| open));
    }

    /// `before` is what stays open where this cannot be read.
    fn start(self: &Arc<Self>, opening: Opening, uploads: Vec<Arc<Upload>>, before: Option<Arc<Opened>>) {
        let stop = Stop::default();
        let number = {
            let mut inner = self.lock();
            inner.number += 1;
            std::mem::replace(&mut inner.stop, stop.clone()).flag().store(true, Ordering::Relaxed);
            inner.state = State::Reading(opening.title(), Progress { read: 0, total: None });
            inner.number
        };
        let desk = Arc::clone(self);
        thread::spawn(move || {
            let read = whyslow_io::read(&opening.groups(), &stop, &mut |progress| desk.progress(number, progress));
            let state = match (read, before) {
                (Ok(reading), _) => State::Ready(Arc::new(Opened::new(reading, opening, uploads)), None),
                (Err(error), before) => {
                    // A folder of ours says nothing to whoever dropped a file.
                    let told = opening.told(&error.to_string());
                    match before {
                        Some(open) => State::Ready(open, Some(told)),
                        None => State::Failed(told),
                    }
                }
            };
            let mut inner = desk.lock();
            if inner.number == number {
                inner.state = state;
            }
        });
    }

    fn progress(&self, number: u64, progress: Progress) {
        let mut inner = self.lock();
        if inner.number == number
            && let State::Reading(_, shown) = &mut inner.state
        {
            *shown = progress;
        }
    }

    /// How it stands.
    pub(crate) fn status(&self) -> Status {
        let inner = self.lock();
        let blank = Status { number: inner.number, state: "empty", name: None, read: 0, total: None, error: None };
        match &inner.state {
            State::Empty => blank,
            State::Reading(name, Progress { read, total }) => {
                Status { state: "reading", name: Some(name.clone()), read: *read, total: *total, ..blank }
            }
            State::Ready(_, error) => Status { state: "ready", error: error.clone(), ..blank },
            State::Failed(error) => Status { state: "failed", error: Some(error.clone()), ..blank },
        }
    }

    /// What is open, once it was read.
    pub(crate) fn opened(&self) -> Option<Arc<Opened>> {
        match &self.lock().state {
            State::Ready(opened, _) => Some(Arc::clone(opened)),
            _ => None,
        }
    }

    /// A thread that panicked left what it held whole: every change is one assignment.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
