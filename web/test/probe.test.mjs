// A probe's requests on the page, in a real browser.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { cleanUp, launch, open } from "./browser.mjs";
import { folder, program } from "./program.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const PAUSE = 120;
let browser;
let server;
before(async () => {
  browser = await launch();
  server = createServer((request, response) => {
    request.resume();
    request.on("end", () => setTimeout(() => response.end("x".repeat(200_000)), PAUSE));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
});
after(async () => {
  server.close();
  await browser.close();
});

const url = () => `http://127.0.0.1:${server.address().port}/file`;

/** `whyslow probe`, while this process answers it. */
function probe(...args) {
  const child = spawn(program, ["probe", url(), ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let [printed, complaint] = ["", ""];
  child.stdout.on("data", (text) => (printed += text));
  child.stderr.on("data", (text) => (complaint += text));
  return new Promise((done) => child.on("exit", (status) => done({ status, printed, complaint })));
}

/** A page of a probe; none where packets may not be recorded here. */
async function report(t, name, ...args) {
  const path = join(folder, `${name}.html`);
  const { status, complaint } = await probe(...args, "--report", path);
  if (complaint.includes("CAP_NET_RAW")) return t.skip("packets may not be recorded here");
  assert.equal(status, 0, complaint);
  return open(browser, t, `file://${path}`);
}

test("each request has its steps and the kernel's account", async (t) => {
  const page = await report(t, "probe", "--repeat", "2", "--reuse", "--upload", "300kB");
  if (!page) return;
  await page.waitForSelector(".request");
  assert.match(await page.textContent("#requests"), /2 requests/);
  assert.equal(await page.locator(".request").count(), 2);
  const steps = (request) => request.locator('[role="rowheader"]').allTextContents();
  const [first, second] = await page.locator(".request").all();
  assert.deepEqual(
    (await steps(first)).filter((name) => name !== "response"),
    ["connect", "request sent", "wait for the response"],
  );
  assert.ok(!(await steps(second)).includes("connect"), "the connection is open");
  // What the server waits is in the step that waits for it; it may begin before all is known to be sent.
  const [wait] = await first.locator('[role="row"]', { hasText: "wait for" }).locator(".number").allTextContents();
  assert.ok(Number.parseFloat(wait) >= PAUSE / 2 || wait.endsWith(" s"), wait);
  assert.match(await first.textContent(".request .account h3"), /as the sender/);
  assert.ok((await first.locator(".account .line").count()) >= 2);
  for (const path of await first.locator(".account .stroke").all()) {
    assert.doesNotMatch(await path.getAttribute("d"), /NaN|Infinity/);
  }
});

test("a request leads to its packets, and anybody can read it", async (t) => {
  const page = await report(t, "probe-one");
  if (!page) return;
  await page.waitForSelector(".request");
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  assert.deepEqual(
    violations.map((violation) => `${violation.id}: ${violation.nodes[0].html}`),
    [],
  );
  await page.click("text=its packets");
  await page.waitForSelector("main.connection");
});

test("a page shows on this machine until it is ended", async (t) => {
  const child = spawn(program, ["probe", url(), "--view"], { stdio: ["ignore", "pipe", "pipe"] });
  cleanUp(t, () => child.kill("SIGINT"));
  let [printed, complaint] = ["", ""];
  child.stderr.on("data", (text) => (complaint += text));
  const address = await new Promise((done) => {
    child.stdout.on("data", (text) => {
      printed += text;
      const found = printed.match(/http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\//);
      if (found) done(found[0]);
    });
    child.on("exit", () => done(null));
  });
  if (complaint.includes("CAP_NET_RAW")) return t.skip("packets may not be recorded here");
  assert.ok(address, complaint);
  const page = await open(browser, t, address);
  await page.waitForSelector(".request");
});
