// Pictures of pages: node shot.mjs FOLDER PAGE.html[#state]…, at 1280 and 1920 pixels, light and
// dark.
import { mkdir } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { launch } from "./test/browser.mjs";

const [folder = "shots", ...pages] = process.argv.slice(2);
await mkdir(folder, { recursive: true });
const browser = await launch();
for (const page of pages) {
  const [path, hash = ""] = page.split("#");
  for (const width of [1280, 1920]) {
    for (const colorScheme of ["light", "dark"]) {
      const tab = await browser.newPage({ viewport: { width, height: width === 1280 ? 800 : 1080 }, colorScheme });
      tab.on("pageerror", (error) => console.error(`${page}: ${error}`));
      tab.on("console", (message) => message.type() === "error" && console.error(`${page}: ${message.text()}`));
      await tab.goto(`file://${resolve(path)}#${hash}`);
      await tab.waitForSelector("main:not(.waiting)");
      await tab.waitForTimeout(400);
      const name = `${basename(path, ".html")}${hash ? `-${hash.replace(/[^a-z0-9]+/gi, "-")}` : ""}-${width}-${colorScheme}.png`;
      await tab.screenshot({ path: `${folder}/${name}`, fullPage: true });
      await tab.close();
    }
  }
}
await browser.close();
