// How long the page without a server takes, next to the program on one thread, and how much memory:
//   npm run measure:site -- CAPTURE…
// By the clock is what a user waits for: from the drop to the verdict on the screen.
// ROUNDS for another number than three; WHYSLOW names the program. In each round both run once, in
// turn: what disturbs the machine disturbs both. Medians are printed; processor time of the browser is
// that of all its processes. No test: the figures are the machine's, and its load is printed too.
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { loadavg } from "node:os";
import { launch } from "../test/browser.mjs";
import { program } from "../test/program.mjs";
import { drop, tryPage } from "../test/site.mjs";

const ROUNDS = Number(process.env.ROUNDS ?? 3);
/** Milliseconds between the opening of the page and the drop: no user is quicker. */
const CHOOSING = 500;
const median = (all) => all.toSorted((a, b) => a - b)[all.length >> 1];

/** Seconds that the program takes: on the clock, and of a processor. */
function native(path) {
  const script = 'TIMEFORMAT="%R %U %S"; time "$0" --threads 1 --json -- "$1" >/dev/null';
  const printed = execFileSync("bash", ["-c", `{ ${script}; } 2>&1`, program, path], { encoding: "utf8" });
  const [clock, user, system] = printed.trim().split("\n").at(-1).split(" ").map(Number);
  return { clock, processor: user + system };
}

async function processorTime(session) {
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  return processInfo.reduce((sum, one) => sum + one.cpuTime, 0);
}

/** In the page: milliseconds from an event, or from the beginning of the page, until this is painted. */
function painted({ selector, since }) {
  return new Promise((done) => {
    let began = 0;
    if (since) document.addEventListener(since, () => (began = performance.now()), { capture: true, once: true });
    const later = (then) => requestAnimationFrame(() => requestAnimationFrame(then));
    const look = () =>
      document.querySelector(selector) ? later(() => done(performance.now() - began)) : requestAnimationFrame(look);
    look();
  });
}

/** The same of the page, from the drop to the verdict on the screen; and bytes of memory. */
async function inBrowser(path) {
  const browser = await launch();
  try {
    const session = await browser.newBrowserCDPSession();
    const page = await browser.newPage();
    await page.goto(tryPage);
    const opened = await page.evaluate(painted, { selector: ".samples" });
    await page.waitForTimeout(CHOOSING);
    const before = await processorTime(session);
    const verdict = page.evaluate(painted, { selector: "main.overview", since: "change" });
    await drop(page, [path]);
    const clock = await verdict;
    const processor = (await processorTime(session)) - before;
    const [, seconds, memory] = /read in ([\d.]+) s, with ([\d.]+ .B)/.exec(await page.textContent(".bottom"));
    return { opened: opened / 1000, clock: clock / 1000, processor, seconds: Number(seconds), memory };
  } finally {
    await browser.close();
  }
}

for (const path of process.argv.slice(2)) {
  const rounds = { native: [], page: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.native.push(native(path));
    rounds.page.push(await inBrowser(path));
  }
  const of = (which, what) => median(rounds[which].map((one) => one[what]));
  const line = [
    `${(statSync(path).size / 1e6).toFixed(0)} MB`,
    `program ${of("native", "clock").toFixed(2)} s (processor ${of("native", "processor").toFixed(2)} s)`,
    `page opened in ${of("page", "opened").toFixed(2)} s, verdict ${of("page", "clock").toFixed(2)} s after the drop`,
    `worker ${of("page", "seconds").toFixed(2)} s (processor, all of the browser, ${of("page", "processor").toFixed(2)} s)`,
    `memory ${rounds.page[0].memory}`,
    `of the program's speed ${["clock", "processor"].map((what) => (of("native", what) / of("page", what)).toFixed(2)).join(" by the clock, ")} by processor time`,
    `load ${loadavg()[0].toFixed(1)}`,
  ];
  console.log(line.join("; "));
}
