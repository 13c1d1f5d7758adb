// Keys as in Wireshark's graphs and tcptrace's.

export type Action = { needsFocus?: boolean } & (
  | { does: "zoom" | "tall" | "pan" | "lift" | "graph" | "connection"; by: number }
  | { does: "reset" | "back" | "direction" | "absolute" | "frame" | "keys" | "measure" }
);

const IN = 0.5;
const OUT = 2;
const STEP = 0.15;

const ACTIONS: Record<string, Action> = {
  "+": { does: "zoom", by: IN },
  "=": { does: "zoom", by: IN },
  i: { does: "zoom", by: IN },
  x: { does: "zoom", by: IN },
  "-": { does: "zoom", by: OUT },
  o: { does: "zoom", by: OUT },
  X: { does: "zoom", by: OUT },
  y: { does: "tall", by: IN },
  Y: { does: "tall", by: OUT },
  h: { does: "pan", by: -STEP },
  l: { does: "pan", by: STEP },
  j: { does: "lift", by: -STEP },
  k: { does: "lift", by: STEP },
  ArrowLeft: { does: "pan", by: -STEP, needsFocus: true },
  ArrowRight: { does: "pan", by: STEP, needsFocus: true },
  ArrowDown: { does: "lift", by: -STEP, needsFocus: true },
  ArrowUp: { does: "lift", by: STEP, needsFocus: true },
  "0": { does: "reset" },
  Home: { does: "reset", needsFocus: true },
  Backspace: { does: "back" },
  b: { does: "back" },
  d: { does: "direction" },
  s: { does: "absolute" },
  g: { does: "frame" },
  m: { does: "measure" },
  "?": { does: "keys" },
  PageUp: { does: "connection", by: -1 },
  PageDown: { does: "connection", by: 1 },
  ...Object.fromEntries(
    [1, 2, 3, 4, 5, 6].map((graph) => [String(graph), { does: "graph", by: graph } satisfies Action]),
  ),
};

export function actionOf(key: string): Action | undefined {
  return Object.hasOwn(ACTIONS, key) ? ACTIONS[key] : undefined;
}

/** For the list on the page. */
export const KEYS: [string, string][] = [
  ["+ i x", "zoom in"],
  ["− o X", "zoom out"],
  ["y Y", "sequence numbers: closer, further"],
  ["← → h l", "earlier, later"],
  ["↑ ↓ k j", "higher, lower"],
  ["0", "all of it"],
  ["b ⌫", "back one zoom"],
  ["d", "the other direction"],
  ["s", "sequence numbers from 0, or as on the wire"],
  ["g", "go to a frame"],
  ["click", "a packet’s headers, and the verdict on it"],
  ["m", "measure from the packet that was clicked to the next one"],
  ["1 – 6", "one graph alone: sequence, in flight, RTT, rates, window, packets"],
  ["PgUp PgDn", "previous, next connection"],
  ["drag", "zoom to a range"],
  ["Shift drag", "move"],
  ["Ctrl wheel", "zoom at the pointer"],
  ["?", "this list"],
];
