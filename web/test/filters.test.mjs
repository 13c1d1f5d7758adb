// The list's filter gives what --filter gives: the table that the program's own test reads, too.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { browserOfFile } from "./browser.mjs";
import { report, root, sample } from "./program.mjs";

const { open } = browserOfFile();
const { captures, filters, errors } = JSON.parse(
  readFileSync(join(root, "crates/whyslow-cli/src/select/filter/cases.json"), "utf8"),
);

async function listed(t) {
  const page = await open(t, `file://${report("filters", ...captures.map(sample))}`);
  await page.waitForSelector(".list tbody tr");
  const status = page.locator(".tablehead [role=status]");
  return async (filter) => {
    await page.fill("input[type=search]", "");
    await page.fill("input[type=search]", filter);
    const ids = await page.$$eval(".list tbody tr .open", (list) => list.map((one) => Number(one.textContent)));
    const isWrong = (await page.getAttribute("input[type=search]", "aria-invalid")) === "true";
    return { ids: ids.sort((a, b) => a - b), text: await status.textContent(), isWrong };
  };
}

test("filters_of_the_table_match_the_same_connections_as_in_the_terminal", async (t) => {
  const list = await listed(t);
  for (const [filter, expected] of filters) {
    const { ids, isWrong, text } = await list(filter);
    assert.ok(!isWrong, `${filter}: ${text}`);
    assert.deepEqual(ids, expected, filter);
  }
});

test("wrong_filters_of_the_table_are_errors_with_a_suggestion", async (t) => {
  const list = await listed(t);
  for (const [filter, ...words] of errors) {
    const { isWrong, text } = await list(filter);
    assert.ok(isWrong, filter);
    for (const word of words) assert.ok(text.includes(word), `${filter}: ${text}`);
  }
});
