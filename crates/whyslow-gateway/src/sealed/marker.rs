//! The object with a bucket's settings. A gateway with other settings refuses the bucket: with
//! plain names instead of encrypted ones it would show ciphertext, and reveal the names of new
//! objects.

use super::checked::{Noted, OURS};
use super::context::Context;
use super::error::{SealedError, SealedErrorKind};
use super::own::Setting;
use super::tail;
use crate::format::{MetadataFault, NameCipher};
use crate::keys::Epoch;
use crate::pool::Body;
use crate::store::{Conditions, ErrorKind, ListQuery, ObjectName, PutOptions, StoreError};
use bytes::Bytes;
use serde::{Deserialize, Serialize};

const KEY: &str = ".whyslow-gateway/settings";
/// The version of `docs/gateway/format.md`.
const FORMAT: u32 = 1;
/// Maximum bytes of a marker: some 3,000 epochs.
const LONGEST: u64 = 64 << 10;
/// Attempts to write the marker while other gateways write it, too.
const ATTEMPTS: u32 = 5;

/// A bucket's settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Settings {
    format: u32,
    names: Style,
    /// The epoch that names are encrypted under.
    #[serde(skip_serializing_if = "Option::is_none")]
    names_epoch: Option<String>,
    /// Epochs of the objects, the oldest first. Earlier versions noted none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    epochs: Vec<String>,
    /// The gateways that the bucket belongs to, if they have an id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gateway: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Style {
    Plain,
    Encrypted,
}

/// Called before an object is read or deleted in a bucket.
pub(super) async fn check(context: &Context, bucket: &str) -> Result<(), SealedError> {
    noted(context, bucket).await.map(drop)
}

async fn noted(context: &Context, bucket: &str) -> Result<Noted, SealedError> {
    if let Some(noted) = context.checked.get(bucket) {
        return Ok(noted);
    }
    let noted = match read(context, bucket).await? {
        Some((theirs, _)) => {
            refuse_others(context, bucket, &theirs)?;
            Noted { is_complete: is_complete(context, &theirs), epochs: theirs.epochs.into() }
        }
        None => {
            look_at_names(context, bucket).await?;
            Noted::default()
        }
    };
    context.checked.note(bucket, noted.clone());
    Ok(noted)
}

/// Called before an object is stored in a bucket: its marker gets the current epoch, and is written
/// if it is missing.
pub(super) async fn mark(context: &Context, bucket: &str) -> Result<(), SealedError> {
    for _ in 0..ATTEMPTS {
        if noted(context, bucket).await?.is_complete {
            return Ok(());
        }
        let (settings, tag) = match read(context, bucket).await? {
            Some((theirs, tag)) => {
                refuse_others(context, bucket, &theirs)?;
                (with_ours(context, theirs), Some(tag))
            }
            None => (new(context, bucket).await?, None),
        };
        match write(context, bucket, (&settings, tag)).await {
            // Another gateway was faster: its settings count.
            Err(error) if error.kind == ErrorKind::Precondition => {
                context.checked.forget(bucket);
                continue;
            }
            // The credentials permit some keys alone.
            Err(error) if error.kind == ErrorKind::Denied => {}
            written => written?,
        }
        context.checked.note(bucket, Noted { is_complete: true, epochs: settings.epochs.into() });
        return Ok(());
    }
    let why = format!("{bucket}: other gateways change {KEY} all the time");
    Err(SealedError::new(SealedErrorKind::Unavailable, why))
}

/// Deletes the marker and the settings of a bucket that has nothing else, then the bucket.
pub(super) async fn delete_bucket(context: &Context, bucket: &str) -> Result<(), SealedError> {
    let max = 2 + Setting::ALL.len() as u32;
    let page = context.store.list(bucket, &ListQuery { max, ..ListQuery::default() }).await?;
    let is_own = |key: &str| key == KEY || Setting::ALL.iter().any(|setting| setting.key() == key);
    if page.next.is_none() && page.prefixes.is_empty() && page.objects.iter().all(|info| is_own(&info.key)) {
        // The marker is deleted last: while it exists, a gateway with other settings refuses the
        // bucket.
        for info in page.objects.iter().filter(|info| info.key != KEY) {
            context.store.delete(&ObjectName::new(bucket, &info.key)).await?;
        }
        if !page.objects.is_empty() {
            context.store.delete(&ObjectName::new(bucket, KEY)).await?;
        }
    }
    let deleted = context.store.delete_bucket(bucket).await;
    // If it stays, the next request marks it again.
    context.checked.forget(bucket);
    Ok(deleted?)
}

