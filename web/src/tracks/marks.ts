// Marks with their letters, where segments are drawn and where columns are: none is averaged away.

import type { Palette } from "./colors";
import { type Area, crisp, type Scene } from "./figure";
import type { Painter } from "./painter";
import { place, type Scale } from "./scale";
import type { Answer } from "./series";

interface Look {
  text: string;
  color: keyof Palette;
  /** Above what it marks, below it, or at the top of the track. */
  at: "above" | "below" | "top";
}

const look = (text: string, color: keyof Palette, at: Look["at"] = "above"): Look => ({ text, color, at });

/** In the order in which they are drawn: what comes later gives way. */
const LOOKS: Record<string, Look> = {
  F: look("F", "loss"),
  T: look("T", "loss"),
  P: look("P", "loss"),
  S: look("S", "loss"),
  O: look("O", "start"),
  W: look("W", "loss"),
  K: look("K", "loss"),
  rst: look("RST", "loss"),
  syn: look("SYN", "setup"),
  fin: look("FIN", "setup"),
  ce: look("CE", "start"),
  cwr: look("CWR", "start"),
  dsack: look("D", "program", "below"),
  ece: look("ECE", "start", "below"),
  dup: look("d", "ackline", "below"),
  zero: look("Z", "loss", "top"),
};

/** Drawn over the columns, which do not tell one segment from another. */
const BARS: Record<string, keyof Palette> = {
  F: "loss",
  T: "loss",
  P: "loss",
  S: "loss",
  O: "start",
  sack: "program",
  dsack: "program",
};

/** A letter's height, and about its width, pixels. */
const TALL = 11;
const WIDE = 7;
/** Labels that a new one is held against. */
const MOST_NEAR = 48;

const kinds = new WeakMap<Answer["marks"], [Set<string>, Set<string>]>();

/** The kinds of marks that an answer has, of either side's data. */
export function marksOf({ marks }: Answer): [Set<string>, Set<string>] {
  let found = kinds.get(marks);
  if (!found) {
    found = [new Set(), new Set()];
    for (const [mark, of] of marks) found[of as 0 | 1].add(mark);
    kinds.set(marks, found);
  }
  return found;
}

interface Label {
  x: number;
  y: number;
  count: number;
}

export function drawMarks(painter: Painter, scene: Scene, area: Area, x: Scale, y: Scale, answer: Answer): void {
  const { palette, lane } = scene;
  closed(painter, scene, area, x, answer);
  const rows = new Map<string, Label[]>();
  const bars = new Map<keyof Palette, number[]>();
  for (const [mark, of, count, time, , low, high] of answer.marks) {
    if (of !== lane || time < scene.from - answer.width || time > scene.to + answer.width) continue;
    const [px, below, above] = [place(x, time), place(y, low), place(y, high)];
    const bar = BARS[mark];
    if (bar && !answer.points) {
      const list = bars.get(bar) ?? [];
      bars.set(bar, list);
      list.push(crisp(px), below, crisp(px), Math.min(above, below - 2));
    }
    const shown = LOOKS[mark];
    if (!shown) continue;
    const list = rows.get(mark) ?? [];
    rows.set(mark, list);
    // Those that would lie on each other are one, with their number.
    const near = list[list.length - 1];
    if (near && px - near.x < widthOf(shown, near.count) + 2) near.count += count;
    else list.push({ x: px, y: shown.at === "below" ? below : above, count });
  }
  for (const [color, list] of bars)
    painter.lines(list, { color: palette[color], width: color === "program" ? 1.3 : 2 });
  const placed: Box[] = [];
  for (const [mark, shown] of Object.entries(LOOKS)) {
    // QUIC has no SYN: its first packet is called Initial (RFC 9000 section 17.2.2).
    if (mark === "syn" && scene.connection.quic) continue;
    for (const label of rows.get(mark) ?? []) {
      // One or two duplicates are not worth a label if segments are not visible.
      if (mark === "dup" && !answer.points && label.count < 3) continue;
      const half = widthOf(shown, label.count) / 2;
      let at = shown.at === "top" ? area.y + 12 : shown.at === "below" ? label.y + 12 : label.y - 4;
      const step = shown.at === "above" ? -TALL : TALL;
      for (
        let tries = 0;
        tries < 3 && placed.slice(-MOST_NEAR).some((box) => overlaps(box, label.x, at, half));
        tries += 1
      )
        at += step;
      const clamped = Math.max(area.y + 11, Math.min(area.y + area.height - 3, at));
      painter.text(label.x, clamped, textOf(shown, label.count), palette[shown.color], "middle", mark !== "dup");
      placed.push({ x: label.x, y: clamped, half });
    }
  }
}

interface Box {
  x: number;
  y: number;
  half: number;
}

const overlaps = (box: Box, x: number, y: number, half: number) =>
  Math.abs(box.x - x) < box.half + half && Math.abs(box.y - y) < TALL - 1;

const textOf = ({ text }: Look, count: number): string =>
  count < 2 || text === "Z"
    ? text
    : text === "d"
      ? `${count}d`
      : text.length > 1
        ? `${text}×${count}`
        : `${text}${count}`;
const widthOf = (shown: Look, count: number): number => textOf(shown, count).length * WIDE;

/**
 * A band for as long as the window was closed: from the ACK that closed it to the one that opened
 * it.
 */
function closed(painter: Painter, scene: Scene, area: Area, x: Scale, answer: Answer): void {
  const { t, win } = answer.lanes[scene.lane];
  let since: number | null = null;
  const band = (end: number) => {
    if (since === null) return;
    const [left, right] = [place(x, since), place(x, end)];
    painter.rect(left, area.y, Math.max(2, right - left), area.height, scene.palette.loss, 0.13);
    since = null;
  };
  for (let at = 0; at < t.length; at += 1) {
    const [low, high] = [win[0][at], win[1][at]];
    if (low == null || high == null) continue;
    if (high > 0) band(t[at]!);
    if (low === 0 && since === null) since = t[at]!;
  }
  band(answer.to);
}
