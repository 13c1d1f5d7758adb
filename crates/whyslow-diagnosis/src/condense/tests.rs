#![allow(clippy::unwrap_used)]
use super::Condenser;
use crate::explain::explain;
use whyslow_analysis::types::ConnectionShard;
use whyslow_core::capture::condensed::CONDENSED_VERSION;
use whyslow_core::capture::{CaptureOrigin, Packet, Reader, Sink, Summary};
use whyslow_units::Time;

/// The rows of a sample with enough packets for several rows.
fn rows() -> Vec<Vec<u8>> {
    let mut rows = Vec::new();
    let origin = CaptureOrigin {
        name: "a".to_owned(),
        opening_packets: 7,
        opening_time: Some(Time(5)),
        share: ConnectionShard::ALL,
    };
    let mut condenser = Condenser::new(&origin, 1, |_, row: Vec<u8>| rows.push(row));
    let mut summary = Summary::default();
    for frame in 1..=3u64 {
        let mut again = Renumbered { condenser: &mut condenser, before: (frame - 1) * 100_000 };
        let mut reader = Reader::new();
        reader.push(include_bytes!("../../../../samples/loss-client.pcap"), &mut again).unwrap();
        summary = reader.finish(&mut again).unwrap();
        condenser.end_row_for_test();
    }
    condenser.finish(&Summary { packets: 3 * summary.packets, ..summary });
    rows
}

/// Changes frame numbers to later ones.
struct Renumbered<'a, F: FnMut(usize, Vec<u8>)> {
    condenser: &'a mut Condenser<F>,
    before: u64,
}

impl<F: FnMut(usize, Vec<u8>)> Sink for Renumbered<'_, F> {
    fn packet(&mut self, packet: &Packet<'_>) {
        self.condenser.packet(&Packet { frame: packet.frame + self.before, ..*packet });
    }
}

fn problems(bytes: &[u8]) -> (u64, Vec<(String, u64)>) {
    let analysis = explain("", bytes).unwrap();
    let capture = &analysis.captures[0];
    let problems = capture.problems.iter().map(|problem| (problem.slug.clone(), problem.count));
    let of_rows = |(slug, _): &(String, u64)| slug == "damaged-record" || slug == "torn-record";
    (capture.packets, problems.filter(of_rows).collect())
}

#[test]
fn first_row_is_the_origin() {
    #[derive(Default)]
    struct Recorded(Option<CaptureOrigin>, u64);
    impl Sink for Recorded {
        fn packet(&mut self, _: &Packet<'_>) {
            assert!(self.0.is_some());
            self.1 += 1;
        }
        fn condensed(&mut self, origin: &CaptureOrigin) {
            self.0 = Some(origin.clone());
        }
    }
    let (mut records, mut reader) = (Recorded::default(), Reader::new());
    rows().concat().chunks(7).for_each(|piece| reader.push(piece, &mut records).unwrap());
    assert_eq!(reader.finish(&mut records).unwrap().packets, records.1);
    let origin = records.0.unwrap();
    assert_eq!((origin.name.as_str(), origin.opening_packets, origin.opening_time), ("a", 7, Some(Time(5))));
}

#[test]
fn damaged_row_loses_only_its_packets() {
    let rows = rows();
    assert_eq!(rows.len(), 5);
    let (all, none) = problems(&rows.concat());
    assert!(none.is_empty(), "{none:?}");
    let without = [&rows[0], &rows[1], &rows[3], &rows[4]].map(Vec::as_slice).concat();
    assert_eq!(problems(&without), (all / 3 * 2, vec![("damaged-record".to_owned(), 1)]));
    let mut damaged = rows.clone();
    let middle = damaged[2].len() / 2;
    damaged[2][middle..].fill(0xff);
    let (packets, what) = problems(&damaged.concat());
    assert_eq!(what, [("damaged-record".to_owned(), 1)]);
    assert!(packets >= all / 3 * 2 && packets < all, "{packets} of {all}");
    let twice = [&rows[..2], &rows[1..]].concat().concat();
    assert_eq!(problems(&twice), (all, vec![("damaged-record".to_owned(), 1)]), "a row that came twice is read once");
}

#[test]
fn truncated_capture_gives_its_complete_rows() {
    let rows = rows();
    let torn = |bytes: &[u8]| problems(bytes);
    let whole = rows.concat();
    let (all, _) = problems(&whole);
    assert_eq!(torn(&rows[..4].concat()), (all, vec![("torn-record".to_owned(), 1)]), "the summary is missing");
    let (packets, what) = torn(&whole[..rows[0].len() + rows[1].len() + 9]);
    assert_eq!((packets, what.as_slice()), (all / 3, &[("torn-record".to_owned(), 1)][..]));
    let error = explain("", &whole[..12]).unwrap_err();
    assert!(error.message.contains("before its first row"), "{}", error.message);
    let error = explain("", &rows[1]).unwrap_err();
    assert!(error.message.contains("lacks its first row"), "{}", error.message);
}

#[test]
fn other_version_is_rejected() {
    let mut bytes = rows().concat();
    bytes[4] = CONDENSED_VERSION + 1;
    let error = explain("", &bytes).unwrap_err();
    assert!(error.message.contains("is of version 3 of the format"), "{}", error.message);
}
