//! Sentences about evidence without packets.

use super::{Lang, en, zh};
use whyslow_evidence::{Fix, Limitation, Statement};

/// What happened, as a clause.
pub fn statement(of: &Statement, lang: Lang) -> String {
    match lang {
        Lang::En => en::evidence::statement(of),
        Lang::Zh => zh::evidence::statement(of),
    }
}

/// What to do.
pub fn fix(fix: &Fix, lang: Lang) -> String {
    match (fix, lang) {
        (Fix::OfCaptures(remedy), lang) => super::action(&remedy.action, lang),
        (Fix::OfHost { action, .. }, Lang::En) => en::host::action(action),
        (Fix::OfHost { action, .. }, Lang::Zh) => zh::host::action(action),
        (Fix::Own { action, .. }, Lang::En) => en::evidence::advice(action),
        (Fix::Own { action, .. }, Lang::Zh) => zh::evidence::advice(action),
    }
}

/// What an output cannot show, and what would.
pub fn gap(gap: Limitation, lang: Lang) -> &'static str {
    match lang {
        Lang::En => en::evidence::gap(gap),
        Lang::Zh => zh::evidence::gap(gap),
    }
}

/// The verdict without findings: nothing is slow, or it is not known.
pub fn no_finding(known: bool, lang: Lang) -> &'static str {
    match (known, lang) {
        (true, Lang::En) => en::evidence::healthy(),
        (false, Lang::En) => en::evidence::unknown(),
        (true, Lang::Zh) => zh::evidence::healthy(),
        (false, Lang::Zh) => zh::evidence::unknown(),
    }
}

/// How many subjects are not shown.
pub fn more(count: usize, lang: Lang) -> String {
    match lang {
        Lang::En => en::evidence::more(count),
        Lang::Zh => zh::evidence::more(count),
    }
}
