//! Synthetic transfers for the tests of estimates and limits.

use super::Context;
use whyslow_core::tcp::facts::{Release, RoundFacts, SendPause, TransferFacts};
use whyslow_units::{Nanos, Time};

/// Segment size, bytes.
pub(crate) const MSS: u64 = 1000;

pub(crate) fn context(rtt_ms: i64) -> Context {
    Context {
        mss: MSS,
        rtt: Some(Nanos::from_millis(rtt_ms)),
        epsilon: Nanos::from_millis(rtt_ms.max(10) / 10),
        one_direction: false,
        elided: false,
        encrypted: false,
        is_quic: false,
        near_receiver: false,
        has_timestamps: true,
        next_to_receiver: false,
        opening_seen: true,
        small_window: None,
        is_announced: false,
        announces_length: false,
        is_http2: false,
        first_loss: None,
        largest_flight: 0,
        server_push: Default::default(),
        is_multipath: false,
        path_rate: None,
        pooled_rate: None,
    }
}

/// A transfer of these flights, a round trip of 100 ms apart, each but the last followed by a wait
/// for an ACK.
pub(crate) fn flights(sizes: &[u64], release: Release) -> TransferFacts {
    let at = |index: usize| Time::from_millis(100 * index as i64);
    let rounds: Vec<RoundFacts> = sizes
        .iter()
        .enumerate()
        .map(|(index, &bytes)| RoundFacts {
            start: at(index),
            last_send: at(index),
            bytes,
            in_flight: bytes,
            window: Some(1_000_000),
            merged: 1,
            ..RoundFacts::default()
        })
        .collect();
    let gaps = (1..sizes.len()).map(|index| gap(at(index - 1), at(index), release)).collect();
    TransferFacts {
        seq: (1, 1 + sizes.iter().sum::<u64>()),
        end: at(sizes.len()),
        last_send: at(sizes.len() - 1),
        acknowledged: true,
        rounds_total: sizes.len() as u64,
        max_in_flight: sizes.iter().copied().max().unwrap_or(0),
        rounds,
        pauses: gaps,
        ..TransferFacts::default()
    }
}

pub(crate) fn gap(start: Time, end: Time, release: Release) -> SendPause {
    SendPause {
        release,
        in_flight: MSS,
        window_room: Some(100_000),
        before_len: MSS,
        last_ack: true,
        after_len: MSS,
        ..SendPause::example(start, end)
    }
}
