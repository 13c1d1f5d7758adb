//! How a sending host sends.

use borsh::{BorshDeserialize, BorshSerialize};

/// How the sending host sends.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct SenderSettings {
    /// Its congestion controller.
    pub algorithm: Algorithm,
    /// Window at the start, segments.
    pub initial_window: f64,
    /// Threshold at which slow start ends, segments; infinite if none is remembered.
    pub ssthresh: f64,
    /// Growth of a window in a round of slow start: 2, or less if ACKs are not counted by bytes.
    pub slow_start_growth: f64,
    /// Whether slow start ends early when the round trip rises (HyStart).
    pub hystart: bool,
    /// Maximum bytes in flight: a send buffer, or a window of the program's protocol.
    pub cap: Option<u64>,
    /// Largest rate of the sender, payload bits per second.
    pub pacing: Option<f64>,
    /// Bytes of payload that a send buffer holds which the kernel sizes (Linux'
    /// `tcp_sndbuf_expand`): it grows with the window, but only where ACKs find a program that has
    /// more to write. None: it never matters.
    pub buffer: Option<u64>,
}

impl SenderSettings {
    /// Today's Linux with this controller: ten segments at first (RFC 6928), then doubling.
    pub fn usual(algorithm: Algorithm) -> Self {
        Self {
            algorithm,
            initial_window: 10.0,
            ssthresh: f64::INFINITY,
            slow_start_growth: 2.0,
            hystart: algorithm == Algorithm::Cubic,
            cap: None,
            pacing: None,
            buffer: None,
        }
    }
}

/// Which controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub enum Algorithm {
    /// RFC 5681.
    Reno,
    /// RFC 9438, with Linux' HyStart.
    Cubic,
    /// After BBR version 1 (Cardwell et al. 2016): paced by a measured rate, deaf to loss.
    Bbr,
}

impl Algorithm {
    /// Its usual name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reno => "reno",
            Self::Cubic => "cubic",
            Self::Bbr => "bbr",
        }
    }
}
