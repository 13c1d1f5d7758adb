//! Reads an object: in one round trip if it was one PUT.
//!
//! | asked for | sent at once | then |
//! |---|---|---|
//! | all | GET of all, or over a long path of the first piece | the other pieces, several at once |
//! | a range | GET of the header ∥ GET of the chunks that a single object has there | nothing |
//! | a range of a multipart object that is known | GET of the first span | the other spans |
//! | the same of one that is not known | as of a single one | its end; the spans |
//!
//! The first answer shows the kind of the object. All answers must belong to one version of it.

use super::attributes;
use super::context::{Context, GAP};
use super::error::{SealedError, SealedErrorKind};
use super::opening::{self, Arriving};
use super::tags;
use super::tail;
use super::types::{Attributes, Info, Opened};
use crate::format::manifest::TAIL;
use crate::format::{HEADER, Kind, Layout, MAX_LENGTH, Object, suffix_size};
use crate::memory::Permit;
use crate::store::{
    Conditions, Download, ErrorKind, ObjectInfo, ObjectName, Plan, Range, ReadOptions, StoreError, read_spans,
};
use futures_util::future;
use std::ops;
use std::sync::Arc;

/// An object of this size shows whether the path is long.
const LARGE: u64 = 1 << 30;
/// Memory for an object over a long path until its size is known.
const FIRST: u64 = 4 << 20;
/// Attempts for an object that changes while it is read.
const ATTEMPTS: u32 = 3;

/// The facts of the first answers.
struct Found {
    info: ObjectInfo,
    object: Object,
    attributes: Attributes,
    arriving: Vec<Arriving>,
}

pub(super) async fn get(
    context: &Context,
    (name, place): (&ObjectName, Permit),
    range: Option<Range>,
    conditions: &Conditions,
) -> Result<Opened, SealedError> {
    // Pieces that are read ahead may be held together with the first ones, so all of their memory
    // is taken now.
    let plan = context.store.plan(LARGE).filter(|plan| plan.part_size <= context.memory().capacity() / 4);
    open(context, (name, place), (range, plan), conditions).await
}

/// Without a plan nothing is read ahead: for a reader that waits for memory itself.
pub(super) async fn open(
    context: &Context,
    (name, place): (&ObjectName, Permit),
    (range, plan): (Option<Range>, Option<Plan>),
    conditions: &Conditions,
) -> Result<Opened, SealedError> {
    let stored = context.names.stored(name)?;
    let piece = plan.map_or(MAX_LENGTH, |plan| first_piece(range, plan));
    let mut reserve = match plan {
        Some(_) => Some(context.memory().acquire(piece + TAIL).await),
        None => None,
    };
    let options = ReadOptions::default();
    let mut attempt = 1;
    let found = loop {
        match ask(context, (name, &stored), (range, piece), &tags::conditions(conditions), &options).await? {
            Some(found) => break found,
            None if attempt < ATTEMPTS => attempt += 1,
            None => {
                let why = "the object changed each time while it was asked for";
                return Err(SealedError::new(SealedErrorKind::Unavailable, why));
            }
        }
    };
    let Found { info, object, attributes, arriving } = found;
    if let Some(reserve) = &mut reserve {
        reserve.shrink(TAIL + arriving.iter().map(|answer| answer.end - answer.first).sum::<u64>());
    }
    let layout = {
        let _permit = match (&reserve, object.kind()) {
            (None, Kind::Multipart) => Some(context.memory().acquire(TAIL).await),
            _ => None,
        };
        tail::layout(context, &stored, (object, &info), &options).await?
    };
    let (plain, bytes_plan) = of_plaintext(&layout, range)?;
    let source = context.source(&stored, &info, options.clone());
    let memory = context.memory();
    let bytes =
        opening::gather(bytes_plan.spans(), arriving, reserve, memory, |rest| read_spans(source, rest, plan, memory));
    let begun = opening::open(Arc::clone(&context.keyring), (Arc::clone(&layout), bytes_plan), bytes, place);
    let fault = begun.fault.clone();
    let bytes = begun.first().await?;
    let (info, transfers) = (client_info(name, info, attributes, &layout), options.transfers);
    Ok(Opened { info, range: plain, bytes, transfers, fault })
}

/// The object as the client knows it.
pub(super) fn client_info(name: &ObjectName, info: ObjectInfo, mut attributes: Attributes, layout: &Layout) -> Info {
    let is_multipart = layout.object().kind() == Kind::Multipart;
    if attributes.checksums.is_empty() {
        attributes.checksums.clone_from(layout.checksums());
    }
    Info {
        key: name.key.clone(),
        size: layout.length(),
        tag: tags::to_client(&info.tag),
        modified: info.modified,
        attributes,
        parts: u32::try_from(layout.slices().len()).ok().filter(|_| is_multipart),
    }
}

/// The requested plaintext, and the stored bytes that it needs.
fn of_plaintext(layout: &Layout, range: Option<Range>) -> Result<((u64, u64), crate::format::Plan), SealedError> {
    let Some(range) = range else { return Ok(((0, layout.length()), layout.plan_all(GAP))) };
    let outside = || {
        let why = format!("the range holds no byte of the object, which has {} B", layout.length());
        SealedError::new(SealedErrorKind::InvalidRange, why)
    };
    let (first, end) = range.of(layout.length()).ok_or_else(outside)?;
    Ok(((first, end), layout.plan(first..end, GAP).ok_or_else(outside)?))
}

