// The kernel's account of a request (TCP_INFO) as lines over time: of an upload the sender's, of a
// download the receiver's. What the other end would know means something else here, and is not
// drawn.

import { t } from "../texts";
import type { Hop, Sample } from "./probe";

export interface Line {
  name: string;
  unit: string;
  /** Seconds since the hop began, and the figure. */
  points: [number, number][];
}

/** Fewer samples make no picture. */
const LEAST = 4;
/** A rate is averaged over this share of the time at least: single samples jump. */
const STEPS = 60;

export function lines(hop: Hop): Line[] {
  if (hop.samples.length < LEAST) return [];
  const drawn = hop.sent_bytes > 0 ? sender(hop) : receiver(hop);
  return drawn.filter((line) => line.points.some(([, value]) => value > 0));
}

function sender(hop: Hop): Line[] {
  const window = (sample: Sample) => product(sample.snd_cwnd, sample.snd_mss);
  return [
    { name: t`acknowledged`, unit: "bit/s", points: growth(hop, (sample) => sample.bytes_acked) },
    { name: "cwnd", unit: "B", points: level(hop, window) },
    { name: t`round trip`, unit: "s", points: level(hop, (sample) => product(sample.rtt, 1e-6)) },
    { name: t`not yet sent`, unit: "B", points: level(hop, (sample) => sample.notsent_bytes) },
    { name: t`retransmitted`, unit: "segments", points: level(hop, (sample) => sample.total_retrans) },
  ];
}

function receiver(hop: Hop): Line[] {
  return [
    { name: t`received`, unit: "bit/s", points: growth(hop, (sample) => sample.bytes_received) },
    { name: t`own window`, unit: "B", points: level(hop, (sample) => sample.rcv_wnd) },
    { name: t`out of order`, unit: "segments", points: level(hop, (sample) => sample.rcv_ooopack) },
  ];
}

type Get = (sample: Sample) => number | null | undefined;

const product = (a: number | null | undefined, b: number | null | undefined) => (a == null || b == null ? null : a * b);

function level(hop: Hop, get: Get): [number, number][] {
  return hop.samples.flatMap((sample) => {
    const value = get(sample);
    return value == null ? [] : [[sample.time_s, value] as [number, number]];
  });
}

/** Bits per second, from one step of the request's time to the next. */
function growth(hop: Hop, get: Get): [number, number][] {
  const points = level(hop, get);
  const step = hop.times.total_s / STEPS;
  const found: [number, number][] = [];
  let last = points[0];
  for (const [at, value] of points.slice(1)) {
    if (!last || at - last[0] < step) continue;
    found.push([last[0], ((value - last[1]) * 8) / (at - last[0])]);
    last = [at, value];
  }
  if (last && found.length > 0) found.push([last[0], found[found.length - 1]![1]]);
  return found;
}
