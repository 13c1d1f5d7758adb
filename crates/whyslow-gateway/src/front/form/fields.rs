//! [`Form`]: its parts, one after the other.

use super::browser::Fields;
use crate::front::body::Arrival;
use crate::front::checksums::Verifier;
use crate::front::errors::invalid;
use bytes::Bytes;
use futures_util::stream;
use http::HeaderMap;
use multer::{Constraints, Field, Multipart, SizeLimit};
use s3s::{S3Error, S3ErrorCode, S3Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

/// Maximum bytes of `data`.
const DATA: u64 = 64 << 10;
/// Maximum number of fields before a browser's file, and bytes of one. S3 takes 20 KB of them in
/// all.
const FIELDS: usize = 256;
const FIELD: u64 = 64 << 10;
/// Maximum bytes outside of files: names and fields of the parts, and the bytes before them.
const HEADS: usize = 1 << 20;

/// The part `data`. Other members belong to the script.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Data {
    pub(super) bucket: Option<String>,
    pub(super) key: Option<String>,
    /// The key, if there is none.
    pub(super) name: Option<String>,
    pub(super) content_type: Option<String>,
    /// Bytes of the file.
    pub(super) size: Option<u64>,
    /// The object's own metadata.
    pub(super) metadata: BTreeMap<String, String>,
}

/// A form that is being received.
pub(super) struct Form {
    parts: Option<Multipart<'static>>,
    /// Bytes since the last bytes of a file.
    heads: Arc<AtomicUsize>,
}

/// The part `file`.
pub(super) struct File {
    field: Option<Field<'static>>,
    parts: Multipart<'static>,
    heads: Arc<AtomicUsize>,
    /// Bytes that were given back.
    back: Option<Bytes>,
    /// Required properties of the file; `None` once compared, or without requirements.
    check: Option<Check>,
    /// Whether fields after the file are ignored.
    ignores_rest: bool,
    pub(super) name: Option<String>,
    pub(super) content_type: Option<String>,
}

/// Required properties of a browser's file.
struct Check {
    sizes: RangeInclusive<u64>,
    came: u64,
    verifier: Verifier,
}

impl Form {
    /// The form of a browser: fields of any name, and a file.
    pub(super) fn of_browser(arrival: Arrival, boundary: &str, largest: u64) -> Self {
        let heads = Arc::new(AtomicUsize::new(0));
        let limits = SizeLimit::new().per_field(FIELD).for_field("file", largest);
        let input = input(arrival, Arc::clone(&heads));
        let parts = Multipart::with_constraints(input, boundary, Constraints::new().size_limit(limits));
        Self { parts: Some(parts), heads }
    }

    /// The fields before the file, and the file.
    pub(super) async fn browser_file(mut self) -> S3Result<(Fields, File)> {
        let mut parts = self.parts.take().ok_or_else(|| invalid("the form has been read"))?;
        let mut fields = Fields::default();
        for _ in 0..FIELDS {
            let Some(field) = parts.next_field().await.map_err(malformed)? else {
                return Err(invalid("POST requires exactly one file upload per request."));
            };
            let field_name = field.name().ok_or_else(|| invalid("a field of the form has no name"))?.to_owned();
            if !field_name.eq_ignore_ascii_case("file") {
                fields.add(&field_name, field.text().await.map_err(malformed)?)?;
                continue;
            }
            let name = field.file_name().map(str::to_owned);
            let content_type = field.content_type().map(ToString::to_string);
            let file = File {
                field: Some(field),
                parts,
                heads: Arc::clone(&self.heads),
                back: None,
                check: None,
                ignores_rest: true,
                name,
                content_type,
            };
            return Ok((fields, file));
        }
        Err(invalid(format!("the form has more than {FIELDS} fields")))
    }

    pub(super) fn new(arrival: Arrival, boundary: &str, largest: u64) -> Self {
        let heads = Arc::new(AtomicUsize::new(0));
        let limits = SizeLimit::new().for_field("data", DATA).for_field("file", largest);
        let constraints = Constraints::new().allowed_fields(vec!["data", "file"]).size_limit(limits);
        let input = input(arrival, Arc::clone(&heads));
        Self { parts: Some(Multipart::with_constraints(input, boundary, constraints)), heads }
    }

