//! [`WordSheet`]: the sentences of an analysis next to its data, for the page, which shows them in
//! either language.

use super::{Lang, action, measure, path, summary, to_confirm, unit, verdict};
use crate::words;
use serde::Serialize;
use whyslow_analysis::{Analysis, Connection, Finding, Pair, Problem};
use whyslow_diagnosis::compare::Comparison;

/// Sentences in both languages, in the order of the data: the problems of the captures; for each
/// connection its vantage point, decryption, problems and ICMP errors, the verdict, the path
/// and the findings of each transfer, then its own findings; last the findings that span
/// connections, and the pairs.
#[derive(Clone, Debug, Default, Serialize)]
pub struct WordSheet {
    en: Sheet,
    zh: Sheet,
}

/// Sentences in one language.
#[derive(Clone, Debug, Default, Serialize)]
struct Sheet {
    findings: Vec<FindingWords>,
    verdicts: Vec<String>,
    paths: Vec<String>,
    problems: Vec<String>,
    icmp: Vec<String>,
    vantages: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    decryptions: Vec<String>,
    pairs: Vec<PairWords>,
}

/// The sentences of a connection that two captures hold.
#[derive(Clone, Debug, Serialize)]
struct PairWords {
    statements: Vec<String>,
    caveats: Vec<String>,
}

/// The sentences of a finding.
#[derive(Clone, Debug, Serialize)]
struct FindingWords {
    summary: String,
    /// What each measurement measures, and its unit.
    evidence: Vec<(String, &'static str)>,
    /// What each remedy does.
    remedies: Vec<String>,
    verify: Option<String>,
    to_confirm: Option<String>,
}

impl WordSheet {
    /// The sentences of an analysis.
    pub fn of_analysis(analysis: &Analysis) -> Self {
        let mut sheet = Self::default();
        let problems = analysis.captures.iter().flat_map(|capture| &capture.problems);
        problems.for_each(|problem| sheet.add_problem(problem));
        analysis.connections.iter().for_each(|connection| sheet.add_connection(connection));
        analysis.findings.iter().for_each(|finding| sheet.add_finding(finding));
        for lang in Lang::ALL {
            let pairs = analysis.pairs.iter().map(|pair| PairWords::new(pair, lang));
            sheet.of(lang).pairs = pairs.collect();
        }
        sheet
    }

    /// The sentences of one connection.
    pub fn of_connection(connection: &Connection) -> Self {
        let mut sheet = Self::default();
        sheet.add_connection(connection);
        sheet
    }

    /// The sentences of one finding.
    pub fn of_finding(finding: &Finding) -> Self {
        let mut sheet = Self::default();
        sheet.add_finding(finding);
        sheet
    }

    /// The sentences of problems alone.
    pub fn of_problems<'a>(problems: impl Iterator<Item = &'a Problem>) -> Self {
        let mut sheet = Self::default();
        problems.for_each(|problem| sheet.add_problem(problem));
        sheet
    }

    fn of(&mut self, lang: Lang) -> &mut Sheet {
        match lang {
            Lang::En => &mut self.en,
            Lang::Zh => &mut self.zh,
        }
    }

    fn add_problem(&mut self, problem: &Problem) {
        for lang in Lang::ALL {
            self.of(lang).problems.push(words::problem(problem, lang));
        }
    }

    fn add_connection(&mut self, connection: &Connection) {
        for lang in Lang::ALL {
            let sheet = self.of(lang);
            sheet.vantages.push(words::vantage(&connection.near_reason, lang));
            sheet.decryptions.extend(connection.decryption.iter().map(|of| words::decryption(of, lang)));
            sheet.icmp.extend(connection.icmp.iter().map(|error| words::icmp_error(error, lang)));
        }
        connection.problems.iter().for_each(|problem| self.add_problem(problem));
        for transfer in &connection.transfers {
            self.en.verdicts.push(verdict(transfer, Lang::En));
            self.zh.verdicts.push(verdict(transfer, Lang::Zh));
            self.en.paths.push(path(&transfer.path, Lang::En));
            self.zh.paths.push(path(&transfer.path, Lang::Zh));
            transfer.findings.iter().for_each(|finding| self.add_finding(finding));
        }
        connection.findings.iter().for_each(|finding| self.add_finding(finding));
    }

    fn add_finding(&mut self, finding: &Finding) {
        self.en.findings.push(FindingWords::new(finding, Lang::En));
        self.zh.findings.push(FindingWords::new(finding, Lang::Zh));
    }
}

impl PairWords {
    fn new(pair: &Pair, lang: Lang) -> Self {
        Self {
            statements: pair.statements.iter().map(|one| words::pair_statement(one, lang)).collect(),
            caveats: pair.caveats.iter().map(|one| words::pair_caveat(one, lang)).collect(),
        }
    }
}

/// The sentences of a comparison, in both languages.
#[derive(Clone, Debug, Serialize)]
pub struct ComparisonWords {
    en: ComparisonSheet,
    zh: ComparisonSheet,
}

/// The sentences of a comparison in one language.
#[derive(Clone, Debug, Serialize)]
struct ComparisonSheet {
    statements: Vec<String>,
    caveats: Vec<String>,
    /// Of each of the two transfers.
    verdicts: Vec<String>,
}

impl ComparisonWords {
    /// The sentences of this comparison.
    pub fn new(comparison: &Comparison) -> Self {
        let sheet = |lang| ComparisonSheet {
            statements: comparison.statements.iter().map(|one| words::comparison_statement(one, lang)).collect(),
            caveats: comparison.caveats.iter().map(|one| words::comparison_caveat(one, lang)).collect(),
            verdicts: comparison
                .transfers
                .iter()
                .map(|one| words::verdict_of(&one.verdict, one.finding.as_slice(), lang))
                .collect(),
        };
        Self { en: sheet(Lang::En), zh: sheet(Lang::Zh) }
    }
}

impl FindingWords {
    fn new(finding: &Finding, lang: Lang) -> Self {
        let evidence = finding.evidence.iter();
        Self {
            summary: summary(finding, lang),
            evidence: evidence.map(|one| (measure(one, lang).into_owned(), unit(one.unit, one.value, lang))).collect(),
            remedies: finding.remedies.iter().map(|remedy| action(&remedy.action, lang)).collect(),
            verify: finding.remedy().and_then(|_| words::verify(finding, lang)),
            to_confirm: to_confirm(finding, lang),
        }
    }
}
