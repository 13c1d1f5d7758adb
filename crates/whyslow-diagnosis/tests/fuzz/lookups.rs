//! Targets for the parser of DNS and for the table of lookups.

use super::harness::{fuzz, kind_of};
use super::meter::peak_during;
use super::stages::bounded;
use super::{explain, seeds};
use std::net::IpAddr;
use whyslow_analysis::Frame;
use whyslow_core::capture::{Packet, Reader, Sink};
use whyslow_core::dns::{LookupTable, MessagePlace, PORT};
use whyslow_core::wire::{self, Skip};
use whyslow_units::Time;

const CLIENT: [u8; 4] = [10, 77, 0, 1];
const SERVER: [u8; 4] = [10, 77, 0, 2];
/// Memory limit of the lookups: a name of 1 KiB, 32 addresses and 8 responses for each.
const MEMORY: usize = 16 << 20;

/// Reads messages: flags, a time in units of 20 ms, a length and bytes. Bit 0 of the flags is the
/// sender, bit 1 means TCP, bit 2 another name server. Each is followed by a connection.
fn lookups(input: &[u8]) -> u64 {
    let (kind, peak) = peak_during(|| bounded(input, || read(input)));
    assert!(peak <= MEMORY + 4 * input.len(), "{peak} bytes of memory for an input of {}", input.len());
    kind
}

fn read(input: &[u8]) -> u64 {
    let (mut table, mut rest) = (LookupTable::default(), input);
    let (mut time, mut number) = (Time::ZERO, 0);
    let mut kinds = Vec::new();
    while let [flags, later, length, after @ ..] = rest {
        let (message, after) = after.split_at(after.len().min(usize::from(*length)));
        rest = after;
        time = Time(time.0 + i64::from(*later) * 20_000_000);
        number += 1;
        let server = if flags & 4 == 0 { SERVER } else { [10, 77, 0, 3] };
        let ends = [(IpAddr::from(CLIENT), 40_000), (IpAddr::from(server), PORT)];
        let [from, to] = if flags & 1 == 0 { ends } else { [ends[1], ends[0]] };
        let place = MessagePlace { from, to, time, frame: Frame { file: None, number } };
        match flags & 2 {
            0 => table.observe(message, &place),
            _ => table.observe_segment(message, &place),
        }
        if let Some(found) = table.before(CLIENT.into(), SERVER.into(), time) {
            assert!(found.start <= found.end && found.end <= time, "{found:?}");
            assert!(found.unanswered < found.queries && found.name.len() <= 1_024, "{found:?}");
            assert!(found.frames[0].number <= found.frames[1].number, "{found:?}");
            kinds.push((found.queries.min(4), found.unanswered.min(2), found.searched.min(2), found.silent.is_some()));
        }
    }
    kinds.sort_unstable();
    kinds.dedup();
    kind_of(&kinds)
}

/// The messages of a capture, as [`lookups`] reads them.
#[derive(Default)]
struct Messages(Vec<u8>);

impl Sink for Messages {
    fn packet(&mut self, packet: &Packet<'_>) {
        let Err(Skip::Dns(datagram)) = wire::decode(packet) else { return };
        let payload = datagram.payload(packet);
        self.0.extend([u8::from(datagram.from.1 == PORT), 1, payload.len() as u8]);
        self.0.extend(payload);
    }
}

fn messages() -> Vec<u8> {
    let (mut messages, mut reader) = (Messages::default(), Reader::new());
    reader.push(&seeds::lookup(), &mut messages).unwrap();
    reader.finish(&mut messages).unwrap();
    messages.0
}

/// The last response followed by a connection is found, because otherwise nothing is tested.
#[test]
fn lookup_of_the_seed_is_found() {
    assert_ne!(read(&messages()), kind_of(&Vec::<(u64, u64, u64, bool)>::new()));
}

#[test]
fn messages_of_dns() {
    fuzz("dns", vec![messages()], lookups);
}

#[test]
fn captures_with_lookups() {
    fuzz("dns-capture", vec![seeds::lookup()], explain);
}
