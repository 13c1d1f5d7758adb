//! The summary lines of tshark and Wireshark, read by the complete reader.

use super::*;

const LINES: [&str; 4] = [
    "    1 0.000000000    192.0.2.1 → 192.0.2.2    TCP 74 40000 → 80 [SYN] Seq=0 Win=64240 Len=0 MSS=1460 SACK_PERM TSval=7 \
     TSecr=0 WS=128",
    "    2 0.020000000    192.0.2.2 → 192.0.2.1    TCP 74 80 → 40000 [SYN, ACK] Seq=0 Ack=1 Win=65160 Len=0 MSS=1460 \
     SACK_PERM TSval=9 TSecr=7 WS=128",
    "    3 0.020100000    192.0.2.1 → 192.0.2.2    TCP 66 40000 → 80 [ACK] Seq=1 Ack=1 Win=64256 Len=0 TSval=27 TSecr=9",
    "    4 0.020200000    192.0.2.1 → 192.0.2.2    TCP 166 [TCP Retransmission] 40000 → 80 [PSH, ACK] Seq=1 Ack=1 \
     Win=64256 Len=100 TSval=27 TSecr=9 SLE=1449 SRE=2897",
];

fn text() -> String {
    LINES.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn summary_lines_are_segments() {
    let read = read(&text());
    assert_eq!(read.summary.problems, []);
    let segments = read.segments();
    let shown: Vec<_> = segments.iter().map(|s| (s.flags.as_str(), s.seq, s.ack, s.window, s.len)).collect();
    assert_eq!(shown, [("S", 0, 0, 64240, 0), ("S.", 0, 1, 65160, 0), (".", 1, 1, 502, 0), ("P.", 1, 1, 502, 100)]);
    assert_eq!(segments[3].options, ["nop", "nop", "TS 27 9", "nop", "nop", "sack 1449:2897"]);
    assert_eq!(read.micros(), [0, 20_000, 20_100, 20_200]);
    assert_eq!(read.packets.iter().map(|packet| packet.frame).collect::<Vec<_>>(), [1, 2, 3, 4]);
}

#[test]
fn quoted_and_wrapped_lines_are_the_same_segments() {
    let expected = read(&text()).segments();
    let header = "No.     Time           Source                Destination           Protocol Length Info\n";
    for changed in [
        LINES.iter().map(|line| format!("> > {line}\n")).collect(),
        text().replace('\n', "\r\n"),
        text().replace("→", "-&gt;"),
        text().replace("[TCP Retr", "\n[TCP Retr"),
        text().replace(" Seq=", "\nSeq="),
        text().replace(" Win=", "\n> Win=").replace(" TSval", "\nTSval"),
        format!("Hello,\nthis is what I see:\n\n{header}{}\nAny ideas?\n", text()),
        LINES.iter().map(|line| format!("{header}{line}\n\nFrame 1: 74 bytes on wire\n    Seq: 1\n")).collect(),
    ] {
        let read = read(&changed);
        assert_eq!(read.segments(), expected, "{changed}");
        assert_eq!(read.summary.problems, [], "{changed}");
    }
}

#[test]
fn rows_of_csv_are_the_same_segments() {
    let row = |line: &str| {
        let (columns, info) = line.split_once(" 40000 → ").or_else(|| line.split_once(" 80 → ")).unwrap();
        let port = if line.contains(" 40000 → ") { 40000 } else { 80 };
        let columns: Vec<_> = columns.split_whitespace().filter(|word| *word != "→").collect();
        let (first, note) = columns.split_at(6);
        let note: String = note.iter().map(|word| format!("{word} ")).collect();
        format!("\"{}\",\"{note}{port} → {info}\"\n", first.join("\",\""))
    };
    let rows: String = LINES.iter().map(|line| row(line)).collect();
    let read = read(&format!("\"No.\",\"Time\",\"Source\",\"Destination\",\"Protocol\",\"Length\",\"Info\"\n{rows}"));
    assert_eq!(read.segments(), super::read(&text()).segments());
    assert_eq!(read.summary.problems, []);
}

#[test]
fn steps_between_packets_are_added_up() {
    // Times as printed by `tshark -t d`.
    let times = ["0.000000000", "0.020000000", "0.000100000", "0.000100000"];
    let lines = LINES.iter().zip(times).map(|(line, time)| format!("{}{time}{}\n", &line[..6], &line[17..]));
    assert_eq!(read(&lines.collect::<String>()).micros(), [0, 20_000, 20_100, 20_200]);
}

#[test]
fn unreadable_lines_are_counted() {
    let odd = |lines: &str| read(&format!("{}{lines}\n", text()));
    let tls = odd("    5 0.0203    192.0.2.1 → 192.0.2.2    TLSv1.2 266 Application Data");
    assert_eq!((tls.count("inferred-info"), tls.segments()[4].seq, tls.segments()[4].len), (1, 101, 200));
    let again = odd("    5 0.0203    192.0.2.1 → 192.0.2.2    TLSv1.2 266 [TCP Retransmission] , Application Data");
    assert_eq!((again.count("unread-info"), again.segments().len()), (1, 4));
    let cut = odd("    5 0.0203    192.0.2.1 → 192.0.2.2    TCP 66 40000 → 80 [ACK] Seq=101 Ack=1");
    assert_eq!((cut.count("cut-line"), cut.segments().len()), (1, 5));
    let bare = odd("    5 0.0203    192.0.2.1 → 192.0.2.2    TCP 66 40000");
    assert_eq!((bare.count("unread-line"), bare.packets.len()), (1, 5));
    let others =
        odd("5 0.1 192.0.2.1 → 192.0.2.9 DNS 80 Standard query 0x1 A a.example\n6 0.1 a → b ARP 42 Who has a?");
    assert_eq!((others.packets.len(), others.summary.problems.len()), (6, 0));
}

#[test]
fn split_of_summary_lines_changes_no_packet() {
    let text = text().replace(" Win=", "\n> Win=");
    let whole = try_read(text.as_bytes(), usize::MAX).unwrap();
    for step in 1..40 {
        assert_eq!(try_read(text.as_bytes(), step).unwrap().packets, whole.packets);
    }
}

#[test]
fn a_second_capture_of_the_same_connection_is_left_out() {
    let both = read(&format!("at the client:\n{}\nat the server:\n{}", text(), text().replace("0.000000", "0.000100")));
    assert_eq!(both.segments(), read(&text()).segments());
    assert_eq!(both.count("second-capture"), 4);
    // Another connection, or consecutive numbers, are not a second capture.
    let other = text().replace("40000", "40001");
    assert_eq!(read(&format!("{}{other}", text())).count("second-capture"), 0);
    let on: String = (5..).zip(LINES).map(|(number, line)| format!("{number}{}\n", line.get(5..).unwrap())).collect();
    assert_eq!(read(&format!("{}{on}", text())).count("second-capture"), 0);
}

#[test]
fn rows_of_other_tables_are_the_same_segments() {
    let columns = |line: &str| line.splitn(8, ' ').map(str::to_owned).collect::<Vec<_>>();
    for (first, between, last) in [("| ", " | ", " |"), ("\"", "\";\"", "\""), ("\"", "\"\t\"", "\"")] {
        let row = |line: &str| {
            let line = line.split_whitespace().filter(|word| *word != "→").collect::<Vec<_>>().join(" ");
            let line = line.replace("40000 80", "40000 → 80").replace("80 40000", "80 → 40000");
            format!("{first}{}{last}\n", columns(&line).join(between))
        };
        let rows: String = LINES.iter().map(|line| row(line)).collect();
        let read = read(&rows);
        assert_eq!(read.segments(), super::read(&text()).segments(), "{rows}");
        assert_eq!(read.summary.problems, []);
    }
}
