//! [`Remedy`]: a fix in the lab: the printed command, on the host that it is for; or the advice for
//! a program or for the path, as a key of the scenario.
//!
//! Only commands that change nothing but a host's own namespace are run. What would change the
//! whole machine (a module, a parameter of one, a queue of a device) is done by a key or not at
//! all.

use super::captured::Captured;
use serde::Serialize;
use std::collections::BTreeSet;
use whyslow_analysis::{Actor, Cause, End, Finding, Remedy as Advice};
use whyslow_lab::scenario::Scenario;
use whyslow_lab::scenario::host::HostSpec;
use whyslow_lab::scenario::path::{AqmSpec, CodelSpec, LinkSpec};
use whyslow_lab::scenario::script::{Reading, Script};
use whyslow_lab::scenario::units::{Size, Time};
use whyslow_lab::scenario::work::{Side, Work};
use whyslow_report::words::{Lang, action};

/// A fix, and how it is done.
#[derive(Clone, Debug)]
pub(super) struct Remedy {
    /// The cause that it fixes; `None` for a popular change that no finding asks for.
    pub cause: Option<Cause>,
    /// In a few words.
    pub what: String,
    /// As it is printed.
    pub command: Option<String>,
    /// How it is done here.
    pub how: How,
    /// What the finding promises, seconds.
    pub promised_s: Option<f64>,
}

/// How a fix is done in the lab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// A command on the host of this end.
    Command(End, String),
    /// A key of the scenario.
    Key(Key),
    /// Not at all, and why.
    Not(String),
}

/// What a fix changes in a program, in a socket, or in the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Key {
    /// The sender's sockets use BBR.
    Bbr,
    /// TCP_NODELAY on both ends.
    NoDelay,
    /// The server answers at once.
    ServerAtOnce,
    /// The client asks at once.
    ClientAtOnce,
    /// The sender's program has its data ready.
    Ready,
    /// The receiver's program reads at once.
    ReadsAtOnce,
    /// The sender's program waits for no grants amid a transfer.
    NoGrants,
    /// The client asks for everything at once.
    Pipelined,
    /// The sender is not paced.
    Unpaced,
    /// Nothing is lost but by the queue.
    Lossless,
    /// `CoDel` keeps the queue short.
    Codel,
    /// The path reports packets that are too large for it.
    Icmp,
}

impl Key {
    /// In a few words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Bbr => "BBR on the sender's sockets",
            Self::NoDelay => "TCP_NODELAY at both ends",
            Self::ServerAtOnce => "a server that answers at once",
            Self::ClientAtOnce => "a client that asks at once",
            Self::Ready => "a program that has its data ready",
            Self::ReadsAtOnce => "a program that reads at once",
            Self::NoGrants => "a protocol's window that is never full",
            Self::Pipelined => "all requests at once",
            Self::Unpaced => "no limit on the sender's rate",
            Self::Lossless => "a path that loses nothing",
            Self::Codel => "CoDel in front of the narrow link",
            Self::Icmp => "a path that says what is too large",
        }
    }
}

/// Payload of a full segment that carries timestamps, bytes.
const SEGMENT: u64 = 1_448;
/// Maximum number of findings whose fixes are tried.
const MOST: usize = 6;

/// The fixes of all findings, those that cost most first; then other fixes for the same causes.
pub(super) fn of(captured: &Captured) -> Vec<Remedy> {
    let mut all: Vec<Remedy> = Vec::new();
    for finding in captured.findings().into_iter().filter(|finding| finding.cost_s.0 > 0).take(MOST) {
        let others = alternatives(finding.cause).into_iter().map(|key| Remedy::by_key(Some(finding.cause), key));
        let own = main(captured, finding).into_iter().chain(on_a_host(captured, finding));
        for remedy in own.chain(others) {
            if !all.iter().any(|other| other.how == remedy.how) {
                all.push(remedy);
            }
        }
    }
    all
}

/// What helps on the sender where the fix itself is the path's.
fn on_a_host(captured: &Captured, finding: &Finding) -> Option<Remedy> {
    if !is_the_path_s(finding) {
        return None;
    }
    let harmless =
        |remedy: &Advice| Some((host_of(captured, remedy), remedy.action.command().filter(|it| is_harmless(it))?));
    let (host, line) = finding.remedies.iter().find_map(harmless)?;
    let (what, how) = (words(&line, host), How::Command(host, line.clone()));
    Some(Remedy { cause: Some(finding.cause), what, command: Some(line), how, promised_s: None })
}

