//! `POST` to a bucket: a browser's form, as S3 takes it (POST Object).
//!
//! A policy limits what the form may store; it is signed by an access key, and the browser that
//! sends it has none. The length of the file is not known before its end, so it is gathered in
//! parts as that of [`super::gather`], and stored whole or not at all.

mod fields;
mod policy;
mod reply;

use super::gather;
use super::{Forms, boundary, fault};
use crate::front::body::Arrival;
use crate::front::call::Call;
use crate::front::checksums::Verifier;
use crate::front::errors::invalid;
use crate::front::options::Access;
use crate::front::rights::Right;
use crate::store::ObjectName;
pub(super) use fields::Fields;
use http::{Response, header, request};
use policy::{Policy, signer};
use reply::Stored;
use s3s::{S3Error, S3ErrorCode, S3Result};
use std::time::SystemTime;

const OPERATION: &str = "PostObject";

/// Stores the file of a browser's form in a bucket.
pub(in crate::front) async fn answer(
    forms: &Forms,
    call: &Call,
    (parts, bucket): (&request::Parts, &str),
    mut arrival: Arrival,
) -> S3Result<Response<s3s::Body>> {
    call.begin(OPERATION, None);
    call.name(bucket, None);
    let boundary = boundary(&parts.headers).ok_or_else(|| invalid("the request is not a form"))?;
    arrival.invite().await.map_err(|_| fault(call))?;
    let form = super::fields::Form::of_browser(arrival, &boundary, forms.largest);
    let (mut fields, mut file) = form.browser_file().await.map_err(|error| call.fault().unwrap_or(error))?;
    let key = fields.take_key(file.name.as_deref())?;
    call.name(bucket, Some(&key));
    let now = SystemTime::now();
    if let Access::Keys(keys) = &forms.access {
        let signer = signer(keys, &fields, now)?;
        call.begin(OPERATION, Some(&signer.id));
        if !signer.may(Right::Write, bucket, &key) {
            let message = "this access key has no right to store this object";
            return Err(S3Error::with_message(S3ErrorCode::AccessDenied, message));
        }
    }
    let sizes = match Policy::of(&fields, now)? {
        Some(policy) => {
            policy.check(bucket, &fields)?;
            policy.sizes()
        }
        None => 0..=u64::MAX,
    };
    if !s3s::path::check_key(&key) {
        return Err(S3Error::with_message(S3ErrorCode::KeyTooLongError, "a key has at most 1,024 bytes"));
    }
    let headers = fields.to_headers()?;
    let mut attributes = fields.attributes(&headers, file.content_type.clone())?;
    let verifier = Verifier::of(&headers)?;
    attributes.checksums = verifier.stated().unwrap_or_default();
    file.expect(sizes, verifier);
    let object = ObjectName::new(bucket, key);
    let (_, _, receipt) = gather::store(forms, call, (&object, &attributes), file).await?;
    call.stored(&receipt);
    let base = base(forms, parts);
    let stored = Stored { bucket, key: &object.key, tag: &receipt.tag, base };
    let redirect = fields.get("success_action_redirect").or_else(|| fields.get("redirect"));
    Ok(stored.response(redirect, fields.get("success_action_status")))
}

/// The URL of the bucket, as the browser named it.
fn base(forms: &Forms, parts: &request::Parts) -> String {
    let host = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let scheme = if forms.has_tls { "https" } else { "http" };
    format!("{scheme}://{host}{}", parts.uri.path().trim_end_matches('/'))
}
