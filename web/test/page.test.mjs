// The page in a real browser, against the program that serves it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { browserOfFile, cleanUp } from "./browser.mjs";
import { folder, json, report, root, run, sample, view } from "./program.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const { open, newContext } = browserOfFile();

async function served(t, files, hash = "", options = {}) {
  const server = await view(...files);
  // Cleanups run in reverse: it ends after the page, which sends it requests until then.
  cleanUp(t, () => server.end());
  return { page: await open(t, server.url + hash, options), server };
}

const drawn = (page) => page.waitForSelector('.figure[aria-busy="false"][data-range]');
/** What is zoomed to, once it is drawn. */
const range = async (page) => (await page.getAttribute(".figure", "data-range")).split("~").map(Number);
/** Waits until the range is another one. */
async function moved(page, act) {
  const old = await page.getAttribute(".figure", "data-range");
  await act();
  await page.waitForFunction((old) => document.querySelector(".figure").dataset.range !== old, old);
  return range(page);
}
async function goTo(page, frame) {
  await page.keyboard.press("g");
  await page.waitForSelector(".goto input:focus");
  await page.keyboard.type(String(frame));
  return moved(page, () => page.keyboard.press("Enter"));
}
const readout = (page) =>
  page.$$eval(".readout div", (rows) =>
    Object.fromEntries(
      rows
        .filter((row) => row.querySelector("dt"))
        .map((row) => [row.querySelector("dt").textContent, row.querySelector("dd").textContent]),
    ),
  );

test("a promise says what it takes for granted of the path", async (t) => {
  const { page } = await served(t, [sample("application-server")], "#c=1");
  await page.waitForSelector(".finding");
  const cards = (await page.textContent("main")).replace(/\s+/g, " ");
  assert.match(cards, /if the link carries more than [\d.]+ .?bit\/s, of which the capture shows [\d.]+ .?bit\/s/);
});

test("the overview says the verdict first, and what each cause cost", async (t) => {
  const { page } = await served(t, [sample("receive-window-client")]);
  await page.waitForSelector(".verdict h1");
  const found = json(sample("receive-window-client")).connections[0].transfers[1].findings[0];
  // The program's own sentence, which it wraps.
  const explained = await page.textContent(".verdict h1");
  assert.ok(run(sample("receive-window-client")).replace(/\s+/g, " ").startsWith(explained), explained);
  assert.equal(await page.textContent(".verdict .cause"), found.cause);
  assert.equal(await page.textContent(".causes li .cause"), "receive-window");
  await page.click(".verdict .cause");
  assert.equal(await page.textContent("dialog h1"), "receive-window");
  assert.match(await page.textContent("dialog"), /The fix/);
  await page.keyboard.press("Escape");
  await page.waitForSelector("dialog", { state: "hidden" });
});

/** The colour of the legend's field of a group. */
const legendColor = (page, group) =>
  page.$eval(`.groups .swatch.${group}`, (swatch) => getComputedStyle(swatch).backgroundColor);

test("a cause has the color of its group in the legend", async (t) => {
  for (const [name, group] of [
    ["loss-client", "loss"],
    ["receive-window-client", "window"],
    ["nagle-delayed-ack-client", "ack"],
  ]) {
    const { page } = await served(t, [sample(name)]);
    await page.waitForSelector(".causes li");
    const color = await legendColor(page, group);
    assert.equal(await page.$eval(".causes .bar i", (bar) => getComputedStyle(bar).backgroundColor), color, name);
    await page.click("a:has-text('see why')");
    await page.waitForSelector(".finding");
    assert.equal(await page.$eval(".finding", (card) => getComputedStyle(card).borderLeftColor), color, name);
  }
});

