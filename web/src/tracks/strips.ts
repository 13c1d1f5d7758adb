// The strips below the sequence numbers: bytes in flight, round trips, rates, windows, packets.

import { rate, roundBytes, thousands, time } from "../format";
import { leftAxis, legend, type Area, type Scene } from "./figure";
import type { Painter } from "./painter";
import { lower, place, type Scale } from "./scale";
import type { Answer, Extremes, Lane } from "./series";

/** Indices of the columns that a scene shows, and one to either side. */
function shown(scene: Scene, lane: Lane, width: number): [number, number] {
  return [Math.max(0, lower(lane.t, scene.from - width) - 1), Math.min(lane.t.length, lower(lane.t, scene.to) + 1)];
}

const greatest = (list: (number | null)[], first: number, last: number): number => {
  let most = 0;
  for (let at = first; at < last; at += 1) most = Math.max(most, list[at] ?? 0);
  return most;
};

/** A figure over time: a step from column to column, between its least and its greatest. */
function steps(lane: Lane, figure: Extremes, [first, last]: [number, number], x: Scale, y: Scale, end: number): { line: number[]; spread: number[] } {
  const line: number[] = [];
  const spread: number[] = [];
  let before = NaN;
  for (let at = first; at < last; at += 1) {
    const [low, high] = [figure[0][at], figure[1][at]];
    if (low == null || high == null) continue;
    const px = place(x, lane.t[at]!);
    const py = place(y, high);
    if (!Number.isNaN(before)) line.push(px, before);
    line.push(px, py);
    if (low < high) spread.push(px, place(y, low), px, py);
    before = py;
  }
  if (!Number.isNaN(before)) line.push(end, before);
  return { line, spread };
}

export function drawFlight(painter: Painter, scene: Scene, area: Area, x: Scale): void {
  const { answer, lane, palette, transfer } = scene;
  if (!answer) return;
  const data = answer.lanes[lane];
  const range = shown(scene, data, answer.width);
  const known = answer.scale_known[lane];
  const flight = greatest(data.fly[1], ...range);
  const window = known ? greatest(data.win[1], ...range) : 0;
  // A window far above would leave the flight at the bottom.
  const most = Math.max(1, flight, Math.min(window, flight * 2.2)) * 1.12;
  const y = leftAxis(painter, scene, area, 0, most, roundBytes);
  const end = area.x + area.width;
  painter.within(area.x, area.y, area.width, area.height, () => {
    if (known) painter.path(steps(data, data.win, range, x, y, end).line, { color: palette.edge, width: 1.2, dash: [5, 2] });
    const { line, spread } = steps(data, data.fly, range, x, y, end);
    painter.lines(spread, { color: palette.data, alpha: 0.35 });
    painter.path(line, { color: palette.data, width: 1.4 });
    // The largest flight of each round: what the congestion window was at least.
    if (transfer && (transfer.from === "client" ? 0 : 1) === lane) {
      const rounds: number[] = [];
      for (const round of transfer.rounds) {
        const height = place(y, round.in_flight);
        rounds.push(place(x, round.start_s), height, place(x, round.start_s + round.duration_s), height);
      }
      painter.lines(rounds, { color: palette.start, width: 2, alpha: 0.8 });
    }
  });
  const above = known && window > most ? `window ${roundBytes(window)} ↑` : known ? "¬ window" : "window unknown";
  legend(painter, scene, area, "in flight", [["— bytes", palette.data], ["▬ largest of a round: cwnd at least", palette.start], [above, palette.edge]]);
}

