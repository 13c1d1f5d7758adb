// The site, opened from a disk as whoever downloads it would: the page that needs no server, and
// the documentation around it.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { dirname, extname, join, relative, resolve } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { browserOfFile, cleanUp } from "./browser.mjs";
import { folder, json, root, sample } from "./program.mjs";
import { drop, found, isBuilt, printed, saved, site, tryPage } from "./site.mjs";

const REPOSITORY = "https://github.com/whyslow/whyslow/blob/main/";
const options = { skip: isBuilt ? false : "the site is not built: make site" };
const { open, newContext } = browserOfFile();

const drawn = (page) => page.waitForSelector('.figure[aria-busy="false"][data-range]');
const heading = (page) => page.textContent(".verdict h1");

function files(under, ending) {
  return readdirSync(under, { recursive: true })
    .map((name) => join(under, name))
    .filter((path) => path.endsWith(ending) && statSync(path).isFile());
}

/** As the browser sees them: without &amp; and the like, and without what stands in code. */
const attributes = (html, name) =>
  [...html.matchAll(new RegExp(` ${name}="([^"]*)"`, "g"))].map(([, value]) => value.replaceAll("&amp;", "&"));

test("every link leads somewhere", options, () => {
  const pages = files(site, ".html").filter((path) => !path.endsWith("try.html"));
  assert.ok(pages.length > 100);
  const ids = new Map(pages.map((path) => [path, new Set(attributes(readFileSync(path, "utf8"), "id"))]));
  const broken = [];
  let links = 0;
  for (const path of pages) {
    const html = readFileSync(path, "utf8");
    for (const link of [...attributes(html, "href"), ...attributes(html, "src")]) {
      if (link === "data:,") continue;
      links += 1;
      const [file, fragment] = link.replace(REPOSITORY, `${root}/`).split("#");
      if (/^https?:/.test(file)) continue;
      const target = file === "" ? path : resolve(dirname(path), decodeURI(file));
      const hasPlace = !fragment || link.startsWith(REPOSITORY) || ids.get(target)?.has(decodeURI(fragment));
      if (!existsSync(target) || !hasPlace) broken.push(`${relative(site, path)}: ${link}`);
    }
  }
  assert.deepEqual(broken, []);
  assert.ok(links > 5000, `${links}`);
});

test("words are found in the documentation, from a file", options, async (t) => {
  const page = await open(t, `file://${join(site, "index.html")}`);
  await page.keyboard.press("/");
  await page.keyboard.type("receive window");
  await page.waitForSelector("#results a");
  const first = await page.textContent("#results li:first-child");
  assert.match(first, /receive-window/);
  await page.keyboard.press("Enter");
  await page.waitForURL(/causes\/receive-window\.html/);
  assert.match(await page.textContent("article"), /What it is confused with/);
});

// Sentences in two languages, the texts of tshark and commands for four platforms are 180 kB of it.
// As it is published: what tests build quickly is larger.
const isQuick = (process.env.WEB_PROFILE ?? "web") !== "web";
const asPublished = isQuick ? { skip: "make soak builds it as it is published" } : options;

test("what reads captures is little more than a megabyte to download", asPublished, () => {
  const [, engine] = /id="engine">([^<]*)</.exec(readFileSync(join(site, "try.html"), "utf8"));
  const size = Buffer.from(engine, "base64").length;
  assert.ok(size > 100_000 && size <= 1_200_000, `${size}`);
});

test("a sample is a lesson, without a server", options, async (t) => {
  const page = await open(t, tryPage);
  await page.waitForSelector(".samples button");
  assert.equal(await page.locator(".samples button").count(), 5);
  await page.getByRole("button", { name: /receive-window-client/ }).click();
  await page.waitForSelector("main.overview");
  assert.match(await heading(page), /receive window is too small/);
  assert.match(await page.textContent(".bottom"), /read in [\d.]+ s, with [\d.]+ MB of memory/);
  await page
    .getByRole("link", { name: "see why" })
    .or(page.getByRole("button", { name: "see why" }))
    .first()
    .click();
  await drawn(page);
  // Graphs are read again of the same file, and the packet's headers too.
  await page.keyboard.press("g");
  await page.keyboard.type("1");
  await page.keyboard.press("Enter");
  const box = await page.locator(".figure").boundingBox();
  assert.ok(box.height > 100);
  assert.deepEqual([...(await saved(page, "pcapng")).subarray(0, 4)], [0x0a, 0x0d, 0x0d, 0x0a]);
});

/** A web server that gives files and nothing else: no header that says what a page may. */
async function plainServer(t) {
  const server = createServer(async (request, response) => {
    const path = join(site, decodeURI(new URL(request.url, "http://site").pathname));
    const type = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript" }[extname(path)];
    const bytes = await readFile(path).catch(() => null);
    response.writeHead(bytes ? 200 : 404, { "content-type": type ?? "application/octet-stream" }).end(bytes);
  });
  cleanUp(t, () => server.close());
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return `http://127.0.0.1:${server.address().port}`;
}

test("any web server offers it, and what is opened is not sent to it", options, async (t) => {
  const address = await plainServer(t);
  const page = await open(t, `${address}/index.html`);
  await page.getByRole("link", { name: "Try it" }).first().click();
  await page.waitForSelector(".samples button");
  const requests = [];
  page.on("request", (request) => requests.push(request.url()));
  const capture = sample("loss-client");
  await drop(page, [capture]);
  assert.equal((await saved(page, "JSON")).toString(), (await printed(capture)).json);
  await page.getByText("see why").first().click();
  await drawn(page);
  const sent = requests.filter((url) => url.startsWith("http"));
  assert.deepEqual(sent, []);
});