test("every cause that costs time has a color", () => {
  const grouped = readFileSync(join(root, "web/src/limits.ts"), "utf8");
  const costly = readdirSync(join(root, "samples"))
    .filter((name) => name.endsWith(".pcap"))
    .flatMap((name) => json(join(root, "samples", name)).connections)
    .flatMap((one) => [...one.findings, ...one.transfers.flatMap((transfer) => transfer.findings)])
    .filter((finding) => finding.cost_s > 0);
  const missing = new Set(costly.map((finding) => finding.cause).filter((cause) => !grouped.includes(`"${cause}"`)));
  assert.ok(costly.length > 50);
  assert.deepEqual([...missing], []);
});

test("a long command wraps under what it does", async (t) => {
  const { page } = await served(t, [sample("receive-window-client")], "", { viewport: { width: 390, height: 844 } });
  await page.waitForSelector(".verdict .command code");
  const [finding] = json(sample("receive-window-client")).connections[0].transfers[1].findings;
  const commands = finding.remedies.filter((remedy) => remedy.commands[remedy.platform ?? "linux"]);
  assert.equal(await page.locator(".verdict .command code").count(), commands.length);
  assert.equal(
    await page.locator(".verdict .choice-of > .dim").count(),
    finding.remedies.length > 1 ? commands.length : 0,
  );
  const cut = await page.$$eval(
    ".command code",
    (all) => all.filter((one) => one.scrollWidth > one.clientWidth).length,
  );
  assert.equal(cut, 0);
});

test("escape closes the legend", async (t) => {
  const { page } = await served(t, [sample("loss-client")], "#c=1");
  await drawn(page);
  await page.keyboard.press("?");
  await page.waitForSelector(".keys");
  await page.keyboard.press("Escape");
  await page.waitForSelector(".keys", { state: "detached" });
  await page.click(".tools button:has-text('legend')");
  await page.waitForSelector(".keys");
  await page.keyboard.press("Escape");
  await page.waitForSelector(".keys", { state: "detached" });
});

test("transfers of both directions name the server", async (t) => {
  const path = sample("loss-client");
  for (const width of [1280, 390]) {
    const { page } = await served(t, [path], "", { viewport: { width, height: 844 } });
    await page.click("[role=tab]:has-text('Transfers')");
    await page.waitForSelector('.list[aria-label="Transfers"] tbody tr');
    const [connection] = json(path).connections;
    const { name, address, port } = connection.server;
    const place = await page.$$eval(".list th", (heads) =>
      heads.findIndex((head) => head.textContent.startsWith("server")),
    );
    const cells = await page.$$eval(
      ".list tbody tr",
      (rows, place) => rows.map((row) => row.children[place]).map((cell) => [cell.textContent, cell.offsetWidth > 0]),
      place,
    );
    assert.equal(cells.length, connection.transfers.length);
    for (const cell of cells) assert.deepEqual(cell, [`${name ?? address}:${port}`, true]);
  }
});

test("a phone shows the whole name of a cause in both lists", async (t) => {
  const path = sample("spurious-retransmission-client");
  const { page } = await served(t, [path], "", { viewport: { width: 390, height: 844 } });
  for (const tab of ["Connections", "Transfers"]) {
    await page.click(`[role=tab]:has-text('${tab}')`);
    await page.waitForSelector(`.list[aria-label="${tab}"] td .cause`);
    const [name, isWhole] = await page.$eval(".list td .cause", (cause) => [
      cause.textContent,
      cause.getBoundingClientRect().right <= cause.closest("td").getBoundingClientRect().right,
    ]);
    assert.deepEqual([name, isWhole], ["spurious-retransmission", true], tab);
  }
});

test("commands in the sentences of a finding are marked as code", async (t) => {
  const { page } = await served(t, [sample("receive-window-client")], "#c=1");
  await page.waitForSelector(".finding .fix code");
  assert.ok(!(await page.textContent(".finding")).includes("`"));
  assert.ok(
    (await page.$$eval(".finding .fix p code", (all) => all.map((one) => one.textContent))).includes("ss -tin"),
  );
});

