//! Columns of `packets`. Those that `whyslow export --csv` has too are called as there.

use super::{end, ids};
use crate::column::{Column, bytes, float, instant, int, raw, seconds, text};
use whyslow_diagnosis::series::Point;
use whyslow_report::render::packets::{flags, notes};
use whyslow_units::{Nanos, Time};

/// All of them.
pub(crate) fn packets() -> Vec<Column> {
    let mut columns = ids::of_connection();
    columns.extend([
        raw("packet_file", "The input that holds the packet, as it was named.", |row| {
            let place = row.point()?.frame.file.map_or(row.connection()?.capture, usize::from);
            Some(row.analysis.captures.get(place)?.path.clone())
        }),
        int("frame", "Its frame in `packet_file`, from 1 as in Wireshark.", |row| Some(row.point()?.frame.number)),
    ]);
    columns.extend(instant(["time", "time_ns"], "When it passed; null where the capture has no date.", |row| {
        row.capture()?.first_time.as_ref()?;
        Some(Time(row.point()?.time.0))
    }));
    columns.extend([
        seconds("time_s", "The same, from the first packet of all inputs.", |row| {
            let connection = row.connection()?;
            Some(connection.start_s + since(row.point()?, connection.origin.time))
        }),
        seconds("delta_s", "Since the connection's packet before it; null of the first.", |row| {
            Some(row.point()?.time - row.packet?.before?)
        }),
        text("from", "Its sender: client, server.", |row| Some(end(row.point()?.from))),
        text(
            "flags",
            "A letter for each flag that is set: a (accurate ECN), C (CWR), E (ECE), U, A, P, R, S, F.",
            |row| Some(flags(row.point()?)),
        ),
        int("seq", "Its first sequence number, relative to the SYN; null far outside of the sent data.", |row| {
            row.point()?.seq
        }),
        int("next_seq", "The sequence number behind it: SYN and FIN count as one.", |row| row.point()?.end()),
        int("ack", "Acknowledgement number, relative to the other side's SYN.", |row| row.point()?.ack),
        bytes("len", "Payload.", |row| Some(row.point()?.len)),
        bytes("window", "The window that it offers; null when the scale is unknown.", |row| row.point()?.window),
        bytes("in_flight", "In flight when it was sent, itself included, as its sender knew; of data only.", |row| {
            row.point()?.in_flight
        }),
        float("rtt_ms", "Round trip of the whole path that this ACK measures.", |row| {
            row.point()?.rtt.map(Nanos::as_millis_f64)
        })
        .unit("ms"),
    ]);
    columns.extend(found());
    columns.extend([
        int("raw_seq", "The sequence number as it is in the header.", |row| Some(row.point()?.raw_seq.0)),
        int("raw_ack", "The acknowledgement number as it is in the header; null without an ACK.", |row| {
            row.point()?.raw_ack.map(|ack| ack.0)
        }),
        int("raw_window", "The window field as it is in the header.", |row| Some(row.point()?.raw_window)),
    ]);
    columns
}

/// Its classification, and its SACK blocks.
fn found() -> [Column; 3] {
    [
        text(
            "kind",
            "Kind of its data: new, fast-retransmission, timeout-retransmission, tail-loss-probe, \
             spurious-retransmission, out-of-order, window-probe, keep-alive; null where it carries none.",
            |row| Some(row.point()?.kind.slug().to_owned()).filter(|kind| !kind.is_empty()),
        ),
        text(
            "notes",
            "Further kinds, separated by spaces: duplicate-ack, zero-window, ce, sack, d-sack, \
             original-not-captured; null where nothing.",
            |row| Some(notes(row.point()?).join(" ")).filter(|notes| !notes.is_empty()),
        ),
        text("sack", "Its SACK blocks, as `left-right` with spaces between; null without any.", |row| {
            let blocks: Vec<_> = row.point()?.sacks().iter().map(|(left, right)| format!("{left}-{right}")).collect();
            Some(blocks.join(" ")).filter(|blocks| !blocks.is_empty())
        }),
    ]
}

/// How long after the connection's first packet.
fn since(point: &Point, first: Time) -> Nanos {
    Time(point.time.0) - first
}
