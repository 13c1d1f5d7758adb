//! Compares this crate and tshark on every packet of a collection of real captures.
//!
//! The captures are not part of the project: `WHYSLOW_CAPTURES` is their folder. Without it, or
//! without tshark, the comparison is skipped with a message. [`explained`] lists the intended
//! differences by their mechanism.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use whyslow_core::capture::{LinkType, Packet};
use whyslow_core::wire::{self, Checksum, Segment, Skip};
use whyslow_units::Time;

#[test]
fn every_packet_agrees_with_tshark() {
    let Some(captures) = captures() else { return };
    let scratch = std::env::temp_dir().join(format!("whyslow-wire-{}", std::process::id()));
    fs::create_dir_all(&scratch).unwrap();
    let outcome = compare(&captures, &scratch);
    fs::remove_dir_all(&scratch).unwrap();

    println!("{} packets, {} segments alike", outcome.packets, outcome.equal);
    for (why, count) in &outcome.explained {
        println!("{count:>7} differ: {why}");
    }
    assert!(outcome.equal > 1_000, "the comparison hardly compared anything");
    assert!(outcome.unexplained.is_empty(), "{} differ:\n{}", outcome.unexplained.len(), sample(&outcome.unexplained));
}

#[derive(Default)]
struct Outcome {
    packets: usize,
    equal: usize,
    explained: BTreeMap<&'static str, usize>,
    unexplained: Vec<String>,
}

fn sample(lines: &[String]) -> String {
    lines.iter().take(60).map(|line| format!("  {line}\n")).collect()
}

/// The files to compare; prints the reason and returns `None` if there are none.
#[track_caller]
fn captures() -> Option<Vec<PathBuf>> {
    let root = whyslow_testing::captures().filter(|_| whyslow_testing::tools(&["tshark", "editcap", "mergecap"]))?;
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    Some(whyslow_testing::part_of(files))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            collect(&path, files);
        } else if [".pcap", ".cap", ".pcapng", ".dmp"].iter().any(|end| name.trim_end_matches(".gz").ends_with(end)) {
            files.push(path);
        }
    }
}

/// Converts all files to one format with editcap and merges them, so that tshark has to start only
/// once.
fn compare(captures: &[PathBuf], scratch: &Path) -> Outcome {
    let mut pieces = Vec::new();
    let mut packets = Vec::new();
    for (index, file) in captures.iter().enumerate() {
        let piece = scratch.join(format!("{index}.pcapng"));
        // A truncated or damaged file gives its readable part.
        let _ = Command::new("editcap").args(["-F", "pcapng"]).args([file, &piece]).stderr(Stdio::null()).status();
        let bytes = fs::read(&piece).unwrap_or_default();
        let read = records(&bytes);
        if !read.is_empty() {
            packets.extend(read.into_iter().map(|record| (file.as_path(), record)));
            pieces.push(piece);
        }
    }
    let merged = scratch.join("all.pcapng");
    let status = Command::new("mergecap").args(["-a", "-F", "pcapng", "-w"]).arg(&merged).args(&pieces).status();
    assert!(status.unwrap().success(), "mergecap failed");

    let expected = tshark(&merged);
    assert_eq!(expected.len(), packets.len(), "tshark reads another number of packets");
    let mut outcome = Outcome { packets: packets.len(), ..Outcome::default() };
    let mut frame_in_file = 0;
    let mut file_before = Path::new("");
    for ((file, record), theirs) in packets.iter().zip(&expected) {
        frame_in_file = if *file == file_before { frame_in_file + 1 } else { 1 };
        file_before = file;
        let packet = Packet {
            frame: frame_in_file,
            time: Time::ZERO,
            link: record.link,
            data: &record.data,
            original_len: record.original_len,
        };
        let ours = wire::decode_verified(&packet);
        survives_damage(&packet);
        let differences = differences(&ours, theirs);
        if differences.is_empty() {
            outcome.equal += usize::from(ours.is_ok());
        } else if let Some(why) = explained(&ours, theirs, &differences) {
            *outcome.explained.entry(why).or_default() += 1;
        } else {
            outcome.unexplained.push(format!(
                "{}:{frame_in_file} link {} [{}] {}",
                file.display(),
                record.link.0,
                theirs.field("frame.protocols"),
                differences.join("; ")
            ));
        }
    }
    outcome
}

