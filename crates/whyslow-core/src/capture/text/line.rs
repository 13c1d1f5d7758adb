//! Restores a pasted line to the line that tcpdump wrote.
//!
//! Handles the changes that web pages, terminals and mails make to text: non-breaking spaces, HTML
//! entities, ANSI colours, CRLF, invalid bytes. Ignores the contents of the line.

/// `bytes` (without the line feed) as clean text; uses `scratch` if a change is needed.
pub(super) fn clean<'a>(bytes: &'a [u8], scratch: &'a mut String) -> &'a str {
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    let plain = bytes.iter().all(|&b| matches!(b, b'\t' | b' '..=b'~') && b != b'&');
    if let (true, Ok(text)) = (plain, std::str::from_utf8(bytes)) {
        return text;
    }
    scratch.clear();
    for chunk in bytes.utf8_chunks() {
        clean_valid(chunk.valid(), scratch);
        // Latin-1 pages write the non-breaking space as a single 0xA0.
        scratch.extend(chunk.invalid().iter().map(|&b| if b == 0xa0 { ' ' } else { char::REPLACEMENT_CHARACTER }));
    }
    scratch
}

fn clean_valid(mut text: &str, out: &mut String) {
    while let Some(c) = text.chars().next() {
        text = &text[c.len_utf8()..];
        match c {
            '&' => {
                let (c, rest) = entity(text);
                out.push(c);
                text = rest;
            }
            '\x1b' => text = after_escape(text),
            '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => out.push(' '),
            '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' => {}
            '\u{ff1e}' | '\u{203a}' => out.push('>'),
            '\t' => out.push('\t'),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
}

/// The character for the entity at the start of `text` (after `&`), and the text after it. Also
/// decodes entities that were escaped twice.
fn entity(text: &str) -> (char, &str) {
    const ENTITIES: [(&str, char); 12] = [
        ("gt;", '>'),
        ("lt;", '<'),
        ("nbsp;", ' '),
        ("quot;", '"'),
        ("apos;", '\''),
        ("#62;", '>'),
        ("#60;", '<'),
        ("#160;", ' '),
        ("#39;", '\''),
        ("#34;", '"'),
        ("#x3e;", '>'),
        ("#x27;", '\''),
    ];
    let mut rest = text;
    while let Some(after) = rest.strip_prefix("amp;") {
        rest = after;
    }
    for (name, c) in ENTITIES {
        if let Some(after) = rest.strip_prefix(name) {
            return (c, after);
        }
    }
    ('&', rest)
}

/// The text after a terminal escape sequence whose ESC was already consumed (ECMA-48: CSI, OSC or
/// two characters).
fn after_escape(text: &str) -> &str {
    let end = match text.as_bytes().first() {
        Some(b'[') => text.bytes().skip(1).position(|b| (0x40..=0x7e).contains(&b)).map(|at| at + 2),
        Some(b']') => text.find('\x07').map(|at| at + 1).or_else(|| text.find("\x1b\\").map(|at| at + 2)),
        Some(b) if b.is_ascii() => Some(1),
        _ => None,
    };
    end.and_then(|at| text.get(at..)).unwrap_or(text)
}

/// Whether the line marks omitted packets: only dots or ellipses, possibly in brackets or after a
/// comment sign, or a word for it.
pub(super) fn is_ellipsis(line: &str) -> bool {
    let decoration = |c: char| c.is_whitespace() || "[](){}<>#/|-*_`\"'".contains(c);
    let core = line.trim_matches(decoration);
    if core.is_empty() {
        return false;
    }
    let dots = core.chars().filter(|c| matches!(c, '.' | '·' | '。')).count();
    let long = core.chars().filter(|c| matches!(c, '…' | '⋮' | '⋯' | '︙')).count();
    if core.chars().all(|c| matches!(c, '.' | '·' | '。' | '…' | '⋮' | '⋯' | '︙' | ' ')) {
        return dots >= 3 || long > 0;
    }
    const WORDS: [&str; 10] =
        ["snip", "snipped", "omitted", "elided", "cut", "skipped", "省略", "略", "中略", "此处省略"];
    let word = core.trim_matches(|c: char| decoration(c) || ".…。".contains(c)).to_lowercase();
    WORDS.contains(&word.as_str())
}

/// Whether the line is almost certainly a TCP segment, wherever it is.
pub(super) fn is_packet(line: &str) -> bool {
    line.contains(" > ") && line.contains(": Flags [") && (line.contains(", win ") || line.contains(", length "))
}
