//! Builds captures by hand, valid and invalid, for the tests.
//!
//! The fuzz tests include this file as well, so it has no dependencies.
#![allow(dead_code)]

/// Builds a pcapng block or a pcap header, field by field in one byte order.
#[derive(Clone, Debug)]
pub(crate) struct ByteBuilder {
    pub(crate) big: bool,
    pub(crate) bytes: Vec<u8>,
}

impl ByteBuilder {
    pub(crate) fn new(big: bool) -> Self {
        Self { big, bytes: Vec::new() }
    }

    pub(crate) fn u16(mut self, value: u16) -> Self {
        self.bytes.extend(if self.big { value.to_be_bytes() } else { value.to_le_bytes() });
        self
    }

    pub(crate) fn u32(mut self, value: u32) -> Self {
        self.bytes.extend(if self.big { value.to_be_bytes() } else { value.to_le_bytes() });
        self
    }

    pub(crate) fn u64(mut self, value: u64) -> Self {
        self.bytes.extend(if self.big { value.to_be_bytes() } else { value.to_le_bytes() });
        self
    }

    pub(crate) fn raw(mut self, bytes: &[u8]) -> Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// Pads to a multiple of four bytes.
    pub(crate) fn pad(mut self) -> Self {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self
    }
}

/// A pcap file.
#[derive(Clone, Debug)]
pub(crate) struct PcapBuilder {
    pub(crate) magic: u32,
    pub(crate) big: bool,
    pub(crate) version: (u16, u16),
    pub(crate) snaplen: u32,
    pub(crate) network: u32,
    /// Bytes after the file header's usual 24.
    pub(crate) header_extra: Vec<u8>,
    pub(crate) records: Vec<u8>,
}

/// A record's header: the time, the captured length and the original length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordHeader {
    pub(crate) seconds: u32,
    pub(crate) fraction: u32,
    pub(crate) captured: u32,
    pub(crate) original: u32,
}

impl RecordHeader {
    pub(crate) fn new(seconds: u32, fraction: u32, captured: u32, original: u32) -> Self {
        Self { seconds, fraction, captured, original }
    }
}

pub(crate) const MICROS: u32 = 0xa1b2_c3d4;
pub(crate) const NANOS: u32 = 0xa1b2_3c4d;
pub(crate) const MODIFIED: u32 = 0xa1b2_cd34;

impl PcapBuilder {
    pub(crate) fn new(magic: u32, big: bool) -> Self {
        Self { magic, big, version: (2, 4), snaplen: 65_535, network: 1, header_extra: Vec::new(), records: Vec::new() }
    }

    pub(crate) fn snaplen(mut self, snaplen: u32) -> Self {
        self.snaplen = snaplen;
        self
    }

    /// A record with this header.
    pub(crate) fn record(mut self, header: RecordHeader, data: &[u8]) -> Self {
        let RecordHeader { seconds, fraction, captured, original } = header;
        let mut record = ByteBuilder::new(self.big).u32(seconds).u32(fraction).u32(captured).u32(original);
        if self.magic == MODIFIED {
            record = record.u32(3).u16(0x0800).raw(&[4, 0]);
        }
        self.records.extend(record.raw(data).bytes);
        self
    }

    /// A record of a completely captured packet.
    pub(crate) fn packet(self, seconds: u32, fraction: u32, data: &[u8]) -> Self {
        let length = data.len() as u32;
        self.record(RecordHeader::new(seconds, fraction, length, length), data)
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let header = ByteBuilder::new(self.big).u32(self.magic).u16(self.version.0).u16(self.version.1);
        let header = header.u32(0).u32(0).u32(self.snaplen).u32(self.network);
        header.raw(&self.header_extra).raw(&self.records).bytes
    }
}

/// A pcapng file.
#[derive(Clone, Debug)]
pub(crate) struct PcapNgBuilder {
    pub(crate) big: bool,
    pub(crate) bytes: Vec<u8>,
}

/// Options: codes and values.
pub(crate) type Options<'a> = &'a [(u16, Vec<u8>)];

/// An enhanced packet block; its captured length is that of `data`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacketBlock<'a> {
    pub(crate) interface: u32,
    pub(crate) ticks: u64,
    pub(crate) original: u32,
    pub(crate) data: &'a [u8],
    pub(crate) options: Options<'a>,
}

impl PcapNgBuilder {
    /// Begins the file with a section header.
    pub(crate) fn new(big: bool) -> Self {
        Self { big, bytes: Vec::new() }.section(big)
    }

    pub(crate) fn body(&self) -> ByteBuilder {
        ByteBuilder::new(self.big)
    }

    pub(crate) fn options(&self, options: Options<'_>) -> Vec<u8> {
        let mut body = self.body();
        for (code, value) in options {
            body = body.u16(*code).u16(value.len() as u16).raw(value).pad();
        }
        if options.is_empty() { Vec::new() } else { body.u32(0).bytes }
    }

    pub(crate) fn block(mut self, block_type: u32, body: &[u8]) -> Self {
        let length = body.len().next_multiple_of(4) as u32 + 12;
        let block = self.body().u32(block_type).u32(length).raw(body).pad().u32(length);
        self.bytes.extend(block.bytes);
        self
    }

    pub(crate) fn section(self, big: bool) -> Self {
        let this = Self { big, ..self };
        let body = this.body().u32(0x1a2b_3c4d).u16(1).u16(0).u64(u64::MAX);
        this.block(0x0a0d_0d0a, &body.bytes)
    }

    pub(crate) fn interface(self, link: u16, snaplen: u32, options: Options<'_>) -> Self {
        let body = self.body().u16(link).u16(0).u32(snaplen).raw(&self.options(options));
        self.block(1, &body.bytes)
    }

    /// An enhanced packet block without options.
    pub(crate) fn packet(self, interface: u32, ticks: u64, original: u32, data: &[u8]) -> Self {
        self.packet_block(PacketBlock { interface, ticks, original, data, options: &[] })
    }

    /// An enhanced packet block.
    pub(crate) fn packet_block(self, block: PacketBlock<'_>) -> Self {
        let PacketBlock { interface, ticks, original, data, options } = block;
        let body = self.body().u32(interface).u32((ticks >> 32) as u32).u32(ticks as u32);
        let body = body.u32(data.len() as u32).u32(original).raw(data).pad().raw(&self.options(options));
        self.block(6, &body.bytes)
    }

    /// An obsolete packet block.
    pub(crate) fn obsolete(self, interface: u16, drops: u16, ticks: u64, data: &[u8]) -> Self {
        let length = data.len() as u32;
        let body = self.body().u16(interface).u16(drops).u32((ticks >> 32) as u32).u32(ticks as u32);
        self.block(2, &body.u32(length).u32(length).raw(data).bytes)
    }

    pub(crate) fn simple(self, original: u32, data: &[u8]) -> Self {
        let body = self.body().u32(original).raw(data);
        self.block(3, &body.bytes)
    }

    pub(crate) fn names(self, records: &[(u16, Vec<u8>)]) -> Self {
        let mut body = self.body();
        for (record, value) in records {
            body = body.u16(*record).u16(value.len() as u16).raw(value).pad();
        }
        let body = body.u32(0);
        self.block(4, &body.bytes)
    }

    pub(crate) fn statistics(self, interface: u32, options: Options<'_>) -> Self {
        let body = self.body().u32(interface).u64(0).raw(&self.options(options));
        self.block(5, &body.bytes)
    }
}
