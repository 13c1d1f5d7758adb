//! Columns of `files` and `problems`.

use super::ids;
use crate::column::{Column, flag, instant, int, raw, seconds, text};
use crate::row::begins_in;
use chrono::DateTime;
use whyslow_report::words::{self, Lang};
use whyslow_units::Time;

/// All of `files`.
pub(crate) fn files() -> Vec<Column> {
    let mut columns = vec![
        int("file_index", "Place of the input, from 0, in the order in which they were read.", |row| row.place.capture),
        raw("file", "The input, as it was named.", |row| Some(row.capture()?.path.clone())),
        text("format", "pcap, pcapng or tcpdump text.", |row| Some(row.capture()?.format.clone())),
        text("link_types", "Names of its link types, with commas between them.", |row| {
            Some(row.capture()?.link_types.join(","))
        }),
        int("packets", "All of its packets.", |row| Some(row.capture()?.packets)),
        int("tcp_packets", "Those that gave a TCP segment.", |row| Some(row.capture()?.tcp_packets)),
    ];
    columns.extend(instant(
        ["first_time", "first_time_ns"],
        "When its first packet passed; null where it has no date.",
        |row| {
            let first = DateTime::parse_from_rfc3339(row.capture()?.first_time.as_ref()?).ok()?;
            Some(Time(first.timestamp_nanos_opt()?))
        },
    ));
    columns.extend([
        seconds("duration_s", "From its first packet to its last.", |row| row.capture()?.duration_s),
        int("connections", "Connections that begin in it, a row each in the table `connections`.", |row| {
            let file = row.place.capture?;
            let listed = row.analysis.connections.iter().filter(|one| begins_in(one) == file).count();
            Some(listed as u64 + row.others.get(file).copied().unwrap_or(0))
        }),
        int("problems", "Rows that it has in the table `problems`, without those of its connections.", |row| {
            Some(row.capture()?.problems.len())
        }),
        flag("partial", "The reading was stopped before the inputs' end.", |row| Some(row.analysis.partial)),
    ]);
    columns
}

/// All of `problems`.
pub(crate) fn problems() -> Vec<Column> {
    let mut columns = ids::of_connection();
    columns.extend([
        text("problem", "Its name.", |row| Some(row.problem()?.slug.clone())),
        int("count", "How often.", |row| Some(row.problem()?.count)),
        text("detail", "It in plain words.", |row| Some(words::problem(row.problem()?, Lang::En))),
    ]);
    columns
}
