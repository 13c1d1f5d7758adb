//! [`Page`]: lines one under the other, with text wrapped at the page's width.

use super::{Lang, Line, width};
use anstyle::Style;

/// The least width of a text column, even if it makes the page wider than requested.
const MIN_ROOM: usize = 24;

/// A page under construction.
#[derive(Debug)]
pub struct Page {
    text: String,
    width: usize,
    lang: Lang,
}

impl Page {
    /// An empty page of this many columns, in English.
    pub fn new(width: usize) -> Self {
        Self { text: String::new(), width, lang: Lang::En }
    }

    /// The same page in another language.
    pub fn in_language(self, lang: Lang) -> Self {
        Self { lang, ..self }
    }

    /// Its language.
    pub fn lang(&self) -> Lang {
        self.lang
    }

    /// Its width in columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Adds a line.
    pub fn line(&mut self, line: &Line) {
        self.text += line.as_str().trim_end_matches(' ');
        self.text.push('\n');
    }

    /// Adds an empty line, unless the page is empty or ends with one.
    pub fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// Adds text after `head`, wrapped; its further lines begin at the column where its first one
    /// began.
    pub fn wrapped(&mut self, head: &Line, style: Style, text: &str) {
        self.hanging(head, style, text, head.width());
    }

    /// Adds text after `head`, wrapped; its further lines begin at column `indent`.
    pub fn hanging(&mut self, head: &Line, style: Style, text: &str, indent: usize) {
        let first = self.width.saturating_sub(head.width());
        let rest = self.width.saturating_sub(indent).max(MIN_ROOM);
        for (index, part) in wrap(text, first, rest).iter().enumerate() {
            let line = if index == 0 { head.clone() } else { Line::new().pad(indent) };
            self.line(&line.styled(style, part));
        }
    }

    /// The page.
    pub fn finish(self) -> String {
        self.text
    }
}

/// Units that stay with their figure.
const UNITS: &[&str] = &["B", "ns", "µs", "ms", "s", "min", "h", "%", "MSS", "bit/s", "kbit/s", "Mbit/s", "Gbit/s"];

/// The words of a text, a figure and its unit as one.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let is_unit = UNITS.contains(&word.trim_end_matches([',', '.', ':', ';', ')']));
        match words.last_mut().filter(|last| is_unit && last.ends_with(|c: char| c.is_ascii_digit())) {
            Some(figure) => *figure += &format!(" {word}"),
            None => words.push(word.to_owned()),
        }
    }
    words
}

/// Breaks a text into lines between words: the first of at most `first` columns, the others of
/// `rest`. A longer word has its own line and stays whole: it may be a command to copy. Returns at
/// least one line.
pub(crate) fn wrap(text: &str, first: usize, rest: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in words(text) {
        let room = if lines.len() == 1 { first } else { rest };
        let fits = lines.last().is_some_and(|line| {
            let blank = usize::from(!line.is_empty());
            width(line) + blank + width(&word) <= room || (line.is_empty() && lines.len() > 1)
        });
        if !fits {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&word);
        }
    }
    lines
}