/// Whether the path itself needs a fix, which a key applies, and the command is only a workaround.
fn is_the_path_s(finding: &Finding) -> bool {
    let is_network = finding.remedy().is_some_and(|remedy| remedy.actor == Actor::Network);
    match by_key(finding.cause) {
        Some(Key::Icmp) => true,
        Some(Key::Lossless) => is_network,
        _ => false,
    }
}

/// What people often try; left out where the findings ask for the same.
pub(super) fn often_tried(captured: &Captured, asked: &[Remedy]) -> Vec<Remedy> {
    let causes: BTreeSet<&str> = asked.iter().filter_map(|remedy| Some(remedy.cause?.slug())).collect();
    let command = "ip route change $(ip route show default | head -n 1) initcwnd 64".to_owned();
    let mut all = Vec::new();
    let is_of_window = ["slow-start", "restart-after-idle", "amplification-risk"].iter().any(|it| causes.contains(it));
    if !is_of_window {
        let how = How::Command(captured.from(), command.clone());
        let what = format!("initcwnd 64 on the {}", name(captured.from()));
        all.push(Remedy { cause: None, what, command: Some(command), how, promised_s: None });
    }
    if !asked.iter().any(|remedy| remedy.how == How::Key(Key::Bbr)) {
        all.push(Remedy::by_key(None, Key::Bbr));
    }
    all
}

/// The fix that a finding names.
fn main(captured: &Captured, finding: &Finding) -> Option<Remedy> {
    let of_path = is_the_path_s(finding);
    let by_command = finding.remedies.iter().find(|one| !of_path && one.action.command().is_some());
    let fix = by_command.or(finding.remedy())?;
    let host = host_of(captured, fix);
    let command = fix.action.command().filter(|_| !of_path);
    let how = match (&command, by_key(finding.cause)) {
        (Some(line), _) if line.ends_with("tcp_congestion_control=bbr") => How::Key(Key::Bbr),
        (Some(line), _) if is_harmless(line) => How::Command(host, line.clone()),
        (_, Some(key)) => How::Key(key),
        (Some(_), None) => How::Not("its command changes more than a host of the lab".to_owned()),
        (None, None) => How::Not("the lab has no key for it".to_owned()),
    };
    let what = match &how {
        How::Command(host, line) => words(line, *host),
        How::Key(key) => key.words().to_owned(),
        How::Not(_) => whyslow_report::text::first_clause(&action(&fix.action, Lang::En)).to_owned(),
    };
    let promised_s = fix.promise.map(|promise| promise.time_s.as_secs_f64());
    Some(Remedy { cause: Some(finding.cause), what, command, how, promised_s })
}

/// The host on which the command of a remedy runs.
fn host_of(captured: &Captured, remedy: &Advice) -> End {
    match (remedy.actor, remedy.action.runs_on()) {
        (_, Some(end)) => end,
        (Actor::Receiver, None) => captured.from().other(),
        _ => captured.from(),
    }
}

/// Whether a command changes nothing but the namespace in which it runs.
fn is_harmless(line: &str) -> bool {
    let is_own = |part: &str| {
        let part = part.trim();
        let settings = part.strip_prefix("sysctl -w ").is_some_and(|rest| rest.starts_with("net.ipv4.tcp_"));
        let own = ["ip route change ", "ip -6 route change ", "ip tcp_metrics "];
        settings || own.iter().any(|command| part.starts_with(command))
    };
    // Redirections, pipes to programs that write, and several commands in one.
    let inner = [
        "$(sysctl -n net.ipv4.tcp_",
        "$(ip route show default | head -n 1)",
        "$(ip -6 route show default | head -n 1)",
    ];
    let outer = inner.iter().fold(line.to_owned(), |line, text| line.replace(text, ""));
    let is_plain = !outer.contains("> ") && !outer.contains(['`', '&', '\n']) && !outer.contains("$(");
    is_plain && line.split("; ").all(is_own)
}

/// A command in a few words: what it sets, and on which host.
fn words(line: &str, host: End) -> String {
    let (host, line) = (name(host), line.split("   #").next().unwrap_or(line));
    if let Some((_, attribute)) = line.split_once("head -n 1) ") {
        return format!("{attribute} on the {host}");
    }
    if line.starts_with("ip tcp_metrics ") {
        return format!("no threshold remembered on the {host}");
    }
    let setting = line.trim_start_matches("sysctl -w ");
    if let Some((key, value)) = setting.split_once("=\"$(") {
        let largest = value.rsplit_once(':').map(|(_, rest)| rest.trim_matches(|c: char| !c.is_ascii_digit()));
        let largest = largest.and_then(|digits| digits.parse().ok()).map(whyslow_report::text::units::thousands);
        return format!("{key} max {} on the {host}", largest.unwrap_or_default());
    }
    format!("{setting} on the {host}")
}

