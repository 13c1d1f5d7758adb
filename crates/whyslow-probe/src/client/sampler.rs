//! [`Sampler`]: reads a connection's `TCP_INFO` every few milliseconds, on a thread of its own.
//!
//! It also records when written data has left the send buffer, and when the peer has acknowledged
//! it: `write` returns long before.

use serde::Serialize;
use std::time::Instant;
use whyslow_live::tcp_info::TcpInfo;

/// The kernel's data at one instant.
#[derive(Clone, Debug, Serialize)]
pub struct Sample {
    /// When.
    #[serde(skip)]
    pub at: Instant,
    /// What.
    #[serde(flatten)]
    pub info: TcpInfo,
}

/// Times when bytes left the send buffer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Left {
    /// Nothing was left that had not been sent.
    pub sent: Option<Instant>,
    /// All was acknowledged.
    pub acknowledged: Option<Instant>,
}

#[cfg(target_os = "linux")]
pub(crate) use linux::Sampler;
#[cfg(not(target_os = "linux"))]
pub(crate) use others::Sampler;

#[cfg(target_os = "linux")]
mod linux {
    use super::{Left, Sample};
    use std::os::fd::{AsFd, OwnedFd};
    use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
    use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
    use std::thread::JoinHandle;
    use std::time::{Duration, Instant};
    use whyslow_live::tcp_info;

    /// Reads one connection until it is dropped.
    pub(crate) struct Sampler {
        state: Arc<Mutex<State>>,
        /// Closing it ends the thread.
        orders: Option<Sender<Order>>,
        thread: Option<JoinHandle<()>>,
    }

    /// The state of its thread.
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Order {
        Read,
        Rest,
    }

    struct State {
        socket: OwnedFd,
        samples: Vec<Sample>,
        /// How many are kept.
        most: usize,
        /// One of this many readings is kept.
        stride: usize,
        readings: usize,
        /// `bytes_acked` before anything was written.
        base: u64,
        /// This many bytes have been written, and the peer has to acknowledge them.
        awaited: Option<u64>,
        left: Left,
    }

    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Keep {
        InTurn,
        Always,
    }

    impl State {
        fn read(&mut self, keep: Keep) {
            let Some(info) = tcp_info::read(self.socket.as_fd()) else { return };
            let at = Instant::now();
            if let Some(awaited) = self.awaited {
                if self.left.sent.is_none() && info.notsent_bytes == Some(0) {
                    self.left.sent = Some(at);
                }
                if info.bytes_acked.is_some_and(|acked| acked >= self.base + awaited) {
                    self.left.sent.get_or_insert(at);
                    self.left.acknowledged = Some(at);
                    self.awaited = None;
                }
            }
            self.readings += 1;
            if keep == Keep::InTurn && !self.readings.is_multiple_of(self.stride) {
                return;
            }
            if self.samples.len() >= self.most {
                let mut index = 0;
                self.samples.retain(|_| {
                    index += 1;
                    index % 2 == 1
                });
                self.stride *= 2;
            }
            self.samples.push(Sample { at, info });
        }
    }

    impl Sampler {
        /// Begins to read a connected socket, of which nothing was written yet; keeps up to `most`
        /// samples.
        pub(crate) fn start(socket: OwnedFd, every: Duration, most: usize) -> Self {
            let base = tcp_info::read(socket.as_fd()).and_then(|info| info.bytes_acked).unwrap_or(0);
            let state = State {
                socket,
                samples: Vec::new(),
                most: most.max(2),
                stride: 1,
                readings: 0,
                base,
                awaited: None,
                left: Left::default(),
            };
            let state = Arc::new(Mutex::new(state));
            let (orders, ordered) = channel();
            let shared = Arc::clone(&state);
            let thread = std::thread::spawn(move || {
                let mut order = Order::Read;
                loop {
                    let next = if order == Order::Read {
                        let began = Instant::now();
                        lock(&shared).read(Keep::InTurn);
                        ordered.recv_timeout(every.saturating_sub(began.elapsed()))
                    } else {
                        ordered.recv().map_err(RecvTimeoutError::from)
                    };
                    match next {
                        Ok(next) => order = next,
                        Err(RecvTimeoutError::Timeout) => {}
                        Err(RecvTimeoutError::Disconnected) => return,
                    }
                }
            });
            Self { state, orders: Some(orders), thread: Some(thread) }
        }

        /// A further request begins: the samples of earlier ones go.
        pub(crate) fn resume(&self) {
            let mut state = lock(&self.state);
            state.samples.clear();
            (state.stride, state.readings) = (1, 0);
            drop(state);
            self.order(Order::Read);
        }

        /// Reads no more until the next request.
        pub(crate) fn rest(&self) {
            self.order(Order::Rest);
        }

        fn order(&self, order: Order) {
            // Without a thread there is nothing to read.
            let _ = self.orders.as_ref().map(|orders| orders.send(order));
        }

        /// This many bytes have been written since the beginning: from now on it watches when they
        /// leave.
        pub(crate) fn await_bytes(&self, written: u64) {
            let mut state = lock(&self.state);
            state.left = Left::default();
            state.awaited = Some(written);
            state.read(Keep::InTurn);
        }

        /// Times so far.
        pub(crate) fn left(&self) -> Left {
            lock(&self.state).left
        }

        /// Bytes that have left this machine since the connection began, each counted once. `None`
        /// if the kernel does not have the figures.
        pub(crate) fn bytes_left(&self) -> Option<u64> {
            let state = lock(&self.state);
            let info = tcp_info::read(state.socket.as_fd())?;
            Some(info.bytes_sent?.saturating_sub(info.bytes_retrans?))
        }

        /// The kernel's data since then, with a reading from now.
        pub(crate) fn since(&self, then: Instant) -> Vec<Sample> {
            let mut state = lock(&self.state);
            state.read(Keep::Always);
            state.samples.iter().filter(|sample| sample.at >= then).cloned().collect()
        }
    }

    impl Drop for Sampler {
        fn drop(&mut self) {
            self.orders = None;
            if let Some(thread) = self.thread.take() {
                let _ = thread.join();
            }
        }
    }

    fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
        state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(not(target_os = "linux"))]
mod others {
    use super::{Left, Sample};
    use std::time::Instant;

    /// This system has no such data.
    pub(crate) struct Sampler;

    impl Sampler {
        pub(crate) fn await_bytes(&self, _written: u64) {}

        pub(crate) fn resume(&self) {}

        pub(crate) fn rest(&self) {}

        pub(crate) fn left(&self) -> Left {
            Left::default()
        }

        pub(crate) fn bytes_left(&self) -> Option<u64> {
            None
        }

        pub(crate) fn since(&self, _then: Instant) -> Vec<Sample> {
            Vec::new()
        }
    }
}
