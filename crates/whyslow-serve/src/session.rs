//! What is open: captures that are being read, were read, or could not be.

use crate::graphs::{Answer, Graphs};
use crate::{Document, Opening, SoughtTransfer};
use serde::Serialize;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use tempfile::TempPath;
use whyslow_core::analysis::Connection;
use whyslow_core::compare::{Comparison, TransferName};
use whyslow_core::units::Nanos;
use whyslow_io::{Error, Input, PacketSource, Progress, Reading, Stop};

/// One set of captures at a time; opening another closes it.
#[derive(Debug, Default)]
pub(crate) struct Session {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// Counts what was opened: what an earlier reading still finds is no longer wanted.
    number: u64,
    state: State,
    /// What was read last, which is open again where the next one cannot be read.
    last: Option<Arc<Opened>>,
    /// Ends the reading that is under way.
    stop: Stop,
    /// What is read next, once the reading that is under way has ended: one at a time.
    next: Option<ReadingJob>,
    is_reading: bool,
    /// Files of a drop whose last one has not come.
    pending: PendingUploads,
}

impl Inner {
    /// A reading has ended.
    fn settle(&mut self, outcome: Result<Arc<Opened>, String>) {
        self.state = match (outcome, &self.last) {
            (Ok(opened), _) => {
                self.last = Some(Arc::clone(&opened));
                State::Ready(opened, None)
            }
            (Err(told), Some(open)) => State::Ready(Arc::clone(open), Some(told)),
            (Err(told), None) => State::Failed(told),
        };
    }
}

/// A reading that is to begin.
#[derive(Debug)]
struct ReadingJob {
    number: u64,
    opening: Opening,
    uploads: Vec<Arc<Upload>>,
    stop: Stop,
}

#[derive(Debug, Default)]
struct PendingUploads {
    set: String,
    /// Files that are still to come.
    rest: u32,
    uploads: Vec<Upload>,
}

/// Which file of a drop one is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UploadPart {
    /// What tells this drop from others.
    pub(crate) set: String,
    /// Files that come after this one.
    pub(crate) rest: u32,
    /// Files in all, where it is said.
    pub(crate) of: Option<u32>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Empty,
    Reading(String, Progress),
    /// With why what was to be opened since, or beside it, is not.
    Ready(Arc<Opened>, Option<String>),
    Failed(String),
}

/// A capture that came through the page: in a file that goes with it.
#[derive(Debug)]
pub(crate) struct Upload {
    pub(crate) name: String,
    pub(crate) path: TempPath,
}

/// Captures that were read.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) document: Document,
    /// The graphs that were asked for last.
    graphs: Mutex<VecDeque<(GraphRequest, Arc<Graphs>)>>,
    opening: Opening,
    /// Keeps the uploads that it came from.
    uploads: Vec<Arc<Upload>>,
}

/// A connection's graphs: all its time, or a range of it.
type GraphRequest = (u64, Option<(Nanos, Nanos)>);

/// Said of a capture that brought the reading down: the next one is read all the same.
const FAULT: &str = "the reading failed: that is a fault of whyslow, and not of the capture";