export function drawRtt(painter: Painter, scene: Scene, area: Area, x: Scale): void {
  const { answer, lane, palette, connection } = scene;
  if (!answer) return;
  const data = answer.lanes[lane];
  const range = shown(scene, data, answer.width);
  const least = (connection.rtt_ms.min ?? 0) / 1e3;
  const most = Math.max(greatest(data.rtt[1], ...range), least) * 1.15 || 0.001;
  const y = leftAxis(painter, scene, area, 0, most, time);
  painter.within(area.x, area.y, area.width, area.height, () => {
    if (least > 0) painter.path([area.x, place(y, least), area.x + area.width, place(y, least)], { color: palette.path, dash: [4, 3] });
    const dots: number[] = [];
    const spread: number[] = [];
    if (answer.points) {
      const { t, rtt, from } = answer.points;
      for (let at = lower(t, scene.from); at < t.length && t[at]! <= scene.to; at += 1) {
        if (rtt[at] != null && from[at] !== lane) dots.push(place(x, t[at]!), place(y, rtt[at]!));
      }
    } else {
      for (let at = range[0]; at < range[1]; at += 1) {
        const [low, high] = [data.rtt[0][at], data.rtt[1][at]];
        if (low == null || high == null) continue;
        const px = place(x, data.t[at]!);
        dots.push(px, place(y, high));
        if (low < high) spread.push(px, place(y, low), px, place(y, high));
      }
    }
    painter.lines(spread, { color: palette.ack, alpha: 0.5 });
    painter.dots(dots, 1.6, palette.ack);
  });
  legend(painter, scene, area, "round-trip time", [["▪ sample", palette.ack], [least > 0 ? `-- least, ${time(least)}` : "least unknown", palette.path]]);
}

/** Rates over a sliding window, at so many times. */
export function rates(answer: Answer, lane: 0 | 1, from: number, to: number, window: number, count: number): { t: number[]; sent: number[]; acked: number[] } {
  const data = answer.lanes[lane];
  const sums = { sent: [0], acked: [0] };
  for (let at = 0; at < data.t.length; at += 1) {
    sums.sent.push(sums.sent[at]! + data.bytes[at]!);
    sums.acked.push(sums.acked[at]! + data.acked[at]!);
  }
  const result = { t: [] as number[], sent: [] as number[], acked: [] as number[] };
  for (let step = 0; step <= count; step += 1) {
    const at = from + ((to - from) * step) / count;
    const [first, last] = [lower(data.t, at - window), lower(data.t, at)];
    result.t.push(at);
    result.sent.push(((sums.sent[last]! - sums.sent[first]!) * 8) / window);
    result.acked.push(((sums.acked[last]! - sums.acked[first]!) * 8) / window);
  }
  return result;
}

/** A sliding window that fits: a round trip, and not less than a few pixels. */
export function averageOf(scene: Scene): number {
  if (scene.average > 0) return Math.max(scene.average, scene.answer?.width ?? 0);
  const trip = (scene.connection.rtt_ms.p50 ?? 0) / 1e3;
  return Math.max(trip, (scene.to - scene.from) / 150, (scene.answer?.width ?? 0) * 4, 1e-6);
}

export function drawRates(painter: Painter, scene: Scene, area: Area, x: Scale): void {
  const { answer, lane, palette } = scene;
  if (!answer) return;
  const window = averageOf(scene);
  const found = rates(answer, lane, scene.from, scene.to, window, Math.max(2, Math.round(area.width / 2)));
  let most = 1;
  for (const one of found.sent) most = Math.max(most, one);
  for (const one of found.acked) most = Math.max(most, one);
  const y = leftAxis(painter, scene, area, 0, most * 1.15, rate);
  const line = (list: number[]) => list.flatMap((one, at) => [place(x, found.t[at]!), place(y, one)]);
  painter.within(area.x, area.y, area.width, area.height, () => {
    painter.path(line(found.sent), { color: palette.data, width: 1.3 });
    painter.path(line(found.acked), { color: palette.ackline, width: 1.5, dash: [6, 2] });
  });
  legend(painter, scene, area, `rates over ${time(window)}`, [["— throughput", palette.data], ["-- goodput", palette.ackline]]);
}

