// Two transfers side by side, on the page, in a real browser.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { browserOfFile, cleanUp } from "./browser.mjs";
import { ACK, PSH, pcap, SYN } from "./pcap.mjs";
import { folder, json, run, sample, serve, view } from "./program.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const { open } = browserOfFile();

async function served(t, server, hash = "", options = {}) {
  cleanUp(t, () => server.end());
  return open(t, server.url + hash, options);
}

const [CAPPED, GROWING] = [sample("sender-cap-client"), sample("slow-start-client")];
const compared = (a, b) => JSON.parse(run("compare", a, b, "--json"));
const cells = (page, rows) =>
  page.$$eval(rows, (list) =>
    list.map((row) => [...row.querySelectorAll("th, td")].map((cell) => cell.textContent.trim())),
  );
const thousands = (value) => value.toString().replace(/\B(?=(\d{3})+$)/g, ",");
/** Drops a file at a share of the page's width. */
const drop = (page, name, bytes, share) =>
  page.evaluate(
    ([name, bytes, share]) => {
      const files = new DataTransfer();
      files.items.add(new File([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))], name));
      const at = { dataTransfer: files, cancelable: true, clientX: innerWidth * share };
      dispatchEvent(new DragEvent("dragover", at));
      dispatchEvent(new DragEvent("drop", at));
    },
    [name, bytes.toString("base64"), share],
  );

/** That the page has the program's data, and its sentences, which the terminal wraps. */
async function agrees(page, a, b) {
  const [explained, text] = [compared(a, b), run("compare", a, b).toLowerCase().replace(/\s+/g, " ")];
  await page.waitForSelector(".compare .verdict h1");
  const sentences = [
    await page.textContent(".verdict h1"),
    ...(await page.$$eval(".words li", (list) => list.map((item) => item.textContent))),
  ];
  assert.equal(sentences.length, explained.statements.length);
  for (const sentence of sentences) assert.ok(text.includes(sentence.toLowerCase()), sentence);
  assert.equal(await page.locator(".phases tbody tr").count(), explained.phases.length);
  const rounds = await cells(page, ".figures.rounds tbody tr");
  assert.equal(rounds.length, explained.rounds.length);
  explained.rounds.forEach(([a], index) => {
    if (!a) return;
    assert.deepEqual(rounds[index].slice(2, 4), [thousands(a.bytes), thousands(a.in_flight)]);
  });
  const differ = explained.settings.filter((setting) => setting.differs).length;
  assert.equal(await page.locator(".settings .differs").count(), differ);
}

test("two captures side by side say what the program says", async (t) => {
  const page = await served(t, await serve(["compare", CAPPED, GROWING, "--view"]));
  const explained = compared(CAPPED, GROWING);
  await agrees(page, CAPPED, GROWING);
  assert.match(page.url(), /compare=1\.2~2\.2|compare=1\.2%7E2\.2/);
  // The longest bar is that of the phase that differs most, and lies on the side of who waited.
  const bars = await page.$$eval(".phases tbody tr", (rows) =>
    rows.map((row) => ({
      left: row.querySelector(".bar").classList.contains("A"),
      width: row.querySelector(".bar").getBoundingClientRect().width,
    })),
  );
  const most = explained.phases.reduce(
    (best, phase, index) =>
      Math.abs(phase.difference_s) > Math.abs(explained.phases[best].difference_s) ? index : best,
    0,
  );
  assert.equal(bars[most].width, Math.max(...bars.map((bar) => bar.width)));
  assert.equal(bars[most].left, explained.phases[most].difference_s < 0);
  for (const lead of explained.leads.filter((one) => one.faster !== null)) {
    assert.ok((await page.locator(`.strip rect.${"AB"[lead.faster]}`).count()) > 0);
  }
});

test("under the pointer stands how long each took for so many bytes", async (t) => {
  const page = await served(t, await serve(["compare", CAPPED, GROWING, "--view"]));
  await page.waitForSelector(".curves svg");
  const box = await page.locator(".curves svg").boundingBox();
  await page.mouse.move(box.x + 300, box.y + 150);
  const printed = await page.textContent(".curves .readout");
  const [, size, a, b] = printed.match(/^([\d,]+) BA ([\d.]+) m?sB ([\d.]+) m?s/) ?? assert.fail(printed);
  const bytes = Number(size.replaceAll(",", ""));
  const { curves } = compared(CAPPED, GROWING);
  [a, b].forEach((time, which) => {
    const line = [...curves[which].captured, ...curves[which].extrapolated];
    const next = line.findIndex((point) => point[1] >= bytes);
    const [lo, hi] = [line[next - 1][0], line[next][0]];
    const seconds = Number(time) / (Number(time) > 10 ? 1e3 : 1);
    assert.ok(seconds >= lo - 0.006 && seconds <= hi + 0.006, `${seconds} is not within ${lo}–${hi}`);
  });
});

