//! [`CloudObject`]: an object of an object store, through the crate `object_store`.

use crate::bucket::Bucket;
use crate::cause::{is_tls, root_cause, tls};
use crate::place::{Facts, Failure, Pieces, Place, Version};
use async_trait::async_trait;
use futures_util::StreamExt;
use object_store::client::{HttpError, HttpErrorKind};
use object_store::path::Path;
use object_store::{Error, GetOptions, GetRange, ObjectMeta};
use std::error::Error as StdError;
use std::io::ErrorKind;
use std::sync::Arc;

/// A key in a bucket.
#[derive(Debug)]
pub(crate) struct CloudObject {
    bucket: Arc<Bucket>,
    path: Path,
}

/// A key as the crate has it.
///
/// # Errors
/// When it takes no such key.
pub(crate) fn path(key: &str) -> Result<Path, String> {
    Path::parse(key).map_err(|error| format!("no such key can be read: {error}"))
}

impl CloudObject {
    pub(crate) fn new(bucket: Arc<Bucket>, path: Path) -> Self {
        Self { bucket, path }
    }

    async fn ask(
        &self,
        version: Option<&Version>,
        options: GetOptions,
    ) -> Result<(Facts, object_store::GetResult), Failure> {
        let if_match = version.and_then(|version| version.strong_tag().map(str::to_owned));
        let options = GetOptions { if_match, ..options };
        let result = self.bucket.objects.get_opts(&self.path, options).await;
        let result = result.map_err(|error| failure(&self.bucket, &error))?;
        let facts = facts(&result.meta);
        match version {
            Some(version) if !version.agrees(&facts.version) => Err(Failure::Changed),
            _ => Ok((facts, result)),
        }
    }
}

#[async_trait]
impl Place for CloudObject {
    async fn look(&self, version: Option<&Version>) -> Result<Facts, Failure> {
        let answer = self.ask(version, GetOptions { head: true, ..GetOptions::default() }).await;
        match answer {
            // A response without a body does not show whether the bucket is missing.
            Err(Failure::Refused(ErrorKind::NotFound, why)) => {
                Err(self.get(0, version).await.err().unwrap_or(Failure::Refused(ErrorKind::NotFound, why)))
            }
            answer => answer.map(|(facts, _)| facts),
        }
    }

    async fn get(&self, from: u64, version: Option<&Version>) -> Result<(Facts, Pieces), Failure> {
        let range = (from > 0).then_some(GetRange::Offset(from));
        let (facts, result) = self.ask(version, GetOptions { range, ..GetOptions::default() }).await?;
        let bucket = Arc::clone(&self.bucket);
        let pieces = result.into_stream().map(move |piece| piece.map_err(|error| failure(&bucket, &error)));
        Ok((facts, pieces.boxed()))
    }
}

fn facts(meta: &ObjectMeta) -> Facts {
    let version = Version { tag: meta.e_tag.clone(), modified: Some(meta.last_modified.to_rfc2822()) };
    Facts { size: Some(meta.size), version }
}

/// The meaning of the crate's error for a reader.
pub(crate) fn failure(bucket: &Bucket, error: &Error) -> Failure {
    let text = format!("{error}: {}", root_cause(error));
    // For lists the crate gives the status only in words.
    let is = |status: &str| text.contains(&format!("status code: {status}"));
    match error {
        _ if matches!(error, Error::NotFound { .. }) || is("404") => {
            let why = match code(&text) {
                Some("NoSuchBucket" | "ContainerNotFound") => format!("there is no bucket {}", bucket.name()),
                Some("NoSuchKey" | "BlobNotFound") => format!(
                    "the bucket {} has no such object; {} shows what is there",
                    bucket.name(),
                    bucket.url("FOLDER/*")
                ),
                _ => format!("there is no such object in {}, or no such bucket", bucket.name()),
            };
            Failure::Refused(ErrorKind::NotFound, why)
        }
        _ if matches!(error, Error::PermissionDenied { .. } | Error::Unauthenticated { .. }) || is("403") => {
            let code = code(&text).map_or_else(String::new, |code| format!(" ({code})"));
            let why = format!("access is denied{code}: {}", bucket.credentials());
            Failure::Refused(ErrorKind::PermissionDenied, why)
        }
        Error::Precondition { .. } => Failure::Changed,
        _ => other(error, &text),
    }
}

/// Errors that are not about the object.
fn other(error: &Error, text: &str) -> Failure {
    let causes = || std::iter::successors(Some(error as &(dyn StdError + 'static)), |error| (*error).source());
    if causes().any(|error| matches!(error.downcast_ref::<Error>(), Some(Error::Precondition { .. }))) {
        return Failure::Changed;
    }
    let cause = root_cause(error);
    if let Some(http) = causes().find_map(|error| error.downcast_ref::<HttpError>()) {
        return match http.kind() {
            _ if is_tls(&cause) => Failure::Refused(ErrorKind::Other, tls(&cause)),
            HttpErrorKind::Unknown => Failure::Refused(ErrorKind::Other, cause),
            _ => Failure::Broken(cause),
        };
    }
    // The crate has no name for the server's own message.
    if text.contains("status code: 5") || text.contains("status code: 429") {
        return Failure::Broken(cause);
    }
    let hint = match text.contains("redirect") {
        true => "; name the bucket's region in AWS_REGION",
        false => "",
    };
    Failure::Refused(ErrorKind::Other, format!("{cause}{hint}"))
}

/// What S3 and the others call the error, in the XML of the answer.
fn code(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("<Code>")?;
    rest.split_once("</Code>").map(|(code, _)| code)
}
