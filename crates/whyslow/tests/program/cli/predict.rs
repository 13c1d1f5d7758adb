//! `whyslow predict`: its output and its errors. The tests of the figures themselves are next to
//! the model.

use crate::{complaint, whyslow};
use serde_json::Value;

fn stdout(args: &[&str]) -> String {
    let output = whyslow().arg("predict").args(args).assert().code(0).stderr("").get_output().stdout.clone();
    String::from_utf8(output).unwrap()
}

#[test]
fn an_upload_and_what_would_make_it_faster() {
    let page = stdout(&["--bytes", "1MB", "--rtt", "200ms", "--rate", "1gbit", "--way", "upload", "--tls", "1.3"]);
    assert!(page.starts_with("1,000,000 B up on a new connection"), "{page}");
    for part in ["H handshake 200 ms", "T TLS 200 ms", "reuse an open connection", "initial window 10 → 45 segments"]
    {
        assert!(page.contains(part), "{page}");
    }
}

#[test]
fn json_is_for_programs() {
    let args =
        ["--bytes", "300KB", "--rtt", "100ms", "--loss", "1%", "--cc", "reno", "--idle", "5s", "--reuse", "--json"];
    let forecast: Value = serde_json::from_str(&stdout(&args)).unwrap();
    assert_eq!(forecast["schema"], "whyslow-predict/1");
    assert_eq!(forecast["plan"]["congestion_control"], "reno");
    assert!(forecast["p10_s"].as_f64().unwrap() <= forecast["total_s"].as_f64().unwrap());
    assert!(forecast["changes"].as_array().unwrap().iter().all(|change| change["saves_s"].as_f64().unwrap() > 0.0));
    // The same question has the same answer.
    assert_eq!(stdout(&args), stdout(&args));
}

#[test]
fn what_makes_no_sense_is_refused_with_a_reason() {
    for (args, expected) in [
        (&["--bytes", "1MB"][..], "--rtt <TIME>"),
        (&["--bytes", "1000", "--rtt", "1ms"], "has no unit"),
        (&["--bytes", "1MB", "--rtt", "200"], "has no unit"),
        (&["--bytes", "1MB", "--rtt", "1ms", "--rate", "0mbit"], "out of range"),
        (&["--bytes", "1MB", "--rtt", "1ms", "--rate", "9parsec"], "unknown rate unit `parsec`"),
        (&["--bytes", "1MB", "--rtt", "1ms", "--loss", "80%"], "out of range"),
        (&["--bytes", "1MB", "--rtt", "1ms", "--mss", "1B"], "from 64 to 65,483"),
        (&["--bytes", "1MB", "--rtt", "1ms", "--idle", "3s"], "add --reuse"),
        (&["--bytes", "1MB", "--rtt", "1ms", "--cc", "vegas"], "possible values"),
    ] {
        let complaint = complaint(whyslow().arg("predict").args(args));
        assert!(complaint.contains(expected), "{args:?}: {complaint}");
    }
}
