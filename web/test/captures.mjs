// Captures that a test makes itself.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ACK, FIN, PSH, pcap, SYN } from "./pcap.mjs";
import { folder } from "./program.mjs";

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
  const path = join(folder, `connections-${count}.pcap`);
  writeFileSync(path, pcap(packets));
  return path;
}
