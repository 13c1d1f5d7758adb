//! What ICMP errors said of a connection's segments.
//!
//! Memory is bounded: errors that say the same are one, and there are at most [`MAX_NOTICES`] of
//! these.

use crate::analysis::Frame;
use crate::flow::Side;
use crate::units::Nanos;
use crate::wire::{Fate, Icmp};
use std::net::IpAddr;

/// Errors that say different things, or come from different routers, that are told of one
/// connection.
pub(crate) const MAX_NOTICES: usize = 8;

/// What was said of a connection.
#[derive(Clone, Debug, Default)]
pub struct Notices {
    /// The first ones that say different things, in the order in which they came.
    pub list: Vec<Notice>,
    /// How many errors came, those that are not in the list included.
    pub total: u64,
}

/// What ICMP errors of one router or host said of segments, all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What became of them.
    pub fate: Fate,
    /// The messages' type and code.
    pub kind: (u8, u8),
    /// Who says so.
    pub by: IpAddr,
    /// Who had sent them.
    pub about: Side,
    /// How long the longest of their packets was, IP header included; none where none tells.
    pub size: Option<u32>,
    /// The first such error.
    pub time: Nanos,
    /// The first such error.
    pub frame: Frame,
    /// The last one.
    pub last: Nanos,
    /// How many came.
    pub count: u64,
}

impl Notices {
    pub(super) fn add(&mut self, error: &Icmp, about: Side, time: Nanos, frame: Frame) {
        self.total += 1;
        let Icmp { fate, kind, by, size, .. } = *error;
        let same =
            |notice: &&mut Notice| (notice.fate, notice.kind, notice.by, notice.about) == (fate, kind, by, about);
        if let Some(notice) = self.list.iter_mut().find(same) {
            notice.count += 1;
            notice.last = notice.last.max(time);
            notice.size = notice.size.max(size);
        } else if self.list.len() < MAX_NOTICES {
            // Most have one, and a flood may make many connections have one.
            self.list.reserve_exact(1);
            self.list.push(Notice { fate, kind, by, about, size, time, frame, last: time, count: 1 });
        }
    }
}

/// How long packets may be, as an error told it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReportedMtu {
    /// Payload that passes, bytes.
    pub(super) max_payload: u32,
    /// When that passed the capture point.
    pub(super) time: Nanos,
}
