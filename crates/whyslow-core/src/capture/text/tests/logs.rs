//! Prefixes that logs and containers add before every line.

use super::*;
use crate::capture::Clock;
use proptest::prelude::*;

/// Checks that `text` gives the same packets as `expected`, with the same times between them.
#[track_caller]
fn same(text: &str, expected: &str) {
    let [expected, got] = [read(expected), read(text)];
    let data = |read: &Read| read.packets.iter().map(|packet| (packet.frame, packet.data.clone())).collect::<Vec<_>>();
    assert_eq!(data(&got), data(&expected), "{text}");
    assert_eq!(got.micros(), expected.micros(), "{text}");
    assert_eq!(got.summary.problems, [], "{text}");
    assert_eq!(got.summary.clock, expected.summary.clock, "{text}");
}

fn before_each(prefix: &str, text: &str) -> String {
    text.lines().map(|line| format!("{prefix}{line}\n")).collect()
}

/// Prefixes before a line.
const PREFIXES: [&str; 26] = [
    "Nov 22 10:00:00 host tcpdump[123]: ",
    "Nov  2 10:00:00 host tcpdump[123]: ",
    "Nov 22 10:00:00.123456 host.example.org tcpdump[123]: ",
    "2026-01-01T10:00:00.123Z ",
    "2026-01-01T10:00:00.123456789Z ",
    "2026-01-01T10:00:00.123456789+01:00 stdout F ",
    "2026-01-01T10:00:00+0000 host tcpdump[123]: ",
    "2026-01-01T10:00:00,123456+00:00 host tcpdump[123]: ",
    "2026-01-01 10:00:00,123 ",
    "2026/01/01 10:00:00 ",
    "[2026-01-01 10:00:00] ",
    "Wed 2026-01-01 10:00:00 UTC host tcpdump[123]: ",
    "1658816767.794026 host tcpdump[123]: ",
    "[  123.456789] host tcpdump[123]: ",
    "<13>1 2026-01-01T10:00:00.123456Z host tcpdump 123 - - ",
    "<30>Nov 22 10:00:00 tcpdump[123]: ",
    "Nov 22 10:00:00 ",
    "pod-7  | ",
    "pod-7 | ",
    "web_1      | Nov 22 10:00:00 host tcpdump[123]: ",
    "[pod/x-1/tcpdump] ",
    "[pod/x-1/tcpdump] 2026-01-01T10:00:00.12Z ",
    "2026-01-01T10:00:00.123Z Nov 22 10:00:00 host tcpdump[123]: ",
    "host tcpdump[123]: ",
    "tcpdump[123]: ",
    "> ",
];

const VERBOSE: &str = "10:00:00.000001 IP (tos 0x0, ttl 57, id 4660, offset 0, flags [DF], proto TCP (6), length 1052)\n    \
    192.0.2.1.80 > 192.0.2.2.4000: Flags [.], cksum 0xabcd (incorrect -> 0x1234), seq 1:1001, ack 1, win 9, \
    options [nop,nop,TS val 1 ecr 2], length 1000\n\
    10:00:00.020001 IP (tos 0x0, ttl 64, id 7, offset 0, flags [DF], proto TCP (6), length 52)\n    \
    192.0.2.2.4000 > 192.0.2.1.80: Flags [.], cksum 0xabcd (incorrect -> 0x1234), ack 1001, win 9, \
    options [nop,nop,TS val 2 ecr 1], length 0\n";

#[test]
fn prefixes_are_removed_and_tcpdumps_time_is_used() {
    for prefix in PREFIXES {
        same(&before_each(prefix, &handshake()), &handshake());
        same(&before_each(prefix, VERBOSE), VERBOSE);
    }
}

#[test]
fn prefixes_of_following_lines_are_removed() {
    let dump = "10:00:00.1 IP 192.0.2.1.40000 > 192.0.2.2.80: Flags [P.], seq 4096:4104, ack 8192, win 502, length 8\n\
                \t0x0000:  4500 0030 1b68 4000 4006 9b5c c000 0201  E..0.h@.@.......\n\
                \t0x0010:  c000 0202 9c40 0050 0000 1000 0000 2000  .....@.P........\n\
                \t0x0020:  5018 01f6 0000 0000 6162 6364 6566 6768  P.......abcdefgh\n";
    for prefix in PREFIXES {
        same(&before_each(prefix, dump), dump);
    }
    let escaped = before_each("Nov 22 10:00:00 host tcpdump[123]: ", &dump.replace('\t', "#011"));
    same(&escaped, dump);
}

#[test]
fn every_form_of_time_after_a_prefix_is_read() {
    let forms = ["1658816767.794026", "2022-07-26 06:26:07.794026", " 00:00:00.000000", "10:00:00.000001"];
    for (prefix, form) in PREFIXES.into_iter().flat_map(|prefix| forms.map(|form| (prefix, form))) {
        let text = format!("{form} {}", SYN.split_once(' ').unwrap().1);
        same(&before_each(prefix, &text), &text);
    }
}

#[test]
fn numbers_after_a_prefix_are_frame_numbers() {
    let text: String = handshake().lines().zip(7..).map(|(line, n)| format!("{n:5}  {line}\n")).collect();
    for prefix in PREFIXES {
        same(&before_each(prefix, &text), &text);
    }
}

