// The page's own texts have translations, and no translation is left without a text.
import assert from "node:assert/strict";
import { test } from "node:test";
import { texts, translations } from "./texts.mjs";

/** Words of the program's answers that the page translates: ends, states, units, themes. */
const ANSWERS = [
  "unanswered",
  "refused",
  "open",
  "half-closed",
  "closed",
  "reset",
  "segment",
  "segments",
  "packets",
  "light",
  "dark",
  "auto",
  "good",
  "bad",
  "not checked",
  "again",
  "fixed",
];

test("texts_of_the_page_have_a_chinese_translation", () => {
  const chinese = translations();
  const missing = [...texts()].filter(([text]) => !chinese.has(text)).map(([text, file]) => `${file}: ${text}`);
  assert.deepEqual(missing, []);
});

test("translations_belong_to_a_text_of_the_page", () => {
  const english = texts();
  const terms = new Set([...ANSWERS, ...english.keys()]);
  assert.deepEqual(
    [...translations().keys()].filter((text) => !terms.has(text)),
    [],
  );
});

test("translations_use_every_value_of_their_text", () => {
  const wrong = [...translations()].filter(([text, chinese]) => {
    const values = text.split("{}").length - 1;
    return Array.from({ length: values }, (_, at) => `{${at}}`).some((value) => !chinese.includes(value));
  });
  assert.deepEqual(wrong, []);
});
