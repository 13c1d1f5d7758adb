// The strips below the sequence numbers: bytes in flight, round trips, rates, windows, packets.
//
// A strip defines its content, not its drawing: `plots.ts` gives it to uPlot for the screen,
// `drawStrip` to a painter for a picture.

import { rate, roundBytes, thousands, time } from "../format";
import { TERMS } from "../terms";
import { t, word } from "../texts";
import type { Palette } from "./colors";
import { type Area, leftAxis, type Scene, type Sign, windowLack } from "./figure";
import type { Painter } from "./painter";
import { lower, place, type Scale } from "./scale";
import type { Extremes, Lane, Points } from "./series";

export type Values = (number | null)[];

/** One figure over time. */
export interface Line {
  /**
   * A value holds until the next, or not; `spread` goes from the least to the greatest of a column.
   */
  shape: "steps" | "line" | "squares" | "spread" | "bars";
  color: keyof Palette;
  values: Values;
  least?: Values;
  width?: number;
  dash?: number[];
  /** Which of the legend's signs tells its value under the pointer. */
  sign?: number;
}

export interface Strip {
  title: string;
  /** What the title means. */
  means: string;
  signs: Sign[];
  t: number[];
  /** Always as many, and of the same shapes, for a track. */
  lines: Line[];
  /** What the scale goes up to; it begins at 0. */
  most: number;
  show: (value: number) => string;
  /** What lies over the lines. */
  over?: (painter: Painter, area: Area, x: Scale, y: Scale) => void;
}

const NONE: Values = [];

/** What is made of a thing once, as long as the thing is there. */
function once<K extends object, V>(make: (of: K) => V): (of: K) => V {
  const made = new WeakMap<K, V>();
  return (of) => {
    const old = made.get(of);
    if (old !== undefined) return old;
    const fresh = make(of);
    made.set(of, fresh);
    return fresh;
  };
}

/** Indices of the columns that a scene shows, and one to either side. */
export function shown(scene: Scene, t: number[], width: number): [number, number] {
  return [Math.max(0, lower(t, scene.from - width) - 1), Math.min(t.length, lower(t, scene.to) + 1)];
}

const greatest = (list: Values, [first, last]: [number, number]): number => {
  let most = 0;
  for (let at = first; at < last; at += 1) {
    const value = list[at];
    if (value != null && value > most) most = value;
  }
  return most;
};

const none: Strip = { title: "", means: "", signs: [], t: [], lines: [], most: 1, show: thousands };

export function flight(scene: Scene): Strip {
  const { answer, lane, transfer, palette } = scene;
  if (!answer) return none;
  const data = answer.lanes[lane];
  const range = shown(scene, data.t, answer.width);
  const known = answer.scale_known[lane];
  const most = greatest(data.fly[1], range);
  const window = known ? greatest(data.win[1], range) : 0;
  // A window far above would leave the flight at the bottom: it is printed, not drawn.
  const top = Math.max(1, most, window <= most * 2.2 ? window : 0) * 1.12;
  const rounds = transfer && (transfer.from === "client" ? 0 : 1) === lane ? transfer.rounds : [];
  const above = known && window > top ? t`window ${roundBytes(window)} ↑` : known ? t`¬ window` : t`window unknown`;
  return {
    title: t`in flight`,
    means: word(TERMS["in flight"] ?? ""),
    signs: [
      [t`— bytes`, "data", t`Bytes in flight whenever the sender sent, or received an ACK.`],
      ...(rounds.length > 0
        ? [
            [
              t`▬ cwnd, at least`,
              "start",
              t`The most that was in flight in each round. A sender never has more than its congestion window in flight, so the window was at least this; no capture shows the window itself.`,
            ] satisfies Sign,
          ]
        : []),
      [above, "edge", word(TERMS.window ?? "")],
    ],
    t: data.t,
    lines: [
      { shape: "spread", color: "data", values: data.fly[1], least: data.fly[0] },
      {
        shape: "steps",
        color: "edge",
        values: known ? data.win[1] : NONE,
        width: 1.2,
        dash: [5, 2],
        sign: rounds.length > 0 ? 2 : 1,
      },
      { shape: "steps", color: "data", values: data.fly[1], width: 1.4, sign: 0 },
    ],
    most: top,
    show: roundBytes,
    // The largest flight of each round: what the congestion window was at least.
    over: (painter, _area, x, y) => {
      const ends: number[] = [];
      for (const round of rounds) {
        if (round.start_s > scene.to || round.start_s + round.duration_s < scene.from) continue;
        const height = place(y, round.in_flight);
        ends.push(place(x, round.start_s), height, place(x, round.start_s + round.duration_s), height);
      }
      painter.lines(ends, { color: palette.start, width: 2, alpha: 0.8 });
    },
  };
}

/** Round trips of the segments, for either side's data. */
const samples = once(
  (points: Points): [Values, Values] =>
    [0, 1].map((lane) => points.rtt.map((rtt, at) => (points.from[at] === lane ? null : rtt))) as [Values, Values],
);

