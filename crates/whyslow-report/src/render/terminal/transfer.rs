//! A transfer: size, duration, rate, where the time went, and why.

use super::finding::{self, Context};
use super::{rounds, timeline};
use crate::text::styles::DIM;
use crate::text::{Line, Page, units};
use crate::words::{self, Label};
use anstyle::Style;
use whyslow_analysis::{End, Transfer, Verdict};
use whyslow_units::Nanos;

/// `562,687 B down in 0.184 s = 24.4 Mbit/s`.
pub(super) fn figures(transfer: &Transfer) -> String {
    let way = match transfer.from {
        End::Client => "up",
        End::Server => "down",
    };
    let mut text = format!("{} {way}", units::bytes(transfer.bytes));
    // A text may have no times.
    if transfer.duration_s > Nanos::ZERO || transfer.rate_bps.is_some() {
        text += &format!(" in {}", units::seconds(transfer.duration_s));
    }
    if let Some(rate) = transfer.rate_bps {
        text += &format!(" = {}", units::rate(rate));
    }
    text
}

/// Everything under a transfer's figures: its label, its timeline, its findings. In `full`, every
/// round.
pub(super) fn print(page: &mut Page, transfer: &Transfer, full: bool) {
    print_label(page, None, transfer);
    print_body(page, transfer, full);
}

/// The transfer's number, if it is printed here, and its content.
pub(super) fn print_label(page: &mut Page, which: Option<&str>, transfer: &Transfer) {
    let parts: Vec<&str> = which.into_iter().chain(transfer.label.as_deref()).collect();
    if !parts.is_empty() {
        page.wrapped(&Line::new().pad(2), DIM, &parts.join(": "));
    }
}

/// Its timeline and its findings.
pub(super) fn print_body(page: &mut Page, transfer: &Transfer, full: bool) {
    timeline::print(page, transfer, full, 2);
    let is_unexplained = matches!(transfer.verdict, Verdict::Unknown | Verdict::Unexplained { .. });
    // A capture without usable times shows a round trip of nothing.
    let is_timed = transfer.path.round_trip_ms.value() != Some(0.0);
    if is_timed && (full || is_unexplained) {
        let label = Line::new().pad(2).styled(DIM, Label::Path.text(page.lang())).plain("  ");
        page.wrapped(&label, Style::new(), &words::path(&transfer.path, page.lang()));
    }
    for (index, cause) in transfer.findings.iter().enumerate() {
        page.gap();
        let shown = (index == 0).then_some(if full { usize::MAX } else { rounds::FEW });
        finding::print(page, cause, &Context { transfer: Some(transfer), rounds: shown });
    }
    if transfer.findings.is_empty() && full {
        page.gap();
        rounds::print(page, transfer, usize::MAX, 4);
    }
}
