//! [`Requests`]: makes the planned requests, one after the other.

use crate::client::Client;
use crate::client::body::Upload;
use crate::client::exchange::Exchange;
use crate::client::failure::Failure;
use crate::client::options::Options;
use crate::client::request::Ask;
use crate::plan::{Plan, Series};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use whyslow_live::capture::Recorder;

/// A request, and what became of it.
#[derive(Debug)]
pub struct Request {
    /// The URL as typed.
    pub url: String,
    /// The size that was asked for or sent, of a series of sizes.
    pub size: Option<u64>,
    /// Whether a body was sent.
    pub is_upload: bool,
    /// Whether requests share a connection.
    pub series: Series,
    /// Whether the request should reuse the connection of an earlier one.
    pub may_reuse: bool,
    /// The pause before it, seconds.
    pub idle_s: f64,
    /// The response, or why there is none.
    pub outcome: Result<Exchange, Failure>,
}

impl Request {
    /// Why it counts as failed.
    pub fn complaint(&self) -> Option<String> {
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

/// Connections that are looked at as often as one.
const FEW_AT_ONCE: u32 = 8;
/// Samples of TCP_INFO that are kept of all requests (about 200 MB), and at least of one.
const MOST_SAMPLES: usize = 400_000;
const LEAST_SAMPLES: usize = 32;

/// Makes requests.
pub struct Requests<'a> {
    plan: &'a Plan,
    options: Options,
    /// Is shown each request when it has ended.
    observer: &'a (dyn Fn(&Request) + Sync),
}

impl<'a> Requests<'a> {
    /// The requests of a plan, whose packets go to a recorder.
    pub fn new(plan: &'a Plan, recorder: Option<Arc<Recorder>>, observer: &'a (dyn Fn(&Request) + Sync)) -> Self {
        let defaults = Options::default();
        // A thread looks at each connection: many of them would look at nothing else.
        let sample_every = defaults.sample_every * plan.concurrency.div_ceil(FEW_AT_ONCE);
        let requests = plan.repeat as usize * plan.asks.len() * plan.series.len();
        let most_samples = (MOST_SAMPLES / requests.max(1)).clamp(LEAST_SAMPLES, defaults.most_samples);
        Self { plan, options: Options { recorder, sample_every, most_samples, ..plan.options.clone() }, observer }
    }

    /// Makes all requests.
    ///
    /// # Errors
    /// When the system gives no place to make them in.
    pub fn make(self) -> anyhow::Result<Vec<Request>> {
        let mut made = Vec::new();
        for series in &self.plan.series {
            // A connection leads to one server.
            for (url, ask) in &self.plan.asks {
                made.extend(self.series(*series, url, ask)?);
            }
        }
        Ok(made)
    }

    /// Makes those of one URL, several at the same time if that is planned; in the order in which
    /// they began.
    fn series(&self, series: Series, url: &str, ask: &Ask) -> anyhow::Result<Vec<Request>> {
        let (next, until) = (AtomicU32::new(0), self.plan.over.map(|over| Instant::now() + over));
        let workers = self.plan.concurrency.min(self.plan.repeat);
        if workers <= 1 {
            return self.worker(series, url, ask, (&next, until));
        }
        let made: Vec<_> = std::thread::scope(|scope| {
            let start = |_| scope.spawn(|| self.worker(series, url, ask, (&next, until)));
            let started: Vec<_> = (0..workers).map(start).collect();
            started.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
        });
        let mut all = Vec::new();
        for made in made {
            all.extend(made.map_err(|_| anyhow::anyhow!("a thread that makes requests has failed"))??);
        }
        all.sort_by_key(|request: &Request| request.outcome.as_ref().ok().map(|exchange| exchange.began));
        Ok(all)
    }

    /// Makes requests one after the other, until their number or the time is used up.
    fn worker(
        &self,
        series: Series,
        url: &str,
        ask: &Ask,
        (next, until): (&AtomicU32, Option<Instant>),
    ) -> anyhow::Result<Vec<Request>> {
        let mut client = Client::new(self.options.clone())?;
        let mut made: Vec<Request> = Vec::new();
        while next.fetch_add(1, Ordering::Relaxed) < self.plan.repeat {
            if series == Series::New {
                client.close();
            }
            let idle = if made.is_empty() { Duration::ZERO } else { self.plan.idle };
            client.pause(idle);
            if until.is_some_and(|until| Instant::now() >= until) {
                break;
            }
            let was_answered = made.last().is_some_and(|last| last.outcome.is_ok());
            let request = Request {
                url: url.to_owned(),
                size: size(ask),
                is_upload: ask.upload.is_some(),
                series,
                may_reuse: series == Series::Reuse && was_answered,
                idle_s: idle.as_secs_f64(),
                outcome: client.request(ask),
            };
            (self.observer)(&request);
            made.push(request);
        }
        client.close();
        Ok(made)
    }
}

/// The size of a body that was asked for or is sent.
pub(crate) fn size(ask: &Ask) -> Option<u64> {
    match &ask.upload {
        Some(Upload::Bytes(size)) => Some(*size),
        _ => ask.first_bytes,
    }
}
