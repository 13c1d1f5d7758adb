//! [`Profile`]: a profile of the shared files, `credentials` and `config`.

use super::error::CredentialsError;
use std::io::ErrorKind;
use std::path::Path;
use zeroize::Zeroizing;

/// The values of one profile; the file of credentials comes first.
pub(super) struct Profile {
    name: String,
    place: String,
    files: [Zeroizing<String>; 2],
}

impl Profile {
    /// Files that are not there are empty.
    pub(super) fn read(credentials: &Path, config: &Path, name: &str) -> Result<Self, CredentialsError> {
        let place = format!("{} [{name}]", credentials.display());
        Ok(Self { name: name.to_owned(), place, files: [text(credentials)?, text(config)?] })
    }

    /// The value of this name.
    pub(super) fn get(&self, key: &str) -> Option<String> {
        self.files.iter().find_map(|text| value(text, &self.name, key))
    }

    /// For messages.
    pub(super) fn place(&self) -> String {
        self.place.clone()
    }
}

fn text(file: &Path) -> Result<Zeroizing<String>, CredentialsError> {
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(Zeroizing::new(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Zeroizing::default()),
        Err(error) => Err(CredentialsError::Unreadable { file: file.to_owned(), why: error.to_string() }),
    }
}

/// In `config` a section other than `default` is `[profile NAME]`.
fn value(text: &str, profile: &str, name: &str) -> Option<String> {
    let mut is_in = false;
    for line in text.lines() {
        // An indented line belongs to the key above it.
        if line.starts_with([' ', '\t']) {
            continue;
        }
        let line = line.trim();
        if let Some(section) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            let section = section.trim();
            is_in = section.strip_prefix("profile ").map_or(section, str::trim) == profile;
        } else if is_in
            && !line.starts_with(['#', ';'])
            && let Some((key, value)) = line.split_once('=')
            && key.trim() == name
        {
            return Some(value.trim().to_owned()).filter(|value| !value.is_empty());
        }
    }
    None
}
