// The worker: runs the analysis in parallel with the page, and reads files for it. Its other side
// is abi.rs of whyslow-wasm: only bytes, addresses and numbers pass.

import { bytesAt, exported, imported } from "./blocks";
import type { FromWorker, ToWorker } from "./messages";

/** Milliseconds between two messages about how far it is. */
const PAUSE = 100;

interface Exports {
  memory: WebAssembly.Memory;
  prepare(seedHigh: number, seedLow: number): void;
  request(length: number): number;
  open(): number;
  ask(): number;
  answer_start(): number;
  answer_length(): number;
}

const say = (message: FromWorker, moved: Transferable[] = []) =>
  (self as unknown as { postMessage(message: FromWorker, moved: Transferable[]): void }).postMessage(message, moved);

let files: File[] = [];
let engine: Exports | null = null;
let panic: string | null = null;
let lastSaid = 0;

const imports = {
  worker: {
    read: imported((file, offset, to, length) => {
      const copy = (found: Uint8Array) => {
        const bytes = found.subarray(0, length);
        new Uint8Array(engine!.memory.buffer, to! >>> 0, bytes.length).set(bytes);
        return bytes.length;
      };
      try {
        const found = bytesAt(files[file!]!, offset!);
        return found instanceof Promise ? found.then(copy).catch(() => -1) : copy(found);
      } catch {
        return -1;
      }
    }),
    progress(read: number, total: number) {
      const now = performance.now();
      if (now - lastSaid < PAUSE) return;
      lastSaid = now;
      say({ kind: "progress", read, total: total < 0 ? null : total });
    },
    panicked(start: number, length: number) {
      panic = new TextDecoder().decode(new Uint8Array(engine!.memory.buffer, start >>> 0, length));
    },
  },
};

/** Calls the analysis with a request, and sends its answer. */
async function call(of: Exports, id: number, run: () => number, request: string) {
  const began = performance.now();
  const text = new TextEncoder().encode(request);
  // The memory may grow, and then its buffer is another one.
  const at = of.request(text.length) >>> 0;
  new Uint8Array(of.memory.buffer, at, text.length).set(text);
  const isGood = (await exported(run)()) === 1;
  // A copy: WebAssembly's memory cannot be given away.
  const bytes = new Uint8Array(of.memory.buffer, of.answer_start() >>> 0, of.answer_length()).slice();
  const seconds = (performance.now() - began) / 1000;
  say({ kind: "answer", id, isGood, bytes, seconds, memory: of.memory.buffer.byteLength }, [bytes.buffer]);
}

async function handle(message: ToWorker) {
  if (message.kind === "prepare") {
    engine = new WebAssembly.Instance(message.module, imports).exports as unknown as Exports;
    const [high, low] = crypto.getRandomValues(new Uint32Array(2));
    engine.prepare(high!, low!);
  } else if (engine && message.kind === "open") {
    files = message.files;
    await call(engine, 0, engine.open, JSON.stringify(message.request));
  } else if (engine && message.kind === "ask") {
    await call(engine, message.id, engine.ask, message.question);
  }
}

// One after the other: WebAssembly that waits is not asked anything else.
let last: Promise<void> = Promise.resolve();
addEventListener("message", ({ data }: MessageEvent<ToWorker>) => {
  last = last
    .then(() => handle(data))
    .catch((error) => {
      // WebAssembly that has failed once is not asked again.
      engine = null;
      say({ kind: "fault", message: panic ?? String(error) });
    });
});
