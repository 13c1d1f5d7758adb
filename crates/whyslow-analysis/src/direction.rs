//! [`Direction`]: the data that one end of a connection sent.

use crate::types::{End, Frame, RetransmissionKind};
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use whyslow_units::Nanos;

/// One direction of a connection.
#[derive(Clone, Debug, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Direction {
    /// Sender of this direction.
    pub from: End,
    /// Payload as sequence space: each byte counted once, whether or not every segment is in the
    /// capture.
    pub bytes: u64,
    /// Segments.
    pub packets: u64,
    /// Segments that were sent more than once, by why.
    pub retransmitted: Retransmitted,
    /// The first of them, in the order in which they passed; at most
    /// [`MAX_RETRANSMISSIONS`](super::MAX_RETRANSMISSIONS).
    pub retransmissions: Vec<Retransmission>,
    /// Number of retransmissions.
    pub retransmissions_total: u64,
    /// Segments that came after later ones without having been retransmitted: reordered on the way.
    pub out_of_order: u64,
    /// Duplicate acknowledgements that this direction's data got (RFC 5681 section 2).
    pub duplicate_acks: u64,
    /// Probes of a closed window.
    pub window_probes: u64,
    /// Keep-alive probes.
    pub keep_alives: u64,
    /// Segments that the network duplicated: the receiver reports a copy (D-SACK), and the sender
    /// sent none.
    pub duplicated: u64,
    /// ACKs that offered no byte (as tcptrace and Wireshark count zero windows).
    pub zero_windows: u64,
    /// Time for which this direction's sender faced a closed window, seconds.
    pub zero_window_s: Nanos,
    /// How often the sender filled the window to its last byte and had to wait for it to open
    /// (Wireshark `tcp.analysis.window_full`).
    pub window_full: u64,
    /// Largest number of bytes in flight, as the sender knew it.
    pub max_in_flight: u64,
    /// Largest window that the other end offered to this direction's sender, bytes; null when the
    /// scale is unknown.
    pub max_window: Option<u64>,
    /// Largest TLS record whose header was seen, with that header, bytes; null where there is none.
    pub largest_record: Option<u32>,
}

/// Retransmitted segments by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Retransmitted {
    /// After duplicate ACKs or SACKs; or after an ICMP error, in shorter segments.
    pub fast: u64,
    /// After the retransmission timer.
    pub timeout: u64,
    /// Tail loss probes (RFC 8985 section 7).
    pub tail_probe: u64,
    /// Needless: the first copy had arrived (D-SACK, or Eifel's timestamps). Counted here and in no
    /// other kind.
    pub spurious: u64,
    /// Retransmissions whose first copy was lost before the capture point: only the later copy is
    /// in the capture.
    pub unseen_original: u64,
}

/// A segment that was retransmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Retransmission {
    /// The frame that carries the later copy.
    pub frame: Frame,
    /// When it passed the capture point.
    pub time_s: Nanos,
    /// Its first byte, counted from the SYN as Wireshark's relative numbers are.
    pub seq: u64,
    /// Payload bytes, without those of a FIN.
    pub bytes: u64,
    /// Why it was sent.
    pub kind: RetransmissionKind,
    /// Its first copy was lost before the capture point.
    pub unseen_original: bool,
}
