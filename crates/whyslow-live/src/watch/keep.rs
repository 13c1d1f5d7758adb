//! [`Keep`]: the packets of chosen connections, from a [`Recorder`] into a pcapng file.
//!
//! With a limit the disk is never filled: when the file would exceed half of it, it becomes the
//! previous file, in place of the one before, and another one begins.

use super::counts::RingCounts;
use super::error::WatchError;
use super::recorder::{HeldPacket, Holding, Recorder};
use super::segment::Connection;
use crate::pcapng::{Interface, Packet, Statistics, Writer};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// Minimum limit, bytes.
const LEAST: u64 = 256 << 10;
/// A packet's block without its bytes; an interface's block with its statistics.
const PACKET: u64 = 12 + 20 + 3;
const INTERFACE: u64 = 160;
/// A comment: its head, the end of the options, the padding.
const COMMENT: u64 = 12;

/// Number of the next file that is written to; each file has its own.
static FILES: AtomicU64 = AtomicU64::new(0);

/// The name of an interface of this machine.
#[cfg(target_os = "linux")]
fn name(index: u32) -> Option<String> {
    super::linux::interfaces::name(index)
}

/// No packet comes from this machine here.
#[cfg(not(target_os = "linux"))]
fn name(_: u32) -> Option<String> {
    None
}

/// How packets are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepOptions {
    /// The most that the file and the previous one take together, bytes.
    pub limit: Option<u64>,
    /// The length to which packets were cut, for the file's header.
    pub snaplen: u32,
}

/// Counts of the written packets of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// Packets.
    pub packets: u64,
    /// Packets between the handshake and those that were written, which are no longer held or
    /// found no room in the file.
    pub missing: u64,
    /// Whether the connection was seen to begin.
    pub has_handshake: bool,
}

/// The place for packets: opens the file, which may exist and may be an input of the caller.
pub trait KeepPlace: Debug + Send {
    /// Opens the file, empty.
    ///
    /// # Errors
    /// Returns an error if it may not or cannot be written.
    fn open(&mut self) -> io::Result<File>;

    /// Renames the file to the [previous file](Keep::previous), in place of the one before, and
    /// creates another.
    ///
    /// # Errors
    /// Returns the system's error.
    fn rotate(&mut self) -> io::Result<File>;
}

/// A path, which is opened as it is.
impl KeepPlace for PathBuf {
    fn open(&mut self) -> io::Result<File> {
        File::create(self)
    }

    fn rotate(&mut self) -> io::Result<File> {
        std::fs::rename(&self, Keep::previous(self))?;
        File::create_new(self)
    }
}

/// A file of the packets of chosen connections.
#[derive(Debug)]
pub struct Keep {
    place: Box<dyn KeepPlace>,
    options: KeepOptions,
    file: Open,
    counts: RingCounts,
}

impl Keep {
    /// Begins the file.
    ///
    /// # Errors
    /// When it cannot be written, or the limit is less than 256 KiB.
    pub fn create(mut place: impl KeepPlace + 'static, options: KeepOptions) -> Result<Self, WatchError> {
        if let Some(limit) = options.limit.filter(|limit| *limit < LEAST) {
            return Err(WatchError::Option {
                what: "the size of the file",
                value: format!("{limit} bytes"),
                allowed: format!("at least {LEAST} bytes"),
            });
        }
        let counts = RingCounts::default();
        let file = place.open().and_then(|file| Open::create(file, counts));
        let file = file.map_err(WatchError::system("the file for packets cannot be written"))?;
        Ok(Self { place: Box::new(place), options, file, counts })
    }

    /// Sets the ring's counts until now: the file contains its drops.
    pub fn set_counts(&mut self, counts: RingCounts) {
        self.counts = counts;
    }

    /// Writes what the recorder holds of a connection and this file does not have yet. The comment
    /// stands at the first packet.
    ///
    /// # Errors
    /// When the file cannot be written: to go on without what could not be is safe.
    pub fn save(&mut self, recorder: &mut Recorder, connection: &Connection, comment: &str) -> io::Result<Saved> {
        let Some(holding) = recorder.holding(connection) else { return Ok(Saved::default()) };
        let mut job = Job::new(recorder, holding, self.file.number, comment);
        if let Some(limit) = self.options.limit {
            let room = limit / 2;
            if self.file.size() + job.size > room && !self.file.is_empty {
                self.rotate()?;
                job = Job::new(recorder, holding, self.file.number, comment);
            }
            job.shorten(room.saturating_sub(self.file.size()));
        }
        let saved = self.file.write(recorder, &job, self.options.snaplen)?;
        recorder.set_saved(&holding, self.file.number);
        Ok(saved)
    }

    /// Ends the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.file.end(self.counts)
    }

    /// Where the file goes that the next one replaces: `slow.pcapng` becomes
    /// `slow.previous.pcapng`.
    #[must_use]
    pub fn previous(path: &Path) -> PathBuf {
        let extension = path.extension().map(|extension| format!(".{}", extension.to_string_lossy()));
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        path.with_file_name(format!("{stem}.previous{}", extension.unwrap_or_default()))
    }

    fn rotate(&mut self) -> io::Result<()> {
        self.file.end(self.counts)?;
        self.file = Open::create(self.place.rotate()?, self.counts)?;
        Ok(())
    }
}

/// Writes all that is held of a connection to a file of its own, which `open` opens. Returns
/// `None`, and opens nothing, if nothing is held.
///
/// # Errors
/// When it cannot be opened or written.
pub fn save_connection(
    recorder: &Recorder,
    connection: &Connection,
    open: impl FnOnce() -> io::Result<File>,
    comment: &str,
) -> io::Result<Option<Saved>> {
    let Some(holding) = recorder.holding(connection) else { return Ok(None) };
    let mut file = Open::create(open()?, RingCounts::default())?;
    let job = Job::new(recorder, holding, file.number, comment);
    let saved = file.write(recorder, &job, 0)?;
    file.writer.flush()?;
    Ok(Some(saved))
}

