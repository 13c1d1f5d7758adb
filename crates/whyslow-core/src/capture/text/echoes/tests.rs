#![allow(clippy::unwrap_used)]

use super::*;

const A: End = (std::net::IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1)), 40_000);
const B: End = (std::net::IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2)), 80);

/// Segments of a conversation: time in milliseconds, whether A sends it, its timestamp and its
/// echo.
fn missing(segments: &[(i64, bool, u32, u32)]) -> Vec<(i64, i64)> {
    let mut echoes = TimestampEchoes::new();
    let mut found = Vec::new();
    for &(ms, up, value, echo) in segments {
        let (from, to) = if up { (A, B) } else { (B, A) };
        let stamps = SegmentTimestamps { from, to, value, echo: (echo > 0).then_some(echo) };
        if let Some((from, until)) = echoes.observe(&stamps, Time::from_millis(ms)) {
            found.push((from.0 / 1_000_000, until.0 / 1_000_000));
        }
    }
    found
}

#[test]
fn complete_conversation_lacks_no_packet() {
    let whole =
        [(0, true, 100, 0), (20, false, 900, 100), (21, true, 121, 900), (22, true, 122, 900), (41, false, 921, 121)];
    assert_eq!(missing(&whole), []);
    // From the middle on, earlier segments are unknown.
    assert_eq!(missing(&whole[2..]), []);
}

#[test]
fn echoed_segment_that_is_not_shown_is_missing() {
    // Without the segment that has 121.
    let cut =
        [(0, true, 100, 0), (20, false, 900, 100), (30, true, 130, 900), (41, false, 921, 121), (50, false, 930, 130)];
    assert_eq!(missing(&cut), [(0, 30)]);
    // The text has no later segment of that side.
    assert_eq!(missing(&[(0, true, 100, 0), (41, false, 921, 121)]), [(0, 41)]);
}

#[test]
fn values_wrap_around() {
    let top = u32::MAX;
    assert_eq!(missing(&[(0, true, top, 0), (9, true, 5, 0), (20, false, 9, top), (21, false, 9, 5)]), []);
    assert_eq!(missing(&[(0, true, top, 0), (9, true, 5, 0), (20, false, 9, 2)]), [(0, 9)]);
}

#[test]
fn reused_ends_are_a_new_conversation() {
    let again =
        [(0, true, 5_000, 0), (9, false, 70, 5_000), (900, true, 10, 0), (920, false, 80, 10), (930, true, 12, 80)];
    assert_eq!(missing(&again), []);
}

#[test]
fn memory_is_bounded() {
    let mut echoes = TimestampEchoes::new();
    for n in 0..10_000_u16 {
        for value in 0..3 {
            let stamps = SegmentTimestamps { from: (A.0, n), to: B, value, echo: Some(1) };
            echoes.observe(&stamps, Time::ZERO);
        }
    }
    assert_eq!((echoes.table.len(), echoes.order.len()), (MAX_CONVERSATIONS, MAX_CONVERSATIONS));
    for value in 0..5_000 {
        echoes.observe(&SegmentTimestamps { from: A, to: B, value, echo: None }, Time::ZERO);
    }
    assert!(echoes.table.values().all(|sent| sent.len() <= MAX_VALUES));
}
