// The page of a watch in a real browser: it follows what comes, and leaves its reader alone.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { browserOfFile } from "./browser.mjs";
import { pcap } from "./pcap.mjs";
import { folder, json, run } from "./program.mjs";
import { children, connection, Growing, watch } from "./watch.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const { open, newContext } = browserOfFile();

const ROW = ".watch tbody tr[aria-rowindex]";
const rows = (page) => page.locator(ROW);
const untilRows = (page, count) =>
  page.waitForFunction(([row, least]) => document.querySelectorAll(row).length >= least, [ROW, count]);
/** The servers' waits, in seconds, of so many connections. */
const slow = (count, wait, { start = 0, port = 30_000 } = {}) =>
  Array.from({ length: count }, (_, at) =>
    connection({ start: start + at * 0.01, port: port + at, answers: [[wait + at * 1e-3, 2_000]] }),
  );
const status = (page) => page.textContent(".watch .tablehead [role=status]");
const fresh = (page) => page.locator(`${ROW}.fresh`).count();

test("transfers appear as they end, and the costliest cause is shown", async (t) => {
  const capture = new Growing("appear.pcap");
  const { url, end } = await watch(capture.path);
  const page = await open(t, url);
  await page.waitForSelector("text=No packet has arrived so far.");
  assert.equal(await rows(page).count(), 0);
  capture.add(...slow(2, 0.5));
  await untilRows(page, 4);
  assert.match(
    await page.textContent(".watch h1"),
    /In the last minute most time was lost to server-think: 1\.00 s in 2 transfers\./,
  );
  capture.add(...slow(1, 3, { start: 10, port: 31_000 }));
  await untilRows(page, 6);
  // The slowest is the first.
  assert.match(await rows(page).first().textContent(), /3\.04 s.*server-think/);
  assert.match(await page.textContent('[aria-label="Time lost: By server"]'), /192\.0\.2\.7:443|test:443/);
  const missing = await page.textContent(".missing");
  assert.match(missing, /0 dropped by the ring.*0 dropped by the interface.*0 cut/);
  // An open page would ask the program after its end.
  await page.close();
  assert.equal(await end(), 0);
});

test("the filter, the order and the rows in sight stay while others come", async (t) => {
  const capture = new Growing("stay.pcap");
  capture.add(...slow(100, 0.3));
  const { url } = await watch(capture.path);
  const page = await open(t, url);
  await page.waitForFunction(() =>
    /200 transfers/.test(document.querySelector(".watch .tablehead")?.textContent ?? ""),
  );
  await page.fill('input[type="search"]', "cause:server-think");
  await page.click('th button:has-text("cost")');
  await page.waitForFunction(() => /100 of 200/.test(document.querySelector(".watch .tablehead")?.textContent ?? ""));
  const list = page.locator(".watch .list");
  await list.evaluate((box) => box.scrollTo(0, 27 * 40));
  /** The first row whose top is in sight. */
  const top = () =>
    list.evaluate((box) => {
      const edge = box.querySelector("th").getBoundingClientRect().bottom;
      const seen = [...box.querySelectorAll("tr[aria-rowindex]")].find(
        (row) => row.getBoundingClientRect().top >= edge - 1,
      );
      return [seen?.querySelector("button.open").ariaLabel, seen?.ariaRowIndex];
    });
  const [name, before] = await top();
  assert.ok(name && Number(before) > 30, `${name} ${before}`);
  // All of them cost more.
  capture.add(...slow(25, 2, { start: 30, port: 40_000 }));
  await page.waitForFunction(() => /125 of 250/.test(document.querySelector(".watch .tablehead")?.textContent ?? ""));
  const [still, after] = await top();
  assert.deepEqual([still, Number(after)], [name, Number(before) + 25]);
  assert.equal(await page.inputValue('input[type="search"]'), "cause:server-think");
  assert.equal(await page.getAttribute('th:has-text("cost")', "aria-sort"), "descending");
});

