//! The bundled experiments, and how to find one by name or file.

use crate::scenario::{Experiment, ScenarioError, load};
use std::path::Path;

macro_rules! bundled {
    ($($name:literal),* $(,)?) => {
        /// Name and text of each bundled experiment.
        const BUNDLED: &[(&str, &str)] = &[$(($name, include_str!(concat!("../experiments/", $name, ".toml")))),*];
    };
}

bundled!(
    "slow-start",
    "far",
    "idle-restart",
    "reuse",
    "long-fat",
    "two-servers",
    "stale-ssthresh",
    "ssh-window",
    "proxy-split",
    "proxy-tail-probe",
    "nagle",
    "delayed-ack",
    "slow-reader",
    "slow-writer",
    "policer",
    "bufferbloat",
    "cross-traffic",
    "mtu-black-hole",
    "buffers",
);

/// The bundled experiments: name and title, in the order in which they are best read.
pub fn list() -> Vec<(String, String)> {
    let title = |name: &str, text: &str| load(name, text, &[]).map(|e| e.title).unwrap_or_default();
    BUNDLED.iter().map(|(name, text)| ((*name).to_owned(), title(name, text))).collect()
}

/// The text of a bundled experiment.
pub fn text(name: &str) -> Option<&'static str> {
    BUNDLED.iter().find(|(bundled, _)| *bundled == name).map(|(_, text)| *text)
}

/// An experiment by the name of a bundled one or by a file, with `key=value` overrides.
pub fn open(name: &str, overrides: &[(String, String)]) -> Result<Experiment, ScenarioError> {
    if let Some(text) = text(name) {
        return load(&format!("{name}.toml"), text, overrides);
    }
    if !Path::new(name).exists() && !name.contains(['/', '.']) {
        let names: Vec<_> = BUNDLED.iter().map(|(name, _)| *name).collect();
        return Err(ScenarioError::whole(name, "no experiment and no file has this name", names.join(", ")));
    }
    let text = std::fs::read_to_string(name).map_err(|e| ScenarioError::whole(name, e.to_string(), "a TOML file"))?;
    load(name, &text, overrides)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_bundled_experiment_can_be_built_and_has_a_description() {
        for (name, _) in BUNDLED {
            let experiment = open(name, &[]).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(experiment.name, *name);
            assert!(!experiment.title.is_empty() && experiment.about.len() > 80, "{name}");
            for run in &experiment.runs {
                assert!(!run.scenario.verify.is_empty(), "{name} {}: nothing confirms the cause", run.label);
            }
        }
        assert_eq!(open("buffers", &[]).unwrap().runs.len(), 17);
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let message = open("slow-star", &[]).unwrap_err().to_string();
        assert!(message.contains("no experiment and no file") && message.contains("slow-start"), "{message}");
        assert!(open("no/such/file.toml", &[]).unwrap_err().to_string().contains("no/such/file.toml"));
    }
}
