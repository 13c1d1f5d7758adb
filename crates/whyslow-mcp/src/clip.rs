//! Text from captures, of bounded length and harmless.

use whyslow_report::text::harmless;

/// Longest name or label of a capture, in characters: a URL with its query may have kilobytes.
const LONGEST: usize = 120;
/// Longest sentence.
const SENTENCE: usize = 600;

/// A name, as one line of at most 120 characters.
pub(crate) fn name(text: &str) -> String {
    clip(text, LONGEST)
}

/// A sentence, as one line of at most 600 characters.
pub(crate) fn sentence(text: &str) -> String {
    clip(text, SENTENCE)
}

fn clip(text: &str, most: usize) -> String {
    let text = harmless(text);
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn long_and_hidden_text_is_cut_and_written_out() {
        assert_eq!(super::name("a\u{202e}b\nc"), "a\\u{202e}b\\u{a}c");
        let cut = super::name(&"é".repeat(500));
        assert_eq!(cut.chars().count(), 121);
        assert!(cut.ends_with('…'));
    }
}
