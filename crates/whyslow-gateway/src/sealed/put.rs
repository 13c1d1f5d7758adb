//! An object is stored: one age file, in one request or in equal parts.

use super::attributes;
use super::context::Context;
use super::error::{SealedError, SealedErrorKind};
use super::known::Size;
use super::sealing::{Sealing, Taking};
use super::tags;
use super::types::{Attributes, Content, Receipt};
use crate::format::{Kind, Role, sealed_size};
use crate::memory::Permit;
use crate::pool::{Body, LetGo, Transfer, Transfers};
use crate::store::{Conditions, ObjectName, Part, put_in_parts};

pub(super) async fn put(
    context: &Context,
    (name, place): (&ObjectName, Permit),
    content: Content,
    attributes: &Attributes,
    conditions: &Conditions,
) -> Result<Receipt, SealedError> {
    let stored_name = context.names.stored(name)?;
    let length = content.length;
    let too_long = || SealedError::new(SealedErrorKind::EntityTooLarge, format!("{length} B are too many"));
    let size = sealed_size(length).ok_or_else(too_long)?;
    let object = context.new_object(Kind::Single)?;
    let options = attributes::to_options(&context.keyring, (&object, name), attributes, tags::conditions(conditions))?;
    let slice = (object, Role::Object);
    let (stored, sealed, transfer) = if let Some(bulk) = context.bulk(size) {
        let (bytes, sealed) = Sealing::begin(&context.keyring, slice, (content, 0), Taking::Taken, Some(place))?;
        let (stored, parts) = put_in_parts(&context.store, &stored_name, (size, bytes), &bulk, &options).await?;
        (stored, sealed, together(parts))
    } else {
        let let_go = LetGo::default();
        let taking = Taking::Each(context.memory().clone(), let_go.clone());
        let (bytes, sealed) = Sealing::begin(&context.keyring, slice, (content, 0), taking, Some(place))?;
        let replay = if size <= context.options.held_for_repeat { size } else { 0 };
        let body = Body::stream_until(size, replay, bytes, let_go);
        let mut stored = context.store.put(&stored_name, body, &options).await?;
        let transfer = stored.transfer.take();
        (stored, sealed, transfer)
    };
    context.known.note_size(&stored_name, &stored.tag, Size { length, parts: None });
    Ok(Receipt { tag: tags::to_client(&stored.tag), transfer, sealing: sealed.time(), ..Receipt::default() })
}

/// The transfers of parts that were sent at the same time.
fn together(parts: Vec<Part>) -> Option<Transfer> {
    let all = Transfers::default();
    parts.into_iter().filter_map(|part| part.transfer).for_each(|transfer| all.add(transfer));
    all.sum()
}