fn name(end: End) -> &'static str {
    match end {
        End::Client => "client",
        End::Server => "server",
    }
}

/// The key that fixes a cause without a command.
fn by_key(cause: Cause) -> Option<Key> {
    Some(match cause.slug() {
        "server-think" | "proxy-split" => Key::ServerAtOnce,
        "client-think" => Key::ClientAtOnce,
        "application" => Key::Ready,
        "zero-window" | "host-cpu" => Key::ReadsAtOnce,
        "protocol-window" => Key::NoGrants,
        "turn-taking" => Key::Pipelined,
        "nagle-delayed-ack" => Key::NoDelay,
        "pacing" => Key::Unpaced,
        "bufferbloat" => Key::Codel,
        "random-loss" | "loss" | "timeout" | "tail-loss" | "lost-retransmission" | "syn-loss" => Key::Lossless,
        "mtu-black-hole" => Key::Icmp,
        _ => return None,
    })
}

/// Other keys that may fix a cause.
fn alternatives(cause: Cause) -> Vec<Key> {
    match cause.slug() {
        "random-loss" | "loss" | "policer" => vec![Key::Lossless, Key::Bbr],
        "timeout" | "tail-loss" => vec![Key::Lossless],
        "bufferbloat" => vec![Key::Bbr],
        _ => Vec::new(),
    }
}

impl Remedy {
    /// What no command does.
    fn by_key(cause: Option<Cause>, key: Key) -> Self {
        Self { cause, what: key.words().to_owned(), command: None, how: How::Key(key), promised_s: None }
    }

    /// Does it in a scenario.
    pub fn apply(&self, from: End, scenario: &mut Scenario) {
        match &self.how {
            How::Command(end, line) => {
                let host = host(scenario, *end);
                host.before.push(line.clone());
                // No sysctl reaches a buffer that the program sets: the fix is to take that out as
                // well.
                host.rcvbuf = host.rcvbuf.filter(|_| !line.contains("tcp_rmem"));
                host.sndbuf = host.sndbuf.filter(|_| !line.contains("tcp_wmem"));
                open_window(scenario, *end, line);
            }
            How::Key(key) => key.apply(from, scenario),
            How::Not(_) => {}
        }
    }
}

/// A larger initial window is also that of a stack whose window the program keeps.
fn open_window(scenario: &mut Scenario, end: End, line: &str) {
    let Work::Script(script) = &mut scenario.work else { return };
    let window = if end == End::Client { &mut script.client_window } else { &mut script.server_window };
    let mut words = line.split_whitespace().skip_while(|word| *word != "initcwnd").skip(1);
    if let (Some(window), Some(segments)) = (window, words.next().and_then(|word| word.parse::<u64>().ok())) {
        window.initial = Size(window.initial.0.max(segments * SEGMENT));
    }
}

fn host(scenario: &mut Scenario, end: End) -> &mut HostSpec {
    match end {
        End::Client => &mut scenario.client,
        End::Server => &mut scenario.server,
    }
}

fn link(scenario: &mut Scenario, from: End) -> &mut LinkSpec {
    match from {
        End::Client => &mut scenario.path.up,
        End::Server => &mut scenario.path.down,
    }
}

impl Key {
    fn apply(self, from: End, scenario: &mut Scenario) {
        let side = if from == End::Client { Side::Client } else { Side::Server };
        match self {
            Self::Bbr => host(scenario, from).congestion = "bbr".to_owned(),
            Self::NoDelay => {
                scenario.client.nodelay = true;
                scenario.server.nodelay = true;
            }
            Self::Unpaced => host(scenario, from).max_pacing = None,
            Self::Codel => link(scenario, from).aqm = Some(AqmSpec::Codel(CodelSpec::default())),
            Self::Icmp => super::mtu_black_hole::fill(link(scenario, from)),
            Self::Lossless => {
                for link in [&mut scenario.path.up, &mut scenario.path.down] {
                    link.loss = None;
                    link.step.clear();
                }
            }
            _ => {
                if let Work::Script(script) = &mut scenario.work {
                    self.apply_to_programs(side, script);
                }
            }
        }
    }

