// The site: the page that needs no server, and the documentation around it. `make site`.
//   node site/build.mjs WASM FOLDER
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { writeAssets, writeDocs } from "./docs.mjs";
import { tryPage } from "./try.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const [wasm, folder] = process.argv.slice(2);
if (!folder) throw new Error("node site/build.mjs WASM FOLDER");

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "try.html"), await tryPage(root, wasm));
writeAssets(root, folder, writeDocs(root, folder));
