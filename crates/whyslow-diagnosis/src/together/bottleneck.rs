//! Transfers that share one bottleneck: whatever each of them does, their rates add up to one.
//!
//! ## The mechanism
//! A full link delivers its own rate, not a transfer's: the others get at once the share that one
//! of them loses or does not use. So the sum over all of them is steady while each of them goes up
//! and down, and it is the same whether one or four run. Each alone shows losses, long round trips,
//! a window that does not grow; fixing these for one takes from the others, and saves no time in
//! all.
//!
//! ## How it differs from chance
//! Rates are taken over bins of a round trip or more. The sum must be steady, queues or losses must
//! show that something was full, and one of these must hold: the sum varies much less than
//! independent transfers would make it (the variance of a sum of independent rates is the sum of
//! their variances); when a transfer came or went, the others' rates changed by its rate; or, less
//! surely, all of them stood in a queue between the same two hosts, which overflowed, and their
//! parts were equal (as a fair queue makes them) or none kept to a rate by itself. Transfers that
//! each keep to a rate of their own (a window, pacing) have a steady sum too, but no queue; random
//! losses have neither.

use super::flows::Flow;
use crate::estimate::{ABOVE_MEDIAN, BELOW_MEDIAN, LINE_RATE, MIN_POLICED_LOSSES};
use std::net::IpAddr;
use whyslow_analysis::Near;
use whyslow_units::Nanos;

/// Minimum number of bins, as of a steady rate (`STEADY_BINS`). Half and twice change 0 and 1 of
/// 2,061 captures.
const MIN_BINS: usize = 8;
/// Largest variance of the sum over that of independent rates: where queues stand, and where only
/// losses show that something may be full. Chance loses too. Follows from the F distribution: a few
/// dozen bins may halve a variance.
const COMPENSATED: [f64; 2] = [0.5, 0.2];
/// Confidence if rates make room for each other: likely, as one capture cannot make it certain.
/// Half and twice the distance to 1 change 0 and 2 of 2,061 captures.
const PROVEN: f64 = 0.85;
/// Rates are independent if the variance of their sum is at least this share of the sum of their
/// variances, …
const INDEPENDENT: f64 = 0.8;
/// … in this number of bins: of eight the variance has an error of a half. Follows from √(2 / 7).
/// Half and twice change none of 2,061 captures.
const MANY_BINS: usize = 16;
/// Rates that vary by less than this share of their median show no compensation. Half and twice
/// change none of 2,061 captures.
const VARIES: f64 = 0.1;
/// Largest difference between the rate that transfers gave up and the one that others got, as a
/// share. Half and twice change none of 2,061 captures.
const MAX_EXCHANGE_ERROR: f64 = 0.35;
/// Round trips until the others have adapted after one came or went: BBR probes with a quarter more
/// in one of eight (draft-cardwell-iccrg-bbr-congestion-control-00, gain cycling), so that taking
/// up a third takes two of its cycles. Half and twice change none of 2,061 captures.
const SETTLED: f64 = 16.0;
/// A transfer that is alone and has at most this multiple of its shared rate keeps to that rate by
/// itself. Half and twice the excess over 1 change none of 2,061 captures.
const MAX_LONE_GAIN: f64 = 1.2;
/// Minimum number of bins that show a rate, alone or shared: a median with one on each side. Half
/// and twice change none of 2,061 captures.
const MIN_LONE: usize = 3;
/// Parts are equal if the largest is at most this multiple of the smallest. Half and twice the
/// excess over 1 change none of 2,061 captures.
const EQUAL: f64 = 1.1;
/// Parts below this share are not named. Half and twice change none of 2,061 captures.
const MIN_PART: f64 = 0.05;
/// Maximum number of bins. Follows from [`BIN`]: 4,096 of a second are more than an hour, and bound
/// the work.
const MAX_BINS: i64 = 4096;
/// Shortest and longest bin: the least delay that is noticed, and the time in which most transfers
/// adapt (RFC 6298 section 2.4: 1 s).
const BIN: (Nanos, Nanos) = (Nanos::from_millis(50), Nanos::from_millis(1_000));
/// Number of bins that is aimed at. Follows from [`MIN_BINS`]: four times as many. Half and twice
/// change 2 and 0 of 2,061 captures.
const BINS: f64 = 32.0;

