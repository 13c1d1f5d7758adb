// Time and sequence numbers: bytes sent, acknowledged, and allowed by the window.
//
// As in tcptrace: a bar a segment from its first byte to its last, with caps when there is room;
// the ACKs as a staircase below, the window's edge as one above, SACK blocks between. What matters
// has a letter of its own: `marks.ts`.

import { thousands } from "../format";
import { TERMS } from "../terms";
import { t, word } from "../texts";
import { type Area, background, crisp, leftAxis, type Scene, type Sign, windowLack } from "./figure";
import { drawMarks, marksOf } from "./marks";
import type { Painter } from "./painter";
import { lower, place, type Scale } from "./scale";
import type { Answer } from "./series";
import { Stairs } from "./stairs";

/** How far above the data the window's edge is still drawn, as a share of what they take. */
const ROOM = 0.6;

export interface Extent {
  low: number;
  high: number;
}

/** The sequence numbers that a range of time shows. */
export function extent(answer: Answer, lane: 0 | 1, from: number, to: number): Extent | null {
  let [low, high] = [Infinity, -Infinity];
  const data = answer.lanes[lane];
  const [first, last] = [lower(data.t, from - answer.width), lower(data.t, to + answer.width * 0.01)];
  for (let at = first; at < last; at += 1) {
    for (const [below, above] of [data.seq, data.ack]) {
      const [a, b] = [below[at], above[at]];
      if (a != null && a < low) low = a;
      if (b != null && b > high) high = b;
    }
  }
  if (!(high >= low)) return null;
  // The window above, if it leaves the data readable; a piece of it at the rim would show nothing.
  const limit = high + Math.max(high - low, 1) * ROOM;
  let [edge, near, all] = [high, 0, 0];
  for (let at = first; at < last; at += 1) {
    const above = data.edge[1][at];
    if (above == null) continue;
    all += 1;
    if (above > limit) continue;
    near += 1;
    edge = Math.max(edge, above);
  }
  if (near * 2 >= all) high = edge;
  const margin = Math.max((high - low) * 0.06, 10);
  return { low: low - margin, high: high + margin };
}

/** What is seen of them: where the strip is zoomed in its height too, a part. */
export function numbersOf(
  answer: Answer,
  lane: 0 | 1,
  from: number,
  to: number,
  [bottom, top]: [number, number],
): Extent | null {
  const whole = extent(answer, lane, from, to);
  if (!whole) return null;
  const span = whole.high - whole.low;
  return { low: whole.low + span * bottom, high: whole.low + span * top };
}

const sender = (lane: 0 | 1) => (lane === 0 ? "client" : "server");

export const titleOf = ({ lane, numbers }: Scene): string =>
  numbers
    ? t`sequence numbers of the ${word(sender(lane))}`
    : t`sequence numbers of the ${word(sender(lane))}: nothing was sent here`;

export function signsOf({ lane, numbers, connection, answer }: Scene): Sign[] {
  if (!numbers) return [];
  const resent = connection.directions[lane]?.retransmitted;
  const lost = resent && resent.fast + resent.timeout + resent.tail_probe + resent.spurious > 0;
  const marks = answer ? marksOf(answer)[lane] : new Set<string>();
  return [
    [t`| data`, "data", t`A segment, from its first byte to its last; a diamond is PSH.`],
    [
      t`⌐ acknowledged`,
      "ackline",
      t`Up to here the receiver has acknowledged. d: a duplicate ACK; a number counts several.`,
    ],
    [
      answer?.scale_known[lane] === false ? t`window unknown` : t`¬ window’s edge`,
      "edge",
      t`Up to here the receiver allows data: its ACK and its window.`,
    ],
    ...(lost
      ? ([
          [t`F T P S retransmitted`, "loss", word(TERMS.retransmitted ?? "")],
          ["¦ SACK", "program", word(TERMS.SACK ?? "")],
        ] satisfies Sign[])
      : []),
    ...(marks.has("dsack")
      ? ([
          [
            t`D duplicate SACK`,
            "program",
            t`The receiver reports that it had these bytes already (RFC 2883): the retransmission was needless, or the network copied the packet.`,
          ],
        ] satisfies Sign[])
      : []),
    ...(["ce", "ece", "cwr"].some((mark) => marks.has(mark))
      ? ([
          [
            t`CE ECE CWR congestion`,
            "start",
            t`CE: a queue marked the packet instead of dropping it. ECE: the receiver reports this. CWR: the sender has slowed down (RFC 3168).`,
          ],
        ] satisfies Sign[])
      : []),
    ...(marks.has("zero") ? ([[t`Z closed window`, "loss", word(TERMS["zero window"] ?? "")]] satisfies Sign[]) : []),
  ];
}

export function drawSequence(painter: Painter, scene: Scene, area: Area, x: Scale): void {
  const { answer, lane, palette, numbers } = scene;
  background(painter, scene, area, x);
  if (!answer || !numbers) return;
  const base = scene.absolute ? (answer.base[lane] ?? 0) : 0;
  const y = leftAxis(painter, scene, area, numbers.low, numbers.high, (at) =>
    thousands(scene.absolute ? (base + at) % 2 ** 32 : Math.max(0, at)),
  );
  painter.within(area.x, area.y, area.width, area.height, () => {
    if (answer.points) drawPoints(painter, scene, area, x, y, answer);
    else drawColumns(painter, scene, area, x, y, answer);
    drawMarks(painter, scene, area, x, y, answer);
    if (!answer.scale_known[lane]) {
      painter.hatch(area.x, area.y, area.width, 14, palette.edge);
      painter.text(area.x + area.width - 6, area.y + 11, t`window unknown: ${windowLack(scene)}`, palette.ink, "end");
    }
  });
}