export function roundTrips(scene: Scene): Strip {
  const { answer, lane, connection, palette } = scene;
  if (!answer) return none;
  const data = answer.lanes[lane];
  const least = (connection.rtt_ms.min ?? 0) / 1e3;
  const points = answer.points;
  const [times, values] = points ? [points.t, samples(points)[lane]] : [data.t, data.rtt[1]];
  const most = Math.max(greatest(values, shown(scene, times, answer.width)), least);
  return {
    title: t`round-trip time`,
    means: word(TERMS.RTT ?? ""),
    signs: [
      [t`▪ sample`, "ack", t`From a segment that was sent once to the ACK that covers it.`],
      [
        least > 0 ? t`-- minimum, ${time(least)}` : t`minimum unknown`,
        "path",
        t`The minimum of the connection: the round trip when nothing queues.`,
      ],
    ],
    t: times,
    lines: [
      { shape: "spread", color: "ack", values: points ? NONE : values, least: points ? NONE : data.rtt[0] },
      { shape: "squares", color: "ack", values, sign: 0 },
    ],
    most: most * 1.15 || 0.001,
    show: time,
    over: (painter, area, _x, y) => {
      if (least > 0)
        painter.path([area.x, place(y, least), area.x + area.width, place(y, least)], {
          color: palette.path,
          dash: [4, 3],
        });
    },
  };
}

/** What was sent, and acknowledged, before each column. */
const sums = once((lane: Lane) => {
  const [sent, acked] = [new Float64Array(lane.t.length + 1), new Float64Array(lane.t.length + 1)];
  for (let at = 0; at < lane.t.length; at += 1) {
    sent[at + 1] = sent[at]! + lane.bytes[at]!;
    acked[at + 1] = acked[at]! + lane.acked[at]!;
  }
  return { sent, acked };
});

/** Rates over a sliding window, at so many times. */
export function rates(
  data: Lane,
  from: number,
  to: number,
  window: number,
  count: number,
): { t: number[]; sent: number[]; acked: number[] } {
  const { sent, acked } = sums(data);
  const result = { t: [] as number[], sent: [] as number[], acked: [] as number[] };
  for (let step = 0; step <= count; step += 1) {
    const at = from + ((to - from) * step) / count;
    const [first, last] = [lower(data.t, at - window), lower(data.t, at)];
    result.t.push(at);
    result.sent.push(((sent[last]! - sent[first]!) * 8) / window);
    result.acked.push(((acked[last]! - acked[first]!) * 8) / window);
  }
  return result;
}

/** A sliding window that fits: a round trip, and not less than a few pixels. */
export function averageOf(scene: Scene): number {
  if (scene.average > 0) return Math.max(scene.average, scene.answer?.width ?? 0);
  const trip = (scene.connection.rtt_ms.p50 ?? 0) / 1e3;
  return Math.max(trip, (scene.to - scene.from) / 150, (scene.answer?.width ?? 0) * 4, 1e-6);
}

export function throughput(scene: Scene, pixels: number): Strip {
  const { answer, lane } = scene;
  if (!answer) return none;
  const window = averageOf(scene);
  const found = rates(answer.lanes[lane], scene.from, scene.to, window, Math.max(2, Math.round(pixels / 2)));
  const range: [number, number] = [0, found.t.length];
  return {
    title: t`rates over ${time(window)}`,
    means: t`A sliding window: each point averages the time before it.`,
    signs: [
      [t`— throughput`, "data", word(TERMS.throughput ?? "")],
      [t`-- goodput`, "ackline", word(TERMS.goodput ?? "")],
    ],
    t: found.t,
    lines: [
      { shape: "line", color: "data", values: found.sent, width: 1.3, sign: 0 },
      { shape: "line", color: "ackline", values: found.acked, width: 1.5, dash: [6, 2], sign: 1 },
    ],
    most: Math.max(1, greatest(found.sent, range), greatest(found.acked, range)) * 1.15,
    show: rate,
  };
}

export function advertised(scene: Scene): Strip {
  const { answer, lane, palette } = scene;
  if (!answer) return none;
  const receiver = lane === 0 ? "server" : "client";
  const data = answer.lanes[lane];
  const known = answer.scale_known[lane];
  const [low, high]: Extremes = known ? data.win : [NONE, NONE];
  return {
    title: known
      ? t`advertised window of the ${word(receiver)}`
      : t`window of the ${word(receiver)}: unknown, ${windowLack(scene)}`,
    means: word(TERMS.window ?? ""),
    signs: known ? [[t`¬ bytes`, "edge", word(TERMS.window ?? "")]] : [],
    t: data.t,
    lines: [
      { shape: "spread", color: "edge", values: high, least: low },
      { shape: "steps", color: "edge", values: high, width: 1.4, dash: [5, 2], sign: 0 },
    ],
    most: Math.max(1, greatest(high, shown(scene, data.t, answer.width))) * 1.15,
    show: known ? roundBytes : () => "",
    over: (painter, area, x) => {
      if (!known) return painter.hatch(area.x, area.y, area.width, area.height, palette.edge);
      let last = -Infinity;
      for (const [mark, of, , at] of answer.marks) {
        if (mark !== "zero" || of !== lane || at < scene.from || at > scene.to) continue;
        const px = place(x, at);
        if (px < last + 10) continue;
        painter.text(px, area.y + area.height - 4, "Z", palette.loss, "middle", true);
        last = px;
      }
    },
  };
}

