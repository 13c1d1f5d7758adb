//! The bound holds for every order of requests, and each request ends.

use super::*;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_bound_holds_and_all_come_to_an_end() {
    let memory = Memory::new(LEAST);
    let mut tasks = tokio::task::JoinSet::new();
    for seed in 0..200 {
        let memory = memory.clone();
        tasks.spawn(async move {
            let mut random = fastrand::Rng::with_seed(seed);
            let _places = if random.bool() {
                (memory.place().await, None)
            } else {
                let (one, other) = memory.two_places().await;
                (one, Some(other))
            };
            let mut kept = Vec::new();
            for _ in 0..random.usize(1..20) {
                let bytes = random.u64(0..2 << 20);
                let permit = match memory.try_acquire(bytes) {
                    Some(permit) => permit,
                    None => {
                        kept.clear();
                        memory.acquire(bytes).await
                    }
                };
                assert!(memory.in_use() <= memory.limit());
                if random.bool() {
                    kept.push(permit);
                }
                tokio::time::sleep(Duration::from_micros(random.u64(0..300))).await;
            }
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap();
    }
    assert!(memory.peak() <= memory.limit() && memory.peak() > memory.limit() / 2, "{memory:?}");
    assert_eq!(memory.in_use(), 0);
}

#[tokio::test]
async fn permits_are_split_and_given_back() {
    let memory = Memory::new(0);
    assert_eq!(memory.limit(), LEAST);
    let mut permit = memory.acquire(1000).await;
    let part = permit.split(300);
    assert_eq!((permit.bytes(), part.bytes(), memory.in_use()), (700, 300, 1000));
    permit.shrink(600);
    assert_eq!(memory.in_use(), 900);
    let bytes = part.hold(vec![7; 250]);
    let clone = bytes.slice(10..20);
    drop(bytes);
    assert_eq!(memory.in_use(), 850);
    drop(clone);
    assert_eq!(memory.in_use(), 600);
    let all = memory.try_acquire(u64::MAX);
    assert!(all.is_none(), "somebody has some of it");
    drop(permit);
    assert_eq!(memory.try_acquire(u64::MAX).unwrap().bytes(), memory.capacity());
    assert_eq!(memory.in_use(), 0);
}
