//! `--keylog` and `SSLKEYLOGFILE`: the secrets with which TLS is decrypted.

use crate::output::{Sources, complain};
use anyhow::Context;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use whyslow_core::tls::{KeyLog, KeyLogTally};
use whyslow_io::ExplainOptions;

/// The variable that names the key log of browsers, curl and others.
const VARIABLE: &str = "SSLKEYLOGFILE";
/// A key log is read in pieces of this size; a line has at most 200 characters.
const PIECE: usize = 1 << 20;

/// The file that `--keylog` names.
static GIVEN: OnceLock<PathBuf> = OnceLock::new();
/// It is read once.
static READ: OnceLock<Option<Arc<KeyLog>>> = OnceLock::new();

/// Uses this key log for all captures that are read from now on.
pub(crate) fn give(file: PathBuf) {
    // A command line has one.
    let _ = GIVEN.set(file);
}

/// How captures are explained if nothing else is given: with the secrets of the key log.
///
/// # Errors
/// When there is one that cannot be read.
pub(crate) fn options() -> anyhow::Result<ExplainOptions> {
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
pub(crate) fn protected(sources: Sources) -> Sources {
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
    let mut file = whyslow_io::open_decompressed(path)?;
    let (mut log, mut piece) = (KeyLog::default(), Vec::new());
    loop {
        let taken = file.by_ref().take(PIECE as u64).read_to_end(&mut piece)?;
        let is_end = taken < PIECE;
        let whole = piece.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let end = if is_end { piece.len() } else { whole };
        log.read(&piece[..end]);
        piece.drain(..end);
        // Something else than a key log: a line without end is not kept.
        if piece.len() > PIECE {
            piece.clear();
        }
        if is_end {
            return Ok(log);
        }
    }
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::io::Write;

    #[test]
    fn key_log_of_many_pieces_is_read_whole() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        for number in 0..20_000u64 {
            writeln!(file, "CLIENT_RANDOM {number:064x} {number:096x}").unwrap();
        }
        let log = open(file.path()).unwrap();
        assert_eq!((log.connections(), log.tally().malformed), (20_000, 0));
    }

    #[test]
    fn file_without_lines_is_not_kept() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&vec![b'x'; 3 * PIECE + 7]).unwrap();
        assert_eq!(open(file.path()).unwrap().connections(), 0);
    }
}
