//! The known properties of an object.

use super::attributes;
use super::context::Context;
use super::error::SealedError;
use super::get::client_info;
use super::tags;
use super::tail;
use super::types::Info;
use crate::format::Kind;
use crate::format::manifest::TAIL;
use crate::store::{Conditions, ObjectName, ReadOptions};

/// The size of a single object follows from that of its stored form; a multipart one's end is read
/// unless its size is known.
///
/// `with_checksums` always reads a multipart object's end, which has its checksums.
pub(super) async fn head(
    context: &Context,
    (name, with_checksums): (&ObjectName, bool),
    conditions: &Conditions,
) -> Result<Info, SealedError> {
    let stored = context.names.stored(name)?;
    let info = context.store.head(&stored, &tags::conditions(conditions)).await?;
    let (object, attributes) = attributes::verify(&context.keyring, name, &info)?;
    if object.kind() == Kind::Multipart
        && !with_checksums
        && let Some(size) = context.known.size(&stored, &info.tag)
    {
        return Ok(Info {
            key: name.key.clone(),
            size: size.length,
            tag: tags::to_client(&info.tag),
            modified: info.modified,
            attributes,
            parts: size.parts,
        });
    }
    let _permit = match object.kind() {
        Kind::Multipart => Some(context.memory().acquire(TAIL).await),
        Kind::Single => None,
    };
    let layout = tail::layout(context, &stored, (object, &info), &ReadOptions::default()).await?;
    Ok(client_info(name, info, attributes, &layout))
}
