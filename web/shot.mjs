// Pictures of pages: node shot.mjs FOLDER PAGE.html[#state]…, at 1280 pixels in light colours, 1920
// in dark ones, 390 as on a phone, and printed.
import { mkdir } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { launch } from "./test/browser.mjs";

/** A4 without its margins, pixels. */
const SHEET = { width: 718, height: 1047 };
/** Width, height, colours. */
const LOOKS = [
  [1280, 800, "light"],
  [1920, 1080, "dark"],
  [390, 844, "light"],
];

/** A sheet as the browser prints it, and about how it looks. */
async function print(tab, name) {
  const pdf = await tab.pdf({ path: `${name}-print.pdf`, format: "A4" });
  console.log(`${name}: ${pdf.toString("latin1").match(/\/Type \/Page\b/g)?.length} pages`);
  await tab.emulateMedia({ media: "print" });
  await tab.setViewportSize(SHEET);
  await tab.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await tab.screenshot({ path: `${name}-print.png`, fullPage: true });
}

const [folder = "shots", ...pages] = process.argv.slice(2);
await mkdir(folder, { recursive: true });
const browser = await launch();
for (const page of pages) {
  const [path, hash = ""] = page.split("#");
  const name = `${folder}/${basename(path, ".html")}${hash ? `-${hash.replace(/[^a-z0-9]+/gi, "-")}` : ""}`;
  for (const [width, height, colorScheme] of LOOKS) {
    const tab = await browser.newPage({ viewport: { width, height }, colorScheme });
    tab.on("pageerror", (error) => console.error(`${page}: ${error}`));
    tab.on("console", (message) => message.type() === "error" && console.error(`${page}: ${message.text()}`));
    await tab.goto(`file://${resolve(path)}#${hash}`);
    await tab.waitForSelector("main:not(.waiting)");
    await tab.waitForTimeout(400);
    const wide = await tab.evaluate(() => document.documentElement.scrollWidth);
    if (wide > width) console.error(`${page}: ${wide} pixels wide where there are ${width}`);
    await tab.screenshot({ path: `${name}-${width}-${colorScheme}.png`, fullPage: true });
    if (width === 1280) await print(tab, name);
    await tab.close();
  }
}
await browser.close();
