// The page's own texts. They stand in English where they are used, and in Chinese in `zh.ts`.
// `test/texts.test.mjs` finds a text without a translation, and a translation without a text.

import { lang } from "./words";
import { ZH } from "./zh";

const filled = (text: string, values: unknown[]): string =>
  text.replace(/\{(\d)\}/g, (_all, at: string) => String(values[Number(at)] ?? ""));

/** A text with its values, in the page's language. `zh.ts` has it under its parts, joined by `{}`. */
export function t(parts: TemplateStringsArray, ...values: unknown[]): string {
  const chinese = lang() === "zh" ? ZH[parts.join("{}")] : undefined;
  return chinese === undefined ? String.raw({ raw: parts }, ...values) : filled(chinese, values);
}

/** An entry of a table of texts, or a word of the analysis such as `client`, in the page's language. */
export const word = (text: string): string => (lang() === "zh" ? ZH[text] : undefined) ?? text;

/** A number with what it counts, in Chinese: `zh.ts` has the measure words under `{} packets`. */
export const counted = (number: string, what: string): string => filled(ZH[`{} ${what}s`] ?? `{0} ${what}`, [number]);
