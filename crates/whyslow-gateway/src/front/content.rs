//! [`Upload`]: the bytes of an object or a part in a request, decoded, and verified before their
//! end.

use super::body::{Arrival, BodyFault, ClientBody, fail};
use super::checksums::{Checksums, Verifier};
use super::chunks::{ChunkSigner, Decoder};
use crate::format;
use crate::memory::{Memory, Permit};
use crate::pool::BodyError;
use crate::sealed::Content;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::HeaderMap;
use s3s::{S3Error, S3ErrorCode, S3Request, S3Result};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A client's upload.
pub(super) struct Upload {
    arrival: Arrival,
    pub(super) length: u64,
    decoder: Option<Decoder>,
    verifier: Verifier,
}

/// Objects up to this size are read before they are stored if their checksums follow them: this
/// size is sealed at once, so little time is lost. Larger ones are stored without checksums.
const HELD: u64 = 128 << 10;

/// The memory for such objects: an eighth of all, so that objects under way never wait for it
/// alone.
#[derive(Clone)]
pub(super) struct Holding {
    memory: Memory,
    turns: Arc<Semaphore>,
}

impl Holding {
    pub(super) fn new(memory: Memory) -> Self {
        let turns = usize::try_from(memory.capacity() / 8 / HELD).unwrap_or(0).clamp(1, 1024);
        Self { memory, turns: Arc::new(Semaphore::new(turns)) }
    }

    fn take(&self, length: u64) -> Option<(Permit, OwnedSemaphorePermit)> {
        let turn = Arc::clone(&self.turns).try_acquire_owned().ok().filter(|_| length <= HELD)?;
        Some((self.memory.try_acquire(length)?, turn))
    }
}

/// The checksums of an upload, once it has ended.
#[derive(Clone, Default)]
pub(super) struct Verified(Arc<Mutex<Checksums>>);

