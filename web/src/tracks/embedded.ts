// Graphs out of a report's own file: a connection as a whole, and parts of it packet by packet, one
// after the other in time.

import type { Content } from "../document";
import { t } from "../texts";
import { unpackAnswer } from "./packed";
import { type Answer, type Extremes, type Lane, NoSeries, type Points, type Source } from "./series";

/** Segments drawn one by one, at most. */
const MOST_POINTS = 24_000;

const joinLists = (a: Extremes, b: Extremes): Extremes => [
  [...a[0], ...b[0]],
  [...a[1], ...b[1]],
];

function joinLanes(a: Lane, b: Lane): Lane {
  const pairs = ["seq", "ack", "edge", "fly", "win", "rtt"] as const;
  const lists = ["t", "packets", "bytes", "acked"] as const;
  return {
    ...a,
    ...Object.fromEntries(lists.map((name) => [name, [...a[name], ...b[name]]])),
    ...Object.fromEntries(pairs.map((name) => [name, joinLists(a[name], b[name])])),
  };
}

/** Lists of indices into the segments, which move on with what stands before them. */
const INDICES: ReadonlySet<string> = new Set<keyof Points>(["dup", "ce", "dsack"]);

function joinPoints(a: Points, b: Points): Points {
  const before = a.t.length;
  const joined = Object.entries(a).map(([name, list]) => {
    const more = (b as unknown as Record<string, unknown>)[name];
    if (typeof list === "string") return [name, list + String(more)];
    const rest = more as unknown[];
    if (INDICES.has(name)) return [name, [...list, ...(rest as number[]).map((index) => index + before)]];
    if (name === "sack")
      return [name, [...list, ...(rest as number[][]).map(([index, ...block]) => [index! + before, ...block])]];
    return [name, [...list, ...rest]];
  });
  return Object.fromEntries(joined) as Points;
}

/** Two parts that follow each other as one. */
function join(a: Answer, b: Answer): Answer {
  return {
    ...a,
    to: b.to,
    width: Math.max(a.width, b.width),
    exact: a.exact && b.exact,
    packets: a.packets + b.packets,
    lanes: [joinLanes(a.lanes[0], b.lanes[0]), joinLanes(a.lanes[1], b.lanes[1])],
    marks: [...a.marks, ...b.marks],
    points: a.points && b.points && joinPoints(a.points, b.points),
  };
}

/**
 * A report holds the whole time of a connection, and of it as many packets as there was room for.
 */
export class Embedded implements Source {
  /** What was unpacked. */
  private readonly open = new Map<Answer, Answer>();

  constructor(private readonly content: Content) {}

  get(connection: number, range: [number, number] | null): Promise<Answer> {
    const [packed, ...parts] = (this.content.series[String(connection)] ?? []) as Answer[];
    if (!packed)
      return Promise.reject(
        new NoSeries(t`this report holds only the graphs of its slowest connections; \`whyslow view\` shows all`),
      );
    const whole = this.unpacked(packed);
    if (!range) return Promise.resolve(whole);
    const [from, to] = [Math.max(range[0], whole.range[0]), Math.min(range[1], whole.range[1])];
    const within = parts.filter((part) => part.to >= from && part.from <= to).sort((a, b) => a.from - b.from);
    // A nanosecond lies between the end of one and the beginning of the next.
    const covers =
      within.every((part, at) => part.from <= (within[at - 1]?.to ?? from) + 2e-9) &&
      (within[within.length - 1]?.to ?? -Infinity) >= to - 2e-9;
    const packets = within.reduce((sum, part) => sum + part.packets, 0);
    if (!covers || packets > MOST_POINTS) return Promise.resolve(whole);
    const joined = within.map((part) => this.unpacked(part)).reduce(join);
    // What is known of the whole holds for its parts.
    return Promise.resolve({
      ...joined,
      range: whole.range,
      base: whole.base,
      scale_known: whole.scale_known,
      packets: whole.packets,
    });
  }

  private unpacked(packed: Answer): Answer {
    const found = this.open.get(packed) ?? unpackAnswer(packed);
    this.open.set(packed, found);
    return found;
  }
}
