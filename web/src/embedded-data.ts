// What the page holds in itself: the data of a report, or what reads captures without a server.

import type { Content } from "./document";
import { worded } from "./document";

/** A place in the page's own file. `engine`: WebAssembly; `samples`: captures to try. */
export type Slot = "data" | "engine" | "samples";

/** The bytes in a place, which are compressed with gzip and in base64; null where it is empty. */
async function unpacked(slot: Slot): Promise<Response | null> {
  const text = document.getElementById(slot)?.textContent?.trim() ?? "";
  if (text === "") return null;
  return new Response(gunzip(fromBase64(text)));
}

export const fromBase64 = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

export function toBase64(bytes: Uint8Array): string {
  let text = "";
  // An argument each: too many at once are refused.
  for (let from = 0; from < bytes.length; from += 0x8000)
    text += String.fromCharCode(...bytes.subarray(from, from + 0x8000));
  return btoa(text);
}

export const gunzip = (packed: Uint8Array<ArrayBuffer>): ReadableStream =>
  new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));

/** The document that is in the page itself; null where it is asked for. */
export async function embedded(): Promise<Content | null> {
  const found = await unpacked("data");
  return found && worded((await found.json()) as Content);
}

/** What reads captures in this browser; null where a server does. */
export async function engineBytes(): Promise<ArrayBuffer | null> {
  const found = await unpacked("engine");
  return found ? found.arrayBuffer() : null;
}

/** Captures to try. */
export async function packedSamples(): Promise<{ name: string; lesson: string; data: string }[]> {
  const found = await unpacked("samples");
  return found ? await found.json() : [];
}

/** This page's own file: what is drawn is left out, for it is drawn anew. */
export function ownSource(): string {
  const page = document.documentElement.cloneNode(true) as HTMLElement;
  page.querySelector("#app")?.replaceChildren();
  return `<!doctype html>\n${page.outerHTML}`;
}

/** A page with this text in one of its places. */
export function fillSlot(page: string, slot: Slot | "notes", text: string): string {
  return page.replace(
    new RegExp(`(<script type="text/plain" id="${slot}">)[^<]*`),
    (_all, opening: string) => opening + text,
  );
}
