// A real browser: Debian's chromium, or what CHROMIUM names.
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const CANDIDATES = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Where the browser is; none where there is none. */
export const executable = CANDIDATES.find((path) => path && existsSync(path));

export function launch() {
  if (!executable) throw new Error("no chromium: apt-get install chromium, or name one in CHROMIUM");
  // Root has no sandbox of its own; the pages are ours.
  return chromium.launch({ executablePath: executable, args: ["--no-sandbox", "--force-color-profile=srgb"] });
}
