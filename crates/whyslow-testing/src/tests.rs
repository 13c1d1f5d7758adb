//! That a skipped test is seen: each case runs this program again, in which [`victim`] lacks
//! something.
#![allow(clippy::unwrap_used)]

use super::*;

/// Skips on request.
#[test]
fn victim() {
    match std::env::var("WHYSLOW_TESTING_LACKS").as_deref() {
        Ok("tool") => assert!(!tools(&["whyslow-no-such-tool", "sh"])),
        Ok("captures") => assert!(captures().is_none()),
        Ok("capture") => assert!(capture("no such capture").is_none()),
        Ok("quiet") => skip(Lack::Quiet, "2 ms\nlate"),
        _ => {}
    }
}

#[test]
fn part_of_many_is_every_25th_and_never_none() {
    if soaks() {
        return assert_eq!(part_of((0..60).collect()).len(), 60);
    }
    assert_eq!(part_of((0..60).collect()), [0, 25, 50]);
    assert_eq!(part_of(vec![7]), [7]);
}

/// The victim's exit status, its output, and its entry in the list.
fn run(lacks: &str, more: &[(&str, &str)]) -> (bool, String, String) {
    let file = std::env::temp_dir().join(format!("whyslow-testing-{}-{lacks}-{}", std::process::id(), more.len()));
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "tests::victim"]).env_remove("WHYSLOW_REQUIRE_ALL").env_remove("WHYSLOW_CAPTURES");
    command.env("WHYSLOW_TESTING_LACKS", lacks).env("WHYSLOW_SKIPPED", &file).envs(more.iter().copied());
    let output = command.output().unwrap();
    let noted = std::fs::read_to_string(&file).unwrap_or_default();
    let _ = std::fs::remove_file(&file);
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap(), noted)
}

#[test]
fn a_complete_run_prints_nothing() {
    let (passed, text, noted) = run("nothing", &[("WHYSLOW_REQUIRE_ALL", "1")]);
    assert!(passed && !text.contains("skipped") && noted.is_empty(), "{text}\n{noted}");
}

#[test]
fn a_missing_tool_is_named_and_noted() {
    let (passed, text, noted) = run("tool", &[]);
    assert!(passed, "{text}");
    assert!(text.contains("skipped whyslow_testing tests::victim: whyslow-no-such-tool is not installed"), "{text}");
    assert_eq!(noted, "machine\twhyslow_testing tests::victim\twhyslow-no-such-tool is not installed\n");
}

#[test]
fn a_missing_tool_fails_where_all_is_required() {
    let (passed, text, noted) = run("tool", &[("WHYSLOW_REQUIRE_ALL", "1")]);
    assert!(!passed && noted.is_empty(), "{text}\n{noted}");
    assert!(text.contains("cannot test: whyslow-no-such-tool is not installed"), "{text}");
    assert!(run("tool", &[("WHYSLOW_REQUIRE_ALL", "0")]).0, "0 requires nothing");
}

#[test]
fn missing_captures_are_noted_and_never_required() {
    let folder = std::env::temp_dir();
    let here = [("WHYSLOW_CAPTURES", folder.to_str().unwrap()), ("WHYSLOW_REQUIRE_ALL", "1")];
    let (passed, text, noted) = run("capture", &here);
    assert!(passed && noted.starts_with("captures\t"), "{text}\n{noted}");
    let (passed, text, noted) = run("quiet", &here);
    assert!(passed && noted.ends_with("\t2 ms late\n"), "{text}\n{noted}");
}

#[test]
fn a_folder_that_is_named_must_be_there() {
    let (passed, text, _) = run("captures", &[("WHYSLOW_CAPTURES", "/no/such/folder")]);
    assert!(!passed && text.contains("/no/such/folder, which is no folder"), "{text}");
}

#[test]
fn what_cannot_be_noted_fails() {
    let (passed, text, _) = run("tool", &[("WHYSLOW_SKIPPED", "/no/such/folder/file")]);
    assert!(!passed && text.contains("cannot say so"), "{text}");
}
