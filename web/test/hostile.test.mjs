// Names of hosts and files are hostile: none of them is markup, and none hides what
// it is.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { browserOfFile, cleanUp } from "./browser.mjs";
import { folder, report, sample, view } from "./program.mjs";

const { open, newContext } = browserOfFile();

/** Host names as a capture brings them, and as they are to be seen. */
const NAMES = [
  ["<script>alert('name')</script>", "<script>alert('name')</script>"],
  ['"><img src=x onerror=alert(2)>', '"><img src=x onerror=alert(2)>'],
  ["' onmouseover='alert(3)' x='", "' onmouseover='alert(3)' x='"],
  ["</script><svg onload=alert(4)>", "</script><svg onload=alert(4)>"],
  ["safe\u202egnp.example", "safe\\u{202e}gnp.example"],
  ["\u2066isolated\u2069\u200f", "\\u{2066}isolated\\u{2069}\\u{200f}"],
  ["\u001b[31mred\u0007", "\\u{1b}[31mred\\u{7}"],
  ["two\nlines\rhere", "two\\u{a}lines\\u{d}here"],
  ["para\u2029graph\u0085next", "para\\u{2029}graph\\u{85}next"],
  ["back\\u{202e}slash&amp;&#x202e;", "back\\u{202e}slash&amp;&#x202e;"],
];
const FILE = "<img src=x onerror=alert(5)>\u202egnp.pcap\u0007ng";
const FILE_SHOWN = "<img src=x onerror=alert(5)>\\u{202e}gnp.pcap\\u{7}ng";
/** What is never to be seen as it is; line ends within the page's own markup are. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const HIDDEN = /[\p{Bidi_Control}\p{Zl}\p{Zp}\0-\x08\x0b-\x1f\x7f-\x9f]/u;

/** pcapng: a sample's packets once for each name, each time with a server of its own. */
function hostile() {
  const block = (kind, body) => {
    const padded = Buffer.concat([body, Buffer.alloc((4 - (body.length % 4)) % 4)]);
    const [head, tail] = [Buffer.alloc(8), Buffer.alloc(4)];
    head.writeUInt32LE(kind, 0);
    head.writeUInt32LE(padded.length + 12, 4);
    tail.writeUInt32LE(padded.length + 12, 0);
    return Buffer.concat([head, padded, tail]);
  };
  const words = (...all) => {
    const bytes = Buffer.alloc(4 * all.length);
    for (const [at, word] of all.entries()) bytes.writeUInt32LE(word >>> 0, 4 * at);
    return bytes;
  };
  const file = readFileSync(sample("slow-start-client"));
  const server = Buffer.from([10, 77, 0, 2]);
  const at = file.subarray(24 + 16).indexOf(server);
  assert.ok(at > 0, "the sample has another server");
  // One word less, one more: the checksums stay right.
  const other = (index) => Buffer.from([10, 77 - index, 0, 2 + index]);
  const blocks = [
    block(0x0a0d0d0a, Buffer.concat([words(0x1a2b3c4d, 1), Buffer.alloc(8, 0xff)])),
    block(1, words(file.readUInt32LE(20), 0)),
  ];
  const records = NAMES.map(([name], index) => {
    const value = Buffer.concat([other(index), Buffer.from(`${name}\0`)]);
    const head = Buffer.alloc(4);
    head.writeUInt16LE(1, 0);
    head.writeUInt16LE(value.length, 2);
    return Buffer.concat([head, value, Buffer.alloc((4 - (value.length % 4)) % 4)]);
  });
  blocks.push(block(4, Buffer.concat([...records, Buffer.alloc(4)])));
  const packets = [];
  NAMES.forEach((_, index) => {
    for (let from = 24; from + 16 <= file.length; ) {
      const length = file.readUInt32LE(from + 8);
      const packet = Buffer.from(file.subarray(from + 16, from + 16 + length));
      for (let found = packet.indexOf(server); found >= 0 && found < 60; found = packet.indexOf(server, found + 4))
        other(index).copy(packet, found);
      const fraction = file.readUInt32LE(from + 4);
      const micros =
        BigInt(file.readUInt32LE(from)) * 1_000_000n +
        BigInt(file.readUInt32LE(0) === 0xa1b23c4d ? Math.floor(fraction / 1000) : fraction) +
        BigInt(index) * 1_000_000n;
      packets.push([
        micros,
        block(
          6,
          Buffer.concat([
            words(0, Number(micros >> 32n), Number(micros & 0xffffffffn), length, file.readUInt32LE(from + 12)),
            packet,
          ]),
        ),
      ]);
      from += 16 + length;
    }
  });
  packets.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return Buffer.concat([...blocks, ...packets.map(([, packet]) => packet)]);
}

