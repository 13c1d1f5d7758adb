//! An object's bytes as they come, and the rest of them when a connection breaks on the way.

use super::client::Client;
use super::fields;
use super::request::Ask;
use crate::pool::{Answer, Body, BodyError, ByteStream, Safety};
use crate::store::ReadOptions;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::header::{IF_MATCH, RANGE};
use std::sync::Arc;

/// Attempts to get the rest without a byte in between.
const ATTEMPTS: u32 = 4;

/// The part that is left to read.
pub(super) struct Rest {
    pub client: Arc<Client>,
    /// Without its range.
    pub ask: Ask,
    pub options: ReadOptions,
    /// The tag that the object must still have.
    pub tag: String,
    /// The next byte, and the one behind the last.
    pub next: u64,
    pub end: u64,
}

/// Begins with an answer that is there.
pub(super) fn stream_of(answer: Answer, rest: Rest) -> ByteStream {
    let state = State { answer: Some(answer), rest, failures: 0 };
    stream::try_unfold(state, State::next).boxed()
}

struct State {
    answer: Option<Answer>,
    rest: Rest,
    failures: u32,
}

impl State {
    async fn next(mut self) -> Result<Option<(Bytes, Self)>, BodyError> {
        loop {
            let answer = match &mut self.answer {
                Some(answer) => answer,
                None => self.answer.insert(self.rest.ask_again().await?),
            };
            match answer.chunk().await {
                Some(Ok(chunk)) => {
                    self.rest.next += chunk.len() as u64;
                    self.failures = 0;
                    return Ok(Some((chunk, self)));
                }
                None if self.rest.next == self.rest.end => return Ok(None),
                None => {
                    let (announced, got) = (self.rest.end, self.rest.next);
                    return Err(BodyError::Length { announced, got });
                }
                Some(Err(error)) => {
                    self.failures += 1;
                    self.answer = None;
                    if self.rest.next == self.rest.end {
                        return Ok(None);
                    }
                    if self.failures == ATTEMPTS {
                        return Err(BodyError::Source(error.to_string()));
                    }
                }
            }
        }
    }
}

impl Rest {
    /// Bytes that have arrived are not sent again, and another object's bytes never follow.
    async fn ask_again(&self) -> Result<Answer, BodyError> {
        let failed = |why: String| BodyError::Source(why);
        let range = format!("bytes={}-{}", self.next, self.end - 1);
        let ask = self.ask.clone().header(RANGE, range).header(IF_MATCH, self.tag.as_str());
        let answer = self.client.send(&ask, &Body::empty(), Safety::Idempotent).await;
        let answer = answer.map_err(|error| failed(error.to_string()))?;
        match fields::content_range(answer.headers()) {
            Some((first, end, _)) if (first, end) == (self.next, self.end) => {
                Ok(answer.one_of(&self.options.transfers))
            }
            _ => Err(failed("the rest of the object was asked for, and something else came".to_owned())),
        }
    }
}
