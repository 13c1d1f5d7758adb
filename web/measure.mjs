// How fast the page is on a connection of 200,000 packets: first paint, frames while zooming and
// moving, and the size of the report. `npm run measure`; PACKETS for another number, CAPTURE for a
// file. No test: the figures are those of the machine, and its load stands beside them.
import { statSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { launch } from "./test/browser.mjs";
import { ACK, PSH, pcap, SYN } from "./test/pcap.mjs";
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
  const send = (time, up, seq, ack, flags, length = 0) => packets.push({ time, up, seq, ack, flags, length });
  send(0, true, 0, 0, SYN);
  send(0.0001, false, 0, 1, SYN | ACK);
  send(TRIP, true, 1, 1, ACK);
  send(TRIP + 0.0001, true, 1, 1, ACK | PSH, 100);
  let [time, seq] = [TRIP + 0.001, 1];
  for (let flight = 0; packets.length < PACKETS; flight += 1) {
    const lost = flight % 3 === 2 ? (flight * 37) % (FLIGHT - 10) : -1;
    for (let at = 0; at < FLIGHT; at += 1) {
      const sent = time + at * 2e-5;
      send(sent, false, seq + at * MSS, 101, at % 16 === 15 ? ACK | PSH : ACK, MSS);
      if (at % 2 === 1)
        send(sent + TRIP, true, 101, lost >= 0 && at > lost ? seq + lost * MSS : seq + (at + 1) * MSS, ACK);
    }
    if (lost >= 0) {
      const again = time + TRIP + lost * 2e-5 + 2e-4;
      send(again, false, seq + lost * MSS, 101, ACK, MSS);
      send(again + TRIP + 0.02, true, 101, seq + FLIGHT * MSS, ACK);
      time = again + TRIP + 0.021;
    } else time += TRIP + FLIGHT * 2e-5;
    seq += FLIGHT * MSS;
  }
  return pcap(packets, { snaplen: 52, options: true });
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
