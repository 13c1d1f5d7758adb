//! [`Decoder`]: the content coding `aws-chunked`, a piece at a time.
//!
//! `size;chunk-signature=…⏎ bytes⏎ … 0;chunk-signature=…⏎ trailers⏎ ⏎`. Bytes are handed on before
//! the signature of their chunk arrives. So the caller must do nothing permanent before the end,
//! which only follows valid signatures.

use bytes::{Buf, Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue};
use ring::{digest, hmac};
use s3s::{S3Error, S3ErrorCode};
use subtle::ConstantTimeEq;

/// Maximum bytes of the line before a chunk: a size and a signature take 102.
const LINE: usize = 1 << 10;
/// Maximum bytes of all trailers.
const TRAILERS: usize = 16 << 10;

/// Verifies the signatures of chunks (Signature Version 4, streaming).
pub(super) struct ChunkSigner {
    key: hmac::Key,
    /// `20130524T000000Z`.
    date: String,
    /// `20130524/us-east-1/s3/aws4_request`.
    scope: String,
    previous: String,
}

impl ChunkSigner {
    /// `seed` is the signature of the header.
    pub(super) fn new(secret: &str, date: &str, scope: &str, seed: &str) -> Self {
        let key = signing_key(secret, scope);
        Self { key, date: date.to_owned(), scope: scope.to_owned(), previous: seed.to_owned() }
    }

    fn verify(&mut self, kind: &str, hashes: &str, signature: &str) -> Result<(), S3Error> {
        let text = format!("{kind}\n{}\n{}\n{}\n{hashes}", self.date, self.scope, self.previous);
        let expected = hex(hmac::sign(&self.key, text.as_bytes()).as_ref());
        if !bool::from(expected.as_bytes().ct_eq(signature.as_bytes())) {
            let message = "a chunk of the body does not have the signature that belongs to it";
            return Err(S3Error::with_message(S3ErrorCode::SignatureDoesNotMatch, message));
        }
        self.previous = expected;
        Ok(())
    }

    fn chunk(&mut self, sum: &digest::Digest, signature: &str) -> Result<(), S3Error> {
        let nothing = hex(digest::digest(&digest::SHA256, b"").as_ref());
        self.verify("AWS4-HMAC-SHA256-PAYLOAD", &format!("{nothing}\n{}", hex(sum.as_ref())), signature)
    }

    fn trailers(&mut self, lines: &str, signature: &str) -> Result<(), S3Error> {
        let sum = digest::digest(&digest::SHA256, lines.as_bytes());
        self.verify("AWS4-HMAC-SHA256-TRAILER", &hex(sum.as_ref()), signature)
    }
}

/// The key for signatures of this scope, `20130524/us-east-1/s3/aws4_request`.
pub(super) fn signing_key(secret: &str, scope: &str) -> hmac::Key {
    let mut key = format!("AWS4{secret}").into_bytes();
    for part in scope.split('/') {
        let signed = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key), part.as_bytes());
        key = signed.as_ref().to_vec();
    }
    hmac::Key::new(hmac::HMAC_SHA256, &key)
}

/// In hexadecimal, as in signatures.
pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

enum Stage {
    Line,
    Bytes {
        left: u64,
        sum: Option<Box<digest::Context>>,
        signature: String,
    },
    /// The line's end after a chunk.
    Gap,
    Trailers,
    End,
}

/// Decodes bytes.
pub(super) struct Decoder {
    stage: Stage,
    signer: Option<ChunkSigner>,
    has_trailers: bool,
    buffer: BytesMut,
    input: Bytes,
    trailers: HeaderMap,
}

impl Decoder {
    /// Without a signer, signatures are not verified.
    pub(super) fn new(signer: Option<ChunkSigner>, has_trailers: bool) -> Self {
        let (buffer, input, trailers) = (BytesMut::new(), Bytes::new(), HeaderMap::new());
        Self { stage: Stage::Line, signer, has_trailers, buffer, input, trailers }
    }

    /// Adds the next piece of the body, after [`Self::next`] has returned all of the piece before.
    pub(super) fn push(&mut self, input: Bytes) {
        self.input = input;
    }

    /// The next bytes; `None` if more must be pushed first.
    pub(super) fn next(&mut self) -> Result<Option<Bytes>, S3Error> {
        loop {
            if let Stage::Bytes { left: 0, .. } = &self.stage {
                self.end_chunk()?;
            }
            if self.input.is_empty() {
                return Ok(None);
            }
            match &mut self.stage {
                Stage::Line => {
                    if let Some(line) = self.line(LINE)? {
                        self.begin_chunk(&line)?;
                    }
                }
                Stage::Bytes { left, sum, .. } => {
                    let count = usize::try_from(*left).unwrap_or(usize::MAX).min(self.input.len());
                    let bytes = self.input.split_to(count);
                    *left -= count as u64;
                    if let Some(sum) = sum {
                        sum.update(&bytes);
                    }
                    return Ok(Some(bytes));
                }
                Stage::Gap => {
                    if let Some(line) = self.line(2)? {
                        if !line.is_empty() {
                            return Err(malformed("a chunk is longer than it says"));
                        }
                        self.stage = Stage::Line;
                    }
                }
                Stage::Trailers => {
                    if let Some(line) = self.line(TRAILERS)? {
                        self.trailer(&line)?;
                    }
                }
                Stage::End => return Err(malformed("there is something behind the last chunk")),
            }
        }
    }

