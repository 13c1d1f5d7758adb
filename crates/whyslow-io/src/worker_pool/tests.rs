#![allow(clippy::unwrap_used)]

//! The result does not depend on the number of threads, whatever happens to the input.

use super::*;
use crate::Stop;
use crate::source::BLOCK;
use std::io::{self, Cursor, Read, Write};
use std::num::NonZero;
use std::sync::atomic::Ordering;

/// A capture of this number of packets of connections, few of which are busy at a time and some
/// more than others, in records of their headers alone.
pub(crate) fn capture(packets: u32) -> Vec<u8> {
    let mut file: Vec<u8> =
        [0xa1b2_c3d4u32, 0x0004_0002, 0, 0, 96, 1].iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut steps = [0; 37];
    for number in 0..packets {
        let connection = (number / 3_000 * 5 + (number % 6).min(number % 11)) % 37;
        let step = steps[connection as usize];
        steps[connection as usize] += 1;
        // Those with one between them are more often than not in the care of the same explainer at
        // first.
        let connection = 2 * connection as u8;
        let data = 1000 * u32::saturating_sub(step, 3);
        let (from_server, flags, seq, ack, len) = match step {
            0 => (false, 0x02, 99, 0, 0),
            1 => (true, 0x12, 499, 100, 0),
            2 => (false, 0x10, 100, 500, 0),
            _ if step % 3 == 0 => (false, 0x10, 100, 500 + data, 0),
            _ => (true, 0x10, 500 + data, 100, 1000),
        };
        let micros = 1_600_000_000_000_000 + u64::from(number) * 17;
        let words = [(micros / 1_000_000) as u32, (micros % 1_000_000) as u32, 54, 54 + len];
        words.iter().for_each(|word| file.extend(word.to_le_bytes()));
        file.extend([0; 12]);
        file.extend([8, 0, 0x45, 0]);
        file.extend((40 + len as u16).to_be_bytes());
        file.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
        let ends = [[10, 0, 0, connection], [10, 0, 1, 1]];
        let ports = [40_000u16, 443];
        let order = if from_server { [1, 0] } else { [0, 1] };
        order.iter().for_each(|&end| file.extend(ends[end as usize]));
        order.iter().for_each(|&end| file.extend(ports[end as usize].to_be_bytes()));
        file.extend(u32::to_be_bytes(seq));
        file.extend(u32::to_be_bytes(ack));
        file.extend([0x50, flags, 0xff, 0xff, 0x12, 0x34, 0, 0]);
    }
    file
}

/// The analysis of an input on this number of threads.
fn explained(reader: impl Read + Send + 'static, threads: usize) -> Result<String, String> {
    let mut pool = WorkerPool::new(
        &ExplainOptions { threads: NonZero::new(threads).unwrap(), path_rate: None, keys: None, messages: true },
        None,
    );
    let mut source =
        Source::over("input".to_owned(), reader, false, &Stop::default()).map_err(|error| error.to_string())?;
    let mut calls = 0;
    let mut progress = |bytes| {
        assert!(bytes >= calls, "it only goes on");
        calls = bytes;
    };
    let summary = pool.run(&mut source, &mut progress).map_err(|error| error.to_string())?;
    let PoolFindings { analysis, fingerprints: marks, .. } =
        pool.finish(&Stop::default()).map_err(|error| error.to_string())?;
    Ok(format!("{summary:?} {analysis:?} {marks:?}"))
}

/// Whether the model was run for any transfer of a sample, if a stop is requested before or after
/// the explanation of the read part begins.
fn is_modelled_if_stopped(before: bool) -> bool {
    let stop = Stop::default();
    let mut pool = WorkerPool::new(
        &ExplainOptions { threads: NonZero::new(1).unwrap(), path_rate: None, keys: None, messages: true },
        None,
    );
    let sample = include_bytes!("../../../../samples/slow-start-client.pcap");
    let mut source = Source::over("input".to_owned(), Cursor::new(sample), false, &stop).unwrap();
    pool.run(&mut source, &mut |_| ()).unwrap();
    let ask = || stop.flag().store(true, Ordering::Relaxed);
    if before {
        ask();
    }
    let later = stop.later();
    ask();
    let (fragment, omitted) = pool.into_fragment();
    let PoolFindings { analysis, .. } = finish(fragment, omitted, 1, &later).unwrap();
    analysis.connections[0].transfers.iter().any(|transfer| transfer.model_s.is_some())
}

#[test]
fn a_stop_while_the_model_runs_ends_it_and_one_while_reading_does_not() {
    assert!(is_modelled_if_stopped(true), "what was read is explained");
    assert!(!is_modelled_if_stopped(false));
}

#[test]
fn any_number_of_threads_gives_the_same() {
    // Several blocks.
    let file = capture(40_000);
    assert!(file.len() > 4 * BLOCK);
    let alone = explained(Cursor::new(file.clone()), 1).unwrap();
    assert!(alone.contains("id: 37"));
    for threads in [2, 3, 8] {
        assert_eq!(explained(Cursor::new(file.clone()), threads).unwrap(), alone, "{threads} threads");
    }
}

#[test]
fn a_file_that_breaks_off_gives_what_came_before() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&capture(40_000)).unwrap();
    let mut file = gzip.finish().unwrap();
    file.truncate(file.len() / 2);
    let alone = explained(Cursor::new(file.clone()), 1).unwrap();
    assert!(alone.contains("torn-compression"), "{alone}");
    assert_eq!(explained(Cursor::new(file), 3).unwrap(), alone);
}

/// Gives its bytes, and then fails.
struct Failing(Cursor<Vec<u8>>);

impl Read for Failing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(io::Error::other("the cable is out")),
            read => Ok(read),
        }
    }
}

#[test]
fn a_failing_or_invalid_input_ends_all_threads() {
    let failing = || Failing(Cursor::new(capture(40_000)));
    let alone = explained(failing(), 1).unwrap_err();
    assert!(alone.contains("the cable is out"), "{alone}");
    assert_eq!(explained(failing(), 3).unwrap_err(), alone);
    let junk = || Cursor::new(vec![0x80; 20 * BLOCK]);
    let alone = explained(junk(), 1).unwrap_err();
    assert_eq!(explained(junk(), 3).unwrap_err(), alone);
}
