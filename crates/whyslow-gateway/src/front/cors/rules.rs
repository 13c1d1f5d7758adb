//! [`Rule`]: permitted requests of web pages (S3's CORS configuration), and the fields of answers.

use http::{HeaderMap, HeaderValue, Method, header};
use s3s::dto::{CORSConfiguration, CORSRule};
use s3s::{S3Error, S3ErrorCode, S3Result};
use serde::{Deserialize, Serialize};

/// Maximum number of rules of a bucket, as in S3.
const MOST_RULES: usize = 100;
/// Letters of a rule's id, as in S3.
const LONGEST_ID: usize = 255;
/// The methods that S3 allows in a rule.
const METHODS: [&str; 5] = ["GET", "PUT", "HEAD", "POST", "DELETE"];
/// The fields that an answer under CORS depends on.
const VARY: &str = "Origin, Access-Control-Request-Headers, Access-Control-Request-Method";

/// A rule of a bucket's CORS configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::front) struct Rule {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    origins: Vec<String>,
    methods: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    headers: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    exposed: Vec<String>,
    /// Seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_age: Option<i32>,
}

/// A web page's request, as CORS sees it.
#[derive(Clone, Debug)]
pub(super) struct Asked<'a> {
    pub(super) origin: &'a str,
    pub(super) method: &'a str,
    /// `Access-Control-Request-Headers`, in lower case.
    pub(super) headers: Vec<String>,
}

impl<'a> Asked<'a> {
    /// For a request that carries `Origin`, the method counts.
    pub(super) fn request(headers: &'a HeaderMap, method: &'a Method) -> Option<Self> {
        let origin = text(headers, header::ORIGIN)?;
        Some(Self { origin, method: method.as_str(), headers: Vec::new() })
    }

    /// For a preflight, the announced request counts.
    pub(super) fn preflight(headers: &'a HeaderMap) -> S3Result<Self> {
        let missing = |field| {
            let message = format!("Insufficient information. {field} request header needed.");
            let mut error = S3Error::with_message(S3ErrorCode::Custom("BadRequest".into()), message);
            error.set_status_code(http::StatusCode::BAD_REQUEST);
            error
        };
        let origin = text(headers, header::ORIGIN).ok_or_else(|| missing("Origin"))?;
        let method = text(headers, header::ACCESS_CONTROL_REQUEST_METHOD);
        let method = method.ok_or_else(|| missing("Access-Control-Request-Method"))?;
        let wanted = text(headers, header::ACCESS_CONTROL_REQUEST_HEADERS).unwrap_or_default();
        let names = wanted.split(',').map(|name| name.trim().to_ascii_lowercase());
        Ok(Self { origin, method, headers: names.filter(|name| !name.is_empty()).collect() })
    }
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// Whether a pattern with at most one `*` covers a text.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((begin, end)) => text.len() >= begin.len() + end.len() && text.starts_with(begin) && text.ends_with(end),
    }
}

impl Rule {
    /// The first rule that allows a request.
    pub(super) fn find<'r>(rules: &'r [Self], asked: &Asked<'_>) -> Option<&'r Self> {
        rules.iter().find(|rule| rule.allows(asked))
    }

    fn allows(&self, asked: &Asked<'_>) -> bool {
        let is_allowed = |name: &String| self.headers.iter().any(|one| matches(&one.to_ascii_lowercase(), name));
        self.origins.iter().any(|one| matches(one, asked.origin))
            && self.methods.iter().any(|one| one == asked.method)
            && asked.headers.iter().all(is_allowed)
    }

    /// Adds the fields that allow a browser to pass the answer on to the page.
    pub(super) fn add_to(&self, answer: &mut HeaderMap, asked: &Asked<'_>) {
        let is_for_all = self.origins.iter().any(|one| one == "*");
        let mut set = |name: header::HeaderName, value: &str| {
            // Rules hold only valid values, and the origin came as one.
            if let Ok(value) = HeaderValue::from_str(value) {
                answer.insert(name, value);
            }
        };
        set(header::ACCESS_CONTROL_ALLOW_ORIGIN, if is_for_all { "*" } else { asked.origin });
        set(header::ACCESS_CONTROL_ALLOW_METHODS, &self.methods.join(", "));
        if !is_for_all {
            // A page may send cookies only to an origin that is named (Fetch, section 3.2.5).
            set(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, "true");
        }
        if !asked.headers.is_empty() {
            set(header::ACCESS_CONTROL_ALLOW_HEADERS, &asked.headers.join(", "));
        }
        if !self.exposed.is_empty() {
            set(header::ACCESS_CONTROL_EXPOSE_HEADERS, &self.exposed.join(", "));
        }
        if let Some(seconds) = self.max_age {
            set(header::ACCESS_CONTROL_MAX_AGE, &seconds.to_string());
        }
        answer.append(header::VARY, HeaderValue::from_static(VARY));
    }

    /// The rules of a client's configuration, if S3 would accept them.
    pub(in crate::front) fn of(configuration: CORSConfiguration) -> S3Result<Vec<Self>> {
        let rules = configuration.cors_rules;
        if rules.is_empty() || rules.len() > MOST_RULES {
            return Err(malformed(format!(
                "a configuration has 1 to {MOST_RULES} rules, and this one {}",
                rules.len()
            )));
        }
        rules.into_iter().map(Self::of_one).collect()
    }