/// Changes a byte of the packet, or truncates it, at positions that depend on its bytes: nothing
/// may panic.
fn survives_damage(packet: &Packet<'_>) {
    let mut state = packet.data.iter().fold(packet.frame, |sum, byte| sum.rotate_left(5) ^ u64::from(*byte)) | 1;
    for _ in 0..4 {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        let mut data = packet.data.to_vec();
        let at = (state >> 33) as usize % data.len().clamp(1, 160);
        if let Some(byte) = data.get_mut(at) {
            *byte ^= (state >> 16) as u8;
        }
        data.truncate((state >> 40) as usize % (2 * data.len() + 1));
        let damaged = Packet { data: &data, ..*packet };
        if let Ok(segment) = wire::decode_verified(&damaged) {
            assert!(segment.payload.len() <= segment.payload_len as usize);
        }
    }
}

/// One record of a pcapng file.
struct Record {
    link: LinkType,
    original_len: u32,
    data: Vec<u8>,
}

/// The packets of a pcapng file as editcap writes it on this machine: one byte order, and only
/// enhanced packet blocks.
fn records(bytes: &[u8]) -> Vec<Record> {
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let mut interfaces = Vec::new();
    let mut records = Vec::new();
    let mut at = 0;
    while at + 12 <= bytes.len() {
        match number(at) {
            1 => interfaces.push(LinkType(number(at + 8) as u16)),
            6 => records.push(Record {
                link: interfaces[number(at + 8) as usize],
                original_len: number(at + 24),
                data: bytes[at + 28..at + 28 + number(at + 20) as usize].to_vec(),
            }),
            // A custom block: Wireshark numbers it like a packet.
            0x0bad => records.push(Record { link: LinkType(u16::MAX), original_len: 0, data: Vec::new() }),
            _ => {}
        }
        at += number(at + 4) as usize;
    }
    records
}

const FIELDS: [&str; 29] = [
    "frame.number",
    "frame.protocols",
    "ip.src",
    "ip.dst",
    "ip.id",
    "ip.ttl",
    "ip.dsfield.ecn",
    "ip.flags.mf",
    "ipv6.src",
    "ipv6.dst",
    "ipv6.hlim",
    "ipv6.tclass.ecn",
    "ipv6.fraghdr.more",
    "tcp.srcport",
    "tcp.dstport",
    "tcp.seq_raw",
    "tcp.ack_raw",
    "tcp.flags",
    "tcp.window_size_value",
    "tcp.len",
    "tcp.checksum.status",
    "tcp.option_kind",
    "tcp.options.mss_val",
    "tcp.options.wscale.shift",
    "tcp.options.timestamp.tsval",
    "tcp.options.timestamp.tsecr",
    "tcp.options.sack_le",
    "tcp.options.sack_re",
    "_ws.expert.message",
];

