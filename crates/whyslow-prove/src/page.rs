//! The outcome for a person: the verdict first, then the scenario, its result, and the effect of
//! each fix.

use super::agreement::{Agreement, Difference};
use super::alternatives::Alternative;
use super::captured::Captured;
use super::outcome::{Outcome, Tried, Verdict};
use super::path::Losses;
use whyslow_analysis::{End, LimitingFactor};
use whyslow_lab::link::config::QueueLimit;
use whyslow_lab::scenario::host::HostSpec;
use whyslow_lab::scenario::path::QueueSpec;
use whyslow_report::text::styles::{BOLD, DIM};
use whyslow_report::text::units::{self, thousands};
use whyslow_report::text::{Line, Page};
use whyslow_units::Nanos;

/// Where the text of a line begins.
const COLUMN: usize = 11;

/// The page, as wide as this.
pub(super) fn page(outcome: &Outcome, width: usize) -> String {
    let mut page = Page::new(width.clamp(60, 200));
    page.wrapped(&Line::new(), BOLD, &headline(outcome));
    page.gap();
    print_row(&mut page, "built", &built(outcome));
    print_row(&mut page, "again", &again(outcome.agreement(), outcome));
    if !outcome.agreement().agrees {
        print_row(&mut page, "differs", &differences(outcome.agreement(), "; "));
    }
    for other in &outcome.instead {
        print_row(&mut page, "instead", &instead(other));
    }
    for tried in &outcome.fixes {
        print_row(&mut page, label(tried), &result_line(tried, outcome));
    }
    if let Some(together) = &outcome.together {
        print_row(&mut page, "together", &result_line(together, outcome));
    }
    for tried in &outcome.often_tried {
        let name = if tried.verdict == Verdict::Helps { "helps too" } else { label(tried) };
        print_row(&mut page, name, &result_line(tried, outcome));
    }
    page.finish()
}

fn print_row(page: &mut Page, name: &str, text: &str) {
    page.hanging(&Line::new().styled(DIM, name).pad(COLUMN), anstyle::Style::new(), text, COLUMN);
}

fn seconds(value: f64) -> String {
    units::span(Nanos::from_secs_f64(value))
}

fn what(outcome: &Outcome) -> &'static str {
    match (outcome.captured.is_about_connection, outcome.captured.from()) {
        (true, _) => "connection",
        (false, End::Server) => "download",
        (false, End::Client) => "upload",
    }
}

/// The verdict in a sentence.
pub(super) fn headline(outcome: &Outcome) -> String {
    let it = what(outcome);
    let agreement = outcome.agreement();
    if let (Some(like), Some(cause)) = (outcome.behaves_like(), agreement.captured_cause) {
        return format!(
            "Contradicted: the {it} behaves like {like}, not like {cause}. With {cause} it differs on this machine's TCP in {}; with {like} it agrees.",
            differences(agreement, ", in ")
        );
    }
    if !agreement.agrees {
        let lacks = match agreement.captured_cause.and_then(beyond) {
            Some(why) => format!(" {why}."),
            None => String::new(),
        };
        return format!(
            "Not proved: on this machine's TCP the {it} differs in {}.{lacks} No fix was tried.",
            differences(agreement, ", in ")
        );
    }
    let again = seconds(agreement.again_s);
    let quickest = |tried: &&Tried| tried.trial.as_ref().map_or(f64::INFINITY, |trial| trial.seconds);
    let helps = outcome.fixes.iter().filter(|tried| tried.verdict == Verdict::Helps);
    let first = outcome.fixes.first().filter(|tried| tried.verdict == Verdict::Helps);
    let best = first.or_else(|| helps.min_by(|a, b| quickest(a).total_cmp(&quickest(b))));
    match (best, &agreement.captured_cause) {
        (Some(best), _) => format!(
            "Proved: on this machine's TCP the {it} takes {again} as it was, and {} with {}.",
            seconds(quickest(&best)),
            best.remedy.what
        ),
        (None, None) => {
            format!("The {it} takes {again} on this machine's TCP too: nothing slowed it, so there is nothing to fix.")
        }
        (None, Some(cause)) if outcome.fixes.iter().all(|tried| tried.verdict == Verdict::NotRun) => {
            format!(
                "The {it} takes {again} on this machine's TCP too, because of {cause}; none of its fixes can be tried here."
            )
        }
        (None, Some(cause)) => format!(
            "The {it} takes {again} on this machine's TCP too, because of {cause}; none of its fixes makes it faster here."
        ),
    }
}

