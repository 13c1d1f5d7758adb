//! The operation of an SQL statement without data: literals and comments are removed.

/// Longest label of a statement, characters.
const MAX_LABEL: usize = 90;

/// The statement with `?` for each literal and `?…` for a list of them. `quoted`: double quotes
/// enclose strings (MySQL) and not names. `is_cut`: more of the statement follows.
pub(super) fn fingerprint(sql: &[u8], quoted: bool, is_cut: bool) -> String {
    let mut out = Printer::default();
    let mut rest = sql;
    while let Some(&first) = rest.first() {
        if out.text.len() > MAX_LABEL {
            break;
        }
        let len = match (first, rest.get(1)) {
            // A backslash escapes in MySQL, and in other dialects only in strings with the prefix
            // E.
            (b'\'', _) => out.literal(quoted_len(rest, b'\'', quoted)),
            (b'"', _) if quoted => out.literal(quoted_len(rest, b'"', true)),
            (b'"' | b'`', _) => out.name(rest, quoted_len(rest, first, false)),
            (b'-', Some(b'-')) | (b'#', _) if first == b'-' || quoted => out.space(line_len(rest)),
            (b'/', Some(b'*')) => out.space(comment_len(rest)),
            (b'$', Some(digit)) if digit.is_ascii_digit() => out.literal(word_len(rest)),
            (b'$', _) => match dollar_len(rest) {
                Some(len) => out.literal(len),
                None => out.name(rest, 1),
            },
            (b'0'..=b'9', _) => out.literal(number_len(rest)),
            (b'E' | b'e' | b'B' | b'b' | b'X' | b'x' | b'N' | b'n', Some(b'\'')) => {
                let escapes = quoted || first.eq_ignore_ascii_case(&b'e');
                out.literal(1 + quoted_len(rest.get(1..).unwrap_or_default(), b'\'', escapes))
            }
            (b'?', _) => out.literal(1),
            _ if is_word(first) => out.name(rest, word_len(rest)),
            _ if first.is_ascii_whitespace() || first == 0 => out.space(1),
            _ => out.mark(first),
        };
        rest = rest.get(len.max(1)..).unwrap_or_default();
    }
    out.finish(is_cut || !rest.is_empty())
}

#[derive(Default)]
struct Printer {
    text: String,
    /// The last output was a literal, and possibly a comma after it.
    after_literal: bool,
    comma: bool,
    gap: bool,
}

impl Printer {
    fn literal(&mut self, len: usize) -> usize {
        if self.after_literal && self.comma {
            (self.comma, self.gap) = (false, false);
            if !self.text.ends_with('…') {
                self.text.push('…');
            }
            return len;
        }
        self.flush();
        self.text.push('?');
        self.after_literal = true;
        len
    }

    fn name(&mut self, bytes: &[u8], len: usize) -> usize {
        self.flush();
        let name = bytes.get(..len).unwrap_or(bytes);
        self.text.extend(name.iter().map(|&byte| if byte.is_ascii_graphic() { char::from(byte) } else { '?' }));
        self.after_literal = false;
        len
    }

    fn mark(&mut self, byte: u8) -> usize {
        if byte == b',' && self.after_literal && !self.comma {
            self.comma = true;
            return 1;
        }
        if byte == b';' {
            self.gap = !self.text.is_empty();
            return 1;
        }
        self.flush();
        self.text.push(if byte.is_ascii_graphic() { char::from(byte) } else { '?' });
        self.after_literal = false;
        1
    }

    fn space(&mut self, len: usize) -> usize {
        self.gap = !self.text.is_empty();
        len
    }

    /// Writes the pending output.
    fn flush(&mut self) {
        if std::mem::take(&mut self.comma) {
            self.text.push(',');
        }
        if std::mem::take(&mut self.gap) {
            self.text.push(' ');
        }
    }

