// The worker: runs the analysis beside the page, and reads files for it. Its other side is abi.rs of
// whyslow-wasm: bytes, addresses and numbers pass, and nothing else.

import type { FromWorker, ToWorker } from "./messages";

/** Bytes of a file that are read at once: each reading takes a browser some milliseconds. */
const BLOCK = 16 << 20;
/** Milliseconds between two messages about how far it is. */
const PAUSE = 100;

/** Only workers have it: it reads at once, so the analysis need not wait for anybody. */
declare class FileReaderSync {
  readAsArrayBuffer(blob: Blob): ArrayBuffer;
}

interface Exports {
  memory: WebAssembly.Memory;
  request(length: number): number;
  open(): number;
  ask(): number;
  answer_start(): number;
  answer_length(): number;
}

/** What was read last of a file. */
interface Held {
  from: number;
  bytes: Uint8Array;
}

const say = (message: FromWorker, moved: Transferable[] = []) =>
  (self as unknown as { postMessage(message: FromWorker, moved: Transferable[]): void }).postMessage(message, moved);

let files: File[] = [];
let engine: Exports | null = null;
let panic: string | null = null;
let lastSaid = 0;
const reader = new FileReaderSync();
const held = new Map<number, Held>();

/** The bytes of a file from here on, as many as are held or read at once. */
function bytesAt(file: number, offset: number): Uint8Array {
  let block = held.get(file);
  if (!block || offset < block.from || offset >= block.from + block.bytes.length) {
    const part = files[file]!.slice(offset, offset + BLOCK);
    block = { from: offset, bytes: new Uint8Array(reader.readAsArrayBuffer(part)) };
    // Files are read one after the other, mostly.
    held.clear();
    held.set(file, block);
  }
  return block.bytes.subarray(offset - block.from);
}

const imports = {
  worker: {
    read(file: number, offset: number, to: number, length: number): number {
      try {
        const bytes = bytesAt(file, offset).subarray(0, length);
        new Uint8Array(engine!.memory.buffer, to >>> 0, bytes.length).set(bytes);
        return bytes.length;
      } catch {
        return -1;
      }
    },
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
function call(of: Exports, id: number, run: () => number, request: string) {
  const began = performance.now();
  const text = new TextEncoder().encode(request);
  // The memory may grow, and then its buffer is another one.
  const at = of.request(text.length) >>> 0;
  new Uint8Array(of.memory.buffer, at, text.length).set(text);
  const isGood = run() === 1;
  // A copy: WebAssembly's memory cannot be given away.
  const bytes = new Uint8Array(of.memory.buffer, of.answer_start() >>> 0, of.answer_length()).slice();
  const seconds = (performance.now() - began) / 1000;
  say({ kind: "answer", id, isGood, bytes, seconds, memory: of.memory.buffer.byteLength }, [bytes.buffer]);
}

function handle(message: ToWorker) {
  if (message.kind === "open") {
    files = message.files;
    engine = new WebAssembly.Instance(message.module, imports).exports as unknown as Exports;
    call(engine, 0, engine.open, JSON.stringify(message.request));
  } else if (engine) {
    call(engine, message.id, engine.ask, message.question);
  }
}

addEventListener("message", ({ data }: MessageEvent<ToWorker>) => {
  try {
    handle(data);
  } catch (error) {
    // WebAssembly that has failed once is not asked again.
    engine = null;
    say({ kind: "fault", message: panic ?? String(error) });
  }
});
