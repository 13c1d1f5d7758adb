//! The object that holds a bucket's settings. A gateway with other ones refuses: with plain names
//! instead of encrypted ones it would show ciphertext, and give away the names of what it stores.

use super::checked::OURS;
use super::context::Context;
use super::error::{SealedError, SealedErrorKind};
use super::tail;
use crate::format::NameCipher;
use crate::keys::Epoch;
use crate::pool::Body;
use crate::store::{Conditions, ErrorKind, ListQuery, ObjectName, PutOptions, StoreError};
use bytes::Bytes;
use serde::{Deserialize, Serialize};

const KEY: &str = ".whyslow-gateway/settings";
/// Of `docs/gateway/format.md`.
const FORMAT: u32 = 1;
/// Bytes of a marker at most.
const LONGEST: u64 = 4 << 10;

/// A bucket's settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Settings {
    format: u32,
    names: Style,
    /// The epoch that names are encrypted under.
    #[serde(skip_serializing_if = "Option::is_none")]
    names_epoch: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Style {
    Plain,
    Encrypted,
}

/// Before something is read or deleted in a bucket.
pub(super) async fn check(context: &Context, bucket: &str) -> Result<(), SealedError> {
    if context.checked.get(bucket).is_none() {
        let is_marked = compare(context, bucket).await?;
        context.checked.note(bucket, is_marked);
    }
    Ok(())
}

/// Before something is stored in a bucket: it gets a marker if it has none.
pub(super) async fn mark(context: &Context, bucket: &str) -> Result<(), SealedError> {
    check(context, bucket).await?;
    if context.checked.get(bucket) == Some(true) {
        return Ok(());
    }
    match write(context, bucket).await {
        // Another gateway was faster: its settings count.
        Err(error) if error.kind == ErrorKind::Precondition => {
            context.checked.forget(bucket);
            check(context, bucket).await?;
        }
        // The credentials are for some keys alone.
        Err(error) if error.kind == ErrorKind::Denied => {}
        written => written?,
    }
    context.checked.note(bucket, true);
    Ok(())
}

/// Deletes the marker of a bucket that has nothing else, then the bucket.
pub(super) async fn delete_bucket(context: &Context, bucket: &str) -> Result<(), SealedError> {
    let query = ListQuery { max: 2, ..ListQuery::default() };
    let page = context.store.list(bucket, &query).await?;
    let is_alone = page.next.is_none() && page.objects.iter().all(|info| info.key == KEY);
    if is_alone && !page.objects.is_empty() {
        context.store.delete(&ObjectName::new(bucket, KEY)).await?;
    }
    let deleted = context.store.delete_bucket(bucket).await;
    // If it stays, the next request marks it again.
    context.checked.forget(bucket);
    Ok(deleted?)
}

/// Whether there is a marker; an error if it has other settings, or the bucket's names do.
async fn compare(context: &Context, bucket: &str) -> Result<bool, SealedError> {
    let ours = ours(context);
    let download = match context.store.get(&ObjectName::new(bucket, KEY), None, &Conditions::default()).await {
        Err(error) if error.kind == ErrorKind::NoSuchKey => {
            look_at_names(context, bucket).await?;
            return Ok(false);
        }
        download => download?,
    };
    let wrong = || SealedError::new(SealedErrorKind::OtherSettings, format!("{bucket}: {KEY} cannot be read"));
    if download.info.size > LONGEST {
        return Err(wrong());
    }
    let text = tail::collect(download, LONGEST).await?;
    let theirs: Settings = serde_json::from_slice(&text).map_err(|_| wrong())?;
    match difference(&ours, &theirs) {
        None => Ok(true),
        Some(why) => Err(SealedError::new(SealedErrorKind::OtherSettings, format!("{bucket}: {why}"))),
    }
}

fn ours(context: &Context) -> Settings {
    let epoch = context.names.epoch();
    let names = if epoch.is_some() { Style::Encrypted } else { Style::Plain };
    Settings { format: FORMAT, names, names_epoch: epoch.map(|epoch| epoch.id().to_string()) }
}