export function drawWindow(painter: Painter, scene: Scene, area: Area, x: Scale): void {
  const { answer, lane, palette } = scene;
  if (!answer) return;
  const receiver = lane === 0 ? "server" : "client";
  if (!answer.scale_known[lane]) {
    painter.hatch(area.x, area.y, area.width, area.height, palette.edge);
    legend(painter, scene, area, `window of the ${receiver}: unknown, its scale is not in the capture`, []);
    return;
  }
  const data = answer.lanes[lane];
  const range = shown(scene, data, answer.width);
  const y = leftAxis(painter, scene, area, 0, Math.max(1, greatest(data.win[1], ...range)) * 1.15, roundBytes);
  painter.within(area.x, area.y, area.width, area.height, () => {
    const { line, spread } = steps(data, data.win, range, x, y, area.x + area.width);
    painter.lines(spread, { color: palette.edge, alpha: 0.5 });
    painter.path(line, { color: palette.edge, width: 1.4, dash: [5, 2] });
    const closed: number[] = [];
    for (const [mark, of, , at] of answer.marks) if (mark === "zero" && of === lane) closed.push(place(x, at));
    for (const px of closed) painter.text(px, area.y + area.height - 4, "Z", palette.loss, "middle", true);
  });
  legend(painter, scene, area, `advertised window of the ${receiver}`, [["¬ bytes", palette.edge]]);
}

/** An interval that fits: 1, 2 or 5 times a power of ten, from a millisecond up, and no narrower than a few pixels. */
export function intervalOf(scene: Scene, pixels: number): number {
  const least = Math.max(scene.answer?.width ?? 0, 1e-3);
  if (scene.interval > 0) return Math.max(scene.interval, least);
  const wanted = Math.max(least, (scene.to - scene.from) / (pixels / 4));
  const power = 10 ** Math.floor(Math.log10(wanted));
  return ([1, 2, 5, 10].find((one) => one * power >= wanted * (1 - 1e-9)) ?? 10) * power;
}

export function drawPackets(painter: Painter, scene: Scene, area: Area, x: Scale): void {
  const { answer, lane, palette } = scene;
  if (!answer) return;
  const interval = intervalOf(scene, area.width);
  const start = Math.floor(scene.from / interval) * interval;
  const count = Math.min(20_000, Math.ceil((scene.to - start) / interval) + 1);
  const sums = [0, 1].map((side) => {
    const list = new Float64Array(count);
    const data = answer.lanes[side as 0 | 1];
    for (let at = lower(data.t, start); at < data.t.length; at += 1) {
      const bin = Math.floor((data.t[at]! - start) / interval);
      if (bin >= count) break;
      list[bin] = (list[bin] ?? 0) + (scene.countBytes ? data.bytes[at]! : data.packets[at]!);
    }
    return list;
  });
  const [own, other] = [sums[lane]!, sums[1 - lane]!];
  let most = 1;
  for (let at = 0; at < count; at += 1) most = Math.max(most, own[at]!, other[at]!);
  const y = leftAxis(painter, scene, area, 0, most * 1.25, scene.countBytes ? roundBytes : thousands);
  painter.within(area.x, area.y, area.width, area.height, () => {
    const path: number[] = [];
    for (let at = 0; at < count; at += 1) {
      const [left, right] = [place(x, start + at * interval), place(x, start + (at + 1) * interval)];
      if (own[at]! > 0) painter.rect(left, place(y, own[at]!), Math.max(1, right - left - (right - left > 3 ? 1 : 0)), area.y + area.height - place(y, own[at]!), palette.data, 0.75);
      path.push(left, place(y, other[at]!), right, place(y, other[at]!));
    }
    painter.path(path, { color: palette.ackline, width: 1.2 });
  });
  const what = scene.countBytes ? "payload bytes" : "packets";
  const [from, back] = lane === 0 ? ["client", "server"] : ["server", "client"];
  legend(painter, scene, area, `${what} per ${time(interval)}`, [[`▮ ${from}`, palette.data], [`— ${back}`, palette.ackline]]);
}
