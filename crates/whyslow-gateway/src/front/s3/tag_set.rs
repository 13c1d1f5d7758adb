//! Tags of an object, as `x-amz-tagging` has them: `name=value&…`.

use crate::sealed::{Attributes, Info};
use http::StatusCode;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use s3s::{S3Error, S3ErrorCode, S3Result};
use std::collections::BTreeMap;

/// The field of a request; they are stored under this name, too.
pub(super) const TAGGING: &str = "x-amz-tagging";

/// S3's limits: tags of an object, and letters of a name and of a value.
const MOST: usize = 10;
const LONGEST_NAME: usize = 128;
const LONGEST_VALUE: usize = 256;

/// Names and values.
pub(in crate::front) type Tags = BTreeMap<String, String>;

fn invalid(message: &str) -> S3Error {
    S3Error::with_message(S3ErrorCode::InvalidTag, message.to_owned())
}

pub(in crate::front) fn checked(pairs: impl IntoIterator<Item = (String, String)>) -> S3Result<Tags> {
    let mut tags = Tags::new();
    for (name, value) in pairs {
        if name.is_empty() || name.chars().count() > LONGEST_NAME {
            return Err(invalid("The TagKey you have provided is invalid"));
        }
        if value.chars().count() > LONGEST_VALUE {
            return Err(invalid("The TagValue you have provided is invalid"));
        }
        if tags.insert(name, value).is_some() {
            return Err(invalid("Cannot provide multiple Tags with the same key"));
        }
    }
    if tags.len() > MOST {
        let mut error =
            S3Error::with_message(S3ErrorCode::Custom("BadRequest".into()), "Object tags cannot be greater than 10");
        error.set_status_code(StatusCode::BAD_REQUEST);
        return Err(error);
    }
    Ok(tags)
}

/// The tags of `x-amz-tagging`.
pub(super) fn parse(text: &str) -> S3Result<Tags> {
    let decode = |text: &str| {
        let text = text.replace('+', " ");
        let decoded = percent_decode_str(&text).decode_utf8();
        decoded.map(Into::<String>::into).map_err(|_| invalid("The tags are not UTF-8"))
    };
    let pairs = text.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        Ok((decode(name)?, decode(value)?))
    });
    checked(pairs.collect::<S3Result<Vec<_>>>()?)
}

/// The same text for the same tags. `None`: there are none.
pub(super) fn text(tags: &Tags) -> Option<String> {
    let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let pairs: Vec<_> = tags.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
    (!pairs.is_empty()).then(|| pairs.join("&"))
}

pub(super) fn of(attributes: &Attributes) -> Tags {
    // Stored tags were checked before.
    attributes.headers.get(TAGGING).and_then(|text| parse(text).ok()).unwrap_or_default()
}

/// The number of tags, as GET and HEAD have it.
pub(super) fn count(info: &Info) -> Option<i32> {
    i32::try_from(of(&info.attributes).len()).ok().filter(|count| *count > 0)
}

/// Gives an object other tags.
pub(in crate::front) fn set(attributes: &mut Attributes, tags: &Tags) {
    match text(tags) {
        Some(text) => attributes.headers.insert(TAGGING.to_owned(), text),
        None => attributes.headers.remove(TAGGING),
    };
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn tags_are_kept_as_text() {
        let tags = parse("b=1&a+a=%C3%BC%26&c").unwrap();
        let expected = [("a a", "ü&"), ("b", "1"), ("c", "")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(tags, Tags::from(expected));
        assert_eq!(parse(&text(&tags).unwrap()).unwrap(), tags);
        assert_eq!(text(&Tags::new()), None);
    }

    #[test]
    fn limits_are_those_of_s3() {
        let many = |count: usize| (0..count).map(|n| format!("{n}=x")).collect::<Vec<_>>().join("&");
        assert!(parse(&many(10)).is_ok() && parse(&many(11)).is_err());
        assert!(parse(&"n".repeat(128)).is_ok() && parse(&"n".repeat(129)).is_err());
        assert!(parse(&format!("a={}", "v".repeat(257))).is_err());
        for wrong in ["a=1&a=2", "=x", "a=%FF"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