test("the transfers' names lead to their own pages, and the address back", async (t) => {
  const page = await served(t, await serve(["compare", CAPPED, `${GROWING}#1.1`, "--view"]));
  await page.click(".side.B h2 a");
  await page.waitForSelector(".crumbs b:has-text('connection 2')");
  await page.waitForSelector('.figure[aria-busy="false"][data-range]');
  assert.match(page.url(), /c=2&x=1$/);
  await page.goBack();
  await page.waitForSelector(".compare .verdict h1");
  await page.click(".swap");
  await page.waitForFunction(() => document.querySelector(".side.A h2")?.textContent.includes("slow-start"));
  await agrees(page, `${GROWING}#1.1`, CAPPED);
  await page.click(".brand");
  await page.waitForSelector(".overview");
});

test("two transfers are chosen with check marks", async (t) => {
  const path = sample("new-connection-each-time-server");
  const page = await served(t, await view(path));
  await page.waitForSelector("table.rows");
  const check = (id) => page.check(`input[aria-label$=": Connection ${id}"]`);
  await check(3);
  assert.ok(await page.isDisabled(".choice button:has-text('Compare')"));
  await check(5);
  await check(8);
  assert.equal(
    await page.isChecked('input[aria-label$=": Connection 3"]'),
    false,
    "the third takes the place of the first",
  );
  await page.click(".choice button:has-text('Compare')");
  await agrees(page, `${path}#5`, `${path}#8`);
  await page.reload();
  await agrees(page, `${path}#5`, `${path}#8`);
});

test("a comparison fits a phone", async (t) => {
  const server = await serve(["compare", CAPPED, GROWING, "--view"]);
  const page = await served(t, server, "", { viewport: { width: 390, height: 844 } });
  await page.waitForSelector(".compare .verdict h1");
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  // The picture's words are within it.
  const cut = await page.$$eval(".curves svg text", (texts) => {
    const outer = texts[0].ownerSVGElement.getBoundingClientRect();
    return texts
      .filter((text) => {
        const { left, right } = text.getBoundingClientRect();
        return left < outer.left - 1 || right > outer.right + 1;
      })
      .map((text) => text.textContent);
  });
  assert.deepEqual(cut, []);
});

test("a second capture is dropped next to the open one", async (t) => {
  const page = await served(t, await view(CAPPED), "#c=1");
  await page.waitForSelector('.figure[aria-busy="false"][data-range]');
  await drop(page, "other <b>.pcap", readFileSync(GROWING), 0.75);
  await agrees(page, CAPPED, GROWING);
  assert.match(await page.textContent(".side.B h2"), /other <b>\.pcap: connection 2, transfer 2/);
  // A file that is no capture is refused, and the open one stays.
  const url = page.url();
  await drop(page, "no.pcap", Buffer.from("no capture, and no text of tcpdump's either"), 0.9);
  await page.waitForSelector(".notice");
  const printed = await page.textContent(".notice");
  assert.match(printed, /no\.pcap: byte \d+: no packet was found .*expected tcpdump/);
  assert.doesNotMatch(printed, /\/tmp/);
  await agrees(page, CAPPED, GROWING);
  assert.equal(page.url(), url);
  // On the left half it is opened alone.
  await drop(page, "alone.pcap", readFileSync(GROWING), 0.25);
  await page.waitForSelector(".overview .capture");
  assert.equal(await page.locator(".capture").count(), 1);
});

test("a comparison as one file opens without network, with graphs of both", async (t) => {
  const path = join(folder, "compare.html");
  run("compare", CAPPED, GROWING, "--report", path);
  const page = await open(t, "about:blank", { offline: true });
  await page.goto(`file://${path}`);
  await agrees(page, CAPPED, GROWING);
  assert.equal(await page.locator(".swap").count(), 0);
  await page.click(".side.A h2 a");
  await page.waitForSelector('.figure[aria-busy="false"][data-range]');
  await page.click(".brand");
  await page.waitForSelector(".overview");
  assert.equal(await page.locator("input.check").count(), 0, "a report computes nothing");
  await page.goto(`file://${path}#compare=1.1~2.1`);
  await page.reload();
  assert.match(await page.textContent(".failed"), /whyslow view/);
});

