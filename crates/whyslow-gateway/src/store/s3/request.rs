//! [`Ask`]: one request of S3, made into a signed one for a server.

use super::credentials::Keys;
use crate::pool::{Body, Endpoint, TRAILER};
use crate::store::{ErrorKind, StoreError};
use aws_sigv4::http_request::{
    PayloadChecksumKind, PercentEncodingMode, SignableBody, SignableRequest, SigningSettings, UriPathNormalizationMode,
    sign,
};
use aws_sigv4::sign::v4;
use http::header::{HeaderName, HeaderValue};
use http::{Method, Request};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::time::SystemTime;

/// Characters that stay in SigV4's URIs: unreserved ones (RFC 3986 section 2.3).
const QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
const PATH: &AsciiSet = &QUERY.remove(b'/');

/// The signer's name of a body in chunks.
const CHUNKED: &str = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";

/// How a bucket is named in a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Addressing {
    /// `https://HOST/BUCKET/KEY`: every S3-compatible store takes it.
    #[default]
    Path,
    /// `https://BUCKET.HOST/KEY`: what AWS prefers.
    VirtualHost,
}

/// A request before it is signed.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    pub method: Method,
    pub bucket: Option<String>,
    pub key: Option<String>,
    query: String,
    headers: Vec<(HeaderName, String)>,
    pub length: u64,
    /// Bytes of a body in chunks before they were coded.
    decoded: Option<u64>,
}

impl Ask {
    pub(super) fn new(method: Method, bucket: Option<&str>, key: Option<&str>) -> Self {
        let (bucket, key) = (bucket.map(str::to_owned), key.map(str::to_owned));
        Self { method, bucket, key, query: String::new(), headers: Vec::new(), length: 0, decoded: None }
    }

    #[must_use]
    pub(super) fn query(mut self, name: &str, value: &str) -> Self {
        let separator = if self.query.is_empty() { "" } else { "&" };
        let value = utf8_percent_encode(value, QUERY);
        self.query.push_str(&format!("{separator}{name}={value}"));
        self
    }

    #[must_use]
    pub(super) fn header(mut self, name: HeaderName, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    #[must_use]
    pub(super) fn header_if(self, name: HeaderName, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.header(name, value),
            None => self,
        }
    }

    #[must_use]
    pub(super) fn length(mut self, length: u64) -> Self {
        self.length = length;
        self
    }

    /// With this body.
    #[must_use]
    pub(super) fn with(self, body: &Body) -> Self {
        let ask = self.length(body.sent_len());
        if body.is_chunked() { ask.chunked(body.len()) } else { ask }
    }

    /// Its body comes in chunks, and its checksum behind them.
    #[must_use]
    pub(super) fn chunked(mut self, decoded: u64) -> Self {
        self.decoded = Some(decoded);
        self.header(http::header::CONTENT_ENCODING, "aws-chunked")
            .header(HeaderName::from_static("x-amz-decoded-content-length"), decoded.to_string())
            .header(HeaderName::from_static("x-amz-trailer"), TRAILER)
    }

    /// Which server gets it.
    pub(super) fn endpoint(&self, base: &Endpoint, addressing: Addressing) -> Endpoint {
        match (&self.bucket, addressing) {
            (Some(bucket), Addressing::VirtualHost) => base.with_host(format!("{bucket}.{}", base.host)),
            _ => base.clone(),
        }
    }

    fn path(&self, addressing: Addressing) -> String {
        let bucket = self.bucket.as_deref().filter(|_| addressing == Addressing::Path);
        let key = self.key.as_deref().map(|key| utf8_percent_encode(key, PATH).to_string());
        match (bucket, key) {
            (Some(bucket), Some(key)) => format!("/{bucket}/{key}"),
            (Some(bucket), None) => format!("/{bucket}"),
            (None, key) => format!("/{}", key.unwrap_or_default()),
        }
    }

    /// Signs it (Signature Version 4; the payload is not signed: TLS protects it).
    pub(super) fn sign(&self, signer: &Signer<'_>) -> Result<Request<()>, StoreError> {
        let wrong = |why: String| StoreError::new(ErrorKind::Invalid, why);
        let endpoint = self.endpoint(signer.endpoint, signer.addressing);
        let mut uri = self.path(signer.addressing);
        if !self.query.is_empty() {
            uri = format!("{uri}?{}", self.query);
        }
        let mut builder = Request::builder().method(&self.method).uri(&uri).header("host", endpoint.authority());
        for (name, value) in &self.headers {
            let value = HeaderValue::from_bytes(value.as_bytes());
            builder = builder.header(name, value.map_err(|error| wrong(format!("{name}: {error}")))?);
        }
        if self.length > 0 || matches!(self.method, Method::PUT | Method::POST) {
            builder = builder.header("content-length", self.length);
        }
        let mut request = builder.body(()).map_err(|error| wrong(error.to_string()))?;
        let payload = match self.decoded {
            Some(_) => SignableBody::StreamingUnsignedPayloadTrailer,
            None => SignableBody::UnsignedPayload,
        };
        let Some(keys) = signer.keys else {
            if self.decoded.is_some() {
                request.headers_mut().insert("x-amz-content-sha256", HeaderValue::from_static(CHUNKED));
            }
            return Ok(request);
        };
        let instructions = signer.instructions((&request, payload), &format!("{endpoint}{uri}"), keys)?;
        instructions.apply_to_request_http1x(&mut request);
        // The signer needs the whole URI; our requests have the path alone.
        *request.uri_mut() = uri.parse().map_err(|error: http::uri::InvalidUri| wrong(error.to_string()))?;
        Ok(request)
    }
}

