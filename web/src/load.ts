// Where the document comes from: out of the report's own file, or from the local server.

import type { Content } from "./document";
import { asContent, isOfWatch, type WatchContent } from "./watch/content";

/** How an opening stands, as the server tells. */
export interface Status {
  number: number;
  state: "empty" | "reading" | "ready" | "failed";
  name: string | null;
  read: number;
  total: number | null;
  error: string | null;
}

/** The document that is in the page itself; null where the page is served. */
export async function embedded(): Promise<Content | null> {
  const text = document.getElementById("data")?.textContent?.trim() ?? "";
  if (text === "") return null;
  const packed = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(stream).json()) as Content;
}

async function get(path: string): Promise<Response> {
  const answer = await fetch(path, { cache: "no-store" });
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer;
}

export const status = async (): Promise<Status> => (await get("state")).json() as Promise<Status>;

export async function served(): Promise<Content> {
  const found = (await (await get("document")).json()) as Content | WatchContent;
  return isOfWatch(found) ? asContent(found) : found;
}

/**
 * Gives files to the local server; those of one drop are one set, which counts once all of it came.
 * `beside`: what is open stays, and this transfer of it (`3.2`; empty: its largest) is compared
 * with theirs.
 */
export async function open(
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
            new Error("the local server took no more of it: is there room for it in the folder for temporary files?"),
          ),
        () => failed(new Error("the local server does not answer: was whyslow ended?")),
      );
    request.send(file);
  });
}
