//! The first TLS record of a response took more than one round trip, and none of it can be read
//! before it is complete.
//!
//! ## What it is
//! A TLS record can be decrypted and checked only when all of it is there. A server that writes
//! records of 16 KB puts more into the first one than its initial congestion window of 10 segments
//! holds: the rest follows a round trip later, and so does the first byte that the receiving
//! application can read. A browser learns a round trip later which other files it needs.
//!
//! ## How it is recognised
//! The header of the response's first record contains the record's length; the record's last byte
//! left the sender in a later round than its first. The cost is the time between those two rounds.
//! It is the delay of the first byte: the bulk behind it does not come later.
//!
//! ## What it is confused with
//! - `server-think`: the first byte itself is late.
//! - `slow-start`: it makes the rounds, and the record makes the receiver wait for them. Both are
//!   named then.
//! - a response that is no longer than its one record: the client could not have used a part of it,
//!   and nothing is reported.
//!
//! ## The fix
//! Smaller records at the start of an answer: nginx `ssl_buffer_size 4k;`, HAProxy
//! `tune.ssl.maxrecord 4096` (it goes back to large records for long streams), Apache Traffic
//! Server `proxy.config.ssl.max_record_size: -1`, which is dynamic; Go's crypto/tls begins with
//! small records by itself. In a program of one's own: SSL_CTX_set_max_send_fragment of OpenSSL,
//! max_fragment_size of rustls. Or a larger initial window (initcwnd), if one more segment or two
//! would hold the record.
//!
//! ## To see that it worked
//! `curl -so /dev/null -w '%{time_starttransfer}\n' URL` shows the first byte earlier.
//!
//! ## References
//! RFC 8446 section 5.1, RFC 8449 (record size limit); I. Grigorik, "High Performance Browser
//! Networking", chapter 4.

use super::parts::{evidence, finding, remedy};
use super::rule::{Check, Rule};
use super::rule_input::TransferView;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Actor, ExchangeAction, ExchangeStatement, Finding, Measure, Unit};

pub(super) const RULE: Rule = Rule::new(Cause::TlsRecordBuffering, Check::Transfer(check));

/// Content type of a record of application data (RFC 8446 section 5.1).
const APPLICATION_DATA: u8 = 23;
/// Largest record that a fix recommends, bytes: an overhead of 29 (RFC 8446 section 5.2) is 0.7 %
/// of it, and a larger record saves little.
const MAX_ADVISED: u64 = 4096;
/// Smallest record that a fix recommends, bytes: the overhead is 2.8 % of it (RFC 8446 section
/// 5.2).
const MIN_ADVISED: u64 = 1024;

fn check(view: &TransferView<'_>) -> Option<Finding> {
    let transfer = view.transfer;
    let first = view.facts.content[view.sender].first_record(transfer.seq.0);
    let (start, end, _) = first.filter(|(_, _, kind)| *kind == APPLICATION_DATA)?;
    // Without the bytes between, the rounds do not show when the record was complete.
    if transfer.seq.1 <= end || transfer.unseen > 0 {
        return None;
    }
    let whole = transfer.round_of(end)?;
    let (first, last) = (transfer.rounds.first()?, transfer.rounds.get(whole)?);
    let lost = last.start - transfer.start;
    if whole == 0 || lost < whyslow_analysis::types::MIN_NOTICEABLE_DELAY {
        return None;
    }
    let size = end - start;
    let statement = ExchangeStatement::RecordSpansFlights { late_s: lost, record: size, flights: whole as u64 + 1 };
    let mut found = finding(Cause::TlsRecordBuffering, lost, view.trust(0.8), statement);
    // Behind session tickets it begins in a later frame than the transfer.
    let frame = if start == transfer.seq.0 { &[first.first_frame][..] } else { &[] };
    found.evidence.push(evidence(Measure::FirstRecord, size as f64, Unit::Bytes, frame));
    found.evidence.push(evidence(
        Measure::FirstFlight,
        first.bytes as f64,
        Unit::Bytes,
        &[first.first_frame, first.last_frame],
    ));
    found.evidence.push(evidence(Measure::CompletingFlight, whole as f64 + 1.0, Unit::One, &[last.first_frame]));
    let fits = first.bytes.checked_ilog2().map_or(MIN_ADVISED, |log| 1u64 << log);
    let advised = fits.clamp(MIN_ADVISED, MAX_ADVISED);
    let limited = ExchangeAction::LimitTlsRecords { to: advised, first_flight: first.bytes };
    found.remedies = remedy(Actor::Application, limited);
    Some(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::rules::synthetic_transfer::{SyntheticTransfer, ms};
    use whyslow_analysis::ExchangeAction;
    use whyslow_analysis::cause::Cause;

    fn record(size: u64) -> SyntheticTransfer {
        let mut scene = SyntheticTransfer::flights(&[10_000, 20_000, 40_000]);
        scene.facts.content[1].firsts = vec![(1, 1 + size, 23)];
        scene
    }

    #[test]
    fn record_above_the_first_flight_is_readable_a_round_trip_late() {
        let found = record(16_408).finding(Cause::TlsRecordBuffering).unwrap();
        assert_eq!(found.cost_s, ms(100));
        let limited = ExchangeAction::LimitTlsRecords { to: 4_096, first_flight: 10_000 };
        assert_eq!(found.remedy().unwrap().action, limited.into());
        let command = found.remedy().unwrap().action.command().unwrap();
        assert_eq!(command, "nginx: ssl_buffer_size 4k;   HAProxy: tune.ssl.maxrecord 4096");
        assert_eq!(record(30_001).finding(Cause::TlsRecordBuffering).unwrap().cost_s, ms(200), "three flights");
    }

    #[test]
    fn record_within_the_first_flight_delays_nothing() {
        assert!(record(10_000).finding(Cause::TlsRecordBuffering).is_none());
        assert!(record(10_001).finding(Cause::TlsRecordBuffering).is_some());
    }

    #[test]
    fn response_of_one_record_is_not_reported() {
        assert!(record(70_000).finding(Cause::TlsRecordBuffering).is_none(), "the answer is one record");
        let mut handshake = record(16_408);
        handshake.facts.content[1].firsts[0].2 = 22;
        assert!(handshake.finding(Cause::TlsRecordBuffering).is_none());
        let mut lossy = record(16_408);
        lossy.transfer.unseen = 1_000;
        assert!(lossy.finding(Cause::TlsRecordBuffering).is_none(), "the capture lacks some of it");
    }
}
