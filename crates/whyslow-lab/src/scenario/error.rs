//! What is wrong with a scenario, shown at the place where it is wrong.

use std::fmt;
use std::ops::Range;

/// A scenario that was refused. Nothing has been started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// The file, or what stands for it.
    pub file: String,
    /// 1-based line and column, when the place is known.
    pub place: Option<(usize, usize)>,
    /// The key, with its parents: `path.down.rate`.
    pub key: String,
    /// What is wrong.
    pub what: String,
    /// What is allowed.
    pub allowed: String,
    line: String,
    width: usize,
}

impl ScenarioError {
    /// An error about the whole file.
    pub fn whole(file: &str, what: impl Into<String>, allowed: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            place: None,
            key: String::new(),
            what: what.into(),
            allowed: allowed.into(),
            line: String::new(),
            width: 0,
        }
    }

    /// An error at `span` of `text`.
    pub(super) fn at(
        file: &str,
        text: &str,
        span: Option<Range<usize>>,
        key: String,
        what: String,
        allowed: String,
    ) -> Self {
        let mut error = Self { key, ..Self::whole(file, what, allowed) };
        let Some(span) = span.filter(|s| s.start <= text.len() && text.is_char_boundary(s.start)) else {
            return error;
        };
        let (before, rest) = text.split_at(span.start);
        let begin = before.rfind('\n').map_or(0, |i| i + 1);
        let end = rest.find('\n').map_or(text.len(), |i| span.start + i);
        error.line = text.get(begin..end).unwrap_or_default().to_owned();
        let column = text.get(begin..span.start).unwrap_or_default().chars().count() + 1;
        error.place = Some((before.matches('\n').count() + 1, column));
        let marked = text.get(span.start..span.end.min(end)).unwrap_or_default();
        error.width = marked.chars().count().max(1);
        error
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.key.as_str(), self.what.as_str()) {
            ("", what) => write!(f, "error: {what}")?,
            (key, what) => write!(f, "error: `{key}`: {what}")?,
        }
        match self.place {
            Some((line, column)) => {
                let margin = " ".repeat(line.to_string().len());
                let under = "^".repeat(self.width);
                let gap: String =
                    self.line.chars().take(column - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
                write!(f, "\n{margin}--> {}:{line}:{column}\n{margin} |\n{line} | {}", self.file, self.line)?;
                write!(f, "\n{margin} | {gap}{under}")?;
                if !self.allowed.is_empty() {
                    write!(f, "\n{margin} = allowed: {}", self.allowed)?;
                }
            }
            None => {
                write!(f, "\n --> {}", self.file)?;
                if !self.allowed.is_empty() {
                    write!(f, "\n  = allowed: {}", self.allowed)?;
                }
            }
        }
        Ok(())
    }
}

impl std::error::Error for ScenarioError {}
