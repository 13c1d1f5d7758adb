//! [`Recipe`]: what an input is to hold, and the inputs that `make bench` uses.

use super::draw::Draw;
use super::host::Settings;
use super::plan::Plan;
use super::record::{Pack, Recorder};
use super::way::Link;
use super::world::{PlayStats, play};
use super::{MILLISECOND, SECOND, Time};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// An input.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// Its name; the file's is this, `.pcap`, and the ending of its compression.
    pub name: &'static str,
    /// In a sentence.
    pub about: &'static str,
    /// The content.
    pub shape: Shape,
    /// The capture ends with this packet, whatever is still under way.
    pub packets: u64,
    /// Maximum bytes of a packet that are captured.
    pub snaplen: usize,
    /// How it is stored.
    pub pack: Pack,
}

/// Kinds of traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// This many connections that carry requests and responses of 1 MB to 256 MB, both ways, as
    /// long as the capture runs.
    Bulk {
        /// At once.
        connections: u32,
    },
    /// This many connections that download as long as the capture runs, over paths of 20 to 200 ms
    /// that lose a little, to hosts that acknowledge every second segment: data, data, ACK.
    Wide {
        /// At once.
        connections: u32,
    },
    /// This many connections one after the other, each of which carries this many bytes and is
    /// closed.
    Each {
        /// In all.
        connections: u32,
        /// Largest response; the smallest has half of it.
        bytes: u64,
        /// Between two beginnings.
        every: Time,
        /// How long each stays open behind its answer.
        hold: Time,
    },
    /// SYNs alone, each from another address, that many in a second.
    Flood {
        /// SYNs a second.
        rate: u64,
    },
}

/// The written files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFiles {
    /// One, or those of a rotation set in their order.
    pub files: Vec<PathBuf>,
    /// Packets in all of them.
    pub packets: u64,
    /// Bytes in all of them, without compression.
    pub bytes: u64,
    /// Connections whose opening is in it.
    pub connections: u64,
    /// Maximum that were open at once.
    pub most_at_once: u64,
    /// Segments that were retransmitted.
    pub resent: u64,
}

impl InputFiles {
    /// A line that [`InputFiles::parse`] understands.
    pub fn to_text(&self) -> String {
        let names = self.files.iter().filter_map(|file| file.file_name()).map(|name| name.to_string_lossy());
        let names = names.collect::<Vec<_>>().join(" ");
        let Self { packets, bytes, connections, most_at_once, resent, .. } = self;
        format!("{packets} {bytes} {connections} {most_at_once} {resent} {names}\n")
    }

    /// Reads the output of [`InputFiles::to_text`], if the files still exist.
    pub fn parse(text: &str, folder: &Path) -> Option<Self> {
        let mut words = text.split_whitespace();
        let mut number = || words.next()?.parse().ok();
        let (packets, bytes, connections) = (number()?, number()?, number()?);
        let (most_at_once, resent) = (number()?, number()?);
        let files: Vec<_> = words.map(|name| folder.join(name)).collect();
        let made = Self { files, packets, bytes, connections, most_at_once, resent };
        (!made.files.is_empty() && made.files.iter().all(|file| file.is_file())).then_some(made)
    }
}

/// The seed of all draws: another seed makes other inputs, whose figures cannot be compared.
const SEED: u64 = 5;

impl Recipe {
    /// Writes the input into a folder.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn make(&self, folder: &Path) -> anyhow::Result<InputFiles> {
        let mut recorder = Recorder::create(&folder.join(self.file()), self.pack, self.snaplen, self.packets)?;
        let (mut failed, mut begun) = (Ok(()), 0);
        let most = self.packets;
        let played = match self.shape {
            Shape::Flood { rate } => {
                for number in 0..most {
                    recorder.flood(number * SECOND / rate.max(1), number as u32)?;
                }
                begun = most;
                PlayStats { most_at_once: most, resent: 0 }
            }
            _ => play(self.plans(), SEED, |seen| {
                failed = recorder.segment(seen);
                begun += u64::from(seen.opens());
                if failed.is_err() || recorder.packets == most {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            }),
        };
        failed?;
        let (packets, bytes) = (recorder.packets, recorder.bytes);
        let files = recorder.finish()?;
        let PlayStats { most_at_once, resent } = played;
        Ok(InputFiles { files, packets, bytes, connections: begun, most_at_once, resent })
    }

