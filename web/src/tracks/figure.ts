// The whole figure: tracks one below the other on one time axis.

import { time } from "../format";
import { limitInfo } from "../limits";
import type { Connection, LimitSpan, Transfer } from "../model";
import { drawFlight, drawPackets, drawRates, drawRtt, drawWindow } from "./strips";
import { drawSequence } from "./sequence";
import { textWidth, type Painter } from "./painter";
import { place, tickTime, ticks, type Scale } from "./scale";
import type { Answer } from "./series";

/** Colours as strings, so that a picture can be saved with them. */
export type Palette = Record<
  | "paper" | "sheet" | "ink" | "dim" | "line" | "grid" | "data" | "ackline" | "edge" | "loss" | "start" | "window" | "program" | "setup" | "path" | "ack" | "unknown" | "onfill" | "cursor",
  string
>;

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
  absolute: boolean;
  /** The sliding window of rates, seconds; 0 is one that fits. */
  average: number;
  /** Of the packets' track: seconds; 0 is one that fits. */
  interval: number;
  countBytes: boolean;
  palette: Palette;
}

export interface Area {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Track {
  id: string;
  title: string;
  /** Its share of the height. */
  weight: number;
  draw: (painter: Painter, scene: Scene, area: Area, x: Scale) => void;
}

/** In the order of the keys 1 to 6. */
export const TRACKS: Track[] = [
  { id: "sequence", title: "sequence numbers", weight: 4.2, draw: drawSequence },
  { id: "flight", title: "in flight", weight: 1.5, draw: drawFlight },
  { id: "rtt", title: "round-trip time", weight: 1.1, draw: drawRtt },
  { id: "rates", title: "throughput, goodput", weight: 1.3, draw: drawRates },
  { id: "window", title: "advertised window", weight: 1.1, draw: drawWindow },
  { id: "packets", title: "packets", weight: 1, draw: drawPackets },
];

export const GUTTER = 78;
const RIGHT = 12;
const RIBBON = 22;
const AXIS = 22;
/** Above each track, for its legend. */
const GAP = 21;

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
    const area = { x: GUTTER, y, width: inner, height: (room * track.weight) / weight };
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

/** Draws it all. */
export function draw(painter: Painter, scene: Scene, width: number, height: number, graph: number | null): void {
  const { palette } = scene;
  const plan = layout(width, height, scene.from, scene.to, graph);
  painter.rect(0, 0, width, height, palette.paper);
  ribbon(painter, scene, plan.ribbon, plan.x);
  const about = Math.max(2, Math.floor(plan.ribbon.width / 110));
  const marks = ticks(scene.from, scene.to, about);
  for (const { track, area } of plan.tracks) {
    painter.rect(area.x, area.y, area.width, area.height, palette.sheet, 0.55);
    painter.lines(marks.flatMap((at) => { const x = crisp(place(plan.x, at)); return [x, area.y, x, area.y + area.height]; }), { color: palette.grid });
    painter.within(area.x, area.y, area.width, area.height, () => boundaries(painter, scene, area, plan.x));
    track.draw(painter, scene, area, plan.x);
  }
  const step = (marks[1] ?? scene.to) - (marks[0] ?? scene.from);
  for (const at of marks) {
    const x = place(plan.x, at);
    painter.lines([crisp(x), plan.axis, crisp(x), plan.axis + 4], { color: palette.dim });
    painter.text(x, plan.axis + 16, tickTime(at, step), palette.dim, x > width - 40 ? "end" : "middle");
  }
}

/** What held the transfer: colour and letter. */
function ribbon(painter: Painter, scene: Scene, area: Area, x: Scale): void {
  const { palette } = scene;
  painter.text(area.x - 8, area.y + 15, "held by", palette.dim, "end");
  painter.rect(area.x, area.y, area.width, area.height, palette.sheet);
  painter.within(area.x, area.y, area.width, area.height, () => {
    for (const span of scene.spans) {
      const [left, right] = [place(x, span.start_s), place(x, span.start_s + span.seconds)];
      if (right < area.x || left > area.x + area.width) continue;
      const info = limitInfo(span.limit);
      painter.rect(left, area.y, Math.max(1, right - left), area.height, palette[info.group]);
      const shown = Math.min(right, area.x + area.width) - Math.max(left, area.x);
      const middle = (Math.min(right, area.x + area.width) + Math.max(left, area.x)) / 2;
      const full = `${info.letter} ${info.name}`;
      if (shown > full.length * 6.3 + 60) painter.text(middle, area.y + 15, `${full} ${time(span.seconds)}`, palette.onfill, "middle", true);
      else if (shown > full.length * 6.3 + 8) painter.text(middle, area.y + 15, full, palette.onfill, "middle", true);
      else if (shown > 9) painter.text(middle, area.y + 15, info.letter, palette.onfill, "middle", true);
    }
  });
}

/** Where a limit ends and another begins, faint, through all tracks. */
function boundaries(painter: Painter, scene: Scene, area: Area, x: Scale): void {
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
export function leftAxis(painter: Painter, scene: Scene, area: Area, low: number, high: number, show: (value: number) => string): Scale {
  const scale: Scale = { low, high, at: [area.y + area.height, area.y] };
  const lines: number[] = [];
  for (const at of ticks(low, high, Math.max(3, area.height / 42))) {
    const y = crisp(place(scale, at));
    lines.push(area.x, y, area.x + area.width, y);
    if (y > area.y - 1 && y < area.y + area.height + 1) painter.text(area.x - 6, Math.min(y + 4, area.y + area.height), show(at), scene.palette.dim, "end");
  }
  painter.lines(lines, { color: scene.palette.grid });
  return scale;
}

/** What a track shows, above it, and what its colours stand for, each with a sign of its own. */
export function legend(painter: Painter, scene: Scene, area: Area, title: string, signs: [string, string][]): void {
  const y = area.y - 6;
  let x = area.x;
  painter.text(x, y, title, scene.palette.ink, "start", true);
  x += textWidth(title, true) + 14;
  for (const [sign, color] of signs) {
    if (x + textWidth(sign) > area.x + area.width) break;
    painter.text(x, y, sign, color);
    x += textWidth(sign) + 12;
  }
}

/** Middle of a pixel, where a line of one pixel is sharp. */
export const crisp = (at: number): number => Math.round(at - 0.5) + 0.5;
