//! Sealing a file as an object, and opening one.

use super::args::{Bound, Keys, Open, Seal, Stored};
use super::secrets::keyring;
use anyhow::{Context, bail};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use whyslow_gateway::format::manifest::{self, Part, Tail};
use whyslow_gateway::format::{Kind, Layout, Name, Object, Reader, Role, SliceTag, SliceWriter};
use whyslow_gateway::keys::{Keyring, SecretSource};
use whyslow_output::{Sources, Target};

/// Bytes per read.
const PIECE: usize = 256 << 10;
/// A gap between two spans of a plan that is read and discarded, bytes.
const GAP: u64 = 64 << 10;

/// Seals a file; the object's metadata.
pub(super) fn seal(task: &Seal) -> anyhow::Result<String> {
    let name = task.file.display().to_string();
    let mut file = File::open(&task.file).with_context(|| name.clone())?;
    let metadata = file.metadata().with_context(|| name.clone())?;
    if !metadata.is_file() {
        bail!("{name}: this is no regular file: an object's header tells its length, which must be known before");
    }
    let length = metadata.len();
    let keyring = keyring(&task.keys.epochs, &task.keys.identities.sources)?;
    let kind = if task.part_size.is_some() { Kind::Multipart } else { Kind::Single };
    let object = Object::new(keyring.current(), kind)?;
    let mut out = Target::open(Some(&task.output), &sources(&task.file, &task.keys))?;
    match task.part_size {
        None => {
            seal_slice(&keyring, object, (Role::Object, length), &mut file, &mut out).with_context(|| name.clone())?;
        }
        Some(size) => {
            let least = u32::try_from(task.least.unwrap_or(0)).context("--least: at most 4 GiB")?;
            let parts = seal_parts(&keyring, object, (length, size, least), &mut file, &mut out);
            let parts = parts.with_context(|| name.clone())?;
            out.write_all(&manifest::seal(&keyring, object, &parts)?)?;
        }
    }
    if file.read(&mut [0])? > 0 {
        bail!("{name}: it grew while it was read");
    }
    out.finish()?;
    let text = with_bound(&task.bound, |name, attributes| object.to_metadata(&keyring, name, attributes))?;
    Ok(text + "\n")
}

/// The parts of a file of `length` bytes, of `size` each except the last, in slices of at least
/// `least`.
fn seal_parts(
    keyring: &Keyring,
    object: Object,
    (length, size, least): (u64, u64, u32),
    file: &mut File,
    out: &mut Target,
) -> anyhow::Result<Vec<Part>> {
    let count = length.div_ceil(size).max(1);
    let numbers = u32::try_from(count).ok().filter(|count| *count <= manifest::MAX_PARTS);
    let Some(last) = numbers else {
        bail!("{count} parts of {size} B: an object has {} at most: make them larger", manifest::MAX_PARTS);
    };
    let mut parts = Vec::new();
    for number in 1..=last {
        let length = size.min(length - u64::from(number - 1) * size);
        let (tag, sealed) = seal_slice(keyring, object, (Role::Part(number), length), file, out)?;
        let filler = manifest::filler(sealed, least);
        io::copy(&mut io::repeat(0).take(filler.into()), out)?;
        parts.push(Part { number, length, filler, tag });
    }
    Ok(parts)
}

/// Seals a slice of `length` bytes of plaintext; returns its tag and its length.
fn seal_slice(
    keyring: &Keyring,
    object: Object,
    (role, length): (Role, u64),
    from: &mut File,
    out: &mut Target,
) -> anyhow::Result<(SliceTag, u64)> {
    let (mut piece, mut sealed, mut written) = (vec![0; PIECE], Vec::new(), 0);
    let mut from = from.take(length);
    let mut writer = SliceWriter::new(keyring, object, role, length, &mut sealed)?;
    loop {
        let read = from.read(&mut piece)?;
        if read == 0 {
            break;
        }
        writer.write(&piece[..read], &mut sealed)?;
        out.write_all(&sealed)?;
        written += sealed.len() as u64;
        sealed.clear();
    }
    let tag = writer.finish(&mut sealed)?;
    out.write_all(&sealed)?;
    Ok((tag, written + sealed.len() as u64))
}

