#![allow(clippy::unwrap_used)]
use super::*;
use crate::link::config::{Loss, QueueLimit};
use crate::scenario::work::Side;

fn one(text: &str) -> Scenario {
    load("test.toml", text, &[]).unwrap().runs.remove(0).scenario
}

fn refused(text: &str) -> String {
    load("test.toml", text, &[]).unwrap_err().to_string()
}

#[test]
fn a_scenario_becomes_a_path() {
    let scenario = one(r#"
        cause = "receive-window"
        [path]
        rtt = "100ms"
        [path.down]
        rate = "8mbit"
        queue = "250ms"
        loss = "1%"
        [[path.down.step]]
        at = "5s"
        set = { loss = { packets = [3] } }
        [client]
        rcvbuf = "16KiB"
        tcp_rmem = ["4KiB", "64KiB", "64KiB"]
        [work.download]
        size = "512KiB"
    "#);
    let path = scenario.resolve().unwrap();
    let down = &path.links[0].down;
    assert_eq!(down.conditions.delay_ns, 50_000_000);
    assert_eq!(down.conditions.rate_bps, Some(8_000_000));
    assert_eq!(down.conditions.queue.limit, QueueLimit::TimeNs(250_000_000));
    assert_eq!(down.conditions.loss, Loss::Independent(0.01));
    assert_eq!(down.steps[0].at_ns, 5_000_000_000);
    assert_eq!(down.steps[0].conditions.loss, Loss::DataPackets(vec![3]));
    assert_eq!(down.steps[0].conditions.rate_bps, Some(8_000_000), "what a step does not name stays");
    assert_ne!(down.seed, path.links[0].up.seed);
    assert_eq!(path.client.sysctls["net.ipv4.tcp_rmem"], "4096 65536 65536");
    assert_eq!(scenario.client.socket().rcvbuf, Some(units::Size(16_384)));
}

#[test]
fn a_proxys_program_sets_its_payload() {
    for (proxy, work, word) in [
        ("program = \"haproxy\"", "download.size = \"1MB\"", "the protocol \"http\""),
        ("program = \"nginx\"", "turns.count = 3", "downloads and uploads"),
        ("pool = true", "download.protocol = \"http\"", "takes the program haproxy or nginx"),
        ("program = \"nginx\"\nhost.sndbuf = \"8KiB\"", "download.protocol = \"http\"", "their own sockets"),
        ("program = \"squid\"", "download.protocol = \"http\"", "squid"),
    ] {
        let message = refused(&format!("[proxy]\n{proxy}\n[work]\n{work}\n"));
        assert!(message.contains(word), "{message}");
    }
    let scenario =
        one("[proxy]\nprogram = \"haproxy\"\npool = true\n[work.download]\nprotocol = \"http\"\ncount = 3\n");
    let Work::Download(behind) = scenario.proxy.as_ref().unwrap().behind(&scenario.work) else { panic!() };
    assert_eq!((behind.connection, behind.count), (Connection::Reused, 3), "the server has one connection");
}

#[test]
fn a_second_client_has_its_own_work_on_the_same_path() {
    let scenario = one("path.rtt = \"20ms\"\n[cross]\nlead = \"1s\"\nhost.initcwnd = 42\nwork.upload.size = \"1MB\"\n");
    let path = scenario.resolve().unwrap();
    assert_eq!(path.cross.unwrap().route.initcwnd, Some(42));
    assert_eq!(path.links.len(), 1);
    let message = refused("[cross]\nwork.download.count = 0\n");
    assert!(message.contains("cross.work.download.count"), "{message}");
}

#[test]
fn a_recorded_scenario_reads_back_the_same() {
    let scenario = one(r#"
        [path]
        rtt = "10ms"
        [path.down]
        loss = { gilbert_elliott = { to_bad = "1%", to_good = "20%" } }
        queue = "50 packets"
        aqm = { codel = {} }
        [proxy]
        buffer = "8KiB"
        path = { rtt = "90ms" }
        [work.upload]
        sizes = ["1KiB", "1MiB"]
    "#);
    let json = serde_json::to_string(&scenario).unwrap();
    assert_eq!(serde_json::from_str::<Scenario>(&json).unwrap(), scenario);
}

#[test]
fn the_matrix_crosses_its_lists_in_the_order_of_the_file() {
    let experiment = load(
        "test.toml",
        r#"
        path.rtt = "1ms"
        [[case]]
        name = "plain"
        [[case]]
        name = "lossy"
        set = { path.down.loss = "1%" }
        [matrix]
        "server.initcwnd" = [10, 100]
        "path.rtt" = ["5ms", "7ms"]
        [[expect]]
        when = { "path.rtt" = "7ms", "server.initcwnd" = 100, case = "lossy" }
        figure = "span"
        is = "63ms"
        "#,
        &[("work.download.size".into(), "2MiB".into())],
    )
    .unwrap();
    let labels: Vec<_> = experiment.runs.iter().map(|r| r.label.as_str()).collect();
    assert_eq!(labels.len(), 8);
    assert_eq!(labels[0], "plain server.initcwnd=10 path.rtt=5ms");
    assert_eq!(labels[1], "plain server.initcwnd=10 path.rtt=7ms");
    assert_eq!(labels[7], "lossy server.initcwnd=100 path.rtt=7ms");
    let last = &experiment.runs[7];
    assert_eq!(last.scenario.server.initcwnd, Some(100));
    assert_eq!(last.scenario.resolve().unwrap().links[0].down.conditions.loss, Loss::Independent(0.01));
    assert!(matches!(&last.scenario.work, Work::Download(t) if t.size == Size(2 << 20)));
    assert!(last.is_meant(&experiment.expect[0]));
    assert_eq!(experiment.runs.iter().filter(|r| r.is_meant(&experiment.expect[0])).count(), 1);
    let keys: std::collections::BTreeSet<_> = experiment.runs.iter().map(|r| r.scenario.key()).collect();
    assert_eq!(keys.len(), 8, "each run has a key of its own");
}

#[test]
fn an_unknown_key_is_shown_where_it_stands() {
    let message = refused("cause = \"loss\"\n\n[path.down]\nrat = \"8mbit\"\n");
    assert!(message.starts_with("`path.down.rat`: unknown key `rat`: did you mean `rate`?"), "{message}");
    assert!(message.contains("--> test.toml:4:1"), "{message}");
    assert!(message.contains("4 | rat = \"8mbit\"\n  | ^^^\n"), "{message}");
    assert!(message.contains("allowed: `rate`, `trace`, `queue`"), "{message}");
}

#[test]
fn a_missing_unit_names_the_units() {
    let message = refused("[path]\nrtt = 100\n");
    assert!(message.contains("`path.rtt`: `100` has no unit"), "{message}");
    assert!(message.contains("\"100ms\""), "{message}");
    assert!(message.contains("test.toml:2:7"), "{message}");
    let message = refused("[matrix]\n\"path.down.rate\" = [\"8mbit\", \"9\"]\n");
    assert!(message.contains("test.toml:2:30"), "points into the list: {message}");
    assert!(message.contains("`9` is not a rate"), "{message}");
}

#[test]
fn impossible_values_are_refused_with_their_place() {
    for (text, key, place) in [
        ("[server]\ncongestion = \"vegas\"", "server.congestion", ":2:14"),
        ("[path]\nrtt = \"1ms\"\ndown.delay = \"5ms\"", "path.down.delay", ":3:14"),
        ("[path.down]\nrate = \"0mbit\"", "path.down.rate", ":2:8"),
        ("[client]\ntcp_rmem = [\"8KiB\", \"4KiB\", \"64KiB\"]", "client.tcp_rmem", ":2:1"),
        ("[work.credit]\nwindow = \"1KiB\"", "work.credit.window", ":2:10"),
        ("[work.download]\ncount = 0", "work.download.count", ":2:9"),
        ("[path.down]\nloss = \"130%\"", "path.down.loss", ":2:8"),
    ] {
        let message = refused(text);
        assert!(message.contains(&format!("`{key}`")), "{message}");
        assert!(message.contains(&format!("test.toml{place}")), "{message}");
    }
}

#[test]
fn what_is_not_toml_or_not_a_matrix_is_refused() {
    assert!(refused("path = \n").contains("test.toml:1"));
    assert!(refused("[matrix]\n\"path.rtt\" = \"1ms\"").contains("not a list"));
    assert!(refused("[matrix]\n\"path.rtt\" = []").contains("an empty list"));
    assert!(refused("[[case]]\nset = {}").contains("without a name"));
    assert!(refused("[[case]]\nname = \"a\"\n[[case]]\nname = \"a\"").contains("a second case `a`"));
    assert!(refused("[work]\ndownlod = {}").contains("`download`"), "{}", refused("[work]\ndownlod = {}"));
    assert!(refused("[[expect]]\nwhen = { case = \"x\" }\nfigure = \"span\"\nis = \"1ms\"").contains("no run has"));
    assert!(refused("verify = [\"server.rwnd >= 1%\"]").contains("there is no figure"));
}

#[test]
fn an_error_of_the_command_line_is_shown_there_and_not_in_the_file() {
    let text = "cause = \"loss\"\n[matrix]\n\"snaplen\" = [\"100B\"]\n";
    let refused = |key: &str, value: &str| {
        let overrides = [("path.seed".into(), "7".into()), (key.into(), value.into())];
        load("t.toml", text, &overrides).unwrap_err().to_string()
    };
    let message = refused("path.rtt", "5");
    assert!(message.starts_with("`path.rtt`: `5` has no unit"), "{message}");
    assert!(message.contains("--> the command line:1:10\n  |\n1 | path.rtt=5\n  |          ^"), "{message}");
    let message = refused("path.down.policer", r#"{ rate = "8mbit", bust = "1kB" }"#);
    assert!(message.contains("the command line:1:19"), "{message}");
    assert!(message.contains("unknown key `bust`"), "{message}");
    let message = refused("path.up.rate", "0mbit");
    assert!(message.contains("`path.up.rate`") && message.contains("the command line:1:14"), "{message}");
    let message = refused("path.dwn.rate", "1mbit");
    assert!(message.contains("unknown key `dwn`") && message.contains("the command line"), "{message}");
    let message = refused("cause.x", "1");
    assert!(message.contains("`cause` is not a table") && message.contains("the command line"), "{message}");
}

#[test]
fn a_case_is_laid_over_the_file_and_the_command_line_over_the_case() {
    let text = r#"
        [path.down]
        loss = "1%"
        [work.download]
        size = "1MiB"
        count = 2
        [[case]]
        name = "a"
        set = { work.download.forget = true, "path.down.loss" = { packets = [3] } }
        [[case]]
        name = "b"
        set = { work.download.size = "2MiB" }
    "#;
    let work = |overrides: &[(String, String)]| -> Vec<(u64, u32, bool)> {
        let runs = load("test.toml", text, overrides).unwrap().runs;
        let one = |run: Variant| match run.scenario.work {
            Work::Download(t) => (t.size.0 >> 20, t.count, t.forget),
            _ => panic!("another workload"),
        };
        runs.into_iter().map(one).collect()
    };
    assert_eq!(work(&[]), [(1, 2, true), (2, 2, false)]);
    assert_eq!(work(&[("work.download.size".into(), "4MiB".into())]), [(4, 2, true), (4, 2, false)]);
    let loss = &load("test.toml", text, &[]).unwrap().runs[0].scenario.path.down.loss;
    assert_eq!(serde_json::to_string(loss).unwrap(), r#"{"packets":[3]}"#);
}

#[test]
fn the_scenario_in_the_documentation_is_one() {
    let docs = include_str!("../../../../docs/lab.md");
    let text: String = docs
        .lines()
        .skip_while(|line| !line.starts_with("    name "))
        .take_while(|line| line.is_empty() || line.starts_with("    "))
        .map(|line| format!("{}\n", line.trim_start()))
        .collect();
    let experiment = load("docs/lab.md", &text, &[]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((experiment.runs.len(), experiment.expect.len()), (2, 1));
    assert!(experiment.runs.iter().any(|run| run.is_meant(&experiment.expect[0])));
}

#[test]
fn a_script_is_written_as_it_is_read_and_never_waits_for_itself() {
    let text = "path.down.loss = { at = [\"14480B\", \"0B\", \"14480B\"] }\n\
                client.before = [\"sysctl -w net.ipv4.tcp_sack=1\"]\n\
                [work.script]\nchunk = \"4KiB\"\nclient_reads = { stops = [{ at = \"1kB\", length = \"5ms\" }] }\n\
                server_window = { initial = \"2kB\", by = 0.5 }\n\
                [[work.script.messages]]\nfrom = \"client\"\nsize = \"100B\"\n\
                [[work.script.messages]]\nfrom = \"server\"\nsize = \"4kB\"\nwait = \"20ms\"\n\
                [[work.script.messages]]\nfrom = \"client\"\nsize = \"13B\"\nafter = \"2kB\"\n";
    let scenario = load("a test", text, &[]).unwrap().runs.remove(0).scenario;
    let path = scenario.resolve().unwrap();
    assert_eq!(path.links[0].down.conditions.loss, Loss::Places(vec![0, 14_480, 14_480]));
    let again = load("again", &toml::to_string(&scenario).unwrap(), &[]).unwrap().runs.remove(0).scenario;
    assert_eq!(again, scenario);
    let Work::Script(script) = &scenario.work else { panic!("a script") };
    assert_eq!(script.with_needs().iter().map(|(_, needs)| *needs).collect::<Vec<_>>(), [0, 100, 2_000]);
    assert_eq!((script.bytes_of(Side::Client), script.bytes_of(Side::Server)), (113, 4_000));
    for (from, to) in [
        ("after = \"2kB\"", "after = \"5kB\""),
        ("size = \"13B\"", "size = \"0B\""),
        ("chunk = \"4KiB\"", "chunk = \"0B\""),
        ("by = 0.5", "by = 1.5"),
    ] {
        assert!(load("wrong", &text.replace(from, to), &[]).is_err(), "{to}");
    }
}
