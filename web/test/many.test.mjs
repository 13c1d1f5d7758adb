// Very many connections on the page: all have a line, and the worst are shown in full.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { browserOfFile, cleanUp } from "./browser.mjs";
import { manyConnections } from "./captures.mjs";
import { report, sample, view } from "./program.mjs";

const COUNT = 10_000;
const SIZE = { viewport: { width: 1280, height: 800 } };
let path;
let server;
before(async () => {
  path = manyConnections(COUNT);
  server = await view(path);
});
after(async () => {
  await server.end();
});

const { open } = browserOfFile(SIZE);
const ids = (page) =>
  page.$$eval(".list tbody tr:not(.room) td:first-child", (cells) => cells.map((cell) => Number(cell.textContent)));
const shown = (page, wanted) =>
  page.waitForFunction((wanted) => document.querySelector(".tablehead [role=status]").textContent === wanted, wanted);

test("the causes come first, and the table begins on the first screen with a line of every connection", async (t) => {
  const page = await open(t, server.url);
  await page.waitForSelector(".list tbody tr");
  const table = await page.locator(".list").boundingBox();
  assert.ok(table.y < 560, `it begins at ${table.y}`);
  assert.equal(await page.getAttribute(".list table", "aria-rowcount"), String(COUNT + 1));
  assert.ok((await ids(page)).length < 120);
  await page.click("th button:has-text('#')");
  assert.equal((await ids(page))[0], COUNT);
  await page.evaluate(() => {
    const list = document.querySelector(".list");
    list.scrollTop = list.scrollHeight;
  });
  await page.waitForFunction(() => document.querySelector('.list button[aria-label="Connection 1"]') !== null);
  // A line of the middle, and the lines around it in their order.
  await page.evaluate(() => {
    document.querySelector(".list").scrollTop = 5_000 * 27;
  });
  await page.waitForFunction(() => document.querySelector('.list button[aria-label="Connection 5000"]') !== null);
  const seen = await ids(page);
  assert.deepEqual(
    seen,
    seen.map((_, at) => seen[0] - at),
  );
});

test("numbers of connections and transfers are not cut", async (t) => {
  const page = await open(t, server.url);
  await page.waitForSelector(".list tbody tr");
  const cut = () =>
    page.$$eval(".list tbody tr:not(.room) td:first-child", (cells) =>
      cells.filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent),
    );
  await page.click("th button:has-text('#')");
  assert.equal((await ids(page))[0], COUNT);
  assert.deepEqual(await cut(), []);
  await page.click("text=transfers");
  await page.waitForSelector('.list[aria-label="Transfers"] tbody tr');
  await page.click("th button:has-text('#')");
  assert.deepEqual(await cut(), []);
});

test("a list without a line has no time at its ends", async (t) => {
  const page = await open(t, server.url);
  await page.waitForSelector(".list tbody tr");
  await page.fill("input[type=search]", "port:1 port:2");
  await shown(page, "0 of 10,000 connections");
  assert.doesNotMatch(await page.textContent("main"), /Infinity|NaN/);
});

test("fields, comparisons and words are sought together", async (t) => {
  const page = await open(t, server.url);
  await page.waitForSelector(".list tbody tr");
  await page.fill("input[type=search]", "rtt>50");
  await shown(page, "1,000 of 10,000 connections");
  await page.fill("input[type=search]", "rtt>0.05s -port:1024 server:192.0.2.7");
  await shown(page, "999 of 10,000 connections");
  await page.fill("input[type=search]", "port:1034 state:closed down>=500 bytes<1kB");
  await shown(page, "1 of 10,000 connections");
  assert.deepEqual(await ids(page), [11]);
  await page.fill("input[type=search]", "10.0.0.1:11022");
  await shown(page, "1 of 10,000 connections");
  await page.fill("input[type=search]", "speed>3");
  await page.waitForFunction(() =>
    document.querySelector(".tablehead [role=status]").textContent.startsWith("unknown field “speed”"),
  );
  await page.fill("input[type=search]", "rtt>fast");
  await shown(page, "“fast” is not a value of rtt");
});

test("a wrong filter is marked and explained", async (t) => {
  const page = await open(t, server.url);
  await page.waitForSelector(".list tbody tr");
  const state = async () => [
    await page.getAttribute("input[type=search]", "aria-invalid"),
    await page.getAttribute(".tablehead [role=status]", "class"),
  ];
  await page.fill("input[type=search]", "foo:bar");
  await page.waitForSelector('.tablehead [role=status]:has-text("unknown field “foo”")');
  assert.deepEqual(await state(), ["true", "failed"]);
  await page.fill("input[type=search]", "rtt>50");
  await shown(page, "1,000 of 10,000 connections");
  assert.deepEqual(await state(), ["false", "dim"]);
});

