// Makes the types of the JSON contracts from their schemas in docs/schema: `npm run model`. With
// `--check` it writes nothing, and fails where a file is not what its schema says.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { compile } from "json-schema-to-typescript";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** The schema, the name of its root, where its types go. */
const MODELS = [
  ["whyslow-2", "Analysis", "src/model.ts"],
  ["whyslow-compare-2", "Comparison", "src/compare/model.ts"],
  ["whyslow-probe-1", "Probe", "src/requests/model.ts"],
  ["whyslow-prove-1", "Proof", "src/proof/model.ts"],
];

/** Columns of a comment. */
const WIDE = 100;

/**
 * The same in the older JSON Schema that the generator knows: a tuple by `items`, nothing beside a
 * `$ref`.
 */
function older(schema) {
  if (Array.isArray(schema)) return schema.map(older);
  if (typeof schema !== "object" || schema === null) return schema;
  const { prefixItems, $ref, minItems, maxItems, ...others } = schema;
  const out = Object.fromEntries(Object.entries(others).map(([key, value]) => [key, older(value)]));
  if ($ref) return Object.keys(out).length > 0 ? { ...out, allOf: [{ $ref }] } : { $ref };
  const tuple = prefixItems?.map(older) ?? (minItems > 0 && minItems === maxItems && Array(minItems).fill(out.items));
  return tuple ? { ...out, items: tuple, minItems: tuple.length, maxItems: tuple.length } : out;
}

/** One object that holds all, without what nothing in it refers to. */
function root({ $ref, $defs = {}, ...schema }, title) {
  const name = $ref?.split("/").at(-1);
  const { [name]: whole, ...definitions } = $defs;
  return older({ ...(whole ?? schema), title, $defs: definitions });
}

/** Comments on one line where they fit, else over several; without what the types say. */
function comments(code) {
  return code.replace(/^( *)\/\*\*\n((?: *\*.*\n)+?) *\*\/$/gm, (_all, indent, body) => {
    const said = body.split("\n").map((line) => line.replace(/^ *\* ?/, ""));
    const words = said.filter((line) => line !== "" && !/^@(min|max)Items/.test(line)).join(" ");
    if (indent.length + words.length + 7 <= WIDE) return `${indent}/** ${words} */`;
    const lines = [""];
    for (const word of words.split(" ")) {
      const line = lines.at(-1);
      if (line !== "" && indent.length + 3 + line.length + 1 + word.length > WIDE) lines.push(word);
      else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
    }
    return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`), `${indent} */`].join("\n");
  });
}

const format = (code, path) =>
  execFileSync(here("node_modules/.bin/biome"), ["format", `--stdin-file-path=${path}`], {
    input: code,
    encoding: "utf8",
    cwd: here("."),
  });

let stale = false;
for (const [name, title, path] of MODELS) {
  const schema = JSON.parse(readFileSync(here(`../docs/schema/${name}.schema.json`), "utf8"));
  const code = await compile(root(schema, title), title, {
    additionalProperties: false,
    bannerComment: `// Made by \`npm run model\` from docs/schema/${name}.schema.json: change that.`,
    format: false,
  });
  const made = comments(format(code, path));
  if (!process.argv.includes("--check")) writeFileSync(here(path), made);
  else if (readFileSync(here(path), "utf8") !== made) {
    console.error(`web/${path} is not what docs/schema/${name}.schema.json says: \`npm run model\``);
    stale = true;
  }
}
if (stale) process.exit(1);