test("real captures tell their story", async (t) => {
  const captures = process.env.WHYSLOW_CAPTURES;
  if (!captures || !existsSync(join(captures, "pku.cap"))) return t.skip("WHYSLOW_CAPTURES has none");
  const [a, b] = ["pku.cap", "thu.cap"].map((name) => join(captures, name));
  const page = await served(t, await serve(["compare", a, b, "--view"]));
  await agrees(page, a, b);
  const words = await page.textContent(".words");
  assert.match(
    words,
    /65,535 B a round trip of 25\.\d ms, the same in 8 rounds; B sends 14,280 B in its first round trip/,
  );
  assert.match(words, /TLS record of 16,413 B was whole 25\.\d ms later/);
  assert.deepEqual((await cells(page, ".figures.rounds tbody tr"))[0].slice(2, 4), ["65,535", "65,535"]);
});

test("how much of a large file has come is shown", async (t) => {
  const page = await served(t, await view());
  await page.waitForSelector(".drop");
  const network = await page.context().newCDPSession(page);
  await network.send("Network.enable");
  // Slow enough to be seen.
  await network.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput: 100_000,
  });
  const bytes = readFileSync(sample("codel-server"));
  await drop(page, "large.pcap", bytes, 0.25);
  const part = () =>
    page.evaluate(() => {
      const bar = document.querySelector("progress");
      return bar?.hasAttribute("value") ? bar.value / bar.max : 0;
    });
  await page.waitForFunction(() => {
    const bar = document.querySelector("progress");
    return bar && bar.value > 0 && bar.value < bar.max;
  });
  assert.match(await page.textContent("main"), /Reading large\.pcap.*kB of 249 kB/s);
  const first = await part();
  await page.waitForFunction((first) => {
    const bar = document.querySelector("progress");
    return !bar || bar.value / bar.max > first;
  }, first);
  await page.waitForSelector(".overview .verdict h1", { timeout: 60_000 });
});

const drawn = (page) => page.waitForSelector('.figure[aria-busy="false"][data-range]');
const readout = (page) =>
  page.$$eval(".readout div", (rows) =>
    Object.fromEntries(
      rows
        .filter((row) => row.querySelector("dt"))
        .map((row) => [row.querySelector("dt").textContent, row.querySelector("dd").textContent]),
    ),
  );

/** Goes to a frame, zooms in on it, and points at it: the readout there. */
async function pointAt(page, frame) {
  const old = page.url();
  await page.keyboard.press("g");
  await page.waitForSelector(".goto input:focus");
  await page.keyboard.type(frame);
  await page.keyboard.press("Enter");
  await page.waitForFunction((old) => location.href !== old, old);
  for (let step = 0; step < 12; step += 1) await page.keyboard.press("+");
  await page.waitForTimeout(500);
  const box = await page.locator(".figure").boundingBox();
  let printed = {};
  for (let y = 40; y < 300; y += 30) {
    await page.mouse.move(box.x + 78 + (box.width - 90) / 2, box.y + y);
    printed = await readout(page);
    if (printed.frame === frame) break;
  }
  return printed;
}

test("a connection is drawn across a rotation set", async (t) => {
  const whole = readFileSync(sample("loss-client"));
  // Cut between two records.
  let [cut, records] = [24, 0];
  for (; records < 700; records += 1) cut += 16 + whole.readUInt32LE(cut + 8);
  const parts = [0, 1].map((part) => join(folder, `set-${part}.pcap`));
  writeFileSync(parts[0], whole.subarray(0, cut));
  writeFileSync(parts[1], Buffer.concat([whole.subarray(0, 24), whole.subarray(cut)]));
  const page = await served(t, await view(...parts), "#c=1");
  await drawn(page);
  const alone = await served(t, await view(sample("loss-client")), "#c=1");
  await drawn(alone);
  const [printed, expected] = [await pointAt(page, "2:31"), await pointAt(alone, String(700 + 31))];
  assert.equal(printed.frame, "2:31");
  assert.deepEqual({ ...printed, frame: "" }, { ...expected, frame: "" });
  await page.keyboard.press("0");
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("a:has-text('pcapng')")]);
  await download.saveAs(join(folder, "set.pcapng"));
  assert.equal(
    json(join(folder, "set.pcapng")).captures[0].packets,
    json(sample("loss-client")).captures[0].tcp_packets,
  );
});

