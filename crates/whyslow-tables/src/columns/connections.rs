//! Columns of `connections`.

use super::{end, ids, near};
use crate::column::{Column, bytes, flag, float, instant, int, seconds, text};
use crate::row::Row;
use whyslow_analysis::{Direction, End, Handshake};
use whyslow_report::words::{self, Lang};
use whyslow_units::Nanos;

/// All of them.
pub(crate) fn connections() -> Vec<Column> {
    let mut columns = ids::of_connection();
    columns.extend(instant(
        ["start", "start_ns"],
        "When the first packet passed; null where the capture has no date.",
        |row| row.instant(row.connection()?.start_s),
    ));
    columns.extend([
        seconds("start_s", "The same, from the first packet of all inputs.", |row| Some(row.connection()?.start_s)),
        seconds("duration_s", "From the first packet to the last.", |row| Some(row.connection()?.duration_s)),
        text(
            "state",
            "How it stood at its last packet: unanswered, refused, open, half-closed, closed, reset.",
            |row| Some(row.connection()?.state.slug().to_owned()),
        ),
        text("transport", "tcp, or quic: encrypted values (windows, retransmissions) are null or 0.", |row| {
            Some(if row.connection()?.quic.is_some() { "quic" } else { "tcp" }.to_owned())
        }),
        text("closed_by", "The end that sent FIN or RST first: client, server; null if neither did.", |row| {
            row.connection()?.closed_by.map(end)
        }),
        text("near", "Where the capture stands: client, server, middle, unknown.", |row| {
            Some(near(row.connection()?.near))
        }),
    ]);
    columns.extend(rtt());
    columns.extend(found());
    columns.extend([End::Client, End::Server].into_iter().flat_map(handshake));
    columns.extend([End::Client, End::Server].into_iter().flat_map(direction));
    columns
}

fn rtt() -> [Column; 5] {
    [
        float("rtt_min_ms", "Least round trip of the whole path.", |row| row.connection()?.rtt_ms.min).unit("ms"),
        float("rtt_p50_ms", "Its median.", |row| row.connection()?.rtt_ms.p50).unit("ms"),
        float("rtt_p95_ms", "Its 95th percentile.", |row| row.connection()?.rtt_ms.p95).unit("ms"),
        int("rtt_samples", "How many round trips these stand on.", |row| Some(row.connection()?.rtt_ms.samples)),
        float("handshake_rtt_ms", "From the answered SYN to the ACK of the SYN-ACK.", |row| {
            row.connection()?.handshake.as_ref()?.rtt_ms
        })
        .unit("ms"),
    ]
}

fn found() -> [Column; 7] {
    [
        int("exchanges_total", "Requests with their answers, and pushes.", |row| {
            Some(row.connection()?.exchanges_total)
        }),
        int("transfers_total", "Transfers; the table `transfers` lists at most 256 of them.", |row| {
            Some(row.connection()?.transfers_total)
        }),
        int("icmp_total", "ICMP errors about its packets.", |row| Some(row.connection()?.icmp_total)),
        text(
            "cause",
            "Its costliest cause, of its own findings and its transfers'; null where there is none.",
            |row| Some(row.top_of_connection()?.cause.slug().to_owned()),
        ),
        seconds("cause_s", "Its cost.", |row| Some(row.top_of_connection()?.cost_s)),
        float("cause_confidence", "How certain that is, from 0 to 1.", |row| Some(row.top_of_connection()?.confidence)),
        text("cause_summary", "The same in a sentence.", |row| {
            Some(words::summary(row.top_of_connection()?, Lang::En))
        }),
    ]
}

/// A column of one end, with the end before its name.
fn of(column: Column, whose: End) -> Column {
    let name = format!("{}_{}", end(whose), column.name);
    column.named(name)
}

fn handshake(whose: End) -> Vec<Column> {
    let at = whose.index();
    let opening = |row: &Row<'_>| -> Option<Handshake> { row.connection()?.handshake.clone() };
    let columns = [
        bytes("mss", "Maximum segment size that this end's SYN offers.", move |row| *opening(row)?.mss.get(at)?),
        int("window_scale", "Window scale shift that it offers; null when not offered or not captured.", move |row| {
            *opening(row)?.window_scale.get(at)?
        }),
        flag("sack", "It permits selective acknowledgements.", move |row| *opening(row)?.sack.get(at)?),
        flag("timestamps", "It offers timestamps.", move |row| *opening(row)?.timestamps.get(at)?),
        int("syn_retries", "How often it retransmitted its SYN, or SYN-ACK.", move |row| {
            opening(row)?.retries.get(at).copied()
        }),
    ];
    columns.into_iter().map(|column| of(column, whose)).collect()
}

/// A count of what one end sent.
type Count = (&'static str, &'static str, fn(&Direction) -> u64);

const COUNTS: [Count; 14] = [
    ("packets", "Segments that this end sent.", |half| half.packets),
    ("retransmitted_fast", "Retransmitted after duplicate ACKs or SACKs.", |half| half.retransmitted.fast),
    ("retransmitted_timeout", "Retransmitted after the retransmission timer.", |half| half.retransmitted.timeout),
    ("retransmitted_tail_probe", "Tail loss probes.", |half| half.retransmitted.tail_probe),
    ("retransmitted_spurious", "Retransmitted needlessly.", |half| half.retransmitted.spurious),
    (
        "retransmitted_unseen_original",
        "Of all these, those whose first copy was lost before the capture point.",
        |half| half.retransmitted.unseen_original,
    ),
    ("retransmissions_total", "Retransmissions of a known kind, listed or not.", |half| half.retransmissions_total),
    ("out_of_order", "Segments that were reordered on the way.", |half| half.out_of_order),
    ("duplicate_acks", "Duplicate acknowledgements that its data got.", |half| half.duplicate_acks),
    ("window_probes", "Probes of a closed window.", |half| half.window_probes),
    ("keep_alives", "Keep-alive probes.", |half| half.keep_alives),
    ("duplicated", "Segments that the network duplicated.", |half| half.duplicated),
    ("zero_windows", "ACKs of it that offered no byte.", |half| half.zero_windows),
    ("window_full", "How often it filled the window to its last byte and had to wait.", |half| half.window_full),
];

fn direction(whose: End) -> Vec<Column> {
    fn half<T>(row: &Row<'_>, whose: End, get: impl Fn(&Direction) -> Option<T>) -> Option<T> {
        row.connection()?.directions.iter().find(|half| half.from == whose).and_then(get)
    }
    let mut columns = vec![bytes("bytes", "Payload that this end sent, each byte once.", move |row| {
        half(row, whose, |half| Some(half.bytes))
    })];
    columns.extend(
        COUNTS
            .map(|(name, about, get)| int(name, about, move |row| half(row, whose, |direction| Some(get(direction))))),
    );
    columns.extend([
        seconds("zero_window_s", "How long it faced a closed window.", move |row| -> Option<Nanos> {
            half(row, whose, |half| Some(half.zero_window_s))
        }),
        bytes("max_in_flight", "Most that it had in flight, as it knew.", move |row| {
            half(row, whose, |half| Some(half.max_in_flight))
        }),
        bytes(
            "max_window",
            "Largest window that the other end offered to it; null when the scale is unknown.",
            move |row| half(row, whose, |half| half.max_window),
        ),
        bytes("largest_record", "Its largest TLS record, header included; null where there is none.", move |row| {
            half(row, whose, |half| half.largest_record)
        }),
    ]);
    columns.into_iter().map(|column| of(column, whose)).collect()
}