test("a range of the timeline lists what ran in it", async (t) => {
  const page = await open(t, server.url);
  await page.waitForSelector(".list tbody tr");
  const box = await page.locator(".brush").boundingBox();
  const at = (share) => box.x + box.width * share;
  const draw = async (from, to) => {
    await page.mouse.move(at(from), box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(at(to), box.y + box.height / 2, { steps: 4 });
    await page.mouse.up();
  };
  await draw(0.5, 0.25);
  await page.waitForFunction(() => document.querySelector("input[type=search]").value !== "");
  const filter = await page.inputValue("input[type=search]");
  const [, from, to] = /^end>=([\d.]+) start<=([\d.]+)$/.exec(filter) ?? assert.fail(filter);
  // The capture lasts 50 s and the round trips of its last connection.
  assert.ok(Math.abs(from - 12.5) < 0.3 && Math.abs(to - 25) < 0.3, filter);
  const listed = Number.parseInt((await page.textContent(".tablehead [role=status]")).replaceAll(",", ""), 10);
  assert.ok(Math.abs(listed - 2_500) < 130, `${listed}`);
  assert.equal(decodeURIComponent(new URL(page.url()).hash).includes("end"), true);
  // A click is not a range.
  await draw(0.5, 0.5);
  assert.equal(await page.inputValue("input[type=search]"), filter);
});

test("the timeline says when each ran, in the colours of what limited it", async (t) => {
  const page = await open(t, server.url);
  await page.waitForSelector(".list tbody tr");
  await page.click("th button:has-text('timeline')");
  const at = (id) =>
    page.$eval(`.list tr:has(button[aria-label="Connection ${id}"]) .lane`, (lane) =>
      [...lane.children].map((span) => [span.className, span.offsetLeft / lane.clientWidth]),
    );
  const [early] = await at(1);
  assert.equal(early[0], "span ran");
  assert.ok(early[1] < 0.01);
  assert.ok((await at(1)).some(([name]) => name.includes("setup")));
});

test("a connection that the document lacks is asked for, and a file says that it has a line alone", async (t) => {
  const page = await open(t, `${server.url}#c=9999`);
  await page.waitForSelector('.figure[aria-busy="false"][data-range]');
  assert.match(await page.textContent(".ends"), /:11022/);
  await page.keyboard.press("PageDown");
  await page.waitForSelector(".crumbs b:has-text('connection 10000')");
  const file = await open(t, `file://${report("many", path)}`);
  await file.waitForSelector(".list tbody tr");
  assert.equal(await file.getAttribute(".list table", "aria-rowcount"), String(COUNT + 1));
  await file.evaluate(() => {
    location.hash = "#c=9999";
  });
  await file.waitForSelector("[role=alert]:has-text('whyslow view')");
  await file.click("button:has-text('All connections')");
  await file.waitForSelector(".list tbody tr");
});

test("two connections are chosen and compared", async (t) => {
  const page = await open(t, server.url);
  await page.waitForSelector(".list tbody tr");
  await page.fill("input[type=search]", "id<=11 rtt>50");
  await shown(page, "2 of 10,000 connections");
  await page.check('input[aria-label$=": Connection 1"]');
  await page.check('input[aria-label$=": Connection 11"]');
  await page.click(".choice button:has-text('Compare')");
  await page.waitForSelector(".compare .verdict h1");
});

test("both ends of one transfer count once, opened together or set side by side", async (t) => {
  const both = [sample("loss-client"), sample("loss-server")];
  const pair = await view(...both);
  cleanUp(t, () => pair.end());
  const page = await open(t, pair.url);
  await page.waitForSelector(".causes li");
  assert.match(await page.textContent(".causes li"), /loss765 ms1 connection/);
  await shown(page, "1 connection, 1 of them in two captures");
  const alone = await view(both[0]);
  cleanUp(t, () => alone.end());
  const second = await open(t, alone.url);
  await second.waitForSelector(".causes li");
  await second.setInputFiles('input[aria-label="Capture files to compare with"]', both[1]);
  await second.waitForSelector(".compare .verdict h1");
  await second.click(".brand");
  await second.waitForSelector(".causes li");
  assert.match(await second.textContent(".causes li"), /loss765 ms1 connection/);
});
