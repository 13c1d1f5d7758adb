//! The time of sealing and opening on one processor: `cargo bench -p whyslow-gateway`.
//!
//! The plaintext comes in pieces as a connection delivers them, and nothing is sent or stored. An
//! object of 1 kB shows what its header takes: the key exchange.
#![allow(missing_docs, clippy::unwrap_used)]

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use std::sync::Arc;
use whyslow_gateway::format::{Kind, Layout, Object, Reader, Role, SliceWriter};
use whyslow_gateway::keys::{Epoch, Keyring};

const SIZES: [usize; 3] = [1_000, 1_000_000, 4_000_000];
/// A read from a socket, and one that ends nowhere near a chunk's end.
const PIECE: usize = 100_000;

fn main() {
    divan::main();
}

fn seal(keyring: &Keyring, object: Object, text: &[u8], out: &mut Vec<u8>) {
    let mut writer = SliceWriter::new(keyring, object, Role::Object, text.len() as u64, out).unwrap();
    for piece in text.chunks(PIECE) {
        writer.write(piece, out).unwrap();
        // As if it were sent.
        black_box(&out);
        out.clear();
    }
    writer.finish(out).unwrap();
}

#[divan::bench(args = SIZES)]
fn seal_object(bencher: Bencher, size: usize) {
    let keyring = Keyring::new(Epoch::generate().unwrap(), []);
    let object = Object::new(keyring.current(), Kind::Single).unwrap();
    let (text, mut out) = (vec![7; size], Vec::new());
    bencher.counter(BytesCount::new(size)).bench_local(|| {
        out.clear();
        seal(&keyring, object, black_box(&text), &mut out);
    });
}

#[divan::bench(args = SIZES)]
fn open_object(bencher: Bencher, size: usize) {
    let keyring = Arc::new(Keyring::new(Epoch::generate().unwrap(), []));
    let object = Object::new(keyring.current(), Kind::Single).unwrap();
    let (mut stored, mut out) = (Vec::new(), Vec::new());
    let mut writer = SliceWriter::new(&keyring, object, Role::Object, size as u64, &mut stored).unwrap();
    writer.write(&vec![7; size], &mut stored).unwrap();
    writer.finish(&mut stored).unwrap();
    bencher.counter(BytesCount::new(size)).bench_local(|| {
        let layout = Arc::new(Layout::single(object, stored.len() as u64).unwrap());
        let plan = layout.plan_all(0);
        let mut reader = Reader::new(keyring.clone(), layout, plan);
        for piece in stored.chunks(PIECE) {
            out.clear();
            reader.read(black_box(piece), &mut out).unwrap();
        }
        reader.finish().unwrap();
    });
}