/// What a run has otherwise than its capture.
pub(super) fn differences(agreement: &Agreement, between: &str) -> String {
    agreement.differs.iter().map(difference).collect::<Vec<_>>().join(between)
}

/// One difference in words.
pub(super) fn difference(of: &Difference) -> String {
    match of {
        Difference::Time { ratio } => format!("the time by {:+.0} %", (ratio - 1.0) * 100.0),
        Difference::Cause { here, captured } => {
            format!("the cause: {} here, {} in the capture", here.unwrap_or("nothing"), captured.unwrap_or("nothing"))
        }
        Difference::Limits { apart } => format!("the limits of {:.0} % of the time", apart * 100.0),
        Difference::Rounds { alike, of } => format!("the rounds: {alike} of {of} agree"),
        Difference::Flight { here, captured } => {
            format!("the bytes in flight: {} B here, {} B in the capture", thousands(*here), thousands(*captured))
        }
        Difference::Retransmitted { here, captured } => {
            format!("the segments that had to be retransmitted: {here} here, {captured} in the capture")
        }
    }
}

/// Another explanation's line.
fn instead(other: &Alternative) -> String {
    let took = seconds(other.agreement.again_s);
    if other.agreement.agrees {
        return format!("{}: {took}; agrees", other.cause);
    }
    format!("{}: {took}; differs in {}", other.cause, differences(&other.agreement, ", in "))
}

/// Why a cause cannot be made again from what its capture shows.
fn beyond(cause: &str) -> Option<&'static str> {
    Some(match cause {
        "no-answer" | "reset" => "Ended connections are not reproduced: every message gets a response here",
        "new-connection-each-time" => "Only one connection is reproduced, and this cause is about several",
        "host-cpu" => "A busy host is not reproduced",
        _ => return None,
    })
}

/// The path and the hosts.
pub(super) fn built(outcome: &Outcome) -> String {
    let captured = &outcome.captured;
    let built = outcome.built();
    let scenario = &built.scenario;
    let from = captured.from();
    let (sender, receiver, link) = match from {
        End::Client => (&scenario.client, &scenario.server, &scenario.path.up),
        End::Server => (&scenario.server, &scenario.client, &scenario.path.down),
    };
    let mut parts = vec![round_trip(captured, outcome)];
    if let Some(rate) = link.rate {
        let queue = match link.queue {
            Some(QueueSpec(QueueLimit::Bytes(bytes))) => format!(" behind a queue of {} B", thousands(bytes)),
            _ => String::new(),
        };
        parts.push(format!("{}{queue}", units::rate(rate.0 as f64)));
    }
    if let Some(loss) = lost(outcome) {
        parts.push(loss);
    }
    parts.extend(hosts(captured, sender, receiver, from, outcome.fitted.choice.host.growth));
    parts.push(format!("{} {}", units::bytes(built.bytes), if from == End::Server { "down" } else { "up" }));
    if captured.thought() > 0.02 {
        parts.push(format!("after {} of server processing", seconds(captured.thought())));
    }
    let mut all = parts.join(", ");
    if built.factor > 1.0 {
        all += &format!("; the capture has {:.1} times as much, of the same kind", built.factor);
    }
    all
}

fn round_trip(captured: &Captured, outcome: &Outcome) -> String {
    let usual = captured.usual_rtt().filter(|_| outcome.fitted.choice.path.usual_rtt);
    let rtt = units::millis(usual.unwrap_or_else(|| captured.rtt()) * 1e3);
    let path = &outcome.built().scenario.path;
    let jitter = path.up.jitter.as_ref().or(path.down.jitter.as_ref());
    match jitter {
        Some(jitter) => {
            format!("RTT {rtt} to {}", units::millis((captured.rtt() + jitter.amount.seconds() * 2.0) * 1e3))
        }
        None => format!("RTT {rtt}"),
    }
}

fn lost(outcome: &Outcome) -> Option<String> {
    let captured = &outcome.captured;
    let lost = captured.lost(captured.from(), captured.mss()).len() as u64;
    match outcome.fitted.choice.path.losses {
        _ if lost == 0 => None,
        Losses::Queue => Some("losses by the full queue".to_owned()),
        Losses::Policer => Some("losses by a policer".to_owned()),
        Losses::Listed => Some(format!("{} lost as captured", units::count(lost, "segment"))),
    }
}