/// Bytes of the first request over a long path.
fn first_piece(range: Option<Range>, plan: Plan) -> u64 {
    let most = match range {
        Some(Range::FromTo(first, last)) => suffix_size(last.saturating_sub(first).saturating_add(1)) + HEADER,
        _ => FIRST,
    };
    most.min(plan.part_size)
}

/// The requests while the object is unknown: the first one always has an answer.
fn first_asks(context: &Context, stored: &ObjectName, range: Option<Range>, piece: u64) -> Vec<Option<Range>> {
    let cut = |span: &ops::Range<u64>| {
        let last = span.end.min(span.start.saturating_add(piece)).saturating_sub(1);
        Some(if last >= MAX_LENGTH { Range::From(span.start) } else { Range::FromTo(span.start, last) })
    };
    let Some(range) = range else { return vec![cut(&(0..MAX_LENGTH + 1)).filter(|_| piece < MAX_LENGTH)] };
    if let Some((_, layout)) = context.known.layout(stored)
        && let Ok((_, bytes)) = of_plaintext(&layout, Some(range))
    {
        return bytes.spans().first().map(|span| vec![cut(span)]).unwrap_or_default();
    }
    let header = 0..HEADER;
    let of_single = |range: ops::Range<u64>| {
        let object = context.new_object(Kind::Single).ok()?;
        Layout::unsized_single(object).plan(range, GAP)
    };
    let (bytes, is_open) = match range {
        Range::FromTo(first, last) => {
            (of_single(first..last.saturating_add(1).min(MAX_LENGTH)), last >= MAX_LENGTH - 1)
        }
        Range::From(first) => (of_single(first..first.saturating_add(1)), true),
        Range::Last(count) => {
            let last = suffix_size(count);
            return if last <= piece { vec![cut(&header), Some(Range::Last(last))] } else { vec![cut(&header)] };
        }
    };
    // The first answer shows whether a range is after the object's end.
    let mut spans = bytes.map_or_else(|| vec![header], |plan| plan.spans().to_vec());
    if let Some(last) = spans.last_mut().filter(|_| is_open) {
        last.end = MAX_LENGTH + 1;
    }
    spans.iter().map(cut).collect()
}

/// Sends the requests, and verifies the first answer. Returns `None` if the object has changed.
async fn ask(
    context: &Context,
    (name, stored): (&ObjectName, &ObjectName),
    (range, piece): (Option<Range>, u64),
    conditions: &Conditions,
    options: &ReadOptions,
) -> Result<Option<Found>, SealedError> {
    let asks = first_asks(context, stored, range, piece);
    let none = Conditions::default();
    let answers = asks.iter().enumerate().map(|(place, range)| {
        let conditions = if place == 0 { conditions } else { &none };
        context.store.get_with(stored, *range, conditions, options)
    });
    let mut answers = future::join_all(answers).await.into_iter();
    let Some(first) = answers.next() else { return Ok(None) };
    let first = match first {
        // A range after the end: the object has changed, or is too short to be sealed.
        Err(error) if error.kind == ErrorKind::Range => return outside(context, (name, stored), range).await,
        first => first?,
    };
    let (object, attributes) = attributes::verify(&context.keyring, name, &first.info)?;
    let info = first.info.clone();
    let mut arriving = vec![arrived(first, asks.first().copied().flatten())?];
    for (answer, asked) in answers.zip(asks.iter().skip(1)) {
        match answer {
            Ok(download) if download.info.tag == info.tag && download.info.size == info.size => {
                arriving.push(arrived(download, *asked)?);
            }
            Ok(_) => return Ok(None),
            // A single object has no byte there; its size decides.
            Err(error) if error.kind == ErrorKind::Range => {}
            Err(error) => return Err(error.into()),
        }
    }
    if object.kind() == Kind::Multipart && range.is_some() && arriving.len() > 1 {
        arriving.truncate(1);
    }
    Ok(Some(Found { info, object, attributes, arriving }))
}

/// An answer, which must be of the requested range.
fn arrived(download: Download, asked: Option<Range>) -> Result<Arriving, SealedError> {
    let size = download.info.size;
    let expected = asked.map_or(Some((0, size)), |range| range.of(size));
    if expected != Some(download.range) {
        return Err(StoreError::new(ErrorKind::Answer, "bytes were asked for, and others came").into());
    }
    let (first, end) = download.range;
    Ok(Arriving { first, end, bytes: download.body })
}

/// Handles an answer that the range is outside. If the known version had it, the object has
/// changed, and is requested again.
async fn outside(
    context: &Context,
    (name, stored): (&ObjectName, &ObjectName),
    range: Option<Range>,
) -> Result<Option<Found>, SealedError> {
    if range.is_some() && context.known.layout(stored).is_some() {
        context.known.forget_layout(stored);
        return Ok(None);
    }
    let info = context.store.head(stored, &Conditions::default()).await?;
    attributes::verify(&context.keyring, name, &info)?;
    Err(SealedError::from(crate::format::Fault { at: 0, problem: crate::format::Problem::Size(info.size) }))
}
