#![allow(clippy::unwrap_used)]
use super::config::*;
use super::*;
use crate::log::Counts;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

fn data(wire_bytes: u32) -> Meta {
    Meta { wire_bytes, ip_bytes: wire_bytes - 14, payload_bytes: wire_bytes - 66, ..Meta::default() }
}

fn link(conditions: Conditions) -> Link<u64> {
    let config = LinkConfig::steady(conditions, 7);
    config.check().unwrap();
    Link::new(config)
}

/// Pushes `count` packets `gap` ns apart, polling as time goes by, then to the end. Body: the
/// packet's number.
fn send(link: &mut Link<u64>, count: u64, gap: u64, meta: Meta) -> Vec<Finished<u64>> {
    let mut out = Vec::new();
    for n in 0..count {
        while let Some(at) = link.next_event().filter(|at| *at <= n * gap) {
            out.extend(link.poll(at));
        }
        out.extend(link.push(n * gap, meta, n));
    }
    while let Some(at) = link.next_event() {
        out.extend(link.poll(at));
    }
    out
}

fn delivered(out: &[Finished<u64>]) -> Vec<&Finished<u64>> {
    out.iter().filter(|packet| packet.record.fate == Fate::Passed).collect()
}

fn count(out: &[Finished<u64>], fate: Fate) -> usize {
    out.iter().filter(|packet| packet.record.fate == fate).count()
}

fn touched(out: &[Finished<u64>], bit: Impairments) -> usize {
    out.iter().filter(|packet| packet.record.touched.has(bit)).count()
}

/// 99.9 % interval of a binomial, by the normal approximation.
fn assert_binomial(hits: usize, trials: u64, p: f64) {
    let (n, hits) = (trials as f64, hits as f64);
    let bound = 3.3 * (n * p * (1.0 - p)).sqrt();
    assert!((hits - n * p).abs() <= bound, "{hits} of {n} is not a share of {p} (± {bound:.0})");
}

#[test]
fn a_default_link_is_perfect() {
    let mut link = link(Conditions::default());
    assert!(link.push(5, data(1514), 1).is_none());
    assert_eq!(link.next_event(), Some(5));
    assert_eq!(link.poll(5).unwrap().record.due_ns, 5);
    assert!(link.is_empty());
    assert_eq!(link.next_event(), None);
}

#[test]
fn delay_is_exact() {
    let mut link = link(Conditions { delay_ns: 50 * MS, ..Conditions::default() });
    link.push(3, data(1514), 1);
    assert!(link.poll(50 * MS + 2).is_none());
    assert_eq!(link.poll(50 * MS + 3).unwrap().record.due_ns, 50 * MS + 3);
}

#[test]
fn rate_is_exact_over_many_packets() {
    // 1,000 bytes at 3 bit/ns do not divide: 2,666.67 ns each.
    let conditions = Conditions {
        rate_bps: Some(3_000_000_000),
        queue: Queue { limit: QueueLimit::Packets(4000), ..Queue::default() },
        overhead_bytes: 24,
        ..Conditions::default()
    };
    let out = send(&mut link(conditions), 3000, 0, data(976));
    let due: Vec<u64> = out.iter().map(|packet| packet.record.due_ns).collect();
    assert_eq!(due.len(), 3000);
    for (n, at) in due.iter().enumerate() {
        assert_eq!(*at, (n as u64 + 1) * 8000 / 3, "packet {n}");
    }
}

