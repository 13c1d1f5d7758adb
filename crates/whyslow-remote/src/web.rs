//! [`WebObject`]: what a server of HTTP has at a URL, asked for by ranges (RFC 9110 section 14).

use crate::cause::{is_tls, root_cause, tls};
use crate::place::{Facts, Failure, Pieces, Place, Version};
use crate::reach::{RedirectGuard, Redirects, refusal};
use async_trait::async_trait;
use futures_util::StreamExt;
use reqwest::header::{self, HeaderMap, HeaderName};
use reqwest::{Client, Response, StatusCode, Url};
use std::io::ErrorKind;
use std::time::Duration;

/// To reach a server.
const CONNECT: Duration = Duration::from_secs(10);
/// Without a byte of an answer; a connection that is silent for longer is given up, and resumed.
const SILENCE: Duration = Duration::from_secs(30);

/// A URL.
#[derive(Debug)]
pub(crate) struct WebObject {
    client: Client,
    url: Url,
}

impl WebObject {
    /// # Errors
    /// If TLS cannot be set up.
    pub(crate) fn new(url: Url, redirects: Redirects) -> Result<Self, String> {
        let client = match redirects {
            Redirects::Wider => RedirectGuard::new(&url).guard(Client::builder()),
            Redirects::All => Client::builder(),
        };
        let client = client
            .user_agent(concat!("whyslow/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT)
            .read_timeout(SILENCE)
            // A redirect from https to http is refused.
            .https_only(url.scheme() == "https")
            .build()
            .map_err(|error| root_cause(&error))?;
        Ok(Self { client, url })
    }

    /// Its URL without possible secrets: a password, and the query, which signs many URLs.
    pub(crate) fn name(&self) -> String {
        let mut url = self.url.clone();
        let had_query = url.query().is_some();
        url.set_query(None);
        url.set_fragment(None);
        // Only a URL without a host refuses that, and it has no password either.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        format!("{url}{}", if had_query { "?…" } else { "" })
    }

    /// Asks for this range, or for all.
    async fn ask(&self, range: Option<String>, version: Option<&Version>) -> Result<Response, Failure> {
        let mut request = self.client.get(self.url.clone());
        if let Some(range) = range {
            request = request.header(header::RANGE, range);
        }
        match version.map(|version| (version.strong_tag(), version.modified.as_deref())) {
            Some((Some(tag), _)) => request = request.header(header::IF_MATCH, tag),
            Some((None, Some(modified))) => request = request.header(header::IF_UNMODIFIED_SINCE, modified),
            Some((None, None)) | None => {}
        }
        request.send().await.map_err(failed)
    }
}

#[async_trait]
impl Place for WebObject {
    /// A URL that is signed for GET is not good for HEAD: the first byte is asked for instead.
    async fn look(&self, version: Option<&Version>) -> Result<Facts, Failure> {
        let response = self.ask(Some("bytes=0-0".to_owned()), version).await?;
        let size = match response.status() {
            StatusCode::OK => response.content_length(),
            StatusCode::PARTIAL_CONTENT => content_range(response.headers()).and_then(|(_, size)| size),
            // There is no first byte.
            StatusCode::RANGE_NOT_SATISFIABLE => Some(0),
            status => return Err(refused(status)),
        };
        facts(response.headers(), size, version)
    }

    async fn get(&self, from: u64, version: Option<&Version>) -> Result<(Facts, Pieces), Failure> {
        let range = (from > 0).then(|| format!("bytes={from}-"));
        let response = self.ask(range, version).await?;
        let size = match response.status() {
            StatusCode::OK if from == 0 => response.content_length(),
            StatusCode::OK => {
                facts(response.headers(), None, version)?;
                let why = "the connection broke, and the server gives no ranges by which to go on: fetch it to a file \
                           and read that";
                return Err(Failure::Refused(ErrorKind::Other, why.to_owned()));
            }
            StatusCode::PARTIAL_CONTENT => match content_range(response.headers()) {
                Some((start, size)) if start == from => size,
                _ => {
                    let why = format!("the server gave other bytes than those from {from} on");
                    return Err(Failure::Refused(ErrorKind::InvalidData, why));
                }
            },
            status => return Err(refused(status)),
        };
        let facts = facts(response.headers(), size, version)?;
        Ok((facts, response.bytes_stream().map(|piece| piece.map_err(failed)).boxed()))
    }
}

/// The headers' values.
///
/// # Errors
/// When it is another version than that which is wanted.
fn facts(headers: &HeaderMap, size: Option<u64>, wanted: Option<&Version>) -> Result<Facts, Failure> {
    let text = |name: HeaderName| Some(headers.get(name)?.to_str().ok()?.to_owned());
    let version = Version { tag: text(header::ETAG), modified: text(header::LAST_MODIFIED) };
    match wanted {
        Some(wanted) if !wanted.agrees(&version) => Err(Failure::Changed),
        _ => Ok(Facts { size, version }),
    }
}

/// The first byte of a range, and the size of the whole: `bytes 5-9/10`.
fn content_range(headers: &HeaderMap) -> Option<(u64, Option<u64>)> {
    let text = headers.get(header::CONTENT_RANGE)?.to_str().ok()?;
    let (range, size) = text.trim().strip_prefix("bytes ")?.split_once('/')?;
    Some((range.split_once('-')?.0.parse().ok()?, size.parse().ok()))
}

/// The meaning of a status for the user.
fn refused(status: StatusCode) -> Failure {
    let (kind, why) = match status {
        StatusCode::PRECONDITION_FAILED => return Failure::Changed,
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => {
            return Failure::Broken(format!("the server answers {status}"));
        }
        status if status.is_server_error() => return Failure::Broken(format!("the server answers {status}")),
        StatusCode::NOT_FOUND | StatusCode::GONE => (ErrorKind::NotFound, "; check the path"),
        StatusCode::UNAUTHORIZED => (
            ErrorKind::PermissionDenied,
            "; put user and password into the URL (https://USER:PASSWORD@HOST/…), or take one that is signed",
        ),
        StatusCode::FORBIDDEN => (ErrorKind::PermissionDenied, "; a URL that is signed may have expired"),
        _ => (ErrorKind::Other, ""),
    };
    Failure::Refused(kind, format!("the server answers {status}{why}"))
}

/// Why there is no answer, or no more of it.
fn failed(error: reqwest::Error) -> Failure {
    // It may hold a secret, and names the object in another way than the user.
    let error = error.without_url();
    let cause = root_cause(&error);
    if let Some(refusal) = refusal(&error) {
        return Failure::Refused(ErrorKind::PermissionDenied, refusal);
    }
    if is_tls(&cause) {
        return Failure::Refused(ErrorKind::Other, tls(&cause));
    }
    if error.is_redirect() || error.is_builder() {
        return Failure::Refused(ErrorKind::Other, cause);
    }
    Failure::Broken(cause)
}
