// A watch that goes on, and what it is given.
import { spawn } from "node:child_process";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after } from "node:test";
import { ACK, FIN, PSH, pcap, SYN } from "./pcap.mjs";
import { folder, program } from "./program.mjs";

/** Bytes of a capture's header. */
const HEAD = 24;

/**
 * The packets of a connection that begins at `start` seconds: `requests` are answered one after the
 * other with so many bytes, each after so many seconds.
 */
export function connection({ start, port, answers = [[0.2, 5_000]], trip = 0.02, path = "/" }) {
  const packets = [];
  let [time, up, down] = [start, 0, 0];
  const send = (isUp, flags, data = "") => {
    const payload = typeof data === "number" ? { length: data } : { data: Buffer.from(data) };
    packets.push({ time, up: isUp, port, seq: isUp ? up : down, ack: isUp ? down : up, flags, ...payload });
    const length = (payload.length ?? payload.data.length) + (flags & (SYN | FIN) ? 1 : 0);
    if (isUp) up += length;
    else down += length;
  };
  const pass = (seconds) => {
    time += seconds;
  };
  send(true, SYN);
  pass(trip);
  send(false, SYN | ACK);
  pass(1e-4);
  send(true, ACK);
  for (const [wait, bytes] of answers) {
    pass(1e-4);
    send(true, ACK | PSH, `GET ${path} HTTP/1.1\r\nHost: test\r\n\r\n`);
    pass(trip + wait);
    send(false, ACK | PSH, `HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n`);
    for (let left = bytes; left > 0; left -= 1_000) {
      pass(1e-5);
      send(false, ACK | PSH, Math.min(left, 1_000));
    }
    pass(1e-4);
    send(true, ACK);
  }
  pass(1e-3);
  send(true, ACK | FIN);
  pass(trip);
  send(false, ACK | FIN);
  pass(1e-4);
  send(true, ACK);
  return packets;
}

/** A capture that grows. */
export class Growing {
  constructor(name) {
    this.path = join(folder, name);
    writeFileSync(this.path, pcap([], { options: true }));
  }

  add(...connections) {
    appendFileSync(this.path, pcap(connections.flat(), { options: true }).subarray(HEAD));
  }
}

// They end after all tests: an open page would complain that nothing answers it.
export const children = [];
after(() => {
  for (const child of children) child.kill("SIGKILL");
});

/** `whyslow watch --view`: its address, what it says, its input, and how to end it. */
export function watch(...args) {
  const child = spawn(program, ["watch", "--view", ...args], { stdio: ["pipe", "pipe", "pipe"] });
  let [printed, output] = ["", ""];
  child.stderr.setEncoding("utf8").on("data", (text) => (output += text));
  const ended = new Promise((done) => child.on("exit", (code) => done(code)));
  const end = () => {
    child.kill("SIGINT");
    return ended;
  };
  children.push(child);
  return new Promise((done, failed) => {
    child.stdout.setEncoding("utf8").on("data", (text) => {
      printed += text;
      const url = printed.match(/http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\//)?.[0];
      if (url) done({ url, input: child.stdin, output: () => output, printed: () => printed, end });
    });
    ended.then((code) => failed(new Error(`whyslow watch ended with ${code}: ${output}`)));
  });
}