/// tshark's view of a packet: all occurrences of each field, outermost first.
struct Theirs(BTreeMap<&'static str, String>);

impl Theirs {
    fn field(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    fn first(&self, name: &str) -> &str {
        self.nth(name, 0)
    }

    /// One occurrence of a field, counted from the outermost.
    fn nth(&self, name: &str, occurrence: usize) -> &str {
        self.field(name).split(',').nth(occurrence).unwrap_or("")
    }

    /// The protocols outside the TCP header, if there is one that is not quoted by an ICMP error.
    /// TCP may carry packets itself (OpenFlow does): then the outermost TCP header counts.
    fn outside_tcp(&self) -> Option<Vec<&str>> {
        let protocols: Vec<&str> = self.field("frame.protocols").split(':').collect();
        let tcp = protocols.iter().position(|name| *name == "tcp")?;
        let outside = &protocols[..tcp];
        (!outside.iter().any(|name| name.starts_with("icmp"))).then(|| outside.to_vec())
    }

    /// Whether TCP is in IPv6, and the index of its IP header among the headers of that version.
    fn ip_around_tcp(&self) -> (bool, usize) {
        let outside = self.outside_tcp().unwrap_or_default();
        let v6 = outside.iter().rfind(|name| **name == "ip" || **name == "ipv6") == Some(&"ipv6");
        let same = outside.iter().filter(|name| **name == if v6 { "ipv6" } else { "ip" }).count();
        (v6, same.saturating_sub(1))
    }
}

fn tshark(file: &Path) -> Vec<Theirs> {
    let mut command = Command::new("tshark");
    command.arg("-r").arg(file).args(["-n", "-T", "fields", "-E", "separator=/t", "-E", "occurrence=a"]);
    for preference in [
        "tcp.relative_sequence_numbers:FALSE",
        "tcp.desegment_tcp_streams:FALSE",
        "tcp.check_checksum:TRUE",
        "ip.defragment:FALSE",
        "ipv6.defragment:FALSE",
    ] {
        command.args(["-o", preference]);
    }
    for field in FIELDS {
        command.args(["-e", field]);
    }
    let output = command.stderr(Stdio::null()).output().unwrap();
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| Theirs(FIELDS.into_iter().zip(line.split('\t').map(str::to_owned)).collect()))
        .collect()
}

/// The differences, as `field ours/theirs`.
fn differences(ours: &Result<Segment<'_>, Skip>, theirs: &Theirs) -> Vec<String> {
    let segment = match (ours, theirs.outside_tcp()) {
        (Err(_), None) => return Vec::new(),
        (Err(skip), Some(_)) => return vec![format!("segment none ({skip})/one")],
        (Ok(_), None) => return vec!["segment one/none".to_owned()],
        (Ok(segment), Some(_)) => segment,
    };
    let mut differences = Differences(Vec::new());
    differences.check_ip(segment, theirs);
    differences.check_header(segment, theirs);
    differences.check_options(segment, theirs);
    differences.0
}

/// The differences, as `field ours/theirs`.
struct Differences(Vec<String>);

impl Differences {
    fn check(&mut self, name: &str, ours: impl ToString, theirs: &str) {
        let ours = ours.to_string();
        if ours != theirs {
            self.0.push(format!("{name} {ours}/{theirs}"));
        }
    }

    fn check_ip(&mut self, segment: &Segment<'_>, theirs: &Theirs) {
        let id = optional(segment.ip_id.map(u64::from));
        let fragment = u8::from(segment.fragment);
        let (v6, level) = theirs.ip_around_tcp();
        if v6 {
            self.check("src", segment.src, theirs.nth("ipv6.src", level));
            self.check("dst", segment.dst, theirs.nth("ipv6.dst", level));
            self.check("id", id, "");
            self.check("ttl", segment.ttl, theirs.nth("ipv6.hlim", level));
            self.check("ecn", segment.ecn, theirs.nth("ipv6.tclass.ecn", level));
            self.check("fragment", fragment, theirs.first("ipv6.fraghdr.more").max("0"));
        } else {
            self.check("src", segment.src, theirs.nth("ip.src", level));
            self.check("dst", segment.dst, theirs.nth("ip.dst", level));
            self.check("id", id, &number(theirs.nth("ip.id", level)));
            self.check("ttl", segment.ttl, theirs.nth("ip.ttl", level));
            self.check("ecn", segment.ecn, theirs.nth("ip.dsfield.ecn", level));
            self.check("fragment", fragment, theirs.nth("ip.flags.mf", level));
        }
        self.check("tunnels", segment.tunnels, &ip_headers_outside(theirs).to_string());
    }

    fn check_header(&mut self, segment: &Segment<'_>, theirs: &Theirs) {
        self.check("src_port", segment.src_port, theirs.first("tcp.srcport"));
        self.check("dst_port", segment.dst_port, theirs.first("tcp.dstport"));
        self.check("seq", segment.seq.0, theirs.first("tcp.seq_raw"));
        self.check("ack", segment.ack.0, theirs.first("tcp.ack_raw"));
        // tshark shows the reserved bits as well.
        let flags = number(theirs.first("tcp.flags")).parse::<u16>();
        let flags = flags.map_or_else(|_| String::new(), |flags| (flags & 0x1ff).to_string());
        self.check("flags", segment.flags.0, &flags);
        self.check("window", segment.window, theirs.first("tcp.window_size_value"));
        self.check("len", segment.payload_len, theirs.first("tcp.len"));
        match (segment.checksum, theirs.first("tcp.checksum.status")) {
            (Checksum::Good, "1") | (Checksum::Bad(_), "0") | (Checksum::Unknown, "" | "2" | "3") => {}
            // tshark has no value for a checksum that was left to the network card.
            (Checksum::Partial, "0" | "2" | "3") => {}
            // tshark was not asked to verify the IP header's checksum; then it does not report
            // TCP's.
            (Checksum::BadHeader(_), "" | "0" | "2" | "3") => {}
            (ours, theirs) => self.check("checksum", format!("{ours:?}"), theirs),
        }
    }

    fn check_options(&mut self, segment: &Segment<'_>, theirs: &Theirs) {
        let options = &segment.options;
        let kinds: Vec<&str> = theirs.field("tcp.option_kind").split(',').collect();
        let has = |kind: &str| u8::from(kinds.contains(&kind)).to_string();
        self.check("mss", optional(options.mss.map(u64::from)), theirs.first("tcp.options.mss_val"));
        self.check("wscale", optional(options.window_scale.map(u64::from)), theirs.first("tcp.options.wscale.shift"));
        let (tsval, tsecr) = options.timestamps.unzip();
        self.check("tsval", optional(tsval.map(u64::from)), theirs.first("tcp.options.timestamp.tsval"));
        self.check("tsecr", optional(tsecr.map(u64::from)), theirs.first("tcp.options.timestamp.tsecr"));
        self.check("sack_permitted", u8::from(options.sack_permitted), &has("4"));
        self.check("mptcp", u8::from(options.mptcp), &has("30"));
        let blocks = options.sack.as_slice();
        let list = |edges: Vec<u32>| edges.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        let left = list(blocks.iter().map(|block| block.0.0).collect());
        let right = list(blocks.iter().map(|block| block.1.0).collect());
        self.check("sack_le", left, theirs.field("tcp.options.sack_le"));
        self.check("sack_re", right, theirs.field("tcp.options.sack_re"));
    }
}

/// A number that may be in hexadecimal.
fn number(text: &str) -> String {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).map_or_else(|_| text.to_owned(), |value| value.to_string()),
        None => text.to_owned(),
    }
}

