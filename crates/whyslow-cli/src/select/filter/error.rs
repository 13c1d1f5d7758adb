//! [`SyntaxError`]: what is wrong with a filter, and where.

use std::fmt::Write;
use std::ops::Range;
use whyslow_report::text::{harmless, width};

/// The error, and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SyntaxError {
    span: Range<usize>,
    what: String,
    help: Option<String>,
}

impl SyntaxError {
    pub(super) fn new(span: Range<usize>, what: impl Into<String>) -> Self {
        Self { span, what: what.into(), help: None }
    }

    /// The same with what to write instead.
    #[must_use]
    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The text with a caret under the place.
    pub(super) fn show(&self, text: &str) -> String {
        let before = text.get(..self.span.start).unwrap_or(text);
        let marked = text.get(self.span.clone()).unwrap_or_default();
        let blanks = " ".repeat(width(&harmless(before)));
        let carets = "^".repeat(width(&harmless(marked)).max(1));
        let mut shown = format!("{}\n  |\n  | {}\n  | {blanks}{carets}", self.what, harmless(text));
        if let Some(help) = &self.help {
            // Writing to a string cannot fail.
            let _ = write!(shown, "\n  = help: {help}");
        }
        shown
    }
}