    /// The file's name.
    pub fn file(&self) -> String {
        let ending = match self.pack {
            Pack::Plain | Pack::Rotated(_) => "",
            Pack::Gzip => ".gz",
            Pack::Zstd => ".zst",
        };
        format!("{}.pcap{ending}", self.name)
    }

    /// The same with packets divided by `times`, and connections too if there are many.
    #[must_use]
    pub fn smaller(mut self, times: u64) -> Self {
        let times = times.max(1);
        self.packets = (self.packets / times).max(1);
        if let Shape::Each { connections, every, hold, .. } = &mut self.shape {
            *connections = (u64::from(*connections) / times).max(1) as u32;
            // As long as before, so that as large a part is open at once.
            *every *= times;
            *hold = (*hold).max(1);
        }
        self
    }

    fn plans(&self) -> Box<dyn Iterator<Item = Plan>> {
        match self.shape {
            Shape::Bulk { connections } => Box::new((0..connections).map(bulk)),
            Shape::Wide { connections } => Box::new((0..connections).map(wide)),
            Shape::Each { connections, bytes, every, hold } => {
                Box::new((0..connections).map(move |number| each(number, bytes, every, hold)))
            }
            Shape::Flood { .. } => Box::new(std::iter::empty()),
        }
    }
}

/// Returns one of the long connections.
fn bulk(number: u32) -> Plan {
    let mut draw = Draw(SEED.wrapping_mul(0x1_0001) + u64::from(number));
    let ipv6 = number % 4 == 3;
    let rate = draw.octaves(50_000_000, 3_000_000_000);
    let delay = draw.octaves(MILLISECOND, 80 * MILLISECOND) / 2;
    let room = (rate / 8 * (2 * delay) / SECOND).max(65_536);
    let queue = room / 2 * (1 + draw.below(4));
    // Most paths lose nothing by chance; the others lose a little.
    let loss = if draw.below(5) < 3 { 0 } else { draw.octaves(20, 1_000) };
    let link = Link { delay, rate, queue, loss };
    let upload = number % 5 == 4;
    let large = 1_000_000..256_000_000;
    let sizes = if upload { [large, 180..220] } else { [200..400, large] };
    Plan {
        number,
        start: u64::from(number) * MILLISECOND,
        ipv6,
        path: [link, link],
        hosts: [host(ipv6, &mut draw), host(ipv6, &mut draw)],
        exchanges: u64::MAX,
        sizes,
        thinking: [MILLISECOND..400 * MILLISECOND, MILLISECOND / 4..30 * MILLISECOND],
        hold: 0,
    }
}

/// One over a wide path. The window is large enough for the rate, and every segment pair is
/// acknowledged, so that the sender's segments leave in pairs too.
fn wide(number: u32) -> Plan {
    let mut draw = Draw(SEED.wrapping_mul(0x3_0001) + u64::from(number));
    let ipv6 = number % 4 == 3;
    let rate = draw.octaves(10_000_000, 200_000_000);
    let delay = draw.octaves(20 * MILLISECOND, 200 * MILLISECOND) / 2;
    let room = (rate / 8 * (2 * delay) / SECOND).max(65_536);
    let loss = if draw.below(2) == 0 { 0 } else { draw.octaves(10, 200) };
    let link = Link { delay, rate, queue: room, loss };
    let host = |draw: &mut Draw| Settings { stretch: 2, buffer: 2 * room, ..host(ipv6, draw) };
    Plan {
        number,
        start: u64::from(number) * MILLISECOND,
        ipv6,
        path: [link, link],
        hosts: [host(&mut draw), host(&mut draw)],
        exchanges: u64::MAX,
        sizes: [200..400, 1_000_000..64_000_000],
        thinking: [MILLISECOND..400 * MILLISECOND, MILLISECOND / 4..30 * MILLISECOND],
        hold: 0,
    }
}

