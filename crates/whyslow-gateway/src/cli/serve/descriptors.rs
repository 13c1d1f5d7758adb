//! The limit of open files, and how many connections of clients it allows.
//!
//! A request that finds no descriptor fails. So the limit is raised as far as the system allows,
//! and no more connections are accepted than it covers.

use super::super::place::Place;
use anyhow::bail;

/// Descriptors of the program itself: log, signals, listeners, administration.
const OWN: u64 = 32;
/// Descriptors of a request in front of a folder: its connection, a draft twice, and a folder or a
/// file.
const FOLDER: u64 = 4;
/// Descriptors of a request in front of a cloud: its connection, and one to the cloud.
const CLOUD: u64 = 2;

/// Raises the limit of open files to the allowed maximum. Returns `None` if there is no limit.
#[cfg(unix)]
pub(super) fn raise() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    // If the system refuses, the limit stays.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    getrlimit(Resource::Nofile).current
}

#[cfg(not(unix))]
pub(super) fn raise() -> Option<u64> {
    None
}

/// The connections of clients that a limit allows, `wanted` at most.
///
/// # Errors
/// If it allows none.
pub(super) fn connections(
    limit: Option<u64>,
    wanted: usize,
    store: Option<&Place>,
    to_store: usize,
) -> anyhow::Result<usize> {
    let Some(limit) = limit else { return Ok(wanted) };
    let (own, each) = match store {
        Some(Place::S3(_)) => (OWN + to_store as u64, 1),
        Some(Place::Google(_) | Place::Azure(_)) => (OWN, CLOUD),
        Some(Place::Folder(_)) | None => (OWN, FOLDER),
    };
    let allowed = limit.saturating_sub(own) / each;
    if allowed == 0 {
        bail!(
            "{limit} open files are allowed, and {} are needed: raise the limit (ulimit -n, LimitNOFILE)",
            own + each
        );
    }
    Ok(wanted.min(usize::try_from(allowed).unwrap_or(usize::MAX)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn connections_are_those_that_the_limit_allows() {
        let (folder, s3) = (Place::Folder("x".into()), Place::S3(None));
        let of = |limit, place| connections(Some(limit), 1024, Some(place), 64);
        assert_eq!(connections(None, 1024, Some(&folder), 64).unwrap(), 1024);
        assert_eq!((of(1 << 20, &folder).unwrap(), of(1024, &folder).unwrap()), (1024, 248));
        assert_eq!((of(1024, &s3).unwrap(), of(97, &s3).unwrap()), (928, 1));
        let error = of(96, &s3).unwrap_err().to_string();
        assert!(error.contains("96 open files are allowed, and 97 are needed"), "{error}");
    }
}
