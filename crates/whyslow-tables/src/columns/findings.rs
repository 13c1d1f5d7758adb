//! Columns of `findings`.

use super::{actor, ids};
use crate::column::{Column, flag, float, int, ints, seconds, text};
use crate::row::Row;
use whyslow_analysis::{Assumed, Frame, Measurement, Remedy};
use whyslow_report::words::{self, Lang};
use whyslow_units::Nanos;

/// All of them.
pub(crate) fn findings() -> Vec<Column> {
    let mut columns = ids::of_transfer();
    columns.extend([
        text("scope", "Whose finding it is: transfer, connection, connections (it spans several).", |row| {
            let scope = match (row.place.connection, row.place.transfer) {
                (None, _) => "connections",
                (Some(_), None) => "connection",
                (Some(_), Some(_)) => "transfer",
            };
            Some(scope.to_owned())
        }),
        int("rank", "Its place, from 1, among those of the same: most seconds first.", |row| Some(row.place.item + 1)),
        text("cause", "The cause's name: `whyslow causes NAME` explains it.", |row| {
            Some(row.finding()?.cause.slug().to_owned())
        }),
        seconds("cost_s", "Time that it cost.", |row| Some(row.finding()?.cost_s)),
        float("confidence", "How certain it is, from 0 to 1.", |row| Some(row.finding()?.confidence)),
        text("summary", "It in one sentence.", |row| Some(words::summary(row.finding()?, Lang::En))),
        seconds("predicted_s", "The time with the cause gone; null where no model promises it.", |row| {
            row.finding()?.predicted()
        }),
        seconds("predicted_low_s", "The least that this time is in nine of ten cases.", |row| Some(range(row)?[0])),
        seconds("predicted_high_s", "The most that this time is in nine of ten cases.", |row| Some(range(row)?[1])),
        float("predicted_needs_bps", "Rate that the prediction needs, if no such rate was seen.", |row| {
            Some(assumed(row)?.needed_bps)
        })
        .unit("bit/s"),
        float("predicted_seen_bps", "Highest rate that was seen.", |row| Some(assumed(row)?.seen_bps)).unit("bit/s"),
        flag("shared", "It sums up findings of `connections`, and its time is theirs.", |row| {
            Some(row.finding()?.shared)
        }),
        ints("connections", "Numbers of the connections that it spans, or that share its bottleneck.", |row| {
            let ids = row.finding()?.connections.iter();
            Some(ids.filter_map(|&id| i64::try_from(id).ok()).collect())
        }),
    ]);
    columns.extend(evidence());
    columns.extend(fix());
    columns
}

/// The range of the time after the recommended fix.
fn range(row: &Row<'_>) -> Option<[Nanos; 2]> {
    row.finding()?.remedies.first()?.promise?.range_s
}

/// The rate that the first promise rests on.
fn assumed(row: &Row<'_>) -> Option<Assumed> {
    row.finding()?.remedies.iter().find_map(|remedy| remedy.promise)?.assumed
}

/// Frames of all its evidence.
fn frames(row: &Row<'_>) -> Option<Vec<Frame>> {
    Some(row.finding()?.evidence.iter().flat_map(|evidence| &evidence.frames).copied().collect())
}

fn evidence() -> [Column; 3] {
    [
        ints("frames", "Frames of its evidence, in the evidence's order; two of one figure are a range.", |row| {
            Some(frames(row)?.iter().filter_map(|frame| i64::try_from(frame.number).ok()).collect())
        }),
        ints("frame_files", "For each of them its file, as `file_index` of the table `files` has it.", |row| {
            let file = row.capture_index().unwrap_or(0);
            let places = frames(row)?.into_iter().map(|frame| frame.file.map_or(file, usize::from));
            Some(places.filter_map(|place| i64::try_from(place).ok()).collect())
        }),
        text("evidence", "The figures that show it, with their units.", |row| {
            let figure = |one: &Measurement| {
                let (what, unit) = (words::measure(one, Lang::En), words::unit(one.unit, one.value, Lang::En));
                format!("{what} {} {unit}", one.value).trim_end().to_owned()
            };
            Some(row.finding()?.evidence.iter().map(figure).collect::<Vec<_>>().join("; "))
        }),
    ]
}

fn fix() -> [Column; 5] {
    fn fix<'a>(row: &Row<'a>) -> Option<&'a Remedy> {
        row.finding()?.remedy()
    }
    [
        text("fix_who", "The actor: sender, receiver, network, application, capture.", |row| {
            Some(actor(fix(row)?.actor))
        }),
        text("fix", "The recommended change.", |row| Some(words::action(&fix(row)?.action, Lang::En))),
        text("fix_command", "A command that does it, where there is one.", |row| fix(row)?.action.command()),
        text("fix_verify", "How to verify that it worked.", |row| {
            fix(row)?;
            words::verify(row.finding()?, Lang::En)
        }),
        text("to_confirm", "An observation that answers an open question.", |row| {
            words::to_confirm(row.finding()?, Lang::En)
        }),
    ]
}