/// An error about an epoch that is not loaded, with its number in the bucket.
pub(super) fn numbered(context: &Context, bucket: &str, error: SealedError) -> SealedError {
    let id = match &error.kind {
        SealedErrorKind::Metadata(MetadataFault::UnknownEpoch(id)) => id.to_string(),
        _ => return error,
    };
    let epochs = context.checked.get(bucket).map(|noted| noted.epochs).unwrap_or_default();
    let which = match epochs.iter().position(|one| *one == id) {
        Some(at) => format!("epoch {} of this bucket ({id})", at + 1),
        None => format!("epoch {id}"),
    };
    let message = format!("the object is sealed to {which}, which is not loaded: name its file (--epoch)");
    SealedError { message, ..error }
}

/// Epochs in the marker that are not loaded, with their numbers.
pub(super) fn missing_epochs(context: &Context, bucket: &str) -> Vec<(usize, String)> {
    let epochs = context.checked.get(bucket).map(|noted| noted.epochs).unwrap_or_default();
    let is_loaded = |id: &str| context.keyring.epochs().any(|epoch| epoch.id().to_string() == id);
    let numbered = (1..).zip(epochs.iter().cloned());
    numbered.filter(|(_, id)| !is_loaded(id)).collect()
}

/// The marker of a bucket, and its tag.
async fn read(context: &Context, bucket: &str) -> Result<Option<(Settings, String)>, SealedError> {
    let download = match context.store.get(&ObjectName::new(bucket, KEY), None, &Conditions::default()).await {
        Err(error) if error.kind == ErrorKind::NoSuchKey => return Ok(None),
        download => download?,
    };
    let wrong = || SealedError::new(SealedErrorKind::OtherSettings, format!("{bucket}: {KEY} cannot be read"));
    if download.info.size > LONGEST {
        return Err(wrong());
    }
    let tag = download.info.tag.clone();
    let text = tail::collect(download, LONGEST).await?;
    Ok(Some((serde_json::from_slice(&text).map_err(|_| wrong())?, tag)))
}

fn refuse_others(context: &Context, bucket: &str, theirs: &Settings) -> Result<(), SealedError> {
    let is_loaded = |id: &str| context.keyring.epochs().any(|epoch| epoch.id().to_string() == id);
    match difference(&ours(context), theirs, is_loaded) {
        None => Ok(()),
        Some(why) => Err(SealedError::new(SealedErrorKind::OtherSettings, format!("{bucket}: {why}"))),
    }
}

/// This gateway's settings; the epochs are those that it has loaded.
fn ours(context: &Context) -> Settings {
    let names_epoch = context.names.epoch().map(|epoch| epoch.id().to_string());
    let names = if names_epoch.is_some() { Style::Encrypted } else { Style::Plain };
    let mut epochs: Vec<_> = context.keyring.epochs().map(|epoch| epoch.id().to_string()).collect();
    epochs.reverse();
    Settings { format: FORMAT, names, names_epoch, epochs, gateway: context.options.gateway.clone() }
}

/// Settings of a bucket without a marker. If it has objects, they may be sealed to any loaded
/// epoch.
async fn new(context: &Context, bucket: &str) -> Result<Settings, SealedError> {
    let query = ListQuery { max: 1, ..ListQuery::default() };
    let page = context.store.list(bucket, &query).await?;
    let ours = ours(context);
    let is_empty = page.objects.is_empty() && page.prefixes.is_empty();
    Ok(if is_empty { Settings { epochs: vec![current(context)], ..ours } } else { ours })
}

fn current(context: &Context) -> String {
    context.keyring.current().id().to_string()
}

fn is_complete(context: &Context, theirs: &Settings) -> bool {
    theirs.epochs.contains(&current(context)) && (theirs.gateway.is_some() || context.options.gateway.is_none())
}