test("connections are listed in the terminal's order at first", async (t) => {
  const path = sample("new-connection-each-time-server");
  const printed = run(path).split(/^worst /m)[1];
  const worst = [...printed.matchAll(/^ +#(\d+) /gm)].map(([, id]) => Number(id));
  // The terminal lists the first ones.
  assert.ok(worst.length > 5, printed);
  const { page } = await served(t, [path]);
  await page.waitForSelector("table.rows tbody tr");
  assert.equal(await page.locator("th[aria-sort]").count(), 0);
  assert.deepEqual(
    await page.$$eval(
      "table.rows tbody tr td:first-child",
      (cells, most) => cells.slice(0, most).map((cell) => Number(cell.textContent)),
      worst.length,
    ),
    worst,
  );
});

test("tables sort by a click and are filtered, and a row opens", async (t) => {
  const { page } = await served(t, [sample("new-connection-each-time-server")]);
  await page.waitForSelector("table.rows");
  const ids = () =>
    page.$$eval("table.rows tbody tr td:first-child", (cells) => cells.map((cell) => Number(cell.textContent)));
  await page.click("th button:has-text('start')");
  assert.equal(await page.getAttribute("th:has-text('start')", "aria-sort"), "descending");
  assert.deepEqual(await ids(), [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
  await page.click("th button:has-text('start')");
  assert.deepEqual(await ids(), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  const port = json(sample("new-connection-each-time-server")).connections[6].client.port;
  await page.fill("input[type=search]", String(port));
  await page.waitForFunction(() => document.querySelectorAll("table.rows tbody tr").length === 1);
  assert.deepEqual(await ids(), [7]);
  await page.click("[role=tab]:has-text('Transfers')");
  assert.equal(await page.locator("table.rows tbody tr").count(), 2);
  await page.click("table.rows tbody tr >> nth=0");
  await page.waitForSelector(".crumbs b:has-text('connection 7')");
  await page.keyboard.press("PageDown");
  await page.waitForSelector(".crumbs b:has-text('connection 8')");
});

test("a dropped capture is read here, and a file that is no capture is refused", async (t) => {
  const { page } = await served(t, []);
  await page.waitForSelector(".drop");
  const drop = (name, bytes) =>
    page.evaluate(
      ([name, bytes]) => {
        const files = new DataTransfer();
        files.items.add(new File([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))], name));
        dispatchEvent(new DragEvent("drop", { dataTransfer: files, cancelable: true }));
      },
      [name, bytes.toString("base64")],
    );
  await drop("my <b>capture</b>.pcap", readFileSync(sample("slow-start-client")));
  await page.waitForSelector(".verdict h1");
  assert.equal(await page.textContent(".capture b"), "my <b>capture</b>.pcap");
  await page.click("a:has-text('see why')");
  await drawn(page);
  await drop("no.pcap", Buffer.from("this is no capture at all, and not tcpdump's text either"));
  await page.waitForSelector(".notice");
  const output = await page.textContent(".notice");
  assert.match(output, /Not opened\. no\.pcap/);
  assert.doesNotMatch(output, /\/tmp/);
  // What was open is so still, where it was looked at, and after a reload.
  await drawn(page);
  assert.match(page.url(), /#c=1/);
  await page.reload();
  await drawn(page);
  assert.match(await page.textContent(".notice"), /no\.pcap/);
  await page.setInputFiles("input[type=file]", [sample("loss-client"), sample("loss-server")]);
  await page.waitForSelector("h2:has-text('Both ends')");
  assert.equal(await page.locator(".capture").count(), 2);
});

test("a finding that is clicked zooms to its evidence", async (t) => {
  const { page } = await served(t, [sample("zero-window-client")], "#c=1");
  await drawn(page);
  const { transfers } = json(sample("zero-window-client")).connections[0];
  const { evidence } = transfers[1].findings.find((one) => one.cause === "zero-window");
  const frames = evidence.flatMap((one) => one.frames);
  const times = frameTimes(sample("zero-window-client"));
  const [from, to] = await moved(page, () => page.click("button.summary"));
  const [first, last] = [times[Math.min(...frames)], times[Math.max(...frames)]];
  assert.ok(from < first && to > last, `${from}–${to} does not hold ${first}–${last}`);
  const trip = json(sample("zero-window-client")).connections[0].rtt_ms.min / 1e3;
  assert.ok(to - from < 1.1 * (last - first + trip), "there is much around the evidence");
  const closed = transfers[1].limits.find((one) => one.limit === "zero-window").seconds;
  assert.ok(to - from > closed, "the closed window is not all to be seen");
  assert.match(page.url(), /t=/);
});

/** Times by frame number, from the file itself. */
function frameTimes(path) {
  const file = readFileSync(path);
  const nanos = file.readUInt32LE(0) === 0xa1b23c4d;
  const times = [null];
  let first = null;
  for (let at = 24; at + 16 <= file.length; ) {
    const time =
      BigInt(file.readUInt32LE(at)) * 1_000_000_000n + BigInt(file.readUInt32LE(at + 4)) * (nanos ? 1n : 1000n);
    first ??= time;
    times.push(Number(time - first) / 1e9);
    at += 16 + file.readUInt32LE(at + 8);
  }
  return times;
}

test("keys zoom, move, turn and choose as they say", async (t) => {
  const { page } = await served(t, [sample("loss-client")], "#c=1");
  await drawn(page);
  const [start, end] = await range(page);
  const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-6 + Math.abs(b) * 1e-6, `${a} is not ${b}`);
  let [from, to] = await moved(page, () => page.keyboard.press("+"));
  near(to - from, (end - start) / 2);
  [from, to] = await moved(page, () => page.keyboard.press("i"));
  near(to - from, (end - start) / 4);
  const [left] = await moved(page, () => page.keyboard.press("h"));
  near(left, from - (to - from) * 0.15);
  await moved(page, () => page.keyboard.press("l"));
  [from, to] = await moved(page, () => page.keyboard.press("o"));
  near(to - from, (end - start) / 2);
  [from, to] = await moved(page, () => page.keyboard.press("b"));
  near(to - from, (end - start) / 4);
  assert.deepEqual(await moved(page, () => page.keyboard.press("0")), [start, end]);
  await page.keyboard.press("d");
  await page.waitForSelector(".tools button:has-text('data of the client')");
  await page.keyboard.press("d");
  await page.keyboard.press("s");
  await page.waitForSelector(".tools button:has-text('as on the wire')");
  await page.keyboard.press("3");
  await page.waitForSelector(".figure.single");
  await page.keyboard.press("3");
  await page.waitForSelector(".figure:not(.single)");
  await page.keyboard.press("?");
  await page.waitForSelector(".keys");
  const times = frameTimes(sample("loss-client"));
  [from, to] = await goTo(page, 384);
  near((from + to) / 2, times[384]);
});

test("the mouse zooms to a range, and a double click shows all", async (t) => {
  const { page } = await served(t, [sample("slow-start-client")], "#c=1");
  await drawn(page);
  const whole = await range(page);
  const box = await page.locator(".figure").boundingBox();
  const at = (share) => box.x + 78 + (box.width - 90) * share;
  await page.mouse.move(at(0.25), box.y + 100);
  await page.mouse.down();
  await page.mouse.move(at(0.5), box.y + 100, { steps: 4 });
  const [from, to] = await moved(page, () => page.mouse.up());
  const span = whole[1] - whole[0];
  assert.ok(Math.abs(from - (whole[0] + span * 0.25)) < span * 0.01, `${from}`);
  assert.ok(Math.abs(to - (whole[0] + span * 0.5)) < span * 0.01, `${to}`);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -200);
  await page.keyboard.up("Control");
  await page.waitForFunction((width) => {
    const [a, b] = document.querySelector(".figure").dataset.range.split("~").map(Number);
    return b - a < width * 0.9;
  }, to - from);
  assert.deepEqual(await moved(page, () => page.mouse.dblclick(at(0.5), box.y + 100)), whole);
});

test("what stands under the pointer is what the analysis and Wireshark say", async (t) => {
  const path = sample("loss-client");
  const { page } = await served(t, [path], "#c=1");
  await drawn(page);
  const { rounds, findings } = json(path).connections[0].transfers[1];
  const times = frameTimes(path);
  const whole = await page.getAttribute(".figure", "data-range");
  const resent = findings.find((one) => one.cause === "loss").evidence.find((one) => one.frames.length > 2).frames[0];
  for (const frame of [rounds[0].first_frame, rounds[3].last_frame, resent]) {
    if ((await page.getAttribute(".figure", "data-range")) !== whole) await moved(page, () => page.keyboard.press("0"));
    await goTo(page, frame);
    // Until it alone is near the pointer.
    for (let step = 0; step < 9; step += 1) await moved(page, () => page.keyboard.press("+"));
    const box = await page.locator(".figure").boundingBox();
    const middle = box.x + 78 + (box.width - 90) / 2;
    const tall = [0.1, 0.3, 0.5, 0.7];
    let output = {};
    for (const share of tall) {
      await page.mouse.move(middle, box.y + 60 + 300 * share);
      output = await readout(page);
      if (Number(output.frame) === frame) break;
    }
    assert.equal(Number(output.frame), frame);
    assert.equal(Number.parseFloat(output.time).toFixed(6), times[frame].toFixed(6));
    if (frame === resent) assert.match(output.kind, /^F: /);
    let explained;
    try {
      explained = execFileSync(
        "tshark",
        [
          "-r",
          path,
          "-Y",
          `frame.number == ${frame}`,
          "-T",
          "fields",
          "-e",
          "tcp.len",
          "-e",
          "tcp.seq",
          "-e",
          "tcp.ack",
          "-e",
          "tcp.window_size",
        ],
        { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] },
      );
    } catch (error) {
      if (error.code !== "ENOENT") throw error;
      t.diagnostic("tshark is not here: not compared with it");
      continue;
    }
    const number = (text) => Number(text.replace(/[^0-9]/g, ""));
    assert.deepEqual(
      [output.length, output.seq, output.ack, output.window].map(number),
      explained.trim().split("\t").map(Number),
    );
  }
});

test("the strips share the zoom and the pointer of the sequence numbers", async (t) => {
  const path = sample("loss-client");
  const { page } = await served(t, [path], "#c=1");
  await drawn(page);
  // They are drawn one after the other, behind the graph.
  const strips = page.locator(".strip:visible .uplot");
  await strips.nth(4).waitFor();
  assert.equal(await strips.count(), 5);
  const legend = (title) =>
    page.$eval(`.legend:has(> b:text-is("${title}"))`, (one) =>
      [...one.querySelectorAll("span b")].map((value) => value.textContent),
    );
  // "55.0 kB" and "54,992 B" are the same to three digits.
  const bytes = (text) =>
    Number.parseFloat(text.replaceAll(",", "")) * ({ k: 1e3, M: 1e6 }[/ ([kM])B$/.exec(text)?.[1]] ?? 1);
  const same = (a, b) => assert.ok(Math.abs(bytes(a) - bytes(b)) <= bytes(b) * 0.006, `${a} is not ${b}`);
  for (const round of json(path).connections[0].transfers[1].rounds.slice(1, 3)) {
    await goTo(page, round.last_frame);
    for (let step = 0; step < 9; step += 1) await moved(page, () => page.keyboard.press("+"));
    const box = await page.locator(".figure").boundingBox();
    let output = {};
    for (let down = 60; down < 400 && Number(output.frame) !== round.last_frame; down += 20) {
      await page.mouse.move(box.x + 78 + (box.width - 90) / 2, box.y + down);
      output = await readout(page);
    }
    assert.equal(Number(output.frame), round.last_frame);
    const [flight] = await legend("in flight");
    same(flight, output["in flight"]);
    same(flight, `${round.in_flight} B`);
    // As far as the line of the pointer: all are on one axis.
    const dots = await page.$$eval(".strip .u-cursor-pt:not(.u-off)", (all) => all.length);
    assert.ok(dots >= 3, `${dots} dots under the pointer`);
    await moved(page, () => page.keyboard.press("0"));
  }
  await page.mouse.move(2, 2);
  await page.waitForFunction(() => document.querySelector(".legend span b")?.textContent === "");
  for (const [key, count] of [
    ["2", 1],
    ["1", 0],
    ["1", 5],
  ]) {
    await page.keyboard.press(key);
    await page.waitForFunction(
      (count) => [...document.querySelectorAll(".strip")].filter((one) => !one.hidden).length === count,
      count,
    );
  }
  // The meaning of a sign is shown.
  assert.match(await page.getAttribute('.legend span:has-text("cwnd")', "title"), /no capture shows the window/);
});

/** The texts of the picture that is saved of a capture's worst transfer. */
async function texts(t, name, hash = "#c=1") {
  const { page } = await served(t, [sample(name)], hash);
  await drawn(page);
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("button:has-text('SVG')")]);
  const path = join(folder, `${name}.svg`);
  await download.saveAs(path);
  return [...readFileSync(path, "utf8").matchAll(/<text [^>]*>([^<]*)</g)].map(([, text]) => text);
}

