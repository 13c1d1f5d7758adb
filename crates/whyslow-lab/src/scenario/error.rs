//! Errors in a scenario, shown at the place where they are.

use std::fmt;
use std::ops::Range;

/// A scenario that was refused. Nothing has been started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// The file, or its placeholder.
    pub file: String,
    /// The key, with its parents: `path.down.rate`; empty when the whole file is meant.
    pub key: String,
    /// The error.
    pub what: String,
    /// The allowed values.
    pub allowed: String,
    place: Option<Box<Place>>,
}

/// The place of the error.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    /// From 1.
    line: usize,
    /// From 1, in characters.
    column: usize,
    /// The line.
    text: String,
    /// Characters to underline.
    width: usize,
}

impl Place {
    fn new(text: &str, span: &Range<usize>) -> Option<Self> {
        let (before, rest) = text.split_at_checked(span.start)?;
        let begin = before.rfind('\n').map_or(0, |i| i + 1);
        let end = rest.find('\n').map_or(text.len(), |i| span.start + i);
        let marked = text.get(span.start..span.end.min(end)).unwrap_or_default();
        Some(Self {
            line: before.matches('\n').count() + 1,
            column: text.get(begin..span.start)?.chars().count() + 1,
            text: text.get(begin..end)?.to_owned(),
            width: marked.chars().count().max(1),
        })
    }
}

impl ScenarioError {
    /// An error about the whole file.
    pub fn whole(file: &str, what: impl Into<String>, allowed: impl Into<String>) -> Self {
        Self { file: file.to_owned(), key: String::new(), what: what.into(), allowed: allowed.into(), place: None }
    }

    /// The same error about `key`, at `span` of `text`.
    pub(super) fn at(self, key: &str, text: &str, span: Option<Range<usize>>) -> Self {
        let place = span.and_then(|span| Place::new(text, &span)).map(Box::new);
        Self { key: key.to_owned(), place, ..self }
    }

    /// Line and column, from 1, when the place is known.
    pub fn place(&self) -> Option<(usize, usize)> {
        self.place.as_ref().map(|p| (p.line, p.column))
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.key.as_str(), self.what.as_str()) {
            ("", what) => f.write_str(what)?,
            (key, what) => write!(f, "`{key}`: {what}")?,
        }
        let margin = match self.place.as_deref() {
            Some(Place { line, column, text, width }) => {
                let margin = " ".repeat(line.to_string().len());
                let under = "^".repeat(*width);
                let gap: String = text.chars().take(column - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
                write!(f, "\n{margin}--> {}:{line}:{column}\n{margin} |\n{line} | {text}", self.file)?;
                write!(f, "\n{margin} | {gap}{under}")?;
                margin
            }
            None => {
                write!(f, "\n --> {}", self.file)?;
                " ".to_owned()
            }
        };
        if self.allowed.is_empty() { Ok(()) } else { write!(f, "\n{margin} = allowed: {}", self.allowed) }
    }
}

impl std::error::Error for ScenarioError {}