#[test]
fn queue_limit_counts_what_waits_and_not_what_is_under_way() {
    // One packet takes 1 ms; the delay of 100 ms holds a hundred of them without filling a queue of
    // five.
    let conditions = |limit| Conditions {
        rate_bps: Some(8_000_000),
        delay_ns: 100 * MS,
        queue: Queue { limit, discipline: Discipline::DropTail },
        ..Conditions::default()
    };
    let all = send(&mut link(conditions(QueueLimit::Packets(5))), 300, MS, data(1000));
    assert_eq!(delivered(&all).len(), 300, "at the rate nothing is dropped");
    for limit in [QueueLimit::Packets(5), QueueLimit::Bytes(5000), QueueLimit::TimeNs(5 * MS)] {
        let burst = send(&mut link(conditions(limit)), 10, 0, data(1000));
        assert_eq!(delivered(&burst).len(), 6, "one on the wire and five waiting");
        assert_eq!(count(&burst, Fate::QueueFull), 4);
        let sixth = delivered(&burst)[5].record;
        assert_eq!((sixth.queue_packets, sixth.queue_bytes), (4, 4000), "what waited when it came");
        assert_eq!(sixth.due_ns, 106 * MS);
    }
    let none = send(&mut link(conditions(QueueLimit::Packets(0))), 10, 0, data(1000));
    assert_eq!(delivered(&none).len(), 1, "without a queue an idle link still sends");
}

#[test]
fn nothing_is_lost_silently() {
    // Everything at once: what goes in comes out once, whatever the mix.
    for seed in 0..20 {
        let mut config = LinkConfig::steady(
            Conditions {
                rate_bps: Some(50_000_000),
                queue: Queue {
                    limit: QueueLimit::Packets(40),
                    discipline: [Discipline::DropTail, Discipline::CODEL][(seed % 2) as usize],
                },
                delay_ns: 3 * MS,
                jitter: Some(Jitter {
                    amount_ns: 2 * MS,
                    distribution: Distribution::Normal,
                    keep_order: seed % 3 == 0,
                }),
                loss: Loss::GilbertElliott { to_bad: 0.01, to_good: 0.2, loss_good: 0.001, loss_bad: 0.5 },
                duplicate: 0.02,
                corrupt: 0.02,
                reorder: Some(Reorder {
                    listed: Loss::None,
                    share: 0.05,
                    correlation: 0.0,
                    by: ReorderBy::Gap { packets: 3, at_most_ns: 20 * MS },
                }),
                policer: Some(TokenBucket { rate_bps: 70_000_000, burst_bytes: 30_000 }),
                ..Conditions::default()
            },
            seed,
        );
        config.steps.push(Step {
            at_ns: 200 * MS,
            conditions: Conditions { rate_bps: None, delay_ns: MS, ..config.conditions.clone() },
        });
        config.check().unwrap();
        let out = send(&mut Link::new(config), 4000, 100_000, data(1514));
        let mut bodies: Vec<u64> = out.iter().map(|packet| packet.body).collect();
        bodies.sort_unstable();
        assert_eq!(bodies, (0..4000).collect::<Vec<_>>(), "seed {seed}");
        let mut log = crate::log::Log::new(usize::MAX);
        out.iter().for_each(|packet| log.add(packet.record));
        let Counts { arrived, passed, unfinished, .. } = log.counts();
        assert_eq!(arrived, passed + log.counts().dropped() + unfinished);
        assert!(passed < 4000 && passed > 1500, "{:?}", log.counts());
        let due: Vec<u64> = delivered(&out).iter().map(|packet| packet.record.due_ns).collect();
        assert!(due.is_sorted(), "deliveries come in order of time");
    }
}

#[test]
fn drain_gives_back_what_is_still_there() {
    let mut link = link(Conditions { rate_bps: Some(8_000_000), delay_ns: 10 * MS, ..Conditions::default() });
    for n in 0..20 {
        link.push(0, data(1000), n);
    }
    assert!(link.poll(12 * MS).is_some());
    assert_eq!(link.len(), 19);
    let rest = link.drain();
    assert_eq!((rest.len(), count(&rest, Fate::Unfinished)), (19, 19));
    assert!(link.is_empty() && link.next_event().is_none());
}

#[test]
fn the_same_seed_gives_the_same_run_and_knobs_do_not_disturb_each_other() {
    let run = |seed, corrupt| {
        let conditions = Conditions { loss: Loss::Independent(0.1), corrupt, ..Conditions::default() };
        let out = send(&mut Link::new(LinkConfig::steady(conditions, seed)), 2000, 1000, data(1514));
        out.iter().filter(|packet| packet.record.fate == Fate::Lost).map(|packet| packet.body).collect::<Vec<_>>()
    };
    assert_eq!(run(1, 0.0), run(1, 0.0));
    assert_eq!(run(1, 0.0), run(1, 0.5), "corruption does not change which packets are lost");
    assert_ne!(run(1, 0.0), run(2, 0.0));
}

