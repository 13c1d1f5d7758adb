//! Random scenarios with a known cause.
//!
//! For each cause that the lab can make, round trip, rate, size, congestion control and offload are
//! drawn from ranges where this cause is the one that limits the transfer. Each draw states what
//! the kernel's counters must then show. The same seed draws the same scenarios. Nothing here
//! depends on how the analysis distinguishes causes.

mod changed;
mod ends;
mod exchanges;
mod links;
mod losses;
mod settings;
mod stalls;
mod varying;

pub use losses::{LOSSES, losses};

use crate::scenario::{Experiment, ScenarioError};
use changed::{in_tls, mirrored};
use settings::{AMPLE, common};
pub(crate) use settings::{Chance, MSS, Setting, bits, build, bytes, ms, set, verify};

/// A name, and what draws a scenario: of the cause of that name, unless the draw sets another one.
type Draw = (&'static str, fn(&mut Chance) -> Vec<Setting>);
/// All draws; a draw's place is part of the seed.
const DRAWS: &[Draw] = &[
    ("none", links::healthy),
    ("slow-start", ends::slow_start),
    ("early-slow-start-exit", ends::early_exit),
    ("restart-after-idle", ends::restart),
    ("receive-window", ends::receive_window),
    ("no-window-scaling", ends::no_window_scaling),
    ("zero-window", ends::zero_window),
    ("sender-cap", ends::sender_cap),
    ("protocol-window", ends::protocol_window),
    ("application", ends::application),
    ("server-think", ends::server_think),
    ("turn-taking", ends::turn_taking),
    ("nagle-delayed-ack", ends::nagle),
    ("new-connection-each-time", ends::new_connections),
    ("bandwidth", links::bandwidth),
    ("bufferbloat", links::bufferbloat),
    ("pacing", ends::pacing),
    ("shaper", links::shaper),
    ("policer", links::policer),
    ("ecn", links::ecn),
    ("no-sack", links::no_sack),
    ("loss", links::loss),
    ("timeout", links::timeout),
    ("tail-loss", links::tail_loss),
    ("reordering", links::reordering),
    ("syn-loss", links::syn_loss),
    ("mtu-black-hole", links::black_hole),
    ("proxy-split", links::proxy_split),
    ("delayed-ack", ends::delayed_ack),
    ("duplication", links::duplication),
    ("small-segments", ends::small_segments),
    ("tls-record-buffering", ends::tls_records),
    ("amplification-risk", ends::amplification),
    ("small-requests", exchanges::small_requests),
    ("pushes", exchanges::pushes),
    ("shared-bottleneck", exchanges::shared_bottleneck),
    ("slow-second-query", exchanges::slow_second_query),
    ("no-answer", exchanges::no_answer),
    ("reset", exchanges::reset),
    ("stall-in-response", stalls::response),
    ("stall-in-tls-response", stalls::tls_response),
    ("stall-in-upload", stalls::upload),
    ("trickle", stalls::trickle),
    ("slow-reader", stalls::slow_reader),
    ("slow-reading-server", |chance| mirrored(stalls::slow_reader(chance))),
    ("stopped-server", |chance| caused_by("zero-window", mirrored(ends::zero_window(chance)))),
    ("chat", stalls::chat),
    ("heartbeats", stalls::heartbeats),
    ("news", stalls::news),
    ("radio", varying::radio),
    ("radio-hold", varying::hold),
    ("managed-queue", varying::managed),
    ("jittery-link", varying::jittery),
    ("longer-path-window", varying::longer_window),
    ("longer-path-link", varying::longer_link),
    ("lost-acks", varying::lost_acks),
    ("burst-losses", varying::burst_losses),
    ("narrow-at-once", varying::narrow_at_once),
    ("upload-slow-start", |chance| caused_by("slow-start", mirrored(ends::slow_start(chance)))),
    ("upload-receive-window", |chance| caused_by("receive-window", mirrored(ends::receive_window(chance)))),
    ("upload-no-window-scaling", |chance| caused_by("no-window-scaling", mirrored(ends::no_window_scaling(chance)))),
    ("upload-sender-cap", |chance| caused_by("sender-cap", mirrored(ends::sender_cap(chance)))),
    ("upload-bandwidth", |chance| caused_by("bandwidth", mirrored(links::bandwidth(chance)))),
    ("upload-policer", |chance| caused_by("policer", mirrored(links::policer(chance)))),
    ("upload-loss", |chance| caused_by("loss", mirrored(links::loss(chance)))),
    ("upload-timeout", |chance| caused_by("timeout", mirrored(links::timeout(chance)))),
    ("tls-receive-window", |chance| {
        let mut settings = caused_by("receive-window", in_tls(chance, ends::receive_window));
        // Handshakes take a part of the few round trips.
        settings.push(verify(&["server.rwnd_limited >= 40%", "server.retransmitted <= 0"]));
        settings
    }),
    ("tls-server-think", |chance| caused_by("server-think", in_tls(chance, ends::server_think))),
    ("tls-bandwidth", |chance| caused_by("bandwidth", in_tls(chance, links::bandwidth))),
    ("tls-loss", |chance| {
        let mut settings = caused_by("loss", in_tls(chance, links::loss));
        // If few segments are lost, slow start may cost more.
        settings.push(set("path.down.loss", format!("{:.2}%", chance.between(1.0, 3.0))));
        settings
    }),
];

/// The same draw, by the name of its cause where the draw has another.
fn caused_by(cause: &str, mut settings: Vec<Setting>) -> Vec<Setting> {
    settings.push(set("cause", cause));
    settings
}

/// Fixes for causes in the lab, as settings over those that made the cause, empty for a removed
/// one; only if the fixed transfer is the same except for the cause.
const CURES: &[(&str, &[(&str, &str)])] = &[
    // As in the fix. A program that writes without waiting: the rest of a flight is not held for
    // its ACK.
    ("slow-start", &[("server.initcwnd", "32"), ("server.nodelay", "true")]),
    ("early-slow-start-exit", &[("server.no_ssthresh_metrics_save", "true")]),
    ("restart-after-idle", &[("server.slow_start_after_idle", "false"), ("server.nodelay", "true")]),
    ("receive-window", &[("client.tcp_rmem", AMPLE)]),
    ("no-window-scaling", &[("client.window_scaling", "true")]),
    ("zero-window", &[("work.download.read.pause", "0ms")]),
    ("sender-cap", &[("server.sndbuf", "")]),
    ("protocol-window", &[("work.credit.window", "64MB"), ("work.credit.grant", "16MB")]),
    ("application", &[("work.download.write", r#"{ chunk = "64KiB" }"#)]),
    ("pacing", &[("server.max_pacing", "")]),
    ("loss", &[("path.down.loss", "0%")]),
    ("mtu-black-hole", &[("path.down.mtu", r#"{ size = "1400B", icmp = true }"#)]),
];
/// After the label of a run whose cause was fixed.
pub const CURED: &str = "-cured";

/// The draw of a run: its label without its number.
pub fn drawn(label: &str) -> &str {
    label.rsplit_once('-').map_or(label, |(drawn, _)| drawn)
}

/// `each` scenarios of every cause, and if the lab can fix the cause, the same once more without
/// it, labelled [`CURED`].
///
/// # Errors
/// None that chance could bring about: a drawn scenario that cannot be built is a mistake in this
/// file, which a test looks for.
pub fn draw(seed: u64, each: u32) -> Result<Experiment, ScenarioError> {
    let mut runs = Vec::new();
    for (nth, (cause, draw)) in DRAWS.iter().enumerate() {
        for n in 1..=each {
            let mut chance = Chance::new(seed, (nth as u64) << 32 | u64::from(n));
            let mut settings = vec![("cause".to_owned(), (*cause).to_owned())];
            settings.extend(common(&mut chance));
            settings.extend(draw(&mut chance));
            runs.extend(build(&settings, format!("{cause}-{n}"))?);
            if let Some((_, cure)) = CURES.iter().find(|(fixed, _)| fixed == cause) {
                let fixed = cure.iter().filter(|(_, value)| !value.is_empty()).map(|(key, value)| set(key, *value));
                settings.retain(|(key, _)| cure.iter().all(|(fixed, _)| fixed != key));
                settings.retain(|(key, _)| key != "verify");
                settings.extend(fixed.chain([verify(&["goodput >= 1bit"])]));
                runs.extend(build(&settings, format!("{cause}-{n}{CURED}"))?);
            }
        }
    }
    let columns = ["rtt_min", "goodput", "retransmitted", "total"].map(str::to_owned).to_vec();
    Ok(Experiment {
        name: format!("draws-{seed}"),
        title: format!("{each} of every cause, seed {seed}"),
        about: "Labelled transfers drawn by chance, to judge an explanation with.".to_owned(),
        columns,
        expect: Vec::new(),
        runs,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn whatever_is_drawn_can_be_built_and_is_confirmed_by_something() {
        for seed in 0..40 {
            let experiment = draw(seed, 2).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            assert_eq!(experiment.runs.len(), 2 * (DRAWS.len() + CURES.len()));
            let others = ["none", "slow-start", "restart-after-idle", "receive-window", "client-think"];
            for run in &experiment.runs {
                assert!(!run.scenario.verify.is_empty(), "{}", run.label);
                assert!(run.scenario.resolve().is_ok(), "{}: {:?}", run.label, run.scenario.resolve());
                let expected: &[&str] = match drawn(run.label.trim_end_matches(CURED)) {
                    "small-requests" => &others,
                    "pushes" => &others[1..3],
                    "shared-bottleneck" => &["bandwidth"],
                    "slow-second-query" => &["server-think"],
                    "stall-in-response" | "stall-in-tls-response" | "stall-in-upload" | "trickle" => &["application"],
                    "slow-reader" | "slow-reading-server" | "stopped-server" => &["zero-window"],
                    "chat" | "heartbeats" | "news" => &["none"],
                    "radio" | "managed-queue" | "jittery-link" | "longer-path-link" | "lost-acks" => &["bandwidth"],
                    "longer-path-window" | "narrow-at-once" => &["receive-window"],
                    "burst-losses" => &["loss"],
                    "radio-hold" => &["spurious-retransmission"],
                    "tls-record-buffering" => &["tls-record-buffering"],
                    cause => &[cause.trim_start_matches("upload-").trim_start_matches("tls-")],
                };
                assert!(expected.contains(&run.scenario.cause.as_str()), "{}: {}", run.label, run.scenario.cause);
            }
        }
    }

    fn experiment_labels_are_unique() -> bool {
        let mut labels: Vec<String> = draw(7, 2).unwrap().runs.into_iter().map(|run| run.label).collect();
        let all = labels.len();
        labels.sort();
        labels.dedup();
        labels.len() == all
    }

    #[test]
    fn a_cure_changes_what_made_the_cause_and_nothing_else() {
        let experiment = draw(3, 1).unwrap();
        let of = |label: &str| &experiment.runs.iter().find(|run| run.label == label).unwrap().scenario;
        for (cause, cure) in CURES {
            let (made, fixed) = (of(&format!("{cause}-1")), of(&format!("{cause}-1{CURED}")));
            assert_ne!(made.key(), fixed.key(), "{cause}");
            assert_eq!((made.path.rtt, made.path.seed), (fixed.path.rtt, fixed.path.seed), "{cause}");
            assert!(fixed.resolve().is_ok() && !cure.is_empty(), "{cause}");
        }
    }

    #[test]
    fn a_seed_draws_the_same_again_and_another_seed_something_else() {
        let keys = |seed| draw(seed, 1).unwrap().runs.iter().map(|run| run.scenario.key()).collect::<Vec<_>>();
        assert_eq!(keys(7), keys(7));
        assert!(keys(7).iter().zip(keys(8)).all(|(a, b)| *a != b));
        assert!(experiment_labels_are_unique());
    }
}
