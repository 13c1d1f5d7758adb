//! Turns: whether what a side sends answers the other side's payload, and so begins another transfer.

use super::segment::Seg;
use crate::units::{Nanos, SeqNumber};

/// Payload of the other side below this may be a window update of an application protocol and not a message: an HTTP/2
/// WINDOW_UPDATE is 13 bytes, an SSH window adjust 36–68, both with their encryption.
const SMALL: u64 = 100;
/// A transfer of this many segments is bulk, which small payload of the other side does not end.
const BULK: u64 = 10;

/// The other side's payload since this side's last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard {
    pub first: Nanos,
    pub last: Nanos,
    end_of_first: SeqNumber,
    bytes: u64,
    /// It acknowledged all that this side had sent.
    acked_all: bool,
}

/// What a side sends after it has heard the other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// Another transfer: it had run dry, and answers only now.
    Turn,
    /// More of the same; and whether it waited for a word that let it go on.
    GoesOn { resumed: bool },
}

impl Heard {
    /// One more segment with payload, in addition to what was heard before it. Whether it acknowledged all is asked for only as
    /// long as none has.
    #[inline(always)]
    pub fn add(heard: &mut Option<Self>, seg: &Seg, acked_all: impl FnOnce() -> bool) {
        let bytes = u64::from(seg.len);
        match heard {
            Some(heard) => {
                heard.last = seg.time;
                heard.bytes += bytes;
                if !heard.acked_all {
                    heard.acked_all = acked_all();
                }
            }
            None => {
                let end_of_first = seg.seq + seg.len;
                *heard = Some(Self { first: seg.time, last: seg.time, end_of_first, bytes, acked_all: acked_all() });
            }
        }
    }

    /// What new payload is that comes behind it. `sent`: payload of the transfer that goes on, if one does.
    pub fn and_then(&self, seg: &Seg, sent: Option<u64>, mss: u64) -> Then {
        // It may have crossed this segment on the way; the next ones may yet answer it.
        let has_it = seg.ack().is_none_or(|ack| ack.distance(self.end_of_first) >= 0);
        match sent {
            None => Then::Turn,
            Some(_) if !has_it || !self.acked_all => Then::GoesOn { resumed: false },
            Some(sent) if self.bytes < SMALL && sent >= BULK * mss && u64::from(seg.len) >= mss => {
                Then::GoesOn { resumed: true }
            }
            Some(_) => Then::Turn,
        }
    }
}
