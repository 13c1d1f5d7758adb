// The page of `whyslow lab gallery` in a real browser: the snapshot of its widest rows.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { browserOfFile } from "./browser.mjs";
import { root } from "./program.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const SNAPSHOTS = "crates/whyslow-eval/src/gallery/page/snapshots";
const url = pathToFileURL(join(root, SNAPSHOTS, "whyslow_eval__gallery__page__tests__gallery.snap.html")).href;

const { open } = browserOfFile();

/** What is wider than its place, or reaches beyond the page. */
const cut = () => {
  const page = document.documentElement.clientWidth;
  const all = [...document.querySelectorAll("th, td, dt, dd, small, figcaption, p, svg, code")];
  const seen = all.filter((one) => one.getBoundingClientRect().width > 0);
  const isCut = (one) => {
    const cell = (one.closest("td, th") ?? document.body).getBoundingClientRect();
    const { left, right } = one.getBoundingClientRect();
    return left < -0.5 || right > page + 0.5 || right > cell.right + 0.5 || one.scrollWidth > one.clientWidth + 1;
  };
  const inline = (one) => getComputedStyle(one).display === "inline";
  return seen.filter((one) => !inline(one) && isCut(one)).map((one) => `${one.tagName}: ${one.textContent}`);
};

test("nothing is cut off, on a screen of any width and on paper", async (t) => {
  const page = await open(t, url);
  for (const width of [1920, 1600, 1280, 1181, 1180, 1000, 641, 640, 420]) {
    await page.setViewportSize({ width, height: 900 });
    assert.deepEqual(await page.evaluate(cut), [], `${width} px`);
    const figures = page.locator("#receive-reorder dd");
    assert.equal(await figures.first().isVisible(), true, `${width} px`);
  }
  // A sheet of A4 on its side, less its margins.
  await page.emulateMedia({ media: "print" });
  await page.setViewportSize({ width: 1047, height: 718 });
  assert.deepEqual(await page.evaluate(cut), [], "print");
});

test("a row has four graphs, each with its scale and its time, and all figures with their values", async (t) => {
  const page = await open(t, url);
  const row = page.locator("#none");
  assert.equal(await row.locator("svg").count(), 4);
  assert.deepEqual(await row.locator("figcaption:first-child").allTextContents(), [
    "113 ms",
    "941 Mbit/s",
    "1.99 GB",
    "3.00 MB",
  ]);
  assert.deepEqual(
    await row.locator("figcaption:last-child span:last-child").allTextContents(),
    Array(4).fill("60.0 s"),
  );
  for (const graph of await row.locator("svg").all()) {
    const { width, height } = await graph.boundingBox();
    assert.ok(width >= 120 && height >= 80, `${width} × ${height}`);
  }
  assert.match(await row.locator("dl").textContent(), /goodput940 Mbit\/s.*duplicate acks1,234,567/);
});

for (const colorScheme of ["light", "dark"]) {
  test(`anybody can read it, ${colorScheme}`, async (t) => {
    const page = await open(t, url, { viewport: { width: 1280, height: 900 }, colorScheme });
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() =>
      globalThis.axe.run(document, { rules: { region: { enabled: false }, "landmark-one-main": { enabled: false } } }),
    );
    assert.deepEqual(
      violations.map((violation) => `${violation.id}: ${violation.nodes[0].html}`),
      [],
    );
  });
}
