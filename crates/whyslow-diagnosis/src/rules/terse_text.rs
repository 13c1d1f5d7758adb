//! A text capture without fields that a verdict needs.
//!
//! ## What it is
//! tcpdump prints the fields that its options select. Without `-v` it leaves out the IP header: its
//! identification number, which distinguishes a silence of the application from a loss before the
//! capture point, and a packet that was sent twice from one that the network duplicated; its time
//! to live, which reveals a proxy; its ECN bits. Without `-x` it leaves out the payload: TLS
//! handshakes and records, names, HTTP headers except for their first lines.
//!
//! ## How it is recognised
//! A text without IP headers, and away from the sender silences that nothing in it ended, needless
//! copies, or late answers without one segment as large as both ends agreed on. A text without
//! payload, of a connection to a port of TLS.
//!
//! ## What it is confused with
//! `elided-text`: there whole packets are missing.
//!
//! ## The fix
//! Ask for the capture file (`tcpdump -s 128 -w slow.pcap`). If only text can be had:
//! `tcpdump -ttttnvr slow.pcap`, with `-x` where TLS matters.
//!
//! ## References
//! tcpdump(1); RFC 6864 (meaning of IP numbers).

use super::black_hole::lacks_full_size;
use super::rule::{Check, Rule};
use super::rule_input::{has_unread_tls, lacks_ip_headers};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::types::Side;
use whyslow_analysis::{Near, Problem, ProblemDetail, TextField};
use whyslow_core::tcp::facts::{Facts, Release, TransferFacts};

pub(super) const RULE: Rule = Rule::new(Cause::TerseText, Check::Capture(check));

fn check(facts: &Facts) -> Option<Problem> {
    if !facts.is_text || facts.timeless {
        return None;
    }
    let mut fields = Vec::new();
    if lacks_ip_headers(facts) && Side::BOTH.into_iter().any(|sender| is_unclear(facts, sender)) {
        fields.push(TextField::IpId);
    }
    if has_unread_tls(facts) && facts.directions.iter().all(|direction| direction.bytes > 0) {
        fields.push(TextField::Payload);
    }
    let count = fields.len() as u64;
    (count > 0).then(|| Problem::new(RULE.cause.slug(), count, ProblemDetail::FieldsNotInText { fields }))
}

/// Whether this side's data, seen from elsewhere, would be judged by its IP numbers.
fn is_unclear(facts: &Facts, sender: Side) -> bool {
    let next_to = match facts.vantage.near {
        Near::Client => sender == facts.client,
        Near::Server => sender != facts.client,
        Near::Middle | Near::Unknown => false,
    };
    let direction = &facts.directions[sender];
    let silences = direction.transfers.iter().flat_map(|transfer| &transfer.pauses);
    let mut silences = silences.filter(|gap| {
        gap.release == Release::Nothing
            && (gap.app_limited || gap.idle)
            && gap.end - gap.start >= whyslow_analysis::types::MIN_NOTICEABLE_DELAY
    });
    let late = |answer: &TransferFacts| {
        answer
            .answered
            .is_some_and(|request| answer.start - request.last >= whyslow_analysis::types::MIN_NOTICEABLE_DELAY)
    };
    let mut answers = direction.transfers.iter().filter(|transfer| late(transfer));
    let small = answers.any(|answer| lacks_full_size(facts, direction, answer));
    !next_to && (direction.retransmitted.spurious > 0 || silences.next().is_some() || small)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::synthetic_transfer::{SyntheticTransfer, ms};
    use super::*;

    /// A text of a download with a silence in it, taken next to the client.
    fn text(ttl: Option<u8>) -> SyntheticTransfer {
        let mut scene = SyntheticTransfer::flights(&[8_000, 8_000, 8_000]);
        scene.facts.is_text = true;
        scene.facts.ttl = [(ttl, ttl); 2];
        scene.facts.vantage.near = Near::Client;
        let pause = &mut scene.transfer.pauses[0];
        (pause.release, pause.idle) = (Release::Nothing, true);
        scene.facts.directions[1].transfers = vec![scene.transfer.clone()];
        (scene.facts.directions[1].bytes, scene.facts.directions[1].largest_len) = (24_000, 1_000);
        scene.facts.endpoints[1].1 = 80;
        scene
    }

    #[test]
    fn missing_ip_numbers_are_reported_if_needed() {
        let problem = check(&text(Some(0)).facts).unwrap();
        assert_eq!(problem.detail, ProblemDetail::FieldsNotInText { fields: vec![TextField::IpId] });
        assert!(check(&text(Some(64)).facts).is_none());
        let mut near = text(Some(0));
        near.facts.vantage.near = Near::Server;
        assert!(check(&near.facts).is_none(), "a lost segment would be in the text");
        let mut brief = text(Some(0));
        brief.facts.directions[1].transfers[0].pauses[0].end =
            brief.facts.directions[1].transfers[0].pauses[0].start + ms(5);
        assert!(check(&brief.facts).is_none());
        brief.facts.directions[1].retransmitted.spurious = 3;
        assert!(check(&brief.facts).is_some(), "a second copy may be the network's");
        brief.facts.directions[1].retransmitted.spurious = 0;
        let direction = &mut brief.facts.directions[1];
        (direction.mss, direction.largest_len) = (1_400, 1_024);
        assert!(check(&brief.facts).is_some(), "larger segments may have vanished before it");
        brief.facts.directions[1].largest_len = 1_400;
        assert!(check(&brief.facts).is_none());
        let mut capture = text(Some(0));
        capture.facts.is_text = false;
        assert!(check(&capture.facts).is_none());
    }

    #[test]
    fn missing_payload_is_reported_for_tls() {
        let mut scene = text(Some(64));
        scene.facts.endpoints[1].1 = 443;
        scene.facts.directions[0].bytes = 100;
        let problem = check(&scene.facts).unwrap();
        assert_eq!(problem.detail, ProblemDetail::FieldsNotInText { fields: vec![TextField::Payload] });
        scene.facts.content[0].protocol = Some(whyslow_core::tcp::payload::Protocol::Tls);
        assert!(check(&scene.facts).is_none());
    }
}
