//! Causes that one capture cannot distinguish.

/// Either is right for the other.
const INDISTINGUISHABLE: &[[&str; 2]] = &[
    ["server-think", "proxy-split"],
    // A far connection without the rounds of slow start behind a proxy is a program that gets its
    // data in pieces.
    ["application", "proxy-split"],
    ["zero-window", "host-cpu"],
    // The special case is right for the general one.
    ["loss", "random-loss"],
    ["bandwidth", "shaper"],
];

/// Whether one capture cannot distinguish two causes.
pub fn are_alike(one: &str, other: &str) -> bool {
    INDISTINGUISHABLE.iter().any(|pair| pair.contains(&one) && pair.contains(&other))
}