const path = join(folder, FILE);
writeFileSync(path, hostile());

/** A page whose dialogs fail the test, as its complaints do. */
async function watched(t, url) {
  const dialogs = [];
  cleanUp(t, () => assert.deepEqual(dialogs, []));
  const page = await open(t, "about:blank");
  page.on("dialog", (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  await page.goto(url);
  return page;
}

/** What stands on the page in words, titles and all other attributes. */
const words = (page) =>
  page.evaluate(() => {
    const attributes = [...document.querySelectorAll("body *")].flatMap((one) =>
      [...one.attributes].map((attribute) => attribute.value),
    );
    // biome-ignore lint/performance/useDomNodeTextContent: what is seen counts, not what is in the tree.
    return [document.title, document.body.innerText, ...attributes, location.href].join("\n\n");
  });

async function harmless(page, ...expected) {
  const seen = await words(page);
  assert.doesNotMatch(seen, HIDDEN);
  for (const text of expected) assert.ok(seen.includes(text), `${JSON.stringify(text)} is not on the page`);
  assert.equal(await page.locator("img, svg[onload], [onerror], [onmouseover]").count(), 0);
  // The page itself, and its places for data, notes, what reads captures, and samples.
  assert.equal(await page.locator("script").count(), 5);
}

async function walk(page) {
  await page.waitForSelector("table.rows");
  await harmless(page, FILE_SHOWN, ...NAMES.map(([, shown]) => shown));
  for (const index of NAMES.keys()) {
    await page.evaluate((id) => {
      location.hash = `#c=${id}`;
    }, index + 1);
    await page.waitForSelector(`.crumbs b:has-text('connection ${index + 1}')`);
    await page.waitForSelector('.figure[aria-busy="false"][data-range]');
    await harmless(page, NAMES[index][1]);
  }
}

test("names on the page are text, and each is seen as it is", async (t) => {
  const server = await view(path);
  cleanUp(t, () => server.end());
  const page = await watched(t, server.url);
  await walk(page);
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("button:has-text('SVG')")]);
  await download.saveAs(join(folder, "hostile.svg"));
  const svg = readFileSync(join(folder, "hostile.svg"), "utf8");
  assert.doesNotMatch(svg, HIDDEN);
  assert.doesNotMatch(svg, /<(script|img)/);
  await page.evaluate(() => {
    location.hash = "#compare=1.2~7.2";
  });
  await page.waitForSelector(".compare .verdict h1");
  await harmless(page);
});

test("names in a report are text, and each is seen as it is", async (t) => {
  await walk(await watched(t, `file://${report("hostile", path)}`));
});

test("a dropped file's name is seen as it is while it comes, when it is open, and when it cannot be", async (t) => {
  const server = await view();
  cleanUp(t, () => server.end());
  const page = await watched(t, server.url);
  await page.waitForSelector(".drop");
  const network = await page.context().newCDPSession(page);
  const slowly = (uploadThroughput) =>
    network.send("Network.emulateNetworkConditions", {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput,
    });
  await network.send("Network.enable");
  await slowly(1_000_000);
  await page.setInputFiles("input[type=file] >> nth=0", path);
  await page.waitForFunction(() => {
    const bar = document.querySelector("progress");
    return bar && bar.value > 0 && bar.value < bar.max;
  });
  await harmless(page, `Reading ${FILE_SHOWN}`);
  await slowly(-1);
  await page.waitForSelector("table.rows", { timeout: 60_000 });
  await harmless(page, FILE_SHOWN);
  await page.setInputFiles("input[type=file] >> nth=0", [
    { name: FILE, mimeType: "text/plain", buffer: Buffer.from("no \u202ecapture") },
  ]);
  await page.waitForSelector(".failed");
  await harmless(page, FILE_SHOWN);
});

test("a file that does not come whole leaves open what is open, and says so", async (t) => {
  const server = await view(sample("slow-start-client"));
  cleanUp(t, () => server.end());
  // The browser's console shows the failure as well.
  const context = await newContext();
  cleanUp(t, () => context.close());
  const page = await context.newPage();
  await page.goto(server.url);
  await page.waitForSelector(".verdict h1");
  const verdict = await page.textContent(".verdict h1");
  // As if the file were cut while it comes, which a browser does not do at a test's wish.
  await page.route("**/open?*", (route) => route.fulfill({ status: 400, body: "of the file's 9 bytes 4 came" }));
  await page.setInputFiles("input[type=file] >> nth=0", sample("loss-client"));
  await page.waitForSelector(".notice");
  assert.match(await page.textContent(".notice"), /Not opened\. of the file's 9 bytes 4 came/);
  assert.equal(await page.textContent(".verdict h1"), verdict);
});