test("what comes through a pipe is drawn too, and its size is printed", async (t) => {
  const bytes = readFileSync(sample("loss-client"));
  const server = await serve(["view", "-"], bytes);
  const page = await served(t, server, "#c=1");
  await drawn(page);
  assert.equal(await page.textContent(".file"), "-");
  assert.ok(server.printed().includes(`${thousands(bytes.length)} B came`), server.printed());
  const [, kept] = server.printed().match(/are in (\S+) until the end/);
  assert.ok(existsSync(kept));
  await server.end();
  assert.ok(!existsSync(kept), "the file goes with the program");
});

test("a report goes down to each packet of a large connection, and says where it does not", async (t) => {
  // Its packets are more than are drawn one by one.
  const path = join(folder, "long.pcap");
  writeFileSync(path, long(40_000));
  run("report", path, "-o", join(folder, "long.html"));
  const page = await open(t, "about:blank", { offline: true });
  await page.goto(`file://${join(folder, "long.html")}#c=1&t=3~3.05`);
  await drawn(page);
  assert.equal((await pointAt(page, "30001")).frame, "30001");
  assert.equal(await page.locator(".coarse").count(), 0);
  // Across two parts it has what the program itself gives.
  const figures = async (page, name) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("button:has-text('CSV')")]);
    await download.saveAs(join(folder, name));
    return readFileSync(join(folder, name), "utf8");
  };
  await page.goto(`file://${join(folder, "long.html")}#c=1&t=0.78~0.88`);
  await page.reload();
  await drawn(page);
  const other = await served(t, await view(path), "#c=1&t=0.78~0.88");
  await drawn(other);
  await other.waitForTimeout(1500);
  const [held, asked] = [await figures(page, "held.csv"), await figures(other, "asked.csv")];
  assert.ok(held.split("\n").length > 950, "each packet has a row");
  assert.equal(held, asked);
  // The same without the packets, as of a connection for which there was no room.
  const html = readFileSync(join(folder, "long.html"), "utf8");
  const [, data] = html.match(/id="data">([^<]+)</);
  const document = JSON.parse(gunzipSync(Buffer.from(data, "base64")));
  assert.ok(document.series["1"].length > 4);
  document.series["1"].length = 1;
  writeFileSync(join(folder, "coarse.html"), html.replace(data, gzipSync(JSON.stringify(document)).toString("base64")));
  await page.goto(`file://${join(folder, "coarse.html")}#c=1`);
  await drawn(page);
  assert.equal(await page.locator(".coarse").count(), 0);
  await page.goto(`file://${join(folder, "coarse.html")}#c=1&t=3~3.01`);
  await page.waitForSelector(".coarse");
  assert.match(await page.textContent(".coarse"), /whyslow view/);
});

/**
 * A capture of one connection with so many packets: segments a tenth of a millisecond apart, every
 * second one acknowledged.
 */
function long(count) {
  const packets = [];
  const add = (index, up, seq, ack, flags, length = 0) =>
    packets.push({ time: index * 1e-4, up, seq, ack, flags, length });
  add(0, true, 0, 0, SYN);
  add(1, false, 0, 1, SYN | ACK);
  add(2, true, 1, 1, ACK);
  add(3, true, 1, 1, ACK | PSH, 100);
  let sent = 1;
  for (let index = 4; index < count; index += 1) {
    if (index % 3 === 2) add(index, true, 101, sent, ACK);
    else {
      add(index, false, sent, 101, ACK, 1448);
      sent += 1448;
    }
  }
  return pcap(packets, { snaplen: 40 });
}

for (const colorScheme of ["light", "dark"]) {
  test(`axe finds nothing to complain of in a comparison, ${colorScheme}`, async (t) => {
    const page = await served(t, await serve(["compare", CAPPED, GROWING, "--view"]), "", {
      colorScheme,
      bypassCSP: true,
    });
    const check = async (where) => {
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => globalThis.axe.run());
      assert.deepEqual(
        violations.map(({ id, nodes }) => `${where}: ${id}: ${nodes.map((node) => node.target.join(" ")).join(", ")}`),
        [],
      );
    };
    await page.waitForSelector(".compare .verdict h1");
    await check("comparison");
    await page.click(".brand");
    await page.waitForSelector("table.rows");
    await page.check("input.check >> nth=0");
    await check("overview with a choice");
  });
}
