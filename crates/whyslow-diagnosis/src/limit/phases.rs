//! Phases before a transfer's first byte: the handshakes, the request's way, the server's
//! processing.

use whyslow_analysis::LimitTime;
use whyslow_analysis::types::{LimitingFactor, Side};
use whyslow_core::message::{NOTICEABLE_WAIT, Wait};
use whyslow_core::tcp::facts::{Facts, TransferFacts};
use whyslow_units::{Nanos, Time};

/// The phases before a transfer's first byte, in time order. `first`: only handshakes came before
/// it on this connection. A wait is measured as the requester sees it: one round trip plus the
/// server's time. `wait`: the exchange that it responds to.
pub fn phases_before(
    facts: &Facts,
    sender: Side,
    transfer: &TransferFacts,
    first: bool,
    wait: Option<&Wait>,
) -> Vec<LimitTime> {
    let mut phases = Vec::new();
    let rtt = facts.min_rtt();
    if first {
        if let Some(time) = handshake(facts) {
            phases.push((LimitingFactor::Handshake, time));
        }
        if let Some((time, _)) = tls_handshake(facts).filter(|&(_, end)| end <= transfer.start) {
            phases.push((LimitingFactor::TlsHandshake, time));
        }
    }
    if let Some(wait) = wait.filter(|wait| wait.is_first && wait.client > rtt.unwrap_or_default().max(NOTICEABLE_WAIT))
    {
        phases.push((LimitingFactor::ClientThink, wait.client));
    }
    if sender != facts.requester
        && let Some(asked) = transfer.answered
    {
        let there_and_back = facts.vantage.loop_to(sender);
        let think = (transfer.start - asked.last - there_and_back).or_zero();
        if let Some(rtt) = rtt {
            phases.push((LimitingFactor::RequestWait, rtt));
        }
        if facts.vantage.toward[sender].is_some() {
            let limit = match wait.and_then(|wait| wait.polled) {
                Some(_) => LimitingFactor::Idle,
                // It was sent, and retransmitted.
                None if transfer.missing_before > 0 => LimitingFactor::Timeout,
                None if transfer.begins_lost() => LimitingFactor::LossRecovery,
                None => LimitingFactor::ServerThink,
            };
            phases.push((limit, think));
        }
    }
    phases.retain(|&(_, time)| time > Nanos::ZERO);
    phases.into_iter().map(|(limit, time)| LimitTime { limit, time }).collect()
}

/// From the first SYN to the ACK that completed the handshake, as the client saw it.
pub fn handshake(facts: &Facts) -> Option<Nanos> {
    let (syn, _) = facts.handshake.syn?;
    let (ack, _) = facts.handshake.ack?;
    Some((ack - syn).or_zero())
}

/// From the end of the TCP handshake to the client's first application data: its length, and that
/// time.
pub fn tls_handshake(facts: &Facts) -> Option<(Nanos, Time)> {
    let client = facts.client;
    let start = facts.handshake.ack?.0;
    let content = &facts.content[client];
    let end_of_hello = content.handshake_end?;
    // The client's first transfer that is not only handshake carries the request: its first
    // application data, or with TLS 1.3 the data after the Finished. If the records do not show it,
    // it is data too large for a Finished; an alert is not a request.
    let data = match content.first_application_data {
        Some((_, end)) if content.finished_end() == Some(end) => content.second_application_data,
        first => first.map(|(start, _)| start),
    };
    let begins = data.unwrap_or(end_of_hello + 128);
    let request = facts.directions[client].transfers.iter().find(|t| t.seq.1 > begins)?;
    Some(((request.start - start).or_zero(), request.start))
}

/// From the end of the TCP handshake, and of TLS's, to the first request behind the login of a
/// protocol.
pub fn login(facts: &Facts) -> Option<Nanos> {
    let (ack, _) = facts.handshake.ack?;
    let start = tls_handshake(facts).map_or(ack, |(_, request)| request);
    let request = facts.messages.as_ref()?.first_after_login()?;
    Some((request.start - start).or_zero())
}
