//! The request that a transfer, or the data after a pause in it, belongs to, if its messages were
//! read, in clear or decrypted.

use super::rule_input::TransferView;
use whyslow_analysis::{ExchangeStatement, Statement};
use whyslow_core::tcp::facts::SendPause;
use whyslow_core::tcp::payload::RequestFacts;

/// The request whose response begins the transfer.
pub(super) fn answered_by(view: &TransferView<'_>) -> Option<Statement> {
    let (from, to) = view.transfer.seq;
    let begins = |request: &&RequestFacts| request.response_seq.is_some_and(|seq| (from..to).contains(&seq));
    requests(view).iter().filter(begins).min_by_key(|request| request.response_seq).map(statement)
}

/// The request whose response goes on behind a pause: one that begins there, or else one that is
/// under way.
pub(super) fn behind_pause(view: &TransferView<'_>, pause: &SendPause) -> Option<Statement> {
    let requests = requests(view);
    let begins = |request: &&RequestFacts| request.response_seq == Some(pause.snd_max);
    let is_under_way = |request: &&RequestFacts| {
        let has_begun = request.response_seq.is_some_and(|seq| seq < pause.snd_max);
        has_begun && request.latest.is_some_and(|latest| latest >= pause.end)
    };
    requests.iter().find(begins).or_else(|| requests.iter().find(is_under_way)).map(statement)
}

/// The requests that the sender of the transfer answers.
fn requests<'a>(view: &TransferView<'a>) -> &'a [RequestFacts] {
    let messages = view.facts.messages.as_ref().filter(|_| view.sender != view.facts.requester);
    messages.map_or(&[], |messages| &messages.requests)
}

fn statement(request: &RequestFacts) -> Statement {
    ExchangeStatement::RequestWas { label: request.label.clone(), stream: request.stream }.into()
}
