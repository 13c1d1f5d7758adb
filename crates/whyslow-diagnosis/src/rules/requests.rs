//! The request that a transfer, or the data after a pause in it, belongs to, if its messages were
//! read, in clear or decrypted.

use super::rule_input::TransferView;
use whyslow_analysis::{ExchangeStatement, Statement};
use whyslow_core::tcp::facts::Gap;
use whyslow_core::tcp::payload::RequestFacts;

/// The request whose response begins the transfer.
pub(super) fn answered_by(case: &TransferView<'_>) -> Option<Statement> {
    let (from, to) = case.transfer.seq;
    let begins = |request: &&RequestFacts| request.response_seq.is_some_and(|seq| (from..to).contains(&seq));
    requests(case).iter().filter(begins).min_by_key(|request| request.response_seq).map(statement)
}

/// The request whose response goes on behind a pause: one that begins there, or else one that is
/// under way.
pub(super) fn behind_pause(case: &TransferView<'_>, pause: &Gap) -> Option<Statement> {
    let requests = requests(case);
    let begins = |request: &&RequestFacts| request.response_seq == Some(pause.snd_max);
    let is_under_way = |request: &&RequestFacts| {
        let has_begun = request.response_seq.is_some_and(|seq| seq < pause.snd_max);
        has_begun && request.latest.is_some_and(|latest| latest >= pause.end)
    };
    requests.iter().find(begins).or_else(|| requests.iter().find(is_under_way)).map(statement)
}

/// Those that the sender of the transfer answers.
fn requests<'a>(case: &TransferView<'a>) -> &'a [RequestFacts] {
    let messages = case.facts.messages.as_ref().filter(|_| case.sender != case.facts.requester);
    messages.map_or(&[], |messages| &messages.requests)
}

fn statement(request: &RequestFacts) -> Statement {
    ExchangeStatement::RequestWas { label: request.label.clone(), stream: request.stream }.into()
}
