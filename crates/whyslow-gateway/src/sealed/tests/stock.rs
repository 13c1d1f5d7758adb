//! Stock age opens stored objects.

use super::*;
use crate::store::Plan;
use std::process::Command;

#[tokio::test]
async fn the_age_program_opens_what_was_put() {
    if !whyslow_testing::tools(&["age"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let bench = in_memory(SealedOptions { least_part: 200_000, ..SealedOptions::default() });
    let identity = folder.path().join("epoch.key");
    std::fs::write(&identity, bench.epoch.identity().to_text().as_bytes()).unwrap();
    let opened = |bytes: &[u8]| {
        let file = folder.path().join("object");
        std::fs::write(&file, bytes).unwrap();
        let output = Command::new("age").args(["-d", "-i"]).args([&identity, &file]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let stored = |key| bench.memory().state().objects[&name(key)].bytes.clone();
    for (plan, length) in
        [(None, 0), (None, 1_000_000), (Some(Plan { part_size: 300_000, parallel: 2, ..Plan::default() }), 2_000_000)]
    {
        bench.memory().state().plan = plan;
        let bytes = pattern(length, 3);
        bench.put("single", &bytes).await;
        assert!(opened(&stored("single")) == bytes, "{length} B");
    }
    let bytes = bench.upload("multi", &[(1, 300_000), (2, 50_000)]).await;
    let first = 276 + 300_000 + 16 * 5;
    let second = 276 + 50_000 + 16;
    let multi = stored("multi");
    assert!([opened(&multi[..first]), opened(&multi[first..first + second])].concat() == bytes);
}
