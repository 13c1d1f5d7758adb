//! How sure a finding is: from its rule's weight, from its evidence, and from how often such
//! findings were right.
//!
//! A rule weighs its own evidence and knows no other reading of the transfer. Here each finding
//! gets a [`Grade`]: whether something independent of the rule supports it. A printed confidence is
//! then the share of findings of that weight and grade that was right where the cause is known:
//! [`table`] (Murphy and Winkler 1977, "Reliability of subjective probability forecasts"). It is
//! 0.9 or more only if packets show the cause, or if two readings agree.

mod evidence;
mod table;

use crate::rules::{MOST_UNDER_ENCRYPTION, Proof, is_fully_modelled, is_hidden_from_log, proof_of};
use evidence::CapturedEvidence;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{CommonQuestion, Connection, ExchangeStatement, Finding, Grade, Statement, Transfer};
use whyslow_units::Nanos;

/// The highest confidence that is not called certain. Follows from the word: certain is 0.9 and
/// more (docs/explanation/confidence.md).
const LIKELY: f64 = 0.89;
/// A model whose time differs from the measured one by more than this share contradicts its
/// assumptions (docs/explanation/confidence.md). Half and twice change 34 and 31 of 2,061 captures.
const MODEL_TOLERANCE: f64 = 0.3;
/// If a transfer took this multiple of the model with all limits that were found, another limit
/// took most of its time. Follows from the word "most". Half and twice the excess over 1 change 5
/// and 2 of 2,061 captures.
const CONTRADICTION_FACTOR: f64 = 2.0;
/// Share of a cause's weight that remains then. Half and twice the distance to 1 change 6 and 6 of
/// 2,061 captures.
const CONTRADICTED_SHARE: f64 = 0.6;

/// Sets the grade and the confidence of each finding, once, after all other stages.
pub(super) fn set(connections: &mut [Connection], across: &mut [Finding]) {
    for connection in &mut *connections {
        if hides_packets(connection) {
            keep_bounds(connection);
            continue;
        }
        let evidence = CapturedEvidence::of(connection);
        for finding in &mut connection.findings {
            grade_without_model(finding);
            cap_unproven(finding, evidence.lacks(finding.cause, 0));
        }
        for transfer in &mut connection.transfers {
            let model = Model::of(transfer);
            for finding in &mut transfer.findings {
                match &model {
                    Some(model) => grade_by_model(finding, model),
                    None => grade_without_model(finding),
                }
                cap_unproven(finding, evidence.lacks(finding.cause, transfer.bytes));
            }
        }
        if connection.quic.as_ref().is_some_and(|quic| quic.logged) {
            cap_by_log(connection);
        }
    }
    for finding in across {
        let is_its = |connection: &&Connection| finding.connections.contains(&connection.id);
        let mut its = connections.iter().filter(is_its).peekable();
        // Lookups are in clear.
        if finding.cause != Cause::SlowLookup && its.peek().is_some() && its.all(hides_packets) {
            keep_bound(finding);
            finding.confidence = finding.confidence.min(MOST_UNDER_ENCRYPTION);
        } else {
            grade_by_parts(finding, connections);
        }
    }
}

/// It is of QUIC, and no key log opens its packets.
fn hides_packets(connection: &Connection) -> bool {
    connection.quic.as_ref().is_some_and(|quic| quic.opened.is_none())
}

/// A log is one endpoint's view: where it shows nothing, it gives the confidence of a capture
/// without keys.
fn cap_by_log(connection: &mut Connection) {
    let near = connection.near;
    let cap = |finding: &mut Finding, sender| {
        if finding.confidence > MOST_UNDER_ENCRYPTION && is_hidden_from_log(finding.cause, sender, near) {
            (finding.confidence, finding.grade) = (MOST_UNDER_ENCRYPTION, finding.grade.min(Grade::Inferred));
            finding.to_confirm.insert(0, CommonQuestion::OneEndpointsLog.into());
        }
    };
    connection.findings.iter_mut().for_each(|finding| cap(finding, None));
    for transfer in &mut connection.transfers {
        let sender = Some(transfer.from);
        transfer.findings.iter_mut().for_each(|finding| cap(finding, sender));
    }
}

/// The table is of TCP, which shows more than QUIC: there the bounds of the rules hold.
fn keep_bounds(connection: &mut Connection) {
    let of_transfers = connection.transfers.iter_mut().flat_map(|transfer| &mut transfer.findings);
    connection.findings.iter_mut().chain(of_transfers).for_each(keep_bound);
}