    /// Called at the end of the body; returns the trailers. An end before the last chunk is an
    /// error.
    pub(super) fn finish(mut self) -> Result<HeaderMap, S3Error> {
        if let Stage::Trailers = self.stage {
            // Some clients omit the empty line at the end.
            if !self.buffer.is_empty() {
                let line = std::mem::take(&mut self.buffer).freeze();
                self.trailer(&line)?;
            }
            if let Stage::Trailers = self.stage {
                self.trailer(b"")?;
            }
        }
        match self.stage {
            Stage::End => Ok(self.trailers),
            _ => Err(S3Error::with_message(S3ErrorCode::IncompleteBody, "the body ended before its last chunk")),
        }
    }

    /// A line without its end; `None` if it is not complete.
    fn line(&mut self, most: usize) -> Result<Option<Bytes>, S3Error> {
        let end = self.input.iter().position(|&byte| byte == b'\n');
        let count = end.map_or(self.input.len(), |end| end + 1);
        if self.buffer.len() + count > most {
            return Err(malformed("a line between chunks is too long"));
        }
        self.buffer.extend_from_slice(&self.input[..count]);
        self.input.advance(count);
        if end.is_none() {
            return Ok(None);
        }
        let line = std::mem::take(&mut self.buffer).freeze();
        let line = line.strip_suffix(b"\n").map_or(line.clone(), |rest| line.slice_ref(rest));
        Ok(Some(line.strip_suffix(b"\r").map_or(line.clone(), |rest| line.slice_ref(rest))))
    }

    fn begin_chunk(&mut self, line: &[u8]) -> Result<(), S3Error> {
        let line = std::str::from_utf8(line).map_err(|_| malformed("a chunk's size cannot be read"))?;
        let (size, extension) = line.split_once(';').unwrap_or((line, ""));
        let is_hex = !size.is_empty() && size.len() <= 15 && size.bytes().all(|byte| byte.is_ascii_hexdigit());
        let size = is_hex.then(|| u64::from_str_radix(size, 16).ok()).flatten();
        let left = size.ok_or_else(|| malformed("a chunk's size cannot be read"))?;
        let signature = extension.strip_prefix("chunk-signature=").unwrap_or_default().to_owned();
        if left == 0 {
            let nothing = digest::digest(&digest::SHA256, b"");
            if let Some(signer) = &mut self.signer {
                signer.chunk(&nothing, &signature)?;
            }
            self.stage = Stage::Trailers;
            return Ok(());
        }
        let sum = self.signer.is_some().then(|| Box::new(digest::Context::new(&digest::SHA256)));
        self.stage = Stage::Bytes { left, sum, signature };
        Ok(())
    }

    fn end_chunk(&mut self) -> Result<(), S3Error> {
        let stage = std::mem::replace(&mut self.stage, Stage::Gap);
        if let (Stage::Bytes { sum: Some(sum), signature, .. }, Some(signer)) = (stage, &mut self.signer) {
            signer.chunk(&sum.finish(), &signature)?;
        }
        Ok(())
    }

    fn trailer(&mut self, line: &[u8]) -> Result<(), S3Error> {
        if line.is_empty() {
            self.stage = Stage::End;
            return self.verify_trailers();
        }
        let line = std::str::from_utf8(line).map_err(|_| malformed("a trailer cannot be read"))?;
        let (name, value) = line.split_once(':').ok_or_else(|| malformed("a trailer has no value"))?;
        let name = HeaderName::from_bytes(name.trim().as_bytes()).map_err(|_| malformed("a trailer has no name"))?;
        let value = HeaderValue::from_str(value.trim()).map_err(|_| malformed("a trailer's value cannot be read"))?;
        if self.trailers.len() >= 16 || self.trailers.insert(name, value).is_some() {
            return Err(malformed("there are too many trailers"));
        }
        Ok(())
    }

    fn verify_trailers(&mut self) -> Result<(), S3Error> {
        let signature = self.trailers.remove("x-amz-trailer-signature");
        let Some(signer) = self.signer.as_mut().filter(|_| self.has_trailers) else { return Ok(()) };
        let mut lines: Vec<String> = Vec::new();
        for (name, value) in &self.trailers {
            lines.push(format!("{name}:{}\n", value.to_str().unwrap_or_default()));
        }
        lines.sort();
        let signature = signature.as_ref().and_then(|value| value.to_str().ok()).unwrap_or_default();
        signer.trailers(&lines.concat(), signature)
    }
}

fn malformed(message: &'static str) -> S3Error {
    S3Error::with_message(S3ErrorCode::InvalidRequest, format!("aws-chunked: {message}"))
}

#[cfg(test)]
mod tests;
