//! Operators' keys and epochs. Their files are never overwritten: one may be the only file that
//! opens the stored objects.

use super::args::Identities;
use super::source::Source;
use anyhow::Context;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use whyslow_gateway::age::{Identity, Recipient, identities};
use whyslow_gateway::keys::{Epoch, Keyring, epoch_file};

/// Makes an operator's key.
pub(super) fn keygen(output: &Path) -> anyhow::Result<String> {
    let identity = Identity::generate()?;
    let text = identity.to_text();
    write_new(
        output,
        &[b"# public key: ", identity.recipient().to_string().as_bytes(), b"\n", text.as_bytes(), b"\n"],
    )?;
    Ok(format!("{}\n", identity.recipient()))
}

/// Makes an epoch.
pub(super) fn epoch(to: &[Recipient], output: &Path) -> anyhow::Result<String> {
    let epoch = Epoch::generate()?;
    write_new(output, &[&epoch_file::seal(&epoch, to)?])?;
    Ok(format!("{}\n", epoch.id()))
}

/// Seals an epoch's file to other operators.
pub(super) fn rekey(file: &Path, from: &Identities, to: &[Recipient], output: &Path) -> anyhow::Result<String> {
    let epoch = open_epoch(file, &read_identities(&from.sources)?)?;
    write_new(output, &[&epoch_file::seal(&epoch, to)?])?;
    Ok(format!("{}\n", epoch.id()))
}

/// The named epochs.
pub(super) fn keyring(files: &[PathBuf], identities: &[Source]) -> anyhow::Result<Keyring> {
    let operators = read_identities(identities)?;
    let mut epochs = files.iter().map(|file| open_epoch(file, &operators));
    let current = epochs.next().context("no epoch was named: --epoch FILE")??;
    let older = epochs.collect::<anyhow::Result<Vec<_>>>()?;
    Ok(Keyring::new(current, older))
}

fn open_epoch(file: &Path, operators: &[Identity]) -> anyhow::Result<Epoch> {
    let name = || file.display().to_string();
    let bytes = fs::read(file).with_context(name)?;
    epoch_file::open(&bytes, operators).with_context(name)
}

fn read_identities(from: &[Source]) -> anyhow::Result<Vec<Identity>> {
    let mut all = Vec::new();
    for source in from {
        let source = source.get("--identity")?;
        let text = source.read()?;
        all.extend(identities(&text).with_context(|| source.to_string())?);
    }
    Ok(all)
}

/// Writes a new file, readable by its owner alone.
pub(super) fn write_new(path: &Path, pieces: &[&[u8]]) -> anyhow::Result<()> {
    let name = || path.display().to_string();
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).with_context(name)?;
    for piece in pieces {
        file.write_all(piece).with_context(name)?;
    }
    file.sync_all().with_context(name)
}
