//! Sentences about a kernel's account of a capture's findings.

use super::{Lang, en, zh};
use whyslow_evidence::{MatchedBy, Outcome, Reading};

/// Whether the account agrees with the finding.
pub fn outcome(outcome: Outcome, lang: Lang) -> &'static str {
    match lang {
        Lang::En => en::answers::outcome(outcome),
        Lang::Zh => zh::answers::outcome(outcome),
    }
}

/// What the account shows, as a clause.
pub fn reading(reading: &Reading, lang: Lang) -> String {
    match lang {
        Lang::En => en::answers::reading(reading),
        Lang::Zh => zh::answers::reading(reading),
    }
}

/// How the connection was matched; `None` where both addresses and ports are equal.
pub fn matched_by(by: MatchedBy, lang: Lang) -> Option<&'static str> {
    match lang {
        Lang::En => en::answers::matched_by(by),
        Lang::Zh => zh::answers::matched_by(by),
    }
}

/// The heading of the answers.
pub fn heading(lang: Lang) -> &'static str {
    match lang {
        Lang::En => en::answers::heading(),
        Lang::Zh => zh::answers::heading(),
    }
}