    fn finish(mut self, is_cut: bool) -> String {
        if self.text.chars().count() > MAX_LABEL || is_cut {
            self.text = self.text.chars().take(MAX_LABEL - 1).collect();
            if !self.text.ends_with('…') {
                self.text.push('…');
            }
        }
        if self.text.is_empty() { "(empty statement)".to_owned() } else { self.text }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn word_len(bytes: &[u8]) -> usize {
    let is_part = |&byte: &u8| is_word(byte) || byte == b'$';
    bytes.iter().take_while(|byte| is_part(byte)).count()
}

/// Length of a number, with its fraction, exponent or prefix.
fn number_len(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'.').count()
}

/// Length up to and including the closing quote, or to the end.
fn quoted_len(bytes: &[u8], quote: u8, escapes: bool) -> usize {
    let mut at = 1;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        if byte == b'\\' && escapes {
            at += 1;
        } else if byte == quote {
            if bytes.get(at) != Some(&quote) {
                return at;
            }
            at += 1;
        }
    }
    bytes.len()
}

fn line_len(bytes: &[u8]) -> usize {
    bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len())
}

fn comment_len(bytes: &[u8]) -> usize {
    bytes.windows(2).skip(2).position(|pair| pair == b"*/").map_or(bytes.len(), |at| at + 4)
}

/// Length of a string between two equal `$tag$` (PostgreSQL).
fn dollar_len(bytes: &[u8]) -> Option<usize> {
    let tag_len = bytes.iter().skip(1).position(|&byte| byte == b'$')? + 2;
    let tag = bytes.get(..tag_len).filter(|tag| tag.len() <= 64)?;
    let is_tag = tag.get(1..tag_len - 1)?.iter().all(|&byte| is_word(byte));
    let rest = bytes.get(tag_len..)?;
    is_tag.then(|| rest.windows(tag_len).position(|at| at == tag).map_or(bytes.len(), |at| at + 2 * tag_len))
}

#[cfg(test)]
mod tests {
    use super::fingerprint;
    use proptest::prelude::*;

    #[test]
    fn literals_and_comments_are_removed() {
        for (sql, expected) in [
            ("SELECT * FROM users WHERE id = 42 AND name = 'O''Neil'", "SELECT * FROM users WHERE id = ? AND name = ?"),
            ("INSERT INTO t1 VALUES (1, E'a\\'b', 2.5e3), (2, $$x$$, $1)", "INSERT INTO t1 VALUES (?…), (?…)"),
            (
                "select /* secret */ a1 from \"My Table\" -- secret\n where x in (1,2,3);",
                "select a1 from \"My?Table\" where x in (?…)",
            ),
            ("SELECT E'secret', X'ff', $tag$ secret $tag$ + 1", "SELECT ?… + ?"),
            ("SELECT 'C:\\', 'secret'", "SELECT ?…"),
            ("SELECT 'never ends", "SELECT ?"),
            ("", "(empty statement)"),
        ] {
            assert_eq!(fingerprint(sql.as_bytes(), false, false), expected);
        }
        assert_eq!(fingerprint(b"SELECT \"secret\", `name`", true, false), "SELECT ?, `name`");
        assert_eq!(fingerprint(b"SELECT 'a\\'secret', 1", true, false), "SELECT ?…");
        assert_eq!(fingerprint(b"SELECT 'secr", false, true), "SELECT ?…");
    }

    proptest! {
        #[test]
        fn no_literal_is_ever_shown(parts in prop::collection::vec(prop_oneof![
            Just("'zqzq'"), Just("$a$zqzq$a$"), Just("/*zqzq*/"), Just("--zqzq\n"), Just("E'zqzq'"), Just("select"),
            Just(" "), Just(","), Just("("), Just("9"),
        ], 0..40)) {
            let sql = parts.join(" ");
            let label = fingerprint(sql.as_bytes(), false, false);
            prop_assert!(!label.contains("zqzq"), "{}", label);
            prop_assert!(label.chars().count() <= super::MAX_LABEL);
        }

        #[test]
        fn any_bytes_have_a_label(sql in prop::collection::vec(any::<u8>(), 0..300), quoted: bool, is_cut: bool) {
            let label = fingerprint(&sql, quoted, is_cut);
            prop_assert!(label.chars().count() <= super::MAX_LABEL + 1);
        }
    }
}