test("marks have letters: congestion, needless copies, a SYN retransmitted, a closed window", async (t) => {
  const ecn = await texts(t, "ecn-client");
  for (const mark of [/^CE(×\d+)?$/, /^ECE(×\d+)?$/, /^CWR(×\d+)?$/, /^CE ECE CWR congestion$/])
    assert.ok(
      ecn.some((text) => mark.test(text)),
      `${mark} in ${ecn}`,
    );
  assert.ok((await texts(t, "spurious-retransmission-client")).some((text) => /^D\d*$/.test(text)));
  assert.ok((await texts(t, "zero-window-client")).includes("Z"));
  // A SYN retransmitted stands with its first copy's letter: T, by the timer.
  const [again] = json(sample("syn-loss-client")).connections.filter((one) => one.handshake.retries[0] > 0);
  const syn = await texts(t, "syn-loss-client", `#c=${again.id}&from=client`);
  assert.ok(syn.some((text) => /^T\d*$/.test(text)) && syn.some((text) => /^SYN/.test(text)), `${syn}`);
  const plain = await texts(t, "slow-start-client");
  assert.ok(!plain.some((text) => /^(CE|ECE|CWR|D|Z|F|T|S|P)[×\d]*$/.test(text)), `${plain}`);
});

test("paper takes the graphs as lines, in the colours of paper", async (t) => {
  const { page } = await served(t, [sample("loss-client")], "#c=1", { colorScheme: "dark" });
  await drawn(page);
  assert.equal(await page.locator(".printed svg").count(), 0);
  // Chromium informs the page before it prints.
  const pdf = await page.pdf({ format: "A4" });
  assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
  assert.equal(await page.locator(".printed svg").count(), 1);
  assert.match(
    await page.$eval(".printed svg > rect", (paper) => paper.getAttribute("fill")),
    /^rgb\(255, 255, 255\)$/,
  );
  await page.emulateMedia({ media: "print" });
  const colors = () =>
    page.$eval("body", (body) => [getComputedStyle(body).backgroundColor, getComputedStyle(body).color]);
  assert.deepEqual(await colors(), ["rgb(255, 255, 255)", "rgb(0, 0, 0)"]);
  assert.equal(await page.locator(".figure").isVisible(), false);
  const [table, shown] = await page.$eval(".rounds", (box) => [box.scrollWidth, box.clientWidth]);
  assert.ok(table <= shown, `the rounds take ${table} of ${shown} pixels`);
});

