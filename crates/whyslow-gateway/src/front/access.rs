//! Access: secrets by access key, the fields that a signature must cover, and buckets that are
//! hosts.

use super::call::Call;
use super::options::Access;
use super::rights::{self, AccessKey, AccessKeys, Need, Right};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderValue, Uri, header};
use percent_encoding::percent_decode_str;
use s3s::access::{S3Access, S3AccessContext};
use s3s::auth::{Credentials, S3Auth, SecretKey};
use s3s::dto::{
    CopyObjectInput, CopySource, DeleteObjectsInput, ListMultipartUploadsInput, ListObjectVersionsInput,
    ListObjectsInput, ListObjectsV2Input, UploadPartCopyInput,
};
use s3s::host::{S3Host, VirtualHost};
use s3s::path::S3Path;
use s3s::{S3Error, S3ErrorCode, S3Request, S3Result};
use std::net::IpAddr;
use subtle::ConstantTimeEq;

/// Secrets by access key.
#[derive(Clone)]
pub(super) struct Secrets(pub(super) AccessKeys);

#[async_trait::async_trait]
impl S3Auth for Secrets {
    async fn get_secret_key(&self, access_key: &str) -> S3Result<SecretKey> {
        match self.0.current().iter().find(|key| key.id == access_key) {
            Some(key) => Ok(SecretKey::from(key.secret.as_str())),
            None => Err(S3Error::with_message(S3ErrorCode::InvalidAccessKeyId, "this access key is not known here")),
        }
    }
}

/// Fields that a request may have although its signature does not cover them: they only make it
/// stricter, or are signed in another way.
const UNSIGNED: [&str; 6] = [
    "x-amz-content-sha256",
    "x-amz-date",
    "x-amz-decoded-content-length",
    "x-amz-sdk-checksum-algorithm",
    "x-amz-trailer",
    "x-amz-user-agent",
];

/// Refuses requests without a signature, and fields of S3 that the signature does not cover:
/// otherwise a link to store one object could read another one by `x-amz-copy-source`.
pub(super) struct Signed(pub(super) AccessKeys);

impl Signed {
    fn key(&self, credentials: Option<&Credentials>) -> Option<AccessKey> {
        let id = &credentials?.access_key;
        self.0.current().iter().find(|key| key.id == *id).cloned()
    }
}

fn denied(message: impl Into<String>) -> S3Error {
    S3Error::with_message(S3ErrorCode::AccessDenied, message.into())
}

/// Checks the rights of a key for the request.
fn allow(key: &AccessKey, cx: &S3AccessContext<'_>) -> S3Result<()> {
    let (bucket, name) = match cx.s3_path() {
        S3Path::Root => ("", ""),
        S3Path::Bucket { bucket } => (&**bucket, ""),
        S3Path::Object { bucket, key } => (&**bucket, &**key),
    };
    let is_allowed = match rights::need(cx.s3_op().name()) {
        Need::On(right) => key.may(right, bucket, name),
        Need::OnBucket(right) => key.may(right, bucket, ""),
        Need::Any | Need::Each => key.may_use(bucket),
        Need::Buckets => key.may_list_buckets(),
    };
    if is_allowed { Ok(()) } else { Err(denied(NO_RIGHT)) }
}

const NO_RIGHT: &str = "this access key has no right to do this here";

impl Signed {
    /// Whether the key of a request has this right on all of these keys or prefixes.
    fn each<T>(&self, request: &S3Request<T>, right: Right, bucket: &str, names: &[&str]) -> S3Result<()> {
        let key = self.key(request.credentials.as_ref()).ok_or_else(|| denied(NO_RIGHT))?;
        let is_allowed = names.iter().all(|name| key.may(right, bucket, name));
        if is_allowed { Ok(()) } else { Err(denied(NO_RIGHT)) }
    }

    /// A list shows the names that begin with its prefix.
    fn list<T>(&self, request: &S3Request<T>, bucket: &str, prefix: Option<&String>) -> S3Result<()> {
        self.each(request, Right::List, bucket, &[prefix.map_or("", String::as_str)])
    }

    /// A copy reads another object.
    fn source<T>(&self, request: &S3Request<T>, source: &CopySource) -> S3Result<()> {
        match source {
            CopySource::Bucket { bucket, key, .. } => self.each(request, Right::Read, bucket, &[key]),
            // It is refused later.
            _ => self.each(request, Right::Read, "", &[""]),
        }
    }
}

