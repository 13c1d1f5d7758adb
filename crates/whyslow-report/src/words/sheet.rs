//! [`WordSheet`]: the sentences of an analysis next to its data, for the page, which shows them in either language.

use super::{Lang, action, measure, summary, to_confirm, unit, verdict};
use serde::Serialize;
use whyslow_core::analysis::{Analysis, Connection, Finding};

/// Sentences in both languages, in the order of the data: for each connection the verdict and the findings of each
/// transfer, then the connection's own findings; last the findings that span connections.
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
}

/// The sentences of a finding.
#[derive(Clone, Debug, Serialize)]
struct FindingWords {
    summary: String,
    /// What each measurement measures, and its unit.
    evidence: Vec<(String, &'static str)>,
    /// What each remedy does.
    remedies: Vec<String>,
    verify: Option<&'static str>,
    to_confirm: Option<String>,
}

impl WordSheet {
    /// The sentences of an analysis.
    pub fn of_analysis(analysis: &Analysis) -> Self {
        let mut sheet = Self::default();
        analysis.connections.iter().for_each(|connection| sheet.add_connection(connection));
        analysis.findings.iter().for_each(|finding| sheet.add_finding(finding));
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

    fn add_connection(&mut self, connection: &Connection) {
        for transfer in &connection.transfers {
            self.en.verdicts.push(verdict(transfer, Lang::En));
            self.zh.verdicts.push(verdict(transfer, Lang::Zh));
            transfer.findings.iter().for_each(|finding| self.add_finding(finding));
        }
        connection.findings.iter().for_each(|finding| self.add_finding(finding));
    }

    fn add_finding(&mut self, finding: &Finding) {
        self.en.findings.push(FindingWords::new(finding, Lang::En));
        self.zh.findings.push(FindingWords::new(finding, Lang::Zh));
    }
}

impl FindingWords {
    fn new(finding: &Finding, lang: Lang) -> Self {
        let evidence = finding.evidence.iter();
        Self {
            summary: summary(finding, lang),
            evidence: evidence.map(|one| (measure(one, lang).into_owned(), unit(one.unit, one.value, lang))).collect(),
            remedies: finding.remedies.iter().map(|remedy| action(&remedy.action, lang)).collect(),
            verify: finding.remedy().and(finding.cause.verify()),
            to_confirm: to_confirm(finding, lang),
        }
    }
}
