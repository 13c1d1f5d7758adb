// The state of the view in the address, so that a link shows what its sender saw.

export interface State {
  /**
   * Two transfers that are set side by side, each its connection and its place in it; before all
   * else.
   */
  compare: [[number, number], [number, number]] | null;
  /** The connection that is shown; null is the overview. */
  connection: number | null;
  /** Its transfer, from 1. */
  transfer: number | null;
  /** The time that is zoomed to, seconds from the first packet. */
  zoom: [number, number] | null;
  /** The part of the sequence numbers that is seen, as shares of their height; null is all. */
  tall: [number, number] | null;
  /** The direction that is drawn. */
  from: "client" | "server" | null;
  /** Sequence numbers as they are on the wire. */
  absolute: boolean;
  /** The graph that is shown alone, 1–6; null is all. */
  graph: number | null;
  /** What the tables are filtered by. */
  filter: string;
}

/** Goes to another view; `keep` puts it in the place of the one that is left. */
export type Go = (change: Partial<State>, keep?: boolean) => void;

export const START: State = {
  compare: null,
  connection: null,
  transfer: null,
  zoom: null,
  tall: null,
  from: null,
  absolute: false,
  graph: null,
  filter: "",
};

const natural = (text: string | null): number | null =>
  text !== null && /^\d{1,15}$/.test(text) && Number(text) > 0 ? Number(text) : null;

/** `3.2`: connection 3, transfer 2. */
function spot(text: string): [number, number] | null {
  const [connection, transfer] = text.split(".").map(natural);
  return connection != null && transfer != null ? [connection, transfer] : null;
}

/** `1.5~2`: from and to. */
function range(text: string | null): [number, number] | null {
  const [from, to, ...more] = (text ?? "").split("~").map(Number);
  const isRange = from !== undefined && to !== undefined && more.length === 0 && to > from;
  return isRange && Number.isFinite(from) && Number.isFinite(to) ? [from, to] : null;
}

/** Reads an address' hash; what makes no sense is left out. */
export function parse(hash: string): State {
  const found = new URLSearchParams(hash.replace(/^#/, ""));
  const side = found.get("from");
  const graph = natural(found.get("graph"));
  const [a, b] = (found.get("compare") ?? "").split("~").map(spot);
  return {
    compare: a && b ? [a, b] : null,
    connection: natural(found.get("c")),
    transfer: natural(found.get("x")),
    zoom: range(found.get("t")),
    tall: range(found.get("y")),
    from: side === "client" || side === "server" ? side : null,
    absolute: found.get("seq") === "absolute",
    graph: graph !== null && graph <= 6 ? graph : null,
    filter: found.get("q") ?? "",
  };
}

/** Writes it; what is as at the start is left out. */
export function format(state: State): string {
  const parts = new URLSearchParams();
  if (state.compare) parts.set("compare", state.compare.map((spot) => spot.join(".")).join("~"));
  if (state.connection !== null) parts.set("c", String(state.connection));
  if (state.transfer !== null) parts.set("x", String(state.transfer));
  if (state.zoom) parts.set("t", state.zoom.map((at) => at.toFixed(9).replace(/\.?0+$/, "")).join("~"));
  if (state.tall) parts.set("y", state.tall.map((at) => at.toFixed(4).replace(/\.?0+$/, "")).join("~"));
  if (state.from) parts.set("from", state.from);
  if (state.absolute) parts.set("seq", "absolute");
  if (state.graph !== null) parts.set("graph", String(state.graph));
  if (state.filter !== "") parts.set("q", state.filter);
  return `#${parts}`;
}