test("the rounds' table fits where it stands", async (t) => {
  for (const width of [1280, 1920]) {
    const { page } = await served(t, [sample("reordering-client")], "#c=1", { viewport: { width, height: 900 } });
    await drawn(page);
    const [table, shown] = await page.$eval(".rounds", (box) => [box.scrollWidth, box.clientWidth]);
    assert.ok(table <= shown, `at ${width}: ${table} of ${shown} pixels`);
  }
});

test("zooms in a row are one step of the way back, and what is clicked meanwhile counts", async (t) => {
  const { page } = await served(t, [sample("loss-client")], "#c=1");
  await drawn(page);
  const whole = await range(page);
  // Each in one task of the page: how busy this machine is must not come between.
  const act = (keys, click) =>
    page.evaluate(
      ([keys, click]) => {
        for (const key of keys) document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
        if (click) document.querySelector(click).click();
      },
      [keys, click],
    );
  await act(["+", "+", "+", "+"]);
  await page.waitForFunction(() => location.hash.includes("t="));
  const [from, to] = await range(page);
  assert.ok(Math.abs((to - from) * 16 - (whole[1] - whole[0])) < 1e-6);
  assert.deepEqual(await moved(page, () => page.goBack()), whole);
  const evidence = await moved(page, () => page.click("button.summary"));
  assert.deepEqual(await moved(page, () => page.goBack()), whole);
  // A zoom that is not in the address yet does not undo what comes after it.
  await act(["+"], "button.summary");
  await page.waitForTimeout(300);
  assert.deepEqual(await range(page), evidence);
  await act(["+", "0"]);
  await page.waitForTimeout(300);
  assert.deepEqual(await range(page), whole);
  assert.ok(!page.url().includes("t="));
});

