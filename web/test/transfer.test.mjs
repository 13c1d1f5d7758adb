// A transfer's page: what stands on the first screen, a packet that is clicked, measuring, the map,
// phones.
import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { browserOfFile } from "./browser.mjs";
import { manyConnections, redisCommands } from "./captures.mjs";
import { json, report, sample, view } from "./program.mjs";

let server;
before(async () => {
  server = await view(sample("loss-server"));
});
after(async () => {
  await server.end();
});

const SCREEN = { viewport: { width: 1280, height: 800 } };
const { open } = browserOfFile(SCREEN);
const drawn = (page) => page.waitForSelector('.figure[aria-busy="false"][data-range]');
const facts = (page) =>
  page.$$eval(".packet dl:last-child div", (rows) =>
    Object.fromEntries(rows.map((row) => [row.children[0].textContent, row.children[1].textContent])),
  );
/** Clicks what stands under a place that holds this frame, found by moving along. */
async function click(page, frame) {
  await page.keyboard.press("g");
  await page.waitForSelector(".goto input:focus");
  await page.keyboard.type(String(frame));
  const old = await page.getAttribute(".figure", "data-range");
  await page.keyboard.press("Enter");
  await page.waitForFunction((old) => document.querySelector(".figure").dataset.range !== old, old);
  await page.waitForTimeout(300);
  const box = await page.locator(".figure").boundingBox();
  // It stands in the middle of the time that is shown.
  const x = box.x + 78 + (box.width - 90) / 2;
  for (let y = 50; y < 230; y += 8) {
    await page.mouse.move(x, box.y + y);
    const output = await page.textContent(".readout");
    if (output.startsWith(`frame${frame}time`)) {
      await page.mouse.down();
      await page.mouse.up();
      return;
    }
  }
  assert.fail(`frame ${frame} is not found under the pointer`);
}

test("the verdict and the main graph are on one screen", async (t) => {
  const page = await open(t, `${server.url}#c=1`);
  await drawn(page);
  const verdict = await page.locator(".verdict h2").boundingBox();
  const figure = await page.locator(".figure").boundingBox();
  assert.ok(verdict.y < 120, `the verdict begins at ${verdict.y}`);
  assert.ok(figure.y + figure.height <= 800, `the graphs end at ${figure.y + figure.height}`);
});

test("what the capture shows of the path stands with the times", async (t) => {
  const page = await open(t, `${server.url}#c=1`);
  await drawn(page);
  const line = page.locator("p", { hasText: /^Path: / });
  assert.match(await line.textContent(), /round trip .*(queue|unknown)/);
});

test("a clicked packet shows its headers and the verdict on it", async (t) => {
  const page = await open(t, `${server.url}#c=1`);
  await drawn(page);
  const [resent] = json(sample("loss-server")).connections[0].directions[1].retransmissions;
  await click(page, resent.frame);
  await page.waitForFunction(() => document.querySelector(".packet")?.textContent.includes("options"));
  assert.match(await page.textContent(".packet header"), /fast retransmission/);
  const output = await facts(page);
  assert.equal(output["sent by"], "server");
  assert.match(output["sequence number"], new RegExp(`^${resent.seq.toLocaleString("en")} `));
  assert.match(output.flags, /ACK \(0x01/);
  assert.match(output.options, /timestamps \d+, echo \d+/);
  assert.equal(output.time, `${resent.time_s.toFixed(9)} s`);
});

test("two packets are measured: time, bytes, rate", async (t) => {
  const page = await open(t, `${server.url}#c=1`);
  await drawn(page);
  const [first, , third] = json(sample("loss-server")).connections[0].directions[1].retransmissions;
  await click(page, first.frame);
  await page.waitForSelector(".packet");
  await page.keyboard.press("m");
  await click(page, third.frame);
  await page.waitForSelector(".measured");
  const output = await page.textContent(".measured");
  assert.match(output, new RegExp(`from frame ${first.frame}`));
  const span = third.time_s - first.time_s;
  assert.match(output, new RegExp(`Δt${(span * 1e3).toPrecision(3).replace(/\.?0+$/, "")}\\d* ms`));
  const bytes = third.seq + third.bytes - first.seq - first.bytes;
  assert.match(output, new RegExp(`Δbytes${bytes.toLocaleString("en")} B`));
  assert.match(output, /rate[\d.]+ .bit\/s/);
});

test("the map shows what is seen of the connection, and moves it", async (t) => {
  const page = await open(t, `${server.url}#c=1&t=0.2~0.4`);
  await drawn(page);
  const map = await page.locator(".minimap").boundingBox();
  const seen = async () => {
    const box = await page.locator(".minimap .seen").boundingBox();
    return [(box.x - map.x) / map.width, box.width / map.width];
  };
  const { duration_s: whole } = json(sample("loss-server")).connections[0];
  const [left, width] = await seen();
  assert.ok(Math.abs(left - 0.2 / whole) < 0.01 && Math.abs(width - 0.2 / whole) < 0.01, `${left}, ${width}`);
  await page.mouse.click(map.x + map.width * 0.8, map.y + 6);
  await page.waitForFunction(() => location.hash.includes("t=0.7"));
  assert.ok((await seen())[0] > 0.6);
});

test("the height that is zoomed to is in the address", async (t) => {
  const page = await open(t, `${server.url}#c=1`);
  await drawn(page);
  await page.keyboard.press("y");
  await page.waitForFunction(() => location.hash.includes("y=0.25"));
  const axis = () => page.evaluate(() => document.querySelector(".figure canvas").toDataURL());
  const zoomed = await axis();
  const again = await open(t, page.url());
  await drawn(again);
  await again.waitForTimeout(200);
  assert.equal(await again.evaluate(() => document.querySelector(".figure canvas").toDataURL()), zoomed);
  await page.keyboard.press("0");
  await page.waitForFunction(() => !location.hash.includes("y="));
});

test("exchanges are listed with their wait and their transfer", async (t) => {
  const page = await open(t, `file://${report("turns", sample("turn-taking-server"))}#c=1`);
  await page.waitForSelector(".exchanges tbody tr");
  const { exchanges } = json(sample("turn-taking-server")).connections[0];
  assert.equal(await page.locator(".exchanges tbody tr").count(), exchanges.length);
  const [, second] = exchanges;
  const row = await page.$$eval(".exchanges tbody tr:nth-child(2) td", (cells) =>
    cells.map((cell) => cell.textContent),
  );
  const wait = second.answer.start_s - second.start_s - second.request.duration_s;
  const milliseconds = (text) => Number.parseFloat(text) * (text.endsWith("µs") ? 1e-3 : text.endsWith("ms") ? 1 : 1e3);
  assert.ok(Math.abs(milliseconds(row[2]) - wait * 1e3) < 0.1 + wait * 10, `${row[2]} is not ${wait}`);
  assert.match(await page.getAttribute(".exchanges tbody tr:nth-child(2)", "title"), /took .* in all/);
});

test("requests are listed by name, and one that is chosen is shown in the graph", async (t) => {
  const path = redisCommands();
  const page = await open(t, `file://${report("redis", path)}#c=1`);
  await page.waitForSelector(".requests tbody tr");
  const { requests } = json(path).connections[0];
  const cells = (row) =>
    page.$$eval(`.requests tbody tr:nth-child(${row}) td`, (all) => all.map((cell) => cell.textContent));
  assert.deepEqual(
    requests.map((request) => request.label),
    ["GET", "SORT"],
  );
  assert.deepEqual((await cells(1)).slice(0, 2), ["1", "GET"]);
  assert.deepEqual((await cells(2)).slice(1, 4), ["SORT", "–", "410 ms"]);
  await page.click(".requests tbody tr:nth-child(2) button");
  await page.waitForFunction(() => location.hash.includes("t="));
  const [from, to] = new URLSearchParams(new URL(page.url()).hash.slice(1)).get("t").split("~").map(Number);
  const [, slow] = requests;
  assert.ok(from <= slow.start_s && to >= slow.start_s + slow.wait_s, page.url());
});

test("nothing is wider than a phone", async (t) => {
  const phone = { viewport: { width: 390, height: 844 } };
  const file = report("phone", sample("loss-server"), sample("new-connection-each-time-server"));
  for (const hash of ["", "#c=1", "#c=2", "#q=rtt%3E50"]) {
    const page = await open(t, `file://${file}${hash}`, phone);
    await page.waitForSelector("main:not(.waiting)");
    await page.waitForTimeout(300);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 390, `${hash}: ${wide} pixels`);
  }
});

