//! [`Service`]: a request from its header to the header of its answer.

use super::access::{self, Domains, Secrets, Signed, is_of_web_page, is_version_2};
use super::answer::{Answer, AnswerBody};
use super::body::{Arrival, ClientBody, Document};
use super::call::{Call, Ending};
use super::connections::Slot;
use super::content::Holding;
use super::cors::{self, Cors, Page};
use super::form::{self, Forms};
use super::options::{Access, FrontOptions};
use super::s3::Endpoint;
use crate::sealed::SealedStore;
use http::{HeaderValue, Method, Request, Response, StatusCode, header, request};
use hyper::body::Incoming;
use s3s::config::{S3Config, StaticConfigProvider};
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s::{HttpError, S3Error, S3ErrorCode};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Instant, SystemTime};

/// State that all requests share.
pub(super) struct Service {
    s3: S3Service,
    pub(super) options: FrontOptions,
    forms: Forms,
    cors: Cors,
}

/// A client's connection.
#[derive(Clone)]
pub(super) struct Peer {
    pub(super) client: SocketAddr,
    pub(super) slot: Arc<Slot>,
    /// Whether some of a request has not been read.
    pub(super) unread: Arc<AtomicBool>,
}

impl Service {
    pub(super) fn new(store: SealedStore, options: FrontOptions) -> Self {
        let (region, limits) = (options.region.clone(), options.limits);
        let cors = Cors::new(store.clone());
        let holding = Holding::new(store.memory().clone());
        let endpoint = Endpoint { store: store.clone(), region, limits, cors: cors.clone(), holding };
        let mut builder = S3ServiceBuilder::new(endpoint);
        let mut config = S3Config::default();
        config.xml_max_body_size = limits.document_bytes;
        builder.set_config(Arc::new(StaticConfigProvider::new(Arc::new(config))));
        builder.set_host(Domains(options.domains.clone()));
        if let Access::Keys(keys) = &options.access {
            builder.set_auth(Secrets(keys.clone()));
            builder.set_access(Signed(keys.clone()));
        }
        let forms = Forms::new(store, &options);
        Self { s3: builder.build(), options, forms, cors }
    }

    /// Answers; an error closes the connection.
    pub(super) async fn answer(&self, request: Request<Incoming>, peer: Peer) -> Result<Answer, HttpError> {
        let busy = peer.slot.busy();
        let call = Call::new();
        let sink = Arc::clone(&self.options.sink);
        let (method, at, since) = (request.method().clone(), SystemTime::now(), Instant::now());
        let ending = Ending { call: call.clone(), sink, client: peer.client, method, at, since };
        let (mut parts, incoming) = request.into_parts();
        let expects = parts.headers.contains_key(header::EXPECT);
        let arrival = Arrival::new(incoming, call.clone(), &self.options.limits, peer.unread);
        let page = Page::of(&parts, &self.options.domains);
        let mut answer = match self.refused(&mut parts) {
            Some(error) => refusal(&call, error)?,
            None if parts.method == Method::OPTIONS => self.preflight(&call, &parts).await?,
            None if access::has_odd_region(&parts.headers) => other_region(&call, &self.options.region),
            None if form::is_for(&parts) => form::answer(&self.forms, &call, &parts, arrival).await,
            None => match self.form_bucket(&parts) {
                Some(bucket) => self.browser(&call, (&parts, &bucket), arrival).await?,
                None => self.s3(&call, parts, arrival).await?,
            },
        };
        if let Some(page) = page.filter(|page| !page.is_preflight()) {
            self.cors.add(&page, answer.headers_mut()).await;
        }
        if expects && !call.was_invited() {
            // botocore reads the next answer on this connection wrongly when it expected 100 and
            // got this one: it would wait for the end of the connection.
            answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        Ok(AnswerBody::wrap(answer, ending, busy))
    }

    /// Requests that are refused before any other check.
    fn refused(&self, parts: &mut request::Parts) -> Option<S3Error> {
        if matches!(self.options.access, Access::Everybody) {
            if is_of_web_page(&parts.headers, &parts.uri, &self.options.domains) {
                let message = "web pages may not ask an endpoint that everybody may ask: give it access keys";
                return Some(S3Error::with_message(S3ErrorCode::AccessDenied, message));
            }
            forget_signature(parts);
        }
        if is_version_2(&parts.headers, &parts.uri) {
            let message = "signatures of version 2 are not taken: sign with version 4 (signature_version s3v4)";
            return Some(S3Error::with_message(S3ErrorCode::InvalidRequest, message));
        }
        if access::expires_too_late(&parts.uri) {
            let message = "X-Amz-Expires must be less than a week (in seconds) that is 604800";
            let code = S3ErrorCode::AuthorizationQueryParametersError;
            return Some(S3Error::with_message(code, message));
        }
        let is_form = parts.method == Method::POST && form::boundary(&parts.headers).is_some();
        if is_form && !form::is_for(parts) && self.form_bucket(parts).is_none() {
            let message = format!("forms are taken at buckets, and at {}", form::PATH);
            return Some(S3Error::with_message(S3ErrorCode::NotImplemented, message));
        }
        None
    }

    /// The bucket that a browser's form is for; `None` if the request is not such a form.
    fn form_bucket(&self, parts: &request::Parts) -> Option<String> {
        let is_form = parts.method == Method::POST && parts.uri.query().is_none();
        let is_form = is_form && form::boundary(&parts.headers).is_some();
        is_form.then(|| cors::whole_bucket(parts, &self.options.domains)).flatten()
    }

    async fn browser(
        &self,
        call: &Call,
        to: (&request::Parts, &str),
        arrival: Arrival,
    ) -> Result<Response<s3s::Body>, HttpError> {
        let answer = form::answer_browser(&self.forms, call, to, arrival).await;
        answer.or_else(|error| refusal(call, error))
    }

    async fn preflight(&self, call: &Call, parts: &request::Parts) -> Result<Response<s3s::Body>, HttpError> {
        let answer = self.cors.preflight(call, parts, &self.options.domains).await;
        answer.or_else(|error| refusal(call, error))
    }

    async fn s3(
        &self,
        call: &Call,
        mut parts: request::Parts,
        arrival: Arrival,
    ) -> Result<Response<s3s::Body>, HttpError> {
        let body = ClientBody::new(arrival);
        let document = Document::new(&body, call, &parts);
        parts.extensions.insert(call.clone());
        parts.extensions.insert(body);
        let request = Request::from_parts(parts, s3s::Body::http_body_unsync(document));
        let answer = self.s3.call(request).await?;
        let is_blurred = answer.status() == StatusCode::INTERNAL_SERVER_ERROR;
        match call.fault().filter(|error| is_blurred && *error.code() != S3ErrorCode::InternalError) {
            // The library's error for a document with a wrong checksum has no reason.
            Some(error) => refusal(call, error),
            None => Ok(noted(call, partial(answer))),
        }
    }
}

/// S3's answer to a signature for another region: clients sign again for the one in it.
fn other_region(call: &Call, region: &str) -> Response<s3s::Body> {
    let message = format!("The authorization header is malformed; expecting '{region}'");
    call.fail(&S3Error::with_message(S3ErrorCode::AuthorizationHeaderMalformed, message.clone()));
    // The library's errors have no region. This one is the gateway's own setting, and plain text.
    let text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error><Code>AuthorizationHeaderMalformed</Code><Message>{message}\
         </Message><Region>{region}</Region><RequestId>{}</RequestId></Error>",
        call.id()
    );
    let mut answer = Response::new(s3s::Body::from(text));
    *answer.status_mut() = StatusCode::BAD_REQUEST;
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/xml"));
    answer
}