#[test]
fn shares_are_binomial() {
    let n = 50_000;
    let conditions = Conditions {
        loss: Loss::Independent(0.01),
        duplicate: 0.02,
        corrupt: 0.03,
        reorder: Some(Reorder { share: 0.04, listed: Loss::None, correlation: 0.0, by: ReorderBy::DelayNs(MS) }),
        ..Conditions::default()
    };
    let out = send(&mut link(conditions), n, 1000, data(1514));
    let passed = delivered(&out).len();
    assert_binomial(count(&out, Fate::Lost), n, 0.01);
    assert_binomial(touched(&out, Impairments::DUPLICATED), passed as u64, 0.02);
    assert_binomial(touched(&out, Impairments::CORRUPTED), passed as u64, 0.03);
    assert_binomial(touched(&out, Impairments::REORDERED), passed as u64, 0.04);
}

#[test]
fn gilbert_elliott_loses_in_bursts_of_the_right_length() {
    let n = 200_000;
    let loss = Loss::GilbertElliott { to_bad: 0.01, to_good: 0.25, loss_good: 0.0, loss_bad: 1.0 };
    let out = send(&mut link(Conditions { loss, ..Conditions::default() }), n, 1000, data(1514));
    let share = count(&out, Fate::Lost) as f64 / n as f64;
    assert!((share - 0.01 / 0.26).abs() < 0.004, "stationary share p ÷ (p + r): {share}");
    let mut in_order = out;
    in_order.sort_by_key(|packet| packet.body);
    let lost: Vec<bool> = in_order.iter().map(|packet| packet.record.fate == Fate::Lost).collect();
    let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count();
    let length = count(&in_order, Fate::Lost) as f64 / bursts as f64;
    assert!((length - 4.0).abs() < 0.4, "mean burst 1 ÷ r: {length}");
}

#[test]
fn listed_data_packets_are_lost_and_no_other() {
    let mut link = link(Conditions { loss: Loss::DataPackets(vec![2, 4]), ..Conditions::default() });
    let ack = Meta { wire_bytes: 66, ip_bytes: 52, ..Meta::default() };
    let lost: Vec<u64> = [data(100), ack, data(100), ack, data(100), data(100), data(100)]
        .into_iter()
        .enumerate()
        .filter_map(|(n, meta)| link.push(n as u64, meta, n as u64))
        .map(|packet| packet.body)
        .collect();
    assert_eq!(lost, [2, 5]);
}

#[test]
fn segments_are_lost_by_the_bytes_that_they_carry() {
    // One copy of the first, two of the one with byte 3,000.
    let mut link = link(Conditions { loss: Loss::Places(vec![0, 3_000, 3_000]), ..Conditions::default() });
    let syn = |seq: u32, port| Meta { seq, source_port: port, flags: 2, ..data(66) };
    let segment = |start: u32, port| Meta {
        seq: (u32::MAX - 999).wrapping_add(start),
        source_port: port,
        flags: 16,
        ..data(1066)
    };
    // The sequence numbers wrap after a thousand bytes.
    let first = u32::MAX - 1_000;
    let packets = [
        syn(first, 1),
        segment(0, 1),
        segment(1_000, 1),
        segment(2_000, 1),
        segment(3_000, 1),
        syn(first, 1),
        segment(0, 1),
        segment(3_000, 1),
        segment(3_000, 1),
        // Another connection is not the last one that was opened, and a new one starts over.
        segment(3_000, 9),
        syn(first, 9),
        segment(3_000, 9),
    ];
    let pushed = packets.into_iter().enumerate().filter_map(|(n, meta)| link.push(n as u64, meta, n as u64));
    let lost: Vec<u64> = pushed.map(|packet| packet.body).collect();
    assert_eq!(lost, [1, 4, 7, 11]);
}