    fn apply_to_programs(self, sender: Side, script: &mut Script) {
        match self {
            Self::ServerAtOnce => at_once(script, Side::Server),
            Self::ClientAtOnce => at_once(script, Side::Client),
            Self::Ready => at_once(script, sender),
            Self::ReadsAtOnce => {
                script.client_reads = Reading::default();
                script.server_reads = Reading::default();
            }
            Self::NoGrants => without_grants(script, sender),
            Self::Pipelined => without_grants(script, Side::Client),
            _ => {}
        }
    }
}

/// A program that never takes its time.
fn at_once(script: &mut Script, side: Side) {
    script.messages.iter_mut().filter(|message| message.from == side).for_each(|message| message.wait = Time(0));
}

/// A program that waits for the first thing that it needs, and for nothing after that.
fn without_grants(script: &mut Script, side: Side) {
    let needs: Vec<u64> = script.with_needs().into_iter().map(|(_, needs)| needs).collect();
    let first = script.messages.iter().zip(&needs).find(|(message, _)| message.from == side).map(|(_, needs)| *needs);
    for (message, needs) in script.messages.iter_mut().zip(needs) {
        // The bytes that the other end waits for stay as they are, although messages move to an
        // earlier time.
        message.after = if message.from == side { first.map(Size) } else { Some(Size(needs)) };
        if message.from == side {
            message.wait = Time(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stays_in_a_namespace_is_run() {
        for line in [
            "sysctl -w net.ipv4.tcp_sack=1",
            "ip tcp_metrics flush all; sysctl -w net.ipv4.tcp_no_ssthresh_metrics_save=1",
            "sysctl -w net.ipv4.tcp_sack=1 net.ipv4.tcp_recovery=1 net.ipv4.tcp_early_retrans=3",
            "ip route change $(ip route show default | head -n 1) initcwnd 32",
            "ip -6 route change $(ip -6 route show default | head -n 1) quickack 1",
            "sysctl -w net.ipv4.tcp_rmem=\"$(sysctl -n net.ipv4.tcp_rmem | awk '{print $1, ($2>851968?$2:851968), ($3>6291456?$3:6291456)}')\"",
        ] {
            assert!(is_harmless(line), "{line}");
        }
        for line in [
            "echo 0 > /sys/module/tcp_cubic/parameters/hystart",
            "modprobe tcp_bbr && sysctl -w net.ipv4.tcp_congestion_control=bbr",
            "tc qdisc replace dev DEV root cake bandwidth 8mbit",
            "sysctl -w net.core.rmem_max=1",
            "sysctl -w net.ipv4.tcp_sack=1; reboot",
            "sysctl -w net.ipv4.tcp_sack=$(reboot)",
            "sysctl -w net.ipv4.tcp_sack=1 & reboot",
            "for d in $(ls /sys/class/net); do ethtool -S $d; done",
        ] {
            assert!(!is_harmless(line), "{line}");
        }
    }

    #[test]
    fn a_command_is_named_by_what_it_sets() {
        let line = "sysctl -w net.ipv4.tcp_rmem=\"$(sysctl -n net.ipv4.tcp_rmem | awk '{print $1, ($2>851968?$2:851968), ($3>6291456?$3:6291456)}')\"";
        assert_eq!(words(line, End::Client), "net.ipv4.tcp_rmem max 6,291,456 on the client");
        let line = "ip route change $(ip route show default | head -n 1) initcwnd 32";
        assert_eq!(words(line, End::Server), "initcwnd 32 on the server");
        assert_eq!(words("sysctl -w net.ipv4.tcp_sack=1", End::Server), "net.ipv4.tcp_sack=1 on the server");
    }

    #[test]
    fn pipelined_requests_are_answered_in_turn() {
        let text = "[[work.script.messages]]\nfrom = \"client\"\nsize = \"10B\"\n\
                    [[work.script.messages]]\nfrom = \"server\"\nsize = \"100B\"\n\
                    [[work.script.messages]]\nfrom = \"client\"\nsize = \"10B\"\nwait = \"1s\"\n\
                    [[work.script.messages]]\nfrom = \"server\"\nsize = \"100B\"\n";
        let mut scenario = match whyslow_lab::scenario::load("a test", text, &[]) {
            Ok(mut loaded) => loaded.runs.remove(0).scenario,
            Err(error) => panic!("{error}"),
        };
        Key::Pipelined.apply(End::Server, &mut scenario);
        let Work::Script(script) = &scenario.work else { panic!("a script") };
        let needs: Vec<u64> = script.with_needs().into_iter().map(|(_, needs)| needs).collect();
        assert_eq!(needs, [0, 10, 0, 20]);
        assert_eq!(script.messages[2].wait, Time(0));
        assert!(scenario.resolve().is_ok());
    }
}
