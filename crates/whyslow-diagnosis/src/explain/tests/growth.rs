//! The steps that hostile connections take: in proportion to their packets, whatever these are.

use super::super::*;
use super::packet;
use whyslow_core::capture::LinkType;
use whyslow_units::steps;

/// Gives an explainer the packets of one connection.
struct Connection {
    explainer: Explainer,
    time: Time,
    frame: u64,
}

impl Connection {
    fn new() -> Self {
        let mut explainer = Explainer::new();
        explainer.begin_capture("");
        let mut new = Self { explainer, time: Time(1_700_000_000_000_000_000), frame: 0 };
        new.send(0, Flags::SYN, [0, 0], 0);
        new.send(1, Flags::SYN | Flags::ACK, [0, 1], 0);
        new.ack(0);
        new
    }

    fn send(&mut self, from: usize, flags: Flags, numbers: [u32; 2], len: u32) {
        self.time += Nanos::from_micros(20);
        self.frame += 1;
        let data = packet(1, from, flags, numbers, (len, self.frame as u16));
        let (frame, time, link) = (self.frame, self.time, LinkType(1));
        self.explainer.packet(&Packet { frame, time, link, data: &data, original_len: 54 + len });
    }

    /// The server's bytes from `offset` on.
    fn down(&mut self, offset: u32, len: u32) {
        self.send(1, Flags::ACK, [offset.wrapping_add(1), 1], len);
    }

    /// The client's ACK of this many bytes.
    fn ack(&mut self, offset: u32) {
        self.send(0, Flags::ACK, [1, offset.wrapping_add(1)], 0);
    }
}

fn falling_hole(to: &mut Connection, count: u32) {
    to.down(count, 1_000);
    (0..count).rev().for_each(|i| to.down(i, 1));
}

fn rising_hole(to: &mut Connection, count: u32) {
    (0..count).for_each(|i| to.down(2 * count + i, 1));
    (0..count).for_each(|i| to.down(i, 1));
}

fn split_hole(to: &mut Connection, count: u32) {
    to.down(2 * count, 1_000);
    (0..count).for_each(|i| to.down(2 * i + 1, 1));
}

fn held_holes(to: &mut Connection, count: u32) {
    (0..count).for_each(|i| to.down(10 * i + 5, 5));
    (0..count).for_each(|_| to.ack(0));
}

fn covering_copies(to: &mut Connection, count: u32) {
    (0..count).for_each(|i| to.down(i, 1));
    (0..count).for_each(|_| to.down(0, count));
}

fn overlapping_copies(to: &mut Connection, count: u32) {
    to.down(0, 100);
    to.down(50, 100);
    (0..count).for_each(|i| to.down(150 + i, 1));
    (0..count).for_each(|i| to.down(150 + i, 1));
}

fn sequence_jumps(to: &mut Connection, count: u32) {
    let mut place = 1u32;
    for _ in 0..count {
        place = place.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        to.down(place, 100);
    }
}

#[test]
fn steps_grow_in_proportion_to_the_packets() {
    type Hostile = fn(&mut Connection, u32);
    let all: [(&str, Hostile); 7] = [
        ("falling hole", falling_hole),
        ("rising hole", rising_hole),
        ("split hole", split_hole),
        ("held holes", held_holes),
        ("covering copies", covering_copies),
        ("overlapping copies", overlapping_copies),
        ("sequence jumps", sequence_jumps),
    ];
    for (name, hostile) in all {
        let steps = |count: u32| {
            steps::steps_during(|| {
                let mut connection = Connection::new();
                hostile(&mut connection, count);
                connection.explainer.finish();
            })
            .1
        };
        let (one, four) = (steps(2_500), steps(10_000));
        assert!(one >= 2_500, "{name}: {one} steps are counted");
        assert!(four <= 5 * one, "{name}: {one} steps, and {four} for four times the packets");
    }
}
