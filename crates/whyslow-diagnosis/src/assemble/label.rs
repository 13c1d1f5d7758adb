//! The exchange that a transfer belongs to, and a label of its payload.

use whyslow_analysis::End;
use whyslow_analysis::types::Side;
use whyslow_core::tcp::facts::{Facts, TransferFacts};
use whyslow_core::tcp::payload::{Protocol, RequestFacts};

pub(super) fn end_of(facts: &Facts, side: Side) -> End {
    if side == facts.client { End::Client } else { End::Server }
}

/// Label of a transfer's content, from its payload.
pub(super) fn label(facts: &Facts, sender: Side, transfer: &TransferFacts) -> Option<String> {
    if let Some(notes) = &facts.quic {
        return Some(notes.facts.label().to_owned());
    }
    let content = &facts.content[sender];
    let in_it = |seq: u64| seq >= transfer.seq.0 && seq < transfer.seq.1.max(transfer.seq.0 + 1);
    if let Some((_, head)) = content.heads.iter().find(|(seq, _)| in_it(*seq)) {
        return Some(format!("HTTP {head}"));
    }
    if let Some(messages) = &facts.messages {
        let name = messages.protocol.name();
        if let Some(request) = messages.requests.iter().find(|request| sender == facts.requester && in_it(request.seq))
        {
            return Some(format!("{name} {}", request.label));
        }
        let answers = |request: &&RequestFacts| sender != facts.requester && request.response_seq.is_some_and(in_it);
        if let Some(request) = messages.requests.iter().find(answers) {
            let outcome = request.error.clone().or(request.status.map(|status| status.to_string()));
            return Some(outcome.map_or_else(|| name.to_owned(), |outcome| format!("{name} {outcome}")));
        }
    }
    match content.protocol? {
        Protocol::Tls => Some("TLS application data".into()),
        Protocol::Http => None,
        Protocol::Ssh => Some("SSH".into()),
    }
}
