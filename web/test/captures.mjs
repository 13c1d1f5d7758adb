// Captures that a test makes itself.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { folder } from "./program.mjs";

const [SYN, ACK, PSH, FIN] = [0x02, 0x10, 0x08, 0x01];

/** A packet of raw IP without checksums. */
function packet({ time, up, port, seq, ack, flags, length }) {
  const bytes = Buffer.alloc(16 + 40 + length);
  bytes.writeUInt32LE(1_700_000_000 + Math.floor(time), 0);
  bytes.writeUInt32LE(Math.floor((time % 1) * 1e9), 4);
  bytes.writeUInt32LE(40 + length, 8);
  bytes.writeUInt32LE(40 + length, 12);
  const ip = bytes.subarray(16);
  ip[0] = 0x45;
  ip.writeUInt16BE(40 + length, 2);
  ip.set([64, 6], 8);
  const [client, server] = [
    [10, 0, 0, 1],
    [192, 0, 2, 7],
  ];
  ip.set(up ? [...client, ...server] : [...server, ...client], 12);
  const tcp = ip.subarray(20);
  tcp.writeUInt16BE(up ? port : 443, 0);
  tcp.writeUInt16BE(up ? 443 : port, 2);
  tcp.writeUInt32BE(seq, 4);
  tcp.writeUInt32BE(ack, 8);
  tcp[12] = 5 << 4;
  tcp[13] = flags;
  tcp.writeUInt16BE(65_000, 14);
  return bytes;
}

/**
 * So many connections, one after the other: a request and a short answer each, seen at the client.
 * Every tenth has a round trip of 80 ms, the others of 10 ms.
 */
export function manyConnections(count) {
  const packets = [];
  for (let at = 0; at < count; at += 1) {
    const [start, trip, port] = [at * 0.005, at % 10 === 0 ? 0.08 : 0.01, 1024 + at];
    const send = (after, up, seq, ack, flags, length = 0) =>
      packets.push({ time: start + after, up, port, seq, ack, flags, length });
    send(0, true, 0, 0, SYN);
    send(trip, false, 0, 1, SYN | ACK);
    send(trip + 1e-4, true, 1, 1, ACK);
    send(trip + 2e-4, true, 1, 1, ACK | PSH, 100);
    send(2 * trip + 4e-4, false, 1, 101, ACK | PSH, 500);
    send(2 * trip + 5e-4, true, 101, 501, ACK | FIN);
    send(3 * trip + 6e-4, false, 501, 102, ACK | FIN);
    send(3 * trip + 7e-4, true, 102, 502, ACK);
  }
  packets.sort((a, b) => a.time - b.time);
  const head = Buffer.alloc(24);
  head.writeUInt32LE(0xa1b23c4d, 0);
  head.writeUInt16LE(2, 4);
  head.writeUInt16LE(4, 6);
  head.writeUInt32LE(65_535, 16);
  head.writeUInt32LE(101, 20); // raw IP
  const path = join(folder, `connections-${count}.pcap`);
  writeFileSync(path, Buffer.concat([head, ...packets.map(packet)]));
  return path;
}
