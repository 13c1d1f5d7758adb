// What passes between the page and its worker.

/** What is to be opened: OpenRequest in whyslow-wasm. */
export interface OpenRequest {
  groups: { number: number; name: string; size: number }[][];
  beside: string | null;
}

export type ToWorker =
  /** Comes first, before there is anything to open. */
  | { kind: "prepare"; module: WebAssembly.Module }
  | { kind: "open"; files: File[]; request: OpenRequest }
  | { kind: "ask"; id: number; question: string };

export type FromWorker =
  | { kind: "progress"; read: number; total: number | null }
  /** Of an opening the id is 0. `memory`: bytes that WebAssembly has taken by now. */
  | { kind: "answer"; id: number; isGood: boolean; bytes: Uint8Array<ArrayBuffer>; seconds: number; memory: number }
  | { kind: "fault"; message: string };
