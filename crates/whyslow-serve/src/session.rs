//! The open captures: being read, read, or failed.

use serde::Serialize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use tempfile::TempPath;
use whyslow_diagnosis::compare::TransferName;
use whyslow_io::{Error, Input, Progress, Reading, Stop};
use whyslow_page::{OpenCaptures, Opening, SoughtTransfer};

/// One set of captures at a time; opening another closes it.
#[derive(Debug, Default)]
pub(crate) struct Session {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// A counter of openings: results of an earlier reading are dropped.
    number: u64,
    state: State,
    /// The last captures that were read; they are shown again if the next ones fail.
    last: Option<Arc<ReadCaptures>>,
    /// Stops the current reading.
    stop: Stop,
    /// What to read next, once the current reading has ended: one at a time.
    next: Option<ReadingJob>,
    is_reading: bool,
    /// Files of a drop that is not complete.
    pending: PendingUploads,
}

impl Inner {
    /// Stores the result of a reading.
    fn finish_reading(&mut self, outcome: Result<Arc<ReadCaptures>, String>) {
        self.state = match (outcome, &self.last) {
            (Ok(opened), _) => {
                self.last = Some(Arc::clone(&opened));
                State::Ready(opened, None)
            }
            (Err(message), Some(open)) => State::Ready(Arc::clone(open), Some(message)),
            (Err(message), None) => State::Failed(message),
        };
    }
}

/// A reading to start.
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
    /// The number of files that are still missing.
    rest: u32,
    uploads: Vec<Upload>,
}

/// A file's place in a drop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UploadPart {
    /// The id of the drop.
    pub(crate) set: String,
    /// The number of files after this one.
    pub(crate) rest: u32,
    /// The number of all files, if stated.
    pub(crate) of: Option<u32>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Empty,
    Reading(String, Progress),
    /// With the reason if a later opening failed.
    Ready(Arc<ReadCaptures>, Option<String>),
    Failed(String),
}

/// A capture that was uploaded; its file is removed with it.
#[derive(Debug)]
pub(crate) struct Upload {
    pub(crate) name: String,
    pub(crate) path: TempPath,
}

/// Captures that were read.
#[derive(Debug)]
pub(crate) struct ReadCaptures {
    pub(crate) captures: OpenCaptures,
    /// Keeps the uploaded files alive.
    uploads: Vec<Arc<Upload>>,
}

/// The message for a capture that crashed the reader; the next one can still be read.
const FAULT: &str = "the reading failed: that is a fault of whyslow, and not of the capture";

impl ReadCaptures {
    fn new(reading: Reading, opening: Opening, uploads: Vec<Arc<Upload>>) -> Self {
        Self { captures: OpenCaptures::new(reading, opening), uploads }
    }
}