type Six = [number[], number[], number[], number[], number[], number[]];

function drawPoints(painter: Painter, scene: Scene, area: Area, x: Scale, y: Scale, answer: Answer): void {
  const { palette, lane } = scene;
  const points = answer.points;
  if (!points) return;
  const first = Math.max(0, lower(points.t, scene.from) - 1);
  const last = Math.min(points.t.length, lower(points.t, scene.to) + 1);
  const [acks, edges] = [new Stairs(), new Stairs()];
  const [bars, caps, again, late, pushes, ackTicks] = Array.from({ length: 6 }, () => []) as unknown as Six;
  const perSegment = area.width / Math.max(1, last - first);
  let top = -Infinity;
  // What was acknowledged before the range begins.
  for (let at = first - 1; at >= 0 && at > first - 4000; at -= 1) {
    if (points.from[at] !== lane && points.ack[at] != null) {
      const px = place(x, points.t[at]!);
      acks.add(px, place(y, points.ack[at]!));
      if (points.win[at] != null) edges.add(px, place(y, points.ack[at]! + points.win[at]!));
      break;
    }
  }
  for (let at = first; at < last; at += 1) {
    const px = crisp(place(x, points.t[at]!));
    if (points.from[at] === lane) {
      const seq = points.seq[at];
      const kind = points.kind[at] ?? "-";
      if (seq == null || kind === "-") continue;
      const length = points.len[at]! + (points.flags[at]! & 2 ? 1 : 0) + (points.flags[at]! & 1 ? 1 : 0);
      const [below, above] = [place(y, seq), place(y, seq + length)];
      const tall = Math.max(1.5, below - above);
      const list = kind === "N" || kind === "W" || kind === "K" ? bars : kind === "O" ? late : again;
      list.push(px, below, px, below - tall);
      if (perSegment > 3 && tall > 5 && list === bars)
        caps.push(px - 2, below, px + 2, below, px - 2, above, px + 2, above);
      if (points.flags[at]! & 8 && perSegment > 7) pushes.push(px, above);
    } else if (points.ack[at] != null) {
      const ack = points.ack[at]!;
      if (ack >= top) {
        acks.add(px, place(y, ack));
        top = ack;
      }
      if (points.win[at] != null) edges.add(px, place(y, ack + points.win[at]!));
      if (perSegment > 3) ackTicks.push(px, place(y, ack) - 2.5, px, place(y, ack) + 2.5);
    }
  }
  // Later times are unknown.
  const right = Math.min(area.x + area.width, place(x, answer.to));
  painter.path(edges.until(right), { color: palette.edge, width: 1.2, dash: [5, 2] });
  painter.path(acks.until(right), { color: palette.ackline, width: 1.3 });
  painter.lines(ackTicks, { color: palette.ackline });
  painter.lines(bars, { color: palette.data, width: perSegment > 6 ? 1.8 : 1.2 });
  painter.lines(caps, { color: palette.data });
  const sacks: number[] = [];
  for (const [index, low, high] of points.sack) {
    if (index < first || index >= last || points.from[index] === lane) continue;
    const px = crisp(place(x, points.t[index]!));
    sacks.push(px, place(y, low), px, place(y, high));
  }
  painter.lines(sacks, { color: palette.program, width: 1.4, dash: [3, 2] });
  painter.lines(again, { color: palette.loss, width: 2.2 });
  painter.lines(late, { color: palette.start, width: 2.2 });
  for (let at = 0; at + 1 < pushes.length; at += 2) painter.diamond(pushes[at]!, pushes[at + 1]!, 3, palette.data);
}

function drawColumns(painter: Painter, scene: Scene, area: Area, x: Scale, y: Scale, answer: Answer): void {
  const { palette, lane } = scene;
  const data = answer.lanes[lane];
  const first = Math.max(0, lower(data.t, scene.from - answer.width) - 1);
  const last = Math.min(data.t.length, lower(data.t, scene.to) + 1);
  const bars: number[] = [];
  const [acks, edges] = [new Stairs(), new Stairs()];
  let [column, low, high] = [-1, 0, 0];
  const flush = () => {
    if (column >= 0) bars.push(column + 0.5, low, column + 0.5, Math.min(high, low - 1.5));
  };
  for (let at = first; at < last; at += 1) {
    const time = data.t[at]!;
    const [below, above] = [data.seq[0][at], data.seq[1][at]];
    if (below != null && above != null) {
      const [a, b] = [place(y, below), place(y, above)];
      const px = Math.floor(place(x, time));
      if (px === column) [low, high] = [Math.max(low, a), Math.min(high, b)];
      else {
        flush();
        [column, low, high] = [px, a, b];
      }
    }
    const ack = data.ack[1][at];
    if (ack != null) acks.add(place(x, time), place(y, ack));
    const edge = data.edge[1][at];
    if (edge != null) edges.add(place(x, time), place(y, edge));
  }
  flush();
  // Later times are unknown.
  const right = Math.min(area.x + area.width, place(x, answer.to));
  painter.path(edges.until(right), { color: palette.edge, width: 1.2, dash: [5, 2] });
  painter.lines(bars, {
    color: palette.data,
    width: Math.max(1, Math.min(3, (answer.width * area.width) / (scene.to - scene.from))),
  });
  painter.path(acks.until(right), { color: palette.ackline, width: 1.3 });
}

/** Where a sequence number is. */
export function heightOf({ numbers }: Scene, area: Area, sequence: number): number {
  return numbers
    ? place({ low: numbers.low, high: numbers.high, at: [area.y + area.height, area.y] }, sequence)
    : area.y;
}
