//! Compares the readers with Wireshark's on real and unusual captures: frames, times, lengths and
//! link types must be equal.
//!
//! Needs captures (next to the repository, or in the folder `WHYSLOW_CAPTURES`) and Wireshark's
//! tools; without them it is skipped with a message.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use whyslow_core::capture::{CaptureError, Packet, Reader, Sink, Summary};

/// The compared fields of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Line {
    frame: u64,
    time: i64,
    link: u16,
    captured: usize,
    original: u32,
}

#[derive(Debug, Default)]
struct Lines(Vec<Line>);

impl Sink for Lines {
    fn packet(&mut self, packet: &Packet<'_>) {
        self.0.push(Line {
            frame: packet.frame,
            time: packet.time.0,
            link: packet.link.0,
            captured: packet.data.len(),
            original: packet.original_len,
        });
    }
}

fn try_read(path: &Path) -> Result<(Vec<Line>, Summary), CaptureError> {
    let mut lines = Lines::default();
    let mut reader = Reader::new();
    reader.push(&fs::read(path).unwrap(), &mut lines)?;
    let summary = reader.finish(&mut lines)?;
    Ok((lines.0, summary))
}

fn read(path: &Path) -> (Vec<Line>, Summary) {
    try_read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The folder of captures; prints a message and returns `None` if it or a tool is missing.
#[track_caller]
fn captures(tools: &[&str]) -> Option<PathBuf> {
    whyslow_testing::captures().filter(|_| whyslow_testing::tools(tools))
}

/// All uncompressed captures in a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path
            .extension()
            .is_some_and(|extension| ["pcap", "pcapng", "cap"].iter().any(|known| extension == *known))
        {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// An empty folder for the files of a test.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The standard output and error output of a tool.
fn run(tool: &str, options: &[&str], files: &[PathBuf]) -> (String, String) {
    let output = Command::new(tool).args(options).args(files).output().unwrap();
    (String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The number of frames that Wireshark counts in each file that it can open; in a truncated file,
/// those before the truncated one.
fn counts(files: &[PathBuf]) -> BTreeMap<PathBuf, u64> {
    // A table without a heading: name, tab, exact number of packets.
    let (table, _) = run("capinfos", &["-T", "-r", "-M", "-c"], files);
    let rows = table.lines().filter_map(|line| line.split_once('\t'));
    rows.map(|(name, count)| (PathBuf::from(name), count.trim().parse().unwrap())).collect()
}

/// LINKTYPE_ERF.
const ERF: u16 = 197;

/// Bytes that Wireshark removes from the packet as a pseudo-header, by link type.
fn pseudo_header(link: u16) -> usize {
    match link {
        123 | 139 | 201 | 254 => 4,
        144 | 177 | ERF => 16,
        196 | 209 => 5,
        204 => 1,
        _ => 0,
    }
}

fn nanos(epoch: &str) -> i64 {
    let (seconds, fraction) = epoch.split_once('.').unwrap_or((epoch, ""));
    let fraction: i64 = format!("{fraction:0<9}").parse().unwrap();
    let whole = seconds.parse::<i64>().unwrap().saturating_mul(1_000_000_000);
    if seconds.starts_with('-') { whole.saturating_sub(fraction) } else { whole.saturating_add(fraction) }
}

fn count(summary: &Summary, slug: &str) -> u64 {
    summary.problems.iter().find(|problem| problem.slug == slug).map_or(0, |problem| problem.count)
}

/// One line of tshark for each frame, packet or not.
fn tshark(file: &Path) -> Vec<String> {
    let fields = ["frame.time_epoch", "frame.cap_len", "frame.len", "frame.encap_type"];
    let options: Vec<&str> =
        fields.into_iter().flat_map(|field| ["-e", field]).chain(["-n", "-T", "fields", "-r"]).collect();
    run("tshark", &options, &[file.to_owned()]).0.lines().map(str::to_owned).collect()
}

/// Compares the packets of files with tshark's lines.
#[derive(Default)]
struct Comparison {
    /// Wireshark's number for the encapsulation, by link type.
    encapsulations: BTreeMap<u16, String>,
    frames: u64,
}

impl Comparison {
    fn compare(&mut self, file: &Path, lines: &[String]) {
        let name = file.display();
        let (ours, summary) = read(file);
        assert_eq!(count(&summary, "damaged-record") + count(&summary, "torn-record"), 0, "{name}: {summary:?}");
        assert_eq!(lines.len() as u64, summary.packets + count(&summary, "not-a-packet"), "{name}: frames");
        let mut timeless = count(&summary, "no-time");
        for ours in ours {
            let frame = ours.frame;
            let fields: Vec<&str> = lines[frame as usize - 1].split('\t').collect();
            let [time, captured, original, encapsulation] = fields[..] else { panic!("{name}: {fields:?}") };
            let stripped = pseudo_header(ours.link);
            let (captured, original) = (captured.parse::<usize>().unwrap(), original.parse::<usize>().unwrap());
            assert_eq!(ours.captured, captured + stripped, "{name}: captured length of frame {frame}");
            assert_eq!(ours.original as usize, original.max(captured) + stripped, "{name}: length of frame {frame}");
            // mergecap gives a packet without a time the time 0 (1970).
            if timeless > 0 && (time.is_empty() || nanos(time) == 0) {
                timeless -= 1;
            } else if count(&summary, "odd-time") > 0 {
                // Wireshark converts microseconds to nanoseconds in 32 bits, and mergecap rounds
                // them down again.
                assert!(ours.time.wrapping_sub(nanos(time)) % (1 << 32) < 1_000, "{name}: time of frame {frame}");
            } else if ours.link == ERF {
                // Wireshark takes the time from the ERF header.
                assert!((ours.time - nanos(time)).abs() < 1_000, "{name}: time of frame {frame}");
            } else {
                assert_eq!(ours.time, nanos(time), "{name}: time of frame {frame}");
            }
            let known = self.encapsulations.entry(ours.link).or_insert_with(|| encapsulation.to_owned());
            assert_eq!(known, encapsulation, "{name}: link type of frame {frame}");
            self.frames += 1;
        }
        assert_eq!(timeless, 0, "{name}: packets without a time");
    }
}

#[test]
fn every_frame_agrees_with_tshark() {
    let Some(folder) = captures(&["capinfos", "mergecap", "tshark", "tcpdump"]) else { return };
    let all = whyslow_testing::part_of(files(&folder));
    let least = if whyslow_testing::soaks() { 900 } else { 36 };
    let counts = counts(&all);
    // Formats of other programs are rejected with the command that converts them.
    let commands = ["editcap -F", "gunzip FILE"];
    let is_other_format = |file: &PathBuf| {
        try_read(file).is_err_and(|error| commands.iter().any(|command| error.message.contains(command)))
    };
    let (other_formats, all): (Vec<PathBuf>, Vec<_>) = all.into_iter().partition(is_other_format);
    assert!(other_formats.len() < 50, "{} files of other formats", other_formats.len());
    let (readable, foreign): (Vec<PathBuf>, _) = all.into_iter().partition(|file| counts.contains_key(file));
    assert!(readable.len() > least && foreign.len() < 50, "{} files, {} foreign", readable.len(), foreign.len());
    let mut comparison = Comparison::default();

    // mergecap stops at a truncated file: only its number of frames is compared.
    let is_torn = |file: &PathBuf| count(&read(file).1, "torn-record") > 0;
    let (torn, readable): (Vec<_>, Vec<_>) = readable.into_iter().partition(is_torn);
    assert!(torn.len() < 50, "{} torn files", torn.len());
    for file in &torn {
        assert_eq!(read(file).1.packets, counts[file], "{}: frames before it is torn", file.display());
    }

    // All files in one, so that tshark starts only once; except those with custom blocks, because
    // mergecap keeps only some of these.
    let (custom, plain): (Vec<_>, Vec<_>) =
        readable.into_iter().partition(|file| count(&read(file).1, "not-a-packet") > 0);
    let merged = scratch("odd").join("merged.pcapng");
    let (_, errors) = run("mergecap", &["-a", "-I", "none", "-w", merged.to_str().unwrap()], &plain);
    assert_eq!(errors, "");
    let lines = tshark(&merged);
    let mut rest = &lines[..];
    for file in &plain {
        let (these, others) = rest.split_at(counts[file] as usize);
        comparison.compare(file, these);
        rest = others;
    }
    assert!(rest.is_empty(), "{} more frames in tshark", rest.len());
    for file in &custom {
        comparison.compare(file, &tshark(file));
    }
    let Comparison { encapsulations, frames } = comparison;
    eprintln!(
        "{frames} frames of {}+{} files are the same, of {} link types",
        plain.len(),
        custom.len(),
        encapsulations.len()
    );

    // Wireshark rejects unknown link types; here their packets are read and reported as unknown
    // later.
    let mut counted = 0;
    for file in &foreign {
        let (ours, _) = read(file);
        // Neither tool reads some files, for example those with ns-3's own link types.
        let (count, _) = run("tcpdump", &["--count", "-r"], std::slice::from_ref(file));
        let count = count.split_whitespace().next().map(|count| count.parse::<usize>().unwrap());
        assert!(count.is_none_or(|count| ours.len() == count), "{}: {count:?}", file.display());
        counted += usize::from(count.is_some());
    }
    let least = if whyslow_testing::soaks() { 10 } else { 0 };
    assert!(counted > least, "{counted} of {} files counted by tcpdump", foreign.len());
}

/// Wireshark counts the frames before the truncated one; the reader must do the same, and report
/// where the file is truncated.
#[test]
fn truncated_captures_have_the_same_frame_count() {
    let Some(folder) = captures(&["capinfos"]) else { return };
    let scratch = scratch("torn");
    let (step, least) = if whyslow_testing::soaks() { (3, 250) } else { (30, 25) };
    let mut torn = Vec::new();
    for (at, file) in files(&folder.join("odd")).iter().enumerate().filter(|(at, _)| at % step == 0) {
        let bytes = fs::read(file).unwrap();
        // Anywhere after the file's header; a simple generator is random enough.
        let left = 28 + (at * 7_919 + bytes.len() * 31) % bytes.len().saturating_sub(28).max(1);
        let path = scratch.join(format!("{at}-{}", file.file_name().unwrap().to_str().unwrap()));
        fs::write(&path, &bytes[..left.min(bytes.len())]).unwrap();
        torn.push(path);
    }
    let counts = counts(&torn);
    assert!(counts.len() > least, "{} files", counts.len());
    let (mut reported, mut damaged) = (0, 0);
    for (path, theirs) in &counts {
        let (ours, summary) = match try_read(path) {
            Ok(read) => read,
            Err(error) => {
                // Wireshark mistakes some of these for one of its other formats.
                assert!(error.message.contains("inside its"), "{}: {error}", path.display());
                reported += 1;
                continue;
            }
        };
        if count(&summary, "damaged-record") > 0 {
            // The reader continues where Wireshark stops.
            assert!(ours.len() as u64 >= *theirs, "{}: {summary:?}", path.display());
            damaged += 1;
            continue;
        }
        assert_eq!(ours.len() as u64, *theirs, "{}: {summary:?}", path.display());
        reported += count(&summary, "torn-record");
    }
    assert!(reported > counts.len() as u64 / 2, "{reported} of {} torn captures are reported", counts.len());
    assert!(damaged < 10, "{damaged} of {} torn captures are taken for damaged ones", counts.len());
    eprintln!("{} torn captures have the same number of frames", counts.len());
}

/// The same packets in every format variant that Wireshark writes and this crate reads.
#[test]
fn variants_hold_the_same_packets() {
    let Some(folder) = captures(&["editcap"]) else { return };
    let scratch = scratch("variants");
    let source = folder.join("pku.cap");
    let (expected, _) = read(&source);
    assert!(expected.len() > 800);
    for format in ["pcap", "nsecpcap", "modlibpcap", "pcapng"] {
        let variant = scratch.join(format);
        let (_, errors) = run("editcap", &["-F", format], &[source.clone(), variant.clone()]);
        assert_eq!(errors, "", "{format}");
        assert_eq!(read(&variant).0, expected, "{format}");
    }
}
