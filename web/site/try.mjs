// The page that needs no server: the page itself, with what reads captures in it, and captures to
// try.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { gzipAsync } from "@gfx/zopfli";

/** A capture of samples/, and what it shows. */
const SAMPLES = [
  ["slow-start-client", "Too short to get up to speed: slow start"],
  ["loss-server", "Packets are lost on the way"],
  ["receive-window-client", "The receiver’s window is too small"],
  ["server-think-server", "The network is fine: the server thinks"],
  ["bufferbloat-client", "A queue that is far too long: bufferbloat"],
];

const packed = (bytes) => gzipSync(bytes, { level: 9 }).toString("base64");

/** A twentieth smaller, which takes seconds. */
const packedBest = async (bytes) => Buffer.from(await gzipAsync(bytes, { numiterations: 1 })).toString("base64");

function fill(page, slot, text) {
  const empty = `<script type="text/plain" id="${slot}"></script>`;
  if (page.split(empty).length !== 2) throw new Error(`the page has no one place for ${slot}`);
  return page.replace(empty, () => `<script type="text/plain" id="${slot}">${text}</script>`);
}

/** The page allows itself what it needs, and no more: WebAssembly, and a worker out of itself. */
function allow(page) {
  const policy = /(http-equiv="Content-Security-Policy" content="[^"]*script-src '[^']*')([^"]*)"/;
  if (!policy.test(page)) throw new Error("the page has no policy");
  return page.replace(policy, (_all, before, after) => `${before} 'wasm-unsafe-eval'${after}; worker-src blob:"`);
}

/** The page in one file. */
export async function tryPage(root, wasm) {
  const page = readFileSync(join(root, "web/dist/index.html"), "utf8");
  const samples = SAMPLES.map(([name, lesson]) => {
    const file = `${name}.pcap`;
    return { name: file, lesson, data: packed(readFileSync(join(root, "samples", file))) };
  });
  const filled = fill(page, "engine", await packedBest(readFileSync(wasm)));
  return allow(fill(filled, "samples", packed(JSON.stringify(samples))));
}
