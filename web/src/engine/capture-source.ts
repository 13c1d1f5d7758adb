// Captures that a worker of this page opens: nothing is sent anywhere. Each opening has a worker of
// its own, for WebAssembly's memory never shrinks; the one before stays until the next is read. The
// next worker is made before it is needed: to start one and to fill it takes a while.

import { type CaptureSource, type Opened, type Reading, type Sample, Stopped } from "../capture-source";
import type { Content } from "../document";
import { worded } from "../document";
import { fillSlot, fromBase64, gunzip, ownSource, packedSamples, toBase64 } from "../embedded-data";
import { roundBytes, visible } from "../format";
import { t } from "../texts";
import type { FromWorker, OpenRequest, ToWorker } from "./messages";
import EngineScript from "./worker?worker&inline";

type Answer = Extract<FromWorker, { kind: "answer" }>;

/** A worker, and what it is asked. */
class Engine {
  readonly #worker: Worker = new EngineScript();
  readonly #waiting = new Map<number, { done: (answer: Answer) => void; failed: (error: Error) => void }>();
  #onProgress: (read: number, total: number | null) => void = () => {};
  #asked = 0;
  #ended: Error | null = null;

  constructor(module: WebAssembly.Module) {
    this.#worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      if (data.kind === "progress") this.#onProgress(data.read, data.total);
      else if (data.kind === "answer") {
        this.#waiting.get(data.id)?.done(data);
        this.#waiting.delete(data.id);
      } else this.end(fault(data.message));
    };
    this.#worker.onerror = (event) => this.end(fault(event.message));
    this.#post({ kind: "prepare", module });
  }

  open(files: File[], request: OpenRequest, onProgress: (read: number, total: number | null) => void): Promise<Answer> {
    this.#onProgress = onProgress;
    return this.#send(0, { kind: "open", files, request });
  }

  ask(question: string): Promise<Answer> {
    this.#asked += 1;
    return this.#send(this.#asked, { kind: "ask", id: this.#asked, question });
  }

  #send(id: number, message: ToWorker): Promise<Answer> {
    if (this.#ended) return Promise.reject(this.#ended);
    return new Promise((done, failed) => {
      this.#waiting.set(id, { done, failed });
      this.#post(message);
    });
  }

  #post(message: ToWorker) {
    this.#worker.postMessage(message);
  }

  /** The reason, for callers that wait. */
  end(why: Error) {
    this.#ended ??= why;
    this.#worker.terminate();
    for (const { failed } of this.#waiting.values()) failed(why);
    this.#waiting.clear();
  }
}

const fault = (message: string): Error =>
  new Error(
    /memory/i.test(message)
      ? `it takes more memory than the browser gives to a page: the installed whyslow reads it (${message})`
      : `the reading failed: that is a fault of whyslow, and not of the capture (${message})`,
  );

/** What is open. */
interface OpenCaptures {
  engine: Engine;
  groups: File[][];
  content: Content;
  seconds: number;
  memory: number;
}

/** Milliseconds until the page is painted: as it begins, and with a verdict. */
const PAINTED = [100, 250] as const;

export class WorkerSource implements CaptureSource {
  readonly hasAddresses = false;
  readonly #module: WebAssembly.Module;
  readonly samples: Sample[];
  /** The next to read. */
  #ready: Engine | null = null;
  #warming: Engine | null = null;
  #reading: Engine | null = null;
  #open: OpenCaptures | null = null;

  private constructor(module: WebAssembly.Module, samples: Sample[]) {
    this.#module = module;
    this.samples = samples;
  }

  static async of(bytes: ArrayBuffer): Promise<WorkerSource> {
    const [module, packed] = await Promise.all([WebAssembly.compile(bytes), packedSamples()]);
    const samples = packed.map(({ name, lesson, data }) => ({
      name,
      lesson,
      file: async () => new File([await new Response(gunzip(fromBase64(data))).blob()], name),
    }));
    const source = new WorkerSource(module, samples);
    source.#makeReady(PAINTED[0]);
    setTimeout(() => source.#warmUp(), PAINTED[0]);
    return source;
  }

  #makeReady(after: number) {
    setTimeout(() => {
      this.#ready ??= new Engine(this.#module);
    }, after);
  }

  /**
   * Reads the samples while the page is idle: WebAssembly is compiled when it first runs, and better when it
   * runs often, for all workers.
   */
  async #warmUp() {
    if (this.#reading || this.#open) return;
    const engine = new Engine(this.#module);
    this.#warming = engine;
    const files = await Promise.all(this.samples.map((sample) => sample.file()));
    const each = files.map((file) => [file]);
    await engine.open(files, requestOf(each, null), () => {}).catch(() => {});
    engine.end(new Stopped());
  }

  async begin(): Promise<Opened> {
    return { content: null, failed: null };
  }

  async current(): Promise<Content | null> {
    return this.#open?.content ?? null;
  }

  async open(files: File[], beside: string | null, onProgress: (reading: Reading) => void): Promise<Opened> {
    this.stop();
    this.#warming?.end(new Stopped());
    const groups = beside === null ? [files] : [...(this.#open?.groups ?? []), files];
    const name = files.map((file) => visible(file.name)).join(", ");
    const engine = this.#ready ?? new Engine(this.#module);
    this.#ready = null;
    this.#reading = engine;
    const progress = (read: number, total: number | null) => onProgress({ name, read, total });
    try {
      const answer = await engine.open(groups.flat(), requestOf(groups, beside), progress);
      const text = new TextDecoder().decode(answer.bytes);
      if (!answer.isGood) throw new Error(text);
      const content = worded(JSON.parse(text) as Content);
      if (this.#reading !== engine) throw new Stopped();
      this.#open?.engine.end(new Error(t`another capture was opened`));
      this.#open = { engine, groups, content, seconds: answer.seconds, memory: answer.memory };
      return { content, failed: null };
    } catch (error) {
      engine.end(error as Error);
      throw error;
    } finally {
      if (this.#reading === engine) this.#reading = null;
      this.#makeReady(PAINTED[1]);
    }
  }

  stop() {
    this.#reading?.end(new Stopped());
    this.#reading = null;
  }

  cost(): string {
    if (!this.#open) return "";
    const { seconds, memory } = this.#open;
    return t`read in ${seconds < 10 ? seconds.toFixed(2) : seconds.toFixed(0)} s, with ${roundBytes(memory)} of memory`;
  }

  async ask(question: string): Promise<Response> {
    if (!this.#open) return new Response(t`nothing is open`, { status: 404 });
    const answer = await this.#open.engine.ask(question);
    this.#open.memory = answer.memory;
    if (!answer.isGood) return new Response(answer.bytes, { status: 404 });
    return question === "report" ? new Response(reportPage(answer.bytes)) : new Response(answer.bytes);
  }
}

function requestOf(groups: File[][], beside: string | null): OpenRequest {
  let number = -1;
  const named = ({ name, size }: File) => {
    number += 1;
    return { number, name, size };
  };
  return { groups: groups.map((files) => files.map(named)), beside };
}

/** This page with a document in it, and without what reads captures. */
function reportPage(document: Uint8Array): string {
  let page = fillSlot(ownSource(), "data", toBase64(document));
  for (const slot of ["engine", "samples", "notes"] as const) page = fillSlot(page, slot, "");
  // It needs no more leave than any other report.
  return page.replace(/; worker-src blob:/, "").replace(/ 'wasm-unsafe-eval'/, "");
}
