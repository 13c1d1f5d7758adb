//! `--keylog` and `SSLKEYLOGFILE`: the secrets with which TLS is decrypted.

use crate::output::{Sources, complain};
use anyhow::Context;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use whyslow_core::tls::{KeyLog, KeyLogTally};
use whyslow_io::ExplainOptions;

/// The variable that names the key log of browsers, curl and others.
const VARIABLE: &str = "SSLKEYLOGFILE";

/// The file that `--keylog` names.
static GIVEN: OnceLock<PathBuf> = OnceLock::new();
/// It is read once.
static READ: OnceLock<Option<Arc<KeyLog>>> = OnceLock::new();

/// Uses this key log for all captures that are read from now on.
pub fn give(file: PathBuf) {
    // A command line has one.
    let _ = GIVEN.set(file);
}

/// How captures are explained if nothing else is given: with the secrets of the key log.
///
/// # Errors
/// When there is one that cannot be read.
pub fn options() -> anyhow::Result<ExplainOptions> {
    let keys = match READ.get() {
        Some(keys) => keys.clone(),
        None => {
            let keys = read()?;
            READ.get_or_init(|| keys).clone()
        }
    };
    Ok(ExplainOptions { keys, ..ExplainOptions::default() })
}

/// The same inputs and the key log, which no output may replace.
pub fn protected(sources: Sources) -> Sources {
    sources.and_files(file().map(|(path, _)| path))
}

/// The key log, and whether `--keylog` names it.
fn file() -> Option<(PathBuf, bool)> {
    let named = || std::env::var_os(VARIABLE).filter(|name| !name.is_empty()).map(PathBuf::from);
    GIVEN.get().map(|path| (path.clone(), true)).or_else(|| Some((named()?, false)))
}

fn read() -> anyhow::Result<Option<Arc<KeyLog>>> {
    let Some((path, is_given)) = file() else { return Ok(None) };
    match open(&path) {
        // The variable is for the programs that write it: nothing has to be there.
        Err(error) if !is_given && error.kind() == ErrorKind::NotFound => Ok(None),
        log => {
            let log = log.with_context(|| format!("the key log {}", path.display()))?;
            remark(&log, &path);
            Ok(Some(Arc::new(log)))
        }
    }
}

fn open(path: &Path) -> std::io::Result<KeyLog> {
    whyslow_io::read_key_log(whyslow_io::open_decompressed(path)?)
}

/// Reports what of a key log is of no use.
fn remark(log: &KeyLog, path: &Path) {
    let KeyLogTally { secrets, unknown_labels, malformed, beyond_limit, .. } = log.tally();
    let name = path.display();
    if secrets == 0 {
        complain(&format!("the key log {name} has no secret of a TLS connection"));
    }
    let odd = [
        (unknown_labels, "with a label that is unknown"),
        (malformed, "cut or not hexadecimal"),
        (beyond_limit, "of connections beyond the limit"),
    ];
    for (count, what) in odd {
        if count > 0 {
            complain(&format!("the key log {name} has lines {what}: {count}"));
        }
    }
}
