//! [`Windows`]: HTTP/2 flow control of one side (RFC 9113 section 5.2), and the waits for more
//! window.

use std::collections::BTreeMap;
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
    /// Time of the WINDOW_UPDATE.
    pub until: Time,
}

/// Most stored waits.
const MAX_WAITS: usize = 1024;

/// A flow-control window.
#[derive(Clone, Copy, Debug)]
struct Window {
    left: i64,
    /// The largest value so far.
    most: i64,
    /// Time since when it is full.
    used_up: Option<Time>,
    /// The last period in which it was full, until data is sent again.
    opened: Option<(Time, Time)>,
}

impl Window {
    fn new(left: i64) -> Self {
        Self { left, most: left, used_up: None, opened: None }
    }

    /// Uses bytes of the window. Returns the period in which it was full before them.
    fn use_up(&mut self, bytes: u32, now: Time) -> Option<(Time, Time)> {
        self.left = self.left.saturating_sub(bytes.into());
        if self.left <= 0 {
            self.used_up.get_or_insert(now);
        }
        self.opened.take()
    }

    fn grant(&mut self, bytes: i64, now: Time) {
        self.left = self.left.saturating_add(bytes);
        self.most = self.most.max(self.left);
        if self.left > 0
            && let Some(from) = self.used_up.take()
        {
            self.opened = Some((from, now));
        }
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
        if self.waits.len() < MAX_WAITS && wait.until - wait.from > Nanos::ZERO {
            self.waits.push(wait);
        }
    }

    /// The waits, ordered by their end.
    pub(super) fn finish(self) -> Vec<WindowWait> {
        self.waits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(windows.finish(), [wait(3, 9), wait(10, 15)]);
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
}