test("an opened transfer stays as it is, its zoom too, and newer ones of it are offered", async (t) => {
  const capture = new Growing("opened.pcap");
  const whole = connection({
    start: 0,
    port: 30_000,
    answers: [
      [0.4, 60_000],
      [0.7, 90_000],
    ],
  });
  // The second request is yet to come.
  const cut = whole.findIndex(({ time, data }) => time > 0.3 && data?.toString().startsWith("GET"));
  capture.add(whole.slice(0, cut), connection({ start: 30, port: 31_000 }));
  const { url } = await watch(capture.path);
  const page = await open(t, url);
  await page.locator(ROW, { hasText: "60.0 kB" }).locator("button.open").click();
  await page.waitForSelector("main.connection .figure canvas, main.connection .figure[aria-busy=false]");
  const explained = () => page.textContent("main.connection .verdict h2");
  assert.match(await explained(), /server-think/);
  assert.match(await page.textContent(".livebar"), /packets in memory/);
  assert.ok((await page.locator("main.connection .rounds, main.connection .waterfall").count()) > 0);
  await page.waitForFunction(() => document.querySelector(".figure")?.dataset.range);
  await page.keyboard.press("+");
  await page.waitForFunction(() => location.hash.includes("t="));
  const [verdict, hash] = [await explained(), await page.evaluate(() => location.hash)];
  // After all that the clock of the packets has gone on to meanwhile.
  const late = whole.slice(cut).map((packet) => ({ ...packet, time: packet.time + 100 }));
  capture.add(late, connection({ start: 140, port: 31_001 }));
  const offer = page.locator(".livebar button", { hasText: "newer transfer" });
  await offer.waitFor();
  assert.deepEqual([await explained(), await page.evaluate(() => location.hash)], [verdict, hash]);
  await offer.click();
  await page.waitForFunction(() => /of 4/.test(document.querySelector(".turn")?.textContent ?? ""));
  assert.equal(await page.evaluate(() => location.hash), hash);
  // Back to the list, which was behind it.
  await page.click("text=All transfers");
  await untilRows(page, 8);
});

test("frozen it stays, says what is new, and marks that afterwards", async (t) => {
  const capture = new Growing("freeze.pcap");
  capture.add(...slow(3, 0.2));
  const { url } = await watch(capture.path);
  const page = await open(t, url);
  await untilRows(page, 6);
  await page.click("button:has-text('Freeze')");
  const seen = await page.textContent(".watch .list");
  capture.add(...slow(2, 0.9, { start: 20, port: 41_000 }));
  await page.waitForSelector("text=4 transfers since");
  assert.equal(await page.textContent(".watch .list"), seen);
  assert.match(await status(page), /^6 transfers/);
  await page.click("button:has-text('Continue')");
  await untilRows(page, 10);
  assert.equal(await fresh(page), 4);
  await page.click("button:has-text('Freeze')");
  assert.equal(await fresh(page), 0);
});

test("the packets of a connection are saved, and explained as it was", async (t) => {
  const capture = new Growing("save.pcap");
  capture.add(connection({ start: 0, port: 30_000 }), connection({ start: 9, port: 30_001, answers: [[1.5, 70_000]] }));
  const { url } = await watch(capture.path);
  const page = await open(t, url);
  await untilRows(page, 4);
  await rows(page).first().locator("button.open").click();
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("text=Save packets")]);
  const path = join(folder, "saved.pcapng");
  await download.saveAs(path);
  assert.match(download.suggestedFilename(), /^whyslow-\d+\.pcapng$/);
  const saved = json(path);
  assert.deepEqual(saved.captures[0].problems, []);
  const [explained] = saved.connections;
  const of = json(capture.path).connections.find((one) => one.client.port === 30_001);
  assert.equal(saved.connections.length, 1);
  assert.deepEqual(
    explained.transfers.map(({ bytes, duration_s, verdict }) => [bytes, duration_s, verdict]),
    of.transfers.map(({ bytes, duration_s, verdict }) => [bytes, duration_s, verdict]),
  );
  assert.ok(readFileSync(path).includes("whyslow: "), "the verdict is a comment");
  // Frames on the page are the capture's own.
  const answer = await page.evaluate(async () =>
    (await fetch(`series${location.hash.replace(/#c=(\d+).*/, "?c=$1")}`)).json(),
  );
  assert.equal(answer.packets, of.directions[0].packets + of.directions[1].packets);
  const first = of.transfers[1].rounds[0].first_frame;
  assert.ok(
    answer.index.some(([frame]) => frame === first),
    `${first}`,
  );
});

test("packets that left memory are missing, and the rest is there", async () => {
  const capture = new Growing("memory.pcap");
  capture.add(connection({ start: 0, port: 30_000, answers: [[0.3, 5_000]] }));
  // More than a mebibyte holds.
  capture.add(connection({ start: 1, port: 30_001, answers: [[0.2, 4_000_000]] }));
  const { url } = await watch(capture.path, "--memory", "1MiB");
  // What is not there is an answer that the browser complains of.
  const page = await (await newContext()).newPage();
  await page.goto(url);
  await untilRows(page, 4);
  await page.locator(ROW, { hasText: "4.00 MB" }).locator("button.open").click();
  await page.waitForSelector("text=dropped from memory");
  await page.waitForFunction(() => document.querySelector(".figure")?.dataset.range);
  await page.click("text=All transfers");
  await page.locator(ROW, { hasText: "5.04 kB" }).first().locator("button.open").click();
  await page.waitForSelector("text=No graphs: its packets are no");
  assert.equal(await page.locator("text=Save packets").count(), 0);
  assert.match(await page.textContent("main.connection .verdict h2"), /server-think/);
});