#[async_trait::async_trait]
impl S3Access for Signed {
    async fn check(&self, cx: &mut S3AccessContext<'_>) -> S3Result<()> {
        let Some(credentials) = cx.credentials() else {
            return Err(S3Error::with_message(S3ErrorCode::AccessDenied, "the request is not signed"));
        };
        let signed = signed_fields(cx.headers(), cx.uri()).unwrap_or_default();
        let is_signed = |name: &str| signed.split(';').any(|one| one.eq_ignore_ascii_case(name));
        for name in cx.headers().keys().map(header::HeaderName::as_str).filter(|name| name.starts_with("x-amz-")) {
            let is_harmless = UNSIGNED.contains(&name) || name.starts_with("x-amz-checksum-");
            if !is_harmless && !is_signed(name) {
                let message = format!("the signature does not cover {name}");
                return Err(S3Error::with_message(S3ErrorCode::AccessDenied, message));
            }
        }
        if !is_signed("host") {
            return Err(S3Error::with_message(S3ErrorCode::AccessDenied, "the signature does not cover host"));
        }
        let key = self.key(Some(credentials)).ok_or_else(|| denied("this access key is not known here any more"))?;
        allow(&key, cx)?;
        let (name, access_key) = (operation(cx.s3_op().name()), credentials.access_key.clone());
        if let Some(call) = cx.extensions_mut().get::<Call>() {
            call.begin(name, Some(&access_key));
        }
        Ok(())
    }

    async fn delete_objects(&self, request: &mut S3Request<DeleteObjectsInput>) -> S3Result<()> {
        let keys: Vec<_> = request.input.delete.objects.iter().map(|one| one.key.as_str()).collect();
        self.each(request, Right::Write, &request.input.bucket, &keys)
    }

    async fn copy_object(&self, request: &mut S3Request<CopyObjectInput>) -> S3Result<()> {
        self.source(request, &request.input.copy_source)
    }

    async fn upload_part_copy(&self, request: &mut S3Request<UploadPartCopyInput>) -> S3Result<()> {
        self.source(request, &request.input.copy_source)
    }

    async fn list_objects(&self, request: &mut S3Request<ListObjectsInput>) -> S3Result<()> {
        self.list(request, &request.input.bucket, request.input.prefix.as_ref())
    }

    async fn list_objects_v2(&self, request: &mut S3Request<ListObjectsV2Input>) -> S3Result<()> {
        self.list(request, &request.input.bucket, request.input.prefix.as_ref())
    }

    async fn list_object_versions(&self, request: &mut S3Request<ListObjectVersionsInput>) -> S3Result<()> {
        self.list(request, &request.input.bucket, request.input.prefix.as_ref())
    }

    async fn list_multipart_uploads(&self, request: &mut S3Request<ListMultipartUploadsInput>) -> S3Result<()> {
        self.list(request, &request.input.bucket, request.input.prefix.as_ref())
    }
}

/// The fields that a signature covers: a link's own come before the header's.
fn signed_fields(headers: &HeaderMap, uri: &Uri) -> Option<String> {
    let pairs = pairs(uri);
    let of_link = |name: &str| pairs.iter().find(|(one, _)| one == name).map(|(_, value)| value.clone());
    if of_link("X-Amz-Signature").is_some() {
        return of_link("X-Amz-SignedHeaders");
    }
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    value.split([' ', ',']).find_map(|part| part.strip_prefix("SignedHeaders=")).map(str::to_owned)
}

/// The names and values of a query, decoded.
fn pairs(uri: &Uri) -> Vec<(String, String)> {
    let decode = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let pairs = uri.query().unwrap_or_default().split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.map(|(name, value)| (decode(name), decode(value))).collect()
}

/// Whether a signature is of version 2, which covers neither the body nor all of the query.
pub(super) fn is_version_2(headers: &HeaderMap, uri: &Uri) -> bool {
    let is_in_header =
        |value: &HeaderValue| value.as_bytes().starts_with(b"AWS") && !value.as_bytes().starts_with(b"AWS4-");
    headers.get_all(header::AUTHORIZATION).iter().any(is_in_header)
        || pairs(uri).iter().any(|(name, _)| name == "Signature")
}

/// Maximum validity of a link, seconds: a week, as in S3.
const LONGEST_LINK: u64 = 604_800;

/// Whether a link is valid for longer than S3 allows.
pub(super) fn expires_too_late(uri: &Uri) -> bool {
    let times = pairs(uri).into_iter().filter(|(name, _)| name == "X-Amz-Expires");
    times.into_iter().any(|(_, value)| value.parse().is_ok_and(|seconds: u64| seconds > LONGEST_LINK))
}

/// A region in a signature that the library does not read, as the `US` of s3cmd's default. S3
/// answers with the region to sign for, and clients sign again.
pub(super) fn has_odd_region(headers: &HeaderMap) -> bool {
    let value = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let credential = value.split([' ', ',']).find_map(|part| part.strip_prefix("Credential="));
    let is_usual = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    credential.and_then(|text| text.rsplit('/').nth(2)).is_some_and(|region| !region.bytes().all(is_usual))
}

