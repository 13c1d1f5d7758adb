//! The sizes of a sender's segments.

/// Every path carries segments of this size (RFC 9293 section 3.7.1). If no MSS was negotiated, a
/// shorter segment contains all data that the application wrote.
const DEFAULT_MSS: u64 = 536;
/// The MSS of Ethernet with IPv4.
const ETHERNET_MSS: u64 = 1460;

/// The MSS, and the largest captured segments.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct SegmentSize {
    negotiated: Option<u64>,
    mss: u64,
    largest: u64,
    /// Payload of the largest segment known to have arrived.
    largest_acked: u64,
}

impl Default for SegmentSize {
    fn default() -> Self {
        Self { negotiated: None, mss: DEFAULT_MSS, largest: 0, largest_acked: 0 }
    }
}

impl SegmentSize {
    /// The MSS for calculations: negotiated, otherwise the largest captured payload, between the
    /// default and Ethernet's.
    #[inline]
    pub fn mss(&self) -> u64 {
        self.mss
    }

    /// The negotiated MSS, once known, minus 12 bytes if timestamps are in use.
    #[inline]
    pub fn negotiated(&self) -> Option<u64> {
        self.negotiated
    }

    /// The negotiated MSS, or Ethernet's.
    #[inline]
    pub fn negotiated_or_usual(&self) -> u64 {
        self.negotiated.unwrap_or(ETHERNET_MSS)
    }

    pub fn negotiate(&mut self, mss: Option<u64>) {
        self.negotiated = mss;
        self.update();
    }

    fn update(&mut self) {
        self.mss = self.negotiated.unwrap_or(self.largest.clamp(DEFAULT_MSS, ETHERNET_MSS)).max(1);
    }

    /// Records that a segment of this length was sent.
    #[inline]
    pub fn note_sent(&mut self, len: u64) {
        if len > self.largest {
            self.largest = len;
            self.update();
        }
    }

    /// Records that a segment of this length has arrived.
    #[inline]
    pub fn note_acked(&mut self, len: u64) {
        self.largest_acked = self.largest_acked.max(len);
    }

    /// Payload of the largest segment.
    pub fn largest(&self) -> u64 {
        self.largest
    }

    /// Payload of the largest segment known to have arrived.
    pub fn largest_acked(&self) -> u64 {
        self.largest_acked
    }

    /// Returns whether a segment was sent that is larger than all that have arrived.
    #[inline]
    pub fn awaits_larger(&self) -> bool {
        self.largest_acked < self.largest
    }
}
