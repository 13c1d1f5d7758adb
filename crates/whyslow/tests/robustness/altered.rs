//! The bundled captures as they come in tickets: their addresses rewritten and their checksums left
//! as they were, cut to the headers; or with one bit that is not as it was sent.

use super::{Outcome, explain, over_all, samples};
use serde_json::Value;
use std::path::Path;
use whyslow_testing::{part_of, soaks};

/// A pcap of Ethernet and IPv4, packet by packet.
struct File {
    head: Vec<u8>,
    /// The record's head, and the captured bytes.
    packets: Vec<(Vec<u8>, Vec<u8>)>,
}

impl File {
    fn read(path: &Path) -> Self {
        let bytes = super::content(path);
        let (head, mut rest) = bytes.split_at(24);
        let mut packets = Vec::new();
        while rest.len() >= 16 {
            let (record, after) = rest.split_at(16);
            let (data, after) = after.split_at(u32::from_le_bytes(record[8..12].try_into().unwrap()) as usize);
            packets.push((record.to_vec(), data.to_vec()));
            rest = after;
        }
        Self { head: head.to_vec(), packets }
    }

    fn explained(&self) -> Result<Value, String> {
        let mut bytes = self.head.clone();
        for (record, data) in &self.packets {
            bytes.extend(&record[..8]);
            bytes.extend((data.len() as u32).to_le_bytes());
            bytes.extend(&record[12..]);
            bytes.extend(data);
        }
        let file = tempfile::Builder::new().suffix(".pcap").tempfile().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        match explain(file.path())? {
            Outcome::Explained(analysis) => Ok(analysis),
            Outcome::Refused(reason) => Err(reason),
        }
    }

    fn packets(&mut self) -> impl Iterator<Item = &mut Vec<u8>> {
        self.packets.iter_mut().map(|(_, data)| data)
    }

    /// As `-s` would have.
    fn cut(&mut self, snaplen: usize) {
        self.packets().for_each(|data| data.truncate(snaplen));
    }

    /// Whether it is one that the lab has recorded, by its addresses.
    fn is_labs(&self) -> bool {
        let is = |data: &[u8]| data[12..14] == [8, 0] && data[26..28] == [10, 77] && data[30..32] == [10, 77];
        self.packets.iter().all(|(_, data)| is(data))
    }

    /// 10.77.x becomes 10.78.x; TCP's checksum stays as it was, and IP's too, unless it is
    /// recomputed.
    fn rewrite(&mut self, mend: bool) {
        for data in self.packets() {
            (data[27], data[31]) = (78, 78);
            // ICMP quotes the packet that it is about.
            if data[23] == 1 && data.len() >= 62 {
                (data[55], data[59]) = (78, 78);
            }
            if mend {
                data[24..26].fill(0);
                let words = data[14..34].chunks(2).map(|two| u32::from(u16::from_be_bytes([two[0], two[1]])));
                let sum = words.sum::<u32>() % 0xffff;
                data[24..26].copy_from_slice(&(0xffff - sum as u16).to_be_bytes());
            }
        }
    }
}

/// All verdicts, with the addresses as they were, and without the capture's own problems.
fn verdicts(analysis: &Value) -> String {
    let text = format!("{}\n{}", analysis["connections"], analysis["findings"]);
    text.replace("10.78.", "10.77.")
}

fn problem(analysis: &Value, slug: &str) -> u64 {
    let problems = analysis["captures"][0]["problems"].as_array().unwrap();
    problems.iter().find(|problem| problem["slug"] == slug).map_or(0, |problem| problem["count"].as_u64().unwrap())
}

#[test]
fn rewritten_addresses_change_no_verdict() {
    let (mut wrong, least) = (0, if soaks() { 20_000 } else { 1_000 });
    over_all(&part_of(samples()), |path| {
        for snaplen in [usize::MAX, 64] {
            let mut file = File::read(path);
            if !file.is_labs() {
                return Ok(());
            }
            file.cut(snaplen);
            let before = file.explained()?;
            for mend in [false, true] {
                let mut file = File::read(path);
                file.rewrite(mend);
                file.cut(snaplen);
                let after = file.explained()?;
                if verdicts(&before) != verdicts(&after) {
                    return Err(format!("another verdict with {snaplen} bytes of each packet, mended: {mend}"));
                }
                if problem(&before, "bad-checksums") != 0 {
                    return Err("wrong checksums where they are right".to_owned());
                }
                wrong += problem(&after, "bad-checksums");
            }
        }
        Ok(())
    });
    // Checksums of segments without payload, which are checked, and of their connections' first.
    assert!(wrong > least, "{wrong} wrong checksums are told");
}

/// Where in a packet: which byte of which field of Ethernet, IPv4 and TCP.
const NUMBERS: [usize; 4] = [38, 39, 42, 43];
const ADDRESSES: [usize; 8] = [26, 27, 28, 29, 30, 31, 32, 33];

#[test]
fn one_bit_invents_neither_bytes_nor_connections() {
    let total = |analysis: &Value| -> u64 {
        let connections = analysis["connections"].as_array().unwrap().iter();
        let halves = connections.flat_map(|connection| connection["directions"].as_array().unwrap());
        halves.map(|half| half["bytes"].as_u64().unwrap()).sum()
    };
    let mut dice = fastrand::Rng::with_seed(7);
    let (mut damaged, least) = (0, if soaks() { 100 } else { 10 });
    over_all(&part_of(samples()), |path| {
        let mut file = File::read(path);
        if !file.is_labs() {
            return Ok(());
        }
        let whole = file.explained()?;
        for turn in 0..6 {
            let places: &[usize] = if turn % 2 == 0 { &NUMBERS } else { &ADDRESSES };
            // Not so early that nothing is known of the others.
            let (packet, place) = (dice.usize(8..file.packets.len()), places[dice.usize(..places.len())]);
            // The bits of the number beyond the window's.
            let low = if place == 39 || place == 43 { 5 } else { 0 };
            let bit = 1 << dice.u8(low..if place == 38 || place == 42 { 6 } else { 8 });
            file.packets[packet].1[place] ^= bit;
            let analysis = file.explained()?;
            file.packets[packet].1[place] ^= bit;
            let connections = |analysis: &Value| analysis["connections"].as_array().unwrap().len();
            if connections(&analysis) != connections(&whole) {
                return Err(format!("{} connections by byte {place} of packet {packet}", connections(&analysis)));
            }
            let (before, after) = (total(&whole), total(&analysis));
            if before.abs_diff(after) > 70_000 {
                return Err(format!("{after} bytes, {before} before, by byte {place} of packet {packet}"));
            }
            damaged += problem(&analysis, "damaged-packets");
        }
        Ok(())
    });
    assert!(damaged >= least, "{damaged} packets with another address are no connection's");
}
