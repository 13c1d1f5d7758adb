//! The words and signs of a filter, and where they stand.

use super::error::SyntaxError;
use std::ops::Range;

/// A word or sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub kind: Kind,
    /// Bytes of the text.
    pub span: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Open,
    Close,
    And,
    Or,
    Not,
    /// `==`, `!=`, `<`, `<=`, `>`, `>=` and their names.
    Operator(&'static str),
    /// A name, an address or a number.
    Word(String),
}

/// Signs, the longer ones first.
const SIGNS: &[(&str, Kind)] = &[
    ("&&", Kind::And),
    ("||", Kind::Or),
    ("==", Kind::Operator("==")),
    ("!=", Kind::Operator("!=")),
    ("<=", Kind::Operator("<=")),
    (">=", Kind::Operator(">=")),
    ("<", Kind::Operator("<")),
    (">", Kind::Operator(">")),
    ("=", Kind::Operator("==")),
    ("!", Kind::Not),
    ("(", Kind::Open),
    (")", Kind::Close),
];

/// Takes a text apart.
///
/// # Errors
/// At a character that no filter has.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, SyntaxError> {
    let mut tokens = Vec::new();
    let mut start = 0;
    while let Some(rest) = text.get(start..).filter(|rest| !rest.is_empty()) {
        let Some(first) = rest.chars().next() else { break };
        if first.is_whitespace() {
            start += first.len_utf8();
            continue;
        }
        let (kind, length) = match SIGNS.iter().find(|(sign, _)| rest.starts_with(sign)) {
            Some((sign, kind)) => (kind.clone(), sign.len()),
            None => {
                let length = rest.find(|c: char| !is_of_word(c)).unwrap_or(rest.len());
                if length == 0 {
                    let span = start..start + first.len_utf8();
                    return Err(SyntaxError::new(span, format!("`{first}` is not part of a filter")));
                }
                (word(&rest[..length]), length)
            }
        };
        tokens.push(Token { kind, span: start..start + length });
        start += length;
    }
    Ok(tokens)
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '.' | ':' | '/' | '-' | '_' | '%')
}

fn word(text: &str) -> Kind {
    match text {
        "and" => Kind::And,
        "or" => Kind::Or,
        "not" => Kind::Not,
        "eq" => Kind::Operator("=="),
        "ne" => Kind::Operator("!="),
        "lt" => Kind::Operator("<"),
        "le" => Kind::Operator("<="),
        "gt" => Kind::Operator(">"),
        "ge" => Kind::Operator(">="),
        other => Kind::Word(other.to_owned()),
    }
}
