//! [`Windows`]: HTTP/2 flow control of one side (RFC 9113 section 5.2), and the waits for more
//! window.

use std::collections::{BTreeMap, VecDeque};
use whyslow_units::{Nanos, Time};

/// Initial window of a stream and of the connection (RFC 9113 section 6.9.2).
const INITIAL: i64 = 65_535;

/// The full window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UsedWindow {
    /// The window of this stream.
    Stream(u32),
    /// The window of the connection.
    Connection,
}

/// A period in which a window was full while data was waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowWait {
    /// The window.
    pub window: UsedWindow,
    /// Its largest size: bytes that may be in flight.
    pub size: u64,
    /// Time of its last byte, at the capture point.
    pub from: Time,
    /// Time of the WINDOW_UPDATE. Behind it comes the round trip to the sender, during which the
    /// sender has not seen it: [`behind`](Self::behind).
    pub until: Time,
}

impl WindowWait {
    /// The wait as the capture point sees it, if the round trip from there to the sender takes
    /// `loop_to_sender`; `None` if the sender had the WINDOW_UPDATE when it sent the last byte.
    pub fn behind(self, loop_to_sender: Nanos) -> Option<Self> {
        let until = self.until + loop_to_sender;
        (until > self.from).then_some(Self { until, ..self })
    }
}

/// Most stored waits.
const MAX_WAITS: usize = 1024;
/// Most extensions of a window that its sender has not used: programs extend it when a half to a
/// sixteenth of it is read.
const MAX_UNUSED: usize = 128;

/// A flow-control window.
#[derive(Clone, Debug)]
struct Window {
    /// Bytes sent, and the limit for them.
    sent: i64,
    limit: i64,
    /// The largest window so far.
    most: i64,
    /// Time of the last byte.
    last: Time,
    /// Extensions of the window: the limit before each of them that the sender has not passed, and
    /// its time.
    extensions: VecDeque<(i64, Time)>,
}

impl Window {
    fn new(limit: i64) -> Self {
        Self { sent: 0, limit, most: limit, last: Time(0), extensions: VecDeque::new() }
    }

    /// Uses bytes of the window. If the bytes before them ended exactly at a limit, returns their
    /// time and that of the extension.
    fn use_up(&mut self, bytes: u32, now: Time) -> Option<(Time, Time)> {
        let mut stopped = None;
        if bytes > 0 {
            while let Some(&(limit, extended)) = self.extensions.front().filter(|(limit, _)| *limit <= self.sent) {
                stopped = (limit == self.sent && self.sent > 0).then_some((self.last, extended)).or(stopped);
                self.extensions.pop_front();
            }
        }
        self.sent = self.sent.saturating_add(bytes.into());
        self.last = now;
        stopped
    }

    fn grant(&mut self, bytes: i64, now: Time) {
        if bytes > 0 && self.extensions.back().is_none_or(|(limit, _)| *limit < self.limit) {
            if self.extensions.len() >= MAX_UNUSED {
                self.extensions.pop_front();
            }
            self.extensions.push_back((self.limit, now));
        } else if bytes < 0 {
            self.extensions.clear();
        }
        self.limit = self.limit.saturating_add(bytes);
        self.most = self.most.max(self.limit.saturating_sub(self.sent));
    }

    fn wait(&self, window: UsedWindow, (from, until): (Time, Time)) -> WindowWait {
        WindowWait { window, size: u64::try_from(self.most).unwrap_or_default(), from, until }
    }
}

/// The windows of one sender.
#[derive(Clone, Debug)]
pub(super) struct Windows {
    connection: Window,
    initial: i64,
    streams: BTreeMap<u32, Window>,
    waits: Vec<WindowWait>,
}

impl Default for Windows {
    fn default() -> Self {
        Self { connection: Window::new(INITIAL), initial: INITIAL, streams: BTreeMap::new(), waits: Vec::new() }
    }
}

impl Windows {
    /// Opens a stream.
    pub(super) fn open(&mut self, stream: u32) {
        self.streams.insert(stream, Window::new(self.initial));
    }

    pub(super) fn close(&mut self, stream: u32) {
        self.streams.remove(&stream);
    }

    /// Its sender sends this many bytes under flow control.
    pub(super) fn sent(&mut self, stream: u32, bytes: u32, now: Time) {
        let of_connection = self.connection.use_up(bytes, now);
        let of_connection = of_connection.map(|times| self.connection.wait(UsedWindow::Connection, times));
        let of_stream = self.streams.get_mut(&stream).and_then(|window| {
            let times = window.use_up(bytes, now)?;
            Some(window.wait(UsedWindow::Stream(stream), times))
        });
        of_connection.into_iter().chain(of_stream).for_each(|wait| self.note(wait));
    }

