// The site under test: target/site, or what WHYSLOW_SITE names. `make site` builds it.
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { program, root } from "./program.mjs";

export const site = process.env.WHYSLOW_SITE ?? join(root, "target/site");
export const isBuilt = existsSync(join(site, "try.html"));
export const tryPage = `file://${join(site, "try.html")}`;

/** What the program says of these captures: JSON, or why it cannot read them. */
export function printed(...files) {
  const [file] = files;
  const options = { cwd: dirname(file), maxBuffer: 1 << 29 };
  return new Promise((done) => {
    execFile(program, ["--json", "--", ...files.map((one) => basename(one))], options, (error, out, complaint) =>
      done(error && out === "" ? { why: complaint } : { json: out }),
    );
  });
}

/** Gives files to the page, and waits until it shows them or says why not. */
export async function drop(page, files, label = "Capture files") {
  await page.evaluate(() => document.querySelector("main")?.setAttribute("data-old", ""));
  await page.setInputFiles(`[aria-label="${label}"]`, files);
  const settled = "main.overview:not([data-old]), main.compare:not([data-old]), main:not([data-old]) .failed";
  await page.waitForSelector(settled, { timeout: 0 });
}

/** The file that is saved by a click on a button of this name. */
export async function saved(page, name) {
  const [download] = await Promise.all([
    // On a busy machine the browser takes its time.
    page.waitForEvent("download", { timeout: 120_000 }),
    page.getByRole("button", { name, exact: true }).click(),
  ]);
  return readFileSync(await download.path());
}

/**
 * The text that a click on a button of this name saves, as the page gives it to the browser. Of hundreds of
 * files in a row a browser without processor time loses one now and then; `saved` has them from the disk.
 */
async function textGivenBy(page, name) {
  await page.evaluate(() => {
    const { createObjectURL } = URL;
    const { click } = HTMLAnchorElement.prototype;
    const blobs = new Map();
    globalThis.savedText = null;
    URL.createObjectURL = (blob) => {
      const url = createObjectURL.call(URL, blob);
      blobs.set(url, blob);
      return url;
    };
    HTMLAnchorElement.prototype.click = function () {
      URL.createObjectURL = createObjectURL;
      HTMLAnchorElement.prototype.click = click;
      void blobs
        .get(this.href)
        .text()
        .then((text) => {
          globalThis.savedText = text;
        });
    };
  });
  await page.getByRole("button", { name, exact: true }).click();
  const hasEnded = () => globalThis.savedText !== null || document.querySelector(".notice .failed") !== null;
  await page.waitForFunction(hasEnded, null, { timeout: 120_000 });
  const text = await page.evaluate(() => globalThis.savedText);
  if (text === null) throw new Error(await page.textContent(".notice"));
  return text;
}

/** What the page finds: JSON, or why it cannot read the captures. */
export async function found(page, files) {
  await drop(page, files);
  const why = await page.$(".failed[role=alert], .notice .failed");
  if (why) return { why: await page.textContent("[role=alert]") };
  return { json: await textGivenBy(page, "JSON") };
}
