//! The place of each slice in an object.

use super::args::{Bound, Identities, Keys, LayoutArgs, Stored};
use super::objects::OpenObject;
use super::{backend, config::Options, secrets};
use anyhow::Context;
use std::ops::Range;
use std::sync::Arc;
use whyslow_gateway::format::{Layout, Role};
use whyslow_gateway::{
    pool::{PoolOptions, Warmth},
    sealed::{SealedOptions, SealedStore},
    store::ObjectName,
};
use whyslow_text::units::{bytes, count, thousands};
use whyslow_text::{Column, Line, Page, Table};

/// The layout of an object in a store; with metadata, of a file.
pub(super) fn run(task: &LayoutArgs, width: usize) -> anyhow::Result<String> {
    let (Some(name), Some(metadata)) = (&task.name, &task.metadata) else {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let layout = runtime.block_on(stored(task))?;
        return Ok(table(&layout, width));
    };
    let (epochs, sources) = (task.keys.epochs.clone(), task.keys.identities.clone());
    let stored = Stored {
        object: task.object.clone(),
        keys: Keys { epochs, identities: Identities { sources } },
        bound: Bound { name: name.clone(), attributes: task.attributes.clone() },
        metadata: metadata.clone(),
    };
    Ok(table(&OpenObject::new(&stored)?.layout, width))
}

async fn stored(task: &LayoutArgs) -> anyhow::Result<Arc<Layout>> {
    let given = Options { storage: task.storage.clone(), keys: task.keys.clone(), ..Options::default() };
    let Options { storage, keys, .. } = given.with_file(task.file.config.as_deref())?;
    let warmth = Warmth { connections: 0, ..Warmth::default() };
    let backend = backend::open(&storage, PoolOptions { warmth, ..PoolOptions::default() }).await?;
    let text = task.object.to_str().context("a key is UTF-8")?;
    let (bucket, key) = match &backend.bucket {
        Some(bucket) => (bucket.as_str(), text),
        None => text.split_once('/').with_context(|| format!("{text}: {} needs BUCKET/KEY", backend.name))?,
    };
    let keyring = Arc::new(secrets::keyring(&keys.epochs, &keys.identities)?);
    let encrypt_names = keys.encrypt_names.unwrap_or(false);
    let options = SealedOptions { encrypt_names, ..SealedOptions::default() };
    let sealed = SealedStore::new(Arc::clone(&backend.store), keyring, options);
    sealed.layout(&ObjectName::new(bucket, key)).await.with_context(|| format!("{bucket}/{key} in {}", backend.name))
}

/// A line for each slice, bytes counted from 0.
fn table(layout: &Layout, width: usize) -> String {
    let mut page = Page::new(width);
    page.line(&Line::new().plain(&title(layout)));
    let columns = ["slice", "stored from", "stored", "plaintext from", "plaintext"].map(Column::figures);
    let mut table = Table::new(columns.to_vec());
    for slice in layout.slices() {
        let number = match slice.role {
            Role::Part(number) => number.to_string(),
            Role::Object | Role::Manifest(_) => "object".to_owned(),
        };
        table.row([vec![number], cells(slice.stored()), cells(slice.plain())].concat());
    }
    let end = layout.slices().last().map_or(0, |slice| slice.stored().end);
    table.print(&mut page, 2);
    if end < layout.stored() {
        let rest = bytes(layout.stored() - end);
        page.line(&Line::new().pad(2).plain(&format!("then {rest}: fillers, the manifest, the locator")));
    }
    page.finish()
}

fn title(layout: &Layout) -> String {
    let slices = count(layout.slices().len() as u64, "slice");
    format!(
        "object {}, epoch {}: {} of plaintext in {}, {slices}",
        layout.object().id(),
        layout.object().epoch(),
        bytes(layout.length()),
        bytes(layout.stored())
    )
}

/// Its offset and its length.
fn cells(range: Range<u64>) -> Vec<String> {
    vec![thousands(range.start), bytes(range.end - range.start)]
}
