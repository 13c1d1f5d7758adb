// Blocks of files, as the worker reads them. Where WebAssembly can wait (JavaScript Promise
// Integration) the next blocks are read while this one is analysed; elsewhere they take turns.

/** `WebAssembly` where it can wait for what comes later; TypeScript does not know it yet. */
interface Waiting {
  Suspending: new (call: (...of: number[]) => unknown) => WebAssembly.ImportValue;
  promising(of: () => number): () => Promise<number>;
}

const waiting = "Suspending" in WebAssembly ? (WebAssembly as unknown as Waiting) : null;

/** A function for WebAssembly to call: it may return a promise where WebAssembly can wait. */
export const imported = (call: (...of: number[]) => unknown): WebAssembly.ImportValue =>
  waiting ? new waiting.Suspending(call) : (call as WebAssembly.ImportValue);

/** A function of WebAssembly that may wait. */
export const exported = (call: () => number): (() => number | Promise<number>) =>
  waiting ? waiting.promising(call) : call;

/** Bytes that are read at once: least, and most. Each reading takes a browser some milliseconds. */
const BLOCK = [1 << 19, waiting ? 4 << 20 : 16 << 20] as const;
/** Blocks that are read while another is analysed. */
const AHEAD = 2;

/** Only workers have it: it reads at once. */
declare class FileReaderSync {
  readAsArrayBuffer(blob: Blob): ArrayBuffer;
}

interface Block<Bytes> {
  file: File;
  from: number;
  bytes: Bytes;
}

let held: Block<Uint8Array> | null = null;
let coming: Block<Promise<ArrayBuffer>>[] = [];

/** Where the block ends that begins here: the first comes soon, for nothing else is there to analyse. */
const endOf = (from: number) => from + Math.min(BLOCK[1], Math.max(BLOCK[0], from));

const part = (file: File, from: number) => file.slice(from, endOf(from));

function begin(file: File, from: number): Block<Promise<ArrayBuffer>> {
  const bytes = part(file, from).arrayBuffer();
  // Its waiters get the error.
  bytes.catch(() => {});
  return { file, from, bytes };
}

function hold(file: File, from: number, bytes: ArrayBuffer): Uint8Array {
  held = { file, from, bytes: new Uint8Array(bytes) };
  return held.bytes;
}

async function wait(file: File, from: number): Promise<Uint8Array> {
  const isNext = coming[0]?.file === file && coming[0].from === from;
  const [now = begin(file, from), ...others] = isNext ? coming : [];
  coming = others;
  let next = endOf((others.at(-1) ?? now).from);
  for (; next < file.size && coming.length < AHEAD; next = endOf(next)) coming.push(begin(file, next));
  return hold(file, from, await now.bytes);
}

/** The bytes of a file from here on, as many as are held or read at once. */
export function bytesAt(file: File, offset: number): Uint8Array | Promise<Uint8Array> {
  // Files are read one after the other, mostly.
  if (held?.file === file && offset >= held.from && offset < held.from + held.bytes.length)
    return held.bytes.subarray(offset - held.from);
  if (waiting) return wait(file, offset);
  return hold(file, offset, new FileReaderSync().readAsArrayBuffer(part(file, offset)));
}