/// A bottleneck, and the transfers that share it.
#[derive(Clone, Debug)]
pub(super) struct Bottleneck<'a> {
    /// Payload bits per second of all together: lower tenth, median, upper tenth over the bins.
    pub rate: [f64; 3],
    /// Times at which two or more of them ran, from the capture's first packet; in order, disjoint.
    pub spans: Vec<(Nanos, Nanos)>,
    /// Transfers with a noticeable part, the largest first.
    pub parts: Vec<BottleneckShare<'a>>,
    /// Traffic above the rate is dropped, without a queue.
    pub policed: bool,
    /// How sure it is, 0–1.
    pub sure: f64,
    /// Transfers that were too many to be compared.
    pub let_go: u64,
}

/// A transfer's part of a bottleneck.
#[derive(Clone, Copy, Debug)]
pub(super) struct BottleneckShare<'a> {
    pub flow: &'a Flow,
    /// Payload bits per second while it shared.
    pub rate: f64,
    /// How long it shared.
    pub time: Nanos,
    /// It had the same rate when all others were gone: another limit keeps it there.
    pub keeps: bool,
    /// It had the rate of all of them when all others were gone: the bottleneck limited it then,
    /// too.
    pub fills: bool,
}

impl BottleneckShare<'_> {
    /// How long the bottleneck limited it. `spans`: the shared times.
    pub fn held(&self, spans: &[(Nanos, Nanos)]) -> Nanos {
        let (start, end) = self.flow.span();
        // Slow start goes before it.
        let full = spans.first().map_or(start, |span| span.0.max(start));
        if self.fills { self.time.max(end - full) } else { self.time }
    }
}

impl Bottleneck<'_> {
    /// How long two or more of them ran.
    pub fn time(&self) -> Nanos {
        self.spans.iter().map(|&(from, to)| to - from).sum()
    }

    /// Whether a bottleneck found at another time is this one again.
    fn is_same(&self, other: &Self) -> bool {
        let [one, two] = [self.rate[1], other.rate[1]];
        self.policed == other.policed && one.max(two) <= ABOVE_MEDIAN * one.min(two)
    }

    /// Adds the findings about it at a later time.
    fn join(&mut self, later: Self) {
        let [one, two] = [self.time(), later.time()].map(Nanos::as_secs_f64);
        let mean = (self.rate[1] * one + later.rate[1] * two) / (one + two).max(1e-9);
        self.rate = [self.rate[0].min(later.rate[0]), mean, self.rate[2].max(later.rate[2])];
        self.spans.extend(later.spans);
        self.parts.extend(later.parts);
        sort(&mut self.parts);
        self.sure = self.sure.max(later.sure);
    }
}

/// All bottlenecks that flows share. Those that lead to or from one host next to the capture point,
/// and else those between two hosts.
pub(super) fn find<'a>(flows: impl Iterator<Item = &'a Flow>) -> Vec<Bottleneck<'a>> {
    let flows: Vec<&Flow> = flows.collect();
    let mut found: Vec<Bottleneck<'a>> = Vec::new();
    let mut hosts: Vec<(IpAddr, bool)> = flows.iter().filter_map(|flow| host(flow)).collect();
    hosts.sort_unstable();
    hosts.dedup();
    for of_host in hosts {
        found.extend(check_all(flows.iter().copied().filter(|flow| host(flow) == Some(of_host)).collect()));
    }
    let mut paths: Vec<(IpAddr, IpAddr)> = flows.iter().map(|flow| (flow.sender, flow.receiver)).collect();
    paths.sort_unstable();
    paths.dedup();
    for path in paths {
        let is_part = |flow: &Flow| found.iter().flat_map(|one| &one.parts).any(|part| std::ptr::eq(part.flow, flow));
        let of_path = |flow: &&Flow| (flow.sender, flow.receiver) == path && !is_part(flow);
        let more = check_all(flows.iter().copied().filter(of_path).collect());
        found.extend(more);
    }
    found
}

