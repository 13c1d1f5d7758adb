//! Labelled scenarios by chance: each cause that the lab can make, with round trip, rate, size,
//! congestion control and offload drawn anew, in ranges where that cause is the one that holds the
//! transfer back.
//!
//! Knows: for each cause, what makes it and what the kernel's counters must then say. Promises: the
//! same seed draws the same scenarios. Ignores: the analysis that is judged with them, and how it
//! tells causes apart.

mod causes;
mod exchanges;
mod losses;

pub use losses::{LOSSES, losses};

use crate::scenario::{Experiment, ScenarioError, Variant, load};
use causes::DRAWS;
use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Payload of a full segment with timestamps, bytes.
pub(crate) const MSS: f64 = 1448.0;

/// A name, and what draws a scenario: of the cause of that name, unless the draw sets another one.
type Draw = (&'static str, fn(&mut Chance) -> Vec<Setting>);
/// A key of the scenario and its value, as on the command line.
pub(crate) type Setting = (String, String);

/// What mends a cause in the lab, as settings over those that made it, an empty one for what is
/// left out; only where the mended transfer is the same but for the cause.
const CURES: &[(&str, &[(&str, &str)])] = &[
    // As the fix says. A program that writes without waiting: the rest of a flight is not held for
    // its ACK.
    ("slow-start", &[("server.initcwnd", "32"), ("server.nodelay", "true")]),
    ("early-slow-start-exit", &[("server.no_ssthresh_metrics_save", "true")]),
    ("restart-after-idle", &[("server.slow_start_after_idle", "false")]),
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
/// Buffers that never stand in the way.
const AMPLE: &str = r#"["4KiB", "4MiB", "16MiB"]"#;
/// Behind the label of a run whose cause was mended.
pub const CURED: &str = "-cured";

/// What a run was drawn as: its label without its number.
pub fn drawn(label: &str) -> &str {
    label.rsplit_once('-').map_or(label, |(drawn, _)| drawn)
}

/// `each` scenarios of every cause, and where the lab can mend the cause, the same once more
/// without it, labelled [`CURED`].
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
            if let Some((_, cure)) = CURES.iter().find(|(mended, _)| mended == cause) {
                let mended = cure.iter().filter(|(_, value)| !value.is_empty()).map(|(key, value)| set(key, *value));
                settings.retain(|(key, _)| cure.iter().all(|(mended, _)| mended != key));
                settings.retain(|(key, _)| key != "verify");
                settings.extend(mended.chain([verify(&["goodput >= 1bit"])]));
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

pub(crate) fn build(settings: &[Setting], label: String) -> Result<impl Iterator<Item = Variant>, ScenarioError> {
    let drawn = load("draws", "", settings)?;
    Ok(drawn.runs.into_iter().map(move |run| Variant { label: label.clone(), ..run }))
}

/// A stream of random numbers that a seed begins.
pub(crate) struct Chance(ChaCha8Rng);

impl Chance {
    /// The stream of this number: one more or fewer changes nothing for the others.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(stream);
        Self(rng)
    }

    /// Between the two, as likely to be in the lower half of the digits as in the upper.
    pub(crate) fn between(&mut self, least: f64, most: f64) -> f64 {
        let most = most.max(least);
        least * (most / least).powf(self.0.random::<f64>())
    }

    pub(crate) fn whole(&mut self, least: u32, most: u32) -> u32 {
        self.0.random_range(least..=most)
    }

    pub(crate) fn is(&mut self, share: f64) -> bool {
        self.0.random::<f64>() < share
    }

    pub(crate) fn among<'t>(&mut self, these: &[&'t str]) -> &'t str {
        these.choose(&mut self.0).copied().unwrap_or_default()
    }
}

pub(crate) fn set(key: &str, value: impl Into<String>) -> Setting {
    (key.to_owned(), value.into())
}

pub(crate) fn ms(seconds: f64) -> String {
    format!("{:.0}us", seconds * 1e6)
}

pub(crate) fn bytes(n: f64) -> String {
    format!("{n:.0}B")
}

pub(crate) fn bits(rate: f64) -> String {
    format!("{rate:.0}bit")
}

pub(crate) fn verify(claims: &[&str]) -> Setting {
    set("verify", format!("{claims:?}"))
}

/// What is drawn for every scenario: what must not matter. Where a loss, a mark or a pause must cut
/// the window, BBR would not do so, and [`window_based`] draws again.
fn common(chance: &mut Chance) -> Vec<Setting> {
    let offload = chance.is(0.5).to_string();
    vec![
        set("path.seed", chance.whole(1, 1_000_000).to_string()),
        set("client.timestamps", chance.is(0.8).to_string()),
        set("server.tso", offload.clone()),
        set("client.gro", offload),
        set("server.congestion", chance.among(&["cubic", "reno", "bbr"])),
        set("timeout", "60s"),
    ]
}

/// A congestion control that answers to losses, marks and pauses with its window.
fn window_based(chance: &mut Chance) -> Setting {
    set("server.congestion", chance.among(&["cubic", "reno"]))
}

/// The receiver never stands in the way.
pub(crate) fn open_handed() -> Vec<Setting> {
    vec![set("client.tcp_rmem", r#"["4KiB", "4MiB", "16MiB"]"#), set("client.initrwnd", "2000")]
}

pub(crate) fn path(rtt: f64, rate: f64, queue: &str) -> Vec<Setting> {
    vec![set("path.rtt", ms(rtt)), set("path.down.rate", bits(rate)), set("path.down.queue", queue)]
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
                    cause => &[cause],
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
            let (made, mended) = (of(&format!("{cause}-1")), of(&format!("{cause}-1{CURED}")));
            assert_ne!(made.key(), mended.key(), "{cause}");
            assert_eq!((made.path.rtt, made.path.seed), (mended.path.rtt, mended.path.seed), "{cause}");
            assert!(mended.resolve().is_ok() && !cure.is_empty(), "{cause}");
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