/// S3's names of this endpoint's operations: few, and none from a client.
const OPERATIONS: [&str; 52] = [
    "AbortMultipartUpload",
    "CompleteMultipartUpload",
    "CopyObject",
    "CreateBucket",
    "CreateMultipartUpload",
    "DeleteBucket",
    "DeleteBucketCors",
    "DeleteBucketLifecycle",
    "DeleteBucketPolicy",
    "DeleteBucketReplication",
    "DeleteBucketTagging",
    "DeleteBucketWebsite",
    "DeleteObject",
    "DeleteObjectTagging",
    "DeleteObjects",
    "GetBucketAccelerateConfiguration",
    "GetBucketAcl",
    "GetBucketCors",
    "GetBucketEncryption",
    "GetBucketLifecycleConfiguration",
    "GetBucketLocation",
    "GetBucketLogging",
    "GetBucketNotificationConfiguration",
    "GetBucketOwnershipControls",
    "GetBucketPolicy",
    "GetBucketPolicyStatus",
    "GetBucketReplication",
    "GetBucketRequestPayment",
    "GetBucketTagging",
    "GetBucketVersioning",
    "GetBucketWebsite",
    "GetObject",
    "GetObjectAcl",
    "GetObjectAttributes",
    "GetObjectLockConfiguration",
    "GetObjectTagging",
    "GetPublicAccessBlock",
    "HeadBucket",
    "HeadObject",
    "ListBuckets",
    "ListMultipartUploads",
    "ListObjectVersions",
    "ListObjects",
    "ListObjectsV2",
    "ListParts",
    "PutBucketAcl",
    "PutBucketCors",
    "PutObject",
    "PutObjectAcl",
    "PutObjectTagging",
    "UploadPart",
    "UploadPartCopy",
];

fn operation(name: &str) -> &'static str {
    OPERATIONS.iter().find(|one| **one == name).copied().unwrap_or("Other")
}

/// The domains of buckets that are hosts.
pub(super) struct Domains(pub(super) Vec<String>);

impl S3Host for Domains {
    fn parse_host_header<'a>(&'a self, host: &'a str) -> S3Result<VirtualHost<'a>> {
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        let bucket = self.0.iter().find_map(|domain| name.strip_suffix(domain.as_str())?.strip_suffix('.'));
        let found = VirtualHost::new(host);
        Ok(bucket.map_or(found.clone(), |bucket| found.with_bucket(bucket)))
    }
}

