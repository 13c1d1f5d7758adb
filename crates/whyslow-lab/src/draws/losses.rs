//! Draws to judge retransmissions with: paths that lose, reorder, duplicate and corrupt packets in
//! every mixture. No single cause is meant; each loss has its own.

use super::settings::{Chance, bits, build, bytes, common, large_receive_window, ms, set};
use crate::scenario::{Experiment, ScenarioError, Variant};

/// Prefix of the runs' labels.
pub const LOSSES: &str = "losses";

/// `number` transfers over lossy paths.
///
/// # Errors
/// As [`super::draw`].
pub fn losses(seed: u64, number: u32) -> Result<Experiment, ScenarioError> {
    let runs = (1..=number).map(|n| one(seed, n)).collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
    Ok(Experiment {
        name: format!("{LOSSES}-{seed}"),
        title: format!("{number} lossy paths, seed {seed}"),
        about: "Losses of every kind, to judge with why segments are retransmitted.".to_owned(),
        columns: ["rtt_min", "goodput", "retransmitted", "total"].map(str::to_owned).to_vec(),
        expect: Vec::new(),
        runs,
    })
}

fn one(seed: u64, n: u32) -> Result<Vec<Variant>, ScenarioError> {
    let chance = &mut Chance::new(seed, u64::from(n) | 1 << 48);
    let mut all = common(chance);
    all.extend(large_receive_window());
    let (rtt, rate) = (chance.between(0.002, 0.2), chance.between(5e6, 300e6));
    all.extend([
        set("path.rtt", ms(rtt)),
        set("path.down.rate", bits(rate)),
        set("path.down.queue", bytes((rate / 8.0 * rtt * chance.between(0.3, 4.0)).max(20e3))),
    ]);
    for (way, share) in [("down", 0.85), ("up", 0.4)] {
        if chance.is(share) {
            all.push(set(&format!("path.{way}.loss"), loss(chance)));
        }
    }
    if chance.is(0.25) {
        let (share, delay) = (chance.between(0.3, 3.0), ms(rtt * chance.between(0.1, 1.5)));
        all.push(set("path.down.reorder", format!("{{ share = \"{share:.1}%\", delay = {delay:?} }}")));
    }
    for (what, share) in [("duplicate", 0.15), ("corrupt", 0.1)] {
        if chance.is(share) {
            all.push(set(&format!("path.down.{what}"), format!("{:.2}%", chance.between(0.2, 2.0))));
        }
    }
    // Systems that lack one thing or another.
    for (key, without, share) in [
        ("client.sack", "false", 0.15),
        ("client.dsack", "false", 0.1),
        ("server.early_retrans", "0", 0.15),
        ("server.recovery", "0", 0.15),
    ] {
        if chance.is(share) {
            all.push(set(key, without));
        }
    }
    all.extend(work(chance, rtt));
    Ok(build(&all, format!("{LOSSES}-{n}"))?.collect())
}

fn loss(chance: &mut Chance) -> String {
    if chance.is(0.6) {
        return format!("{:.2}%", chance.between(0.2, 8.0));
    }
    let (to_bad, to_good) = (chance.between(0.2, 2.0), chance.between(8.0, 50.0));
    format!("{{ gilbert_elliott = {{ to_bad = \"{to_bad:.2}%\", to_good = \"{to_good:.1}%\" }} }}")
}

fn work(chance: &mut Chance, rtt: f64) -> Vec<super::Setting> {
    // Long enough for many losses, and not for minutes of timeouts.
    let size = chance.between(100e3, if rtt < 0.05 { 2e6 } else { 600e3 });
    if chance.is(0.45) {
        return vec![set("work.download.size", bytes(size))];
    }
    if chance.is(0.4) {
        return vec![
            set("work.download.size", bytes(chance.between(2e3, 60e3))),
            set("work.download.count", chance.whole(6, 15).to_string()),
            set("work.download.pause", ms(chance.between(0.01, 0.3))),
            set("work.download.connection", chance.among(&["new", "reused"])),
        ];
    }
    if chance.is(0.4) {
        return vec![set("work.upload.size", bytes(size.min(600e3)))];
    }
    if chance.is(0.5) {
        let (chunk, every) = (bytes(chance.between(500.0, 8e3)), ms(chance.between(0.005, 0.08)));
        let write = format!("{{ chunk = {chunk:?}, every = {every:?} }}");
        return vec![set("work.download.size", bytes(chance.between(50e3, 200e3))), set("work.download.write", write)];
    }
    vec![
        set("client.nodelay", "true"),
        set("server.nodelay", "true"),
        set("work.turns.count", chance.whole(20, 60).to_string()),
    ]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn whatever_is_drawn_can_be_built_and_is_the_same_again() {
        let keys = |seed| {
            let experiment = losses(seed, 60).unwrap();
            experiment.runs.iter().map(|run| run.scenario.key()).collect::<Vec<_>>()
        };
        assert_eq!(keys(1).len(), 60);
        assert_eq!(keys(1), keys(1));
        assert!(keys(1).iter().zip(keys(2)).all(|(a, b)| *a != b));
        for run in losses(3, 60).unwrap().runs {
            assert!(run.scenario.resolve().is_ok(), "{}", run.label);
        }
    }
}
