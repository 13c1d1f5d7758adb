//! Text before every line of a capture: added by a log, a container runtime, or a mail.
//!
//! All lines of one program have the same words before them, except for the time and other numbers:
//! `Nov 22 10:00:00 host tcpdump[123]: `, `2026-01-01T10:00:00.123456789Z stdout F `, `pod-7 | `,
//! `[pod/x/c] `, `> `. A packet's first line shows them (`start`); this module removes them from
//! the lines that follow, which have no recognisable start.

use super::time::{self, TextTime};

/// Maximum number of words before a line.
pub(super) const MAX_WORDS: usize = 10;

/// A time that a log added before a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Logged {
    pub(super) stamp: TextTime,
    pub(super) digits: usize,
}

/// The words before a packet's line.
#[derive(Debug, Default)]
pub(super) struct Prefix {
    words: Vec<Word>,
}

#[derive(Debug)]
enum Word {
    /// A time, possibly of several words.
    Time,
    /// Another word, with each run of digits replaced by one zero.
    Other(Box<str>),
}

impl Prefix {
    /// Whether there is no prefix.
    pub(super) fn is_none(&self) -> bool {
        self.words.is_empty()
    }

    /// Sets the prefix to the text before a packet.
    pub(super) fn set(&mut self, before: &str) {
        self.words.clear();
        let mut rest = before;
        while let Some((word, after)) = next(rest) {
            if self.words.len() == MAX_WORDS {
                self.words.clear();
                return;
            }
            self.words.push(word);
            rest = after;
        }
        // Text directly attached to the packet's is not a separate word.
        if !before.ends_with([' ', '\t']) {
            self.words.clear();
        }
    }

    /// The line without the prefix, as the program wrote it, and the log's time in the prefix;
    /// `None` if the line does not have the prefix.
    pub(super) fn strip<'a>(&self, line: &'a str) -> Option<(&'a str, Option<Logged>)> {
        let (mut rest, mut logged) = (line, None);
        for word in &self.words {
            rest = rest.trim_start_matches([' ', '\t']);
            match word {
                Word::Time => {
                    let time = time::parse(rest).or_else(|| time::parse_all(rest))?;
                    logged = logged.or(Some(Logged { stamp: time.stamp, digits: time.digits }));
                    rest = rest.get(time.len..)?;
                }
                Word::Other(mask) => {
                    let end = rest.find([' ', '\t']).unwrap_or(rest.len());
                    let (found, after) = rest.split_at(end);
                    if !is_masked(found, mask) {
                        return None;
                    }
                    rest = after;
                }
            }
        }
        let line = rest.strip_prefix([' ', '\t']).unwrap_or(rest);
        // rsyslog writes a tab like this.
        let line = line.strip_prefix("#011").unwrap_or(line);
        (!self.words.is_empty()).then_some((line, logged))
    }
}

/// The first word of `text`, and the text after it.
fn next(text: &str) -> Option<(Word, &str)> {
    let text = text.trim_start_matches([' ', '\t']);
    if let Some(time) = time::parse(text) {
        return Some((Word::Time, text.get(time.len..)?));
    }
    let end = text.find([' ', '\t']).unwrap_or(text.len());
    let (word, after) = text.split_at(end);
    (!word.is_empty()).then(|| (Word::Other(mask(word)), after))
}

fn mask(word: &str) -> Box<str> {
    let mut out = String::with_capacity(word.len());
    masked(word).for_each(|c| out.push(c));
    out.into()
}

fn is_masked(word: &str, mask: &str) -> bool {
    masked(word).eq(mask.chars())
}

fn masked(word: &str) -> impl Iterator<Item = char> {
    let mut in_digits = false;
    word.chars().filter_map(move |c| {
        let digit = c.is_ascii_digit();
        let first = !std::mem::replace(&mut in_digits, digit);
        match digit {
            true if first => Some('0'),
            true => None,
            false => Some(c),
        }
    })
}