/// Returns one of many short connections.
fn each(number: u32, bytes: u64, every: Time, hold: Time) -> Plan {
    let mut draw = Draw(SEED.wrapping_mul(0x2_0001) + u64::from(number));
    let ipv6 = number % 4 == 3;
    let delay = draw.octaves(MILLISECOND, 80 * MILLISECOND) / 2;
    let loss = if draw.below(10) == 0 { 2_000 } else { 0 };
    let link = Link { delay, rate: draw.octaves(20_000_000, 1_000_000_000), queue: 1 << 20, loss };
    Plan {
        number,
        start: u64::from(number) * every,
        ipv6,
        path: [link, link],
        hosts: [host(ipv6, &mut draw), host(ipv6, &mut draw)],
        exchanges: 1,
        sizes: [150..300, bytes / 2..bytes],
        thinking: [1..1, MILLISECOND / 4..20 * MILLISECOND],
        hold: hold.max(1),
    }
}

fn host(ipv6: bool, draw: &mut Draw) -> Settings {
    let stretches = [2, 2, 4, 8, 16];
    Settings {
        mss: if ipv6 { 1_428 } else { 1_448 },
        // Receive offload makes one ACK of many.
        stretch: stretches[draw.below(stretches.len() as u64) as usize],
        buffer: draw.octaves(256 << 10, 6 << 20),
    }
}

/// The inputs of `make bench`.
pub fn recipes() -> Vec<Recipe> {
    let bulk = Recipe {
        name: "bulk",
        about: "27 connections, 96 bytes of each packet",
        shape: Shape::Bulk { connections: 27 },
        packets: 11_730_000,
        snaplen: 96,
        pack: Pack::Plain,
    };
    let of_bulk = |name, about, pack| Recipe { name, about, pack, ..bulk.clone() };
    let each = |name, about, connections, bytes, every, hold| Recipe {
        name,
        about,
        shape: Shape::Each { connections, bytes, every, hold },
        packets: 40_000_000,
        ..bulk.clone()
    };
    let flood =
        |name, about, packets| Recipe { name, about, shape: Shape::Flood { rate: 25_000 }, packets, ..bulk.clone() };
    let ten_million = |recipe: Recipe| Recipe { packets: 10_000_000, ..recipe };
    vec![
        bulk.clone(),
        Recipe { packets: bulk.packets / 4, ..of_bulk("bulk-quarter", "the first quarter of bulk", Pack::Plain) },
        Recipe { packets: bulk.packets / 16, ..of_bulk("bulk-sixteenth", "the first sixteenth of bulk", Pack::Plain) },
        of_bulk("bulk-gzip", "bulk, compressed by gzip", Pack::Gzip),
        of_bulk("bulk-zstd", "bulk, compressed by zstd", Pack::Zstd),
        of_bulk("bulk-rotated", "bulk in eight files", Pack::Rotated(8)),
        Recipe {
            name: "full",
            about: "eight connections, packets captured whole",
            shape: Shape::Bulk { connections: 8 },
            packets: 1_000_000,
            snaplen: 262_144,
            ..bulk.clone()
        },
        Recipe {
            name: "wan",
            about: "sixteen connections over 20 to 200 ms: data, data, ACK",
            shape: Shape::Wide { connections: 16 },
            packets: 4_000_000,
            ..bulk.clone()
        },
        each("short", "a million connections, one after the other", 1_000_000, 6_000, 100_000, 1),
        each("open", "a million connections, all open at once", 1_000_000, 1_400, 40_000, 60 * SECOND),
        flood("flood", "SYNs alone, from five million addresses in 200 s", 5_000_000),
        flood("flood-half", "SYNs alone, from two and a half million addresses in 100 s", 2_500_000),
        ten_million(Recipe {
            shape: Shape::Bulk { connections: 10 },
            ..of_bulk("connections-10", "10 M packets in 10 connections", Pack::Plain)
        }),
        ten_million(each(
            "connections-10k",
            "10 M packets in 10 k connections",
            10_000,
            1_300_000,
            10 * MILLISECOND,
            1,
        )),
        ten_million(each("connections-1m", "10 M packets in 1 M connections", 1_000_000, 1_400, 100_000, 1)),
    ]
}
