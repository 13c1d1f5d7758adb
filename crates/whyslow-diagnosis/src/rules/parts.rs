//! Constructors of findings and their parts, and figures as text.

use std::net::{IpAddr, SocketAddr};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Action, Actor, Finding, Frame, Measure, Measurement, Question, Remedy, Statement, Unit};
use whyslow_units::Nanos;

/// A finding to which evidence and remedies are added.
pub(crate) fn finding(cause: Cause, cost_s: Nanos, confidence: f64, statement: impl Into<Statement>) -> Finding {
    Finding::new(cause, cost_s, confidence, statement)
}

/// A measured value with the frames that show it.
pub(crate) fn evidence(kind: Measure, value: f64, unit: Unit, frames: &[Frame]) -> Measurement {
    let value = if value.is_finite() { (value * 1e6).round() / 1e6 } else { 0.0 };
    Measurement { frames: frames.to_vec(), kind, value, unit }
}

/// The one remedy of a finding.
pub(super) fn remedy(actor: Actor, action: impl Into<Action>) -> Vec<Remedy> {
    vec![Remedy::new(actor, action)]
}

/// One open question.
pub(super) fn confirm(question: impl Into<Question>) -> Vec<Question> {
    vec![question.into()]
}

/// `1234567` → `1,234,567`.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A time with three figures: `25.7 ms`, `1.02 s`.
pub(crate) fn time(time: Nanos) -> String {
    let ms = time.as_millis_f64();
    match ms.abs() {
        ms_abs if ms_abs < 10.0 => format!("{ms:.2} ms"),
        ms_abs if ms_abs < 100.0 => format!("{ms:.1} ms"),
        ms_abs if ms_abs < 1_000.0 => format!("{ms:.0} ms"),
        _ => format!("{:.2} s", ms / 1e3),
    }
}

/// `3 rounds`, `1 round`.
pub(crate) fn count(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {what}{plural}", thousands(number))
}

/// An end as one writes it; a port that is not known is left out.
pub(super) fn end((address, port): (IpAddr, u16)) -> String {
    match (address, port) {
        (address, 0) => address.to_string(),
        (address, port) => SocketAddr::new(address, port).to_string(),
    }
}

/// Bits per second of a window's worth of bytes a round trip.
pub(super) fn window_rate(bytes: u64, rtt: Nanos) -> f64 {
    if rtt > Nanos::ZERO { bytes as f64 * 8.0 / rtt.as_secs_f64() } else { 0.0 }
}
