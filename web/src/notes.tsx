// Notes on connections: they stay with the page, and a saved report takes them along.

import { useState } from "preact/hooks";
import type { Content } from "./document";
import { fillSlot, ownSource } from "./embedded-data";
import { time } from "./format";
import type { Connection } from "./model";
import { answerOf, type QueryClient } from "./query-client";
import { t } from "./texts";
import type { Go } from "./url-state";

export interface Note {
  connection: number;
  /** What was seen when it was written, seconds; null is all. */
  zoom: [number, number] | null;
  text: string;
}

const SLOT = "notes";

/** Text that stands as base64 in a page. */
const encode = (text: string) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));
const decode = (text: string) =>
  new TextDecoder().decode(Uint8Array.from(atob(text), (character) => character.charCodeAt(0)));

const keyOf = (content: Content) => `whyslow-notes ${content.name} ${content.analysis.captures[0]?.first_time ?? ""}`;

/** Those of this session, or else those that came with the page. */
function load(content: Content): Note[] {
  try {
    const kept = sessionStorage.getItem(keyOf(content));
    if (kept !== null) return JSON.parse(kept) as Note[];
  } catch {
    // Storage may be closed to a file.
  }
  const held = document.getElementById(SLOT)?.textContent?.trim() ?? "";
  return held === "" ? [] : (JSON.parse(decode(held)) as Note[]);
}

export interface Notes {
  list: Note[];
  set: (list: Note[]) => void;
}

export function useNotes(content: Content | null): Notes {
  const [held, setHeld] = useState<{ of: Content; list: Note[] } | null>(null);
  if (content === null) return { list: [], set: () => undefined };
  const list = held?.of === content ? held.list : load(content);
  const set = (list: Note[]) => {
    setHeld({ of: content, list });
    try {
      sessionStorage.setItem(keyOf(content), JSON.stringify(list));
    } catch {
      // Then they last as long as the page, and in the report that is saved.
    }
  };
  return { list, set };
}

/** A report in one file, with the notes in it. */
export async function reportWith(notes: Note[], queryClient: QueryClient | null): Promise<Blob> {
  const source = queryClient ? await (await answerOf(queryClient, "report")).text() : ownSource();
  const page = fillSlot(source, SLOT, notes.length > 0 ? encode(JSON.stringify(notes)) : "");
  return new Blob([page], { type: "text/html" });
}

/** The notes on a connection, and one to add; without a connection all of them. */
export function NoteList({
  notes,
  connection,
  zoom,
  go,
}: {
  notes: Notes;
  connection?: Connection;
  zoom?: [number, number] | null;
  go: Go;
}) {
  const [text, setText] = useState("");
  const shown = notes.list.filter((note) => connection === undefined || note.connection === connection.id);
  if (shown.length === 0 && !connection) return null;
  const open = (note: Note) => go({ connection: note.connection, zoom: note.zoom });
  return (
    <section class="notes" aria-labelledby="notes-title">
      <h2 id="notes-title">{t`Notes`}</h2>
      <ul class="plain">
        {shown.map((note, at) => (
          <li key={at}>
            {note.text}{" "}
            <button type="button" class="link" onClick={() => open(note)}>
              {t`connection ${note.connection}`}
              {note.zoom && `, ${time(note.zoom[0])} – ${time(note.zoom[1])}`}
            </button>{" "}
            <button
              type="button"
              aria-label={t`Remove note ${at + 1}`}
              onClick={() => notes.set(notes.list.filter((one) => one !== note))}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
      {connection && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (text.trim() === "") return;
            notes.set([...notes.list, { connection: connection.id, zoom: zoom ?? null, text: text.trim() }]);
            setText("");
          }}
        >
          <input
            type="text"
            value={text}
            placeholder={t`A note on this view`}
            aria-label={t`A note on this view`}
            onInput={(event) => setText(event.currentTarget.value)}
          />{" "}
          <button type="submit">{t`Add`}</button>
        </form>
      )}
    </section>
  );
}
