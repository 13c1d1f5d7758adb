//! [`Coverage`]: how much of a transfer an account covers.

use super::matching::Found;
use whyslow_analysis::Transfer;

/// An account is about a transfer if it counts at most this much more data.
const OWN: f64 = 1.5;
/// The last reading was made after the transfer if it counts this share of its data.
const WHOLE: f64 = 0.95;
/// A reading in the middle of the transfer that counts this share can be compared.
const HALF: f64 = 0.5;

/// The kernel's times, for one transfer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coverage {
    /// The last look came at the end of the transfer, or later.
    pub is_whole: bool,
    /// The transfer's own time until the last look, seconds.
    pub of_s: f64,
    /// Time of other transfers of the same sender, which the counts may hold too, seconds.
    pub others_s: f64,
}

impl Coverage {
    /// Returns `None` if the account is mostly about other data, or ends before half of it.
    pub(super) fn of(found: &Found<'_>, transfer: &Transfer) -> Option<Self> {
        let acked = found.account.acked?;
        let connection = found.connection;
        let sent = connection.directions.iter().find(|one| one.from == transfer.from)?.bytes as f64;
        let own = connection.transfers.iter().filter(|one| one.from == transfer.from);
        let until: f64 = own.clone().filter(|one| one.start_s <= transfer.start_s).map(|one| one.bytes as f64).sum();
        let before = until - transfer.bytes as f64;
        let share = ((acked - before) / (transfer.bytes as f64).max(1.0)).clamp(0.0, 1.0);
        if acked > OWN * sent + 100_000.0 || share < HALF {
            return None;
        }
        let all_s: f64 = own.map(|one| one.duration_s.as_secs_f64()).sum();
        let duration_s = transfer.duration_s.as_secs_f64();
        let is_whole = share >= WHOLE;
        let of_s = if is_whole { duration_s } else { duration_s * share };
        Some(Self { is_whole, of_s, others_s: (all_s - duration_s).max(0.0) })
    }
}