/// Those that flows of one host, or one path, share: at two times with the same rate it is the same
/// one.
fn check_all(group: Vec<&Flow>) -> Vec<Bottleneck<'_>> {
    let mut found: Vec<Bottleneck<'_>> = Vec::new();
    for cluster in overlapping(group) {
        let Some(next) = check(&cluster) else { continue };
        match found.iter_mut().find(|last| last.is_same(&next)) {
            Some(last) => last.join(next),
            None => found.push(next),
        }
    }
    found
}

/// The largest part first.
fn sort(parts: &mut [BottleneckShare<'_>]) {
    parts.sort_by(|a, b| b.rate.total_cmp(&a.rate).then(a.flow.connection.cmp(&b.flow.connection)));
}

/// The host next to the capture point, and whether it sends.
fn host(flow: &Flow) -> Option<(IpAddr, bool)> {
    let sends = match flow.near {
        Near::Client => flow.from == whyslow_analysis::End::Client,
        Near::Server => flow.from == whyslow_analysis::End::Server,
        Near::Middle | Near::Unknown => return None,
    };
    Some((if sends { flow.sender } else { flow.receiver }, sends))
}

/// Flows that overlap in time, some of them by way of others.
fn overlapping(mut group: Vec<&Flow>) -> Vec<Vec<&Flow>> {
    group.sort_by_key(|flow| (flow.span().0, flow.connection, flow.start));
    let (mut clusters, mut until) = (Vec::<Vec<&Flow>>::new(), Nanos(i64::MIN));
    for flow in group {
        let (start, end) = flow.span();
        match clusters.last_mut().filter(|_| start < until) {
            Some(cluster) => cluster.push(flow),
            None => clusters.push(vec![flow]),
        }
        until = until.max(end);
    }
    clusters.retain(|cluster| connections(cluster).len() > 1);
    clusters
}

/// Those of the flows: the transfers of a connection follow each other, and are one for
/// comparisons.
fn connections(flows: &[&Flow]) -> Vec<u64> {
    let mut ids: Vec<u64> = flows.iter().map(|flow| flow.connection).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// A stretch of time in which no flow begins or ends.
struct Bin {
    from: Nanos,
    to: Nanos,
    /// Bits per second of each connection, by its place among [`connections`].
    rates: Vec<f64>,
    /// Indexes of the flows that are running, in order.
    active: Vec<usize>,
}

impl Bin {
    fn sum(&self) -> f64 {
        self.rates.iter().sum()
    }

    fn runs(&self, place: usize) -> bool {
        self.active.binary_search(&place).is_ok()
    }
}

/// Whether these flows share a bottleneck. Short bins show compensation in short flows, longer ones
/// smooth the effect of single segments.
fn check<'a>(flows: &[&'a Flow]) -> Option<Bottleneck<'a>> {
    let spans = together(flows);
    let whole: Nanos = spans.iter().map(|&(from, to)| to - from).sum();
    let rtt = flows.iter().map(|flow| flow.rtt).max()?;
    let length = whole.scale(1.0 / BINS).min(BIN.1).max(rtt).max(BIN.0);
    let mut denied = false;
    let mut found: Vec<Bottleneck<'_>> = Vec::new();
    for times in [1.0, 2.0] {
        found.extend(check_with(flows, &spans, (length.scale(times), rtt), &mut denied));
    }
    let accepted = found.into_iter().filter(|found| found.sure >= PROVEN || !denied);
    accepted.reduce(|one, other| if other.sure > one.sure { other } else { one })
}

/// A flow's part of a bottleneck that was full in `spans`, at `rate` in the median. `keeps`: it was
/// no faster alone.
fn share_of<'a>(flow: &'a Flow, spans: &[(Nanos, Nanos)], keeps: bool, rate: f64) -> BottleneckShare<'a> {
    let (start, end) = flow.span();
    let own = spans.iter().map(|&(from, to)| (from.max(start), to.min(end))).filter(|(from, to)| to > from);
    let (time, bits) =
        own.fold((Nanos::ZERO, 0.0), |(time, bits), (from, to)| (time + (to - from), bits + flow.bits(from, to)));
    // From the bottleneck's first full moment on, without the shared time.
    let from = spans.first().map_or(start, |span| span.0.max(start));
    let alone = (flow.bits(from, end) - bits) / (end - from - time).as_secs_f64();
    let full = rate / BELOW_MEDIAN..=rate * ABOVE_MEDIAN;
    let fills = !keeps && end - from - time > flow.rtt && full.contains(&alone);
    BottleneckShare { flow, rate: bits / time.as_secs_f64().max(1e-9), time, keeps, fills }
}

