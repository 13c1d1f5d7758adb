//! Settings of a bucket that the gateway keeps in the bucket: sealed like the clients' objects,
//! under keys that clients cannot use.

use super::attributes;
use super::checked::OURS;
use super::context::{Context, GAP};
use super::error::{SealedError, SealedErrorKind};
use super::tail;
use super::types::Attributes;
use crate::format::{Kind, Layout, Reader, Role, SliceWriter};
use crate::pool::Body;
use crate::store::{Conditions, ErrorKind, ObjectName};
use bytes::Bytes;
use std::sync::Arc;

/// Bytes of a setting at most: S3 limits a CORS configuration to 64 KB.
const LONGEST: usize = 64 << 10;

/// A bucket's setting that is an object of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// The CORS configuration.
    Cors,
}

impl Setting {
    pub(super) const ALL: [Self; 1] = [Self::Cors];

    pub(super) fn key(self) -> String {
        match self {
            Self::Cors => format!("{OURS}cors"),
        }
    }
}

fn name(bucket: &str, setting: Setting) -> ObjectName {
    ObjectName::new(bucket, setting.key())
}

/// Stores a setting.
pub(super) async fn put(context: &Context, bucket: &str, setting: Setting, text: &[u8]) -> Result<(), SealedError> {
    if text.len() > LONGEST {
        let why = format!("the configuration has more than {LONGEST} bytes");
        return Err(SealedError::new(SealedErrorKind::InvalidRequest, why));
    }
    let name = name(bucket, setting);
    let object = context.new_object(Kind::Single)?;
    let attributes = Attributes { content_type: Some("application/json".to_owned()), ..Attributes::default() };
    let options = attributes::to_options(&context.keyring, (&object, &name), &attributes, Conditions::default())?;
    let mut out = Vec::new();
    let mut writer = SliceWriter::new(&context.keyring, object, Role::Object, text.len() as u64, &mut out)?;
    writer.write(text, &mut out)?;
    writer.finish(&mut out)?;
    context.store.put(&name, Body::from(Bytes::from(out)), &options).await?;
    Ok(())
}

/// Reads a setting; `None` if it was never set.
pub(super) async fn get(context: &Context, bucket: &str, setting: Setting) -> Result<Option<Vec<u8>>, SealedError> {
    let name = name(bucket, setting);
    let download = match context.store.get(&name, None, &Conditions::default()).await {
        Err(error) if error.kind == ErrorKind::NoSuchKey => return Ok(None),
        download => download?,
    };
    let (object, _) = attributes::verify(&context.keyring, &name, &download.info)?;
    let layout = Arc::new(Layout::single(object, download.info.size)?);
    if layout.length() > LONGEST as u64 {
        let why = format!("the setting of the bucket has {} B, at most {LONGEST} are expected", layout.length());
        return Err(SealedError::new(SealedErrorKind::NotSealed, why));
    }
    let size = download.info.size;
    let stored = tail::collect(download, size).await?;
    let plan = layout.plan_all(GAP);
    let mut reader = Reader::new(Arc::clone(&context.keyring), layout, plan);
    let mut text = Vec::new();
    reader.read(&stored, &mut text)?;
    reader.finish()?;
    Ok(Some(text))
}

/// Deletes a setting; succeeds if it was never set.
pub(super) async fn delete(context: &Context, bucket: &str, setting: Setting) -> Result<(), SealedError> {
    Ok(context.store.delete(&name(bucket, setting)).await?)
}