fn hosts(captured: &Captured, sender: &HostSpec, receiver: &HostSpec, from: End, growth: Option<f64>) -> Vec<String> {
    let mut parts = Vec::new();
    if captured.is_held_by_window() {
        // The kernel doubles what a program asks for.
        let buffer = receiver.rcvbuf.map_or(receiver.tcp_rmem[2].0, |own| own.0 * 2);
        parts.push(format!("receiver's buffer {} B", thousands(buffer)));
    }
    if captured.cap().is_some() {
        parts.push(format!("sender's buffer {} B", thousands(sender.tcp_wmem[2].0)));
    }
    if let Some(rate) = sender.max_pacing {
        parts.push(format!("a sender limited to {}", units::rate(rate.0 as f64)));
    }
    parts.push(sender.congestion.clone());
    let initial = format!("IW {}", sender.initcwnd.unwrap_or(10));
    match growth {
        Some(growth) => parts.push(format!("{initial}, a window that grows by {growth:.1} of the acknowledged bytes")),
        None => parts.push(initial),
    }
    for (has, without) in [
        (sender.sack && receiver.sack, "no SACK"),
        (sender.timestamps && receiver.timestamps, "no timestamps"),
        (sender.window_scaling && receiver.window_scaling, "no window scaling"),
        (sender.nodelay, "Nagle's algorithm"),
    ] {
        if !has {
            parts.push(without.to_owned());
        }
    }
    if captured.share(&[LimitingFactor::ZeroWindow]) >= 0.02 {
        let reader = if from == End::Server { "client" } else { "server" };
        parts.push(format!("a {reader} that stops reading"));
    }
    parts
}

/// The result of the run.
fn again(agreement: &Agreement, outcome: &Outcome) -> String {
    let mut parts =
        vec![format!("{} here, {} in the capture", seconds(agreement.again_s), seconds(agreement.captured_s))];
    if agreement.rounds > 0 && !outcome.captured.is_about_connection {
        parts.push(format!("rounds agree in {} of {}", agreement.rounds_alike, agreement.rounds));
    }
    let (captured, here) = (agreement.captured_retransmitted, agreement.again_retransmitted);
    if captured != Default::default() || here != Default::default() {
        let sum = |kinds: super::agreement::Kinds| kinds.fast + kinds.timeout + kinds.tail_probe + kinds.spurious;
        parts.push(format!("{} segments retransmitted here, {} in the capture", sum(here), sum(captured)));
    }
    parts.push(match (agreement.captured_cause, agreement.again_cause) {
        (None, None) => "nothing slowed either".to_owned(),
        (Some(there), Some(here)) if there == here => {
            format!("same cause: {here} ({})", sure(agreement.again_confidence.unwrap_or_default()))
        }
        (there, here) => format!("cause: {} here, {} in the capture", here.unwrap_or("none"), there.unwrap_or("none")),
    });
    if outcome.fitted.tries > 1 {
        parts.push(format!("the best of {} tries", outcome.fitted.tries));
    }
    spread(&outcome.fitted.trial.all_seconds).into_iter().for_each(|spread| parts.push(spread));
    parts.join("; ")
}

/// The least and the most of several runs.
fn spread(all: &[f64]) -> Option<String> {
    let [first, .., last] = all else { return None };
    Some(format!("{} runs, {} to {}", all.len(), seconds(*first), seconds(*last)))
}

/// In the words of the other pages.
fn sure(confidence: f64) -> &'static str {
    match confidence {
        c if c >= 0.8 => "certain",
        c if c >= 0.5 => "likely",
        _ => "possible",
    }
}

fn label(tried: &Tried) -> &'static str {
    match tried.verdict {
        Verdict::Helps => "fixed",
        Verdict::NoHelp | Verdict::Harms => "rejected",
        Verdict::NotRun => "not run",
    }
}

fn result_line(tried: &Tried, outcome: &Outcome) -> String {
    let mut text = tried.remedy.what.clone();
    if let Some(trial) = &tried.trial {
        text += &format!(": {}", seconds(trial.seconds));
        if let Some(promised) = tried.promised_s {
            text += &format!(" (predicted {})", seconds(promised));
        }
        if let Some(spread) = spread(&trial.all_seconds) {
            text += &format!("; {spread}");
        }
    }
    match tried.verdict {
        Verdict::NoHelp => text += ": no help",
        Verdict::Harms => text += ": slower",
        Verdict::NotRun => text += &format!(": {}", tried.why_not.as_deref().unwrap_or_default()),
        Verdict::Helps => {}
    }
    let main = outcome.agreement().captured_cause;
    match tried.remedy.cause.map(|cause| cause.slug()) {
        Some(cause) if Some(cause) != main => text += &format!(" [for {cause}]"),
        _ => {}
    }
    text
}
