//! A test as iperf prints it.

/// Payload of a full segment of Ethernet with timestamps, bytes.
pub(super) const SEGMENT: f64 = 1448.0;
/// Windows that differ by less are one.
const STEADY: f64 = 0.1;

/// An interval of one stream, or the whole of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Interval {
    pub seconds: f64,
    pub bytes: f64,
    pub bps: f64,
    pub retransmits: Option<f64>,
    pub cwnd: Option<f64>,
    pub rtt_s: Option<f64>,
}

/// A test.
#[derive(Clone, Debug, Default)]
pub(super) struct Test {
    pub name: String,
    pub udp: bool,
    pub streams: usize,
    /// Intervals of the first stream, without those that `-O` omits.
    pub intervals: Vec<Interval>,
    /// All streams, as sent and as received.
    pub sent: Option<Interval>,
    pub received: Option<Interval>,
    /// UDP: lost and all.
    pub lost: Option<(f64, f64)>,
    pub rtt_s: Option<f64>,
    pub least_rtt_s: Option<f64>,
    /// Percent, here and at the peer.
    pub cpu: [Option<f64>; 2],
}

impl Test {
    pub(super) fn rate(&self) -> Option<f64> {
        let whole = self.received.or(self.sent).map(|whole| whole.bps);
        let mean = || {
            let seconds: f64 = self.intervals.iter().map(|one| one.seconds).sum();
            let bytes: f64 = self.intervals.iter().map(|one| one.bytes).sum();
            (seconds > 0.0).then(|| bytes * 8.0 / seconds)
        };
        whole.or_else(mean)
    }

    pub(super) fn retransmits(&self) -> Option<f64> {
        let summed = || self.intervals.iter().map(|one| one.retransmits).sum::<Option<f64>>();
        self.sent.and_then(|sent| sent.retransmits).or_else(|| if self.intervals.is_empty() { None } else { summed() })
    }

    pub(super) fn bytes(&self) -> f64 {
        let summed = self.intervals.iter().map(|one| one.bytes).sum();
        self.sent.or(self.received).map_or(summed, |whole| whole.bytes)
    }

    /// The congestion window where it does not change, bytes: of the second half.
    pub(super) fn steady_window(&self) -> Option<f64> {
        let half = &self.intervals[self.intervals.len() / 2..];
        let windows: Vec<f64> = half.iter().filter_map(|one| one.cwnd).collect();
        let (least, most) = windows.iter().fold((f64::MAX, 0.0_f64), |(l, m), w| (l.min(*w), m.max(*w)));
        (windows.len() >= 2 && most <= least * (1.0 + STEADY)).then_some(most)
    }

    /// The rate of the second half, without slow start and what buffers take at once; bits per
    /// second of the first stream.
    pub(super) fn steady_rate(&self) -> Option<f64> {
        let half = &self.intervals[self.intervals.len() / 2..];
        let seconds: f64 = half.iter().map(|one| one.seconds).sum();
        let bytes: f64 = half.iter().map(|one| one.bytes).sum();
        (seconds > 0.0 && half.len() >= 2).then(|| bytes * 8.0 / seconds)
    }

    /// The last window that is known.
    pub(super) fn window(&self) -> Option<f64> {
        self.intervals.iter().rev().find_map(|one| one.cwnd)
    }
}
