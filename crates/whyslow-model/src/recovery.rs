//! Recovery reduces the window evenly (PRR, RFC 6937).

#[derive(Debug)]
pub(super) struct Recovery {
    /// It ends when all segments before this one have arrived.
    pub(super) until: usize,
    /// An RTO began it.
    pub(super) by_timer: bool,
    /// RecoverFS, prr_delivered and prr_out of RFC 6937: segments outstanding at its start, and
    /// delivered and sent since.
    recover_fs: f64,
    prr_delivered: f64,
    pub(super) prr_out: f64,
    /// Segments that may be in flight.
    pub(super) cwnd: f64,
}

impl Recovery {
    /// Begins after a loss, with this many segments in flight and lost.
    pub(super) fn after_loss(until: usize, in_flight: u32, lost: usize) -> Self {
        let flight = f64::from(in_flight) + lost as f64;
        // The first lost segment is retransmitted at once.
        let window = f64::from(in_flight) + 1.0;
        Self { until, by_timer: false, recover_fs: flight.max(1.0), prr_delivered: 0.0, prr_out: 0.0, cwnd: window }
    }

    /// Begins after an RTO.
    pub(super) fn after_timer(until: usize) -> Self {
        Self { until, by_timer: true, recover_fs: 1.0, prr_delivered: 0.0, prr_out: 0.0, cwnd: 1.0 }
    }

    /// Updates PRR after `newly` segments arrived, down to ssthresh.
    pub(super) fn arrive(&mut self, newly: f64, in_flight: u32, ssthresh: f64) {
        let pipe = f64::from(in_flight);
        self.prr_delivered += newly;
        let more = if pipe > ssthresh {
            (self.prr_delivered * ssthresh / self.recover_fs).ceil() - self.prr_out
        } else {
            (ssthresh - pipe).min((self.prr_delivered - self.prr_out).max(newly) + 1.0)
        };
        self.cwnd = pipe + more.max(if self.prr_out == 0.0 { 1.0 } else { 0.0 });
    }
}