/// The part of a connection to write.
struct Job<'a> {
    holding: Holding,
    comment: &'a str,
    /// Only packets that arrived later; `None` is all, with the handshake.
    after: Option<u64>,
    /// Number of the oldest packets that do not fit into the file.
    skip: u64,
    /// Sizes in the file, the oldest first, without the handshake.
    sizes: Vec<u64>,
    size: u64,
}

impl<'a> Job<'a> {
    fn new(recorder: &Recorder, holding: Holding, file: u64, comment: &'a str) -> Self {
        let after = holding.saved.and_then(|(saved_to, place)| (saved_to == file).then_some(place));
        let mut job = Self { holding, comment, after, skip: 0, sizes: Vec::new(), size: 0 };
        // The comment that something is missing is shorter than 200 bytes.
        job.size = 3 * INTERFACE + 2 * COMMENT + comment.len() as u64 + 200;
        for held in recorder.packets(holding, after.unwrap_or(0)) {
            let size = PACKET + held.bytes.len() as u64;
            job.size += size;
            if held.place.is_some() {
                job.sizes.push(size);
            }
        }
        job
    }

    /// Leaves out the oldest packets, but not the handshake, until there is room for the others.
    fn shorten(&mut self, room: u64) {
        let mut over = self.size.saturating_sub(room);
        for size in &self.sizes {
            if over == 0 {
                break;
            }
            over = over.saturating_sub(*size);
            self.skip += 1;
        }
    }

    fn packets<'r>(&self, recorder: &'r Recorder) -> impl Iterator<Item = HeldPacket<'r>> + use<'r> {
        let (after, mut skip) = (self.after, self.skip);
        recorder.packets(self.holding, after.unwrap_or(0)).filter(move |held| match held.place {
            None => after.is_none(),
            Some(_) if skip > 0 => {
                skip -= 1;
                false
            }
            Some(_) => true,
        })
    }

    /// The number of packets missing in the file between those of this connection.
    fn missing(&self) -> u64 {
        // Packets dropped before the last save are in the file, or were reported as missing there.
        self.skip + if self.after.is_none() { self.holding.evicted } else { 0 }
    }
}

/// A file that is being written.
#[derive(Debug)]
struct Open {
    number: u64,
    writer: Writer<BufWriter<File>>,
    interfaces: BTreeMap<(u32, u16), u32>,
    /// The counts at its beginning.
    before: RingCounts,
    is_empty: bool,
}

impl Open {
    fn create(file: File, before: RingCounts) -> io::Result<Self> {
        let mut writer = Writer::begin(BufWriter::new(file), "watch")?;
        writer.flush()?;
        let number = FILES.fetch_add(1, Ordering::Relaxed);
        Ok(Self { number, writer, interfaces: BTreeMap::new(), before, is_empty: true })
    }

    /// Bytes, with what its end will take.
    fn size(&self) -> u64 {
        self.writer.written() + self.interfaces.len() as u64 * INTERFACE
    }

    fn write(&mut self, recorder: &Recorder, job: &Job<'_>, snaplen: u32) -> io::Result<Saved> {
        let missing = job.missing();
        let has_handshake = job.holding.has_handshake;
        let mut saved = Saved { packets: 0, missing, has_handshake };
        let mut gap = (missing > 0).then(|| format!("{missing} packets before are not kept"));
        if !has_handshake && job.after.is_none() {
            gap = Some(match missing {
                0 => "the connection's packets before are not kept: it is older than what was recorded".to_owned(),
                missing => format!("{missing} packets before are not kept, nor the connection's beginning"),
            });
        }
        for held in job.packets(recorder) {
            let mut comments = Vec::new();
            if saved.packets == 0 && !job.comment.is_empty() {
                comments.push(job.comment.to_owned());
            }
            if held.place.is_some() {
                comments.extend(gap.take());
            }
            let interface = self.interface(&held, snaplen)?;
            let packet = Packet { time: held.time_ns, length: held.length, bytes: held.bytes };
            self.writer.packet(interface, packet, &comments)?;
            saved.packets += 1;
            self.is_empty = false;
        }
        // Written packets are in the file even if the program is killed.
        self.writer.flush()?;
        Ok(saved)
    }

    fn interface(&mut self, held: &HeldPacket<'_>, snaplen: u32) -> io::Result<u32> {
        let key = (held.interface, held.link_type);
        if let Some(number) = self.interfaces.get(&key) {
            return Ok(*number);
        }
        let name = name(held.interface);
        let number = self.writer.interface(Interface { name: name.as_deref(), link_type: held.link_type, snaplen })?;
        self.interfaces.insert(key, number);
        Ok(number)
    }

    /// Writes the drops during the recording, at its first interface: there is only one ring.
    fn end(&mut self, counts: RingCounts) -> io::Result<()> {
        if !self.interfaces.is_empty() {
            let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
            let since = |figure: fn(&RingCounts) -> u64| figure(&counts).saturating_sub(figure(&self.before));
            let statistics = Statistics {
                time: u64::try_from(time.as_nanos()).unwrap_or(0),
                received: Some(since(|counts| counts.packets + counts.ring_drops)),
                dropped_by_interface: Some(since(|counts| counts.interface_drops)),
                dropped_by_system: Some(since(|counts| counts.ring_drops)),
            };
            self.writer.statistics(0, statistics)?;
        }
        self.writer.flush()
    }
}
