//! `whyslow-gateway serve`: the endpoint, from its settings to its end.
//!
//! ```text
//!   arguments, variables, file ─▶ Settings ─▶ store, keys ─▶ Front ─▶ records
//!                                  log, metrics, statistics ◀─ Observer ◀─┘
//!                                                 admin (HTTP) ◀─┘
//! ```

mod admin;
mod advice;
mod descriptors;
mod keep;
mod log;
mod metrics;
mod observer;
mod page;
pub(super) mod row;
mod settings;
mod signals;
pub(super) mod stats;

use super::args::ServeArgs;
use super::backend::{self, Backend};
use super::options::Admin;
use crate::complain::complain;
use anyhow::Context;
use keep::Recorder;
use observer::Observer;
use settings::Settings;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use tokio::net::TcpListener;
use whyslow_gateway::front::{Access, AccessKeys, Front};
use whyslow_gateway::sealed::SealedStore;
use whyslow_output::exit::FAILED;
use whyslow_text::units::{count, figure};

/// Serves until a signal ends it.
///
/// # Errors
/// If the settings are not valid, the store cannot be used, or an address is not available.
pub(super) fn run(args: &ServeArgs) -> anyhow::Result<ExitCode> {
    let mut settings = Settings::resolve(args)?;
    let limit = descriptors::raise();
    let (wanted, to_store) = (settings.limits.connections, settings.pool.max_connections);
    settings.limits.connections = descriptors::connections(limit, wanted, settings.storage.store.as_ref(), to_store)?;
    if let Some(limit) = limit.filter(|_| settings.limits.connections < wanted) {
        complain(&format!(
            "note: {} of clients at most, as {limit} open files are allowed (ulimit -n, LimitNOFILE); {wanted} were meant \
             (--max-connections)",
            count(settings.limits.connections as u64, "connection")
        ));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let code = runtime.block_on(serve(settings, args.clone()))?;
    // Tasks that still run have had their time to end.
    runtime.shutdown_background();
    Ok(code)
}

async fn serve(settings: Settings, args: ServeArgs) -> anyhow::Result<ExitCode> {
    let settings = Arc::new(settings);
    let mut signals = signals::Signals::listen()?;
    let listener = bind("--listen", settings.listen).await?;
    let admin = match settings.admin {
        Admin::At(address) => Some(bind("--admin", address).await?),
        Admin::Off => None,
    };
    let backend = Arc::new(backend::open(&settings.storage, settings.pool.clone()).await?);
    backend.check().await?;
    let recorder = settings.keep.as_ref().map(|keep| keep.record(backend.packets.as_deref())).transpose()?;
    let observer = Arc::new(Observer::new(&settings, Arc::clone(&backend))?);
    let mut administration = String::new();
    if let Some(admin) = admin {
        administration = format!("; administration at http://{}", admin.local_addr()?);
        tokio::spawn(admin::serve(admin, Arc::clone(&observer) as _));
    }
    keep_warm(&backend)?;
    let sealed = SealedStore::new(Arc::clone(&backend.store), Arc::clone(&settings.keyring), settings.sealed(&backend));
    adopt(&sealed, &backend).await?;
    let address = listener.local_addr()?;
    for advice in advice::of(&settings, &backend, address).await {
        complain(&advice);
    }
    // A client that reads the line and asks at once gets the same answer.
    observer.begin();
    complain(&(ready(&settings, &backend, address) + &administration));
    let front = Front::new(sealed, settings.front(Arc::clone(&observer) as _));
    let ending = {
        let (observer, settings, args) = (Arc::clone(&observer), Arc::clone(&settings), Arc::new(args));
        async move {
            signals.wait(|| hung_up(&observer, &settings, &args)).await;
            observer.end();
            complain("no new requests; those that run may end (the next signal ends at once)");
            signals.leave_at_the_next();
        }
    };
    let drained = front.serve(listener, ending).await;
    let closed = match &backend.s3 {
        Some(s3) => s3.close().await,
        None => Ok(()),
    };
    observer.finish();
    if let Err(error) = closed {
        complain(&format!("the upload that takes bursts is left in the store, with one part at most: {error}"));
    }
    recorder.map(Recorder::end).transpose()?;
    if drained.cut > 0 {
        let time = figure(settings.limits.drain.as_secs_f64(), "s");
        complain(&format!(
            "{} cut that had not ended within {time} (--drain)",
            count(drained.cut as u64, "connection")
        ));
        return Ok(ExitCode::from(FAILED));
    }
    Ok(ExitCode::SUCCESS)
}

fn hung_up(observer: &Observer, settings: &Arc<Settings>, args: &Arc<ServeArgs>) {
    observer.reopen_log();
    let (settings, args) = (Arc::clone(settings), Arc::clone(args));
    // Programs that print secrets may be slow.
    tokio::task::spawn_blocking(move || complain(&reload(&settings, &args)));
}

/// Reads the settings again. Invalid settings change nothing.
fn reload(settings: &Settings, args: &ServeArgs) -> String {
    let left = match Settings::resolve(args) {
        Ok(newer) => settings.reload(&newer),
        Err(error) => return format!("the settings are as before: {error:#}"),
    };
    let keys = match &settings.access {
        Access::Everybody => String::new(),
        Access::Keys(keys) => format!(": {}", names(keys)),
    };
    let left = if left.is_empty() { String::new() } else { format!("; a restart is needed for {}", left.join(", ")) };
    format!("access keys and certificate were read again{keys}{left}")
}

fn names(keys: &AccessKeys) -> String {
    keys.current().iter().map(|key| key.id.as_str()).collect::<Vec<_>>().join(", ")
}

async fn bind(option: &str, address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| format!("{option} {address}"))
}

/// Compares the buckets' settings with those of this gateway. In front of `s3://` this is done for
/// each bucket when a client uses it.
async fn adopt(sealed: &SealedStore, backend: &Backend) -> anyhow::Result<()> {
    if backend.bucket.is_none() && backend.s3.is_some() {
        return Ok(());
    }
    for bucket in backend.buckets().await? {
        sealed.adopt(&bucket).await.with_context(|| backend.name.clone())?;
        let missing = sealed.missing_epochs(&bucket);
        if !missing.is_empty() {
            let each: Vec<_> = missing.iter().map(|(number, id)| format!("{number} ({id})")).collect();
            complain(&format!(
                "warning: objects in {bucket} are sealed to epochs that are not loaded and cannot be read: {} (--epoch)",
                each.join(", ")
            ));
        }
    }
    Ok(())
}

fn keep_warm(backend: &Backend) -> anyhow::Result<()> {
    if let (Some(s3), Some(bucket)) = (&backend.s3, &backend.bucket) {
        s3.keep_warm(bucket)?;
    }
    Ok(())
}

/// The line that reports that clients may connect.
fn ready(settings: &Settings, backend: &Backend, address: SocketAddr) -> String {
    let scheme = if settings.tls.is_some() { "https" } else { "http" };
    let who = match &settings.access {
        Access::Everybody => "everybody of this machine".to_owned(),
        Access::Keys(keys) => names(keys),
    };
    format!(
        "ready: S3 at {scheme}://{address} for {who}; sealed to epoch {} in {}",
        settings.keyring.current().id(),
        backend.name
    )
}