#[test]
fn policer_passes_its_burst_and_then_its_rate() {
    // 1 Mbit/s is 125 bytes a millisecond.
    let policer = Some(TokenBucket { rate_bps: 1_000_000, burst_bytes: 10_000 });
    let out = send(&mut link(Conditions { policer, ..Conditions::default() }), 1000, MS, data(1000));
    assert_eq!(delivered(&out).len() as u64, (10_000 + 999 * 125) / 1000);
    assert!(delivered(&out).iter().all(|packet| packet.record.due_ns == packet.record.in_ns), "it never queues");
}

#[test]
fn shaper_passes_its_burst_at_the_link_s_rate_and_queues_the_rest() {
    // 8 Mbit/s is a packet of 1000 B a millisecond; tokens come for one in eight.
    let shaper = Some(TokenBucket { rate_bps: 1_000_000, burst_bytes: 20_000 });
    let queue = Queue { limit: QueueLimit::Packets(1000), ..Queue::default() };
    for rate_bps in [Some(8_000_000), None] {
        let conditions = Conditions { rate_bps, shaper, queue: queue.clone(), ..Conditions::default() };
        let out = send(&mut link(conditions), 100, 0, data(1000));
        assert_eq!(delivered(&out).len(), 100, "nothing is dropped");
        let due: Vec<u64> = out.iter().map(|packet| packet.record.due_ns).collect();
        // While 20 of them go onto the wire, one a millisecond, tokens for two more come.
        let (burst, gap) = if rate_bps.is_some() { (22, MS) } else { (20, 0) };
        assert!(due[..burst].windows(2).all(|pair| pair[1] - pair[0] == gap), "{due:?}");
        assert!(due[burst + 1..].windows(2).all(|pair| pair[1] - pair[0] == 8 * MS), "{due:?}");
    }
}

#[test]
fn listed_segments_are_marked_where_they_can_be() {
    let mark = Loss::Places(vec![0, 2_896]);
    let mut link = link(Conditions { mark, ..Conditions::default() });
    let syn = Meta { flags: 2, seq: 99, ..Meta::default() };
    let segment = |place: u32, ecn_capable| Meta { seq: 100 + place, payload_bytes: 1448, ecn_capable, ..data(1514) };
    let sent = [syn, segment(0, true), segment(1_448, true), segment(2_896, false), segment(0, true)];
    for (n, meta) in sent.into_iter().enumerate() {
        assert!(link.push(0, meta, n as u64).is_none());
    }
    let out: Vec<_> = std::iter::from_fn(|| link.poll(0)).collect();
    let marked = out.iter().filter(|packet| packet.record.touched.has(Impairments::MARKED));
    assert_eq!(marked.map(|packet| packet.body).collect::<Vec<_>>(), [1], "once, and only what is ECN-capable");
}

#[test]
fn listed_segments_are_held_back_and_no_other() {
    let by = ReorderBy::DelayNs(5 * MS);
    let reorder = Some(Reorder { share: 0.0, listed: Loss::Places(vec![1_448]), correlation: 0.0, by });
    let mut link = link(Conditions { reorder, ..Conditions::default() });
    link.push(0, Meta { flags: 2, seq: 99, ..Meta::default() }, 0);
    for n in 1..=4 {
        // The second one is sent once more.
        let place = [0, 1_448, 2_896, 1_448][n as usize - 1];
        link.push(n, Meta { seq: 100 + place, payload_bytes: 1448, ..data(1514) }, n);
    }
    let out: Vec<u64> = std::iter::from_fn(|| link.poll(SECOND)).map(|packet| packet.body).collect();
    assert_eq!(out, [0, 1, 3, 4, 2]);
}

#[test]
fn mtu_drops_only_larger_packets() {
    let mut link = link(Conditions { mtu: Some(Mtu { bytes: 1400, icmp: false }), ..Conditions::default() });
    assert!(link.push(0, data(1414), 0).is_none());
    assert_eq!(link.push(0, data(1415), 1).unwrap().record.fate, Fate::TooBig);
}

