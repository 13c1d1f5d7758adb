//! Idle connections that the server closes: before the next request, and under it.

use crate::faulty::{Act, Faulty, ok};
use crate::{body, no_close_wait, pattern, pool, until};
use http::Request;
use std::time::Duration;
use whyslow_gateway::pool::{Pool, PoolError, Safety, Sent};

const LONG: Duration = Duration::from_secs(60);

async fn put(pool: &Pool, bytes: usize, safety: Safety) -> Result<usize, PoolError> {
    let request = Request::put("/b/k").header("content-length", bytes).body(()).unwrap();
    let mut answer = pool.send(request, &body(bytes), safety).await?;
    Ok(answer.read(1000).await?.len())
}

#[tokio::test]
async fn a_fin_retires_an_idle_connection_and_teaches() {
    let limit = Duration::from_millis(700);
    let server = Faulty::start(limit, |_, _| Act::Answer(ok(""))).await;
    let pool = pool(&server);
    put(&pool, 10, Safety::Once).await.unwrap();
    assert_eq!(pool.connections(), (1, 1));
    until("the connection is retired", || pool.connections() == (0, 0)).await;
    no_close_wait(&server).await;
    assert_eq!(pool.counts().closed_idle, 1);
    assert!(pool.idle_limit().unwrap() >= limit - Duration::from_millis(50), "{:?}", pool.idle_limit());
    put(&pool, 10, Safety::Once).await.unwrap();
    assert_eq!((pool.counts().opened, pool.counts().replayed), (2, 0));
}

/// The second request on a connection finds it closing.
fn closes_under_the_second(act: Act) -> impl Fn(usize, &crate::faulty::Asked) -> Act {
    move |n, _| if n == 1 { act.clone() } else { Act::Answer(ok("")) }
}

#[tokio::test]
async fn a_request_that_meets_a_closing_connection_goes_to_another() {
    let server = Faulty::start(LONG, closes_under_the_second(Act::Vanish)).await;
    let pool = pool(&server);
    put(&pool, 10, Safety::Idempotent).await.unwrap();
    put(&pool, 20_000, Safety::Idempotent).await.unwrap();
    let asked = server.asked();
    assert_eq!(asked.len(), 3);
    assert!(asked[1].body == pattern(20_000) && asked[2].body == pattern(20_000), "the same bytes");
    assert_eq!((asked[2].connection, pool.counts().replayed), (1, 1));
    no_close_wait(&server).await;
}

#[tokio::test]
async fn what_the_server_may_have_done_is_not_asked_again() {
    let server = Faulty::start(LONG, closes_under_the_second(Act::Vanish)).await;
    let pool = pool(&server);
    put(&pool, 10, Safety::Once).await.unwrap();
    let error = put(&pool, 20_000, Safety::Once).await.unwrap_err();
    assert!(matches!(error, PoolError::Broken { sent: Sent::All, is_reused: true, .. }), "{error}");
    assert_eq!(server.asked().len(), 2);
}

#[tokio::test]
async fn what_was_not_sent_whole_is_asked_again_in_any_case() {
    let server = Faulty::start(LONG, closes_under_the_second(Act::Reset(1000))).await;
    let pool = pool(&server);
    put(&pool, 10, Safety::Once).await.unwrap();
    put(&pool, 64 << 20, Safety::Once).await.unwrap();
    assert_eq!((server.asked().len(), pool.counts().replayed), (3, 1));
    no_close_wait(&server).await;
}

#[tokio::test]
async fn a_connection_is_used_again_and_recorded_so() {
    let server = Faulty::start(LONG, |_, _| Act::Answer(ok("abc"))).await;
    let pool = pool(&server);
    for _ in 0..3 {
        assert_eq!(put(&pool, 10, Safety::Once).await.unwrap(), 3);
    }
    let recent = pool.recent();
    assert_eq!(recent.iter().map(|transfer| transfer.is_reused).collect::<Vec<_>>(), [false, true, true]);
    assert_eq!(server.connections().0, 1);
    for transfer in recent {
        assert!(transfer.is_whole && transfer.sent == 10 && transfer.received == 3, "{transfer:?}");
        assert!(transfer.window_at_start.unwrap() >= 10 * 500 && transfer.rtt.is_some(), "{transfer:?}");
        let first = transfer.phases;
        assert_eq!(first.connect.is_zero(), transfer.is_reused, "{transfer:?}");
    }
}
