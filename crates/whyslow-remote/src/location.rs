//! [`Location`]: what a URL names.

use crate::bucket::Service;
use crate::error::Error;
use reqwest::Url;

/// What a URL names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Location {
    /// A key in a bucket, as it stands: nothing in it is percent-encoded.
    Key { service: Service, bucket: String, key: String },
    /// An address of HTTP.
    Web(Url),
}

impl Location {
    /// # Errors
    /// When its scheme is unknown, or it names no object.
    pub(crate) fn read(url: &str) -> Result<Self, Error> {
        let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
        let service = match scheme.to_ascii_lowercase().as_str() {
            "s3" => Service::S3,
            "gs" => Service::Google,
            "az" => Service::Azure,
            "http" | "https" => return Self::web(url, rest),
            _ => return Err(Error::Scheme { url: url.to_owned(), scheme: scheme.to_owned() }),
        };
        let malformed = |why: String| Error::Malformed { url: url.to_owned(), why };
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() || bucket.contains(['*', '?']) {
            return Err(malformed(format!("names no bucket; write {scheme}://BUCKET/KEY")));
        }
        if key.is_empty() || key.ends_with('/') {
            let folder = url.trim_end_matches('/');
            return Err(malformed(format!("names no object; name those in it, as in {folder}/*.pcap")));
        }
        Ok(Self::Key { service, bucket: bucket.to_owned(), key: key.to_owned() })
    }

    fn web(url: &str, rest: &str) -> Result<Self, Error> {
        let malformed = |why: String| Error::Malformed { url: url.to_owned(), why };
        // A query may hold anything.
        if rest.split('?').next().is_some_and(|path| path.contains('*')) {
            return Err(malformed("a web server does not say what it has: name its files one by one".to_owned()));
        }
        Url::parse(url).map(Self::Web).map_err(|why| malformed(format!("is no URL: {why}")))
    }
}
