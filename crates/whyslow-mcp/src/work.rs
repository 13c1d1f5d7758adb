//! Work that takes long, on a thread of its own: its progress is reported, and it ends when the
//! client cancels the request or is gone.

use crate::failure::Failure;
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::{Interval, MissedTickBehavior, interval};
use whyslow_io::{Progress, Stop};

/// Time between two notifications of progress: a person notices no more.
const TICK: Duration = Duration::from_millis(250);

/// Requests that the work stops when the request is dropped.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Does work that reads captures, and reports its progress if the client asked for it.
///
/// # Errors
/// When the request was cancelled, or the work panicked.
pub(crate) async fn run<T: Send + 'static>(
    context: &RequestContext<RoleServer>,
    work: impl FnOnce(&Stop, &mut dyn FnMut(Progress)) -> T + Send + 'static,
) -> Result<T, Failure> {
    let stop = Stop::default();
    let _stops = StopOnDrop(stop.flag());
    let (sender, mut latest) = watch::channel(None);
    let mut task = spawn_blocking(move || {
        work(&stop, &mut |progress| {
            sender.send_replace(Some(progress));
        })
    });
    let token = context.meta.get_progress_token();
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut shown = 0;
    loop {
        tokio::select! {
            done = &mut task => return done.map_err(|_| Failure::fault()),
            () = context.ct.cancelled() => return Err(cancelled()),
            () = next(&mut ticks, &mut latest), if token.is_some() => {
                let progress = *latest.borrow_and_update();
                if let (Some(token), Some(progress)) = (&token, progress.filter(|progress| progress.read > shown)) {
                    shown = progress.read;
                    report(&context.peer, token.clone(), progress).await;
                }
            }
        }
    }
}

/// Waits for a tick, and then for progress: the first one is reported as soon as it is made.
async fn next(ticks: &mut Interval, latest: &mut watch::Receiver<Option<Progress>>) {
    ticks.tick().await;
    if latest.changed().await.is_err() {
        // The work is done.
        std::future::pending::<()>().await;
    }
}

/// It is not read: the protocol has no response to a cancelled request.
pub(crate) fn cancelled() -> Failure {
    Failure::new("the request was cancelled", "call the tool again")
}

async fn report(peer: &Peer<RoleServer>, token: ProgressToken, progress: Progress) {
    let mut notification = ProgressNotificationParam::new(token, progress.read as f64);
    notification.total = progress.total.map(|total| total as f64);
    notification.message = Some("bytes of captures read".to_owned());
    // A client that is gone ends the request otherwise.
    let _ = peer.notify_progress(notification).await;
}
