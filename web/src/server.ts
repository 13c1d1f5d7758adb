// Captures that the local server opens.

import type { CaptureSource, Opened, Reading } from "./capture-source";
import { type Content, worded } from "./document";
import { visible } from "./format";
import { answerOf, localServer } from "./query-client";
import { t } from "./texts";
import { asContent, isOfWatch, type WatchContent } from "./watch/content";

/** How an opening stands, as the server tells. */
interface Status {
  number: number;
  state: "empty" | "reading" | "ready" | "failed";
  name: string | null;
  read: number;
  total: number | null;
  error: string | null;
}

/**
 * How often a reading is asked how far it is, milliseconds: at once, for a small one is soon read,
 * then seldom.
 */
const ASK = [10, 200] as const;

const status = async (): Promise<Status> => (await answerOf(localServer, "state")).json() as Promise<Status>;

async function served(): Promise<Content> {
  const found = (await (await answerOf(localServer, "document")).json()) as Content | WatchContent;
  return isOfWatch(found) ? asContent(found) : worded(found);
}

/** Waits until the opening of this number, or a later one, is read. */
async function follow(after: number, told: (reading: Reading) => void): Promise<Opened> {
  for (let wait: number = ASK[0]; ; wait = Math.min(ASK[1], wait * 2)) {
    const now = await status();
    if (now.number >= after) {
      if (now.state === "ready") return { content: await served(), failed: now.error };
      if (now.state === "failed") throw new Error(now.error ?? t`it could not be read`);
      if (now.state === "empty") return { content: null, failed: null };
      told({ name: now.name ?? "", read: now.read, total: now.total });
    }
    await new Promise((done) => setTimeout(done, wait));
  }
}

export const server: CaptureSource = {
  ...localServer,
  samples: [],
  begin: (told) => follow(0, told),
  async open(files, beside, told) {
    const before = (await status()).number;
    const name = files.map((file) => visible(file.name)).join(", ");
    await sendAll(files, beside, (read, total) => told({ name, read, total }));
    return follow(before + 1, told);
  },
  async current() {
    return (await status()).state === "ready" ? served() : null;
  },
};

/** Gives files to the server; those of one drop are one set, which counts once all of it came. */
async function sendAll(
  files: File[],
  beside: string | null,
  progress: (done: number, total: number) => void,
): Promise<void> {
  const total = files.reduce((sum, file) => sum + file.size, 0);
  const set = Math.random().toString(36).slice(2);
  let before = 0;
  for (const [index, file] of files.entries()) {
    const rest = files.length - 1 - index;
    await send(
      `open?name=${encodeURIComponent(file.name)}&set=${set}&of=${files.length}&rest=${rest}${beside === null ? "" : `&beside=${encodeURIComponent(beside)}`}`,
      file,
      (done) => progress(before + done, total),
    );
    before += file.size;
  }
}

function send(path: string, file: File, progress: (done: number) => void): Promise<void> {
  return new Promise((done, failed) => {
    const request = new XMLHttpRequest();
    request.open("POST", path);
    request.upload.onprogress = (event) => progress(event.loaded);
    request.onload = () => (request.status < 300 ? done() : failed(new Error(request.responseText.trim())));
    // Where the server took no more of it, its answer may be lost with the connection.
    request.onerror = () =>
      status().then(
        () =>
          failed(
            new Error(t`the local server took no more of it: is there room for it in the folder for temporary files?`),
          ),
        () => failed(new Error(t`the local server does not respond: was whyslow ended?`)),
      );
    request.send(file);
  });
}
