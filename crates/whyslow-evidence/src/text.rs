//! [`Text`]: a pasted text without what mails and terminals add to it.

/// A cleaned text.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    text: &'a str,
}

impl<'a> Text<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text }
    }

    /// All of it.
    pub(crate) fn all(self) -> &'a str {
        self.text
    }

    /// Its lines.
    pub(crate) fn lines(self) -> impl Iterator<Item = &'a str> {
        self.text.lines()
    }
}

/// Without quoting marks (`> `), colours, carriage returns and no-break spaces.
pub(crate) fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split(['\n', '\r']) {
        let mut rest = line;
        while let Some(inner) = rest.trim_start().strip_prefix('>') {
            rest = inner;
        }
        push_line(&mut out, rest);
        out.push('\n');
    }
    out
}

fn push_line(out: &mut String, line: &str) {
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            // A colour: ESC [ … letter.
            '\u{1b}' => while chars.next().is_some_and(|c| !c.is_ascii_alphabetic()) {},
            '\u{a0}' | '\u{202f}' | '\t' => out.push(' '),
            '\u{feff}' | '`' => {}
            c => out.push(c),
        }
    }
}

/// A number at the beginning, and the rest. A decimal comma is read as a point.
pub(crate) fn number(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ',')).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let digits = digits.trim_end_matches([',', '.']);
    let value: f64 = digits.replace(',', ".").parse().ok()?;
    (value.is_finite() && value < 1e18).then_some((value, rest))
}

/// A whole number, all of the text.
pub(crate) fn whole(text: &str) -> Option<u64> {
    (!text.is_empty() && text.len() <= 18).then(|| text.parse().ok()).flatten()
}

/// A number with a prefix of bits or bytes (`1.2Gbps`, `94.2 Mbits/sec`), in the unit without it.
pub(crate) fn scaled(value: f64, unit: &str, kilo: f64) -> f64 {
    match unit.chars().next() {
        Some('K' | 'k') => value * kilo,
        Some('M') => value * kilo.powi(2),
        Some('G') => value * kilo.powi(3),
        Some('T') => value * kilo.powi(4),
        _ => value,
    }
}

/// Seconds of the day, or since the epoch, that a line gives: `date`, `watch`, ISO 8601, a time in
/// front of a line, seconds since the epoch alone on it.
pub(crate) fn time(line: &str) -> Option<f64> {
    let trimmed = line.trim();
    if let Some((value, "")) = number(trimmed).filter(|(value, _)| (1e9..4e9).contains(value)) {
        return Some(value);
    }
    let day = trimmed.split(['T', ' ']).find_map(date).unwrap_or(0.0);
    trimmed.split(['T', ' ', '[', ']']).find_map(clock).map(|seconds| day + seconds)
}

/// `2024-05-01`: seconds, in months of 31 days, for differences within one.
fn date(word: &str) -> Option<f64> {
    let mut parts = word.split('-').map(whole);
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    ((1901..=9999).contains(&year) && month <= 12 && day <= 31)
        .then(|| (((year * 12 + month) * 31 + day) * 86_400) as f64)
}

/// `10:15:01.25`, with or without a zone.
fn clock(word: &str) -> Option<f64> {
    let word = word.trim_end_matches([':', 'Z', ',', ';']);
    let word = word.split(['+', 'Z']).next()?;
    let mut parts = word.split(':');
    let (hour, minute, second) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || hour.len() > 2 || minute.len() != 2 {
        return None;
    }
    let (hour, minute) = (whole(hour)?, whole(minute)?);
    let (second, rest) = number(second)?;
    (hour < 24 && minute < 60 && second < 61.0 && rest.is_empty()).then(|| (hour * 3600 + minute * 60) as f64 + second)
}