    /// The other side extends a window; stream 0 is the connection.
    pub(super) fn granted(&mut self, stream: u32, bytes: u32, now: Time) {
        let window = if stream == 0 { Some(&mut self.connection) } else { self.streams.get_mut(&stream) };
        if let Some(window) = window {
            window.grant(bytes.into(), now);
        }
    }

    /// The other side sets the initial window of streams, which also changes the open ones.
    pub(super) fn set_initial(&mut self, bytes: u32, now: Time) {
        let change = i64::from(bytes) - self.initial;
        self.initial = bytes.into();
        self.streams.values_mut().for_each(|window| window.grant(change, now));
    }

    fn note(&mut self, wait: WindowWait) {
        if self.waits.len() < MAX_WAITS {
            self.waits.push(wait);
        }
    }

    /// The waits for a WINDOW_UPDATE, ordered by their end, and periods that are waits if the round
    /// trip from the capture point to the sender is long: see [`WindowWait::behind`].
    pub(super) fn finish(self) -> Vec<WindowWait> {
        self.waits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The waits next to the sender.
    fn waits(windows: Windows) -> Vec<WindowWait> {
        windows.finish().into_iter().filter_map(|wait| wait.behind(Nanos::ZERO)).collect()
    }

    #[test]
    fn wait_lasts_from_the_last_byte_to_the_window_update() {
        let mut windows = Windows::default();
        windows.open(1);
        windows.granted(0, 1_000_000, Time(1));
        windows.sent(1, 60_000, Time(2));
        windows.sent(1, 5_535, Time(3));
        windows.granted(1, 10, Time(9));
        windows.sent(1, 10, Time(10));
        windows.set_initial(100_000, Time(15));
        windows.sent(1, 10, Time(16));
        windows.granted(1, 10, Time(17));
        let wait = |from, until| WindowWait {
            window: UsedWindow::Stream(1),
            size: 65_535,
            from: Time(from),
            until: Time(until),
        };
        assert_eq!(waits(windows), [wait(3, 9), wait(10, 15)]);
    }

    #[test]
    fn connection_window_is_separate() {
        let mut windows = Windows::default();
        windows.open(1);
        windows.open(3);
        windows.set_initial(1 << 20, Time(0));
        windows.sent(1, 40_000, Time(1));
        windows.sent(3, 25_535, Time(2));
        windows.granted(1, 50_000, Time(3));
        windows.granted(0, 50_000, Time(7));
        assert_eq!(windows.clone().finish(), [], "nothing was waited for so far");
        windows.sent(1, 1, Time(8));
        let found = windows.finish();
        assert_eq!(found.iter().map(|wait| wait.window).collect::<Vec<_>>(), [UsedWindow::Connection]);
        assert_eq!((found[0].size, found[0].until - found[0].from), (65_535, Nanos(5)));
    }

    #[test]
    fn receiver_extends_before_the_last_bytes_arrive() {
        let mut windows = Windows::default();
        windows.open(1);
        windows.granted(0, 1_000_000, Time(1));
        // The receiver extends the window at half of it; the sender sees this 100 later.
        windows.sent(1, 32_768, Time(2));
        windows.granted(1, 32_768, Time(3));
        windows.sent(1, 32_767, Time(4));
        windows.sent(1, 16_384, Time(103));
        assert_eq!(waits(windows.clone()), [], "next to the sender this is no wait");
        let far = windows.finish().into_iter().filter_map(|wait| wait.behind(Nanos(100)));
        let of_stream = far.filter(|wait| wait.window == UsedWindow::Stream(1));
        let found: Vec<_> = of_stream.map(|wait| (wait.from, wait.until)).collect();
        assert_eq!(found, [(Time(4), Time(103))]);
    }

    #[test]
    fn sender_that_passes_a_limit_within_a_frame_did_not_wait() {
        let mut windows = Windows::default();
        windows.open(1);
        windows.granted(0, 1_000_000, Time(1));
        windows.sent(1, 65_000, Time(2));
        windows.granted(1, 100_000, Time(3));
        windows.sent(1, 1_000, Time(4));
        windows.sent(1, 1_000, Time(5));
        assert_eq!(windows.finish(), []);
    }
}
