//! The XML of S3's requests and answers, as serde has it.

use crate::store::{ErrorKind, StoreError};
use serde::{Deserialize, Serialize};

/// Reads an answer.
pub(super) fn read<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Result<T, StoreError> {
    let wrong = |why: String| StoreError::new(ErrorKind::Answer, why);
    let text = std::str::from_utf8(text).map_err(|error| wrong(error.to_string()))?;
    quick_xml::de::from_str(text).map_err(|error| wrong(error.to_string()))
}

/// Writes a request's body.
pub(super) fn write<T: Serialize>(root: &str, value: &T) -> Result<String, StoreError> {
    let wrong = |error: quick_xml::SeError| StoreError::new(ErrorKind::Invalid, error.to_string());
    quick_xml::se::to_string_with_root(root, value).map_err(wrong)
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct ErrorAnswer {
    pub code: String,
    pub message: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct ListAnswer {
    #[serde(default)]
    pub is_truncated: bool,
    pub next_continuation_token: Option<String>,
    pub encoding_type: Option<String>,
    #[serde(default)]
    pub contents: Vec<ListedObject>,
    #[serde(default)]
    pub common_prefixes: Vec<CommonPrefix>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct ListedObject {
    pub key: String,
    pub last_modified: String,
    #[serde(rename = "ETag", default)]
    pub tag: String,
    pub size: u64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct CommonPrefix {
    pub prefix: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct UploadAnswer {
    pub upload_id: String,
}

/// The answer to CompleteMultipartUpload and CopyObject.
#[derive(Debug, Deserialize)]
pub(super) struct TagAnswer {
    #[serde(rename = "ETag")]
    pub tag: Option<String>,
    #[serde(rename = "Code")]
    pub code: Option<String>,
    #[serde(rename = "Message")]
    pub message: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct CompleteRequest {
    #[serde(rename = "Part")]
    pub parts: Vec<CompletePart>,
}

#[derive(Debug, Serialize)]
pub(super) struct CompletePart {
    #[serde(rename = "PartNumber")]
    pub number: u32,
    #[serde(rename = "ETag")]
    pub tag: String,
}

#[derive(Debug, Serialize)]
pub(super) struct DeleteRequest<'a> {
    #[serde(rename = "Object")]
    pub objects: Vec<DeleteKey<'a>>,
    #[serde(rename = "Quiet")]
    pub quiet: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct DeleteKey<'a> {
    #[serde(rename = "Key")]
    pub key: &'a str,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct DeleteAnswer {
    #[serde(rename = "Error")]
    pub errors: Vec<DeleteFailure>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct DeleteFailure {
    #[serde(default)]
    pub key: String,
    #[serde(default)]
    pub code: String,
    #[serde(default)]
    pub message: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct PartsAnswer {
    #[serde(default)]
    pub is_truncated: bool,
    #[serde(rename = "Part", default)]
    pub parts: Vec<ListedPart>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct ListedPart {
    pub part_number: u32,
    #[serde(rename = "ETag")]
    pub tag: String,
    pub size: u64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct UploadsAnswer {
    #[serde(default)]
    pub is_truncated: bool,
    pub encoding_type: Option<String>,
    #[serde(rename = "Upload", default)]
    pub uploads: Vec<ListedUpload>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct ListedUpload {
    pub key: String,
    pub upload_id: String,
    pub initiated: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct BucketsAnswer {
    #[serde(default)]
    pub buckets: Buckets,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Buckets {
    #[serde(rename = "Bucket", default)]
    pub buckets: Vec<Bucket>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Bucket {
    pub name: String,
}