test("the page is small", () => {
  const size = gzipSync(readFileSync(join(root, "web/dist/index.html")), { level: 9 }).length;
  assert.ok(size < 150_000, `${size} B`);
});

test("the state of the view is in its address", async (t) => {
  const { page, server } = await served(t, [sample("loss-client")], "#c=1");
  await drawn(page);
  await moved(page, () => page.keyboard.press("+"));
  await page.keyboard.press("d");
  await page.keyboard.press("2");
  await page.waitForSelector(".figure.single");
  const [url, seen] = [page.url(), await range(page)];
  const again = await open(t, url);
  await drawn(again);
  for (const [place, at] of (await range(again)).entries()) {
    assert.ok(Math.abs(at - seen[place]) < 2e-9, `${at} is not ${seen[place]}`);
  }
  await again.waitForSelector(".figure.single");
  await again.waitForSelector(".tools button:has-text('data of the client')");
  await again.goBack().catch(() => {});
  await page.goBack();
  await page.waitForSelector(".figure:not(.single)");
  assert.ok(url.startsWith(server.url));
});

test("a slice is saved as pcapng and read again; figures, pictures and a filter are taken along", async (t) => {
  const path = sample("loss-client");
  const { page } = await served(t, [path], "#c=1&t=0.2~0.4", { permissions: ["clipboard-read", "clipboard-write"] });
  await drawn(page);
  const take = async (selector, name) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(selector)]);
    const to = join(folder, name);
    await download.saveAs(to);
    return to;
  };
  const slice = await take("a:has-text('pcapng')", "slice.pcapng");
  const within = frameTimes(path).filter((time) => time !== null && time >= 0.2 && time <= 0.4);
  const [capture] = json(slice).captures;
  assert.equal(capture.format, "pcapng");
  assert.equal(capture.packets, within.length);
  const rows = readFileSync(await take("button:has-text('CSV')", "figures.csv"), "utf8")
    .trim()
    .split("\n");
  assert.equal(rows.length, within.length + 1);
  assert.equal(rows[0].split(",")[0], "frame");
  const svg = readFileSync(await take("button:has-text('SVG')", "picture.svg"), "utf8");
  assert.match(svg, /^<svg .*sequence numbers of the server.*<\/svg>\s*$/s);
  const png = readFileSync(await take("button:has-text('PNG')", "picture.png"));
  assert.equal(png.subarray(1, 4).toString(), "PNG");
  await page.click("button:has-text('Wireshark filter')");
  const { client } = json(path).connections[0];
  const filter = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(filter, new RegExp(`ip.addr == ${client.address.replaceAll(".", "\\.")} .*tcp.port == ${client.port} `));
  try {
    const seen = execFileSync("tshark", ["-r", path, "-Y", filter], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    assert.equal(seen.trim().split("\n").length, within.length);
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    t.diagnostic("tshark is not here: the filter was not run");
  }
});

