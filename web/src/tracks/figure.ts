// The whole figure: tracks one below the other on one time axis.
//
// Pictures that are saved or printed are drawn here, whole. On the screen `screen.ts` draws the
// same tracks: the sequence numbers here, the strips by uPlot.

import { time } from "../format";
import { limitInfo, limitName } from "../limits";
import type { Connection, LimitSpan, Transfer } from "../model";
import { t } from "../texts";
import type { Palette } from "./colors";
import { type Painter, textWidth } from "./painter";
import { place, type Scale, ticks, tickTime } from "./scale";
import { drawSequence, type Extent, signsOf, titleOf } from "./sequence";
import type { Answer } from "./series";
import { advertised, drawStrip, flight, packets, roundTrips, type Strip, throughput } from "./strips";

export interface Scene {
  connection: Connection;
  transfer: Transfer | null;
  spans: LimitSpan[];
  answer: Answer | null;
  /** Whose data is drawn: 0 is the client's. */
  lane: 0 | 1;
  from: number;
  to: number;
  /** Of the sequence track: shares of its full height; [0, 1] is all. */
  tall: [number, number];
  /** The sequence numbers that are seen; none where nothing was sent. */
  numbers: Extent | null;
  absolute: boolean;
  /** The sliding window of rates, seconds; 0 is one that fits. */
  average: number;
  /** Of the packets' track: seconds; 0 is one that fits. */
  interval: number;
  countBytes: boolean;
  palette: Palette;
}

/** Why the receiver's window is not drawn. */
export const windowLack = ({ connection }: Scene): string =>
  connection.quic ? t`QUIC encrypts it` : t`its scale is not in the capture`;