fn keep_bound(finding: &mut Finding) {
    let is_shown = matches!(finding.statement, Statement::Exchange(ExchangeStatement::InitialRetransmitted { .. }));
    finding.grade = if is_shown { Grade::Shown } else { Grade::Inferred };
    finding.weight = finding.confidence;
}

/// A finding over connections has the best grade that the same cause has in one of its transfers.
fn grade_by_parts(finding: &mut Finding, connections: &[Connection]) {
    let is_its = |connection: &&Connection| finding.connections.contains(&connection.id);
    let transfers = connections.iter().filter(is_its).flat_map(|connection| &connection.transfers);
    let parts = transfers.flat_map(|transfer| &transfer.findings).filter(|part| part.cause == finding.cause);
    match parts.map(|part| part.grade).max() {
        Some(grade) => set_grade(finding, grade, finding.confidence),
        None => grade_without_model(finding),
    }
}

/// The model's time for a transfer next to the measured one.
struct Model {
    time: Nanos,
    measured: Nanos,
    /// Whether the model was not run for all findings.
    is_partial: bool,
}

impl Model {
    fn of(transfer: &Transfer) -> Option<Self> {
        let time = transfer.model_s?;
        Some(Self { time, measured: transfer.duration_s, is_partial: transfer.model_skipped })
    }

    /// Whether it takes about as long as the transfer did.
    fn reproduces(&self) -> bool {
        (self.time - self.measured).0.abs() as f64 <= MODEL_TOLERANCE * self.measured.0 as f64
    }

    /// Whether the model, which covers this cause in full, leaves most of the transfer's time
    /// unexplained.
    fn leaves_most_open(&self, finding: &Finding) -> bool {
        !self.is_partial
            && self.time.scale(CONTRADICTION_FACTOR) < self.measured
            && finding.cost_s.0 * 2 >= self.measured.0
            && is_fully_modelled(finding.cause)
    }
}

fn grade_without_model(finding: &mut Finding) {
    let weight = finding.confidence;
    match proof_of(finding.cause) {
        Proof::Packets => set_grade(finding, Grade::Shown, weight),
        Proof::Model => set_grade(finding, Grade::Inferred, weight),
        Proof::Pattern => {
            set_grade(finding, Grade::Inferred, weight);
            // How often the pattern has this cause in the lab is how often the lab makes it.
            finding.confidence = finding.confidence.min(weight);
        }
    }
}

fn grade_by_model(finding: &mut Finding, model: &Model) {
    match proof_of(finding.cause) {
        Proof::Packets | Proof::Pattern => grade_without_model(finding),
        Proof::Model if model.reproduces() => set_grade(finding, Grade::Reproduced, finding.confidence),
        Proof::Model => {
            let (model_s, measured_s) = (model.time, model.measured);
            if model.leaves_most_open(finding) {
                finding.to_confirm.insert(0, CommonQuestion::ModelTooFast { model_s, measured_s }.into());
                set_grade(finding, Grade::Contradicted, finding.confidence * CONTRADICTED_SHARE);
            } else {
                if table::share_right(Grade::Reproduced, finding.confidence) > LIKELY {
                    finding.to_confirm.insert(0, CommonQuestion::ModelDisagrees { model_s, measured_s }.into());
                }
                set_grade(finding, Grade::Contradicted, finding.confidence);
            }
        }
    }
}

/// Lowers the confidence of a finding that is certain only with evidence which the capture lacks.
fn cap_unproven(finding: &mut Finding, lacks: Option<CommonQuestion>) {
    if let Some(question) = lacks.filter(|_| finding.confidence > LIKELY) {
        set_grade(finding, finding.grade.min(Grade::Inferred), finding.weight);
        finding.to_confirm.insert(0, question.into());
    }
}

/// Sets the grade, the weight, and the confidence that follows from both.
fn set_grade(finding: &mut Finding, grade: Grade, weight: f64) {
    let ceiling = match grade {
        Grade::Shown | Grade::Reproduced => 1.0,
        Grade::Inferred | Grade::Contradicted => LIKELY,
    };
    finding.grade = grade;
    finding.weight = weight;
    finding.confidence = (table::share_right(grade, weight).min(ceiling) * 100.0).round() / 100.0;
}

#[cfg(test)]
mod tests;
