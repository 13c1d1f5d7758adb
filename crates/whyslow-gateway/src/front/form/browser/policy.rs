//! [`Policy`]: what the signer of a form allows its user to send, and whether it was signed.

use super::fields::Fields;
use crate::front::chunks::{hex, signing_key};
use crate::front::errors::invalid;
use crate::front::rights::{AccessKey, AccessKeys};
use ring::hmac;
use s3s::post_policy::{PostPolicy, PostPolicyCondition};
use s3s::{S3Error, S3ErrorCode, S3Result};
use std::ops::RangeInclusive;
use std::time::SystemTime;
use subtle::ConstantTimeEq;
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

/// Fields that a form may have without a condition in its policy, as in S3.
const FREE: [&str; 4] = ["file", "policy", "submit", "x-amz-signature"];
/// A signature is good for 7 days, as that of a link; S3's keys for signing last as long.
const LONGEST: Duration = Duration::days(7);
/// Clocks may differ by 15 minutes, as in S3.
const SKEW: Duration = Duration::minutes(15);

/// A policy that has not expired.
pub(super) struct Policy(PostPolicy);

impl Policy {
    /// The policy of a form; `None` if it has none.
    pub(super) fn of(fields: &Fields, now: SystemTime) -> S3Result<Option<Self>> {
        let Some(text) = fields.get("policy") else { return Ok(None) };
        let wrong = |error| {
            let message = format!("Invalid Policy: {error}");
            S3Error::with_message(S3ErrorCode::InvalidPolicyDocument, message)
        };
        let policy = PostPolicy::from_base64(text.trim()).map_err(wrong)?;
        if OffsetDateTime::from(policy.expiration.clone()) < OffsetDateTime::from(now) {
            return Err(denied("Invalid according to Policy: Policy expired."));
        }
        Ok(Some(Self(policy)))
    }

    /// Compares the form's fields with the conditions. Each field must be in one.
    pub(super) fn check(&self, bucket: &str, fields: &Fields) -> S3Result<()> {
        let value = |name: &str| if name == "bucket" { Some(bucket) } else { fields.get(name) };
        for condition in &self.0.conditions {
            let (is_met, text) = match condition {
                PostPolicyCondition::Eq { field, value: expected } => {
                    (value(field) == Some(expected), format!("[\"eq\", \"${field}\", \"{expected}\"]"))
                }
                PostPolicyCondition::StartsWith { field, prefix } => {
                    let text = format!("[\"starts-with\", \"${field}\", \"{prefix}\"]");
                    (begins(field, value(field).unwrap_or_default(), prefix), text)
                }
                PostPolicyCondition::ContentLengthRange { .. } => continue,
            };
            if !is_met {
                return Err(denied(format!("Invalid according to Policy: Policy Condition failed: {text}")));
            }
        }
        let is_covered = |name: &str| {
            FREE.contains(&name)
                || name.starts_with("x-ignore-")
                || self.0.conditions.iter().any(|condition| match condition {
                    PostPolicyCondition::Eq { field, .. } | PostPolicyCondition::StartsWith { field, .. } => {
                        field == name
                    }
                    PostPolicyCondition::ContentLengthRange { .. } => false,
                })
        };
        match fields.names().find(|name| !is_covered(name)) {
            Some(name) => Err(denied(format!("Invalid according to Policy: Extra input fields: {name}"))),
            None => Ok(()),
        }
    }

    /// Bytes that the file may have.
    pub(super) fn sizes(&self) -> RangeInclusive<u64> {
        let mut sizes = (0, u64::MAX);
        for condition in &self.0.conditions {
            if let PostPolicyCondition::ContentLengthRange { min, max } = condition {
                sizes = (sizes.0.max(*min), sizes.1.min(*max));
            }
        }
        sizes.0..=sizes.1
    }
}

/// Whether a value begins so; of a list of content types, each of them.
fn begins(field: &str, value: &str, prefix: &str) -> bool {
    match field {
        "content-type" => value.split(',').all(|one| one.trim_start().starts_with(prefix)),
        _ => value.starts_with(prefix),
    }
}

