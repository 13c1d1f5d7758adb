//! The forms of `-t`.

use super::*;
use crate::capture::Clock;

const TCP: &str = "IP 192.0.2.1.4 > 192.0.2.2.80: Flags [.], ack 1, win 7, length 0";

fn timed(times: &[&str]) -> Read {
    read(&times.iter().map(|time| format!("{time} {TCP}\n")).collect::<String>())
}

#[test]
fn epoch_and_date() {
    let epoch = timed(&["1658816767.794026", "1658816768.000000"]);
    assert_eq!(epoch.summary.clock, Clock::Absolute);
    assert_eq!(epoch.packets[0].nanos, 1_658_816_767_794_026_000);
    assert_eq!(epoch.summary.first_time.unwrap().0, 1_658_816_767_794_026_000);
    let date = timed(&["2022-07-26 06:26:07.794026", "2022-07-26T06:26:08.000000"]);
    assert_eq!(date.packets, epoch.packets);
    let leap =
        timed(&["2024-02-29 00:00:00.000000001", "2024-03-01 00:00:00.000000000", "1970-01-01 00:00:00.000000000"]);
    assert_eq!(leap.packets[1].nanos - leap.packets[0].nanos, 86_400_000_000_000 - 1);
    assert_eq!(leap.packets[2].nanos, 0);
}

#[test]
fn time_of_day_continues_over_midnight() {
    let read = timed(&["23:59:59.900000", "00:00:00.100000", "00:00:00.050000"]);
    assert_eq!(read.summary.clock, Clock::Relative);
    assert_eq!(read.micros(), [0, 200_000, 150_000]);
}

#[test]
fn nanoseconds() {
    let read = timed(&["10:00:00.000000001", "10:00:00.000000009"]);
    assert_eq!(read.packets[1].nanos - read.packets[0].nanos, 8);
}

#[test]
fn times_since_the_previous_packet_are_summed() {
    let read = timed(&[" 00:00:00.000000", " 00:00:00.025000", " 00:00:00.000100", " 00:00:01.000000"]);
    assert_eq!(read.summary.clock, Clock::Relative);
    assert_eq!(read.micros(), [0, 25_000, 25_100, 1_025_100]);
    let backwards = timed(&[" 00:00:00.000000", " 00:00:00.025000", "-00:00:00.005000", " 00:00:00.000100"]);
    assert_eq!(backwards.micros(), [0, 25_000, 20_000, 20_100]);
    let old = timed(&["000000", "025000", "000100", "1. 000000"]);
    assert_eq!(old.micros(), read.micros());
}

#[test]
fn times_since_the_first_packet_are_unchanged() {
    let times = [0, 25_000, 25_100, 1_000_000, 1_000_100, 1_025_000];
    let printed = times.map(|micros| format!(" 00:00:{:02}.{:06}", micros / 1_000_000, micros % 1_000_000));
    assert_eq!(timed(&printed.each_ref().map(String::as_str)).micros(), times);
}

#[test]
fn few_increasing_times_have_an_unknown_base() {
    let few = timed(&[" 00:00:00.000000", " 00:00:00.025000", " 00:00:00.025100", " 00:00:01.000000"]);
    assert_eq!((few.summary.clock, few.count("unclear-times")), (Clock::None, 4));
    let enough = timed(&[
        " 00:00:00.000000",
        " 00:00:00.025000",
        " 00:00:00.025100",
        " 00:00:01.000000",
        " 00:00:01.100000",
        " 00:00:01.200000",
    ]);
    assert_eq!((enough.summary.clock, enough.count("unclear-times")), (Clock::Relative, 0));
    // One that falls by half decides it; one that falls a little may be a reordered packet.
    let steps = timed(&[" 00:00:00.000000", " 00:00:00.025000", " 00:00:00.000100"]);
    assert_eq!((steps.summary.clock, steps.micros()), (Clock::Relative, vec![0, 25_000, 25_100]));
    let little = timed(&[" 00:00:00.000000", " 00:00:00.060000", " 00:00:00.057000"]);
    assert_eq!(little.summary.clock, Clock::None);
    // Just after midnight.
    let night = timed(&["00:10:00.000000", "00:10:00.025000", "00:10:00.025100"]);
    assert_eq!((night.summary.clock, night.micros()), (Clock::Relative, vec![0, 25_000, 25_100]));
}

#[test]
fn tcp_timestamps_show_the_base_of_the_times() {
    let line = |time: &str, value: u32| {
        format!(
            " 00:00:{time} IP 192.0.2.1.4 > 192.0.2.2.80: Flags [.], ack 1, win 7, options [nop,nop,TS val {value} ecr 1], \
             length 0\n"
        )
    };
    let of = |values: [u32; 3]| {
        read(&[line("00.000000", values[0]), line("00.100000", values[1]), line("00.250000", values[2])].concat())
    };
    let steps = of([5_000, 5_100, 5_350]);
    assert_eq!((steps.summary.clock, steps.micros()), (Clock::Relative, vec![0, 100_000, 350_000]));
    let since_first = of([u32::MAX, 99, 249]);
    assert_eq!((since_first.summary.clock, since_first.micros()), (Clock::Relative, vec![0, 100_000, 250_000]));
    let neither = of([5_000, 6_000, 9_000]);
    assert_eq!(neither.summary.clock, Clock::None);
}

#[test]
fn command_line_shows_the_form_of_the_times() {
    let times = [" 00:00:00.000000", " 00:00:00.000100", " 00:00:00.000200", " 00:00:00.000300"];
    let lines: String = times.iter().map(|time| format!("{time} {TCP}\n")).collect();
    let micros = |command: &str| read(&format!("$ sudo tcpdump {command} -i eth0\n{lines}")).micros();
    assert_eq!(micros("-n -ttt"), [0, 100, 300, 600]);
    assert_eq!(micros("-nttttt"), [0, 100, 200, 300]);
}

#[test]
fn number_of_queued_packets_is_bounded() {
    let mut sink = Collect::default();
    let mut reader = TextReader::new();
    for packet in 0..200 {
        let line = format!(" 00:00:00.{:06} {TCP}\n", [7, 90_000, 300][packet % 3]);
        reader.push(line.as_bytes(), &mut sink).unwrap();
    }
    assert_eq!(sink.packets.len(), 199);
    assert_eq!((sink.packets[3].nanos - sink.packets[0].nanos) / 1_000, 90_307);
}

#[test]
fn without_times_there_is_no_clock() {
    let read = read(&format!("{TCP}\n{TCP}\nARP, Request who-has 192.0.2.1 tell 192.0.2.2, length 28\n"));
    assert_eq!(read.summary.packets, 3);
    assert_eq!(read.summary.clock, Clock::None);
    assert_eq!(read.summary.first_time, None);
    let numbered = super::read(&format!("    1  {TCP}\n    5  {TCP}\n"));
    assert_eq!(numbered.packets[1].frame, 5);
}

#[test]
fn a_time_of_another_form_is_counted() {
    let read = timed(&["1658816767.794026", "10:00:00.000000", "1658816768.000000"]);
    assert_eq!(read.count("odd-time"), 1);
    assert_eq!(read.packets[1].nanos, read.packets[0].nanos);
}
