//! One request on one connection.

use super::account::Stage;
use super::answer::{Answer, Exchanged, Purpose};
use super::body::{Body, BodyError, SendProgress};
use super::deadline::{Fault, WaitsFor, Watch};
use super::error::{PoolError, Sent, in_words};
use super::shared::Lease;
use super::wire::WireView;
use http::Request;
use std::time::{Duration, Instant};

/// Sends a request, and waits for the answer's head. `queued` is its waiting time for the
/// connection.
pub(crate) async fn exchange(
    mut lease: Lease,
    request: Request<()>,
    body: &Body,
    queued: Duration,
    purpose: Purpose,
) -> Result<Answer, PoolError> {
    let shared = lease.shared.clone();
    let closed = || PoolError::Broken { sent: Sent::Nothing, is_reused: true, why: "it is closed".to_owned() };
    let connection = lease.connection().ok_or_else(closed)?;
    let view = connection.view.clone();
    let is_reused = connection.requests > 0;
    let window = shared.window(&view);
    view.limit_pacing(shared.pace(&view, body));
    let sending = body.begin();
    let progress = sending.progress();
    let (written, _) = view.begin();
    let mut exchanged = Exchanged::new(connection, &sending, window, queued, purpose);
    let mut watching = Watching { view: view.clone(), progress: progress.clone(), body, written, is_reused };
    let result = {
        let request = request.map(|()| sending);
        let answered = connection.sender.try_send_request(request);
        tokio::pin!(answered);
        let timeouts = &shared.options.timeouts;
        let mut watch = Watch::begin(Instant::now(), view.moved());
        loop {
            tokio::select! {
                answer = &mut answered => break answer.map_err(|error| watching.broken(error.error())),
                () = tokio::time::sleep(Watch::interval(timeouts)) => {
                    let fault = watch.check(Instant::now(), view.moved(), watching.waits_for(), timeouts);
                    if let Some(fault) = fault {
                        shared.counters.count(|counts| counts.stalled += 1);
                        break Err(watching.given_up(fault));
                    }
                }
            }
        }
    };
    view.sample(if progress.is_whole() {
        Stage::Waiting
    } else {
        Stage::Sending { is_starved: progress.is_starved() }
    });
    exchanged.head_is_there(&view);
    match result {
        Ok(response) => Ok(Answer::new(response, lease, exchanged, view)),
        Err(error) => {
            exchanged.finish(&shared, &view, false);
            Err(error)
        }
    }
}

struct Watching<'a> {
    view: WireView,
    progress: std::sync::Arc<SendProgress>,
    body: &'a Body,
    written: u64,
    is_reused: bool,
}

impl Watching<'_> {
    fn sent(&self) -> Sent {
        let written = self.view.counts().0 - self.written;
        if written == 0 {
            Sent::Nothing
        } else if written >= self.body.sent_len() {
            // The bytes of TLS and of the head make this only more cautious.
            Sent::All
        } else {
            Sent::Part
        }
    }

    fn waits_for(&self) -> WaitsFor {
        let info = self.view.tcp_info().unwrap_or_default();
        let outstanding = u64::from(info.notsent_bytes.unwrap_or(0))
            + u64::from(info.unacked.unwrap_or(0)) * u64::from(info.snd_mss.unwrap_or(0));
        match (self.progress.is_whole() || self.body.is_empty(), self.progress.is_starved()) {
            (true, _) if outstanding == 0 => WaitsFor::Server,
            (true, _) => WaitsFor::Path(outstanding),
            (false, true) if outstanding == 0 => WaitsFor::Us,
            (false, true) => WaitsFor::Path(outstanding),
            (false, false) => WaitsFor::Path(u64::MAX),
        }
    }

    fn broken(&mut self, error: &hyper::Error) -> PoolError {
        if let Some(error) = self.body.error().filter(|error| *error != BodyError::Superseded) {
            return PoolError::Body(error);
        }
        PoolError::Broken { sent: self.sent(), is_reused: self.is_reused, why: in_words(error) }
    }

    fn given_up(&self, fault: Fault) -> PoolError {
        match fault {
            Fault::NoAnswer(waited) => PoolError::NoAnswer { waited },
            Fault::Stalled(moved, over) => PoolError::Stalled { sent: self.sent(), moved, over },
        }
    }
}
