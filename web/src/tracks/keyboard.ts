// Keys: what each does to the figure is in `keys.ts`.

import { useEffect, useRef } from "preact/hooks";
import type { End } from "../model";
import { rowsOf } from "../rows";
import { type Action, actionOf } from "./keys";
import type { Live, Props } from "./live";
import type { Movement } from "./movement";

/** What keys act on. */
interface Acting {
  props: Props;
  side: End;
  movement: Movement;
  /** Asks for a frame to go to. */
  ask: () => void;
  toggleKeys: () => void;
  /** Measuring begins at the packet that was clicked. */
  measure: () => void;
}

function act(action: Action, { props, side, movement, ask, toggleKeys, measure }: Acting) {
  const { content, connection, view } = props;
  const { go, zoomBy, tallBy, panBy, reset, back } = movement;
  switch (action.does) {
    case "zoom":
      return zoomBy(action.by);
    case "tall":
      return tallBy(action.by, 0);
    case "pan":
      return panBy(action.by);
    case "lift":
      return tallBy(1, action.by);
    case "reset":
      return reset();
    case "back":
      return back();
    case "direction":
      return go({ from: side === "client" ? "server" : "client", tall: null });
    case "absolute":
      return go({ absolute: !view.absolute });
    case "graph":
      return go({ graph: view.graph === action.by ? null : action.by });
    case "frame":
      return ask();
    case "measure":
      return measure();
    case "keys":
      return toggleKeys();
    case "connection": {
      const ids = rowsOf(content).map((row) => row.id);
      const next = ids[ids.indexOf(connection.id) + action.by];
      if (next !== undefined) go({ connection: next, transfer: null, zoom: null, from: null });
    }
  }
}

/** Somebody writes, chooses or reads a dialog, or means a key of the browser's. */
function isElsewhere(event: KeyboardEvent, target: HTMLElement): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return true;
  return /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) || document.querySelector("dialog[open]") !== null;
}

export function useKeyboard(live: Live, acting: Acting): void {
  const newest = useRef(acting);
  newest.current = acting;
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (isElsewhere(event, target)) return;
      const action = actionOf(event.key);
      if (!action) return;
      // Arrows scroll the page unless the graphs have the focus.
      if (action.needsFocus && !live.box.current?.parentElement?.contains(target) && target !== document.body) return;
      event.preventDefault();
      act(action, newest.current);
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}