export interface Area {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A text of a legend, its colour, and what it means. */
export type Sign = [text: string, color: keyof Palette, means: string];

export interface Track {
  id: string;
  /** Its share of the height. */
  weight: number;
  /** What a strip shows; the sequence numbers are none. */
  strip: ((scene: Scene, pixels: number) => Strip) | null;
}

/** In the order of the keys 1 to 6. */
export const TRACKS: Track[] = [
  { id: "sequence", weight: 4.2, strip: null },
  { id: "flight", weight: 1.5, strip: flight },
  { id: "rtt", weight: 1.1, strip: roundTrips },
  { id: "rates", weight: 1.3, strip: throughput },
  { id: "window", weight: 1.1, strip: advertised },
  { id: "packets", weight: 1, strip: packets },
];

export const GUTTER = 78;
export const RIGHT = 12;
export const RIBBON = 22;
const AXIS = 22;
/** Above each track, for its legend. */
export const GAP = 21;

export interface Layout {
  x: Scale;
  ribbon: Area;
  tracks: { track: Track; area: Area }[];
  axis: number;
}

export function layout(width: number, height: number, from: number, to: number, graph: number | null): Layout {
  const inner = Math.max(50, width - GUTTER - RIGHT);
  const shown = graph === null ? TRACKS : TRACKS.slice(graph - 1, graph);
  const weight = shown.reduce((sum, track) => sum + track.weight, 0);
  const room = Math.max(60, height - RIBBON - AXIS - GAP * shown.length);
  let y = RIBBON + GAP;
  const tracks = shown.map((track) => {
    const area = { x: GUTTER, y, width: inner, height: Math.round((room * track.weight) / weight) };
    y += area.height + GAP;
    return { track, area };
  });
  return {
    x: { low: from, high: to, at: [GUTTER, GUTTER + inner] },
    ribbon: { x: GUTTER, y: 0, width: inner, height: RIBBON },
    tracks,
    axis: y - GAP,
  };
}

/** Draws it all: a picture to keep. */
export function draw(painter: Painter, scene: Scene, width: number, height: number, graph: number | null): void {
  const plan = layout(width, height, scene.from, scene.to, graph);
  drawFrame(painter, scene, width, height, plan);
  for (const { track, area } of plan.tracks) {
    if (!track.strip) {
      drawSequence(painter, scene, area, plan.x);
      legend(painter, scene, area, titleOf(scene), signsOf(scene));
      continue;
    }
    const strip = track.strip(scene, area.width);
    background(painter, scene, area, plan.x);
    drawStrip(painter, scene, area, plan.x, strip);
    legend(painter, scene, area, strip.title, strip.signs);
  }
}

/** Paper, the limits' ribbon and the axis of time. */
export function drawFrame(painter: Painter, scene: Scene, width: number, height: number, plan: Layout): void {
  const { palette } = scene;
  painter.rect(0, 0, width, height, palette.paper);
  ribbon(painter, scene, plan.ribbon, plan.x);
  const marks = times(scene, plan.ribbon.width);
  const step = (marks[1] ?? scene.to) - (marks[0] ?? scene.from);
  for (const at of marks) {
    const x = place(plan.x, at);
    painter.lines([crisp(x), plan.axis, crisp(x), plan.axis + 4], { color: palette.dim });
    painter.text(x, plan.axis + 16, tickTime(at, step), palette.dim, x > width - 40 ? "end" : "middle");
  }
}

const times = (scene: Scene, width: number): number[] =>
  ticks(scene.from, scene.to, Math.max(2, Math.floor(width / 110)));

/** A track's ground: its lines of time, and where limits begin. */
export function background(painter: Painter, scene: Scene, area: Area, x: Scale): void {
  const { palette } = scene;
  painter.rect(area.x, area.y, area.width, area.height, palette.sheet, 0.55);
  const lines = times(scene, area.width).flatMap((at) => {
    const px = crisp(place(x, at));
    return [px, area.y, px, area.y + area.height];
  });
  painter.lines(lines, { color: palette.grid });
  painter.within(area.x, area.y, area.width, area.height, () => boundaries(painter, scene, area, x));
}

/** What held the transfer: colour and letter. */
function ribbon(painter: Painter, scene: Scene, area: Area, x: Scale): void {
  const { palette } = scene;
  painter.text(area.x - 8, area.y + 15, t`limited by`, palette.dim, "end");
  painter.rect(area.x, area.y, area.width, area.height, palette.sheet);
  painter.within(area.x, area.y, area.width, area.height, () => {
    for (const span of scene.spans) {
      const [left, right] = [place(x, span.start_s), place(x, span.start_s + span.seconds)];
      if (right < area.x || left > area.x + area.width) continue;
      const info = limitInfo(span.limit);
      painter.rect(left, area.y, Math.max(1, right - left), area.height, palette[info.group]);
      const shown = Math.min(right, area.x + area.width) - Math.max(left, area.x);
      const middle = (Math.min(right, area.x + area.width) + Math.max(left, area.x)) / 2;
      const full = `${info.letter} ${limitName(span.limit)}`;
      const wide = textWidth(full, true);
      if (shown > wide + 60)
        painter.text(middle, area.y + 15, `${full} ${time(span.seconds)}`, palette.onfill, "middle", true);
      else if (shown > wide + 8) painter.text(middle, area.y + 15, full, palette.onfill, "middle", true);
      else if (shown > 9) painter.text(middle, area.y + 15, info.letter, palette.onfill, "middle", true);
    }
  });
}

/** Where a limit ends and another begins, faint, through all tracks. */
export function boundaries(painter: Painter, scene: Scene, area: Area, x: Scale): void {
  const ends: number[] = [];
  let last = -Infinity;
  for (const span of scene.spans) {
    const at = crisp(place(x, span.start_s));
    if (at < last + 24) continue;
    last = at;
    ends.push(at, area.y, at, area.y + area.height);
  }
  painter.lines(ends, { color: scene.palette.dim, dash: [2, 4], alpha: 0.55 });
}

/** The scale of figures at the left, with its lines. */
export function leftAxis(
  painter: Painter,
  scene: Scene,
  area: Area,
  low: number,
  high: number,
  show: (value: number) => string,
): Scale {
  const scale: Scale = { low, high, at: [area.y + area.height, area.y] };
  const lines: number[] = [];
  for (const at of ticks(low, high, Math.max(3, area.height / 42))) {
    const y = crisp(place(scale, at));
    lines.push(area.x, y, area.x + area.width, y);
    if (y > area.y - 1 && y < area.y + area.height + 1)
      painter.text(area.x - 6, Math.min(y + 4, area.y + area.height), show(at), scene.palette.dim, "end");
  }
  painter.lines(lines, { color: scene.palette.grid });
  return scale;
}

/** What a track shows, above it, and what its colours stand for, each with a sign of its own. */
function legend(painter: Painter, scene: Scene, area: Area, title: string, signs: Sign[]): void {
  const y = area.y - 6;
  let x = area.x;
  painter.text(x, y, title, scene.palette.ink, "start", true);
  x += textWidth(title, true) + 14;
  for (const [sign, color] of signs) {
    if (x + textWidth(sign) > area.x + area.width) break;
    painter.text(x, y, sign, scene.palette[color]);
    x += textWidth(sign) + 12;
  }
}

/** Middle of a pixel, where a line of one pixel is sharp. */
export const crisp = (at: number): number => Math.round(at - 0.5) + 0.5;