/// Graphs kept: of each at most 65 MB.
const MAX_GRAPHS: usize = 4;

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
        let fits = |(asked, graphs): &&(GraphRequest, Arc<Graphs>)| {
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
        if kept.len() >= MAX_GRAPHS {
            kept.pop_front();
        }
        kept.push_back(((id, range), Arc::clone(&graphs)));
        Ok(graphs)
    }

    /// All of a connection.
    ///
    /// # Errors
    /// When there is none of this number.
    pub(crate) fn connection(&self, id: u64) -> Result<&Connection, String> {
        self.document.connection(id).ok_or_else(|| "there is no connection of this number".to_owned())
    }

    /// Where a connection can be read once more.
    ///
    /// # Errors
    /// When there is no such connection, or its capture came through a pipe.
    pub(crate) fn place(&self, id: u64) -> Result<(PacketSource, &Connection), String> {
        let connection = self.connection(id)?;
        let place = self.document.place(connection);
        Ok((place.ok_or("the capture came through a pipe, which cannot be read twice")?, connection))
    }

    /// The same as a file holds it.
    pub(crate) fn as_file(&self) -> Document {
        self.document.as_file(&self.opening)
    }

    /// Two of its transfers side by side.
    ///
    /// # Errors
    /// When one is not there.
    pub(crate) fn compare(&self, spots: [TransferName; 2]) -> Result<Comparison, String> {
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

impl Session {
    /// Reads captures in the background.
    pub(crate) fn open(self: &Arc<Self>, opening: Opening) {
        self.start(opening, Vec::new());
    }

    /// Shows captures that were read.
    pub(crate) fn show(&self, opening: Opening, reading: Reading) {
        let mut inner = self.lock();
        inner.number += 1;
        inner.settle(Ok(Arc::new(Opened::new(reading, opening, Vec::new()))));
    }

    /// Takes a capture from the page; with the last one of its drop the reading begins. `beside`:
    /// it is to be compared with this transfer of what is open, which stays.
    ///
    /// # Errors
    /// When the files before it are not there: they failed, or another drop began since.
    pub(crate) fn take(
        self: &Arc<Self>,
        upload: Upload,
        part: &UploadPart,
        beside: Option<TransferName>,
    ) -> Result<(), &'static str> {
        let new: Vec<Arc<Upload>> = {
            let mut inner = self.lock();
            let pending = &mut inner.pending;
            if pending.set != part.set || pending.rest.checked_sub(1) != Some(part.rest) {
                if part.of.is_some_and(|of| part.rest.checked_add(1) != Some(of)) {
                    return Err(
                        "the files that were dropped with this one are no longer there: drop all of them again",
                    );
                }
                *pending = PendingUploads { set: part.set.clone(), ..PendingUploads::default() };
            }
            pending.rest = part.rest;
            pending.uploads.push(upload);
            if part.rest > 0 {
                return Ok(());
            }
            std::mem::take(pending).uploads.into_iter().map(Arc::new).collect()
        };
        let open = beside.and_then(|which| Some((which, self.opened()?)));
        let (mut opening, mut uploads) =
            open.as_ref().map_or_else(Default::default, |(_, open)| (open.opening.clone(), open.uploads.clone()));
        opening.names.extend(new.iter().map(|upload| (upload.path.display().to_string(), upload.name.clone())));
        opening.groups.push(new.iter().map(|upload| Input::Path(upload.path.to_path_buf())).collect());
        uploads.extend(new);
        let last = opening.groups.len() - 1;
        opening.compare = open.as_ref().map(|(which, _)| {
            // Of what is open the first group is meant where no transfer is.
            let group = which.connection.is_none().then_some(0);
            [
                SoughtTransfer { group, which: *which },
                SoughtTransfer { group: Some(last), which: TransferName::default() },
            ]
        });
        self.start(opening, uploads);
        Ok(())
    }

    /// A file of this drop did not come: those before it are of no use.
    pub(crate) fn forget(&self, part: &UploadPart) {
        let mut inner = self.lock();
        if inner.pending.set == part.set {
            inner.pending = PendingUploads::default();
        }
    }

    /// Begins to read; what was open stays so where this cannot be read.
    fn start(self: &Arc<Self>, opening: Opening, uploads: Vec<Arc<Upload>>) {
        let stop = Stop::default();
        let mut inner = self.lock();
        inner.number += 1;
        std::mem::replace(&mut inner.stop, stop.clone()).flag().store(true, Ordering::Relaxed);
        inner.state = State::Reading(opening.title(), Progress { read: 0, total: None });
        inner.next = Some(ReadingJob { number: inner.number, opening, uploads, stop });
        if !std::mem::replace(&mut inner.is_reading, true) {
            let desk = Arc::clone(self);
            thread::spawn(move || desk.read());
        }
    }

    /// Reads what is to be read, until there is no more.
    fn read(&self) {
        loop {
            let mut inner = self.lock();
            let Some(ReadingJob { number, opening, uploads, stop }) = inner.next.take() else {
                inner.is_reading = false;
                return;
            };
            drop(inner);
            let read = AssertUnwindSafe(|| {
                let progress = &mut |progress| self.progress(number, progress);
                // A folder of ours says nothing to whoever dropped a file.
                let told = |error: Error| opening.with_names(&error.to_string());
                let reading = whyslow_io::read(&opening.groups(), &stop, progress).map_err(told)?;
                Ok(Arc::new(Opened::new(reading, opening, uploads)))
            });
            let outcome = catch_unwind(read).unwrap_or_else(|_| Err(FAULT.to_owned()));
            let mut inner = self.lock();
            if inner.number == number {
                inner.settle(outcome);
            }
        }
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::testing;
    use std::time::Duration;
    use whyslow_io::Scratch;

    fn upload(scratch: &Scratch, bytes: &[u8]) -> Upload {
        let path = scratch.file("").unwrap().into_temp_path();
        std::fs::write(&path, bytes).unwrap();
        Upload { name: "a.pcap".to_owned(), path }
    }

    fn part(set: &str, rest: u32, of: Option<u32>) -> UploadPart {
        UploadPart { set: set.to_owned(), rest, of }
    }

    fn settled(desk: &Session) -> Status {
        loop {
            let status = desk.status();
            if status.state != "reading" {
                return status;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn a_drop_is_read_with_its_last_file() {
        let (desk, scratch) = (Arc::new(Session::default()), Scratch::default());
        let sample = std::fs::read(testing::path("loss-client")).unwrap();
        desk.take(upload(&scratch, &sample), &part("a", 1, Some(2)), None).unwrap();
        assert_eq!(desk.status().state, "empty");
        // Of another drop, whose first file is not there.
        assert!(desk.take(upload(&scratch, &sample), &part("b", 0, Some(2)), None).is_err());
        desk.take(upload(&scratch, &sample), &part("a", 0, Some(2)), None).unwrap();
        assert_eq!(settled(&desk).state, "ready");
        assert_eq!(desk.opened().unwrap().uploads.len(), 2);
        // Whoever does not say how many there are is believed.
        desk.take(upload(&scratch, b"none"), &part("", 1, None), None).unwrap();
        desk.forget(&part("other", 0, None));
        desk.take(upload(&scratch, b"none"), &part("", 0, None), None).unwrap();
        let status = settled(&desk);
        assert_eq!((status.number, status.state), (2, "ready"));
        assert!(status.error.unwrap().starts_with("a.pcap: "));
    }

    #[test]
    fn what_was_open_stays_so_where_the_next_one_cannot_be_read() {
        let (desk, scratch) = (Arc::new(Session::default()), Scratch::default());
        let sample = std::fs::read(testing::path("loss-client")).unwrap();
        desk.take(upload(&scratch, &sample), &part("a", 0, Some(1)), None).unwrap();
        assert_eq!(settled(&desk).state, "ready");
        desk.take(upload(&scratch, b"no capture"), &part("b", 0, Some(1)), None).unwrap();
        let status = settled(&desk);
        assert_eq!((status.number, status.state), (2, "ready"));
        assert!(status.error.is_some_and(|error| error.contains("a.pcap")));
        assert!(desk.opened().is_some_and(|opened| opened.graphs(1, None).is_ok()));
    }

    #[test]
    fn a_drop_that_failed_is_forgotten_with_its_files() {
        let (desk, scratch) = (Arc::new(Session::default()), Scratch::default());
        let file = upload(&scratch, b"x");
        let path = file.path.to_path_buf();
        desk.take(file, &part("a", 1, Some(2)), None).unwrap();
        desk.forget(&part("a", 0, Some(2)));
        assert!(!path.exists());
        assert!(desk.take(upload(&scratch, b"x"), &part("a", 0, Some(2)), None).is_err());
        assert_eq!(desk.status().number, 0);
    }

    #[test]
    fn of_many_openings_the_last_is_shown() {
        let desk = Arc::new(Session::default());
        for name in ["loss-client", "slow-start-client", "loss-client", "healthy-server"] {
            desk.open(Opening::of(vec![Input::Path(testing::path(name))]));
        }
        assert_eq!(settled(&desk), Status { number: 4, state: "ready", name: None, read: 0, total: None, error: None });
        let opened = desk.opened().unwrap();
        assert_eq!(opened.opening.title(), testing::path("healthy-server").display().to_string());
        // None of the others comes after it.
        while desk.lock().is_reading {
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(desk.opened().unwrap().opening.title(), opened.opening.title());
    }
}
