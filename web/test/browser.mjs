// A real browser: Debian's chromium, or what CHROMIUM names.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before } from "node:test";
import { chromium } from "playwright-core";

const CANDIDATES = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Where the browser is; none where there is none. */
export const executable = CANDIDATES.find((path) => path && existsSync(path));

export function launch() {
  if (!executable) throw new Error("no chromium: apt-get install chromium, or name one in CHROMIUM");
  // Root has no sandbox of its own; the pages are ours.
  return chromium.launch({ executablePath: executable, args: ["--no-sandbox", "--force-color-profile=srgb"] });
}

/** The cleanups of each test, in the order of their registration. */
const cleanups = new WeakMap();

/**
 * Runs `action` after the test `t`, the last registered first: a page closes before its server ends.
 * Node runs the hooks of `t.after` in the order of their registration.
 */
export function cleanUp(t, action) {
  const known = cleanups.get(t);
  if (known) {
    known.push(action);
    return;
  }
  const actions = [action];
  cleanups.set(t, actions);
  t.after(async () => {
    const failures = [];
    for (const one of actions.reverse()) {
      try {
        await one();
      } catch (failure) {
        failures.push(failure);
      }
    }
    if (failures.length > 0) throw failures[0];
  });
}

/** A page at an address, whose complaints fail the test `t`. */
export async function open(browser, t, url, options = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    acceptDownloads: true,
    ...options,
  });
  const page = await context.newPage();
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  cleanUp(t, async () => {
    await context.close();
    assert.deepEqual(complaints, []);
  });
  await page.goto(url);
  return page;
}

/**
 * A browser from the first to the last test of a file. `open(t, url, options)` is a page in it, as
 * above; `newContext` is the browser's own.
 */
export function browserOfFile(defaults = {}) {
  let browser;
  before(async () => {
    browser = await launch();
  });
  after(() => browser.close());
  return {
    open: (t, url, options = defaults) => open(browser, t, url, options),
    newContext: () => browser.newContext(),
  };
}
