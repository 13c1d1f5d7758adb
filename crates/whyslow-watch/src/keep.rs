//! [`Keeper`]: the flight recorder, and which of its packets go to a file.

use super::args::Watch;
use super::batch::{Counts, Order};
use super::growing_file::GrowingFile;
use super::holder::Holder;
use super::record::Record;
use anyhow::Context;
use std::fmt::Write as _;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use whyslow_analysis::{Connection as Analysed, Frame};
use whyslow_cli::output::{Sources, create_new};
use whyslow_core::capture::{LinkType, Packet};
use whyslow_live::watch::{Connection, Keep, KeepOptions, Recorder, RingCounts, RingPacket, save_connection};
use whyslow_report::text::units;
use whyslow_report::words::{self, Lang};
use whyslow_serve::live::{HeldPacket, HeldPackets, MAX_PACKET_BYTES};
use whyslow_units::{Nanos, Time};

const FORGOTTEN: &str = "its packets are no longer remembered: --memory bounds them";

/// Packets that may yet be written, and the file to which those of slow transfers go.
#[derive(Default)]
pub(super) struct Keeper {
    recorder: Option<Recorder>,
    keep: Option<(Keep, PathBuf)>,
    /// Transfers that took longer are kept.
    slower_than: Nanos,
    /// How many were.
    transfers: u64,
    /// The number of the last packets among all, and the number before each capture.
    newest: u64,
    captures: Vec<u64>,
    packets: u64,
    missing: u64,
    failed: bool,
}

impl Keeper {
    /// Remembers packets in as many bytes as are asked for.
    ///
    /// # Errors
    /// When that is too little, or the file cannot be written.
    pub(super) fn new(task: &Watch, slower_than: Nanos, sources: &Sources) -> anyhow::Result<Self> {
        let recorder = Recorder::new(usize::try_from(task.memory).unwrap_or(usize::MAX)).context("--memory")?;
        let snaplen = u32::try_from(task.snaplen).unwrap_or(u32::MAX);
        let options = KeepOptions { limit: task.keep_size, snaplen };
        let create = |path: &Path| {
            let name = || format!("--keep {}", path.display());
            let place = GrowingFile::find(path, task.keep_size.is_some(), sources).with_context(name)?;
            anyhow::Ok((Keep::create(place, options).with_context(name)?, path.to_owned()))
        };
        Ok(Self {
            recorder: Some(recorder),
            keep: task.keep.as_ref().map(|path| create(path)).transpose()?,
            slower_than,
            ..Self::default()
        })
    }

    /// Remembers a packet of a capture.
    #[inline]
    pub(super) fn record(&mut self, packet: &Packet<'_>) {
        if self.recorder.is_some() {
            self.record_from_ring(
                &RingPacket {
                    time_ns: packet.time.0.try_into().unwrap_or_default(),
                    link_type: packet.link.0,
                    interface: 0,
                    length: packet.original_len,
                    bytes: packet.data,
                    segment_size: None,
                    outgoing: false,
                },
                self.captures.last().unwrap_or(&0) + packet.frame,
            );
        }
    }

    /// Another capture begins, with packets numbered from 1.
    pub(super) fn begin_capture(&mut self) {
        self.captures.push(self.newest);
    }

    /// Remembers a packet with its interface, and its number among all.
    #[inline]
    pub(super) fn record_from_ring(&mut self, packet: &RingPacket<'_>, frame: u64) {
        if let Some(recorder) = &mut self.recorder {
            self.newest = frame;
            recorder.record(packet, frame);
        }
    }

    /// Executes an order of an output; returns a message for the user, if any. `first` is the time
    /// of the first packet.
    pub(super) fn execute(&self, order: Order, first: Time) -> Option<String> {
        match order {
            Order::Save(record, path) => Some(self.save_one(&record, &path)),
            Order::Packets(connection, process, reply) => {
                // The requester may be gone.
                let _ = reply.send(self.copy(&connection, process.as_deref(), first));
                None
            }
        }
    }

    /// Copies of the remembered packets of a connection.
    fn copy(&self, connection: &Analysed, process: Option<&str>, first: Time) -> Result<HeldPackets, String> {
        let recorder = self.recorder.as_ref().ok_or("packets are not remembered")?;
        let mut packets = HeldPackets::new(first);
        let ends = ends(connection).ok_or("the capture shows no addresses")?;
        let held = recorder.for_each(&ends, MAX_PACKET_BYTES, |held| {
            packets.push(&HeldPacket {
                frame: self.frame(held.frame),
                time: Time(held.time_ns.try_into().unwrap_or(i64::MAX)),
                link: LinkType(held.link_type),
                length: held.length,
                bytes: held.bytes,
                is_handshake: held.is_handshake(),
            });
        });
        let held = held.ok_or(FORGOTTEN)?;
        let worst = connection.transfers.iter().max_by_key(|transfer| transfer.cost());
        let verdict = worst.map(|transfer| words::verdict(transfer, Lang::En));
        let finding = connection.findings.first().map(|finding| words::summary(finding, Lang::En));
        let comment = about(process, &verdict.or(finding).unwrap_or_default());
        Ok(packets.described(held.missing, held.has_handshake, comment))
    }

