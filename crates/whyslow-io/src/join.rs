//! Joins several analyses into one and makes ids unique over all of them.

use whyslow_analysis::{Analysis, Connection, Finding, Frame, SCHEMA};

/// Joins the analyses of separate captures. Numbers of captures and connections continue from one
/// to the next, and frames get their capture's number if there is more than one.
pub(crate) fn join(analyses: impl Iterator<Item = Analysis>) -> Analysis {
    let analyses: Vec<_> = analyses.collect();
    let apart = analyses.len() > 1;
    let mut joined = Analysis {
        schema: SCHEMA,
        partial: false,
        threshold_s: whyslow_diagnosis::ranking::DEFAULT_THRESHOLD,
        captures: vec![],
        connections: vec![],
        findings: vec![],
        pairs: vec![],
        pairs_total: 0,
    };
    for mut analysis in analyses {
        if apart {
            renumber(&mut analysis, joined.captures.len(), last_id(&joined));
        }
        joined.captures.append(&mut analysis.captures);
        joined.connections.append(&mut analysis.connections);
        joined.findings.append(&mut analysis.findings);
        joined.pairs.append(&mut analysis.pairs);
        joined.pairs_total += analysis.pairs_total;
        joined.partial |= analysis.partial;
    }
    joined.findings.sort_by_key(|finding| std::cmp::Reverse(finding.cost_s));
    joined
}

/// The largest connection number. Of many connections, not all are listed.
pub(crate) fn last_id(analysis: &Analysis) -> u64 {
    analysis.connections.iter().map(|connection| connection.id).max().unwrap_or(0)
}

/// Frames get their capture's number, after this number of others.
fn place_frame(captures: usize) -> impl Fn(&mut Frame) + Copy {
    let offset = u16::try_from(captures).unwrap_or(u16::MAX);
    move |frame| frame.file = Some(frame.file.unwrap_or(0).saturating_add(offset))
}

/// A connection after this number of other captures and connections.
pub(crate) fn renumber_connection(connection: &mut Connection, captures: usize, connections: u64) {
    let finding = |finding: &mut Finding| finding.connections.iter_mut().for_each(|id| *id += connections);
    connection.id += connections;
    connection.capture += captures;
    connection.for_each_frame(place_frame(captures));
    connection.transfers.iter_mut().flat_map(|transfer| &mut transfer.findings).for_each(finding);
    connection.findings.iter_mut().for_each(finding);
}

fn renumber(analysis: &mut Analysis, captures: usize, connections: u64) {
    let frame = place_frame(captures);
    let finding = |finding: &mut Finding| {
        finding.connections.iter_mut().for_each(|id| *id += connections);
    };
    for connection in &mut analysis.connections {
        renumber_connection(connection, captures, connections);
    }
    for across in &mut analysis.findings {
        across.for_each_frame(frame);
        finding(across);
    }
    for pair in &mut analysis.pairs {
        pair.connections.iter_mut().chain([&mut pair.shown]).for_each(|id| *id += connections);
        pair.captures.iter_mut().for_each(|capture| *capture += captures);
        pair.for_each_frame(frame);
    }
}

#[cfg(test)]
mod tests;