fn with_ours(context: &Context, mut theirs: Settings) -> Settings {
    let ours = ours(context);
    if theirs.epochs.is_empty() {
        theirs.epochs = ours.epochs;
    } else if !theirs.epochs.contains(&current(context)) {
        theirs.epochs.push(current(context));
    }
    Settings { gateway: theirs.gateway.or(ours.gateway), ..theirs }
}

fn difference(ours: &Settings, theirs: &Settings, is_loaded: impl Fn(&str) -> bool) -> Option<String> {
    if theirs.format != ours.format {
        return Some(format!("its objects have format {}, and this version reads format {FORMAT}", theirs.format));
    }
    if let (Some(our), Some(their)) = (&ours.gateway, &theirs.gateway)
        && our != their
    {
        return Some(format!("it belongs to the gateways `{their}`, and this one is of `{our}` (--gateway-id)"));
    }
    if let Some(newest) = theirs.epochs.last()
        && !theirs.epochs.iter().any(|id| is_loaded(id))
    {
        let count = theirs.epochs.len();
        return Some(format!(
            "its objects are sealed to {count} {}, the newest of which is {newest}, and none is loaded: name the files \
             (--epoch)",
            if count == 1 { "epoch" } else { "epochs" }
        ));
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

/// Writes a missing marker, or replaces the one with this tag.
async fn write(
    context: &Context,
    bucket: &str,
    (settings, tag): (&Settings, Option<String>),
) -> Result<(), StoreError> {
    let text = serde_json::to_vec(settings);
    let text = Bytes::from(text.map_err(|error| StoreError::new(ErrorKind::Invalid, error.to_string()))?);
    let name = ObjectName::new(bucket, KEY);
    let if_none_match = tag.is_none().then(|| "*".to_owned());
    let conditions = Conditions { if_match: tag, if_none_match, ..Conditions::default() };
    let mut options =
        PutOptions { content_type: Some("application/json".to_owned()), conditions, ..PutOptions::default() };
    let written = context.store.put(&name, Body::from(text.clone()), &options).await;
    match written {
        // The storage does not support conditions.
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
        let (names_epoch, epochs) = (epoch.map(str::to_owned), vec!["1".to_owned()]);
        Settings { format: FORMAT, names, names_epoch, epochs, gateway: None }
    }

    #[test]
    fn differences_name_the_option_to_change() {
        let (plain, one, two) = (
            settings(Style::Plain, None),
            settings(Style::Encrypted, Some("1")),
            settings(Style::Encrypted, Some("2")),
        );
        let of = |id: &str| Settings { gateway: Some(id.to_owned()), ..plain.clone() };
        let sealed_to =
            |epochs: &[&str]| Settings { epochs: epochs.iter().map(|&id| id.to_owned()).collect(), ..plain.clone() };
        for (ours, theirs, expected) in [
            (&plain, &plain, None),
            (&one, &one, None),
            (&plain, &one, Some("start the gateway with --encrypt-names")),
            (&one, &plain, Some("without --encrypt-names")),
            (&one, &two, Some("epoch 2, and this gateway encrypts them under 1")),
            (&plain, &Settings { format: 2, ..plain.clone() }, Some("format 2")),
            (&of("a"), &of("a"), None),
            (&plain, &of("a"), None),
            (&of("a"), &plain, None),
            (&of("a"), &of("b"), Some("belongs to the gateways `b`, and this one is of `a` (--gateway-id)")),
            (&plain, &sealed_to(&["1", "7"]), None),
            (&plain, &sealed_to(&["7"]), Some("sealed to 1 epoch, the newest of which is 7, and none is loaded")),
            (&plain, &sealed_to(&[]), None),
        ] {
            let found = difference(ours, theirs, |id| id == "1");
            assert_eq!(found.is_some(), expected.is_some());
            assert!(found.unwrap_or_default().contains(expected.unwrap_or_default()));
        }
    }

    #[test]
    fn marker_of_an_earlier_version_is_read() {
        let text = r#"{"format":1,"names":"plain"}"#;
        let read: Settings = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(read, Settings { epochs: Vec::new(), ..settings(Style::Plain, None) });
    }
}
