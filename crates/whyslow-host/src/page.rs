//! The page for a person: the verdict, the findings, the connections by program and peer, and the
//! sources.

use crate::finding::{Evidence, Finding};
use crate::groups::{self, PeerGroup, ProcessGroup};
use crate::report::HostReport;
use anstyle::{AnsiColor, Effects, Style};
use std::collections::BTreeMap;
use whyslow_evidence::Fix;
use whyslow_live::host::{Host, Pod, State};
use whyslow_report::headline::confidence;
use whyslow_report::text::{Column, Line, Page, Table, units, width};
use whyslow_report::words::host::{HostWord, Period, Sources};
use whyslow_report::words::{self, Label, Lang, evidence as sentences};

const BOLD: Style = Style::new().effects(Effects::BOLD);
const DIM: Style = Style::new().effects(Effects::DIMMED);
const GOOD: Style = AnsiColor::Green.on_default().effects(Effects::BOLD);
const WARNING: Style = AnsiColor::Red.on_default();
const CAUSE: Style = AnsiColor::Red.on_default().effects(Effects::BOLD);
const COMMAND: Style = AnsiColor::Cyan.on_default();

/// The narrowest and the widest page.
const WIDTHS: std::ops::RangeInclusive<usize> = 60..=120;
/// The columns of a part's label, and of its text.
const LABEL: usize = 4;
const TEXT: usize = 16;
/// Limits of a screen: findings in full, and rows of a table.
const FINDINGS: usize = 2;
const ROWS: usize = 6;
/// Counters whose changes are shown without --full.
const CHANGES: [&str; 10] = [
    "Tcp.ActiveOpens",
    "Tcp.AttemptFails",
    "Tcp.EstabResets",
    "Tcp.InSegs",
    "Tcp.OutSegs",
    "Tcp.PassiveOpens",
    "Tcp.RetransSegs",
    "TcpExt.ListenOverflows",
    "TcpExt.TCPSynRetrans",
    "TcpExt.TCPTimeouts",
];

/// Lays out the findings.
pub fn page(judged: &HostReport, is_full: bool, width: usize, lang: Lang) -> String {
    let mut page = Page::new(width.clamp(*WIDTHS.start(), *WIDTHS.end())).in_language(lang);
    let findings = &judged.findings;
    print_verdict(&mut page, judged);
    let shown = if is_full { findings.len() } else { FINDINGS.min(findings.len()) };
    for finding in &findings[..shown] {
        page.gap();
        print_finding(&mut page, finding);
    }
    if shown < findings.len() {
        page.gap();
        for finding in &findings[shown..] {
            let head = head(finding, lang).plain("   ");
            page.hanging(&head, DIM, &sentences::statement(&finding.statement, lang), LABEL);
        }
        page.wrapped(&Line::new().pad(2), DIM, words::host::full_shows_more(lang));
    }
    print_tables(&mut page, &judged.host, is_full);
    print_changed(&mut page, judged, is_full);
    print_looked_at(&mut page, judged);
    page.finish()
}

fn print_verdict(page: &mut Page, judged: &HostReport) {
    let findings = &judged.findings;
    let lang = page.lang();
    let Some(worst) = findings.first() else {
        return page.wrapped(&Line::new(), GOOD, words::host::healthy(judged.is_part, lang));
    };
    let statement = capitalised(&sentences::statement(&worst.statement, lang));
    page.wrapped(&Line::new(), BOLD, &words::host::headline(&statement, findings.len() - 1, lang));
    if let Some(fix) = worst.remedies.first() {
        let head = format!("{}: ", capitalised(Label::Fix.text(lang)));
        page.wrapped(
            &Line::new().styled(BOLD, &head),
            Style::new(),
            &words::host::sentence(&words::host::remedy(fix, lang), lang),
        );
    }
}

