//! The styles of a page for the terminal.

use anstyle::{AnsiColor, Effects, Style};

/// Headings, names, main figures.
pub const BOLD: Style = Style::new().effects(Effects::BOLD);
/// Labels, frame numbers, counts of omitted rows.
pub const DIM: Style = Style::new().effects(Effects::DIMMED);
/// Nothing is wrong.
pub const GOOD: Style = AnsiColor::Green.on_default().effects(Effects::BOLD);
/// The verdict is unknown.
pub const UNSURE: Style = AnsiColor::Yellow.on_default().effects(Effects::BOLD);
/// Something is wrong, or missing.
pub const WARNING: Style = AnsiColor::Red.on_default();
/// A command to copy.
pub const COMMAND: Style = AnsiColor::Cyan.on_default();