/// As [`check`], with bins of this length. `denied`: whether the rates show that they have nothing
/// to do with each other.
fn check_with<'a>(
    flows: &[&'a Flow],
    spans: &[(Nanos, Nanos)],
    (length, rtt): (Nanos, Nanos),
    denied: &mut bool,
) -> Option<Bottleneck<'a>> {
    let ids = connections(flows);
    let bins = bins(flows, &ids, length);
    let shared: Vec<&Bin> = bins.iter().filter(|bin| bin.active.len() > 1).collect();
    let (shared, within) = full(&shared)?;
    if shared.len() < MIN_BINS {
        return None;
    }
    let spans: Vec<(Nanos, Nanos)> =
        spans.iter().map(|&(from, to)| (from.max(within.0), to.min(within.1))).filter(|(from, to)| to > from).collect();
    let whole: Nanos = spans.iter().map(|&(from, to)| to - from).sum();
    let rate = tenths(shared.iter().map(|bin| bin.sum()))?;
    let [low, middle, high] = rate;
    if low <= 0.0 || high > ABOVE_MEDIAN * middle || middle > BELOW_MEDIAN * low || middle >= LINE_RATE {
        return None;
    }
    let mut parts: Vec<BottleneckShare<'a>> = flows
        .iter()
        .map(|&flow| {
            let place = ids.partition_point(|&id| id < flow.connection);
            let keeps = lone(&bins, shared, place, rtt).is_some_and(|[alone, own, _]| alone <= MAX_LONE_GAIN * own);
            share_of(flow, &spans, keeps, middle)
        })
        .filter(|part| part.rate >= MIN_PART * rate[1] && part.time.0 >= whole.0 / BINS as i64)
        .collect();
    sort(&mut parts);
    if parts.iter().all(|part| part.flow.connection == parts[0].flow.connection) {
        return None;
    }
    let bytes = |of: &dyn Fn(&Flow) -> bool| -> u64 {
        parts.iter().map(|part| part.flow).filter(|flow| of(flow)).map(|flow| flow.bytes).sum()
    };
    let mostly = |of: &dyn Fn(&Flow) -> bool| bytes(of) * 2 >= bytes(&|_| true);
    let (queued, congested) = (mostly(&|flow| flow.queued), mostly(&|flow| flow.queued || flow.lost > 0));
    let varies = uncompensated(shared, ids.len());
    let compensated = varies.is_some_and(|varies| varies <= COMPENSATED[usize::from(!queued)]);
    let one_path =
        parts.iter().all(|part| (part.flow.sender, part.flow.receiver) == (flows[0].sender, flows[0].receiver));
    let all_queued = queued && parts.iter().all(|part| !part.flow.flat);
    let gave_way = give_way(&bins, ids.len(), rtt);
    let equal = parts.last().zip(parts.first()).is_some_and(|(least, most)| most.rate <= EQUAL * least.rate);
    let (steady, overflowed) = (mostly(&|flow| flow.steady), mostly(&|flow| flow.lost > 0));
    let proven = compensated || gave_way == Some(true);
    let independent = shared.len() >= MANY_BINS && varies.is_some_and(|varies| varies >= INDEPENDENT);
    *denied |= !proven && (gave_way == Some(false) || independent);
    let sure = match () {
        () if !congested => return None,
        () if proven => PROVEN,
        // Round trips may be long for another reason (a radio link), and windows equal.
        () if one_path && all_queued && overflowed && !steady => 0.75,
        () if one_path && all_queued && (overflowed || steady) && equal => 0.6,
        () => return None,
    };
    let policed =
        mostly(&|flow| flow.flat) && parts.iter().map(|part| part.flow.lost).sum::<u64>() >= MIN_POLICED_LOSSES as u64;
    Some(Bottleneck { rate, spans, parts, policed, sure, let_go: 0 })
}

