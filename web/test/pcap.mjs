// Captures in memory: pcap of raw IP without checksums, times in nanoseconds.

/** Flags of a TCP header. */
export const [FIN, SYN, PSH, ACK] = [0x01, 0x02, 0x08, 0x10];

const [CLIENT, SERVER] = [
  [10, 0, 0, 1],
  [192, 0, 2, 7],
];
/** MSS 1460, window scale 7, SACK. */
const SYN_OPTIONS = [2, 4, 5, 0xb4, 1, 3, 3, 7, 4, 2, 1, 1];

/**
 * A capture of these packets in the order of their times: `{ time, up, port, seq, ack, flags,
 * length, data }`, seconds and bytes; `data` stands in the place of so many zeros. `up` is from the
 * client, whose port may be left out. Of each so many bytes are captured. With `options` SYNs have
 * TCP options.
 */
export function pcap(packets, { snaplen = 65_535, options = false } = {}) {
  const head = Buffer.alloc(24);
  head.writeUInt32LE(0xa1b23c4d, 0);
  head.writeUInt16LE(2, 4);
  head.writeUInt16LE(4, 6);
  head.writeUInt32LE(snaplen, 16);
  head.writeUInt32LE(101, 20); // raw IP
  const inOrder = [...packets].sort((a, b) => a.time - b.time);
  return Buffer.concat([head, ...inOrder.map((packet) => record(packet, snaplen, options))]);
}

function record({ time, up, port = 50_000, seq, ack, flags, length = 0, data }, snaplen, hasOptions) {
  const options = hasOptions && flags & SYN ? SYN_OPTIONS : [];
  const whole = 40 + options.length + (data?.length ?? length);
  const captured = Math.min(whole, snaplen);
  const bytes = Buffer.alloc(16 + whole);
  // Whole microseconds: a sum of binary fractions is no nanosecond.
  const micros = Math.round(time * 1e6);
  bytes.writeUInt32LE(1_700_000_000 + Math.floor(micros / 1e6), 0);
  bytes.writeUInt32LE((micros % 1e6) * 1e3, 4);
  bytes.writeUInt32LE(captured, 8);
  bytes.writeUInt32LE(whole, 12);
  const ip = bytes.subarray(16);
  ip[0] = 0x45;
  ip.writeUInt16BE(whole, 2);
  ip.set([64, 6], 8);
  ip.set(up ? [...CLIENT, ...SERVER] : [...SERVER, ...CLIENT], 12);
  const tcp = ip.subarray(20);
  tcp.writeUInt16BE(up ? port : 443, 0);
  tcp.writeUInt16BE(up ? 443 : port, 2);
  tcp.writeUInt32BE(seq, 4);
  tcp.writeUInt32BE(ack, 8);
  tcp[12] = (5 + options.length / 4) << 4;
  tcp[13] = flags;
  tcp.writeUInt16BE(65_000, 14);
  tcp.set(options, 20);
  if (data) tcp.set(data, 20 + options.length);
  return bytes.subarray(0, 16 + captured);
}
