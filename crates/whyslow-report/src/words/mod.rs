//! Sentences for people, in English and Chinese, made from the data of a finding.
//!
//! This is the only place with sentences about findings. Each language has a file per kind of
//! datum with one `match` over all of its variants, so that a missing translation does not compile.
//! No code reads a sentence back.

pub mod answers;
mod en;
pub mod evidence;
pub mod host;
mod label;
mod letter;
mod machine;
mod path;
pub mod quantity;
mod sheet;
mod zh;

pub use label::{Label, place};
pub use path::path;
pub use sheet::{ComparisonWords, WordSheet};
pub use whyslow_text::Lang;

use crate::text::units;
use std::borrow::Cow;
use whyslow_analysis::{
    Action, Change, Check, Decryption, Finding, IcmpError, Measurement, NameLookup, PairCaveat, PairStatement, Problem,
    Question, Statement, Transfer, Unit, VantageReason, Verdict, Verify,
};
use whyslow_diagnosis::cause_pages;
use whyslow_diagnosis::compare::{ComparisonCaveat, ComparisonStatement};
use whyslow_units::Nanos;

/// What happened, in one sentence without a full stop.
pub fn summary(finding: &Finding, lang: Lang) -> String {
    let mut text = statement(&finding.statement, lang);
    for detail in &finding.details {
        text += separator(lang);
        text += &statement(detail, lang);
    }
    text
}

/// The range of a time, to follow that time.
pub fn time_range(low: Nanos, high: Nanos, lang: Lang) -> String {
    let [low, high] = [low, high].map(units::span);
    match lang {
        Lang::En => format!(", between {low} and {high}"),
        Lang::Zh => format!("，在 {low} 至 {high} 之间"),
    }
}

/// A statement as a clause.
pub fn statement(statement: &Statement, lang: Lang) -> String {
    match lang {
        Lang::En => en::statement(statement),
        Lang::Zh => zh::statement(statement),
    }
}

/// The name of a measured quantity.
pub fn measure(measurement: &Measurement, lang: Lang) -> Cow<'_, str> {
    match lang {
        Lang::En => en::measure(&measurement.kind),
        Lang::Zh => zh::measure(&measurement.kind),
    }
}

/// A unit as printed after this value.
pub fn unit(unit: Unit, value: f64, lang: Lang) -> &'static str {
    match lang {
        Lang::En => en::unit(unit, value),
        Lang::Zh => zh::unit(unit),
    }
}

/// A value with its unit.
pub fn value(measurement: &Measurement, lang: Lang) -> String {
    crate::text::units::figure(measurement.value, unit(measurement.unit, measurement.value, lang))
}

/// What to do.
pub fn action(action: &Action, lang: Lang) -> String {
    match lang {
        Lang::En => en::action(action),
        Lang::Zh => zh::action(action),
    }
}

/// What would answer the open questions of a finding; `None` if there is none.
pub fn to_confirm(finding: &Finding, lang: Lang) -> Option<String> {
    let questions: Vec<String> = finding.to_confirm.iter().map(|one| question(one, lang)).collect();
    (!questions.is_empty()).then(|| questions.join(separator(lang)))
}

/// What shows that the fix of a finding worked; `None` if its cause has no such clause.
pub fn verify(finding: &Finding, lang: Lang) -> Option<String> {
    let clause = cause_pages::verification(finding.cause)?;
    let (Some(check), Some(verify)) = (Check::of(finding.cause), &finding.verify) else {
        // Such a clause names counters of TCP.
        if finding.verify.as_ref().is_some_and(Verify::is_over_quic) {
            return None;
        }
        return match lang {
            Lang::En => Some(clause.to_owned()),
            Lang::Zh => zh::verification(finding.cause).map(str::to_owned),
        };
    };
    let command = verify.command(check);
    Some(match lang {
        Lang::En => en::verify(check, &command),
        Lang::Zh => zh::verify(check, &command),
    })
}

/// That a platform has no setting for a remedy.
pub const fn lacks(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "has no such setting",
        Lang::Zh => "没有这项设置",
    }
}

fn question(question: &Question, lang: Lang) -> String {
    match lang {
        Lang::En => en::question(question),
        Lang::Zh => zh::question(question),
    }
}

/// What an ICMP error reports, and whether the sender obeyed it.
pub fn icmp_error(error: &IcmpError, lang: Lang) -> String {
    match lang {
        Lang::En => en::icmp_error(error),
        Lang::Zh => zh::icmp_error(error),
    }
}

/// A problem of a capture, in a sentence without a full stop.
pub fn problem(problem: &Problem, lang: Lang) -> String {
    match lang {
        Lang::En => en::problem(problem),
        Lang::Zh => zh::problem(problem),
    }
}

/// What shows where a capture stands.
pub fn vantage(reason: &VantageReason, lang: Lang) -> String {
    match lang {
        Lang::En => en::vantage(reason),
        Lang::Zh => zh::vantage(reason),
    }
}

/// The lookup that a connection waited for, in a sentence without a full stop.
pub fn lookup(lookup: &NameLookup, lang: Lang) -> String {
    match lang {
        Lang::En => en::lookup(lookup),
        Lang::Zh => zh::lookup(lookup),
    }
}

/// How far the TLS of a connection was decrypted, in a sentence without a full stop.
pub fn decryption(decryption: &Decryption, lang: Lang) -> String {
    match lang {
        Lang::En => en::decryption(decryption),
        Lang::Zh => zh::decryption(decryption),
    }
}

/// The verdict on a transfer, in one sentence without a full stop.
pub fn verdict(transfer: &Transfer, lang: Lang) -> String {
    verdict_of(&transfer.verdict, &transfer.findings, lang)
}

/// The verdict on a transfer with these findings.
pub fn verdict_of(verdict: &Verdict, findings: &[Finding], lang: Lang) -> String {
    match lang {
        Lang::En => en::verdict(verdict, findings),
        Lang::Zh => zh::verdict(verdict, findings),
    }
}

/// A conclusion from two captures of one connection.
pub fn pair_statement(statement: &PairStatement, lang: Lang) -> String {
    match lang {
        Lang::En => en::pair::statement(statement),
        Lang::Zh => zh::pair::statement(statement),
    }
}

/// A change between two captures.
pub fn pair_change(change: &Change, lang: Lang) -> String {
    match lang {
        Lang::En => en::pair::change(change),
        Lang::Zh => zh::pair::change(change),
    }
}

/// What limits the comparison of two captures.
pub fn pair_caveat(caveat: &PairCaveat, lang: Lang) -> String {
    match lang {
        Lang::En => en::pair::caveat(caveat),
        Lang::Zh => zh::pair::caveat(caveat),
    }
}

/// A conclusion from a comparison of two transfers, A and B.
pub fn comparison_statement(statement: &ComparisonStatement, lang: Lang) -> String {
    match lang {
        Lang::En => en::compare::statement(statement),
        Lang::Zh => zh::compare::statement(statement),
    }
}

/// What limits a comparison of two transfers, A and B.
pub fn comparison_caveat(caveat: &ComparisonCaveat, lang: Lang) -> String {
    match lang {
        Lang::En => en::compare::caveat(caveat),
        Lang::Zh => zh::compare::caveat(caveat),
    }
}

const fn separator(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "; ",
        Lang::Zh => "；",
    }
}