/// The state that the page shows.
#[derive(Debug, Serialize, PartialEq, Eq)]
pub(crate) struct Status {
    /// The opening that this is about.
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
        inner.finish_reading(Ok(Arc::new(ReadCaptures::new(reading, opening, Vec::new()))));
    }

    /// Adds a capture from the page; with the last one of its drop the reading starts. With
    /// `beside`, it is compared with this transfer of the open captures, which stay open.
    ///
    /// # Errors
    /// When earlier files of the drop are missing: they failed, or another drop began.
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
        let (mut opening, mut uploads) = open
            .as_ref()
            .map_or_else(Default::default, |(_, open)| (open.captures.opening().clone(), open.uploads.clone()));
        opening.names.extend(new.iter().map(|upload| (upload.path.display().to_string(), upload.name.clone())));
        opening.groups.push(new.iter().map(|upload| Input::Path(upload.path.to_path_buf())).collect());
        uploads.extend(new);
        let last = opening.groups.len() - 1;
        opening.compare = open.as_ref().map(|(which, _)| {
            // Without a transfer the first open group is meant.
            let group = which.connection.is_none().then_some(0);
            [
                SoughtTransfer { group, which: *which },
                SoughtTransfer { group: Some(last), which: TransferName::default() },
            ]
        });
        self.start(opening, uploads);
        Ok(())
    }

    /// Forgets a drop of which a file failed.
    pub(crate) fn forget(&self, part: &UploadPart) {
        let mut inner = self.lock();
        if inner.pending.set == part.set {
            inner.pending = PendingUploads::default();
        }
    }

    /// Starts to read; the open captures stay open if this fails.
    fn start(self: &Arc<Self>, opening: Opening, uploads: Vec<Arc<Upload>>) {
        let stop = Stop::default();
        let mut inner = self.lock();
        inner.number += 1;
        std::mem::replace(&mut inner.stop, stop.clone()).flag().store(true, Ordering::Relaxed);
        inner.state = State::Reading(opening.title(), Progress { read: 0, total: None });
        inner.next = Some(ReadingJob { number: inner.number, opening, uploads, stop });
        if !std::mem::replace(&mut inner.is_reading, true) {
            let session = Arc::clone(self);
            thread::spawn(move || session.read());
        }
    }

    /// Reads until nothing is waiting.
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
                // A temporary folder means nothing to the user who dropped a file.
                let opening = opening.with_key_logs().map_err(|error| error.to_string())?;
                let message = |error: Error| opening.with_names(&error.to_string());
                let reading = whyslow_io::read_on(opening.options(), &opening.groups(), &stop, progress);
                let reading = reading.map_err(message)?;
                Ok(Arc::new(ReadCaptures::new(reading, opening, uploads)))
            });
            let outcome = catch_unwind(read).unwrap_or_else(|_| Err(FAULT.to_owned()));
            let mut inner = self.lock();
            if inner.number == number {
                inner.finish_reading(outcome);
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

    /// The current state.
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

    /// The open captures, if there are any.
    pub(crate) fn opened(&self) -> Option<Arc<ReadCaptures>> {
        match &self.lock().state {
            State::Ready(opened, _) => Some(Arc::clone(opened)),
            _ => None,
        }
    }

    /// A panic leaves the state whole: every change is one assignment.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::time::Duration;
    use whyslow_io::Scratch;
    use whyslow_page::testing;

    fn upload(scratch: &Scratch, bytes: &[u8]) -> Upload {
        let path = scratch.file("").unwrap().into_temp_path();
        std::fs::write(&path, bytes).unwrap();
        Upload { name: "a.pcap".to_owned(), path }
    }

    fn part(set: &str, rest: u32, of: Option<u32>) -> UploadPart {
        UploadPart { set: set.to_owned(), rest, of }
    }

    fn settled(session: &Session) -> Status {
        loop {
            let status = session.status();
            if status.state != "reading" {
                return status;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn a_drop_is_read_with_its_last_file() {
        let (session, scratch) = (Arc::new(Session::default()), Scratch::default());
        let sample = std::fs::read(testing::path("loss-client")).unwrap();
        session.take(upload(&scratch, &sample), &part("a", 1, Some(2)), None).unwrap();
        assert_eq!(session.status().state, "empty");
        // Of another drop, whose first file is not there.
        assert!(session.take(upload(&scratch, &sample), &part("b", 0, Some(2)), None).is_err());
        session.take(upload(&scratch, &sample), &part("a", 0, Some(2)), None).unwrap();
        assert_eq!(settled(&session).state, "ready");
        assert_eq!(session.opened().unwrap().uploads.len(), 2);
        // Accept a missing Content-Length.
        session.take(upload(&scratch, b"none"), &part("", 1, None), None).unwrap();
        session.forget(&part("other", 0, None));
        session.take(upload(&scratch, b"none"), &part("", 0, None), None).unwrap();
        let status = settled(&session);
        assert_eq!((status.number, status.state), (2, "ready"));
        assert!(status.error.unwrap().starts_with("a.pcap: "));
    }

    #[test]
    fn what_was_open_stays_so_where_the_next_one_cannot_be_read() {
        let (session, scratch) = (Arc::new(Session::default()), Scratch::default());
        let sample = std::fs::read(testing::path("loss-client")).unwrap();
        session.take(upload(&scratch, &sample), &part("a", 0, Some(1)), None).unwrap();
        assert_eq!(settled(&session).state, "ready");
        session.take(upload(&scratch, b"no capture"), &part("b", 0, Some(1)), None).unwrap();
        let status = settled(&session);
        assert_eq!((status.number, status.state), (2, "ready"));
        assert!(status.error.is_some_and(|error| error.contains("a.pcap")));
        assert!(session.opened().is_some_and(|opened| opened.captures.answer(1, None, 8).is_ok()));
    }

    #[test]
    fn a_drop_that_failed_is_forgotten_with_its_files() {
        let (session, scratch) = (Arc::new(Session::default()), Scratch::default());
        let file = upload(&scratch, b"x");
        let path = file.path.to_path_buf();
        session.take(file, &part("a", 1, Some(2)), None).unwrap();
        session.forget(&part("a", 0, Some(2)));
        assert!(!path.exists());
        assert!(session.take(upload(&scratch, b"x"), &part("a", 0, Some(2)), None).is_err());
        assert_eq!(session.status().number, 0);
    }

    #[test]
    fn of_many_openings_the_last_is_shown() {
        let session = Arc::new(Session::default());
        for name in ["loss-client", "slow-start-client", "loss-client", "healthy-server"] {
            session.open(Opening::of(vec![Input::Path(testing::path(name))]));
        }
        assert_eq!(
            settled(&session),
            Status { number: 4, state: "ready", name: None, read: 0, total: None, error: None }
        );
        let opened = session.opened().unwrap();
        assert_eq!(opened.captures.opening().title(), testing::path("healthy-server").display().to_string());
        // The slower readings do not replace it.
        while session.lock().is_reading {
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(session.opened().unwrap().captures.opening().title(), opened.captures.opening().title());
    }
}
