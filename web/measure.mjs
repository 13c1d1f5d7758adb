// How fast the page is on a connection of 200,000 packets: first paint, frames while zooming and
// moving, and the size of the report. `npm run measure`; PACKETS for another number, CAPTURE for a
// file. No test: the figures are those of the machine, and its load stands beside them.
import { statSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { launch } from "./test/browser.mjs";
import { folder, report, view } from "./test/program.mjs";

const PACKETS = Number(process.env.PACKETS ?? 200_000);
const MSS = 1448;
const FLIGHT = 1000;
const TRIP = 0.04;

/**
 * A server sends flights of 1,000 segments; every second segment is acknowledged; each third flight
 * loses one.
 */
function capture() {
  const packets = [];
  const send = (time, fromServer, seq, ack, flags, length) =>
    packets.push({ time, fromServer, seq, ack, flags, length });
  send(0, false, 0, 0, 0x02, 0);
  send(0.0001, true, 0, 1, 0x12, 0);
  send(TRIP, false, 1, 1, 0x10, 0);
  send(TRIP + 0.0001, false, 1, 1, 0x18, 100);
  let [time, seq] = [TRIP + 0.001, 1];
  for (let flight = 0; packets.length < PACKETS; flight += 1) {
    const lost = flight % 3 === 2 ? (flight * 37) % (FLIGHT - 10) : -1;
    for (let at = 0; at < FLIGHT; at += 1) {
      const sent = time + at * 2e-5;
      send(sent, true, seq + at * MSS, 101, at % 16 === 15 ? 0x18 : 0x10, MSS);
      if (at % 2 === 1)
        send(sent + TRIP, false, 101, lost >= 0 && at > lost ? seq + lost * MSS : seq + (at + 1) * MSS, 0x10, 0);
    }
    if (lost >= 0) {
      const again = time + TRIP + lost * 2e-5 + 2e-4;
      send(again, true, seq + lost * MSS, 101, 0x10, MSS);
      send(again + TRIP + 0.02, false, 101, seq + FLIGHT * MSS, 0x10, 0);
      time = again + TRIP + 0.021;
    } else time += TRIP + FLIGHT * 2e-5;
    seq += FLIGHT * MSS;
  }
  packets.sort((a, b) => a.time - b.time);
  const head = Buffer.alloc(24);
  head.writeUInt32LE(0xa1b23c4d, 0);
  head.writeUInt16LE(2, 4);
  head.writeUInt16LE(4, 6);
  head.writeUInt32LE(128, 16);
  head.writeUInt32LE(101, 20); // raw IP
  return Buffer.concat([head, ...packets.map(packet)]);
}

function packet({ time, fromServer, seq, ack, flags, length }) {
  const options = flags & 2 ? Buffer.from([2, 4, 5, 0xb4, 1, 3, 3, 7, 4, 2, 1, 1]) : Buffer.alloc(0);
  const held = 40 + options.length;
  const bytes = Buffer.alloc(16 + held);
  bytes.writeUInt32LE(1_700_000_000 + Math.floor(time), 0);
  bytes.writeUInt32LE(Math.floor((time % 1) * 1e9), 4);
  bytes.writeUInt32LE(held, 8);
  bytes.writeUInt32LE(held + length, 12);
  const ip = bytes.subarray(16);
  ip[0] = 0x45;
  ip.writeUInt16BE(held + length, 2);
  ip.set([64, 6], 8);
  ip.set(fromServer ? [10, 0, 0, 2, 10, 0, 0, 1] : [10, 0, 0, 1, 10, 0, 0, 2], 12);
  const tcp = ip.subarray(20);
  tcp.writeUInt16BE(fromServer ? 443 : 50_000, 0);
  tcp.writeUInt16BE(fromServer ? 50_000 : 443, 2);
  tcp.writeUInt32BE(seq >>> 0, 4);
  tcp.writeUInt32BE(ack >>> 0, 8);
  tcp[12] = (20 + options.length) << 2;
  tcp[13] = flags;
  tcp.writeUInt16BE(65_000, 14);
  options.copy(tcp, 20);
  return bytes;
}

const path = process.env.CAPTURE ?? join(folder, "large.pcap");
if (!process.env.CAPTURE) writeFileSync(path, capture());
const began = performance.now();
const page = report("large", path);
console.log(
  `report written in ${((performance.now() - began) / 1e3).toFixed(1)} s: ${(statSync(page).size / 1e6).toFixed(2)} MB`,
);

const browser = await launch();
const sorted = (list) => [...list].sort((a, b) => a - b);
const told = (list) => `${sorted(list)[list.length >> 1].toFixed(1)} ms, at most ${Math.max(...list).toFixed(1)}`;

/**
 * Presses keys, one a frame, and gives the milliseconds from frame to frame: script, layout,
 * painting, all of it.
 */
const held = (keys) =>
  new Promise((done) => {
    const frames = [];
    let last = performance.now();
    const step = () => {
      const now = performance.now();
      frames.push(now - last);
      last = now;
      const key = keys.shift();
      if (key === undefined) return done(frames.slice(1));
      dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  });

async function measure(name, url) {
  const tab = await browser.newPage({ viewport: { width: 1920, height: 1080 } });
  await tab.goto(url);
  await tab.waitForSelector('.figure[aria-busy="false"][data-range]');
  const drawn = await tab.evaluate(() => performance.now());
  const paint = await tab.evaluate(
    () => performance.getEntriesByType("paint").find((one) => one.name === "first-contentful-paint")?.startTime ?? NaN,
  );
  // What the page's own thread computes: the same on a machine that has other work.
  const cdp = await tab.context().newCDPSession(tab);
  await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
  const busy = async () =>
    1e3 * (await cdp.send("Performance.getMetrics")).metrics.find((one) => one.name === "TaskDuration").value;
  const times = (key, count) => Array(count).fill(key);
  const frames = { zoom: [], pan: [] };
  const computed = { zoom: 0, pan: 0 };
  const run = async (kind, keys) => {
    const before = await busy();
    frames[kind].push(...(await tab.evaluate(`(${held})(${JSON.stringify(keys)})`)));
    computed[kind] += (await busy()) - before;
  };
  const rest = () => tab.waitForTimeout(400);
  for (const _ of times(0, 3)) {
    await run("zoom", [...times("+", 5), ...times("-", 3)]);
    await rest();
    await run("pan", [...times("l", 40), ...times("h", 40)]);
    await rest();
    await run("zoom", times("-", 2));
    await rest();
  }
  const kinds = Object.entries(frames).map(
    ([kind, list]) => `${kind} ${told(list)}, computing ${(computed[kind] / list.length).toFixed(1)}`,
  );
  console.log(
    `${name}: first paint ${paint.toFixed(0)} ms, graphs drawn after ${drawn.toFixed(0)} ms; a frame: ${kinds.join("; ")}; load ${loadavg()[0].toFixed(1)}`,
  );
  await tab.close();
}

const address = `file://${page}#c=1`;
await measure("report", address);
await measure("report again", address);
const server = await view(path);
await measure("view, with the analysis", `${server.url}#c=1`);
await measure("view", `${server.url}#c=1`);
await server.end();
await browser.close();
