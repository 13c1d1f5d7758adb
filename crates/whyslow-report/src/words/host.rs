//! Sentences about what a look at a machine finds; its statements and remedies are those of
//! [`evidence`](super::evidence).

use super::evidence::statement;
pub use super::machine::{HostWord, Period, Sources};
use super::{Lang, en, zh};
use whyslow_evidence::host::{Extent, HostCheck, Origin, Who};
use whyslow_evidence::{Finding, Fix};

/// What it costs, in a few words.
pub fn extent(of: Extent, lang: Lang) -> String {
    match lang {
        Lang::En => en::host::extent(of),
        Lang::Zh => zh::host::extent(of),
    }
}

/// What shows that a fix worked.
pub fn check(of: &HostCheck, lang: Lang) -> String {
    match lang {
        Lang::En => en::host::check(of),
        Lang::Zh => zh::host::check(of),
    }
}

/// The party to act.
pub fn who(of: Who, lang: Lang) -> &'static str {
    match lang {
        Lang::En => en::host::who(of),
        Lang::Zh => zh::host::who(of),
    }
}

/// Where a figure is from, and since when.
pub fn origin(of: Origin, lang: Lang) -> String {
    match lang {
        Lang::En => en::host::origin(of.source, of.since),
        Lang::Zh => zh::host::origin(of.source, of.since),
    }
}

/// The verdict without findings; of some connections alone if `is_part`.
pub const fn healthy(is_part: bool, lang: Lang) -> &'static str {
    match (is_part, lang) {
        (true, Lang::En) => "Nothing here makes these connections slow, as far as this machine shows.",
        (false, Lang::En) => "Nothing here makes transfers slow, as far as this machine shows.",
        (true, Lang::Zh) => "就本机所见，没有什么使这些连接变慢。",
        (false, Lang::Zh) => "就本机所见，没有什么使传输变慢。",
    }
}

/// A clause as a sentence.
pub fn sentence(clause: &str, lang: Lang) -> String {
    format!("{clause}{}", if lang == Lang::En { "." } else { "。" })
}

/// The headline: the worst finding, and how many others there are.
pub fn headline(statement: &str, more: usize, lang: Lang) -> String {
    match (more, lang) {
        (0, _) => sentence(statement, lang),
        (_, Lang::En) => format!("{statement} ({more} more below)."),
        (_, Lang::Zh) => format!("{statement}（下面还有 {more} 项）。"),
    }
}

/// What shows the other findings.
pub const fn full_shows_more(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "--full shows these with their evidence and fix, too",
        Lang::Zh => "--full 显示这些结论及其证据和解决办法",
    }
}

/// In front of the counters that rose within a time.
pub fn changed(time: &str, lang: Lang) -> String {
    match lang {
        Lang::En => format!("changed in {time}: "),
        Lang::Zh => format!("{time} 内的变化："),
    }
}

/// What a namespace is called.
pub fn namespace(name: &str, lang: Lang) -> String {
    match lang {
        Lang::En => format!("namespace {name}"),
        Lang::Zh => format!("网络命名空间 {name}"),
    }
}

impl HostWord {
    /// The word in a language.
    pub const fn text(self, lang: Lang) -> &'static str {
        match lang {
            Lang::En => en::host::word(self),
            Lang::Zh => zh::host::word(self),
        }
    }
}

/// The line with the sources.
pub fn sources(of: &Sources, lang: Lang) -> String {
    match lang {
        Lang::En => en::host::sources(of),
        Lang::Zh => zh::host::sources(of),
    }
}

/// Below a table of peers: how many it leaves out.
pub fn more_peers(number: u64, lang: Lang) -> String {
    match lang {
        Lang::En => en::host::more_peers(number),
        Lang::Zh => zh::host::more_peers(number),
    }
}

/// Below a table of processes: how many it leaves out.
pub fn more_processes(number: u64, lang: Lang) -> String {
    match lang {
        Lang::En => en::host::more_processes(number),
        Lang::Zh => zh::host::more_processes(number),
    }
}

/// A name, and the number of further ones.
pub fn and_more(name: &str, number: usize, lang: Lang) -> String {
    match lang {
        Lang::En => en::host::and_more(name, number),
        Lang::Zh => zh::host::and_more(name, number),
    }
}

/// The name of a figure. The kernel's own names stay the same in every language.
pub fn figure_name(name: &str, lang: Lang) -> &str {
    match lang {
        Lang::En => name,
        Lang::Zh => zh::host::figure_name(name),
    }
}

/// A source that could not be read, and the system's reason.
pub fn missing(part: &str, why: &str, lang: Lang) -> String {
    match lang {
        Lang::En => format!("not seen: {part}: {why}"),
        Lang::Zh => format!("未能读取{}：{why}", zh::host::missing(part)),
    }
}

/// The sentences about the findings of a machine, in both languages and in the order of the data.
#[derive(Debug, serde::Serialize)]
pub struct HostWords {
    en: Vec<FindingWords>,
    zh: Vec<FindingWords>,
}

/// The sentences about a finding.
#[derive(Debug, serde::Serialize)]
struct FindingWords {
    summary: String,
    cost: Option<String>,
    fixes: Vec<String>,
    verify: Option<String>,
}

impl HostWords {
    /// Of these findings.
    pub fn of(findings: &[Finding]) -> Self {
        let all = |lang: Lang| {
            let one = |finding: &Finding| FindingWords {
                summary: statement(&finding.statement, lang),
                cost: finding.extent.map(|cost| extent(cost, lang)),
                fixes: finding.remedies.iter().map(|fix| remedy(fix, lang)).collect(),
                verify: finding.verify.as_ref().map(|verify| check(verify, lang)),
            };
            findings.iter().map(one).collect()
        };
        Self { en: all(Lang::En), zh: all(Lang::Zh) }
    }
}

/// The party to act, and its action.
pub fn remedy(fix: &Fix, lang: Lang) -> String {
    let action = super::evidence::fix(fix, lang);
    match fix {
        Fix::OfHost { actor, .. } => format!("{}: {action}", who(*actor, lang)),
        Fix::OfCaptures(_) | Fix::Own { .. } => action,
    }
}
