// What `whyslow prove` found, on the page of its capture, in a real browser.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { browserOfFile, cleanUp } from "./browser.mjs";
import { folder, report, root, run, sample, view } from "./program.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** Recorded by `whyslow prove samples/receive-window-client.pcap --json`. */
const RECORDED = join(root, "web/test/proof.json");
const recorded = JSON.parse(readFileSync(RECORDED, "utf8"));
const CAPTURE = sample("receive-window-client");

const { open } = browserOfFile();

async function reported(t, name, proof, options) {
  const page = await open(t, `file://${report(name, CAPTURE, "--proof", proof)}`, options);
  await page.waitForSelector(".proof");
  return page;
}

/** The same proof with something else in it. */
function changed(name, change) {
  const proof = structuredClone(recorded);
  change(proof);
  const path = join(folder, `${name}.json`);
  writeFileSync(path, JSON.stringify(proof));
  return path;
}

test("the verdict of a proof comes first, then its runs, and three curves in one graph", async (t) => {
  const page = await reported(t, "proof", RECORDED);
  const parts = await page.$$eval(".overview > section", (all) => all.map((one) => one.className));
  assert.deepEqual(parts.slice(0, 2), ["verdict", "proof"]);
  assert.equal(await page.textContent(".proof .outcome"), recorded.headline);
  const rows = await page.$$eval(".proof tbody tr", (all) => all.map((row) => row.querySelector("th").textContent));
  const fix = { helps: "fixed", "no-help": "no help", harms: "slower", "not-run": "not run" };
  const often = { ...fix, helps: "helps too" };
  assert.deepEqual(rows, [
    "captured",
    "again",
    ...recorded.fixes.map((one) => fix[one.verdict]),
    ...recorded.often_tried.map((one) => often[one.verdict]),
  ]);
  assert.match(await page.textContent(".proof tr.helps"), /tcp_rmem.*5\d\d ms50\d ms3: 5\d\d ms to 5\d\d ms/);
  // Each curve has its steps, and ends where its run ended.
  assert.deepEqual(await page.$$eval(".proof .curve", (all) => all.map((one) => one.getAttribute("class"))), [
    "curve fixed",
    "curve again",
    "curve captured",
  ]);
  for (const path of await page.locator(".proof .curve path").all()) {
    const drawn = await path.getAttribute("d");
    assert.doesNotMatch(drawn, /NaN|Infinity|undefined/);
    assert.ok(drawn.split("H").length > 20, drawn);
  }
  const ends = await page.locator(".proof figcaption").textContent();
  assert.match(ends, /captured 2\.31 s.*again 2\.\d\d s.*fixed 5\d\d ms/);
  const ticks = await page.locator(".proof .tick").allTextContents();
  assert.ok(ticks.includes("0.5 s") && ticks.includes("100 kB"), ticks.join());
});

test("who points at a size sees when each run had so many bytes", async (t) => {
  const page = await reported(t, "proof-pointed", RECORDED);
  const box = await page.locator(".proof svg").boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.waitForSelector(".proof .pointer", { state: "attached" });
  assert.equal(await page.locator(".proof .dot").count(), 3);
  const size = Number((await page.textContent(".proof figcaption")).match(/([\d,]+) B after/)[1].replaceAll(",", ""));
  const when = (curve) => curve.points.find((point) => point[1] >= size)[0];
  const [captured, again, fixed] = recorded.curves.map(when);
  assert.ok(fixed < captured && fixed < again);
  assert.ok((await page.textContent(".proof figcaption")).includes(`fixed ${(fixed * 1e3).toFixed(0)} ms`));
});

test("a run that is another one says what differs, and nothing of a fix", async (t) => {
  const path = changed("differs", (proof) => {
    proof.agrees = proof.agreement.agrees = false;
    proof.agreement.differs = ["the time by +40 %"];
    proof.headline = "Not proved: <b>it</b> differs in the time by +40 %.";
    proof.fixes = proof.often_tried = [];
    proof.curves.pop();
  });
  const page = await reported(t, "proof-differs", path);
  assert.match(await page.textContent(".proof .problem"), /differs the time by \+40 %/);
  // What a proof says is no markup.
  assert.equal(await page.textContent(".proof .outcome"), "Not proved: <b>it</b> differs in the time by +40 %.");
  assert.equal(await page.locator(".proof tbody tr").count(), 2);
  assert.equal(await page.locator(".proof .curve").count(), 2);
});

for (const colorScheme of ["light", "dark"]) {
  test(`anybody can read it, ${colorScheme}, and nothing is cut off`, async (t) => {
    const page = await reported(t, `proof-${colorScheme}`, RECORDED, { colorScheme });
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => globalThis.axe.run());
    assert.deepEqual(
      violations.map((violation) => `${violation.id}: ${violation.nodes[0].html}`),
      [],
    );
    for (const width of [1600, 1280, 800, 480]) {
      await page.setViewportSize({ width, height: 900 });
      const [table, wide] = await page.$eval(".runs", (box) => [box.scrollWidth - box.clientWidth, innerWidth]);
      assert.ok(table <= 0 || width < 600, `the table is ${table} px too wide of ${wide}`);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, `${width} px`);
    }
  });
}

test("a served page has the proof as well, and its reports", async (t) => {
  const server = await view(CAPTURE, "--proof", RECORDED);
  cleanUp(t, () => server.end());
  const page = await open(t, server.url);
  await page.waitForSelector(".proof .curve.fixed");
  const [saved] = await Promise.all([page.waitForEvent("download"), page.click("text=Save report")]);
  const file = join(folder, "saved-proof.html");
  await saved.saveAs(file);
  const again = await open(t, `file://${file}`);
  await again.waitForSelector(".proof .curve.fixed");
  await page.click(".proof p a");
  await page.waitForSelector("main.connection");
});

test("the proof of another capture is refused", async (t) => {
  const other = sample("loss-client");
  const target = join(folder, "other.html");
  assert.throws(() => run("report", other, "--proof", RECORDED, "-o", target), /the proof is of another capture/);
  const server = await view(other, "--proof", RECORDED);
  cleanUp(t, () => server.end());
  const page = await open(t, server.url);
  await page.waitForSelector(".notice");
  assert.match(await page.textContent(".notice"), /The proof is not shown\. the proof is of another capture/);
  assert.equal(await page.locator(".proof").count(), 0);
});