/// The access key that signed a form's policy.
pub(super) fn signer(keys: &AccessKeys, fields: &Fields, now: SystemTime) -> S3Result<AccessKey> {
    if fields.get("awsaccesskeyid").is_some() || fields.get("signature").is_some() {
        let message = "signatures of version 2 are not accepted: sign with version 4 (signature_version s3v4)";
        return Err(S3Error::with_message(S3ErrorCode::InvalidRequest, message));
    }
    let policy = fields.get("policy").ok_or_else(|| denied("the form has no policy, so it is not signed"))?;
    let get = |name: &str| fields.get(name).ok_or_else(|| invalid(format!("the form has no field {name}")));
    let [algorithm, credential, date, signature] =
        ["x-amz-algorithm", "x-amz-credential", "x-amz-date", "x-amz-signature"].map(get);
    let (credential, date, signature) = (credential?, date?, signature?);
    if algorithm? != "AWS4-HMAC-SHA256" {
        return Err(invalid("x-amz-algorithm is not AWS4-HMAC-SHA256"));
    }
    let wrong = || invalid("x-amz-credential is not ACCESS_KEY/DATE/REGION/s3/aws4_request");
    let mut parts = credential.rsplitn(5, '/');
    let end = (parts.next(), parts.next());
    let (Some(_), Some(day), Some(id)) = (parts.next(), parts.next(), parts.next()) else { return Err(wrong()) };
    if end != (Some("aws4_request"), Some("s3")) || !date.starts_with(day) {
        return Err(wrong());
    }
    let signed = moment(date).ok_or_else(|| invalid("x-amz-date is not a date as 20261127T120000Z"))?;
    let age = OffsetDateTime::from(now) - signed;
    if age > LONGEST || age < -SKEW {
        return Err(denied("the form was signed more than 7 days ago, or its date is in the future"));
    }
    let unknown = || S3Error::with_message(S3ErrorCode::InvalidAccessKeyId, "this access key is not known here");
    let key = keys.current().iter().find(|key| key.id == id).cloned().ok_or_else(unknown)?;
    let scope = credential.get(id.len() + 1..).unwrap_or_default();
    let expected = hex(hmac::sign(&signing_key(&key.secret, scope), policy.as_bytes()).as_ref());
    if !bool::from(expected.as_bytes().ct_eq(signature.as_bytes())) {
        let message = "the policy of the form does not have the signature that belongs to it";
        return Err(S3Error::with_message(S3ErrorCode::SignatureDoesNotMatch, message));
    }
    Ok(key)
}

/// `20130524T000000Z`.
fn moment(text: &str) -> Option<OffsetDateTime> {
    let (day, time) = text.split_once('T').filter(|_| text.is_ascii())?;
    let is_one = day.len() == 8 && time.len() == 7;
    let text = is_one.then(|| {
        let (year, month, day) = (&day[..4], &day[4..6], &day[6..]);
        format!("{year}-{month}-{day}T{}:{}:{}", &time[..2], &time[2..4], &time[4..])
    })?;
    OffsetDateTime::parse(&text, &Rfc3339).ok()
}

