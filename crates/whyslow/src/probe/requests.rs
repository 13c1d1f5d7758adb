//! [`Requests`]: makes what is planned, one after the other.

use super::args::{Plan, Series};
use std::sync::Arc;
use whyslow_live::capture::Recorder;
use whyslow_live::{Ask, Client, Exchange, Failure, Options, Upload};

/// A request, and what became of it.
#[derive(Debug)]
pub(crate) struct Request {
    /// As it was typed.
    pub url: String,
    /// The size that was asked for or sent, of a series of sizes.
    pub size: Option<u64>,
    pub is_upload: bool,
    pub series: Series,
    /// Whether it was to be made on the connection of an earlier request.
    pub may_reuse: bool,
    /// The pause before it, seconds.
    pub idle_s: f64,
    pub outcome: Result<Exchange, Failure>,
}

impl Request {
    /// Why it counts as failed.
    pub(super) fn complaint(&self) -> Option<String> {
        match &self.outcome {
            Err(failure) => Some(format!("{}: {failure}", self.url)),
            Ok(exchange) if exchange.last().status >= 400 => {
                let hop = exchange.last();
                let look_at = match hop.status {
                    404 => "the path",
                    401 | 403 | 407 => "who may ask for it: --header 'Authorization: …', user:password@ in the URL",
                    429 => "how often this host may ask",
                    400..=499 => "the request: --method, --header",
                    502..=504 => "the servers behind this one",
                    _ => "the server's log",
                };
                let took = hop.times.starttransfer.as_secs_f64();
                Some(format!("{}: answered {} after {took:.3} s\n  look at: {look_at}", self.url, hop.status))
            }
            Ok(_) => None,
        }
    }
}

/// Makes requests.
pub(super) struct Requests<'a> {
    plan: &'a Plan,
    options: Options,
}

impl<'a> Requests<'a> {
    pub(super) fn new(plan: &'a Plan, recorder: Option<Arc<Recorder>>) -> Self {
        Self { plan, options: Options { recorder, ..plan.options.clone() } }
    }

    /// Makes all of them.
    ///
    /// # Errors
    /// When the system gives no place to make them in.
    pub(super) fn make(self) -> anyhow::Result<Vec<Request>> {
        let mut made = Vec::new();
        for series in &self.plan.series {
            // A connection leads to one server.
            for (url, ask) in &self.plan.asks {
                let mut client = Client::new(self.options.clone())?;
                for turn in 0..self.plan.repeat {
                    if *series == Series::New {
                        client.close();
                    }
                    let idle = if turn > 0 { self.plan.idle } else { std::time::Duration::ZERO };
                    client.pause(idle);
                    let was_answered = made.last().is_some_and(|last: &Request| last.outcome.is_ok());
                    made.push(Request {
                        url: url.clone(),
                        size: size(ask),
                        is_upload: ask.upload.is_some(),
                        series: *series,
                        may_reuse: *series == Series::Reuse && turn > 0 && was_answered,
                        idle_s: idle.as_secs_f64(),
                        outcome: client.request(ask),
                    });
                }
                client.close();
            }
        }
        Ok(made)
    }
}

fn size(ask: &Ask) -> Option<u64> {
    match &ask.upload {
        Some(Upload::Bytes(size)) => Some(*size),
        _ => ask.first_bytes,
    }
}