#[test]
fn jitter_keeps_order_when_promised_and_only_then() {
    let run = |keep_order, distribution| {
        let jitter = Some(Jitter { amount_ns: 5 * MS, distribution, keep_order });
        let conditions = Conditions { delay_ns: 20 * MS, jitter, ..Conditions::default() };
        let out = send(&mut link(conditions), 5000, MS, data(1514));
        assert_eq!(out.len(), 5000);
        out
    };
    for distribution in [Distribution::Uniform, Distribution::Normal] {
        let ordered = run(true, distribution);
        assert!(ordered.iter().map(|packet| packet.body).is_sorted());
        let free = run(false, distribution);
        assert!(!free.iter().map(|packet| packet.body).is_sorted());
        let delays: Vec<f64> =
            free.iter().map(|packet| (packet.record.due_ns - packet.record.in_ns) as f64 / 1e6).collect();
        let mean = delays.iter().sum::<f64>() / 5000.0;
        let deviation = (delays.iter().map(|delay| (delay - mean).powi(2)).sum::<f64>() / 5000.0).sqrt();
        assert!((mean - 20.0).abs() < 0.3, "{distribution:?}: {mean}");
        let expected = if distribution == Distribution::Uniform { 5.0 / 3f64.sqrt() } else { 5.0 };
        assert!((deviation - expected).abs() < 0.25, "{distribution:?}: {deviation}");
    }
}

#[test]
fn a_held_packet_is_overtaken_by_as_many_as_asked() {
    // Every packet is picked at share 1, so pick by changing the conditions for one packet.
    let reorder = Reorder {
        share: 1.0,
        listed: Loss::None,
        correlation: 0.0,
        by: ReorderBy::Gap { packets: 3, at_most_ns: 50 * MS },
    };
    let hold = Conditions { delay_ns: 10 * MS, reorder: Some(reorder), ..Conditions::default() };
    let normal = Conditions { reorder: None, ..hold.clone() };
    let mut config = LinkConfig::steady(normal.clone(), 0);
    config.steps = vec![Step { at_ns: 4 * MS, conditions: hold }, Step { at_ns: 5 * MS, conditions: normal }];
    let out = send(&mut Link::new(config.clone()), 10, MS, data(1514));
    assert_eq!(out.iter().map(|packet| packet.body).collect::<Vec<_>>(), [0, 1, 2, 3, 5, 6, 7, 4, 8, 9]);
    assert_eq!(out[7].record.due_ns, out[6].record.due_ns);

    let out = send(&mut Link::new(config), 6, MS, data(1514));
    assert_eq!(out.iter().map(|packet| packet.body).collect::<Vec<_>>(), [0, 1, 2, 3, 5, 4]);
    assert_eq!(out[5].record.due_ns, (4 + 10 + 50) * MS, "too few followed");
}

#[test]
fn a_packet_delayed_on_purpose_does_not_delay_others() {
    let reorder = Some(Reorder { share: 0.1, listed: Loss::None, correlation: 0.0, by: ReorderBy::DelayNs(7 * MS) });
    let out = send(&mut link(Conditions { delay_ns: MS, reorder, ..Conditions::default() }), 1000, MS, data(1514));
    for packet in &out {
        let late = packet.record.touched.has(Impairments::REORDERED);
        assert_eq!(packet.record.due_ns - packet.record.in_ns, if late { 8 * MS } else { MS });
    }
}

#[test]
fn correlated_reordering_comes_in_runs_and_keeps_its_share() {
    let held = |correlation: f64| -> (f64, f64) {
        let reorder = Some(Reorder { share: 0.1, listed: Loss::None, correlation, by: ReorderBy::DelayNs(MS / 2) });
        let out =
            send(&mut link(Conditions { delay_ns: MS, reorder, ..Conditions::default() }), 20_000, MS, data(1514));
        let held: Vec<bool> = out.iter().map(|p| p.record.touched.has(Impairments::REORDERED)).collect();
        let all = held.iter().filter(|held| **held).count() as f64;
        let again = held.windows(2).filter(|pair| pair[0] && pair[1]).count() as f64;
        (all / held.len() as f64, again / all)
    };
    let (share, again) = held(0.0);
    assert!((0.08..0.12).contains(&share) && (0.07..0.13).contains(&again), "{share} {again}");
    // The next one follows with 0.1 + 0.5 * 0.9.
    let (share, again) = held(0.5);
    assert!((0.08..0.12).contains(&share) && (0.5..0.6).contains(&again), "{share} {again}");
}