test("the report is one file, without what reads captures", options, async (t) => {
  const page = await open(t, tryPage);
  await drop(page, [sample("loss-client")]);
  const verdict = await heading(page);
  const report = join(folder, "site-report.html");
  const html = (await saved(page, "Save report")).toString();
  writeFileSync(report, html);
  assert.ok(html.length < 1e6, `${html.length}`);
  assert.ok(!/wasm-unsafe-eval'|worker-src/.test(/http-equiv="Content-Security-Policy" content="[^"]*"/.exec(html)[0]));
  const again = await open(t, `file://${report}`);
  await again.waitForSelector("main.overview");
  assert.equal(await heading(again), verdict);
  await again.getByText("see why").first().click();
  await drawn(again);
});

test("two captures are compared, and what cannot be read leaves them open", options, async (t) => {
  const page = await open(t, tryPage);
  await drop(page, [sample("receive-window-client")]);
  await drop(page, [sample("slow-start-client")], "Capture files to compare with");
  await page.waitForSelector("main.compare .verdict");
  const verdict = await page.textContent(".verdict h1");
  const text = join(folder, "no-capture.pcap");
  writeFileSync(text, "this is no capture at all, and long enough to be sure of it");
  await page.evaluate(() => document.querySelector("main").setAttribute("data-old", ""));
  await page.setInputFiles('[aria-label="Capture files"]', [text]);
  await page.waitForSelector(".notice");
  assert.match(await page.textContent(".notice"), /Not opened.*no-capture\.pcap/s);
  assert.equal(await page.textContent(".verdict h1"), verdict);
});

test("a reading is stopped, and what was open is so still", options, async (t) => {
  const page = await open(t, tryPage);
  await drop(page, [sample("receive-window-client")]);
  const verdict = await heading(page);
  // 300 MB of nothing: its end is far away.
  const long = join(folder, "long.pcap.gz");
  const one = readFileSync(sample("loss-client"));
  writeFileSync(long, Buffer.concat([gzipSync(one), ...Array(400).fill(gzipSync(Buffer.alloc(1 << 20, 1)))]));
  await page.setInputFiles('[aria-label="Capture files"]', [long]);
  await page.getByRole("button", { name: "Stop" }).click();
  await page.waitForSelector(".notice");
  assert.match(await page.textContent(".notice"), /you stopped it/);
  assert.equal(await heading(page), verdict);
});

test("compressed captures say what the others say", options, async (t) => {
  const page = await open(t, tryPage);
  const bytes = readFileSync(sample("loss-client"));
  const [half, rest] = [bytes.subarray(0, 70_000), bytes.subarray(70_000)];
  const members = join(folder, "members.pcap.gz");
  writeFileSync(members, Buffer.concat([gzipSync(half), gzipSync(rest)]));
  const explained = JSON.parse((await found(page, [members])).json);
  assert.deepEqual(explained.connections, json(sample("loss-client")).connections);
});

/** WebAssembly of this page cannot wait for anything, as in some browsers. */
function withoutWaiting() {
  const Whole = Blob;
  window.Blob = class extends Whole {
    constructor(parts, options) {
      super(
        options?.type?.startsWith("text/javascript") ? ["delete WebAssembly.Suspending;", ...parts] : parts,
        options,
      );
    }
  };
}

test("blocks that are read ahead, or in turn, are the whole capture", options, async (t) => {
  // Its packets again and again: some blocks.
  const one = readFileSync(sample("loss-client"));
  const long = join(folder, "blocks.pcap");
  writeFileSync(long, Buffer.concat([one, ...Array(39).fill(one.subarray(24))]));
  assert.ok(statSync(long).size > 4e6);
  const { json: wanted } = await printed(long);
  assert.ok(JSON.parse(wanted).captures[0].packets > 10_000);
  const context = await newContext();
  cleanUp(t, () => context.close());
  const ahead = await context.newPage();
  const inTurn = await context.newPage();
  await inTurn.addInitScript(withoutWaiting);
  for (const page of [ahead, inTurn]) {
    await page.goto(tryPage);
    assert.ok((await found(page, [long])).json === wanted);
    // And once more, by a worker that was ready.
    assert.ok((await found(page, [long])).json === wanted);
  }
});

/** Captures of the collection are no part of the project. */
const collection = process.env.WHYSLOW_CAPTURES ?? join(root, "../shared/captures");
const isLarge = (path) => statSync(path).size >= 50e6;
/** All of what is there takes minutes, so that is asked for: make site-all. */
const all =
  process.env.WHYSLOW_SITE_ALL && existsSync(collection) ? files(collection, "").filter((path) => !isLarge(path)) : [];

test("JSON is that of the program, byte for byte", options, async (t) => {
  const context = await newContext();
  cleanUp(t, () => context.close());
  const page = await context.newPage();
  await page.goto(tryPage);
  const differs = [];
  let [same, refused] = [0, 0];
  const captures = [...files(join(root, "samples"), ".pcap"), ...all];
  // The program answers to the next while the page reads this one.
  let next = printed(captures[0]);
  for (const [at, path] of captures.entries()) {
    const theirs = await next;
    if (at + 1 < captures.length) next = printed(captures[at + 1]);
    const ours = await found(page, [path]);
    if (theirs.json !== undefined && theirs.json === ours.json) same += 1;
    else if (theirs.json === undefined && ours.json === undefined) refused += 1;
    else differs.push(path);
  }
  t.diagnostic(`${same} the same, ${refused} refused by both, of ${captures.length}`);
  assert.deepEqual(differs, []);
  assert.ok(same > 60, `${same}`);
});
