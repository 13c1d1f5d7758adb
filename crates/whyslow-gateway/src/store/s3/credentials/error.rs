//! [`CredentialsError`].

use std::path::PathBuf;

/// Why there are none.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum CredentialsError {
    /// No place has them.
    #[error(
        "there are no credentials for S3: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, \
         or put them into {} under [{profile}]; no container offers any, \
         and this is no EC2 instance with a role ({why})", file.display()
    )]
    None {
        /// The file that was looked at.
        file: PathBuf,
        /// The profile in it.
        profile: String,
        /// The result of asking the instance's metadata service.
        why: String,
    },
    /// One of two is there.
    #[error("{place} has {there} without {missing}")]
    Half {
        /// Where.
        place: String,
        /// The setting that exists.
        there: &'static str,
        /// The missing setting.
        missing: &'static str,
    },
    /// A profile was asked for by name, and is not there.
    #[error("there is no profile [{profile}] with credentials in {}", file.display())]
    NoProfile {
        /// The file that was looked at first.
        file: PathBuf,
        /// The profile.
        profile: String,
    },
    /// The file is there and cannot be read.
    #[error("{}: {why}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why.
        why: String,
    },
    /// The profile has them in a way that is not supported.
    #[error(
        "{place} has `{key}`, which is not supported: use `credential_process`, \
         or `aws configure export-credentials --format env`"
    )]
    Unsupported {
        /// Which profile.
        place: String,
        /// The missing member.
        key: &'static str,
    },
    /// The address is invalid, or a secret would go there unencrypted.
    #[error("{place}: {why}")]
    Address {
        /// Which variable.
        place: &'static str,
        /// Why.
        why: String,
    },
    /// Their source does not give them.
    #[error("no credentials from {place}: {why}")]
    Refused {
        /// The source.
        place: String,
        /// Why.
        why: String,
    },
    /// Their source failed a moment ago.
    #[error("no credentials from {place}: it failed, and is asked again in {seconds} s")]
    Paused {
        /// The source.
        place: String,
        /// When.
        seconds: u64,
    },
}
