//! Random sizes, parts and ranges compared with a plain model; many requests within little memory.

use super::*;
use crate::memory::LEAST;
use crate::store::Plan;
use proptest::prelude::*;
use std::time::Duration;

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(work)
}

fn length() -> impl Strategy<Value = usize> {
    prop_oneof![0..20usize, 65_530..65_545usize, 131_060..131_080usize, 0..700_000usize]
}

fn range() -> impl Strategy<Value = Range> {
    let place = || prop_oneof![0..10u64, 65_530..65_540u64, 0..1_500_000u64];
    prop_oneof![
        (place(), place()).prop_map(|(one, other)| Range::FromTo(one.min(other), one.max(other))),
        place().prop_map(Range::From),
        place().prop_map(Range::Last),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn ranges_equal_those_of_the_plaintext(
        single in length(),
        parts in prop::collection::vec(length(), 1..5),
        ranges in prop::collection::vec(range(), 6),
        least_part in prop_oneof![Just(0u32), 1..200_000u32],
        plan in prop::option::of((2..40u64, 1..6usize)),
    ) {
        run(async {
            let bench = in_memory(SealedOptions { least_part, ..SealedOptions::default() });
            bench.memory().state().plan = plan.map(|(size, parallel)| Plan { part_size: size * 10_000, parallel, ..Plan::default() });
            let text = pattern(single, 7);
            bench.put("single", &text).await;
            let numbered: Vec<_> = (1u32..).step_by(3).zip(parts).collect();
            let joined = bench.upload("multi", &numbered).await;
            let other = bench.forgetful();
            for sealed in [&bench.sealed, &other] {
                for (key, text) in [("single", &text), ("multi", &joined)] {
                    assert!(get(sealed, key, None).await.unwrap() == *text);
                    for range in &ranges {
                        let expected = range.of(text.len() as u64);
                        match (get(sealed, key, Some(*range)).await, expected) {
                            (Ok(got), Some((first, end))) => {
                                assert!(got == text[first as usize..end as usize], "{key} {range:?}");
                            }
                            (Err(error), None) => assert_eq!(error.kind, SealedErrorKind::InvalidRange),
                            (got, expected) => panic!("{key} {range:?}: {:?}, not {expected:?}", got.map(|got| got.len())),
                        }
                    }
                }
                assert_eq!(sealed.memory().in_use(), 0);
            }
        });
    }
}

/// Puts, parts, gets and copies of all sizes at once, with clients that stop for a while: more
/// places and buffers are wanted than there are.
#[test]
fn many_requests_stay_within_the_bound_and_all_end() {
    run(async {
        let memory = Memory::new(LEAST);
        let options = SealedOptions { memory: memory.clone(), least_part: 0, ..SealedOptions::default() };
        let bench = in_memory(options);
        bench.memory().state().plan = Some(Plan { part_size: 700_000, parallel: 4, ..Plan::default() });
        let mut tasks = tokio::task::JoinSet::new();
        for seed in 0..60u64 {
            let sealed = bench.sealed.clone();
            tasks.spawn(async move { work(&sealed, seed).await });
        }
        let watched = async {
            while let Some(ended) = tasks.join_next().await {
                ended.unwrap();
                assert!(memory.in_use() <= memory.limit());
            }
        };
        tokio::time::timeout(Duration::from_secs(120), watched).await.expect("some request waits for ever");
        assert!(memory.peak() <= memory.limit(), "{memory:?}");
        assert!(memory.peak() > memory.limit() / 2, "too little was wanted: {memory:?}");
        assert_eq!(memory.in_use(), 0);
    });
}

/// Bytes that come with pauses.
fn slowly(bytes: &[u8], seed: u64) -> Content {
    let mut random = fastrand::Rng::with_seed(seed);
    let pieces: Vec<_> =
        bytes.chunks(90_000).map(|piece| (Bytes::copy_from_slice(piece), random.u64(0..2_000))).collect();
    let paused = stream::iter(pieces).then(|(piece, micros)| async move {
        tokio::time::sleep(Duration::from_micros(micros)).await;
        Ok(piece)
    });
    Content { length: bytes.len() as u64, bytes: paused.boxed() }
}

async fn work(sealed: &SealedStore, seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let key = format!("k{seed}");
    let bytes = pattern(random.usize(0..3_000_000), seed as u8);
    sealed.put(&name(&key), slowly(&bytes, seed), &Attributes::default(), &anyhow()).await.unwrap();
    let opened = sealed.get(&name(&key), None, &anyhow()).await.unwrap();
    let mut read = Vec::new();
    let mut chunks = opened.bytes;
    while let Some(chunk) = chunks.next().await {
        read.extend_from_slice(&chunk.unwrap());
        tokio::time::sleep(Duration::from_micros(random.u64(0..500))).await;
    }
    assert!(read == bytes);
    let id = sealed.create_upload(&name(&key), &Attributes::default()).await.unwrap();
    let whole = sealed.copy_part(&name(&key), &id, 1, (&name(&key), None, &anyhow())).await.unwrap();
    let part = sealed.put_part(&name(&key), &id, 2, slowly(&bytes, seed + 1)).await.unwrap();
    sealed.complete_upload(&name(&key), &id, &[(1, whole.tag), (2, part.tag)], &anyhow()).await.unwrap();
    let last = get(sealed, &key, Some(Range::From(bytes.len() as u64 / 2))).await.unwrap();
    assert!(last == [&bytes[bytes.len() / 2..], &bytes].concat());
}
