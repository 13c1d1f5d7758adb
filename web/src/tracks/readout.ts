// What is under the pointer: one segment where segments are drawn, else what a column holds.

import { rate, roundBytes, thousands, time } from "../format";
import { t, word } from "../texts";
import type { Layout, Scene } from "./figure";
import { lower, place, value } from "./scale";
import { heightOf } from "./sequence";
import { flagNames } from "./series";
import { averageOf, rates } from "./strips";

export interface Found {
  /** Index of a segment. */
  index: number;
  x: number;
  y: number | null;
}

/** How far from the pointer a segment may be, pixels. */
const REACH = 40;

/** The segment next to the pointer. */
export function nearest(scene: Scene, plan: Layout, pointer: { x: number; y: number }): Found | null {
  const points = scene.answer?.points;
  if (!points) return null;
  const at = value(plan.x, pointer.x);
  const sequence = plan.tracks.find(
    ({ track, area }) => track.id === "sequence" && pointer.y >= area.y && pointer.y <= area.y + area.height,
  );
  const middle = lower(points.t, at);
  let best: Found | null = null;
  let least = REACH * REACH;
  for (let step = 0; step < 4000; step += 1) {
    const index = middle + (step % 2 === 0 ? step / 2 : -(step + 1) / 2);
    const t = points.t[index];
    if (t === undefined) continue;
    const x = place(plan.x, t);
    const across = (x - pointer.x) ** 2;
    if (across > least && across > REACH * REACH) break;
    let y: number | null = null;
    if (sequence) {
      const own = points.from[index] === scene.lane;
      const number = own ? points.seq[index] : points.ack[index];
      if (number == null) continue;
      const [low, high] = [
        heightOf(scene, sequence.area, number),
        heightOf(scene, sequence.area, number + (own ? points.len[index]! : 0)),
      ];
      y = Math.max(high, Math.min(low, pointer.y));
    }
    const distance = across + (y === null ? 0 : (y - pointer.y) ** 2);
    if (distance < least) {
      least = distance;
      best = { index, x, y };
    }
  }
  return best;
}

const KINDS: Record<string, string> = {
  F: "F: retransmitted after duplicate ACKs or SACKs",
  T: "T: retransmitted by the timer",
  P: "P: tail loss probe",
  S: "S: retransmitted needlessly",
  O: "O: out of order",
  W: "W: probe of a closed window",
  K: "K: keep-alive",
};

/** Terms and what is said of them. */
export function readout(
  scene: Scene,
  plan: Layout,
  pointer: { x: number; y: number },
  found: Found | null,
): [string, string][] {
  const { answer, lane } = scene;
  const at = value(plan.x, Math.max(plan.x.at[0], Math.min(plan.x.at[1], pointer.x)));
  if (!answer) return [[t`time`, `${at.toFixed(6)} s`]];
  const points = answer.points;
  if (found && points) {
    const { index } = found;
    const own = points.from[index]!;
    let before = index - 1;
    while (before >= 0 && points.from[before] !== own) before -= 1;
    const base = (side: number) => (scene.absolute ? (answer.base[side] ?? 0) : 0);
    const number = (seq: number | null | undefined, side: number) =>
      seq == null ? "–" : thousands(scene.absolute ? (base(side) + seq) % 2 ** 32 : seq);
    const said: [string, string][] = [
      ["frame", String(points.frame[index])],
      [t`time`, `${points.t[index]!.toFixed(6)} s`],
      ["Δt", before >= 0 ? time(points.t[index]! - points.t[before]!) : "–"],
      [t`from`, own === 0 ? t`client` : t`server`],
      [t`flags`, flagNames(points.flags[index]!)],
      [t`length`, `${thousands(points.len[index]!)} B`],
      ["seq", number(points.seq[index], own)],
      ["ack", number(points.ack[index], 1 - own)],
    ];
    if (points.win[index] != null) said.push([t`window`, `${thousands(points.win[index]!)} B`]);
    if (points.fly[index] != null) said.push([t`in flight`, `${thousands(points.fly[index]!)} B`]);
    if (points.rtt[index] != null) said.push(["RTT", time(points.rtt[index]!)]);
    const kind = word(KINDS[points.kind[index] ?? ""] ?? "");
    if (kind) said.push([t`kind`, kind]);
    if (points.dup.includes(index)) said.push([t`ack is`, t`a duplicate`]);
    if (points.dsack.includes(index)) said.push([t`SACK says`, t`D: it had these bytes already`]);
    if (points.ce.includes(index)) said.push([t`mark`, "CE"]);
    return said;
  }
  const data = answer.lanes[lane];
  const column = Math.max(0, lower(data.t, at + answer.width / 1e3) - 1);
  const said: [string, string][] = [[t`time`, `${at.toFixed(6)} s`]];
  const extremes = (
    term: string,
    [low, high]: [(number | null)[], (number | null)[]],
    show: (value: number) => string,
  ) => {
    const [a, b] = [low[column], high[column]];
    if (a != null && b != null) said.push([term, a === b ? show(a) : `${show(a)} – ${show(b)}`]);
  };
  extremes("seq", data.seq, thousands);
  extremes("ack", data.ack, thousands);
  extremes(t`in flight`, data.fly, roundBytes);
  extremes(t`window`, data.win, roundBytes);
  extremes("RTT", data.rtt, time);
  const now = rates(data, at, at + 1e-9, averageOf(scene), 1);
  said.push([t`throughput`, rate(now.sent[0] ?? 0)], [t`goodput`, rate(now.acked[0] ?? 0)]);
  const near = answer.marks
    .filter(([mark, of, , t]) => of === lane && mark !== "psh" && Math.abs(place(plan.x, t) - pointer.x) < 6)
    .slice(0, 4);
  for (const [mark, , count, , frame] of near) said.push([mark, t`${count} from frame ${frame}`]);
  return said;
}

/**
 * Writes terms and what is said of them, without a word to the framework: it happens with every
 * movement of the pointer.
 */
export function say(list: HTMLDListElement, told: [string, string][]): void {
  const rows =
    told.length === 0
      ? [["", t`Point at a segment; drag to zoom, Shift-drag to move, double click for all. Keys: ?`] as const]
      : told;
  if (told.length === 0 && list.textContent === rows[0]?.[1]) return;
  while (list.children.length > rows.length) list.lastElementChild?.remove();
  rows.forEach(([term, said], at) => {
    const row = list.children[at] ?? list.appendChild(document.createElement("div"));
    const [dt, dd] = [row.querySelector("dt"), row.querySelector("dd")];
    if (dt && dd && term !== "") {
      if (dt.textContent !== term) dt.textContent = term;
      if (dd.textContent !== said) dd.textContent = said;
      return;
    }
    const fresh = document.createElement("dd");
    fresh.textContent = said;
    if (term === "") {
      fresh.className = "dim";
      row.replaceChildren(fresh);
    } else {
      const head = document.createElement("dt");
      head.textContent = term;
      row.replaceChildren(head, fresh);
    }
  });
}
