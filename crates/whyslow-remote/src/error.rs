//! Why a URL names nothing that can be read. What goes wrong with an object itself shows when it is
//! opened, as an error of whyslow-io.

/// The schemes that are understood.
pub const SCHEMES: [&str; 5] = ["s3", "gs", "az", "http", "https"];

/// Why a URL names nothing.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its scheme is none of [`SCHEMES`].
    #[error("{url}: unknown scheme `{scheme}`; captures are read from {} and files", SCHEMES.join("://, ") + "://")]
    Scheme {
        /// The typed URL.
        url: String,
        /// The scheme, before `://`.
        scheme: String,
    },
    /// It is not a URL.
    #[error("{url}: {why}")]
    Malformed {
        /// The typed URL.
        url: String,
        /// The error, and the right form.
        why: String,
    },
    /// The store cannot be opened or listed.
    #[error("{url}: {why}")]
    Store {
        /// The typed URL.
        url: String,
        /// The store's message.
        why: String,
    },
    /// No object matches the pattern.
    #[error("{url}: no object matches; `*` and `?` stand for anything but `/`")]
    NoMatch {
        /// The typed URL.
        url: String,
    },
    /// The store's list does not end.
    #[error("{url}: the store's list does not end; name more of the key before the first `*` or `?`")]
    Endless {
        /// The typed URL.
        url: String,
    },
    /// Too many objects match the pattern.
    #[error("{url}: more than {most} objects or folders match; name fewer at once")]
    TooMany {
        /// The typed URL.
        url: String,
        /// How many are taken.
        most: usize,
    },
}

impl Error {
    pub(crate) fn client(url: &str, why: impl Into<String>) -> Self {
        Self::Store { url: url.to_owned(), why: why.into() }
    }
}