fn optional(value: Option<u64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn ip_headers_outside(theirs: &Theirs) -> usize {
    let outside = theirs.outside_tcp().unwrap_or_default();
    outside.iter().filter(|name| **name == "ip" || **name == "ipv6").count().saturating_sub(1)
}

/// Why the two differ, for known and intended differences: each by its mechanism.
fn explained(ours: &Result<Segment<'_>, Skip>, theirs: &Theirs, differences: &[String]) -> Option<&'static str> {
    let outside = theirs.outside_tcp().unwrap_or_default();
    let only = |field: &str| differences.iter().all(|difference| difference.starts_with(field));
    let remark = |text: &str| theirs.field("_ws.expert.message").contains(text);
    match ours {
        Err(Skip::LinkType(_)) => Some("an unsupported link type, which is reported"),
        Err(Skip::NotTcp(17) | Skip::Udp(_)) if outside.contains(&"ayiya") => Some("AYIYA, an obsolete tunnel"),
        Err(Skip::NotTcp(17) | Skip::Udp(_)) if outside.contains(&"sflow") => {
            Some("sFlow quotes packets, it does not carry them")
        }
        Err(Skip::NotIp(0x8200..=0x83ff)) if outside.ends_with(&["gre", "wlan", "llc", "ip"]) => {
            Some("802.11 in GRE under one vendor's unregistered numbers")
        }
        Err(Skip::Cut | Skip::Fragment) if theirs.first("tcp.window_size_value").is_empty() => {
            Some("tshark names TCP although the capture or the fragment ends inside its fixed header")
        }
        Err(Skip::Malformed("a TCP header longer than its segment")) if theirs.first("tcp.len").is_empty() => {
            Some("tshark shows fields of a segment that every receiver discards")
        }
        Ok(segment) if segment.fragment && only("len ") && theirs.first("tcp.len").is_empty() => {
            Some("tshark gives no payload length for a first fragment")
        }
        Ok(_)
            if only("checksum Unknown/")
                && (remark("total length exceeds packet length") || remark("payload length exceeds")) =>
        {
            Some("tshark verifies a segment although its end is missing according to IP")
        }
        Ok(segment) if only("checksum Unknown/0") && segment.payload_len > 1500 => {
            Some("tshark sums up a segment whose length was left to the network card")
        }
        Ok(_) if only("segment one/none") && remark("Bad length value 0 < 8") => {
            Some("tshark does not look into UDP whose length was left to the network card")
        }
        Ok(_) if theirs.first("tcp.srcport").is_empty() && remark("IPv6 payload length equals 0") => {
            Some("tshark does not read IPv6 whose length was left to the network card")
        }
        _ => None,
    }
}