/// The signing key, and its server.
pub(super) struct Signer<'a> {
    pub endpoint: &'a Endpoint,
    pub addressing: Addressing,
    pub region: &'a str,
    pub keys: Option<&'a Keys>,
}

impl Signer<'_> {
    fn instructions(
        &self,
        (request, payload): (&Request<()>, SignableBody<'_>),
        uri: &str,
        keys: &Keys,
    ) -> Result<aws_sigv4::http_request::SigningInstructions, StoreError> {
        let wrong = |why: String| StoreError::new(ErrorKind::Invalid, why);
        let mut settings = SigningSettings::default();
        settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
        settings.percent_encoding_mode = PercentEncodingMode::Single;
        settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
        let identity = keys.identity().into();
        let parameters = v4::SigningParams::builder()
            .identity(&identity)
            .region(self.region)
            .name("s3")
            .time(SystemTime::now())
            .settings(settings)
            .build()
            .map_err(|error| wrong(error.to_string()))?
            .into();
        let headers = request.headers().iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
        let signable = SignableRequest::new(request.method().as_str(), uri, headers, payload);
        let signed = signable.and_then(|signable| sign(signable, &parameters));
        Ok(signed.map_err(|error| wrong(error.to_string()))?.into_parts().0)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn ask() -> Ask {
        Ask::new(Method::GET, Some("photos"), Some("a b/ü+1.txt")).query("prefix", "a/b c")
    }

    #[test]
    fn keys_and_queries_are_written_as_they_are_signed() {
        let endpoint = Endpoint::parse("https://s3.example.org").unwrap();
        let keys = Keys::new("AKIDEXAMPLE", "hush", Some("token".to_owned()));
        let signer = |addressing| Signer { endpoint: &endpoint, addressing, region: "eu-west-1", keys: Some(&keys) };
        let request = ask().sign(&signer(Addressing::Path)).unwrap();
        assert_eq!(request.uri(), "/photos/a%20b/%C3%BC%2B1.txt?prefix=a%2Fb%20c");
        assert_eq!(request.headers()["host"], "s3.example.org");
        assert_eq!(request.headers()["x-amz-content-sha256"], "UNSIGNED-PAYLOAD");
        assert_eq!(request.headers()["x-amz-security-token"], "token");
        let signature = request.headers()["authorization"].to_str().unwrap();
        assert!(signature.starts_with("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/"), "{signature}");
        assert!(!format!("{request:?}").contains("hush"));
        let request = ask().sign(&signer(Addressing::VirtualHost)).unwrap();
        assert_eq!(request.uri().path(), "/a%20b/%C3%BC%2B1.txt");
        assert_eq!(request.headers()["host"], "photos.s3.example.org");
    }

    #[test]
    fn body_in_chunks_is_announced_and_signed_as_one() {
        let endpoint = Endpoint::parse("https://s3.example.org").unwrap();
        let keys = Keys::new("AKIDEXAMPLE", "hush", None);
        for keys in [None, Some(&keys)] {
            let signer = Signer { endpoint: &endpoint, addressing: Addressing::Path, region: "x", keys };
            let request = ask().chunked(5).length(47).sign(&signer).unwrap();
            for (name, value) in [
                ("x-amz-content-sha256", CHUNKED),
                ("content-encoding", "aws-chunked"),
                ("x-amz-decoded-content-length", "5"),
                ("x-amz-trailer", "x-amz-checksum-crc32"),
                ("content-length", "47"),
            ] {
                assert_eq!(request.headers()[name], value);
            }
        }
    }

    #[test]
    fn metadata_cannot_smuggle_a_header() {
        let endpoint = Endpoint::parse("https://s3.example.org").unwrap();
        let signer = Signer { endpoint: &endpoint, addressing: Addressing::Path, region: "x", keys: None };
        let name = HeaderName::from_static("x-amz-meta-note");
        assert!(ask().header(name, "a\r\nhost: b").sign(&signer).is_err());
    }
}
