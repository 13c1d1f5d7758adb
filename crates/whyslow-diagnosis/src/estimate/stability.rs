//! Whether flights or rates are the same all along.

/// Whether flights grow from the first half of them to the second by as much as congestion
/// avoidance would make them.
pub(crate) fn is_growing(tops: &[u64], mss: u64) -> bool {
    let direction = tops.len() / 2;
    let mean = |part: &[u64]| part.iter().sum::<u64>() as f64 / part.len().max(1) as f64;
    let rise = mean(&tops[tops.len() - direction..]) - mean(&tops[..direction]);
    rise > 0.2 * mss as f64 * (tops.len() - direction) as f64
}

/// Whether rates between these are one rate.
pub(crate) fn alike_rates(low: f64, high: f64) -> bool {
    low > 0.0 && high / low <= STEADY
}

/// Rates over equal amounts of bytes are steady if the upper tenth is at most this multiple of the
/// lower one. Follows from a coefficient of variation of 0.09: tenths are 1.28 deviations from the
/// mean. Half and twice the excess over 1 change 2 and 2 of 2,061 captures.
const STEADY: f64 = 1.25;
