//! The kernel's account as rows of blocks, one for each figure.
//!
//! For an upload it shows the sender: bytes acknowledged, congestion window, round trip, unsent
//! bytes. For a download it shows the receiver: bytes received, its own window, segments out of
//! order. The sender's fields of a receiver are not shown: they have another meaning.

use super::kernel::is_upload;
use crate::client::exchange::Hop;
use crate::client::sampler::Sample;
use std::time::Duration;
use whyslow_report::text::{Line, Page, units};

/// Heights.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Columns of a row's name.
const NAME: usize = 16;
/// Columns behind a row.
const TAIL: usize = 24;
/// Fewer samples are not enough for a picture.
const LEAST: usize = 4;

struct Row {
    name: &'static str,
    values: Vec<Option<f64>>,
    unit: &'static str,
}

/// Prints the picture, where there is one.
pub(super) fn print(page: &mut Page, hop: &Hop, indent: usize) {
    if hop.samples.len() < LEAST {
        return;
    }
    let columns = page.width().saturating_sub(indent + NAME + TAIL).clamp(16, 60);
    let rows: Vec<_> =
        rows(hop, columns).into_iter().filter(|row| row.values.iter().flatten().any(|v| *v > 0.0)).collect();
    if rows.is_empty() {
        return;
    }
    page.gap();
    let whose = if is_upload(hop) { "sender" } else { "receiver" };
    let head = format!(
        "the kernel's account (TCP_INFO), as the {whose}, over {}",
        units::figure(hop.times.total.as_secs_f64(), "s")
    );
    page.line(&Line::new().pad(indent).plain(&head));
    for row in rows {
        let most = row.values.iter().flatten().copied().fold(0.0, f64::max);
        let blocks: String = row.values.iter().map(|value| block(*value, most)).collect();
        let most = format!("{} at most", units::figure(most, row.unit));
        page.line(
            &Line::new().pad(indent + 2).plain(row.name).pad(indent + NAME).plain(&blocks).plain("  ").plain(&most),
        );
    }
}

fn block(value: Option<f64>, most: f64) -> char {
    match value {
        None => ' ',
        Some(value) if value <= 0.0 => ' ',
        Some(value) => BLOCKS[((value / most * 7.0).round() as usize).min(7)],
    }
}

fn rows(hop: &Hop, columns: usize) -> Vec<Row> {
    let column = Columns { hop, columns };
    let rate = |name, get| Row { name, values: column.growth(get), unit: "bit/s" };
    let level = |name, unit, get| Row { name, values: column.level(get), unit };
    if is_upload(hop) {
        vec![
            rate("acknowledged", |sample| Some(sample.info.bytes_acked? as f64)),
            level("cwnd", "B", |sample| Some(f64::from(sample.info.snd_cwnd?) * f64::from(sample.info.snd_mss?))),
            level("round trip", "s", |sample| Some(f64::from(sample.info.rtt?) / 1e6)),
            level("not yet sent", "B", |sample| sample.info.notsent_bytes.map(f64::from)),
            level("retransmitted", "segments", |sample| sample.info.total_retrans.map(f64::from)),
        ]
    } else {
        vec![
            rate("received", |sample| Some(sample.info.bytes_received? as f64)),
            level("own window", "B", |sample| sample.info.rcv_wnd.map(f64::from)),
            level("out of order", "segments", |sample| sample.info.rcv_ooopack.map(f64::from)),
        ]
    }
}

/// The request's time in this many columns.
struct Columns<'a> {
    hop: &'a Hop,
    columns: usize,
}

impl Columns<'_> {
    fn width(&self) -> f64 {
        (self.hop.times.total.as_secs_f64() / self.columns as f64).max(1e-9)
    }

    /// The last value by the end of each column.
    fn level(&self, get: fn(&Sample) -> Option<f64>) -> Vec<Option<f64>> {
        let ends =
            (1..=self.columns).map(|column| self.hop.began + Duration::from_secs_f64(column as f64 * self.width()));
        ends.map(|end| {
            let index = self.hop.samples.partition_point(|sample| sample.at <= end);
            get(self.hop.samples.get(index.checked_sub(1)?)?)
        })
        .collect()
    }

    /// Bits per second in each column.
    fn growth(&self, get: fn(&Sample) -> Option<f64>) -> Vec<Option<f64>> {
        let mut before: Option<f64> = None;
        let grow = |value: Option<f64>| {
            let grown = before.zip(value).map(|(before, now)| (now - before) * 8.0 / self.width());
            before = value.or(before);
            grown
        };
        self.level(get).into_iter().map(grow).collect()
    }
}
