//! Requests again and again, at fixed times, each handed over and forgotten.

use crate::client::Client;
use crate::plan::{Plan, Series};
use crate::requests::{Request, size};
use std::time::{Duration, Instant};

/// How often a wait looks whether it is to end.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How a monitor runs.
pub struct Schedule<'a> {
    /// The time between the beginnings of two rounds. A round makes each request once.
    pub every: Duration,
    /// Whether it is to end.
    pub is_over: &'a dyn Fn() -> bool,
}

/// Makes the requests of `plan` in rounds, as many as it repeats or until its time is over. Returns
/// how many rounds were left out because the one before took too long.
///
/// A connection that is to be reused is kept from round to round; packets are not recorded.
///
/// # Errors
/// Returns an error if the system refuses a resource, and the first error of `each`.
pub fn monitor(
    plan: &Plan,
    schedule: &Schedule<'_>,
    each: &mut dyn FnMut(&Request) -> anyhow::Result<()>,
) -> anyhow::Result<u64> {
    let mut clients = Vec::new();
    for series in &plan.series {
        for (url, ask) in &plan.asks {
            clients.push((*series, url, ask, Client::new(plan.options.clone())?, false));
        }
    }
    let began = Instant::now();
    let is_over = || (schedule.is_over)() || plan.over.is_some_and(|over| began.elapsed() >= over);
    let (mut left_out, mut round, mut slot) = (0, 0, 0);
    while round < plan.repeat && !is_over() {
        for (series, url, ask, client, was_answered) in &mut clients {
            if is_over() {
                return Ok(left_out);
            }
            if *series == Series::New {
                client.close();
            }
            let outcome = client.request(ask);
            let may_reuse = *series == Series::Reuse && *was_answered;
            *was_answered = outcome.is_ok();
            each(&Request {
                url: (*url).clone(),
                size: size(ask),
                is_upload: ask.upload.is_some(),
                series: *series,
                may_reuse,
                idle_s: if round == 0 { 0.0 } else { schedule.every.as_secs_f64() },
                outcome,
            })?;
        }
        round += 1;
        if round == plan.repeat {
            break;
        }
        let next = next_slot(slot, began.elapsed(), schedule.every);
        left_out += next - slot - 1;
        slot = next;
        let begins = Duration::from_secs_f64(schedule.every.as_secs_f64() * slot as f64);
        while began.elapsed() < begins && !is_over() {
            std::thread::sleep(LOOK_EVERY.min(begins.saturating_sub(began.elapsed())));
        }
    }
    Ok(left_out)
}

/// The slot of the next round: the first one after `slot` that is not over. Rounds keep to the same
/// times however long one of them takes.
fn next_slot(slot: u64, elapsed: Duration, every: Duration) -> u64 {
    let due = (elapsed.as_secs_f64() / every.as_secs_f64().max(1e-3)).ceil();
    (due as u64).max(slot + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_that_takes_too_long_leaves_others_out() {
        let every = Duration::from_secs(10);
        assert_eq!(next_slot(0, Duration::from_millis(200), every), 1);
        assert_eq!(next_slot(1, Duration::from_secs(10), every), 2);
        // It ended in the third slot's time: that one has begun, the fourth is next.
        assert_eq!(next_slot(1, Duration::from_secs(35), every), 4);
    }
}
