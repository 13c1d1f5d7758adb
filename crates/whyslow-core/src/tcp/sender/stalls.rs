//! Silences inside a message: stalls, for which the peer waits.
//!
//! Readable payload may show that a message is incomplete (`payload::kind`). If not, the data after
//! the silence decides: more than an initial window (RFC 6928) without a preceding request is the
//! rest of the previous message. A small message after a silence is a push: a chat message, an
//! event, a heartbeat. A first message without a response may be a stream in one direction, so its
//! parts are one message only if the peer answers them.

use super::turns::NewDataBegins;
use super::{PathEstimate, SenderState};
use crate::tcp::segment::Seg;
use whyslow_units::Nanos;

/// Initial window in segments (RFC 6928).
const INITIAL_WINDOW: u64 = 10;

impl SenderState {
    /// Begins the data after a silence: another message, or the rest of this one.
    pub(super) fn begin_after_silence(&mut self, seg: &Seg, path: &PathEstimate) -> NewDataBegins {
        let is_first = self.facts.transfers_total == 0 && self.turns.open_transfers.is_empty();
        let after_stall = self.turns.open_transfers.last().is_some_and(|part| part.message.is_none());
        let answers = self.transfer.as_mut().is_some_and(|transfer| transfer.facts().answered.is_some());
        if self.peer_payload.is_some() || !(is_first || after_stall || answers) {
            return self.begin_new_transfer(None);
        }
        self.hold_transfer(None, seg, path);
        NewDataBegins::Transfer(None)
    }

    /// Joins the parts of a message that were divided by silences, if they are known to be one.
    /// `is_answered`: the peer has sent payload since.
    pub(super) fn join_over_silences(&mut self, is_answered: bool) {
        if self.turns.open_transfers.last().is_none_or(|part| part.message.is_some()) {
            return;
        }
        let window = INITIAL_WINDOW * self.segment_size.negotiated_or_usual();
        let is_long = self.transfer.as_mut().is_some_and(|transfer| transfer.facts().bytes() > window);
        let mut open = std::mem::take(&mut self.turns.open_transfers);
        let is_answer = open.iter_mut().any(|part| part.message.is_none() && part.transfer.facts().answered.is_some());
        if is_long
            && (is_answer || is_answered)
            && let Some(mut whole) = self.transfer.take()
        {
            while let Some(part) = open.pop_if(|part| part.message.is_none()) {
                let mut longer = part.transfer;
                let silence = part.last.map_or(Nanos::ZERO, |(last, _)| whole.facts().start - last);
                longer.absorb(part.last, part.pause, whole);
                longer.facts().inferred_stalls += silence;
                whole = longer;
            }
            self.transfer = Some(whole);
        }
        self.turns.open_transfers = open;
    }
}