test("limits of one colour differ by their pattern", async (t) => {
  const page = await open(t, `${server.url}#c=1`);
  await drawn(page);
  const looks = await page.$$eval(".waterfall [role=row]", (rows) =>
    rows.map((row) => {
      const style = getComputedStyle(row.querySelector(".span"));
      return `${style.backgroundColor} ${style.backgroundImage}`;
    }),
  );
  assert.equal(new Set(looks).size, looks.length, looks.join("\n"));
});

test("notes stay over a reload, and travel in the report that is saved", async (t) => {
  const page = await open(t, `${server.url}#c=1&t=0.2~0.4`);
  await drawn(page);
  await page.fill("input[aria-label='A note on this view']", "the first <b>loss</b> …");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".notes li");
  await page.reload();
  await page.waitForSelector(".notes li");
  const saved = async (from) => {
    const [download] = await Promise.all([from.waitForEvent("download"), from.click("button:has-text('Save report')")]);
    return download.path();
  };
  const explained = async (path) => {
    // A browser asks the name what a file is.
    const named = `${path}.html`;
    copyFileSync(path, named);
    const file = await open(t, `file://${named}`);
    await file.waitForSelector(".notes li");
    assert.match(await file.textContent(".notes li"), /the first <b>loss<\/b> … connection 1, 200 ms – 400 ms/);
    await file.click(".notes li .link");
    await drawn(file);
    assert.match(file.url(), /t=0\.2/);
    return file;
  };
  const file = await explained(await saved(page));
  // And on, from file to file.
  await explained(await saved(file));
  await page.click("button[aria-label='Remove note 1']");
  await page.waitForSelector(".notes li", { state: "detached" });
});

test("the overview of ten thousand connections is printed on two sheets at most, without folders", async (t) => {
  const page = await open(t, `file://${report("print", manyConnections(10_000))}`);
  await page.waitForSelector(".list tbody tr");
  const pdf = await page.pdf({ format: "A4" });
  assert.ok(pdf.toString("latin1").match(/\/Type \/Page\b/g).length <= 2);
  await page.emulateMedia({ media: "print" });
  await page.setViewportSize({ width: 718, height: 1047 });
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 718);
  const cut = await page.$$eval(
    ".list td",
    (cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth + 1).length,
  );
  assert.equal(cut, 0);
  assert.doesNotMatch(await page.textContent("body"), /\/tmp\//);
});

test("a_report_of_a_named_transfer_opens_it", async (t) => {
  const file = sample("new-connection-each-time-server");
  const page = await open(t, `file://${report("named", `${file}#3.2`)}`);
  await page.waitForSelector("main.connection .verdict");
  assert.match(await page.textContent(".crumbs"), /connection 3/);
  assert.match(await page.textContent(".turn"), /transfer 2 of 2/);
  assert.match(page.url(), /#c=3&x=2$/);
});