#[test]
fn steps_change_the_rate_of_what_waits_and_keep_order() {
    let fast = Conditions { rate_bps: Some(80_000_000), delay_ns: MS, ..Conditions::default() };
    let slow = Conditions { rate_bps: Some(8_000_000), delay_ns: 10 * MS, ..Conditions::default() };
    let config =
        LinkConfig { conditions: slow, steps: vec![Step { at_ns: 5 * MS, conditions: fast }], ..LinkConfig::default() };
    let out = send(&mut Link::new(config), 10, 0, data(1000));
    let due: Vec<u64> = out.iter().map(|packet| packet.record.due_ns / 100_000).collect();
    // Five leave at 1 ms each and the sixth starts at 5 ms, as does the change: the link was given
    // to it first. The rest take 0.1 ms and 1 ms of delay, but may not overtake.
    assert_eq!(due, [110, 120, 130, 140, 150, 160, 160, 160, 160, 160]);
}

#[test]
fn codel_holds_a_standing_queue_near_its_target() {
    let run = |discipline, ecn| {
        let conditions = Conditions {
            rate_bps: Some(8_000_000),
            queue: Queue { limit: QueueLimit::Packets(10_000), discipline },
            ecn,
            ..Conditions::default()
        };
        // 5 % more than the rate for 60 s.
        send(&mut link(conditions), 63_000, 952_381, Meta { ecn_capable: true, ..data(1000) })
    };
    let sojourn = |out: &[Finished<u64>]| {
        let late: Vec<u64> = delivered(out).iter().map(|packet| packet.record.due_ns - packet.record.in_ns).collect();
        late[late.len() - 5000..].iter().sum::<u64>() / 5000 / MS
    };
    let tail = run(Discipline::DropTail, false);
    assert_eq!(count(&tail, Fate::QueueFull), 0);
    assert!(sojourn(&tail) > 2000, "{}", sojourn(&tail));
    let codel = run(Discipline::CODEL, false);
    assert!(count(&codel, Fate::Aqm) > 1000, "{}", count(&codel, Fate::Aqm));
    assert!(sojourn(&codel) < 400, "{}", sojourn(&codel));
    let marked = run(Discipline::CODEL, true);
    assert_eq!(count(&marked, Fate::Aqm), 0, "ECN-capable packets are marked instead");
    assert!(touched(&marked, Impairments::MARKED) > 1000);
}

#[test]
fn codel_follows_its_control_law() {
    // Always above the target: the first drop comes one interval after the queue stood, then after
    // 100 ÷ √n ms.
    let mut codel = Codel::default();
    let head = |now| Head { now, sojourn_ns: 20 * MS, behind_bytes: 100_000, packet_bytes: 1500, can_mark: false };
    let drops: Vec<u64> = (0..600)
        .map(|ms| ms * MS)
        .filter(|now| codel.decide(5 * MS, 100 * MS, head(*now)) == Verdict::Drop)
        .map(|now| now / MS)
        .collect();
    assert_eq!(drops, [100, 200, 271, 329, 379, 424, 464, 502, 538, 571]);
    assert_eq!(codel.decide(5 * MS, 100 * MS, Head { sojourn_ns: MS, ..head(600 * MS) }), Verdict::Pass);
    assert_eq!(codel.decide(5 * MS, 100 * MS, head(601 * MS)), Verdict::Pass, "it must stand an interval again");
}

