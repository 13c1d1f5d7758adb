//! [`Ask`]: what to ask for, and the HTTP request that it becomes.

use crate::client::body::{SendBody, Upload};
use crate::client::connection::{Connection, Sender, credentials};
use crate::client::failure::{Failure, Phase};
use crate::client::options::Options;
use crate::client::target::Target;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HOST, PROXY_AUTHORIZATION, RANGE, USER_AGENT,
};
use http::{HeaderMap, HeaderValue, Method, Request, Uri};

/// The request.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Where.
    pub target: Target,
    /// How: `GET`, `PUT`.
    pub method: Method,
    /// Its body.
    pub upload: Option<Upload>,
    /// Only this many bytes from the beginning.
    pub first_bytes: Option<u64>,
}

/// The request for a connection: in HTTP/1.1 the host is a header field, in HTTP/2 part of the URL.
pub(crate) fn request(
    ask: &Ask,
    connection: &Connection,
    options: &Options,
    body: SendBody,
) -> Result<Request<SendBody>, Failure> {
    let wrong = |error: http::Error| Failure::new(Phase::Url, error.to_string());
    let is_two = matches!(connection.sender, Sender::Two(_));
    let whole = is_two || connection.asks_a_proxy();
    // In HTTP/2 the host is part of the URL.
    let host =
        options.headers.iter().find(|(name, _)| is_two && *name == HOST).and_then(|(_, host)| host.to_str().ok());
    let text = match host {
        Some(host) => ask.target.with_authority(host),
        None if whole => ask.target.to_string(),
        None => ask.target.path.clone(),
    };
    let uri: Uri = text.parse().map_err(|error: http::uri::InvalidUri| wrong(error.into()))?;
    let mut headers = HeaderMap::new();
    let value = |text: &str| HeaderValue::from_str(text).map_err(|error| wrong(error.into()));
    if matches!(connection.sender, Sender::One(_)) {
        headers.insert(HOST, value(&ask.target.authority())?);
        if body.len() > 0 || ask.upload.is_some() {
            headers.insert(CONTENT_LENGTH, body.len().into());
        }
    }
    headers.insert(USER_AGENT, HeaderValue::from_static(concat!("whyslow/", env!("CARGO_PKG_VERSION"))));
    headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
    if let Some(user) = credentials(&ask.target) {
        headers.insert(AUTHORIZATION, value(&user)?);
    }
    if let Some(user) =
        connection.proxy.as_ref().filter(|_| connection.asks_a_proxy()).and_then(|proxy| credentials(&proxy.at))
    {
        headers.insert(PROXY_AUTHORIZATION, value(&user)?);
    }
    if let Some(kind) = &body.content_type {
        headers.insert(CONTENT_TYPE, value(kind)?);
    }
    if options.compressed {
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip, deflate, br, zstd"));
    }
    if let Some(bytes) = ask.first_bytes {
        headers.insert(RANGE, value(&format!("bytes=0-{}", bytes.saturating_sub(1)))?);
    }
    for (name, value) in options.headers.iter().filter(|(name, _)| !is_two || *name != HOST) {
        headers.insert(name, value.clone());
    }
    let mut request = Request::new(body);
    *request.method_mut() = ask.method.clone();
    *request.uri_mut() = uri;
    *request.headers_mut() = headers;
    Ok(request)
}
