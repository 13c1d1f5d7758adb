//! [`Captures`]: captures that were explained, as long as they are unchanged.

use crate::clip;
use crate::failure::Failure;
use crate::folders::{Folders, Refused};
use crate::work;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;
use whyslow_analysis::Analysis;
use whyslow_io::{Error, ExplainOptions, Input, Reading};

/// Sets of captures that are kept. One of 10,000 connections takes about 100 MB.
const MOST_KEPT: usize = 4;
/// Maximum number of files that are read together.
pub(crate) const MOST_FILES: usize = 16;
/// Captures that a message names.
const NAMED: usize = 10;

/// Captures that were explained; the ones that were used last.
#[derive(Debug)]
pub(crate) struct Captures {
    folders: Folders,
    /// The one that was used last comes first.
    kept: Mutex<VecDeque<Arc<Explained>>>,
    /// One set is read at a time: it takes all processors, and memory for one.
    reading: tokio::sync::Mutex<()>,
}

/// Captures that were read together.
#[derive(Debug)]
pub(crate) struct Explained {
    /// The files, as clients name them.
    pub(crate) names: Vec<String>,
    /// The findings, and the place of the packets.
    pub(crate) reading: Reading,
    files: Vec<(PathBuf, Stamp)>,
}

/// A file's state: another one means other content.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
    #[cfg(unix)]
    inode: (u64, u64),
}

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        Some(Self {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
            #[cfg(unix)]
            inode: {
                use std::os::unix::fs::MetadataExt;
                (metadata.dev(), metadata.ino())
            },
        })
    }
}

impl Explained {
    pub(crate) fn analysis(&self) -> &Analysis {
        &self.reading.analysis
    }

    fn is_of(&self, paths: &[PathBuf]) -> bool {
        self.files.iter().map(|(path, _)| path).eq(paths)
    }

    fn is_unchanged(&self) -> bool {
        self.files.iter().all(|(path, stamp)| Stamp::of(path).as_ref() == Some(stamp))
    }
}

impl Captures {
    pub(crate) fn new(folders: Folders) -> Self {
        Self { folders, kept: Mutex::default(), reading: tokio::sync::Mutex::default() }
    }

    pub(crate) fn folders(&self) -> &Folders {
        &self.folders
    }

    /// The sets that are open, the one that was used last first.
    pub(crate) fn open_sets(&self) -> Vec<Arc<Explained>> {
        self.lock().iter().cloned().collect()
    }

    /// Reads captures together, unless they are kept and unchanged.
    ///
    /// # Errors
    /// When a name is refused, a file cannot be read, or the request was cancelled.
    pub(crate) async fn open(
        &self,
        names: &[String],
        context: &RequestContext<RoleServer>,
    ) -> Result<Arc<Explained>, Failure> {
        let paths = self.paths(names)?;
        if let Some(kept) = self.kept(&paths) {
            return Ok(kept);
        }
        let _reading = tokio::select! {
            turn = self.reading.lock() => turn,
            () = context.ct.cancelled() => return Err(work::cancelled()),
        };
        // Another request may have read it in the meantime.
        if let Some(kept) = self.kept(&paths) {
            return Ok(kept);
        }
        // Before the file is read: a change while it is read is noticed at the next call.
        let mut files = Vec::new();
        for (path, name) in paths.into_iter().zip(names) {
            let stamp = Stamp::of(&path).ok_or_else(|| self.refused(name, &Refused::Missing))?;
            files.push((path, stamp));
        }
        let inputs: Vec<_> = files.iter().map(|(path, _)| Input::Path(path.clone())).collect();
        let read = work::run(context, move |stop, progress| {
            whyslow_io::read_on(ExplainOptions::default(), &[&inputs], stop, progress)
        });
        let mut reading = read.await?.map_err(|error| unread(&error))?;
        for capture in &mut reading.analysis.captures {
            capture.path = self.folders.shown(Path::new(&capture.path));
        }
        let names = files.iter().map(|(path, _)| self.folders.shown(path)).collect();
        let explained = Arc::new(Explained { names, reading, files });
        let mut kept = self.lock();
        kept.push_front(Arc::clone(&explained));
        kept.truncate(MOST_KEPT);
        Ok(explained)
    }

    fn paths(&self, names: &[String]) -> Result<Vec<PathBuf>, Failure> {
        if names.is_empty() || names.len() > MOST_FILES {
            let what = format!("{} files were given", names.len());
            return Err(Failure::new(what, format!("give 1 to {MOST_FILES} capture files in `files`")));
        }
        names.iter().map(|name| self.folders.find(name).map_err(|why| self.refused(name, &why))).collect()
    }

    fn refused(&self, name: &str, why: &Refused) -> Failure {
        let folders = &self.folders;
        let name = clip::name(name);
        let allowed = format!("captures are read in {folders} alone (option --dir of whyslow mcp)");
        match why {
            Refused::NoPath(why) => Failure::new(format!("`{name}` is no path of a capture: {why}"), allowed),
            Refused::Outside => Failure::new(format!("`{name}` lies outside of the allowed folders"), allowed),
            Refused::LeadsOut => {
                Failure::new(format!("`{name}` is a link that leads out of the allowed folders"), allowed)
            }
            Refused::NoFile => Failure::new(format!("`{name}` is not a regular file"), self.present()),
            Refused::Missing => Failure::new(format!("there is no file `{name}` in {folders}"), self.present()),
            Refused::Unreadable(error) => Failure::new(
                format!("`{name}` cannot be read: {error}"),
                "the user who runs whyslow mcp must be allowed to read it",
            ),
        }
    }

    /// The available captures, for a message about a misspelt name.
    fn present(&self) -> String {
        match self.folders.captures("", NAMED).as_slice() {
            [] => format!("there is no file named as a capture (.pcap, .pcapng, .cap) in {}", self.folders),
            some if some.len() < NAMED => format!("captures there: {}", some.join(", ")),
            some => format!("captures there, among others: {}", some.join(", ")),
        }
    }

    /// The set of these files, if it is kept and they are unchanged.
    fn kept(&self, paths: &[PathBuf]) -> Option<Arc<Explained>> {
        let mut kept = self.lock();
        let place = kept.iter().position(|one| one.is_of(paths))?;
        let found = kept.remove(place)?;
        if !found.is_unchanged() {
            return None;
        }
        kept.push_front(Arc::clone(&found));
        Some(found)
    }

    /// A panic leaves the list whole: each change is one call.
    fn lock(&self) -> MutexGuard<'_, VecDeque<Arc<Explained>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why captures could not be read, with what to do.
pub(crate) fn unread(error: &Error) -> Failure {
    let hint = match error {
        Error::Capture { .. } => {
            "give a capture in pcap or pcapng format, or the text that tcpdump prints; compressed or not"
        }
        Error::Empty { .. } => "it has no packets: the capture was stopped before the first one came",
        Error::Compressed { .. } => "it is damaged: copy it again",
        Error::Changed { .. } => "it is being written: call the tool again",
        _ => "check the file and its permissions, then call the tool again",
    };
    Failure::new(clip::sentence(&error.to_string()), hint)
}
