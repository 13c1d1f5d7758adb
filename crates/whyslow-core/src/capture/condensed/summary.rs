//! Writes and reads the summary of a capture as a row.

use super::fields::{Fields, put_list, put_number, put_optional, put_signed, put_text};
use super::row::{ROW_HEADER, RowKind, frame_row};
use crate::capture::{Clock, LinkType, Lookup, Ping, Problem, Summary};
use whyslow_units::{Nanos, Time};

/// Names of capture formats.
const FORMATS: [&str; 5] = ["pcap", "pcapng", "tcpdump text", "unread", "condensed"];

/// The rows before the summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowCount {
    /// Number of rows of packets.
    pub rows: u64,
    /// Number of packets in them.
    pub packets: u64,
}

pub(super) fn clock_number(clock: Clock) -> u8 {
    match clock {
        Clock::Absolute => 0,
        Clock::Relative => 1,
        Clock::None => 2,
    }
}

pub(super) fn clock(number: u8) -> Option<Clock> {
    Some(match number {
        0 => Clock::Absolute,
        1 => Clock::Relative,
        2 => Clock::None,
        _ => return None,
    })
}

/// Writes the last row.
pub fn write_summary(summary: &Summary, before: RowCount) -> Vec<u8> {
    let mut out = vec![0; ROW_HEADER];
    put_number(&mut out, before.rows);
    put_number(&mut out, before.packets);
    put_text(&mut out, summary.format);
    put_list(&mut out, &summary.link_types, |out, link| put_number(out, link.0.into()));
    put_number(&mut out, summary.packets);
    for time in [summary.first_time, summary.last_time] {
        put_optional(&mut out, time, |out, time| put_signed(out, time.0));
    }
    out.push(clock_number(summary.clock));
    put_list(&mut out, &summary.problems, |out, problem| {
        put_text(out, &problem.slug);
        put_number(out, problem.count);
        put_text(out, &problem.detail);
    });
    put_list(&mut out, &summary.pings, put_ping);
    put_list(&mut out, &summary.lookups, put_lookup);
    frame_row(&mut out, RowKind::Summary);
    out
}

/// Reads the bytes of the last row, without its header.
pub(super) fn read_summary(payload: &[u8]) -> Option<(Summary, RowCount)> {
    let fields = &mut Fields::new(payload);
    let before = RowCount { rows: fields.number()?, packets: fields.number()? };
    let format = fields.text()?;
    let summary = Summary {
        format: FORMATS.into_iter().find(|known| *known == format)?,
        link_types: fields.list(|fields| fields.number_u16().map(LinkType))?,
        packets: fields.number()?,
        first_time: fields.optional(|fields| fields.signed().map(Time))?,
        last_time: fields.optional(|fields| fields.signed().map(Time))?,
        clock: clock(fields.byte()?)?,
        problems: fields.list(|fields| {
            let (slug, count) = (fields.text()?.into(), fields.number().filter(|&count| count > 0)?);
            Some(Problem { slug, count, detail: fields.text()? })
        })?,
        pings: fields.list(ping)?,
        lookups: fields.list(lookup)?,
    };
    let is_in_order = summary.first_time.is_none_or(|first| summary.last_time.is_some_and(|last| first <= last));
    is_in_order.then_some((summary, before))
}

/// Reads a last row with its header.
pub fn summary_of(row: &[u8]) -> Option<Summary> {
    read_summary(row.get(ROW_HEADER..)?).map(|(summary, _)| summary)
}

fn put_ping(out: &mut Vec<u8>, ping: &Ping) {
    put_optional(out, ping.from.as_deref(), put_text);
    put_text(out, &ping.to);
    put_optional(out, ping.sent, put_number);
    put_optional(out, ping.received, put_number);
    put_optional(out, ping.round_trips, |out, times| times.iter().for_each(|time| put_signed(out, time.0)));
}

fn ping(fields: &mut Fields<'_>) -> Option<Ping> {
    Some(Ping {
        from: fields.optional(Fields::text)?,
        to: fields.text()?,
        sent: fields.optional(Fields::number)?,
        received: fields.optional(Fields::number)?,
        round_trips: fields
            .optional(|fields| Some([Nanos(fields.signed()?), Nanos(fields.signed()?), Nanos(fields.signed()?)]))?,
    })
}

fn put_lookup(out: &mut Vec<u8>, lookup: &Lookup) {
    for text in [&lookup.client, &lookup.server, &lookup.name, &lookup.kind] {
        put_text(out, text);
    }
    put_signed(out, lookup.start.0);
    put_optional(out, lookup.took, |out, took| put_signed(out, took.0));
    put_number(out, lookup.queries);
    put_optional(out, lookup.answers, put_number);
    put_optional(out, lookup.refusal.as_deref(), put_text);
}

fn lookup(fields: &mut Fields<'_>) -> Option<Lookup> {
    Some(Lookup {
        client: fields.text()?,
        server: fields.text()?,
        name: fields.text()?,
        kind: fields.text()?,
        start: Time(fields.signed()?),
        took: fields.optional(|fields| fields.signed().map(Nanos))?,
        queries: fields.number()?,
        answers: fields.optional(Fields::number)?,
        refusal: fields.optional(Fields::text)?,
    })
}
