//! `whyslow-gateway clean`: uploads in parts that were never completed, and their parts, which cost
//! money.

use super::args::CleanArgs;
use super::backend::{self, Backend};
use super::config::Options;
use anyhow::Context;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};
use whyslow_gateway::pool::{PoolOptions, Warmth};
use whyslow_gateway::store::{StoreError, Upload, UploadInfo};
use whyslow_output::Output;
use whyslow_text::units::{bytes, count, span};
use whyslow_text::{Column, Line, Page, Table, harmless};

/// The upload that takes the bursts of a running gateway, which drops it at its end.
const PARKED: &str = ".whyslow-gateway/warm";

/// Lists them, and drops them if asked.
///
/// # Errors
/// If the store cannot be read, or an upload cannot be dropped.
pub(super) fn run(task: &CleanArgs, mut out: Output) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (page, failed) = runtime.block_on(clean(task, out.table_width()))?;
    out.write(&page)?;
    match failed {
        None => Ok(ExitCode::SUCCESS),
        Some(error) => Err(error).context("an upload was not dropped; the others were"),
    }
}

async fn clean(task: &CleanArgs, width: usize) -> anyhow::Result<(String, Option<StoreError>)> {
    let options = Options { storage: task.storage.clone(), ..Options::default() };
    let storage = options.with_file(task.file.config.as_deref())?.storage;
    let warmth = Warmth { connections: 0, ..Warmth::default() };
    let mut backend = backend::open(&storage, PoolOptions { warmth, ..PoolOptions::default() }).await?;
    if task.bucket.is_some() {
        backend.bucket.clone_from(&task.bucket);
    }
    let mut found = Vec::new();
    for bucket in backend.buckets().await? {
        found.extend(old(&backend, &bucket, task).await.with_context(|| bucket.clone())?);
    }
    let mut table = Table::new(vec![
        Column::words("begun"),
        Column::figures("age"),
        Column::figures("parts"),
        Column::figures("stored"),
        Column::words("key, as it is stored"),
    ]);
    let (mut stored, mut failed) = (0, None);
    for (upload, age) in &found {
        let (parts, size) = size(&backend, &upload.upload).await?;
        stored += size;
        table.row([
            super::serve::row::utc(upload.begun).get(..19).unwrap_or_default().to_owned(),
            span(i64::try_from(age.as_nanos()).unwrap_or(i64::MAX)),
            parts.to_string(),
            bytes(size),
            harmless(&upload.upload.object.to_string()).into_owned(),
        ]);
        if task.yes
            && let Err(error) = backend.store.abort_upload(&upload.upload).await
        {
            failed = Some(error);
        }
    }
    let mut page = Page::new(width);
    let what = count(found.len() as u64, "upload");
    let text = match (found.is_empty(), task.yes) {
        (true, _) => "no upload is that old".to_owned(),
        (false, true) => format!("{what} dropped, {}", bytes(stored)),
        (false, false) => format!("{what}, {}: `--yes` drops them", bytes(stored)),
    };
    page.line(&Line::new().plain(&text));
    if !found.is_empty() {
        table.print(&mut page, 2);
    }
    Ok((page.finish(), failed))
}

/// The uploads of a bucket that are old enough, with their age.
async fn old(backend: &Backend, bucket: &str, task: &CleanArgs) -> anyhow::Result<Vec<(UploadInfo, Duration)>> {
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = backend.store.list_uploads(bucket, "", after.as_ref()).await?;
        after = page.uploads.last().map(|last| last.upload.clone());
        for upload in page.uploads {
            let age = SystemTime::now().duration_since(upload.begun).unwrap_or_default();
            if age >= task.older_than.0 && upload.upload.object.key != PARKED {
                found.push((upload, age));
            }
        }
        if !page.has_more || after.is_none() {
            return Ok(found);
        }
    }
}

/// Number of parts and their bytes; `None` if the upload is gone.
async fn size(backend: &Backend, upload: &Upload) -> anyhow::Result<(u64, u64)> {
    let (mut parts, mut size, mut after) = (0, 0, 0);
    loop {
        let (page, has_more) = match backend.store.list_parts(upload, after).await {
            Ok(page) => page,
            Err(error) if error.kind == whyslow_gateway::store::ErrorKind::NoSuchUpload => return Ok((parts, size)),
            Err(error) => return Err(error.into()),
        };
        parts += page.len() as u64;
        size += page.iter().map(|part| part.size).sum::<u64>();
        match page.last() {
            Some(last) if has_more => after = last.number,
            _ => return Ok((parts, size)),
        }
    }
}