/// Whether a web page may have made this request. Without access keys, any page that is open in a
/// browser of this machine could store and read here. Browsers name the page's origin; a page whose
/// own name resolves to this machine (DNS rebinding) is recognised by that name.
pub(super) fn is_of_web_page(headers: &HeaderMap, uri: &Uri, domains: &[String]) -> bool {
    let site = headers.get("sec-fetch-site").map(header::HeaderValue::as_bytes);
    if headers.contains_key(header::ORIGIN) || site.is_some_and(|site| site != b"none") {
        return true;
    }
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let Some(host) = uri.host().or_else(|| host.map(without_port)) else { return false };
    let is_address = host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
    let is_under =
        |domain: &String| host.strip_suffix(domain.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    !is_address && !domains.iter().any(is_under)
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

impl Access {
    /// The access key of a request with a name and a secret in HTTP's Basic; `None` if it is
    /// unknown. If no key is needed it has no name.
    pub(super) fn basic(&self, headers: &HeaderMap) -> Option<AccessKey> {
        let keys = match self {
            Self::Everybody => return Some(AccessKey::new("", "")),
            Self::Keys(keys) => keys.current(),
        };
        let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
        let (scheme, value) = value.split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("basic") {
            return None;
        }
        let pair = zeroize::Zeroizing::new(STANDARD.decode(value.trim()).ok()?);
        let end = pair.iter().position(|&byte| byte == b':')?;
        let (id, secret) = (pair.get(..end)?, pair.get(end + 1..)?);
        let is_right = |key: &&AccessKey| bool::from(key.id.as_bytes().ct_eq(id) & key.secret.as_bytes().ct_eq(secret));
        keys.iter().find(is_right).cloned()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_host_is_a_bucket_under_a_domain_alone() {
        let domains = Domains(vec!["localhost".to_owned(), "s3.example.com".to_owned()]);
        let bucket = |host: &str| domains.parse_host_header(host).unwrap().bucket().map(str::to_owned);
        assert_eq!(bucket("photos.localhost:9000").as_deref(), Some("photos"));
        assert_eq!(bucket("my.photos.s3.example.com").as_deref(), Some("my.photos"));
        for host in ["localhost", "localhost:9000", "s3.example.com", "other.example.com", "nolocalhost"] {
            assert_eq!(bucket(host), None, "{host}");
        }
    }

    #[test]
    fn requests_of_web_pages_are_known() {
        let is_of_page = |fields: &[(&'static str, &'static str)]| {
            let fields = fields
                .iter()
                .map(|(name, value)| (header::HeaderName::from_static(name), HeaderValue::from_static(value)));
            is_of_web_page(&fields.collect(), &Uri::from_static("/a/b"), &["localhost".to_owned()])
        };
        for host in ["127.0.0.1:9000", "localhost:9000", "photos.localhost", "[::1]:9000", "127.0.0.1"] {
            assert!(!is_of_page(&[("host", host)]), "{host}");
            assert!(is_of_page(&[("host", host), ("origin", "http://example.org")]), "{host}");
            assert!(is_of_page(&[("host", host), ("sec-fetch-site", "cross-site")]), "{host}");
            assert!(!is_of_page(&[("host", host), ("sec-fetch-site", "none")]), "{host}");
        }
        for host in ["example.org:9000", "notlocalhost", "127.0.0.1.example.org"] {
            assert!(is_of_page(&[("host", host)]), "{host}");
        }
    }

    #[test]
    fn basic_needs_the_right_secret() {
        let access = Access::Keys(vec![AccessKey::new("me", "a:b")].into());
        let ask = |text: &str| {
            let value = format!("Basic {}", STANDARD.encode(text));
            let value = HeaderValue::from_str(&value).unwrap();
            access.basic(&HeaderMap::from_iter([(header::AUTHORIZATION, value)])).map(|key| key.id)
        };
        assert_eq!(ask("me:a:b").as_deref(), Some("me"));
        for wrong in ["me:a:c", "me:a", "me", "you:a:b", "", ":"] {
            assert_eq!(ask(wrong), None, "{wrong}");
        }
        assert!(access.basic(&HeaderMap::new()).is_none());
        assert!(Access::Everybody.basic(&HeaderMap::new()).is_some());
    }

    #[test]
    fn signed_fields_are_in_the_header_or_in_the_link() {
        let value =
            HeaderValue::from_static("AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=host;x-amz-date, Signature=c");
        let headers = HeaderMap::from_iter([(header::AUTHORIZATION, value)]);
        assert_eq!(signed_fields(&headers, &Uri::from_static("/")).as_deref(), Some("host;x-amz-date"));
        let link = Uri::from_static("/a/b?X-Amz-SignedHeaders=host%3Bx-amz-acl&X-Amz-Signature=c");
        assert_eq!(signed_fields(&HeaderMap::new(), &link).as_deref(), Some("host;x-amz-acl"));
        // With a link alone, a signature cannot be made to cover more.
        assert_eq!(signed_fields(&headers, &link).as_deref(), Some("host;x-amz-acl"));
        let hidden = Uri::from_static("/a/b?X-Amz-SignedHeaders=host&X%2DAmz-Signature=c");
        assert_eq!(signed_fields(&headers, &hidden).as_deref(), Some("host"));
    }

    #[test]
    fn link_is_good_for_a_week_at_most() {
        let link = |seconds: &str| format!("/a/b?X-Amz-Expires={seconds}&X-Amz-Signature=c").parse::<Uri>();
        assert!(expires_too_late(&link("604801").unwrap()) && expires_too_late(&link("18446744073709551615").unwrap()));
        assert!(!expires_too_late(&link("604800").unwrap()) && !expires_too_late(&Uri::from_static("/a/b")));
    }

    #[test]
    fn region_in_capitals_is_odd() {
        let is_odd = |region: &str| {
            let value =
                format!("AWS4-HMAC-SHA256 Credential=a/b/20260101/{region}/s3/aws4_request, SignedHeaders=host");
            has_odd_region(&HeaderMap::from_iter([(header::AUTHORIZATION, HeaderValue::try_from(value).unwrap())]))
        };
        assert!(is_odd("US") && !is_odd("us-east-1") && !has_odd_region(&HeaderMap::new()));
    }

    #[test]
    fn version_2_is_known_by_header_and_link() {
        let headers = HeaderMap::from_iter([(header::AUTHORIZATION, HeaderValue::from_static("AWS id:signature"))]);
        assert!(is_version_2(&headers, &Uri::from_static("/a/b")));
        let none = HeaderMap::new();
        assert!(is_version_2(&none, &Uri::from_static("/a/b?AWSAccessKeyId=a&Signature=b&Expires=1")));
        assert!(is_version_2(&none, &Uri::from_static("/a/b?AWSAccessKeyId=a&Sign%61ture=b&Expires=1")));
        assert!(!is_version_2(&none, &Uri::from_static("/a/b?X-Amz-Signature=b")));
    }
}
