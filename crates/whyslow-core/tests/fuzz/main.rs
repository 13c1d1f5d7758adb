//! Hostile input for everything that reads bytes: never a panic, a hang, or more memory than the input explains.
//!
//! A target is a line at the end of this file: a name, what to start from, and a function that takes bytes, checks what must
//! hold, and says what kind of outcome that was. `README.md` beside this file says how to run long and what to do with a find.
#![allow(clippy::unwrap_used)]

#[path = "../../src/capture/build.rs"]
mod build;
mod harness;
mod meter;
mod mutate;
mod seeds;

use harness::{fuzz, kind_of};
use meter::peak_during;
use std::net::IpAddr;
use whyslow_core::capture::{CaptureError, Packet, Reader, Sink, Summary};

/// A fingerprint of all that a reader gives, so that two ways of reading can be compared without keeping anything.
#[derive(Debug, Default, PartialEq, Eq)]
struct Fingerprint {
    packets: u64,
    frame: u64,
    hash: u64,
}

impl Fingerprint {
    fn mix(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.hash = (self.hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

impl Sink for Fingerprint {
    fn packet(&mut self, packet: &Packet<'_>) {
        assert!(packet.frame > self.frame, "frame numbers rise");
        assert!(packet.data.len() <= packet.original_len as usize);
        self.frame = packet.frame;
        self.packets += 1;
        self.mix(&packet.frame.to_le_bytes());
        self.mix(&packet.time.0.to_le_bytes());
        self.mix(&packet.link.0.to_le_bytes());
        self.mix(&packet.original_len.to_le_bytes());
        self.mix(packet.data);
    }

    fn host_name(&mut self, address: IpAddr, name: &str, _stand_in: bool) {
        self.mix(address.to_string().as_bytes());
        self.mix(name.as_bytes());
    }
}

fn read(input: &[u8], piece: usize) -> (Fingerprint, Result<Summary, CaptureError>) {
    let mut fingerprint = Fingerprint::default();
    let mut reader = Reader::new();
    for piece in input.chunks(piece) {
        if let Err(error) = reader.push(piece, &mut fingerprint) {
            return (fingerprint, Err(error));
        }
    }
    let outcome = reader.finish(&mut fingerprint);
    (fingerprint, outcome)
}

/// Reads a capture whole and in pieces, which must come to the same.
fn capture(input: &[u8]) -> u64 {
    let ((whole, outcome), peak) = peak_during(|| read(input, input.len().max(1)));
    // What waits for more is a part of the input; a growing buffer may hold it twice over, and while it is copied, thrice.
    let allowed = 3 * input.len() + (1 << 20);
    assert!(peak <= allowed, "{peak} bytes of memory for an input of {}", input.len());
    // Sizes that vary from input to input.
    let piece = 1 + (input.len() * 31) % 97;
    let ((in_pieces, outcome_in_pieces), peak) = peak_during(|| read(input, piece));
    assert!(peak <= allowed, "{peak} bytes of memory for an input of {} in pieces of {piece}", input.len());
    assert_eq!(format!("{outcome:?}"), format!("{outcome_in_pieces:?}"), "in pieces of {piece}");
    assert_eq!(whole, in_pieces, "in pieces of {piece}");

    match outcome {
        Ok(summary) => {
            assert_eq!(summary.packets, whole.packets);
            assert!(summary.first_time <= summary.last_time);
            let problems = summary.problems.iter().map(|problem| (problem.slug, problem.count.ilog2()));
            kind_of(&(summary.format, summary.packets.checked_ilog2(), problems.collect::<Vec<_>>()))
        }
        Err(error) => kind_of(&error.message.split(|c: char| !c.is_alphabetic()).collect::<Vec<_>>()),
    }
}

#[test]
fn pcap() {
    fuzz("pcap", [seeds::pcap(), seeds::found("pcap")].concat(), capture);
}

#[test]
fn pcapng() {
    fuzz("pcapng", [seeds::pcapng(), seeds::found("pcapng")].concat(), capture);
}
