//! [`ShareFiles`]: the packets of a capture that was condensed into several, by shares of the
//! connections, in the order in which they were captured.
//!
//! Some packets are in each of them; they come once. Memory is that of a row's packets for each
//! file.

use crate::error::Error;
use crate::input::Input;
use crate::source::{Block, Filled, Source};
use crate::stop::Stop;
use std::collections::VecDeque;
use whyslow_core::capture::{LinkType, Packet, Reader, Sink};
use whyslow_units::Time;

/// Bytes that are read at once of each file.
const PIECE: usize = 64 << 10;

/// The files of a capture, one for each share.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShareFiles(pub(crate) Vec<Input>);

impl ShareFiles {
    /// Gives all packets to the sink.
    ///
    /// # Errors
    /// When a file can no longer be read.
    pub(crate) fn read(&self, stop: &Stop, sink: &mut impl Sink) -> Result<(), Error> {
        let mut files = self.0.iter().map(|input| OpenShare::open(input, stop)).collect::<Result<Vec<_>, _>>()?;
        loop {
            for file in &mut files {
                file.fill()?;
            }
            let Some(next) = files.iter().filter_map(OpenShare::next_frame).min() else { return Ok(()) };
            let mut packets = files.iter_mut().filter_map(|file| file.packets.take(next));
            if let Some(packet) = packets.next() {
                packet.give(sink);
            }
            packets.for_each(drop);
        }
    }
}

/// A file that is read.
struct OpenShare {
    source: Source,
    /// None at the end.
    reader: Option<Reader>,
    block: Block,
    packets: WaitingPackets,
}

impl OpenShare {
    fn open(input: &Input, stop: &Stop) -> Result<Self, Error> {
        let (source, block) = (Source::open(input, stop)?, Block::with_room(PIECE));
        Ok(Self { source, reader: Some(Reader::new()), block, packets: WaitingPackets::default() })
    }

    /// Reads on where no packet waits.
    fn fill(&mut self) -> Result<(), Error> {
        while self.packets.0.is_empty()
            && let Some(mut reader) = self.reader.take()
        {
            self.block.clear();
            let read = match self.source.fill(&mut self.block)? {
                Filled::Bytes => {
                    let read = reader.push(&self.block, &mut self.packets);
                    self.reader = Some(reader);
                    read
                }
                Filled::End | Filled::Torn(_) => reader.finish(&mut self.packets).map(drop),
            };
            read.map_err(|error| self.source.no_capture(error))?;
        }
        Ok(())
    }

    fn next_frame(&self) -> Option<u64> {
        self.packets.0.front().map(|packet| packet.frame)
    }
}

/// Packets that wait for those of the other shares.
#[derive(Default)]
struct WaitingPackets(VecDeque<OwnedPacket>);

impl WaitingPackets {
    /// The next one, if that is its frame.
    fn take(&mut self, frame: u64) -> Option<OwnedPacket> {
        self.0.pop_front_if(|packet| packet.frame == frame)
    }
}

impl Sink for WaitingPackets {
    fn packet(&mut self, packet: &Packet<'_>) {
        let Packet { frame, time, link, data, original_len } = *packet;
        self.0.push_back(OwnedPacket { frame, time, link, data: data.into(), original_len });
    }
}

struct OwnedPacket {
    frame: u64,
    time: Time,
    link: LinkType,
    data: Box<[u8]>,
    original_len: u32,
}

impl OwnedPacket {
    fn give(&self, sink: &mut impl Sink) {
        let Self { frame, time, link, data, original_len } = self;
        let (frame, time, link, original_len) = (*frame, *time, *link, *original_len);
        sink.packet(&Packet { frame, time, link, data, original_len });
    }
}
