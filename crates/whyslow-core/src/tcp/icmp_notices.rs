//! ICMP errors about a connection's segments.
//!
//! Memory is bounded: equal errors are merged, and there are at most [`MAX_NOTICES`] different
//! ones.

use crate::wire::{Fate, Icmp};
use std::net::IpAddr;
use whyslow_analysis::types::{Frame, Side};
use whyslow_units::Time;

/// Maximum number of different errors per connection, by content or router.
pub const MAX_NOTICES: usize = 8;

/// The errors of a connection.
#[derive(Clone, Debug, Default)]
pub struct Notices {
    /// The first different errors, in order.
    pub list: Vec<Notice>,
    /// Number of all errors, listed or not.
    pub total: u64,
}

/// Equal ICMP errors of one router or host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Why the segments were not delivered.
    pub fate: Fate,
    /// ICMP type and code.
    pub kind: (u8, u8),
    /// The router or host that sent them.
    pub by: IpAddr,
    /// Side that had sent the segments.
    pub about: Side,
    /// Length of the longest reported packet, IP header included; `None` if unknown.
    pub size: Option<u32>,
    /// Time of the first such error.
    pub time: Time,
    /// Frame of the first such error.
    pub frame: Frame,
    /// Time of the last one.
    pub last: Time,
    /// Number of errors.
    pub count: u64,
}

impl Notices {
    pub(super) fn add(&mut self, error: &Icmp, about: Side, time: Time, frame: Frame) {
        self.total += 1;
        let Icmp { fate, kind, by, size, .. } = *error;
        let same =
            |notice: &&mut Notice| (notice.fate, notice.kind, notice.by, notice.about) == (fate, kind, by, about);
        if let Some(notice) = self.list.iter_mut().find(same) {
            notice.count += 1;
            notice.last = notice.last.max(time);
            notice.size = notice.size.max(size);
        } else if self.list.len() < MAX_NOTICES {
            // Most connections with errors have only one kind, and a flood may cause one in many
            // connections.
            self.list.reserve_exact(1);
            self.list.push(Notice { fate, kind, by, about, size, time, frame, last: time, count: 1 });
        }
    }
}

/// A packet size reported by an error.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReportedMtu {
    /// Largest payload that passes, bytes.
    pub(super) max_payload: u32,
    /// When the error passed the capture point.
    pub(super) time: Time,
}