test("a report opens from its file without network, and shows the same", async (t) => {
  const path = report("loss", sample("loss-client"));
  const page = await open(t, "about:blank", { offline: true });
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(`file://${path}`);
  await page.click("a:has-text('see why')");
  await drawn(page);
  await page.click("button.summary");
  await page.waitForFunction(() => location.hash.includes("t="));
  assert.deepEqual(
    asked.filter((url) => !url.startsWith("file:") && !url.startsWith("data:")),
    [],
  );
  assert.equal(await page.locator("a:has-text('pcapng')").count(), 0);
});

test("text of a capture is text on the page", async (t) => {
  const path = join(folder, "<img src=x onerror=alert(1)>.pcap");
  writeFileSync(path, readFileSync(sample("slow-start-client")));
  const page = await open(t, "about:blank");
  page.on("dialog", () => assert.fail("a script of the capture ran"));
  await page.goto(`file://${report("hostile", path)}`);
  await page.waitForSelector(".capture b");
  assert.match(await page.textContent(".capture b"), /<img src=x/);
  assert.equal(await page.locator("img").count(), 0);
});

test("only the page's own address is answered", async (t) => {
  const server = await view(sample("slow-start-client"));
  cleanUp(t, () => server.end());
  const { origin, host, pathname } = new URL(server.url);
  const status = async (path, headers = {}) =>
    (await newContext()).request.get(origin + path, { headers }).then((answer) => answer.status());
  assert.equal(await status(pathname), 200);
  assert.equal(await status("/"), 403);
  assert.equal(await status(`/${"0".repeat(32)}/state`), 403);
  assert.equal(await status(`${pathname}state`, { Origin: "http://evil.example" }), 403);
  assert.equal(await status(`${pathname}state`, { Origin: `http://${host}` }), 200);
  assert.equal(await status(`${pathname}state`, { Host: "evil.example" }), 421);
  assert.equal(await status(`${pathname}nothing`), 404);
});

test("it ends when it is interrupted", async () => {
  const server = await view(sample("slow-start-client"));
  assert.equal(await server.end(), 0);
});

for (const colorScheme of ["light", "dark"]) {
  test(`axe finds nothing to complain of, ${colorScheme}`, async (t) => {
    const { page } = await served(t, [sample("loss-client")], "", { colorScheme, bypassCSP: true });
    const check = async (where) => {
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => globalThis.axe.run());
      assert.deepEqual(
        violations.map(({ id, nodes }) => `${where}: ${id}: ${nodes.map((node) => node.target.join(" ")).join(", ")}`),
        [],
      );
    };
    await page.waitForSelector(".verdict h1");
    await check("overview");
    await page.click("a:has-text('see why')");
    await drawn(page);
    await page.keyboard.press("?");
    await check("connection");
    await page.click(".finding .cause");
    await page.waitForSelector("dialog[open]");
    await check("help");
  });
}

test("the end of the program is shown", async (t) => {
  assert.throws(
    () => run("view", join(folder, "none.pcap")),
    (error) => error.status === 2 && /none\.pcap/.test(error.stderr),
  );
  t.diagnostic(folder);
});
