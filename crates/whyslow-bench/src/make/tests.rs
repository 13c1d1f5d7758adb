#![allow(clippy::unwrap_used)]

use super::*;
use std::fs;
use std::io::Read;
use whyslow_analysis::Analysis;
use whyslow_core::capture::{Packet, Reader, Sink};
use whyslow_core::wire::{self, Checksum, Flags};
use whyslow_diagnosis::explain::Explainer;

/// Small enough for a test.
fn tiny(name: &str) -> Recipe {
    recipes().into_iter().find(|recipe| recipe.name == name).unwrap().smaller(if name == "full" { 500 } else { 2_000 })
}

fn make(recipe: &Recipe) -> (InputFiles, Vec<Vec<u8>>) {
    let folder = tempfile::tempdir().unwrap();
    let made = recipe.make(folder.path()).unwrap();
    let files = made.files.iter().map(|file| fs::read(file).unwrap()).collect();
    (made, files)
}

/// The results of an independent reader of these files.
#[derive(Default)]
struct Contents {
    packets: u64,
    syns: u64,
    fins: u64,
    good: u64,
    unverified: u64,
    sacks: u64,
    last: i64,
}

impl Sink for Contents {
    fn packet(&mut self, packet: &Packet<'_>) {
        let segment = wire::decode_verified(packet).unwrap();
        assert!(!matches!(segment.checksum, Checksum::Bad(_)), "frame {}", packet.frame);
        assert!(packet.time.0 >= self.last, "frame {} is earlier than the one before", packet.frame);
        assert!(!segment.options.malformed || packet.original_len as usize > packet.data.len());
        self.last = packet.time.0;
        self.packets += 1;
        self.syns += u64::from(segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK));
        self.fins += u64::from(segment.flags.has(Flags::FIN));
        self.good += u64::from(segment.checksum == Checksum::Good);
        self.unverified += u64::from(segment.checksum == Checksum::Unknown);
        self.sacks += u64::from(!segment.options.sack.as_slice().is_empty());
    }
}

fn read<S: Sink>(file: &[u8], mut sink: S) -> S {
    let mut reader = Reader::new();
    reader.push(file, &mut sink).unwrap();
    let summary = reader.finish(&mut sink).unwrap();
    let odd: Vec<_> = summary.problems.iter().filter(|problem| problem.slug != "short-snaplen").collect();
    assert!(odd.is_empty(), "{odd:?}");
    sink
}

fn explain(file: &[u8]) -> Analysis {
    read(file, Explainer::new()).finish()
}

#[test]
fn the_same_recipe_gives_the_same_bytes() {
    let (made, files) = make(&tiny("bulk"));
    assert_eq!(make(&tiny("bulk")).1, files);
    // FNV-1a: when it changes, figures can no longer be compared with those of earlier runs. Note
    // that in docs/performance.md.
    let hash = files[0]
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3));
    insta::assert_snapshot!(format!("{hash:016x}, {} packets, {} bytes", made.packets, made.bytes));
}

#[test]
fn every_input_has_its_claimed_properties() {
    for recipe in recipes() {
        let recipe = tiny(recipe.name);
        let (made, files) = make(&recipe);
        let plain = match recipe.pack {
            Pack::Plain | Pack::Rotated(_) => files,
            Pack::Gzip => {
                let mut plain = Vec::new();
                flate2::read::MultiGzDecoder::new(&files[0][..]).read_to_end(&mut plain).unwrap();
                vec![plain]
            }
            Pack::Zstd => vec![zstd::decode_all(&files[0][..]).unwrap()],
        };
        let name = recipe.name;
        assert_eq!(plain.iter().map(Vec::len).sum::<usize>() as u64, made.bytes, "{name}");
        let seen = plain.iter().fold(Contents::default(), |seen, file| read(file, seen));
        assert_eq!((seen.packets, seen.syns), (made.packets, made.connections), "{name}");
        assert!(seen.good > 0 && (recipe.snaplen == 96 || seen.unverified == 0), "{name}");
        match recipe.shape {
            Shape::Bulk { connections } | Shape::Wide { connections } => {
                assert_eq!(made.packets, recipe.packets, "{name}");
                // The last ones begin where a capture as short as this ends.
                let all = u64::from(connections);
                assert!(made.connections > all / 4 && made.connections <= all, "{name}: {made:?}");
            }
            Shape::Each { connections, .. } if made.packets < recipe.packets => {
                assert_eq!((made.connections, seen.fins), (connections.into(), 2 * u64::from(connections)), "{name}");
            }
            Shape::Each { .. } => assert_eq!(made.packets, recipe.packets, "{name}"),
            Shape::Flood { .. } => assert_eq!(seen.good, recipe.packets, "{name}"),
        }
    }
}

#[test]
fn open_connections_match_the_name() {
    let (open, _) = make(&tiny("open"));
    assert_eq!(open.most_at_once, open.connections);
    let (short, _) = make(&tiny("short"));
    assert!(short.most_at_once * 10 < short.connections, "{short:?}");
}

#[test]
fn a_compressed_or_rotated_input_holds_the_same_packets() {
    let (_, bulk) = make(&tiny("bulk"));
    let (_, rotated) = make(&tiny("bulk-rotated"));
    assert_eq!(rotated.len(), 8);
    let joined = rotated.iter().enumerate().flat_map(|(index, file)| &file[if index > 0 { 24 } else { 0 }..]);
    assert!(joined.eq(&bulk[0]));
    assert_eq!(zstd::decode_all(&make(&tiny("bulk-zstd")).1[0][..]).unwrap(), bulk[0]);
    let (_, quarter) = make(&tiny("bulk-quarter"));
    assert!(bulk[0].starts_with(&quarter[0]));
}

#[test]
fn losses_are_repaired_as_a_stack_repairs_them() {
    // The analysis is right about captures of real stacks (docs/accuracy.md): here it must find
    // what was played.
    let recipe = Recipe { packets: 60_000, ..tiny("bulk") };
    let (made, files) = make(&recipe);
    assert!(read(&files[0], Contents::default()).sacks > 100);
    let analysis = explain(&files[0]);
    let halves = || analysis.connections.iter().flat_map(|connection| &connection.directions);
    let again = halves()
        .map(|half| {
            let kinds = &half.retransmitted;
            kinds.fast + kinds.timeout + kinds.tail_probe + kinds.spurious
        })
        .sum::<u64>();
    assert!(made.resent > 300, "{made:?}");
    // Those that were sent and had not passed the capture point when it ended, and those of which
    // only the second copy did.
    assert!(again <= made.resent && again * 10 >= made.resent * 9, "{again} of {}", made.resent);
    assert_eq!(halves().map(|half| half.out_of_order).sum::<u64>(), 0);
    let causes: std::collections::BTreeSet<_> = analysis
        .connections
        .iter()
        .flat_map(|connection| &connection.transfers)
        .flat_map(|transfer| &transfer.findings)
        .map(|finding| finding.cause.slug())
        .collect();
    assert!(causes.contains("slow-start") && causes.len() > 2, "{causes:?}");
}
