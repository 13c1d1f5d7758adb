//! A route gives connections a smaller initial window than they would have.
//!
//! ## What it is
//! A new connection begins with ten segments (RFC 6928). A route may set another number
//! (`initcwnd`), and `initrwnd` for the other direction; fewer cost round trips at the beginning of
//! each transfer.
//!
//! ## How it is recognised
//! A route with an `initcwnd` below ten, used by a live connection whose round trip makes it cost
//! 50 ms or more for 1 MB, by the model of `whyslow predict`. For an `initrwnd` below ten a live
//! connection must have received more than that window; the window grows no faster than the
//! sender's, so the same model applies. The usual ten segments are not reported: how many more a
//! path can carry at once is unknown here.
//!
//! ## What it is confused with
//! - `restart-after-idle`: a connection that is open, and starts over.
//!
//! ## The fix
//! Take `initcwnd`, or `initrwnd`, out of the route.
//!
//! ## To see that it worked
//! `ip route show` names no `initcwnd` and no `initrwnd`; `ss -tin` shows `cwnd:10` for a new
//! connection.
//!
//! ## References
//! RFC 6928; ip-route(8).

use crate::finding::{
    Extent, Finding, HostAction, HostCheck, HostStatement, Place, Since, Takes, Who, figure, fix, text,
};
use crate::snapshot::{Live, Snapshot};
use whyslow_analysis::Unit;
use whyslow_analysis::cause::Cause;
use whyslow_live::host::Route;
use whyslow_model::plan::Plan;
use whyslow_units::Nanos;

/// RFC 6928, segments.
const USUAL: u32 = 10;
/// Minimum cost, seconds.
const WORTH_S: f64 = 0.05;
/// The transfer that is played, bytes.
const BYTES: u64 = 1_000_000;

/// A route's setting for the beginning of a connection.
struct Metric {
    name: &'static str,
    /// Segments.
    get: fn(&Route) -> Option<u32>,
    /// Whether a connection shows that its transfers are limited by a window of this many segments.
    meets: fn(&Live<'_>, u32) -> bool,
    /// Whether it limits outgoing data; otherwise incoming data.
    outgoing: bool,
}

const METRICS: [Metric; 2] = [
    Metric { name: "initcwnd", get: |route| route.initcwnd, meets: |_, _| true, outgoing: true },
    Metric { name: "initrwnd", get: |route| route.initrwnd, meets: received_more, outgoing: false },
];

pub(super) fn check(snapshot: Snapshot<'_>) -> Vec<Finding> {
    let routes = snapshot.namespace.routes.iter().enumerate();
    let set = routes.flat_map(|route| METRICS.iter().map(move |metric| (route, metric)));
    set.filter_map(|((place, route), metric)| report(snapshot, place, route, metric)).collect()
}

/// More came than the first window holds, so that the sender had to wait for the next one.
fn received_more(live: &Live<'_>, segments: u32) -> bool {
    let window = live.info.rcv_mss.map(|mss| u64::from(mss) * u64::from(segments));
    window.zip(live.info.bytes_received).is_some_and(|(window, received)| received > window)
}

/// The route for `ip route change`, without one metric; `None` if a word of it may have a meaning
/// to a shell.
fn without(route: &Route, metric: &Metric) -> Option<String> {
    let words: Vec<&str> = route.text.split_whitespace().collect();
    let at = words.iter().position(|word| *word == metric.name)?;
    let rest: Vec<&str> =
        words.iter().enumerate().filter(|(index, _)| *index != at && *index != at + 1).map(|(_, word)| *word).collect();
    let is_harmless = rest.iter().all(|word| word.chars().all(|c| c.is_ascii_alphanumeric() || ".:/-_".contains(c)));
    is_harmless.then(|| rest.join(" "))
}

fn report(snapshot: Snapshot<'_>, place: usize, route: &Route, metric: &Metric) -> Option<Finding> {
    let initial = (metric.get)(route).filter(|&initial| initial < USUAL && initial > 0)?;
    let rtt = |live: &Live<'_>| live.min_rtt().or(live.rtt());
    let lives = snapshot.live().filter(|live| live.socket.route == Some(place) && (metric.meets)(live, initial));
    let farthest = lives.max_by(|a, b| rtt(a).unwrap_or(0.0).total_cmp(&rtt(b).unwrap_or(0.0)))?;
    let time = rtt(&farthest)?;
    let takes = |segments: u32| {
        let plan = Plan { initial_window: segments.into(), ..Plan::new(BYTES, Nanos::from_secs_f64(time)) };
        plan.forecast().total.as_secs_f64()
    };
    let (with, usual) = (takes(initial), takes(USUAL));
    let costs = with - usual;
    if costs < WORTH_S {
        return None;
    }
    let ip = if farthest.peer().is_ipv6() { "ip -6" } else { "ip" };
    let statement = HostStatement::SmallFirstWindow {
        route: route.to.clone(),
        segments: initial.into(),
        usual: USUAL.into(),
        metric: metric.name,
        peer: farthest.peer(),
        outgoing: metric.outgoing,
        takes: Takes { bytes: BYTES, with_s: with, without_s: usual },
    };
    let command = without(route, metric).map(|rest| snapshot.command(&format!("{ip} route change {rest}")));
    Some(Finding {
        namespace: snapshot.foreign_name(),
        peer: Some(farthest.peer()),
        cost_s: Some(costs),
        extent: Some(Extent::OfEach { seconds: costs, bytes: BYTES }),
        evidence: vec![
            figure(metric.name, initial.into(), Unit::Segments, (Place::Route, Since::Now)),
            figure("rtt", time, Unit::Seconds, (Place::Socket, Since::Now)),
            figure("saved of 1 MB", costs, Unit::Seconds, (Place::Model, Since::Now)),
            text("route", route.text.clone(), (Place::Route, Since::Now)),
        ],
        remedies: vec![fix(Who::Host, HostAction::DropMetric { metric: metric.name }, command)],
        verify: Some(HostCheck::Route { metric: metric.name }),
        ..Finding::new(Cause::SlowStart, 0.85, statement)
    })
}
