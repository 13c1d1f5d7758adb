//! `whyslow-gateway check`: which objects of a bucket are damaged.

use super::args::CheckArgs;
use super::backend;
use super::config::Options;
use super::secrets;
use crate::complain::complain;
use anyhow::Context;
use futures_util::{StreamExt, stream};
use std::process::ExitCode;
use std::sync::Arc;
use whyslow_gateway::pool::{PoolOptions, Warmth};
use whyslow_gateway::sealed::{SealedOptions, SealedStore, Verdict};
use whyslow_gateway::store::ObjectName;
use whyslow_output::Output;
use whyslow_text::harmless;
use whyslow_text::units::{bytes, count};

/// The exit status if objects are damaged: the check itself succeeded.
const DAMAGED: u8 = 1;

/// The result of a check.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    whole: u64,
    bytes: u64,
    damaged: u64,
    gone: u64,
    unread: u64,
}

/// Verifies the objects, and prints those that are damaged.
///
/// # Errors
/// If the store cannot be listed, or some objects could not be read.
pub(super) fn run(task: &CheckArgs, mut out: Output) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let totals = runtime.block_on(check(task, &mut out))?;
    out.write(&(summary(totals, task.heads) + "\n"))?;
    if totals.unread > 0 {
        anyhow::bail!("{} could not be read, and were not checked", count(totals.unread, "object"));
    }
    Ok(if totals.damaged > 0 { ExitCode::from(DAMAGED) } else { ExitCode::SUCCESS })
}

fn summary(totals: Totals, heads: bool) -> String {
    let Totals { whole, bytes: length, damaged, gone, unread } = totals;
    let how = if heads { "valid at head and end" } else { "whole" };
    let mut text = format!("{how}: {}, {} of plaintext; {damaged} damaged", count(whole, "object"), bytes(length));
    for (number, what) in [(unread, "could not be read"), (gone, "changed meanwhile")] {
        if number > 0 {
            text.push_str(&format!("; {number} {what}"));
        }
    }
    text
}

async fn check(task: &CheckArgs, out: &mut Output) -> anyhow::Result<Totals> {
    let given = Options { storage: task.storage.clone(), keys: task.keys.clone(), ..Options::default() };
    let Options { storage, keys, .. } = given.with_file(task.file.config.as_deref())?;
    let warmth = Warmth { connections: 0, ..Warmth::default() };
    let mut backend = backend::open(&storage, PoolOptions { warmth, ..PoolOptions::default() }).await?;
    if task.bucket.is_some() {
        backend.bucket.clone_from(&task.bucket);
    }
    let keyring = Arc::new(secrets::keyring(&keys.epochs, &keys.identities)?);
    let encrypt_names = keys.encrypt_names.unwrap_or(false);
    let options = SealedOptions { encrypt_names, ..SealedOptions::default() };
    let sealed = SealedStore::new(Arc::clone(&backend.store), keyring, options);
    let mut totals = Totals::default();
    for bucket in backend.buckets().await? {
        check_bucket(&sealed, (&bucket, task), (&mut totals, out)).await.with_context(|| bucket.clone())?;
    }
    Ok(totals)
}

async fn check_bucket(
    sealed: &SealedStore,
    (bucket, task): (&str, &CheckArgs),
    (totals, out): (&mut Totals, &mut Output),
) -> anyhow::Result<()> {
    let mut continuation = None;
    loop {
        let page = sealed.stored_page(bucket, &task.prefix, continuation).await?;
        let verdicts = stream::iter(page.keys).map(|(stored, plain)| async {
            let verdict = match &plain {
                Some(key) => Some(sealed.verify(&ObjectName::new(bucket, key), !task.heads).await),
                None => None,
            };
            (plain.unwrap_or(stored), verdict)
        });
        let mut verdicts = verdicts.buffered(usize::from(task.parallel.get()));
        while let Some((key, verdict)) = verdicts.next().await {
            let name = harmless(&format!("{bucket}/{key}")).into_owned();
            match verdict {
                Some(Verdict::Whole(length)) => {
                    totals.whole += 1;
                    totals.bytes += length;
                }
                Some(Verdict::Gone) => totals.gone += 1,
                Some(Verdict::Unread(error)) => {
                    totals.unread += 1;
                    complain(&format!("{name}: {}", harmless(&error.to_string())));
                }
                Some(Verdict::Damaged(error)) => {
                    totals.damaged += 1;
                    out.write(&format!("damaged: {name}: {}\n", harmless(&error.to_string())))?;
                }
                None => {
                    totals.damaged += 1;
                    out.write(&format!("damaged: {name}: the name was not encrypted with these keys\n"))?;
                }
            }
        }
        continuation = page.next;
        if continuation.is_none() {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_counts_what_was_found() {
        let totals = Totals { whole: 2, bytes: 1000, damaged: 1, ..Totals::default() };
        assert_eq!(summary(totals, false), "whole: 2 objects, 1,000 B of plaintext; 1 damaged");
        let totals = Totals { unread: 3, gone: 4, ..totals };
        let expected = "valid at head and end: 2 objects, 1,000 B of plaintext; 1 damaged; 3 could not be read; 4 changed meanwhile";
        assert_eq!(summary(totals, true), expected);
    }
}
