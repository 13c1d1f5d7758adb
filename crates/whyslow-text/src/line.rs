//! [`Line`]: a line under construction, and its width.

use super::harmless;
use anstyle::Style;
use unicode_width::UnicodeWidthStr;

/// The width of a text in a terminal, in columns.
pub fn width(text: &str) -> usize {
    text.width()
}

/// One line: text with styles, and its width in columns.
#[derive(Clone, Debug, Default)]
pub struct Line {
    text: String,
    width: usize,
}

impl Line {
    /// An empty line.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds plain text, made harmless.
    #[must_use]
    pub fn plain(self, text: &str) -> Self {
        self.styled(Style::new(), text)
    }

    /// Adds text in a style, made harmless.
    #[must_use]
    pub fn styled(mut self, style: Style, text: &str) -> Self {
        if text.is_empty() {
            return self;
        }
        let text = harmless(text);
        self.width += width(&text);
        self.text += &format!("{style}{text}{style:#}");
        self
    }

    /// Adds another line's content.
    #[must_use]
    pub fn line(mut self, other: &Self) -> Self {
        self.width += other.width;
        self.text += &other.text;
        self
    }

    /// Adds blanks up to a column, if the line is shorter.
    #[must_use]
    pub fn pad(mut self, column: usize) -> Self {
        let missing = column.saturating_sub(self.width);
        self.text.extend(std::iter::repeat_n(' ', missing));
        self.width += missing;
        self
    }

    /// Adds another line's content so that it ends at a column, after one blank at least.
    #[must_use]
    pub fn right(self, column: usize, other: &Self) -> Self {
        let start = column.saturating_sub(other.width).max(self.width + 1);
        self.pad(start).line(other)
    }

    /// Its width in columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The text with its styles.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}
