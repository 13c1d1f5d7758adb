//! Letters of two transfers that are compared.

/// `A` or `B`.
pub(super) const fn letter(which: usize) -> &'static str {
    if which == 0 { "A" } else { "B" }
}
