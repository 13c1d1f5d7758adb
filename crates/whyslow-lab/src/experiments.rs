//! The experiments that come with the lab, and how one is found by name or by file.

use crate::scenario::{Experiment, ScenarioError, load};
use std::path::Path;

macro_rules! bundled {
    ($($name:literal),* $(,)?) => {
        /// Name and text of each bundled experiment.
        const BUNDLED: &[(&str, &str)] = &[$(($name, include_str!(concat!("../experiments/", $name, ".toml")))),*];
    };
}

bundled!("slow-start",);

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
