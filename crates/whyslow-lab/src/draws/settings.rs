//! Helpers for draws: a random number stream, and scenario settings with their units.

use crate::scenario::{ScenarioError, Variant, load};
use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Payload of a full segment with timestamps, bytes.
pub(crate) const MSS: f64 = 1448.0;

/// A key of the scenario and its value, as on the command line.
pub(crate) type Setting = (String, String);

/// Buffers that never limit a transfer.
pub(super) const AMPLE: &str = r#"["4KiB", "4MiB", "16MiB"]"#;

pub(crate) fn build(settings: &[Setting], label: String) -> Result<impl Iterator<Item = Variant>, ScenarioError> {
    let drawn = load("draws", "", settings)?;
    Ok(drawn.runs.into_iter().map(move |run| Variant { label: label.clone(), ..run }))
}

/// A stream of random numbers that a seed begins.
pub(crate) struct Chance(ChaCha8Rng);

impl Chance {
    /// The stream of this number, independent of the other streams.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(stream);
        Self(rng)
    }

    /// A number between the two, distributed evenly on a logarithmic scale.
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
pub(super) fn common(chance: &mut Chance) -> Vec<Setting> {
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
pub(super) fn window_based(chance: &mut Chance) -> Setting {
    set("server.congestion", chance.among(&["cubic", "reno"]))
}

/// A receiver that never limits the transfer.
pub(crate) fn large_receive_window() -> Vec<Setting> {
    vec![set("client.tcp_rmem", AMPLE), set("client.initrwnd", "2000")]
}

pub(crate) fn path(rtt: f64, rate: f64, queue: &str) -> Vec<Setting> {
    vec![set("path.rtt", ms(rtt)), set("path.down.rate", bits(rate)), set("path.down.queue", queue)]
}
