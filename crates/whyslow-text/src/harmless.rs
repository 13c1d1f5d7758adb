//! [`harmless`]: makes text from a capture, or a file's name, safe to show.
//!
//! Such text is under somebody else's control and may hold invisible characters that change how the
//! rest is displayed. They are written out, as `\u{202e}`, wherever text is shown: in the terminal,
//! on stderr, in Markdown, SVG, xplot files and JSON meant for people. These are:
//!
//! - controls (Unicode category Cc): C0 with ESC, DEL, and C1, which steer a terminal; a tab
//!   becomes a blank;
//! - line and paragraph separators (Zl, Zp), which end a line for some programs and not for others;
//! - characters without a shape (Unicode's `Default_Ignorable_Code_Point`, UAX #44): everything
//!   that changes the reading order (U+061C, U+200E, U+200F, U+202A–U+202E, U+2066–U+2069), the
//!   zero-width blank, joiners and U+FEFF, the soft hyphen, fillers, variation selectors and tags,
//!   which make two different names look the same or hide text in one;
//! - interlinear annotations (U+FFF9–U+FFFB), which hide annotated text.
//!
//! Letters of any script are left alone, and so are blanks of any width.

use std::borrow::Cow;

/// Whether a character is written out; see the module.
pub fn is_hidden(c: char) -> bool {
    // Nearly all text is ASCII.
    if c.is_ascii() { c.is_ascii_control() } else { c.is_control() || is_shapeless(c) }
}

fn is_shapeless(c: char) -> bool {
    matches!(c,
        '\u{2028}' | '\u{2029}'
        | '\u{fff9}'..='\u{fffb}'
        // Default_Ignorable_Code_Point.
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The text as one line with every hidden character written out.
pub fn harmless(text: &str) -> Cow<'_, str> {
    written_out(text, is_hidden)
}

/// The same for a text of several lines, whose line feeds stay.
pub fn harmless_lines(text: &str) -> Cow<'_, str> {
    written_out(text, |c| c != '\n' && is_hidden(c))
}

/// The same for a page of several lines with styles: line feeds and SGR sequences (ECMA-48 8.3.117,
/// `ESC [ 1 ; 31 m`) stay.
pub fn harmless_page(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        let (before, sequence) = rest.split_at(at);
        let length = sgr(sequence);
        out += &harmless_lines(before);
        out += match length {
            0 => "\\u{1b}",
            length => sequence.get(..length).unwrap_or_default(),
        };
        rest = sequence.get(length.max(1)..).unwrap_or_default();
    }
    if out.is_empty() {
        return harmless_lines(text);
    }
    out += &harmless_lines(rest);
    Cow::Owned(out)
}

/// The length of the SGR sequence at the beginning of a text; 0 if there is none.
fn sgr(text: &str) -> usize {
    let Some(parameters) = text.strip_prefix("\u{1b}[") else { return 0 };
    let length = parameters.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
    if parameters.as_bytes().get(length) == Some(&b'm') { 2 + length + 1 } else { 0 }
}

fn written_out(text: &str, is_hidden: impl Fn(char) -> bool + Copy) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\t' => out.push(' '),
            c if is_hidden(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}
