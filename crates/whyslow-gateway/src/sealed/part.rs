//! The structure of an object, and a part of it, as its client sent it.

use super::attributes;
use super::context::Context;
use super::error::SealedError;
use super::get::client_info;
use super::tags;
use super::tail;
use super::types::Info;
use crate::format::manifest::TAIL;
use crate::format::{Kind, Layout, Role};
use crate::store::{Conditions, ObjectName, ReadOptions};
use std::sync::Arc;

/// Where each of its slices lies: the storage's head of it and, of a multipart object, its last
/// bytes are read.
pub(super) async fn layout(context: &Context, name: &ObjectName) -> Result<Arc<Layout>, SealedError> {
    look(context, name, &Conditions::default()).await.map(|(_, layout)| layout)
}

/// What is known of the object, and where in its plaintext the part lies; an object that was sent
/// whole is its part 1. None: it has no part of this number.
pub(super) async fn part(
    context: &Context,
    name: &ObjectName,
    number: u32,
    conditions: &Conditions,
) -> Result<(Info, Option<(u64, u64)>), SealedError> {
    let (info, layout) = look(context, name, conditions).await?;
    let slice = layout.slices().iter().find(|slice| match slice.role {
        Role::Object => number == 1,
        Role::Part(one) => number == one,
        Role::Manifest(_) => false,
    });
    let range = slice.map(|slice| (slice.plain().start, slice.plain().end));
    Ok((info, range))
}

async fn look(
    context: &Context,
    name: &ObjectName,
    conditions: &Conditions,
) -> Result<(Info, Arc<Layout>), SealedError> {
    let stored = context.names.stored(name)?;
    let info = context.store.head(&stored, &tags::conditions(conditions)).await?;
    let (object, attributes) = attributes::verify(&context.keyring, name, &info)?;
    let _permit = match object.kind() {
        Kind::Multipart => Some(context.memory().acquire(TAIL).await),
        Kind::Single => None,
    };
    let layout = tail::layout(context, &stored, (object, &info), &ReadOptions::default()).await?;
    Ok((client_info(name, info, attributes, &layout), layout))
}