#[test]
fn lines_of_other_programs_are_not_packets() {
    let mut text = String::new();
    for line in VERBOSE.lines() {
        text += &format!("Nov 22 10:00:00.123456 host tcpdump[123]: {line}\n");
        text += "Nov 22 10:00:00.123457 host sshd[9]: Accepted publickey for root from 192.0.2.9 port 22\n";
    }
    same(&text, VERBOSE);
}

/// The handshake as `tcpdump -t` prints it, each line with the time from a log.
fn untimed(before: impl Fn(usize) -> String) -> String {
    let own = |line: &str| line.split_once(' ').unwrap().1.to_owned();
    handshake().lines().enumerate().map(|(n, line)| format!("{}{}\n", before(n), own(line))).collect()
}

#[test]
fn log_time_is_used_without_another_time() {
    let read = read(&untimed(|n| format!("2026-01-01T10:00:00.{:03}Z ", 20 * n)));
    assert_eq!(read.micros(), [0, 20_000, 40_000, 60_000]);
    assert_eq!(read.summary.clock, Clock::Absolute);
    assert_eq!(read.summary.first_time.unwrap().0, 1_767_261_600_000_000_000);
    assert_eq!(read.count("log-times"), 4);
    let zone = super::read(&untimed(|n| format!("2026-01-01T11:30:00.{:03}+01:30 stdout F ", 20 * n)));
    assert_eq!(zone.summary.first_time, read.summary.first_time);
    // As many digits as are not zero.
    let digits = super::read(&untimed(|n| format!("2026-01-01T10:00:00.{}Z ", ["1", "12", "1234567", "2"][n])));
    assert_eq!(digits.micros(), [0, 20_000, 23_456, 100_000]);
}

#[test]
fn whole_seconds_are_not_used() {
    for before in ["Nov 22 10:00:00 host tcpdump[123]: ", "2026-01-01T10:00:00+00:00 host tcpdump[123]: "] {
        let read = read(&untimed(|_| before.to_owned()));
        assert_eq!(read.summary.clock, Clock::None);
        assert_eq!(read.summary.first_time, None);
        assert_eq!(read.count("coarse-times"), 4);
        assert_eq!(read.segments().len(), 4);
    }
    let cut: String = handshake().lines().map(|line| format!("10:00:00{}\n", &line[15..])).collect();
    assert_eq!((read(&cut).summary.clock, read(&cut).count("coarse-times")), (Clock::None, 4));
}

#[test]
fn whole_second_among_finer_times_is_counted() {
    let lines: Vec<_> = handshake().lines().map(String::from).collect();
    let read = read(&format!("{}\n{}\n10:00:00{}\n", lines[0], lines[1], &lines[2][15..]));
    assert_eq!((read.count("odd-time"), read.summary.clock), (1, Clock::Relative));
    assert_eq!(read.micros(), [0, 20_000, 20_000]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Arbitrary names of hosts, programs and containers.
    #[test]
    fn any_host_and_program_names_are_removed(
        host in "[a-z][a-z0-9.-]{0,12}",
        program in "[a-z][a-z0-9_-]{0,12}",
        pid in 1..99_999_u32,
        form in 0..5_u8,
        verbose in any::<bool>(),
        step in 1..100_usize,
    ) {
        let prefix = match form {
            0 => format!("Nov 22 10:00:00 {host} {program}[{pid}]: "),
            1 => format!("2026-01-01T10:00:00.{pid:06}Z {host} {program}: "),
            2 => format!("{host}-{pid}  | "),
            3 => format!("[pod/{host}/{program}] "),
            _ => format!("[pod/{host}/{program}] 2026-01-01T10:00:00.{pid:09}Z "),
        };
        let plain = if verbose { VERBOSE.to_owned() } else { handshake() };
        let (expected, got) = (read(&plain), try_read(before_each(&prefix, &plain).as_bytes(), step).unwrap());
        prop_assert_eq!(got.packets, expected.packets);
        prop_assert_eq!(got.summary.problems, expected.summary.problems);
    }

    /// Arbitrary lines in any order, with or without prefixes.
    #[test]
    fn any_mixture_of_lines_is_harmless(
        lines in prop::collection::vec((0..PREFIXES.len() + 1, 0..8_usize, "[ -~]{0,40}"), 0..40),
        ends in prop::sample::select(vec!["\n", "\r\n", "\r"]),
        step in 1..100_usize,
    ) {
        let known: Vec<String> = handshake().lines().chain(VERBOSE.lines()).map(String::from).collect();
        let text: String = lines
            .iter()
            .map(|(prefix, line, other)| {
                format!("{}{}{ends}", PREFIXES.get(*prefix).unwrap_or(&""), known.get(*line).unwrap_or(other))
            })
            .collect();
        let (whole, split) = (try_read(text.as_bytes(), usize::MAX), try_read(text.as_bytes(), step));
        prop_assert_eq!(whole.map(|read| (read.packets, read.summary.problems)),
                        split.map(|read| (read.packets, read.summary.problems)));
    }
}