/// A sentence; a name at its beginning stays as it is.
fn capitalised(text: &str) -> String {
    if text.split(' ').next().is_some_and(|word| !word.chars().all(char::is_alphabetic)) {
        return text.to_owned();
    }
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// The cause, its cost, and its confidence.
fn head(finding: &Finding, lang: Lang) -> Line {
    let mut head = Line::new().pad(2);
    if let Some(cause) = finding.cause {
        head = head.styled(CAUSE, cause.slug()).plain("   ");
    }
    if let Some(extent) = finding.extent {
        head = head.styled(BOLD, &words::host::extent(extent, lang)).plain("   ");
    }
    head = head.styled(DIM, confidence(finding.confidence, lang));
    match &finding.namespace {
        Some(name) => head.plain("   ").styled(DIM, &words::host::namespace(name, lang)),
        None => head,
    }
}

fn print_finding(page: &mut Page, finding: &Finding) {
    let lang = page.lang();
    page.line(&head(finding, lang));
    page.wrapped(&Line::new().pad(LABEL), Style::new(), &sentences::statement(&finding.statement, lang));
    print_evidence(page, &finding.evidence);
    for fix in &finding.remedies {
        page.wrapped(&label(Label::Fix, lang), Style::new(), &words::host::remedy(fix, lang));
        if let Fix::OfHost { command: Some(command), .. } = fix {
            // Whole, to be copied; at the left edge where it would not fit otherwise.
            let indent = if TEXT + width(command) <= page.width() { TEXT } else { LABEL };
            page.line(&Line::new().pad(indent).styled(COMMAND, command));
        }
    }
    if let Some(check) = &finding.verify {
        page.wrapped(&label(Label::Verify, lang), Style::new(), &words::host::check(check, lang));
    }
}

fn label(label: Label, lang: Lang) -> Line {
    Line::new().pad(LABEL).styled(DIM, label.text(lang)).pad(TEXT)
}

/// Figures one under the other, each with where it is from; then the sockets.
fn print_evidence(page: &mut Page, evidence: &[Evidence]) {
    let lang = page.lang();
    let value = |evidence: &Evidence| units::figure(evidence.value, words::unit(evidence.unit, evidence.value, lang));
    let figures = evidence.iter().filter(|evidence| evidence.text.is_none());
    let value_width = figures.clone().map(|evidence| width(&value(evidence))).max().unwrap_or(0);
    let name = |evidence: &Evidence| words::host::figure_name(&evidence.name, lang).to_owned();
    let name_width = figures.map(|evidence| width(&name(evidence))).max().unwrap_or(0);
    for (index, evidence) in evidence.iter().enumerate() {
        let head = if index == 0 { label(Label::Evidence, lang) } else { Line::new().pad(TEXT) };
        if let Some(text) = &evidence.text {
            let head = head.styled(DIM, &format!("{}: ", name(evidence)));
            page.hanging(&head, Style::new(), text, TEXT + 2);
            continue;
        }
        let from = evidence.from.map_or(String::new(), |from| words::host::origin(from, lang));
        let end = TEXT + name_width + 2 + value_width;
        let line = head.plain(&name(evidence)).right(end, &Line::new().plain(&value(evidence)));
        if line.width() + 3 + width(&from) <= page.width() {
            page.line(&line.plain("   ").styled(DIM, &from));
        } else {
            page.line(&line);
            page.wrapped(&Line::new().pad(TEXT + 2), DIM, &from);
        }
    }
}

fn print_tables(page: &mut Page, host: &Host, is_full: bool) {
    let rows = if is_full { usize::MAX } else { ROWS };
    let peers = PeerGroup::all(host);
    if peers.is_empty() {
        return print_processes(page, host, rows);
    }
    page.gap();
    let lang = page.lang();
    let mut table = Table::new(vec![
        Column::words(HostWord::Peer.text(lang)),
        Column::figures(HostWord::Sockets.text(lang)),
        Column::words(HostWord::States.text(lang)),
        Column::figures("RTT"),
        Column::figures(HostWord::Retransmitted.text(lang)),
        Column::words(HostWord::LimitedBy.text(lang)).optional(),
        Column::words(HostWord::Process.text(lang)).optional(),
    ]);
    for peer in peers.iter().take(rows) {
        let retransmitted = (peer.sent > 0).then(|| units::share(peer.retransmitted as f64 / peer.sent as f64));
        table.row([
            peer.peer.to_string(),
            units::thousands(peer.sockets()),
            states(&peer.states),
            peer.rtt_s.map_or(String::new(), |rtt| units::figure(rtt, "s")),
            retransmitted.unwrap_or_default(),
            peer.limited_by.map_or(String::new(), |limit| limit.word().text(lang).to_owned()),
            names(&peer.processes, lang),
        ]);
    }
    if peers.len() > rows {
        table.remark(words::host::more_peers((peers.len() - rows) as u64, lang));
    }
    table.print(page, 2);
    print_processes(page, host, rows);
}

fn print_processes(page: &mut Page, host: &Host, rows: usize) {
    let processes = ProcessGroup::all(host);
    if processes.is_empty() {
        return;
    }
    page.gap();
    let lang = page.lang();
    let mut table = Table::new(vec![
        Column::words(HostWord::Process.text(lang)),
        Column::figures(HostWord::Peers.text(lang)),
        Column::words(HostWord::States.text(lang)),
        Column::words(HostWord::BelongsTo.text(lang)).optional(),
    ]);
    for process in processes.iter().take(rows) {
        let place = process
            .pod
            .as_ref()
            .and_then(pod_name)
            .or_else(|| process.container.clone())
            .or_else(|| process.unit.clone());
        table.row([
            format!("{}[{}]", process.name, process.pid),
            units::thousands(process.peers),
            states(&process.states),
            place.unwrap_or_default(),
        ]);
    }
    if processes.len() > rows {
        table.remark(words::host::more_processes((processes.len() - rows) as u64, lang));
    }
    table.print(page, 2);
}

/// Namespace and name of a pod, as `kubectl` has them.
fn pod_name(pod: &Pod) -> Option<String> {
    Some(format!("{}/{}", pod.namespace.as_ref()?, pod.name.as_ref()?))
}

/// The three states with most sockets.
fn states(states: &BTreeMap<State, u64>) -> String {
    let mut all: Vec<(State, u64)> = states.iter().map(|(state, number)| (*state, *number)).collect();
    all.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    let mut words: Vec<String> = all
        .iter()
        .take(3)
        .map(|(state, number)| format!("{} {}", units::thousands(*number), groups::state_name(*state)))
        .collect();
    if all.len() > 3 {
        words.push("…".to_owned());
    }
    words.join(", ")
}

/// The name that has most of it, and how many others there are.
fn names(names: &BTreeMap<String, u64>, lang: Lang) -> String {
    let most = names.iter().max_by_key(|(_, number)| **number);
    most.map_or(String::new(), |(name, _)| match names.len() {
        1 => name.clone(),
        number => words::host::and_more(name, number - 1, lang),
    })
}

/// Counters that rose since the look before, with their rates.
fn print_changed(page: &mut Page, judged: &HostReport, is_full: bool) {
    let Some(seconds) = judged.over.filter(|_| !judged.is_part) else { return };
    let shown = judged.changed.iter().filter(|(name, _)| is_full || CHANGES.contains(&name.as_str()));
    let texts: Vec<String> = shown
        .map(|(name, change)| {
            format!("{name} +{} ({}/s)", units::thousands(change.count), units::figure(change.per_s, ""))
        })
        .collect();
    if !texts.is_empty() {
        page.gap();
        let head = words::host::changed(&units::figure(seconds, "s"), page.lang());
        page.hanging(&Line::new().styled(DIM, &head), Style::new(), &texts.join(", "), 2);
    }
}

/// The sources of all figures, and the missing ones.
fn print_looked_at(page: &mut Page, judged: &HostReport) {
    let host = &judged.host;
    let count =
        |get: fn(&whyslow_live::host::Namespace) -> usize| host.namespaces.iter().map(get).sum::<usize>() as u64;
    let lang = page.lang();
    let sources = Sources {
        kernel: host.kernel.clone(),
        uptime: units::figure(host.uptime_s, "s"),
        sockets: count(|namespace| namespace.sockets.len()),
        metrics: count(|namespace| namespace.metrics.len()),
        settings: count(|namespace| namespace.sysctls.len()),
        routes: count(|namespace| namespace.routes.len()),
        machine: (!judged.is_part)
            .then(|| [count(|namespace| namespace.counters.len()), count(|namespace| namespace.devices.len())]),
        namespaces: host.namespaces.len(),
        period: match judged.over {
            Some(seconds) => Period::Over(units::figure(seconds, "s")),
            None if judged.is_part => Period::Part,
            None => Period::Boot,
        },
    };
    page.gap();
    let head = Line::new().styled(DIM, HostWord::LookedAt.text(lang));
    page.hanging(&head, DIM, &words::host::sources(&sources, lang), 2);
    for missing in &host.missing {
        let text = words::host::missing(&missing.what, &missing.why, lang);
        page.wrapped(&Line::new().styled(WARNING, "! "), Style::new(), &text);
    }
}

#[cfg(test)]
mod tests;
