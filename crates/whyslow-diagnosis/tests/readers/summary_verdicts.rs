//! The summary lines that tshark prints for a sample must give the same causes, or less certain
//! ones.
//!
//! Needs tshark; skipped without it.

use super::text_verdicts::{explain, samples};
use std::process::{Command, Stdio};

#[test]
fn tshark_summaries_have_the_causes_of_their_capture() {
    if !whyslow_testing::tools(&["tshark"]) {
        return;
    }
    let (mut same, mut report) = (0, String::new());
    let files = samples();
    for path in &files {
        let name = path.file_name().unwrap().to_str().unwrap();
        let printed = Command::new("tshark").arg("-r").arg(path).stderr(Stdio::null()).output().unwrap().stdout;
        let [expected, got] = [std::fs::read(path).unwrap(), printed].map(|bytes| explain(&bytes).unwrap().causes);
        let slugs = |causes: &[(String, &'static str, f64)]| causes.iter().map(|cause| cause.1).collect::<Vec<_>>();
        same += u32::from(slugs(&expected) == slugs(&got));
        for (ends, cause, confidence) in got {
            if confidence >= 0.9 && !expected.iter().any(|(_, known, _)| *known == cause) {
                report += &format!("{name}: {ends} has {cause}, {confidence}, in the text alone\n");
            }
        }
    }
    println!("{same} of {} samples have the same causes", files.len());
    assert!(report.is_empty(), "{report}");
    assert!(same * 10 >= files.len() as u32 * 8, "{same} of {}", files.len());
}