    /// The file, and the data before it.
    pub(super) async fn file(&mut self) -> S3Result<(Data, File)> {
        let mut data = None;
        let mut parts = self.parts.take().ok_or_else(|| invalid("the form has been read"))?;
        while let Some(field) = parts.next_field().await.map_err(malformed)? {
            if field.name() == Some("data") {
                if data.is_some() {
                    return Err(invalid("the form has two parts data"));
                }
                let text = field.bytes().await.map_err(malformed)?;
                let parsed = serde_json::from_slice(&text);
                data =
                    Some(parsed.map_err(|error| invalid(format!("the part data is not what it should be: {error}")))?);
                continue;
            }
            let name = field.file_name().map(str::to_owned);
            let content_type = field.content_type().map(ToString::to_string);
            let file = File {
                field: Some(field),
                parts,
                heads: Arc::clone(&self.heads),
                back: None,
                check: None,
                ignores_rest: false,
                name,
                content_type,
            };
            return Ok((data.unwrap_or_default(), file));
        }
        Err(invalid("the form has no part file"))
    }
}

impl Check {
    fn take(&mut self, bytes: &[u8]) -> S3Result<()> {
        self.came = self.came.saturating_add(bytes.len() as u64);
        if self.came > *self.sizes.end() {
            let message = "Your proposed upload exceeds the maximum allowed size";
            return Err(S3Error::with_message(S3ErrorCode::EntityTooLarge, message));
        }
        self.verifier.update(bytes);
        Ok(())
    }

    fn finish(self) -> S3Result<()> {
        if self.came < *self.sizes.start() {
            let message = "Your proposed upload is smaller than the minimum allowed size";
            return Err(S3Error::with_message(S3ErrorCode::EntityTooSmall, message));
        }
        self.verifier.finish(&HeaderMap::new()).map(drop)
    }
}

impl File {
    /// Requires a size and a checksum: a file with others ends with an error.
    pub(super) fn expect(&mut self, sizes: RangeInclusive<u64>, verifier: Verifier) {
        self.check = Some(Check { sizes, came: 0, verifier });
    }

    /// The next bytes; `None` at the end of the file, when the form has ended as well.
    pub(super) async fn next(&mut self) -> S3Result<Option<Bytes>> {
        if let Some(bytes) = self.back.take() {
            return Ok(Some(bytes));
        }
        if let Some(field) = &mut self.field {
            if let Some(bytes) = field.chunk().await.map_err(malformed)? {
                self.heads.store(0, Ordering::Relaxed);
                if let Some(check) = &mut self.check {
                    check.take(&bytes)?;
                }
                return Ok(Some(bytes));
            }
            self.field = None;
        }
        while self.parts.next_field().await.map_err(malformed)?.is_some() {
            if !self.ignores_rest {
                return Err(invalid("something comes behind the part file: put data in front of it"));
            }
        }
        self.check.take().map_or(Ok(()), Check::finish)?;
        Ok(None)
    }

    /// Gives bytes back, which are then the next ones.
    pub(super) fn put_back(&mut self, bytes: Bytes) {
        self.back = Some(bytes);
    }
}

/// The bytes of a form. The library takes all that is ready, so nothing is ready twice in a row.
fn input(
    mut arrival: Arrival,
    heads: Arc<AtomicUsize>,
) -> impl stream::Stream<Item = Result<Bytes, S3Error>> + Send + 'static {
    let mut has_given = false;
    stream::poll_fn(move |cx| {
        if std::mem::take(&mut has_given) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let found = std::task::ready!(arrival.poll(cx));
        has_given = true;
        let Some(found) = found else { return Poll::Ready(None) };
        let Ok(bytes) = found else {
            let fault = arrival.call().fault();
            let early = || S3Error::with_message(S3ErrorCode::IncompleteBody, "the form ended early");
            return Poll::Ready(Some(Err(fault.unwrap_or_else(early))));
        };
        if heads.fetch_add(bytes.len(), Ordering::Relaxed) > HEADS {
            return Poll::Ready(Some(Err(invalid("the form's parts have too much in front of them"))));
        }
        Poll::Ready(Some(Ok(bytes)))
    })
}

/// An error of the library, as S3's error.
fn malformed(error: multer::Error) -> S3Error {
    match error {
        multer::Error::StreamReadFailed(error) => match error.downcast::<S3Error>() {
            Ok(error) => *error,
            Err(error) => S3Error::with_message(S3ErrorCode::IncompleteBody, error.to_string()),
        },
        multer::Error::FieldSizeExceeded { limit, field_name } => {
            let name = field_name.unwrap_or_default();
            S3Error::with_message(S3ErrorCode::EntityTooLarge, format!("the part {name} has more than {limit} bytes"))
        }
        multer::Error::UnknownField { field_name } => {
            invalid(format!("the form has a part {:?}; its parts are data and file", field_name.unwrap_or_default()))
        }
        multer::Error::IncompleteFieldData { .. } | multer::Error::IncompleteStream => {
            S3Error::with_message(S3ErrorCode::IncompleteBody, "the form ended early")
        }
        error => S3Error::with_message(S3ErrorCode::MalformedPOSTRequest, error.to_string()),
    }
}
