//! Opens stored bytes as they arrive, and returns verified plaintext.

use super::error::{SealedError, SealedErrorKind};
use super::types::FoundFault;
use crate::format::{Fault, Layout, Plan, Reader};
use crate::keys::Keyring;
use crate::memory::{Memory, Permit};
use crate::pool::{BodyError, ByteStream};
use crate::store::HeldStream;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// Stored bytes that are opened at once.
const STEP: usize = 64 << 10;

/// An answer that is there: bytes of the stored object from `first` to before `end`.
pub(super) struct Arriving {
    pub first: u64,
    pub end: u64,
    pub bytes: ByteStream,
}

/// The source of a part of the plan's bytes.
enum From {
    /// An answer that is there, of this place in the list.
    Arriving(usize, Range<u64>),
    /// The bytes to request.
    Rest(Range<u64>),
}

/// The plan's spans, in order: from answers that are there, and the rest of them by `read_rest`,
/// which is called once.
pub(super) fn gather(
    spans: &[Range<u64>],
    arriving: Vec<Arriving>,
    mut reserve: Option<Permit>,
    memory: &Memory,
    read_rest: impl FnOnce(&[Range<u64>]) -> HeldStream,
) -> HeldStream {
    let mut stretches = VecDeque::new();
    // Memory is waited for with nothing in hand: an answer behind something to be asked for does
    // not count.
    let (mut is_rest, mut of_answers) = (false, 0);
    for span in spans {
        let mut at = span.start;
        while at < span.end {
            let covering = arriving.iter().position(|answer| !is_rest && answer.first <= at && at < answer.end);
            is_rest |= covering.is_none();
            let stretch = at..covering.map_or(span.end, |place| span.end.min(arriving[place].end));
            of_answers += if is_rest { 0 } else { stretch.end - stretch.start };
            at = stretch.end;
            stretches.push_back(covering.map_or(From::Rest(stretch.clone()), |place| From::Arriving(place, stretch)));
        }
    }
    if let Some(reserve) = &mut reserve {
        reserve.shrink(of_answers);
    }
    let rest: Vec<_> = stretches
        .iter()
        .filter_map(|stretch| match stretch {
            From::Rest(range) => Some(range.clone()),
            From::Arriving(..) => None,
        })
        .collect();
    let gathering =
        Gathering { stretches, arriving, rest: read_rest(&rest), over: None, reserve, memory: memory.clone() };
    stream::try_unfold(gathering, Gathering::next).boxed()
}

struct Gathering {
    stretches: VecDeque<From>,
    arriving: Vec<Arriving>,
    rest: HeldStream,
    /// Bytes of the rest, beyond a stretch.
    over: Option<(Bytes, Permit)>,
    /// Memory for answers that are there, while pieces of the rest are held as well.
    reserve: Option<Permit>,
    memory: Memory,
}

impl Gathering {
    async fn next(mut self) -> Result<Option<((Bytes, Permit), Self)>, BodyError> {
        loop {
            let Some(stretch) = self.stretches.front_mut() else { return Ok(None) };
            let (range, item) = match stretch {
                From::Arriving(place, range) => {
                    let answer = &mut self.arriving[*place];
                    let Some(chunk) = answer.chunk(range).await? else { continue };
                    // Taken while nothing but the reserve is held.
                    let permit = match self.reserve.as_mut().map(|reserve| reserve.split(chunk.len() as u64)) {
                        Some(permit) if permit.bytes() == chunk.len() as u64 => permit,
                        _ => self.memory.acquire(chunk.len() as u64).await,
                    };
                    (range, (chunk, permit))
                }
                From::Rest(range) => {
                    let item = match self.over.take() {
                        Some(item) => Some(Ok(item)),
                        None => self.rest.next().await,
                    };
                    let too_few = || BodyError::Length { announced: range.end, got: range.start };
                    let (mut chunk, mut permit) = item.ok_or_else(too_few)??;
                    let left = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
                    if chunk.len() > left {
                        let over = chunk.split_off(left);
                        let of_over = permit.split(over.len() as u64);
                        self.over = Some((over, of_over));
                    }
                    (range, (chunk, permit))
                }
            };
            range.start += item.0.len() as u64;
            if range.is_empty() {
                self.stretches.pop_front();
            }
            return Ok(Some((item, self)));
        }
    }
}