    /// A packet's number in its capture, and the capture's place where there are several.
    fn frame(&self, number: u64) -> Frame {
        let at = self.captures.partition_point(|before| *before < number).saturating_sub(1);
        let file = (self.captures.len() > 1).then(|| u16::try_from(at).ok()).flatten();
        Frame { file, number: number - self.captures.get(at).copied().unwrap_or_default() }
    }

    /// Writes the packets of a slow transfer. Returns an error message, once.
    pub(super) fn offer(&mut self, record: &Record) -> Option<String> {
        let (Some(recorder), Some((keep, path))) = (&mut self.recorder, &mut self.keep) else { return None };
        if record.took() <= self.slower_than {
            return None;
        }
        let saved = keep.save(recorder, &ends(&record.connection)?, &comment(record));
        match saved {
            Ok(saved) => {
                self.transfers += 1;
                self.packets += saved.packets;
                self.missing += saved.missing;
                None
            }
            Err(error) if !self.failed => {
                self.failed = true;
                Some(format!("{}: {error}: packets are not kept any more", path.display()))
            }
            Err(_) => None,
        }
    }

    /// Writes the packets of a transfer's connection to a file of their own; returns a message
    /// about the result.
    pub(super) fn save_one(&self, record: &Record, path: &Path) -> String {
        let Some(recorder) = &self.recorder else { return "packets are not remembered".to_owned() };
        let Some(ends) = ends(&record.connection) else { return FORGOTTEN.to_owned() };
        let mut path = path.to_owned();
        let saved = save_connection(
            recorder,
            &ends,
            || {
                let (file, name) = match create_new(&path) {
                    // A watch that root started continues as another user, without write access to
                    // root's folder.
                    Err(error) if error.kind() == ErrorKind::PermissionDenied && path.is_relative() => {
                        create_new(&std::env::temp_dir().join(&path))?
                    }
                    created => created?,
                };
                path = name;
                Ok(file)
            },
            &comment(record),
        );
        match saved {
            Ok(Some(saved)) => format!("{} written to {}", units::count(saved.packets, "packet"), path.display()),
            Err(error) => format!("{}: {error}", path.display()),
            Ok(None) => FORGOTTEN.to_owned(),
        }
    }

    /// Ends the file; returns a message about its content.
    pub(super) fn finish(&mut self, Counts { packets, drops, .. }: Counts) -> Option<String> {
        let (mut keep, path) = self.keep.take()?;
        keep.set_counts(RingCounts {
            packets,
            ring_drops: drops.ring,
            interface_drops: drops.interface,
            cut: drops.cut,
            ..RingCounts::default()
        });
        if let Err(error) = keep.finish() {
            return Some(format!("{}: {error}", path.display()));
        }
        let (packets, transfers) = (units::count(self.packets, "packet"), units::count(self.transfers, "transfer"));
        let mut line =
            format!("{}: {packets} of {transfers} slower than {}", path.display(), units::span(self.slower_than));
        if self.missing > 0 {
            let _ = write!(
                line,
                "; {} no longer remembered: a larger --memory holds more",
                units::count(self.missing, "packet")
            );
        }
        Some(line)
    }
}

/// The comment at its first packet.
fn comment(record: &Record) -> String {
    let verdict = record.transfer().map(|transfer| words::verdict(transfer, Lang::En));
    let finding = record.worst().map(|finding| words::summary(finding, Lang::En));
    about(record.holders.all().next().map(Holder::text).as_deref(), &verdict.or(finding).unwrap_or_default())
}

fn about(process: Option<&str>, verdict: &str) -> String {
    let process = process.map(|process| format!("{process}: ")).unwrap_or_default();
    format!("whyslow: {process}{verdict}")
}

/// `None` if the capture shows only names.
fn ends(connection: &Analysed) -> Option<Connection> {
    let end = |address: &str, port| Some(SocketAddr::new(address.parse::<IpAddr>().ok()?, port));
    let (client, server) = (&connection.client, &connection.server);
    Some(Connection::new(end(&client.address, client.port)?, end(&server.address, server.port)?))
}
