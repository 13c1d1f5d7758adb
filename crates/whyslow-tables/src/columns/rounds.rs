//! Columns of `rounds`.

use super::ids;
use crate::column::{Column, bytes, int, seconds, text};

/// All of them.
pub(crate) fn rounds() -> Vec<Column> {
    let mut columns = ids::of_transfer();
    columns.extend([
        int("round", "Its place, from 1: the first 64 of a transfer are listed.", |row| {
            row.round().map(|_| row.place.item + 1)
        }),
        seconds("start_s", "When its first segment was sent, from the first packet of all inputs.", |row| {
            Some(row.round()?.start_s)
        }),
        seconds("duration_s", "To the next round's first segment, or to the transfer's end.", |row| {
            Some(row.round()?.duration_s)
        }),
        seconds("sending_s", "From its first segment to its last.", |row| Some(row.round()?.sending_s)),
        bytes("bytes", "New payload in it.", |row| Some(row.round()?.bytes)),
        int("round_first_frame", "Its first frame.", |row| Some(row.round()?.first_frame.number)),
        int("round_last_frame", "Its last frame.", |row| Some(row.round()?.last_frame.number)),
        bytes("in_flight", "Most that was in flight during it, as the sender knew.", |row| {
            Some(row.round()?.in_flight)
        }),
        bytes("window", "Largest window that the sender had; null when the scale is unknown.", |row| {
            row.round()?.window
        }),
        text("limit", "The limit that took most of its time.", |row| Some(row.round()?.limit.slug().to_owned())),
    ]);
    columns
}
