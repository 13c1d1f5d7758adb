//! [`Stored`]: the answer to a browser whose file was stored.

use http::{HeaderValue, Response, StatusCode, Uri, header};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use quick_xml::escape::escape;

/// All but the unreserved characters of an URL (RFC 3986 section 2.3).
const IN_QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
const IN_PATH: &AsciiSet = &IN_QUERY.remove(b'/');

/// An object that a form stored.
pub(super) struct Stored<'a> {
    pub(super) bucket: &'a str,
    pub(super) key: &'a str,
    /// Without quotes.
    pub(super) tag: &'a str,
    /// The URL of the bucket.
    pub(super) base: String,
}

impl Stored<'_> {
    /// As the form asks for it: `success_action_redirect`, before `success_action_status`.
    pub(super) fn response(&self, redirect: Option<&str>, status: Option<&str>) -> Response<s3s::Body> {
        let path = utf8_percent_encode(self.key, IN_PATH);
        let location = format!("{}/{path}", self.base);
        let tag = HeaderValue::try_from(format!("\"{}\"", self.tag)).ok();
        let redirect = redirect.and_then(|url| self.redirect(url));
        let (status, location, body) = match (redirect, status) {
            (Some(url), _) => (StatusCode::SEE_OTHER, Some(url), None),
            (None, Some("200")) => (StatusCode::OK, HeaderValue::try_from(location).ok(), None),
            (None, Some("201")) => {
                let document = self.document(&location);
                (StatusCode::CREATED, HeaderValue::try_from(location).ok(), Some(document))
            }
            _ => (StatusCode::NO_CONTENT, HeaderValue::try_from(location).ok(), None),
        };
        let has_document = body.is_some();
        let mut answer = Response::new(body.map_or_else(s3s::Body::empty, s3s::Body::from));
        *answer.status_mut() = status;
        let fields = answer.headers_mut();
        location.and_then(|value| fields.insert(header::LOCATION, value));
        tag.and_then(|value| fields.insert(header::ETAG, value));
        if has_document {
            fields.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/xml"));
        }
        answer
    }

    /// S3 ignores a value that is not an URL.
    fn redirect(&self, url: &str) -> Option<HeaderValue> {
        let parsed: Uri = url.parse().ok()?;
        matches!(parsed.scheme_str(), Some("http" | "https")).then_some(())?;
        let encode = |text: &str| utf8_percent_encode(text, IN_QUERY).to_string();
        let tag = format!("\"{}\"", self.tag);
        let query = format!("bucket={}&key={}&etag={}", encode(self.bucket), encode(self.key), encode(&tag));
        let joint = if parsed.query().is_some() { '&' } else { '?' };
        HeaderValue::try_from(format!("{url}{joint}{query}")).ok()
    }

    fn document(&self, location: &str) -> String {
        let Self { bucket, key, tag, .. } = self;
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?><PostResponse><Location>{}</Location><Bucket>{}</Bucket>\
             <Key>{}</Key><ETag>&quot;{}&quot;</ETag></PostResponse>",
            escape(location),
            escape(*bucket),
            escape(*key),
            escape(*tag)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(redirect: Option<&str>, status: Option<&str>) -> (u16, String, String) {
        let stored = Stored { bucket: "b", key: "a b/<&>", tag: "w1-x", base: "http://host/b".to_owned() };
        let answer = stored.response(redirect, status);
        let location = answer.headers()[header::LOCATION].to_str().unwrap_or_default().to_owned();
        let body = answer.body().bytes().unwrap_or_default();
        (answer.status().as_u16(), location, String::from_utf8_lossy(&body).into_owned())
    }

    #[test]
    fn answer_is_the_one_that_the_form_asks_for() {
        let location = "http://host/b/a%20b/%3C%26%3E";
        assert_eq!(answer(None, None), (204, location.to_owned(), String::new()));
        assert_eq!(answer(None, Some("200")), (200, location.to_owned(), String::new()));
        assert_eq!(answer(None, Some("400")).0, 204);
        let (status, _, document) = answer(None, Some("201"));
        assert_eq!(status, 201);
        assert!(document.contains("<Key>a b/&lt;&amp;&gt;</Key><ETag>&quot;w1-x&quot;</ETag>"), "{document}");
        let query = "bucket=b&key=a%20b%2F%3C%26%3E&etag=%22w1-x%22";
        assert_eq!(answer(Some("https://p/done"), Some("201")).1, format!("https://p/done?{query}"));
        assert_eq!(answer(Some("https://p/done?a=b"), None).1, format!("https://p/done?a=b&{query}"));
    }

    #[test]
    fn redirect_that_is_not_an_url_is_passed_over() {
        for wrong in ["javascript:alert(1)", "/here", "", "http://a b"] {
            assert_eq!(answer(Some(wrong), None).0, 204, "{wrong}");
        }
    }
}
