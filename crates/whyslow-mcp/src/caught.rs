//! [`caught`]: a panic ends one call, and is answered; without that its client would wait for ever.

use crate::failure::Failure;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

/// The result of a call, or a failure if it panics. What calls share is whole at any time: each
/// change of it is one step under a lock.
pub(crate) async fn caught<T>(call: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let mut call = pin!(call);
    poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(context)));
        polled.unwrap_or_else(|_| Poll::Ready(Err(Failure::fault())))
    })
    .await
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use tokio::runtime::Builder;
    use tokio::task::yield_now;

    #[test]
    fn a_panic_is_a_failure() {
        let runtime = Builder::new_current_thread().build().unwrap();
        let panics = async {
            yield_now().await;
            let none: Option<u8> = std::hint::black_box(None);
            Ok(none.unwrap())
        };
        assert_eq!(runtime.block_on(caught(panics)), Err(Failure::fault()));
        assert_eq!(runtime.block_on(caught(async { Ok(7) })), Ok(7));
    }
}
