//! [`Connector`]: bounds what a store may answer.
//!
//! A hostile store may answer without end. The crate `object_store` holds lists and errors as a
//! whole, and fails on a list if it does not accept one key in it (`a/../b`). So lists and errors
//! are cut off at a limit, and such keys are removed from lists: nothing could read them.

use async_trait::async_trait;
use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
    ReqwestConnector,
};
use object_store::path::Path;
use std::io;

/// Bytes of a page of a list: Azure's have up to 5,000 names of up to 1,024 characters, with about
/// 1.5 kB of properties each.
const MOST_OF_LIST: usize = 32 << 20;
/// Bytes of an error.
const MOST_OF_ERROR: usize = 1 << 20;

/// What a client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Objects,
    Lists,
}

/// Connects as the crate does, and bounds the answers.
#[derive(Debug)]
pub(crate) struct Connector(pub(crate) Purpose);

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let client = ReqwestConnector::default().connect(options)?;
        Ok(HttpClient::new(Bounded { client, purpose: self.0 }))
    }
}

#[derive(Debug)]
struct Bounded {
    client: HttpClient,
    purpose: Purpose,
}

#[async_trait]
impl HttpService for Bounded {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (head, body) = self.client.execute(request).await?.into_parts();
        let body = match (head.status.is_success(), self.purpose) {
            (true, Purpose::Objects) => body,
            (true, Purpose::Lists) => readable(collect(body, MOST_OF_LIST).await?).into(),
            (false, _) => collect(body, MOST_OF_ERROR).await?.into(),
        };
        Ok(HttpResponse::from_parts(head, body))
    }
}

/// The whole of a body.
///
/// # Errors
/// Returns an error if it is longer than `most` bytes.
async fn collect(body: HttpResponseBody, most: usize) -> Result<Bytes, HttpError> {
    match Limited::new(body, most).collect().await {
        Ok(whole) => Ok(whole.to_bytes()),
        Err(error) => Err(match error.downcast::<HttpError>() {
            Ok(error) => *error,
            Err(_) => {
                let why =
                    format!("the server answers more than {} MiB where a list or an error is expected", most >> 20);
                HttpError::new(HttpErrorKind::Unknown, io::Error::other(why))
            }
        }),
    }
}

/// A list without the keys that cannot be read. Anything else stays as it is.
fn readable(page: Bytes) -> Bytes {
    let Ok(text) = std::str::from_utf8(&page) else { return page };
    let mut kept = String::new();
    let mut rest = text;
    while let Some((start, entry)) = next_entry(rest) {
        let end = start + entry.len();
        kept.push_str(rest.get(..if is_readable(entry) { end } else { start }).unwrap_or_default());
        rest = rest.get(end..).unwrap_or_default();
    }
    if kept.len() + rest.len() == text.len() {
        return page;
    }
    kept.push_str(rest);
    kept.into()
}

/// The elements of a list, and the element in each that is its key.
const ENTRIES: [(&str, &str); 4] =
    [("Contents", "Key"), ("CommonPrefixes", "Prefix"), ("Blob", "Name"), ("BlobPrefix", "Name")];

/// The first element of a list, and where it starts.
fn next_entry(text: &str) -> Option<(usize, &str)> {
    let starts = text.match_indices('<').filter_map(|(at, _)| {
        let element = text.get(at + 1..)?;
        let (name, _) = ENTRIES.iter().find(|(name, _)| {
            element.strip_prefix(name).is_some_and(|after| after.starts_with(['>', ' ', '\n', '\r', '\t']))
        })?;
        Some((at, *name))
    });
    let (at, name) = starts.into_iter().next()?;
    let element = text.get(at..)?;
    let close = format!("</{name}>");
    let length = element.find(&close)? + close.len();
    Some((at, element.get(..length)?))
}

/// Whether the crate takes an element's key.
fn is_readable(entry: &str) -> bool {
    let Some((_, key)) = ENTRIES.iter().find(|(name, _)| entry.get(1..).is_some_and(|text| text.starts_with(name)))
    else {
        return true;
    };
    let content = entry.split_once(&format!("<{key}")).and_then(|(_, rest)| rest.split_once('>'));
    let Some((text, _)) = content.and_then(|(_, rest)| rest.split_once("</")) else { return true };
    quick_xml::escape::unescape(text).is_ok_and(|key| Path::parse(key).is_ok())
}

#[cfg(test)]
mod tests;