/// The bins in which the link is full, from when on, and until when. Slow start goes before it, and
/// behind it those that are left may not fill it at once: each may take a third of them at most.
fn full<'b>(shared: &'b [&'b Bin]) -> Option<(&'b [&'b Bin], (Nanos, Nanos))> {
    let [_, typical, _] = tenths(shared.iter().map(|bin| bin.sum()))?;
    let is_full = |bin: &&Bin| bin.sum() * BELOW_MEDIAN >= typical;
    let (first, last) = (shared.iter().position(is_full)?, shared.iter().rposition(is_full)?);
    let most = shared.len() / 3;
    let (first, last) = (first.min(most), last.max(shared.len() - 1 - most));
    // The first bin of all may begin a little after the first two flows do, and so it is with the
    // last one.
    let from = if first == 0 { Nanos(i64::MIN) } else { shared[first].from };
    let until = if last + 1 == shared.len() { Nanos(i64::MAX) } else { shared[last].to };
    Some((&shared[first..=last], (from, until)))
}

/// Times at which two or more flows ran.
fn together(flows: &[&Flow]) -> Vec<(Nanos, Nanos)> {
    let mut turns: Vec<(Nanos, i32)> =
        flows.iter().flat_map(|flow| [(flow.span().0, 1), (flow.span().1, -1)]).collect();
    turns.sort_unstable();
    let (mut running, mut since) = (0, None);
    let mut spans: Vec<(Nanos, Nanos)> = Vec::new();
    for (time, step) in turns {
        running += step;
        match (running > 1, since) {
            (true, None) => since = Some(time),
            (false, Some(from)) => {
                since = None;
                match spans.last_mut().filter(|last| last.1 == from) {
                    Some(last) => last.1 = time,
                    None if time > from => spans.push((from, time)),
                    None => {}
                }
            }
            _ => {}
        }
    }
    spans
}

/// The time of all of them in bins of this length; those in which one begins or ends are left out.
fn bins(flows: &[&Flow], ids: &[u64], length: Nanos) -> Vec<Bin> {
    let first = flows.iter().map(|flow| flow.span().0).min().unwrap_or_default();
    let last = flows.iter().map(|flow| flow.span().1).max().unwrap_or_default();
    let length = Nanos(length.0.max((last - first).0 / MAX_BINS).max(1));
    let number = (last - first).0 / length.0;
    let edge = |n: i64| first + Nanos(n * length.0);
    let mut bins = Vec::new();
    for n in 0..number {
        let (from, to) = (edge(n), edge(n + 1));
        let cut = |time: Nanos| time > from && time < to;
        if flows.iter().any(|flow| cut(flow.span().0) || cut(flow.span().1)) {
            continue;
        }
        let mut bin = Bin { from, to, rates: vec![0.0; ids.len()], active: Vec::new() };
        for flow in flows.iter().filter(|flow| flow.span().0 <= from && flow.span().1 >= to) {
            let place = ids.partition_point(|&id| id < flow.connection);
            bin.rates[place] += flow.bits(from, to) / length.as_secs_f64();
            bin.active.push(place);
        }
        bin.active.sort_unstable();
        bin.active.dedup();
        bins.push(bin);
    }
    bins
}

/// Lower tenth, median, upper tenth.
fn tenths(values: impl Iterator<Item = f64>) -> Option<[f64; 3]> {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| values.get(((values.len() - 1) as f64 * share).round() as usize).copied();
    (!values.is_empty()).then_some(())?;
    Some([at(0.1)?, at(0.5)?, at(0.9)?])
}

/// Whether one transfer gains the rate that another loses: the variance of the sum of those that
/// ran together most of the time, as a part of the variance that independent rates would add up to.
/// `None` if there are too few bins, or if the rates hardly vary.
fn uncompensated(shared: &[&Bin], connections: usize) -> Option<f64> {
    let mut sets: Vec<&[usize]> = shared.iter().map(|bin| bin.active.as_slice()).collect();
    sets.sort_unstable();
    let &[set, ..] = sets.chunk_by(|a, b| a == b).max_by_key(|run| run.len())? else { return None };
    let bins: Vec<&&Bin> = shared.iter().filter(|bin| bin.active == set).collect();
    if bins.len() < MIN_BINS {
        return None;
    }
    let spread = |[low, _, high]: [f64; 3]| (high - low) * (high - low);
    let own: Vec<[f64; 3]> = (0..connections)
        .filter(|place| set.contains(place))
        .filter_map(|place| tenths(bins.iter().map(|bin| bin.rates[place])))
        .collect();
    let vary = own.iter().filter(|[low, middle, high]| high - low >= VARIES * middle).count();
    let sum = spread(tenths(bins.iter().map(|bin| bin.sum()))?);
    (vary > 1).then(|| sum / own.into_iter().map(spread).sum::<f64>())
}

/// Whether the remaining transfers had less while others ran with them, by the rate of those
/// others. `None` if no transfer of a noticeable rate came or went for long, or if the remaining
/// ones may still adapt.
fn give_way(bins: &[Bin], connections: usize, rtt: Nanos) -> Option<bool> {
    let sets: Vec<&[Bin]> = bins.chunk_by(|a, b| a.active == b.active).filter(|run| run.len() >= MIN_LONE).collect();
    let votes = sets.windows(2).filter_map(|pair| {
        let [one, two] = pair else { return None };
        let (more, fewer) = if one[0].active.len() > two[0].active.len() { (one, two) } else { (two, one) };
        if fewer[0].active.is_empty() || !fewer[0].active.iter().all(|&place| more[0].runs(place)) {
            return None;
        }
        let median = |run: &[Bin], place: usize| tenths(run.iter().map(|bin| bin.rates[place])).map_or(0.0, |at| at[1]);
        let (mut got, mut gave, mut all) = (0.0, 0.0, 0.0);
        for place in (0..connections).filter(|&place| more[0].runs(place)) {
            let [shared_rate, then] = [more, fewer].map(|run| median(run, place));
            all += shared_rate;
            if fewer[0].runs(place) {
                gave += then - shared_rate;
            } else {
                got += shared_rate;
            }
        }
        // Less than the sum's own variation is not evidence.
        let [low, _, high] = tenths(more.iter().map(Bin::sum))?;
        let gives_way =
            (got >= (VARIES * all).max(high - low)).then_some((gave - got).abs() <= MAX_EXCHANGE_ERROR * got)?;
        let since = two.last().zip(two.first()).map_or(Nanos::ZERO, |(last, first)| last.to - first.from);
        (gives_way || since >= rtt.scale(SETTLED)).then_some(gives_way)
    });
    votes.reduce(|one, other| one || other)
}

/// The rate of a connection alone, after it had the time to take up the others' share, its rate
/// with others, and that of all together then: medians, if there are enough bins of both.
fn lone(bins: &[Bin], shared: &[&Bin], place: usize, rtt: Nanos) -> Option<[f64; 3]> {
    let median = |rates: &mut dyn Iterator<Item = f64>| tenths(rates).map(|[_, middle, _]| middle);
    let mut left: Option<Nanos> = None;
    let mut alone: Vec<f64> = Vec::new();
    for bin in bins.iter().filter(|bin| bin.runs(place)) {
        if bin.active.len() > 1 {
            left = Some(bin.to);
        } else if left.is_none_or(|left| bin.from - left >= rtt.scale(SETTLED)) {
            alone.push(bin.rates[place]);
        }
    }
    let shared_bins = || shared.iter().filter(|bin| bin.runs(place));
    if alone.len() < MIN_LONE || shared_bins().count() < MIN_LONE {
        return None;
    }
    Some([
        median(&mut alone.into_iter())?,
        median(&mut shared_bins().map(|bin| bin.rates[place]))?,
        median(&mut shared_bins().map(|bin| bin.sum()))?,
    ])
}

#[cfg(test)]
mod tests;
