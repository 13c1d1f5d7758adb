//! [`Recording`]: the requests' own packets, to a file and to the explainer as they come.

use crate::results::RecordedPackets;
use anyhow::{Context, anyhow};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use whyslow_analysis::Analysis;
use whyslow_core::capture::Reader;
use whyslow_diagnosis::explain::Explainer;
use whyslow_live::capture::{Format, Recorder, RecorderSocket, WHOLE};
use whyslow_output::{Sources, Target};

/// The name of packets that are in no file.
pub const NAME: &str = "probe";
/// Bytes that are handed on at once.
const PIECE: usize = 64 << 10;

/// The file for the packets.
pub struct Capture<'a> {
    /// The file for the packets.
    pub file: &'a Path,
    /// The name of the packets, if it is not that of their file.
    pub name: Option<&'a str>,
    /// The inputs of the command, which the file may not replace.
    pub sources: &'a Sources,
}

/// Packets on their way.
pub struct Recording(Result<Running, String>);

struct Running {
    recorder: Arc<Recorder>,
    sink: Sink,
}

#[derive(Clone)]
struct Sink(Arc<Mutex<Inner>>);

struct Inner {
    held: Vec<u8>,
    file: Option<Target>,
    reader: Reader,
    explainer: Explainer,
}

impl Recording {
    /// Starts it, if this user may record packets. Opens the sockets that need rights, and gives
    /// the rights up before it starts a thread.
    ///
    /// # Errors
    /// Returns an error if a file is wanted and cannot be written, or if rights are left.
    pub fn start(
        capture: Option<Capture<'_>>,
        snaplen: Option<u32>,
        give_up_rights: impl FnOnce() -> anyhow::Result<()>,
    ) -> anyhow::Result<Self> {
        let file = capture.as_ref().map(|capture| capture.file);
        let name = capture.as_ref().and_then(|capture| capture.name);
        let target = capture.as_ref().map(|capture| Target::open(Some(capture.file), capture.sources)).transpose()?;
        let is_pcap = file.and_then(Path::extension).is_some_and(|extension| extension == "pcap");
        let format = if is_pcap { Format::Pcap } else { Format::Pcapng };
        let mut explainer = Explainer::new();
        explainer.set_hash_seed(whyslow_io::hash_seed());
        let path = || file.map(|path| path.display().to_string());
        explainer.begin_capture(&name.map(str::to_owned).or_else(path).unwrap_or_else(|| NAME.to_owned()));
        let inner = Inner { held: Vec::new(), file: target, reader: Reader::new(), explainer };
        let sink = Sink(Arc::new(Mutex::new(inner)));
        let socket = RecorderSocket::open();
        give_up_rights()?;
        let started =
            socket.and_then(|socket| Recorder::start(socket, format, snaplen.unwrap_or(WHOLE), Box::new(sink.clone())));
        match started {
            Ok(recorder) => Ok(Self(Ok(Running { recorder: Arc::new(recorder), sink }))),
            Err(error) if file.is_some() => Err(anyhow!("{}", why(&error))).context("packets cannot be recorded"),
            Err(error) => Ok(Self(Err(why(&error)))),
        }
    }

    /// The recorder of a request's packets; `None` if they cannot be recorded.
    pub fn recorder(&self) -> Option<Arc<Recorder>> {
        self.0.as_ref().ok().map(|running| Arc::clone(&running.recorder))
    }

    /// Ends it: the analysis of the packets, or the reason for its absence.
    ///
    /// # Errors
    /// When packets could not be recorded or written.
    pub fn finish(self) -> anyhow::Result<Result<RecordedPackets, String>> {
        let Running { recorder, sink } = match self.0 {
            Ok(running) => running,
            Err(why) => return Ok(Err(why)),
        };
        let recorder = Arc::into_inner(recorder).context("a request still records")?;
        let recorded = recorder.finish().context("recording packets")?;
        let inner = Arc::into_inner(sink.0).context("a recording still runs")?;
        let Inner { file, reader, mut explainer, .. } = inner.into_inner().unwrap_or_else(PoisonError::into_inner);
        file.map_or(Ok(()), Target::finish)?;
        if recorded.packets == 0 {
            return Ok(Err("no packet of the connection was seen: it passes no device of this machine".to_owned()));
        }
        let summary = reader.finish(&mut explainer).context("the recording")?;
        explainer.end_capture(summary);
        let analysis: Analysis = explainer.finish();
        Ok(Ok(RecordedPackets { analysis, packets: recorded.packets, dropped: recorded.dropped }))
    }
}

fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "recording packets needs CAP_NET_RAW: root, or `setcap cap_net_raw=ep` on this program".to_owned()
        }
        _ => error.to_string(),
    }
}

impl Sink {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn hand_on(&mut self) -> io::Result<()> {
        let held = std::mem::take(&mut self.held);
        if let Some(file) = &mut self.file {
            file.write_all(&held)?;
        }
        self.reader.push(&held, &mut self.explainer).map_err(|error| io::Error::other(error.to_string()))
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut inner = self.lock();
        inner.held.extend_from_slice(bytes);
        if inner.held.len() >= PIECE {
            inner.hand_on()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.lock().hand_on()
    }
}
