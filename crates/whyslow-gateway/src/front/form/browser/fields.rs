//! [`Fields`]: the fields of a browser's form in front of its file.

use crate::front::errors::invalid;
use crate::front::s3::fields::{attributes, refuse};
use crate::front::s3::tag_set;
use crate::sealed::Attributes;
use http::{HeaderMap, HeaderName, HeaderValue};
use s3s::S3Result;
use serde::Deserialize;
use std::collections::BTreeMap;

const META: &str = "x-amz-meta-";
/// Fields that a PUT would have in its header, besides those that begin with `x-amz-`.
const HEADERS: [&str; 6] =
    ["cache-control", "content-disposition", "content-encoding", "content-language", "content-md5", "expires"];
/// Fields of the signature, and fields of the request that do not belong to the object.
const NOT_HEADERS: [&str; 7] = [
    "x-amz-algorithm",
    "x-amz-content-sha256",
    "x-amz-credential",
    "x-amz-date",
    "x-amz-signature",
    "x-amz-tagging",
    "x-amz-trailer",
];

/// Names in lower case, and values.
#[derive(Debug, Default)]
pub(in crate::front::form) struct Fields(BTreeMap<String, String>);

impl Fields {
    /// A repeated name is refused: the policy might be checked against one value, and the other
    /// value used.
    pub(in crate::front::form) fn add(&mut self, name: &str, value: String) -> S3Result<()> {
        match self.0.insert(name.to_ascii_lowercase(), value) {
            Some(_) => Err(invalid(format!("the form has two fields {name}"))),
            None => Ok(()),
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The key, with the file's name in the place of `${filename}`.
    pub(super) fn take_key(&mut self, file: Option<&str>) -> S3Result<String> {
        let key = self.0.get_mut("key").filter(|key| !key.is_empty());
        let key = key.ok_or_else(|| invalid("Bucket POST must contain a field named 'key'."))?;
        // Some browsers send the path on the user's machine.
        let name = file.and_then(|name| name.rsplit(['/', '\\']).next()).unwrap_or_default();
        *key = key.replace("${filename}", name);
        Ok(key.clone())
    }

    /// The fields that a PUT of the same object would have in its header.
    pub(super) fn to_headers(&self) -> S3Result<HeaderMap> {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.0 {
            let is_of_s3 = name.starts_with("x-amz-") && !name.starts_with(META);
            let header = match name.as_str() {
                "acl" => "x-amz-acl",
                name if NOT_HEADERS.contains(&name) => continue,
                name if is_of_s3 || HEADERS.contains(&name) => name,
                _ => continue,
            };
            let wrong = || invalid(format!("the value of {name} is not plain text"));
            let header: HeaderName = header.parse().map_err(|_| wrong())?;
            headers.insert(header, HeaderValue::from_str(value).map_err(|_| wrong())?);
        }
        Ok(headers)
    }

    /// Attributes to store with the object.
    pub(super) fn attributes(&self, headers: &HeaderMap, content_type: Option<String>) -> S3Result<Attributes> {
        refuse(headers)?;
        let own = self.0.iter().filter_map(|(name, value)| Some((name.strip_prefix(META)?.to_owned(), value.clone())));
        let content_type = self.get("content-type").map(str::to_owned).or(content_type);
        let mut found = attributes(headers, content_type, Some(own.collect()))?;
        if let Some(document) = self.get("tagging") {
            let wrong = |_| invalid("the field tagging is not a Tagging document");
            let Tagging { set } = quick_xml::de::from_str(document).map_err(wrong)?;
            let tags = set.tags.into_iter().map(|tag| (tag.key, tag.value));
            tag_set::set(&mut found, &tag_set::checked(tags)?);
        }
        Ok(found)
    }
}

#[derive(Deserialize)]
struct Tagging {
    #[serde(rename = "TagSet")]
    set: TagSet,
}

#[derive(Deserialize)]
struct TagSet {
    #[serde(default, rename = "Tag")]
    tags: Vec<Tag>,
}

#[derive(Deserialize)]
struct Tag {
    #[serde(rename = "Key")]
    key: String,
    #[serde(default, rename = "Value")]
    value: String,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn fields(pairs: &[(&str, &str)]) -> Fields {
        let mut fields = Fields::default();
        pairs.iter().for_each(|(name, value)| fields.add(name, (*value).to_owned()).unwrap());
        fields
    }

    #[test]
    fn key_has_the_last_part_of_the_files_name() {
        for (file, expected) in
            [(Some("photo.png"), "a/photo.png"), (Some("C:\\x\\p.png"), "a/p.png"), (Some("../p"), "a/p"), (None, "a/")]
        {
            let mut one = fields(&[("Key", "a/${filename}")]);
            assert_eq!(one.take_key(file).unwrap(), expected);
            assert_eq!(one.get("key"), Some(expected));
        }
        assert!(fields(&[("key", "")]).take_key(None).is_err());
    }

    #[test]
    fn field_that_comes_twice_is_refused() {
        let mut one = fields(&[("key", "a")]);
        assert!(one.add("KEY", "b".to_owned()).is_err());
    }

    #[test]
    fn attributes_are_those_of_a_put() {
        let tagging = "<Tagging><TagSet><Tag><Key>a</Key><Value>1</Value></Tag></TagSet></Tagging>";
        let one = fields(&[
            ("Content-Type", "text/x-a"),
            ("Cache-Control", "no-cache"),
            ("x-amz-meta-Own", "ü"),
            ("tagging", tagging),
            ("policy", "…"),
        ]);
        let found = one.attributes(&one.to_headers().unwrap(), Some("other".to_owned())).unwrap();
        assert_eq!(found.content_type.as_deref(), Some("text/x-a"));
        assert_eq!((found.headers["cache-control"].as_str(), found.user["own"].as_str()), ("no-cache", "ü"));
        assert_eq!(found.headers["x-amz-tagging"], "a=1");
        let public = fields(&[("acl", "public-read")]);
        assert!(public.attributes(&public.to_headers().unwrap(), None).is_err());
    }
}
