// Captures that a test makes itself.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ACK, FIN, PSH, pcap, SYN } from "./pcap.mjs";
import { folder } from "./program.mjs";

/** Redis: a command that takes 3 ms and one that takes 400 ms, both from a client at 10 ms. */
export function redisCommands() {
  const [get, sort, value] = ["*2\r\n$3\r\nGET\r\n$1\r\na\r\n", "*2\r\n$4\r\nSORT\r\n$3\r\nset\r\n", "$2\r\nok\r\n"];
  const packets = [];
  let [time, sent, received] = [0, 1, 1];
  const send = (after, up, flags, data = "") => {
    time += after;
    const [seq, ack] = up ? [sent, received] : [received, sent];
    packets.push({ time, up, seq, ack, flags, data: Buffer.from(data) });
    if (up) sent += data.length;
    else received += data.length;
  };
  packets.push({ time, up: true, seq: 0, ack: 0, flags: SYN });
  packets.push({ time: 0.01, up: false, seq: 0, ack: 1, flags: SYN | ACK });
  time = 0.01;
  send(1e-4, true, ACK);
  for (const [command, server] of [
    [get, 0.003],
    [sort, 0.4],
  ]) {
    send(1e-4, true, ACK | PSH, command);
    send(0.01 + server, false, ACK | PSH, value);
    send(1e-4, true, ACK);
  }
  const path = join(folder, "redis.pcap");
  writeFileSync(path, pcap(packets));
  return path;
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
  const path = join(folder, `connections-${count}.pcap`);
  writeFileSync(path, pcap(packets));
  return path;
}
