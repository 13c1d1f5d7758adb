//! Columns of `transfers`.

use super::{end, ids};
use crate::column::{Column, bytes, flag, float, instant, int, seconds, text};
use whyslow_analysis::{LimitShare, LimitingFactor};
use whyslow_report::words::{self, Lang};
use whyslow_units::Nanos;

/// What can go before a transfer's first byte.
const BEFORE: [LimitingFactor; 8] = [
    LimitingFactor::Handshake,
    LimitingFactor::TlsHandshake,
    LimitingFactor::ClientThink,
    LimitingFactor::RequestWait,
    LimitingFactor::ServerThink,
    LimitingFactor::Idle,
    LimitingFactor::Timeout,
    LimitingFactor::LossRecovery,
];

/// All of them.
pub(crate) fn transfers() -> Vec<Column> {
    let mut columns = ids::of_transfer();
    columns.push(text("from", "Its sender: client, server.", |row| Some(end(row.transfer()?.from))));
    columns.extend(instant(
        ["start", "start_ns"],
        "When its first byte was sent; null where the capture has no date.",
        |row| row.instant(row.transfer()?.start_s),
    ));
    columns.extend(figures());
    columns.extend(verdict());
    columns.extend(BEFORE.map(before));
    columns.extend(LimitingFactor::ALL.map(limit));
    columns
}

fn figures() -> Vec<Column> {
    vec![
        seconds("start_s", "The same, from the first packet of all inputs.", |row| Some(row.transfer()?.start_s)),
        seconds("duration_s", "To the ACK of its last byte, by the sender's clock.", |row| {
            Some(row.transfer()?.duration_s)
        }),
        bytes("bytes", "Payload that was acknowledged.", |row| Some(row.transfer()?.bytes)),
        float("rate_bps", "`bytes` over `duration_s`.", |row| row.transfer()?.rate_bps).unit("bit/s"),
        text("label", "Content, if the payload shows it: `HTTP GET /file → 200`.", |row| {
            row.transfer()?.label.clone()
        }),
        seconds("waited_s", "How long its user waited, from the request, or its first byte, to its end.", |row| {
            Some(row.transfer()?.waited())
        }),
        seconds("first_byte_s", "From its first byte to the first that the receiver's program could read.", |row| {
            row.transfer()?.first_byte_s
        }),
        bytes("first_record", "The TLS record with which it begins, header included.", |row| {
            row.transfer()?.first_record
        }),
        float("rtt_min_ms", "Least round trip of its connection.", |row| row.connection()?.rtt_ms.min).unit("ms"),
        int("rounds_total", "Its rounds.", |row| Some(row.transfer()?.rounds_total)),
        flag("elided", "Packets of it were left out of a text.", |row| Some(row.transfer()?.elided)),
        seconds("model_s", "Time of the model without a change; null if it was not run.", |row| {
            row.transfer()?.model_s
        }),
        flag("model_fits", "The model is near enough to the measured time to promise anything.", |row| {
            row.transfer()?.model_fits()
        }),
    ]
}

fn verdict() -> Vec<Column> {
    vec![
        text("verdict", "The verdict in one sentence.", |row| Some(words::verdict(row.transfer()?, Lang::En))),
        int("findings_total", "Its findings.", |row| Some(row.transfer()?.findings.len())),
        text("cause", "The costliest of them; null where there is none.", |row| {
            Some(row.top()?.cause.slug().to_owned())
        }),
        seconds("cause_s", "Its cost.", |row| Some(row.top()?.cost_s)),
        float("cause_confidence", "How certain that is, from 0 to 1.", |row| Some(row.top()?.confidence)),
        seconds("predicted_s", "The transfer's time with that cause gone; null where no model promises it.", |row| {
            row.top()?.predicted()
        }),
        text("fix", "The recommended change.", |row| Some(words::action(&row.top()?.remedy()?.action, Lang::En))),
    ]
}

/// Time under a limit; `None` if the transfer's time was not divided.
fn time_of(shares: &[LimitShare], limit: LimitingFactor) -> Option<Nanos> {
    (!shares.is_empty()).then(|| shares.iter().filter(|share| share.limit == limit).map(|share| share.seconds).sum())
}

fn name_of(limit: LimitingFactor, before: &str) -> String {
    format!("{before}_{}_s", limit.slug().replace('-', "_"))
}

fn before(limit: LimitingFactor) -> Column {
    let column = seconds("", "", move |row| {
        let mut before = row.transfer()?.before.iter();
        before.find(|share| share.limit == limit).map(|share| share.seconds)
    });
    let about = format!("Time of `{}` before its first byte; null if there was none, or it is unknown.", limit.slug());
    column.named(name_of(limit, "before")).meaning(about)
}

fn limit(limit: LimitingFactor) -> Column {
    let column = seconds("", "", move |row| time_of(&row.transfer()?.limits, limit));
    let about = format!("Part of `duration_s` under the limit `{}`; the limits sum to it.", limit.slug());
    column.named(name_of(limit, "limit")).meaning(about)
}