/// Opens an object, or a range of it.
pub(super) fn open(task: &Open) -> anyhow::Result<()> {
    let name = task.stored.object.display().to_string();
    let mut out = Target::open(task.output.as_deref(), &sources(&task.stored.object, &task.stored.keys))?;
    let mut object = OpenObject::new(&task.stored)?;
    let length = object.layout.length();
    let plan = match task.range {
        None => object.layout.plan_all(GAP),
        Some((first, _)) if first >= length => {
            bail!("{name}: it has {length} B, and the range begins at byte {first}")
        }
        // As HTTP has it: a range ends with the object.
        Some((first, last)) => object
            .layout
            .plan(first..last.saturating_add(1).min(length), GAP)
            .with_context(|| format!("{name}: there is no byte {first}"))?,
    };
    let spans = plan.spans().to_vec();
    let mut reader = Reader::new(object.keyring.clone(), object.layout.clone(), plan);
    let mut plaintext = Vec::new();
    for span in spans {
        object.read(span, |piece| {
            let result = reader.read(piece, &mut plaintext);
            out.write_all(&plaintext)?;
            plaintext.clear();
            if let Err(fault) = result {
                out.flush()?;
                return Err(fault).with_context(|| name.clone());
            }
            Ok(())
        })?;
    }
    reader.finish().with_context(|| name.clone())?;
    out.finish()
}

/// A stored object whose metadata and layout were verified.
pub(super) struct OpenObject {
    file: File,
    name: String,
    pub keyring: Arc<Keyring>,
    pub layout: Arc<Layout>,
}

impl OpenObject {
    pub(super) fn new(stored: &Stored) -> anyhow::Result<Self> {
        let name = stored.object.display().to_string();
        let keyring = Arc::new(keyring(&stored.keys.epochs, &stored.keys.identities.sources)?);
        let object = with_bound(&stored.bound, |name, attributes| {
            Object::verify(&keyring, stored.metadata.trim(), name, attributes)
        });
        let object = object.with_context(|| format!("{name}: --metadata with this --name and --bind"))?;
        let mut file = File::open(&stored.object).with_context(|| name.clone())?;
        let size = file.seek(SeekFrom::End(0)).with_context(|| name.clone())?;
        let layout = match object.kind() {
            Kind::Single => Layout::single(object, size).with_context(|| name.clone())?,
            Kind::Multipart => layout_of_parts(&keyring, object, size, &mut file).with_context(|| name.clone())?,
        };
        Ok(Self { file, name, keyring, layout: Arc::new(layout) })
    }

    /// Reads a span piece by piece.
    fn read(&mut self, span: Range<u64>, mut take: impl FnMut(&[u8]) -> anyhow::Result<()>) -> anyhow::Result<()> {
        self.file.seek(SeekFrom::Start(span.start)).with_context(|| self.name.clone())?;
        let mut from = (&self.file).take(span.end - span.start);
        let mut piece = vec![0; PIECE];
        loop {
            match from.read(&mut piece).with_context(|| self.name.clone())? {
                0 => return Ok(()),
                read => take(&piece[..read])?,
            }
        }
    }
}

fn layout_of_parts(keyring: &Keyring, object: Object, size: u64, file: &mut File) -> anyhow::Result<Layout> {
    let mut from = size.saturating_sub(manifest::TAIL);
    loop {
        let mut tail = Vec::new();
        file.seek(SeekFrom::Start(from))?;
        file.take(size - from).read_to_end(&mut tail)?;
        match manifest::read_tail(keyring, object, size, &tail)? {
            Tail::Layout(layout) => return Ok(layout),
            Tail::Longer(range) => from = range.start,
        }
    }
}

fn with_bound<T>(bound: &Bound, with: impl FnOnce(Name<'_>, &[(&str, &str)]) -> T) -> T {
    let attributes: Vec<(&str, &str)> = bound.attributes.iter().map(|(name, value)| (&**name, &**value)).collect();
    with(Name { bucket: &bound.name.0, key: &bound.name.1 }, &attributes)
}

/// The sources: if an epoch was overwritten, all its objects would be lost.
fn sources(file: &Path, keys: &Keys) -> Sources {
    let identities = keys.identities.sources.iter().filter_map(|source| match &source.0 {
        Ok(SecretSource::File(path)) => Some(path.as_path()),
        _ => None,
    });
    let read = keys.epochs.iter().map(PathBuf::as_path).chain(identities).chain([file]);
    Sources::default().and_files(read)
}
