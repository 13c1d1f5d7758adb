//! Text as `whyslow_text` lays it out, with the analysis' times.

pub use whyslow_text::{
    Align, Column, Line, Page, Table, capitalised, first_clause, harmless, harmless_lines, harmless_page, is_hidden,
    styles, width,
};

/// Numbers as text, with a unit that fits.
pub mod units {
    pub use whyslow_text::units::{bytes, count, figure, millis, rate, share, thousands};
    use whyslow_units::Nanos;

    /// A duration in seconds, to the millisecond while that matters: `0.184 s`, `63.21 s`,
    /// `4,512 s`. Below 10 ms it is in milliseconds.
    pub fn seconds(time: Nanos) -> String {
        whyslow_text::units::seconds(time.0)
    }

    /// A duration to three digits, in a unit that fits: `340 µs`, `25.8 ms`, `1.02 s`,
    /// `4 min 12 s`, `3 h 05 min`.
    pub fn span(time: Nanos) -> String {
        whyslow_text::units::span(time.0)
    }

    /// A duration where room is short: whole milliseconds from 10 ms on.
    pub fn short(time: Nanos) -> String {
        whyslow_text::units::short(time.0)
    }
}