impl Arriving {
    /// The next bytes of a range, which begins where this answer is or behind; `None` if the bytes
    /// that came lie before it.
    async fn chunk(&mut self, range: &Range<u64>) -> Result<Option<Bytes>, BodyError> {
        let too_few = BodyError::Length { announced: self.end, got: self.first };
        let mut chunk = self.bytes.next().await.ok_or(too_few)??;
        let before = usize::try_from(range.start.saturating_sub(self.first)).unwrap_or(usize::MAX).min(chunk.len());
        self.first += chunk.len() as u64;
        drop(chunk.split_to(before));
        let left = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        if chunk.len() > left {
            // Another stretch may begin there.
            let over = chunk.split_off(left);
            self.first -= over.len() as u64;
            let bytes = std::mem::replace(&mut self.bytes, stream::empty().boxed());
            self.bytes = stream::iter([Ok(over)]).chain(bytes).boxed();
        }
        Ok((!chunk.is_empty()).then_some(chunk))
    }
}

/// Opens the bytes of a plan. What is handed out holds the memory that its stored form took. Of an
/// incomplete chunk it is held meanwhile: of all places together a sixteenth of the bound, so that
/// there is always some to go on with.
pub(super) fn open(
    keyring: Arc<Keyring>,
    (layout, plan): (Arc<Layout>, Plan),
    stored: HeldStream,
    place: Permit,
) -> Begun {
    let (reader, fault) = (Reader::new(keyring, layout, plan), FoundFault::default());
    let opening = Opening { reader, stored, item: Bytes::new(), taken: None, fault: fault.clone(), _place: place };
    Begun { bytes: stream::try_unfold(opening, Opening::next).boxed(), fault }
}

/// Plaintext of which nothing was taken.
pub(super) struct Begun {
    bytes: ByteStream,
    pub fault: FoundFault,
}

impl Begun {
    /// Waits for the first bytes, so that a fault in them, or in the header, is an error instead of
    /// an answer that ends at once.
    pub(super) async fn first(mut self) -> Result<ByteStream, SealedError> {
        match self.bytes.next().await {
            Some(Ok(first)) => Ok(stream::iter([Ok(first)]).chain(self.bytes).boxed()),
            None => Ok(stream::empty().boxed()),
            Some(Err(error)) => Err(match self.fault.get() {
                Some(fault) => fault.into(),
                None => SealedError::new(SealedErrorKind::Unavailable, error.to_string()),
            }),
        }
    }
}

struct Opening {
    reader: Reader,
    stored: HeldStream,
    /// Received bytes that are not opened.
    item: Bytes,
    /// Memory of that, and of the chunk that is incomplete.
    taken: Option<Permit>,
    /// Why it ended, for [`Begun::first`].
    fault: FoundFault,
    _place: Permit,
}

impl Opening {
    async fn next(mut self) -> Result<Option<(Bytes, Self)>, BodyError> {
        loop {
            if self.item.is_empty() {
                match self.stored.next().await {
                    Some(item) => self.take(item?),
                    None => {
                        self.reader.finish().map_err(|fault| failed(&self.fault, fault))?;
                        return Ok(None);
                    }
                }
            }
            let step = self.item.split_to(self.item.len().min(STEP));
            let mut out = Vec::new();
            let read = self.reader.read(&step, &mut out);
            drop(step);
            // Verified bytes are handed out before a fault, which comes at the next call.
            if out.is_empty() {
                read.map_err(|fault| failed(&self.fault, fault))?;
                continue;
            }
            if out.len() < out.capacity() / 2 {
                out.shrink_to_fit();
            }
            let bytes = match &mut self.taken {
                Some(taken) => taken.split(out.len() as u64).hold(out),
                None => Bytes::from(out),
            };
            return Ok(Some((bytes, self)));
        }
    }

    /// Bytes of earlier calls belong to an incomplete chunk, or to none.
    fn take(&mut self, (item, permit): (Bytes, Permit)) {
        let mut taken = permit;
        if let Some(mut left) = self.taken.take() {
            left.shrink(STEP as u64);
            taken.merge(left);
        }
        (self.item, self.taken) = (item, Some(taken));
    }
}

fn failed(noted: &FoundFault, fault: Fault) -> BodyError {
    noted.set(fault);
    BodyError::Source(fault.to_string())
}
