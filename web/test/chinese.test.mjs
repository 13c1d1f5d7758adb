// The page in Chinese: no label of a view stays in English.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { browserOfFile } from "./browser.mjs";
import { pcap } from "./pcap.mjs";
import { folder, report, root, run, sample } from "./program.mjs";
import { connection, Growing, watch } from "./watch.mjs";

const { open } = browserOfFile({ locale: "zh-CN" });

/** Names that are the same in Chinese: products, protocols, units, options, fields of the filter. */
const NAMES =
  /whyslow( view| --json)?|English|Wireshark|QUIC|TCP_INFO|pcapng?|tcpdump|cwnd|--\w+|\d (min|[kMG]?B|[kMG]?bit\/s|[mµ]?s)|and、or、not|Shift|Ctrl|test:443|rtt>50 cause:loss server:example|duration>1 cause:loss server:example|[\w-]+\.pcap|（?(id|rtt|lost|duration|start|end|up|down|bytes|retransmitted|client|server|host|port|cause|limit|state)(, |；)/g;

/** The labels of what is shown that have an English word in them. */
const english = (page) =>
  page.evaluate((names) => {
    const found = new Set();
    const add = (text) => /[a-z]{2}/.test(text.replace(new RegExp(names, "g"), "")) && found.add(text.trim());
    // Names of causes and files, sentences about the data, and commands are no labels.
    const others =
      ".cause, .file, .capture, .command, .evidence th[scope=row], .problem, .finding, td, h1, .verdict h2, .dim, .ends, a";
    for (const label of document.querySelectorAll("th, h2, h3, dt, button, label, option, .tag, [role=tab]"))
      if (!label.closest(others)) add(label.textContent);
    for (const name of ["title", "aria-label", "placeholder"])
      for (const label of document.querySelectorAll(`[${name}]`))
        if (!label.closest(".finding, .command, .facts, .run-name")) add(label.getAttribute(name));
    return [...found];
  }, NAMES.source);

async function isChinese(page, view) {
  assert.deepEqual(await english(page), [], view);
}

test("list_transfers_and_a_transfer_have_chinese_labels", async (t) => {
  const page = await open(t, `file://${report("chinese", sample("loss-server"), sample("delayed-ack-server"))}`);
  await page.waitForSelector(".list tbody tr");
  await isChinese(page, "list");
  await page.getByRole("tab").nth(1).click();
  await isChinese(page, "transfers");
  await page.click(".list tbody tr .open");
  await page.waitForSelector(".figure canvas");
  await page.click('.tools button[aria-expanded="false"]');
  await isChinese(page, "transfer");
});

test("a_capture_without_connections_says_what_it_holds_and_what_to_do", async (t) => {
  const path = join(folder, "no-packet.pcap");
  writeFileSync(path, pcap([]));
  for (const [locale, verdict] of [
    ["en-US", /the capture is empty/],
    ["zh-CN", /抓包是空的/],
  ]) {
    const page = await open(t, `file://${report(`empty-${locale}`, path)}`, { locale });
    assert.match(await page.textContent("h1"), verdict);
    assert.match(await page.textContent(".advice"), /`whyslow capture local`/);
    if (locale === "zh-CN") await isChinese(page, "empty");
  }
});

test("a_comparison_has_chinese_labels", async (t) => {
  const path = join(folder, "chinese-compare.html");
  run("compare", sample("loss-server"), sample("slow-start-server"), "--report", path);
  const page = await open(t, `file://${path}`);
  await page.waitForSelector(".compare .verdict h1");
  await isChinese(page, "compare");
});

test("a_proof_has_chinese_labels", async (t) => {
  const proof = join(root, "web/test/proof.json");
  const page = await open(t, `file://${report("chinese-proof", sample("receive-window-client"), "--proof", proof)}`);
  await page.waitForSelector(".proof");
  await isChinese(page, "proof");
});

test("a_watch_has_chinese_labels", async (t) => {
  const capture = new Growing("chinese.pcap");
  capture.add(connection({ start: 0, port: 30_000, answers: [[0.5, 2_000]] }));
  const { url, end } = await watch(capture.path);
  const page = await open(t, url);
  await page.waitForSelector(".watch tbody tr[aria-rowindex]");
  await isChinese(page, "watch");
  await page.close();
  assert.equal(await end(), 0);
});