impl Verified {
    pub(super) fn get(&self) -> Checksums {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Upload {
    /// Takes the body of a request. A second call returns an empty one.
    pub(super) fn take<T>(request: &S3Request<T>, largest: u64) -> S3Result<Self> {
        let body = request.extensions.get::<ClientBody>().and_then(ClientBody::take);
        let arrival = body.ok_or_else(|| S3Error::with_message(S3ErrorCode::IncompleteBody, "there is no body"))?;
        let headers = &request.headers;
        let coding = field(headers, "x-amz-content-sha256").filter(|value| value.starts_with("STREAMING-"));
        let (length_field, decoder) = match coding {
            Some(coding) => ("x-amz-decoded-content-length", Some(decoder(request, coding)?)),
            None => ("content-length", None),
        };
        let length = field(headers, length_field).and_then(|value| value.parse().ok()).ok_or_else(|| {
            S3Error::with_message(S3ErrorCode::MissingContentLength, format!("the request has no {length_field}"))
        })?;
        if length > largest {
            let message = format!("{length} bytes are more than this endpoint takes at once, which is {largest}");
            return Err(S3Error::with_message(S3ErrorCode::EntityTooLarge, message));
        }
        if headers.contains_key("x-amz-sdk-checksum-algorithm")
            && !headers.contains_key("x-amz-trailer")
            && !headers.keys().any(|name| name.as_str().starts_with("x-amz-checksum-"))
        {
            let message = "x-amz-sdk-checksum-algorithm comes without a checksum";
            return Err(S3Error::with_message(S3ErrorCode::InvalidRequest, message));
        }
        Ok(Self { arrival, length, decoder, verifier: Verifier::of(headers)? })
    }

    /// Also computes S3's default checksum if the client sent none.
    pub(super) fn with_default_checksum(mut self) -> Self {
        self.verifier = self.verifier.or_default();
        self
    }

    /// The same, with the checksums to store with the object, if they are known in time.
    pub(super) async fn content_and_checksums(
        self,
        holding: &Holding,
    ) -> Result<(Content, Verified, format::Checksums), BodyFault> {
        let (stated, held) = (self.verifier.stated(), holding.take(self.length));
        let (mut content, verified) = self.content().await?;
        let (None, Some((permit, turn))) = (&stated, held) else {
            return Ok((content, verified, stated.unwrap_or_default()));
        };
        let mut all = Vec::with_capacity(usize::try_from(content.length).unwrap_or(0));
        while let Some(bytes) = content.bytes.next().await {
            all.extend_from_slice(&bytes.map_err(|_| BodyFault)?);
        }
        let bytes = permit.hold(all);
        let bytes = stream::once(async move {
            drop(turn);
            Ok(bytes)
        });
        let sums = verified.get().to_store();
        Ok((Content { length: content.length, bytes: bytes.boxed() }, verified, sums))
    }

    /// The bytes, and the place of their checksums. Sends 100 to a client that waits for it.
    pub(super) async fn content(mut self) -> Result<(Content, Verified), BodyFault> {
        self.arrival.invite().await?;
        let (verified, length) = (Verified::default(), self.length);
        let flow = Flow { upload: self, came: 0, verified: verified.clone(), is_over: false };
        let bytes = stream::unfold(flow, |mut flow| async move {
            let found = flow.next().await?;
            Some((found.map_err(|fault| BodyError::Source(fault.to_string())), flow))
        });
        Ok((Content { length, bytes: bytes.boxed() }, verified))
    }
}

fn field<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn decoder<T>(request: &S3Request<T>, coding: &str) -> S3Result<Decoder> {
    let has_trailers = coding.ends_with("-TRAILER");
    let signer = match &request.credentials {
        Some(credentials) if coding.starts_with("STREAMING-AWS4-HMAC-SHA256-PAYLOAD") => {
            let headers = &request.headers;
            let missing = || S3Error::with_message(S3ErrorCode::SignatureDoesNotMatch, "the signature is incomplete");
            let authorization = field(headers, "authorization").ok_or_else(missing)?;
            let part = |name: &str| authorization.split([' ', ',']).find_map(|part| part.strip_prefix(name));
            let (_, scope) = part("Credential=").and_then(|value| value.split_once('/')).ok_or_else(missing)?;
            let seed = part("Signature=").ok_or_else(missing)?;
            let date = field(headers, "x-amz-date").ok_or_else(missing)?;
            Some(ChunkSigner::new(credentials.secret_key.expose(), date, scope, seed))
        }
        _ => None,
    };
    Ok(Decoder::new(signer, has_trailers))
}

/// An upload while its bytes are taken.
struct Flow {
    upload: Upload,
    came: u64,
    verified: Verified,
    is_over: bool,
}

impl Flow {
    async fn next(&mut self) -> Option<Result<Bytes, BodyFault>> {
        if self.is_over {
            return None;
        }
        let found = self.step().await.transpose();
        self.is_over = !matches!(found, Some(Ok(_)));
        found
    }

    async fn step(&mut self) -> Result<Option<Bytes>, BodyFault> {
        let checked = match self.piece().await? {
            Some(bytes) => self.check(bytes).map(Some),
            None => self.finish().map(|()| None),
        };
        checked.map_err(|error| fail(self.upload.arrival.call(), &error))
    }

    /// The next bytes of the object.
    async fn piece(&mut self) -> Result<Option<Bytes>, BodyFault> {
        let Upload { arrival, decoder, .. } = &mut self.upload;
        loop {
            if let Some(decoder) = decoder {
                match decoder.next() {
                    Ok(None) => {}
                    Ok(Some(bytes)) => return Ok(Some(bytes)),
                    Err(error) => return Err(fail(arrival.call(), &error)),
                }
            }
            let Some(bytes) = arrival.next().await.transpose()? else { return Ok(None) };
            match decoder {
                Some(decoder) => decoder.push(bytes),
                None if bytes.is_empty() => {}
                None => return Ok(Some(bytes)),
            }
        }
    }

    fn check(&mut self, bytes: Bytes) -> S3Result<Bytes> {
        self.came = self.came.saturating_add(bytes.len() as u64);
        if self.came > self.upload.length {
            return Err(self.wrong_length());
        }
        self.upload.verifier.update(&bytes);
        Ok(bytes)
    }

    fn finish(&mut self) -> S3Result<()> {
        let trailers = self.upload.decoder.take().map(Decoder::finish).transpose()?.unwrap_or_default();
        if self.came < self.upload.length {
            return Err(self.wrong_length());
        }
        let sums = std::mem::take(&mut self.upload.verifier).finish(&trailers)?;
        *self.verified.0.lock().unwrap_or_else(PoisonError::into_inner) = sums;
        Ok(())
    }

    fn wrong_length(&self) -> S3Error {
        let (announced, came) = (self.upload.length, self.came);
        let message = format!("{announced} bytes were announced, and {came} came");
        S3Error::with_message(S3ErrorCode::IncompleteBody, message)
    }
}