fn denied(message: impl Into<String>) -> S3Error {
    S3Error::with_message(S3ErrorCode::AccessDenied, message.into())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use std::time::Duration;

    fn fields(pairs: &[(&str, &str)]) -> Fields {
        let mut fields = Fields::default();
        pairs.iter().for_each(|(name, value)| fields.add(name, (*value).to_owned()).unwrap());
        fields
    }

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn policy(conditions: &str) -> Policy {
        let text = format!("{{\"expiration\": \"2026-01-01T00:00:00Z\", \"conditions\": [{conditions}]}}");
        Policy::of(&fields(&[("policy", &STANDARD.encode(text))]), at(0)).unwrap().unwrap()
    }

    #[test]
    fn field_without_a_condition_is_refused() {
        let policy =
            policy(r#"["starts-with", "$key", "a/"], {"bucket": "b"}, ["starts-with", "$Content-Type", "image/"]"#);
        let check = |bucket, pairs: &[(&str, &str)]| policy.check(bucket, &fields(pairs)).is_ok();
        let right = [("key", "a/b"), ("content-type", "image/png, image/jpeg"), ("x-ignore-a", "b")];
        assert!(check("b", &right));
        assert!(!check("c", &right));
        assert!(!check("b", &[("key", "b"), ("content-type", "image/png")]));
        assert!(!check("b", &[("key", "a/b"), ("content-type", "image/png,text/html")]));
        assert!(!check("b", &[("key", "a/b"), ("content-type", "image/png"), ("acl", "private")]));
        // A condition is about a field that is there.
        assert!(!check("b", &[("key", "a/b")]));
    }

    #[test]
    fn sizes_are_those_that_all_conditions_allow() {
        assert_eq!(policy("").sizes(), 0..=u64::MAX);
        let both = r#"["content-length-range", 1, 10], ["content-length-range", 5, 20]"#;
        assert_eq!(policy(both).sizes(), 5..=10);
    }

    #[test]
    fn policy_expires() {
        let text = STANDARD.encode(r#"{"expiration": "1970-01-01T00:00:10Z", "conditions": []}"#);
        let of = |now| Policy::of(&fields(&[("policy", &text)]), at(now));
        assert!(of(9).is_ok() && of(11).is_err());
        assert!(Policy::of(&fields(&[("policy", "e30=")]), at(0)).is_err());
        assert!(Policy::of(&fields(&[]), at(0)).unwrap().is_none());
    }

    /// The example of S3's documentation, "Browser-Based Upload using HTTP POST".
    #[test]
    fn signature_is_that_of_s3s_documentation() {
        let policy = "eyAiZXhwaXJhdGlvbiI6ICIyMDE1LTEyLTMwVDEyOjAwOjAwLjAwMFoiLA0KICAiY29uZGl0aW9ucyI6IFsNCiAgICB7ImJ1Y2tldCI6ICJzaWd2NGV4YW1wbGVidWNrZXQifSwNCiAgICBbInN0YXJ0cy13aXRoIiwgIiRrZXkiLCAidXNlci91c2VyMS8iXSwNCiAgICB7ImFjbCI6ICJwdWJsaWMtcmVhZCJ9LA0KICAgIHsic3VjY2Vzc19hY3Rpb25fcmVkaXJlY3QiOiAiaHR0cDovL3NpZ3Y0ZXhhbXBsZWJ1Y2tldC5zMy5hbWF6b25hd3MuY29tL3N1Y2Nlc3NmdWxfdXBsb2FkLmh0bWwifSwNCiAgICBbInN0YXJ0cy13aXRoIiwgIiRDb250ZW50LVR5cGUiLCAiaW1hZ2UvIl0sDQogICAgeyJ4LWFtei1tZXRhLXV1aWQiOiAiMTQzNjUxMjM2NTEyNzQifSwNCiAgICB7IngtYW16LXNlcnZlci1zaWRlLWVuY3J5cHRpb24iOiAiQUVTMjU2In0sDQogICAgWyJzdGFydHMtd2l0aCIsICIkeC1hbXotbWV0YS10YWciLCAiIl0sDQoNCiAgICB7IngtYW16LWNyZWRlbnRpYWwiOiAiQUtJQUlPU0ZPRE5ON0VYQU1QTEUvMjAxNTEyMjkvdXMtZWFzdC0xL3MzL2F3czRfcmVxdWVzdCJ9LA0KICAgIHsieC1hbXotYWxnb3JpdGhtIjogIkFXUzQtSE1BQy1TSEEyNTYifSwNCiAgICB7IngtYW16LWRhdGUiOiAiMjAxNTEyMjlUMDAwMDAwWiIgfQ0KICBdDQp9";
        let keys =
            AccessKeys::from(vec![AccessKey::new("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")]);
        let form = |signature: &str, policy: &str| {
            fields(&[
                ("policy", policy),
                ("x-amz-algorithm", "AWS4-HMAC-SHA256"),
                ("x-amz-credential", "AKIAIOSFODNN7EXAMPLE/20151229/us-east-1/s3/aws4_request"),
                ("x-amz-date", "20151229T000000Z"),
                ("x-amz-signature", signature),
            ])
        };
        let right = "8afdbf4008c03f22c2cd3cdb72e4afbb1f6a588f3255ac628749a66d7f09699e";
        let signed = 1_451_347_200;
        assert_eq!(signer(&keys, &form(right, policy), at(signed)).unwrap().id, "AKIAIOSFODNN7EXAMPLE");
        let code = |form: &Fields, now| signer(&keys, form, at(now)).unwrap_err().code().as_str().to_owned();
        assert_eq!(code(&form(&right.replace('8', "9"), policy), signed), "SignatureDoesNotMatch");
        assert_eq!(code(&form(right, &policy[1..]), signed), "SignatureDoesNotMatch");
        assert_eq!(code(&form(right, policy), signed + 8 * 86_400), "AccessDenied");
        assert_eq!(code(&form(right, policy), signed - 3600), "AccessDenied");
    }
}