#[test]
fn red_drops_a_growing_share() {
    let discipline = Discipline::Red { min_bytes: 5_000, max_bytes: 15_000, max_share: 0.1, weight: 0.02 };
    let conditions = |ecn| Conditions {
        rate_bps: Some(8_000_000),
        queue: Queue { limit: QueueLimit::Bytes(100_000), discipline },
        ecn,
        ..Conditions::default()
    };
    // 5 % too much: the average settles where about 5 % are dropped, between the thresholds.
    let out = send(&mut link(conditions(false)), 20_000, 952_381, data(1000));
    let share = count(&out, Fate::Aqm) as f64 / 20_000.0;
    assert!((0.03..0.07).contains(&share), "{share}");
    assert_eq!(count(&out, Fate::QueueFull), 0);
    let queue = delivered(&out)[10_000..].iter().map(|packet| packet.record.queue_bytes as u64).sum::<u64>()
        / (delivered(&out).len() as u64 - 10_000);
    assert!((5_000..15_000).contains(&queue), "{queue}");
    let marked = send(&mut link(conditions(true)), 2_000, MS, Meta { ecn_capable: true, ..data(1020) });
    assert!(touched(&marked, Impairments::MARKED) > 10, "2 % too much is marked and not dropped");
    assert_eq!(delivered(&send(&mut link(conditions(false)), 1000, 2 * MS, data(1000))).len(), 1000, "half load");
}

#[test]
fn next_event_is_never_late() {
    // Polling only at next_event delivers every packet at its due time exactly.
    let conditions = Conditions {
        rate_bps: Some(10_000_000),
        delay_ns: 5 * MS,
        jitter: Some(Jitter { amount_ns: 3 * MS, distribution: Distribution::Uniform, keep_order: false }),
        reorder: Some(Reorder {
            share: 0.1,
            listed: Loss::None,
            correlation: 0.0,
            by: ReorderBy::Gap { packets: 2, at_most_ns: 4 * MS },
        }),
        ..Conditions::default()
    };
    let mut link = link(conditions);
    for n in 0..500 {
        link.push(0, data(1514), n);
    }
    let mut out = 0;
    while let Some(at) = link.next_event() {
        while let Some(packet) = link.poll(at) {
            assert_eq!(packet.record.due_ns, at);
            out += 1;
        }
        assert!(link.next_event().is_none_or(|next| next > at), "it must go on");
    }
    assert_eq!(out, 500);
    assert!(link.push(10 * SECOND, data(100), 500).is_none());
}

#[test]
fn impossible_conditions_are_refused_by_name() {
    let field = |conditions: Conditions| LinkConfig::steady(conditions, 0).check().unwrap_err().field;
    let default = Conditions::default;
    assert_eq!(field(Conditions { rate_bps: Some(0), ..default() }), "rate");
    assert_eq!(field(Conditions { loss: Loss::Independent(1.5), ..default() }), "loss");
    assert_eq!(field(Conditions { loss: Loss::Independent(f64::NAN), ..default() }), "loss");
    assert_eq!(field(Conditions { delay_ns: MAX_DELAY_NS + 1, ..default() }), "delay");
    assert_eq!(field(Conditions { mtu: Some(Mtu { bytes: 100, icmp: true }), ..default() }), "mtu");
    assert_eq!(field(Conditions { loss: Loss::DataPackets(vec![0]), ..default() }), "loss.data_packets");
    assert_eq!(field(Conditions { loss: Loss::Places(vec![9, 0]), ..default() }), "loss.at");
    let unordered = [2, 1].map(|at_ns| Step { at_ns, conditions: default() });
    assert_eq!(LinkConfig { steps: unordered.into(), ..LinkConfig::default() }.check().unwrap_err().field, "steps");
}

#[test]
fn configurations_survive_json() {
    let config = LinkConfig {
        conditions: Conditions {
            rate_bps: Some(1),
            loss: Loss::DataPackets(vec![1]),
            queue: Queue { limit: QueueLimit::TimeNs(5), discipline: Discipline::CODEL },
            ..Conditions::default()
        },
        steps: vec![Step { at_ns: 1, conditions: Conditions::default() }],
        seed: 9,
    };
    let json = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<LinkConfig>(&json).unwrap(), config);
}