    fn of_one(rule: CORSRule) -> S3Result<Self> {
        let this = Self {
            id: rule.id,
            origins: rule.allowed_origins,
            methods: rule.allowed_methods,
            headers: rule.allowed_headers.unwrap_or_default(),
            exposed: rule.expose_headers.unwrap_or_default(),
            max_age: rule.max_age_seconds,
        };
        if this.origins.is_empty() || this.methods.is_empty() {
            return Err(malformed("a rule has no AllowedOrigin or no AllowedMethod"));
        }
        if this.id.as_ref().is_some_and(|id| id.chars().count() > LONGEST_ID) {
            return Err(malformed(format!("the ID of a rule has more than {LONGEST_ID} letters")));
        }
        if let Some(method) = this.methods.iter().find(|method| !METHODS.contains(&method.as_str())) {
            let message = format!("Found unsupported HTTP method in CORS config. Unsupported method is {method}");
            return Err(refused(message));
        }
        for (field, values) in [("AllowedOrigin", &this.origins), ("AllowedHeader", &this.headers)] {
            if let Some(value) = values.iter().find(|value| value.matches('*').count() > 1) {
                return Err(refused(format!("{field} \"{value}\" can not have more than one wildcard.")));
            }
        }
        if let Some(value) = this.exposed.iter().find(|value| value.contains('*')) {
            let message = format!(
                "ExposeHeader \"{value}\" contains wildcard. We currently do not support wildcard for ExposeHeader."
            );
            return Err(refused(message));
        }
        let all = this.origins.iter().chain(&this.headers).chain(&this.exposed);
        if let Some(value) = all.into_iter().find(|value| HeaderValue::from_str(value).is_err()) {
            return Err(malformed(format!("{:?} is not a value of a header", value.escape_debug().to_string())));
        }
        Ok(this)
    }

    /// S3's form of the rule.
    pub(in crate::front) fn into_dto(self) -> CORSRule {
        let some = |values: Vec<String>| (!values.is_empty()).then_some(values);
        CORSRule {
            id: self.id,
            allowed_origins: self.origins,
            allowed_methods: self.methods,
            allowed_headers: some(self.headers),
            expose_headers: some(self.exposed),
            max_age_seconds: self.max_age,
        }
    }
}

fn refused(message: String) -> S3Error {
    S3Error::with_message(S3ErrorCode::InvalidRequest, message)
}

fn malformed(message: impl Into<String>) -> S3Error {
    S3Error::with_message(S3ErrorCode::MalformedXML, message.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(origins: &[&str], methods: &[&str], headers: &[&str]) -> Rule {
        let owned = |values: &[&str]| values.iter().map(|&value| value.to_owned()).collect();
        Rule { origins: owned(origins), methods: owned(methods), headers: owned(headers), ..Rule::default() }
    }

    fn asked(origin: &'static str, method: &'static str, headers: &[&str]) -> Asked<'static> {
        Asked { origin, method, headers: headers.iter().map(|&name| name.to_owned()).collect() }
    }

    fn taken(rule: Rule) -> S3Result<Vec<Rule>> {
        Rule::of(CORSConfiguration { cors_rules: vec![rule.into_dto()] })
    }

    #[test]
    fn origin_matches_a_pattern_with_one_wildcard() {
        let rules = [rule(&["https://*.example.com"], &["GET"], &[])];
        let finds = |origin| Rule::find(&rules, &asked(origin, "GET", &[])).is_some();
        assert!(finds("https://www.example.com"));
        assert!(!finds("http://www.example.com") && !finds("https://example.com") && !finds("https://a.example.com.b"));
        // Begin and end of a pattern may not overlap in the text.
        assert!(!matches("aba*aba", "aba") && matches("*", ""));
    }

    #[test]
    fn rule_is_the_first_that_allows_method_and_headers() {
        let rules = [rule(&["*"], &["GET"], &[]), rule(&["http://a"], &["PUT"], &["X-Amz-*", "content-type"])];
        let find = |method, headers: &[&str]| Rule::find(&rules, &asked("http://a", method, headers)).cloned();
        assert_eq!(find("GET", &[]), Some(rules[0].clone()));
        assert_eq!(find("PUT", &["x-amz-date", "content-type"]), Some(rules[1].clone()));
        assert_eq!(find("PUT", &["authorization"]), None);
        assert_eq!(find("DELETE", &[]), None);
    }

    #[test]
    fn credentials_are_allowed_to_named_origins_alone() {
        let shown = |origins: &[&str]| {
            let mut answer = HeaderMap::new();
            rule(origins, &["GET"], &[]).add_to(&mut answer, &asked("http://a", "GET", &[]));
            let text = |name: &str| answer.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
            (text("access-control-allow-origin"), text("access-control-allow-credentials"))
        };
        assert_eq!(shown(&["*"]), (Some("*".to_owned()), None));
        assert_eq!(shown(&["http://*"]), (Some("http://a".to_owned()), Some("true".to_owned())));
    }

    #[test]
    fn rules_that_s3_refuses_are_refused() {
        assert!(taken(rule(&["*"], &["GET", "HEAD"], &["*"])).is_ok());
        assert!(taken(rule(&["http://*.*"], &["GET"], &[])).is_err());
        assert!(taken(rule(&["*"], &["PATCH"], &[])).is_err());
        assert!(taken(rule(&["*"], &["GET"], &["x-*-*"])).is_err());
        assert!(taken(rule(&["*"], &[], &[])).is_err() && taken(rule(&[], &["GET"], &[])).is_err());
        assert!(taken(rule(&["http://a\r\nset-cookie: b"], &["GET"], &[])).is_err());
        assert!(taken(Rule { exposed: vec!["x-*".to_owned()], ..rule(&["*"], &["GET"], &[]) }).is_err());
        let many = (0..101).map(|_| rule(&["*"], &["GET"], &[]).into_dto()).collect();
        assert!(Rule::of(CORSConfiguration { cors_rules: many }).is_err());
    }
}