/// Without access keys the signature of a request does not matter.
fn forget_signature(parts: &mut request::Parts) {
    let is_basic = parts.headers.get(header::AUTHORIZATION).is_some_and(|value| value.as_bytes().starts_with(b"Basic"));
    if !is_basic {
        parts.headers.remove(header::AUTHORIZATION);
    }
    let Some(query) = parts.uri.query().filter(|query| query.contains("X-Amz-Signature=")) else { return };
    let rest: Vec<&str> = query.split('&').filter(|pair| !pair.starts_with("X-Amz-")).collect();
    let path = format!("{}?{}", parts.uri.path(), rest.join("&"));
    if let Ok(uri) = path.parse() {
        parts.uri = uri;
    }
}

fn refusal(call: &Call, mut error: S3Error) -> Result<Response<s3s::Body>, HttpError> {
    error.set_request_id(call.id());
    call.fail(&error);
    error.to_http_response().map_err(|error| HttpError::new(Box::new(error)))
}

/// The library answers 200 to a HEAD with a range.
fn partial(mut answer: Response<s3s::Body>) -> Response<s3s::Body> {
    if answer.status() == StatusCode::OK && answer.headers().contains_key(header::CONTENT_RANGE) {
        *answer.status_mut() = StatusCode::PARTIAL_CONTENT;
    }
    answer
}

/// Notes an error that the library found: the answer is its only trace.
fn noted(call: &Call, answer: Response<s3s::Body>) -> Response<s3s::Body> {
    if answer.status().as_u16() < 400 || call.fault().is_some() {
        return answer;
    }
    let document = answer.body().bytes().unwrap_or_default();
    let text = String::from_utf8_lossy(&document);
    let between = |begin: &str, end: &str| text.split_once(begin)?.1.split_once(end).map(|(found, _)| found.to_owned());
    if let Some(code) = between("<Code>", "</Code>").and_then(|code| S3ErrorCode::from_bytes(code.as_bytes())) {
        let mut error = S3Error::with_message(code, between("<Message>", "</Message>").unwrap_or_default());
        error.set_status_code(answer.status());
        call.fail(&error);
    }
    answer
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn signature_is_removed_without_access_keys() {
        let request = Request::get("/a/b?X-Amz-Algorithm=c&versionId=null&X-Amz-Signature=d");
        let (mut parts, ()) = request.header("authorization", "AWS4-HMAC-SHA256 x").body(()).unwrap().into_parts();
        forget_signature(&mut parts);
        assert_eq!(parts.uri, "/a/b?versionId=null");
        assert!(parts.headers.is_empty());
    }
}
