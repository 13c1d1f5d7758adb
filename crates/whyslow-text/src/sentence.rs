//! Pieces of English sentences.

/// The text up to where it begins to explain itself: a colon, a semicolon, a bracket.
pub fn first_clause(text: &str) -> &str {
    let ends = [": ", "; ", " ("].into_iter().filter_map(|mark| text.find(mark));
    ends.min().map_or(text, |end| &text[..end])
}

/// The text with a capital first letter.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
