//! One analysis of several: each keeps what it says, and names are made unique over all of them.

use whyslow_core::analysis::{Analysis, Finding, Frame, SCHEMA};

/// Joins the analyses of captures that are kept apart. Captures and connections are numbered on over all of them, and
/// frames get their capture's number when there is more than one capture.
pub(crate) fn join(analyses: impl Iterator<Item = Analysis>) -> Analysis {
    let analyses: Vec<_> = analyses.collect();
    let apart = analyses.len() > 1;
    let mut joined = Analysis {
        schema: SCHEMA,
        partial: false,
        captures: vec![],
        connections: vec![],
        findings: vec![],
        pairs: vec![],
        pairs_total: 0,
    };
    for mut analysis in analyses {
        if apart {
            renumber(&mut analysis, joined.captures.len(), joined.connections.len() as u64);
        }
        joined.captures.append(&mut analysis.captures);
        joined.connections.append(&mut analysis.connections);
        joined.findings.append(&mut analysis.findings);
    }
    joined.findings.sort_by_key(|finding| std::cmp::Reverse(finding.seconds));
    joined
}

fn renumber(analysis: &mut Analysis, captures: usize, connections: u64) {
    let offset = u16::try_from(captures).unwrap_or(u16::MAX);
    let frame = |frame: &mut Frame| frame.file = Some(frame.file.unwrap_or(0).saturating_add(offset));
    let finding = |finding: &mut Finding| {
        finding.evidence.iter_mut().flat_map(|evidence| &mut evidence.frames).for_each(frame);
        finding.connections.iter_mut().for_each(|id| *id += connections);
    };
    for connection in &mut analysis.connections {
        connection.id += connections;
        connection.capture += captures;
        for transfer in &mut connection.transfers {
            for round in &mut transfer.rounds {
                frame(&mut round.first_frame);
                frame(&mut round.last_frame);
            }
            transfer.findings.iter_mut().for_each(finding);
        }
        connection.findings.iter_mut().for_each(finding);
    }
    analysis.findings.iter_mut().for_each(finding);
}

#[cfg(test)]
mod tests;