test("at the end of a pipe the page stays, a reload shows it again, and so does another browser", async (t) => {
  const { url, input, output, printed, end } = await watch("-", "--metrics", "127.0.0.1:0");
  const page = await open(t, url);
  await page.waitForSelector("text=No packet has arrived so far.");
  input.write(pcap(slow(5, 0.4).flat(), { options: true }));
  await untilRows(page, 8);
  assert.match(output(), /metrics at http:/);
  input.end();
  await page.waitForSelector("text=The watch has ended: 5 of 10 transfers lost time, most of it to server-think");
  await untilRows(page, 10);
  while (!/the watch has ended; the page stays until Ctrl-C/.test(output())) await page.waitForTimeout(20);
  assert.match(printed(), /lost by cause/);
  await page.reload();
  await untilRows(page, 10);
  const other = await open(t, url);
  await untilRows(other, 10);
  await rows(other).first().locator("button.open").click();
  await other.waitForFunction(() => document.querySelector(".figure")?.dataset.range);
  // An address leads there at once.
  const link = await open(t, other.url());
  await link.waitForSelector("main.connection");
  assert.equal(await end(), 0);
});

test("after --for the page stays, too, and lines go where they are asked for", async (t) => {
  const capture = new Growing("for.pcap");
  capture.add(...slow(2, 0.4));
  const kept = join(folder, "kept.pcapng");
  const { url, printed, end } = await watchWithLines(capture.path, kept);
  const page = await open(t, url);
  await page.waitForSelector("text=The watch has ended: 2 of 4 transfers");
  assert.equal(await end(), 0);
  const lines = printed()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map((line) => line.type),
    ["transfer", "transfer", "transfer", "transfer", "summary"],
  );
  assert.equal(json(kept).connections.length, 2);
});

/** With `--jsonl` the address is on stderr. */
async function watchWithLines(path, kept) {
  const { spawn } = await import("node:child_process");
  const { program } = await import("./program.mjs");
  const args = ["watch", path, "--view", "--jsonl", "--for", "2s", "--keep", kept, "--slower-than", "10ms"];
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  children.push(child);
  let [out, output] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text) => (out += text));
  const ended = new Promise((done) => child.on("exit", done));
  const url = await new Promise((done) => {
    child.stderr.setEncoding("utf8").on("data", (text) => {
      output += text;
      const found = output.match(/http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\//);
      if (found) done(found[0]);
    });
  });
  const end = () => {
    child.kill("SIGINT");
    return ended;
  };
  return { url, printed: () => out, end };
}

test("names of hosts and files are no markup", async (t) => {
  const capture = new Growing("hostile.pcap");
  const path = `/"><img src=x onerror=document.title='taken'><script>document.title='taken'</script>`;
  capture.add(connection({ start: 0, port: 30_000, answers: [[0.5, 3_000]], path }));
  const { url } = await watch(capture.path);
  const page = await open(t, url, { viewport: { width: 1920, height: 900 } });
  await untilRows(page, 2);
  assert.match(await page.textContent(".watch .list"), /<img src=x/);
  await rows(page).last().locator("button.open").click();
  await page.waitForSelector("main.connection");
  assert.equal(await page.locator("img").count(), 0);
  assert.doesNotMatch(await page.title(), /taken/);
  // Requests without the secret get nothing.
  const host = new URL(url).origin;
  for (const where of [`${host}/news?since=0`, `${host}/save?c=1`]) assert.equal((await fetch(where)).status, 403);
  assert.equal((await fetch(`${url}open?name=a`, { method: "POST", body: "x" })).status, 400);
  assert.equal((await fetch(`${url}connection?c=99`)).status, 404);
});

test("anybody can read it, on a phone too", async (t) => {
  const capture = new Growing("axe.pcap");
  capture.add(...slow(3, 0.4));
  const { url } = await watch(capture.path);
  for (const width of [390, 1280]) {
    const page = await open(t, url, { viewport: { width, height: 844 } });
    await untilRows(page, 6);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width);
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => globalThis.axe.run());
    assert.deepEqual(
      violations.map((violation) => `${violation.id}: ${violation.nodes[0].html}`),
      [],
    );
  }
});

test("a page of a watch is one of its command, and a port can be chosen", () => {
  assert.match(run("watch", "--help"), /--view\[=<PORT>\]/);
  writeFileSync(join(folder, "none.txt"), "this is no capture\n".repeat(50));
  assert.throws(() => run("watch", join(folder, "absent.pcap"), "--view"), /No such file/);
});
