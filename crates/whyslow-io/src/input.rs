//! Inputs, and the progress of reading them.

use crate::object::ObjectInput;
use std::path::PathBuf;

/// A place to read a capture from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A file, or anything else that can be opened by a path.
    Path(PathBuf),
    /// Standard input, named `-`.
    Stdin,
    /// An object that the caller opens, repeatedly.
    Object(ObjectInput),
}

impl Input {
    /// Its name in messages and in the analysis.
    pub fn name(&self) -> String {
        match self {
            Self::Path(path) => path.display().to_string(),
            Self::Stdin => "-".to_owned(),
            Self::Object(object) => object.name().to_owned(),
        }
    }
}

/// Whether a name is a URL: a scheme (RFC 3986 section 3.1) and `://`.
pub fn is_url(name: &str) -> bool {
    let scheme = name.split_once("://").map_or("", |(scheme, _)| scheme);
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(is_part)
}

/// Progress over all inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes read so far; compressed bytes count as stored.
    pub read: u64,
    /// Bytes to read in total; `None` if the length of an input is unknown, as of a pipe.
    pub total: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::is_url;

    #[test]
    fn a_url_has_a_scheme() {
        assert!(["s3://bucket/key", "HTTPS://x", "git+ssh://x"].into_iter().all(is_url));
        assert!(!["a.pcap", "://x", "1s://x", "a b://x", "./s3://x", "s3:/x", "C:\\x"].into_iter().any(is_url));
    }
}