/**
 * An interval that fits: 1, 2 or 5 times a power of ten, from a millisecond up, and no narrower
 * than a few pixels.
 */
export function intervalOf(scene: Scene, pixels: number): number {
  const least = Math.max(scene.answer?.width ?? 0, 1e-3);
  const span = scene.to - scene.from;
  // Narrower than half a pixel is not seen.
  if (scene.interval > 0) return Math.max(scene.interval, least, span / (pixels * 2));
  const wanted = Math.max(least, span / (pixels / 4));
  const power = 10 ** Math.floor(Math.log10(wanted));
  return ([1, 2, 5, 10].find((one) => one * power >= wanted * (1 - 1e-9)) ?? 10) * power;
}

export function packets(scene: Scene, pixels: number): Strip {
  const { answer, lane, countBytes } = scene;
  if (!answer) return none;
  const interval = intervalOf(scene, pixels);
  const start = Math.floor(scene.from / interval) * interval;
  const count = Math.ceil((scene.to - start) / interval) + 1;
  const per = ([0, 1] as const).map((side) => {
    const list: number[] = new Array<number>(count).fill(0);
    const data = answer.lanes[side];
    for (let at = lower(data.t, start); at < data.t.length; at += 1) {
      const bin = Math.floor((data.t[at]! - start) / interval);
      if (bin >= count) break;
      list[bin]! += countBytes ? data.bytes[at]! : data.packets[at]!;
    }
    return list;
  });
  const [own, other] = [per[lane]!, per[1 - lane]!];
  const [from, back] = lane === 0 ? [t`client`, t`server`] : [t`server`, t`client`];
  return {
    title: countBytes ? t`payload bytes per ${time(interval)}` : t`packets per ${time(interval)}`,
    means: countBytes
      ? t`Payload that passed in each interval, copies included.`
      : t`Packets that passed in each interval.`,
    signs: [
      [`▮ ${from}`, "data", t`Sent by the ${from}.`],
      [`— ${back}`, "ackline", t`Sent by the ${back}.`],
    ],
    t: own.map((_, at) => start + at * interval),
    lines: [
      { shape: "bars", color: "data", values: own, sign: 0 },
      { shape: "steps", color: "ackline", values: other, width: 1.2, sign: 1 },
    ],
    most: Math.max(1, greatest(own, [0, count]), greatest(other, [0, count])) * 1.25,
    show: countBytes ? roundBytes : thousands,
  };
}

/** A strip in a picture that is saved or printed. */
export function drawStrip(painter: Painter, scene: Scene, area: Area, x: Scale, strip: Strip): void {
  const { palette } = scene;
  const y = leftAxis(painter, scene, area, 0, strip.most, strip.show);
  const range = shown(scene, strip.t, scene.answer?.width ?? 0);
  painter.within(area.x, area.y, area.width, area.height, () => {
    for (const line of strip.lines) drawLine(painter, palette, strip.t, line, range, x, y);
    strip.over?.(painter, area, x, y);
  });
}

function drawLine(
  painter: Painter,
  palette: Palette,
  t: number[],
  line: Line,
  [first, last]: [number, number],
  x: Scale,
  y: Scale,
): void {
  const points: number[] = [];
  let before = NaN;
  const wide = t.length > 1 ? place(x, t[1]!) - place(x, t[0]!) : 1;
  for (let at = first; at < last; at += 1) {
    const value = line.values[at];
    if (value == null) continue;
    const [px, py] = [place(x, t[at]!), place(y, value)];
    if (line.shape === "spread") {
      const low = line.least?.[at];
      if (low != null && low < value) points.push(px, place(y, low), px, py);
    } else if (line.shape === "bars") {
      if (value > 0)
        painter.rect(px, py, Math.max(1, wide - (wide > 3 ? 1 : 0)), y.at[0] - py, palette[line.color], 0.75);
    } else {
      if (line.shape === "steps" && !Number.isNaN(before)) points.push(px, before);
      points.push(px, py);
      before = py;
    }
  }
  const color = palette[line.color];
  const stroke = { color, width: line.width ?? 1, dash: line.dash ?? [] };
  if (line.shape === "squares") painter.dots(points, 1.6, color);
  else if (line.shape === "spread") painter.lines(points, { color, alpha: 0.4 });
  else if (line.shape !== "bars") painter.path(points, stroke);
}
