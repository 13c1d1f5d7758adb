//! Selects the connections to explain: the others leave the analysis before it is printed, and
//! their number is printed.

pub mod filter;

use crate::quantity;
use anyhow::bail;
use clap::Args;
use filter::{Filter, Subject};
use std::collections::HashMap;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Analysis, Connection, Endpoint, Problem};
use whyslow_diagnosis::compare::{TransferName, choose};
use whyslow_report::problems::SELECTION;
use whyslow_report::ranking;
use whyslow_units::Nanos;

/// The options that select connections; all of them must hold.
#[derive(Clone, Debug, Default, PartialEq, Args)]
#[command(next_help_heading = "Selecting")]
pub struct Selection {
    /// Show full detail for one connection.
    #[arg(long, value_name = "ID", value_parser = connection)]
    pub connection: Option<u64>,
    /// One of its transfers, from 1, as `FILE#3.2` names it.
    #[arg(skip)]
    pub transfer: Option<usize>,
    /// Only connections that match, as `rtt>50 cause:loss` or `host 192.0.2.1 and not port 22`:
    /// the language of the page's search (docs/usage.md has its fields).
    #[arg(long, short = 'Y', value_name = "EXPR", value_parser = filter::parse)]
    pub filter: Option<Filter>,
    /// Only connections with this server: its name, its address, or either with its port.
    #[arg(long, value_name = "NAME")]
    pub server: Option<String>,
    /// Only connections that this cause cost time.
    #[arg(long, value_name = "CAUSE", value_parser = crate::cause_pages::known)]
    pub cause: Option<Cause>,
    /// Only connections with a transfer that took longer than this, as `2s`.
    #[arg(long, value_name = "TIME", value_parser = quantity::time)]
    pub slower_than: Option<Nanos>,
    /// Only connections with packets after this many seconds of the capture.
    #[arg(long, value_name = "SECONDS", value_parser = quantity::seconds)]
    pub from: Option<Nanos>,
    /// Only connections with packets before this many seconds of the capture.
    #[arg(long, value_name = "SECONDS", value_parser = quantity::seconds)]
    pub to: Option<Nanos>,
}

impl Selection {
    /// Keeps the selected connections and their findings; notes in the first capture how many were
    /// left out.
    ///
    /// # Errors
    /// When there is no connection of the number that was asked for.
    pub fn apply(&self, analysis: &mut Analysis) -> anyhow::Result<()> {
        if let Some(id) = self.connection {
            is_there(analysis, id)?;
            if let Some(transfer) = self.transfer {
                choose(analysis, TransferName { connection: Some(id), transfer: Some(transfer) })?;
            }
        }
        let total = analysis.connections.len();
        let of_cause = self.cause.map(|cause| costs(analysis, cause));
        let shared = shared_causes(analysis);
        analysis.connections.retain(|connection| {
            let has_cause = of_cause.as_ref().is_none_or(|ids| ids.contains(&connection.id));
            has_cause && self.selects(connection, shared.get(&connection.id).map_or(&[], Vec::as_slice))
        });
        let left: Vec<u64> = analysis.connections.iter().map(|connection| connection.id).collect();
        let is_left = |id: &u64| left.binary_search(id).is_ok();
        if self.connection.is_some() {
            // The connection has its own part of this sum.
            analysis.findings.retain(|finding| !finding.shared && finding.connections.iter().any(is_left));
        } else {
            // Findings over connections would be wrong without the connections that were left out.
            analysis.findings.retain(|finding| finding.connections.iter().all(is_left));
        }
        analysis.pairs.retain(|pair| pair.connections.iter().any(is_left));
        if self.connection.is_none() {
            self.note(analysis, total);
        }
        Ok(())
    }

    /// Whether a connection has all that was asked for, but the cause. `shared`: the causes of
    /// findings over it and others.
    pub fn selects(&self, connection: &Connection, shared: &[Cause]) -> bool {
        let end = connection.start_s + connection.duration_s;
        self.connection.is_none_or(|id| connection.id == id)
            && self.filter.as_ref().is_none_or(|filter| filter.matches(Subject { connection, shared }))
            && self.server.as_ref().is_none_or(|name| is_server(&connection.server, name))
            && self.slower_than.is_none_or(|least| connection.transfers.iter().any(|one| one.waited() > least))
            && self.from.is_none_or(|from| end >= from)
            && self.to.is_none_or(|to| connection.start_s <= to)
    }

    /// Notes how many connections were left out, and by which filter.
    fn note(&self, analysis: &mut Analysis, total: usize) {
        let options = [
            (self.filter.is_some(), "--filter"),
            (self.server.is_some(), "--server"),
            (self.cause.is_some(), "--cause"),
            (self.slower_than.is_some(), "--slower-than"),
            (self.from.is_some(), "--from"),
            (self.to.is_some(), "--to"),
        ];
        let names: Vec<&str> = options.into_iter().filter_map(|(given, name)| given.then_some(name)).collect();
        let left_out = total - analysis.connections.len();
        let is_cut = |problem: &Problem| problem.slug == "connections-not-listed";
        let cut = analysis.captures.iter().flat_map(|capture| &capture.problems).any(is_cut);
        let Some(capture) = analysis.captures.first_mut().filter(|_| !names.is_empty()) else { return };
        let mut detail = format!("{left_out} of {total} connections left out by {}", names.join(", "));
        if cut {
            detail += "; connections that are not listed were not looked at";
        }
        capture.problems.push(Problem { slug: SELECTION.to_owned(), count: left_out as u64, detail: detail.into() });
    }
}

/// By connection: the causes of findings over it and others.
fn shared_causes(analysis: &Analysis) -> HashMap<u64, Vec<Cause>> {
    let mut shared: HashMap<u64, Vec<Cause>> = HashMap::new();
    for finding in &analysis.findings {
        for id in &finding.connections {
            shared.entry(*id).or_default().push(finding.cause);
        }
    }
    shared
}

/// The connections that a cause cost time, alone or with others.
fn costs(analysis: &Analysis, cause: Cause) -> Vec<u64> {
    let has = |connection: &&Connection| ranking::findings(connection).any(|finding| finding.cause == cause);
    let own = analysis.connections.iter().filter(has).map(|connection| connection.id);
    let spanning = analysis.findings.iter().filter(|finding| finding.cause == cause);
    own.chain(spanning.flat_map(|finding| finding.connections.iter().copied())).collect()
}

/// The number of a connection.
pub fn connection(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| {
        "connections have numbers from 1, as the page, --brief and --json show them; by name: --server NAME".to_owned()
    })
}

fn is_server(server: &Endpoint, name: &str) -> bool {
    let of_port = |host: &str| whyslow_analysis::host_and_port(host, server.port);
    [Some(&server.address), server.name.as_ref()]
        .into_iter()
        .flatten()
        .any(|host| host.eq_ignore_ascii_case(name) || of_port(host).eq_ignore_ascii_case(name))
}

/// # Errors
/// When there is no connection of that number.
fn is_there(analysis: &Analysis, id: u64) -> anyhow::Result<()> {
    if analysis.connections.iter().any(|connection| connection.id == id) {
        return Ok(());
    }
    match analysis.connections.len() {
        0 => bail!("there is no connection {id}: the input holds no TCP connection"),
        1 => bail!("there is no connection {id}: the input holds one, which is 1"),
        total => bail!("there is no connection {id}: the input holds 1 to {total}"),
    }
}