fn difference(ours: &Settings, theirs: &Settings) -> Option<String> {
    if theirs.format != ours.format {
        return Some(format!("its objects have format {}, and this version reads format {FORMAT}", theirs.format));
    }
    match (ours.names, theirs.names) {
        (Style::Plain, Style::Encrypted) => Some(IS_ENCRYPTED.to_owned()),
        (Style::Encrypted, Style::Plain) => Some(IS_PLAIN.to_owned()),
        _ if ours.names_epoch == theirs.names_epoch => None,
        _ => {
            let epoch = |settings: &Settings| settings.names_epoch.clone().unwrap_or_default();
            Some(format!(
                "its names are encrypted under epoch {}, and this gateway encrypts them under {}: name the file of that \
                 epoch last (--epoch)",
                epoch(theirs),
                epoch(ours)
            ))
        }
    }
}

const IS_ENCRYPTED: &str = "the names in this bucket are encrypted: start the gateway with --encrypt-names";
const IS_PLAIN: &str = "the names in this bucket are plain: start the gateway without --encrypt-names";

/// A bucket without a marker may have objects of an earlier version: the first page of their names
/// shows how they are stored.
async fn look_at_names(context: &Context, bucket: &str) -> Result<(), SealedError> {
    let page = context.store.list(bucket, &ListQuery::default()).await?;
    let keys: Vec<&str> =
        page.objects.iter().map(|info| info.key.as_str()).filter(|key| !key.starts_with(OURS)).collect();
    let opens = |epoch: &Epoch| -> bool {
        let cipher = NameCipher::new(epoch, bucket);
        keys.iter().any(|key| cipher.decrypt(key).is_ok())
    };
    let why = match context.names.epoch() {
        Some(epoch) if !keys.is_empty() && !opens(epoch) => IS_PLAIN,
        None if context.keyring.epochs().any(opens) => IS_ENCRYPTED,
        _ => return Ok(()),
    };
    Err(SealedError::new(SealedErrorKind::OtherSettings, format!("{bucket}: {why}")))
}

async fn write(context: &Context, bucket: &str) -> Result<(), StoreError> {
    let text = serde_json::to_vec(&ours(context));
    let text = Bytes::from(text.map_err(|error| StoreError::new(ErrorKind::Invalid, error.to_string()))?);
    let name = ObjectName::new(bucket, KEY);
    let conditions = Conditions { if_none_match: Some("*".to_owned()), ..Conditions::default() };
    let mut options =
        PutOptions { content_type: Some("application/json".to_owned()), conditions, ..PutOptions::default() };
    let written = context.store.put(&name, Body::from(text.clone()), &options).await;
    match written {
        // The storage has no conditions.
        Err(error) if matches!(error.kind, ErrorKind::Unsupported | ErrorKind::Invalid) => {
            options.conditions = Conditions::default();
            context.store.put(&name, Body::from(text), &options).await.map(drop)
        }
        written => written.map(drop),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(names: Style, epoch: Option<&str>) -> Settings {
        Settings { format: FORMAT, names, names_epoch: epoch.map(str::to_owned) }
    }

    #[test]
    fn differences_say_what_to_do() {
        let (plain, one, two) = (
            settings(Style::Plain, None),
            settings(Style::Encrypted, Some("1")),
            settings(Style::Encrypted, Some("2")),
        );
        for (ours, theirs, expected) in [
            (&plain, &plain, None),
            (&one, &one, None),
            (&plain, &one, Some("start the gateway with --encrypt-names")),
            (&one, &plain, Some("without --encrypt-names")),
            (&one, &two, Some("epoch 2, and this gateway encrypts them under 1")),
            (&plain, &Settings { format: 2, ..plain.clone() }, Some("format 2")),
        ] {
            let found = difference(ours, theirs);
            assert_eq!(found.is_some(), expected.is_some());
            assert!(found.unwrap_or_default().contains(expected.unwrap_or_default()));
        }
    }
}
